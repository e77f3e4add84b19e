//! The trait that every input format implements, and the description of a format.

use chatmill_diag::{Finding, Limits};
use chatmill_intake::Sketch;
use chatmill_intake::json::Document;
use chatmill_intake::table::TableMap;
use chatmill_model::{FormatTraits, TextArguments};

use crate::frame::{ExportPath, FrameView, Reading, Row};
use crate::unread::meaningless_keys::MeaninglessKeys;

/// An input format.
pub trait Source: Sync {
    /// The description of the format, for lists and documentation.
    fn about(&self) -> &'static About;

    /// The id of the format, for example `group-chat`.
    fn id(&self) -> &'static str {
        self.about().id
    }

    /// The text of a format file from outside chatmill; `None` for a built-in format.
    fn written_outside(&self) -> Option<&'static str> {
        None
    }

    /// The keys of the format that mean nothing for a conversation.
    fn meaningless_keys(&self) -> &'static MeaninglessKeys {
        MeaninglessKeys::of(self.id())
    }

    /// Recognises the format in the first records: the confidence, from 1 to 100, and the reasons. `None` without evidence.
    fn recognise(&self, sketch: &Sketch) -> Option<(u8, Vec<String>)>;

    /// The result of [`Self::recognise`], as evidence for this source.
    fn detect(&self, sketch: &Sketch) -> Option<Evidence> {
        let source = self.id();
        self.recognise(sketch).map(|(confidence, why)| Evidence {
            source,
            confidence,
            why,
        })
    }

    /// Reads one frame. The engine, not the source, reports the scan notes of the document.
    fn read(&self, frame: &FrameView<'_>, limits: &Limits) -> Reading;

    /// The JSON path of the message with this index in the record's own list. If the record itself is the list, as grouped rows are, the path is
    /// `$[index]` and this method is not called. A record without a list is one message. `None` for a message outside of lists, such as an answer
    /// next to the messages: only its byte span locates it.
    fn message_path(&self, _index: u32) -> Option<String> {
        (!self.has_scattered_messages()).then(|| "$".to_owned())
    }

    /// Examples of the lines that begin a turn, each in backquotes; `None` for a format that is JSON.
    fn lines(&self) -> Option<String> {
        None
    }

    /// Warnings about reading records like these, for a source that the user has named.
    fn warnings(&self, _sketch: &Sketch) -> Vec<Finding> {
        Vec::new()
    }

    /// Maps of the tables with rows for this source: columns are renamed to the names that the source expects.
    fn tables(&self) -> Vec<TableMap> {
        Vec::new()
    }

    /// Whether the source needs a field map; such a source recognises no record.
    fn needs_map(&self) -> bool {
        false
    }

    /// Whether conversations of an entry with such first records are spread over several frames. Their rows are grouped by
    /// conversation before they are read. Rows of tables are always grouped.
    fn groups_rows(&self, _sketch: &Sketch) -> bool {
        false
    }

    /// Cuts a frame of an entry with grouped rows into rows; `None` for a frame that is read separately, for example because it cannot be cut.
    /// The rows of one conversation come back to [`Source::read`] as one frame: an array of rows.
    fn rows(&self, _document: &Document<'_>) -> Option<Vec<Row>> {
        None
    }

    /// The folder of the export and the default conversation of rows, both taken from the path of an entry with grouped rows.
    /// `None` for most formats.
    fn export_path(&self, _sketch: &Sketch, _path: &str) -> Option<ExportPath> {
        None
    }

    /// The file name of an entry with rows about conversations of other entries, such as ratings. If an export has it, the records of its other
    /// entries are grouped with these rows; otherwise each is read separately.
    fn companion(&self) -> Option<&'static str> {
        None
    }

    /// The kind of an entry that belongs to an export but holds no conversation: such an entry is ignored and counted, and none
    /// of its records is rejected.
    fn ignored_kind(&self, _sketch: &Sketch) -> Option<&'static str> {
        None
    }

    /// Whether messages are scattered over a record, as the nodes of a tree are, instead of being elements of one list: only
    /// their byte spans locate them, and no message has a [`Self::message_path`].
    fn has_scattered_messages(&self) -> bool {
        false
    }

    /// Whether files of one input that hold the same conversation become one conversation by default.
    fn merges(&self) -> bool {
        false
    }

    /// Whether a conversation may continue in another file under another id: rows name the row that the conversation begins with
    /// ([`Row::begins`]). Such files become one conversation, too, by default.
    fn resumes(&self) -> bool {
        false
    }

    /// Whether files that hold the same conversation can become one on request: grouped rows must name their conversation, or the
    /// request is refused.
    fn can_merge(&self) -> bool {
        self.merges()
    }
}

/// The description of a source.
#[derive(Debug)]
pub struct About {
    /// The id of the format, for example `group-chat`.
    pub id: &'static str,
    /// Name for people.
    pub title: &'static str,
    /// The specification of the format.
    pub specification: &'static str,
    /// The program and version that the format was last compared with, and the month: `claude-code 2.0.14, 2026-11`. Empty if a
    /// format file from outside names none.
    pub verified: &'static str,
    /// The structures (versions) of the format, oldest first.
    pub shapes: &'static [&'static str],
    /// The kinds of content that a conversation of this source can hold, in one clause.
    pub carries: &'static str,
    /// The traits of the format that rules and dialects need.
    pub traits: FormatTraits,
}

impl About {
    /// The result of reading a frame: a conversation, or the error for which it is rejected. Texts are unchanged, so that
    /// they can be written back.
    pub(crate) fn stored(&self, read: Result<Reading, Box<Finding>>) -> Reading {
        let mut reading = read.unwrap_or_else(|error| Reading {
            error: Some(*error),
            ..Reading::default()
        });
        let also = reading.also.iter_mut().map(|also| &mut also.conversation);
        let all = std::iter::once(&mut reading.conversation).chain(also);
        for conversation in all.flatten() {
            conversation.source = self.id;
            conversation.traits = self.traits;
        }
        reading
    }
}

/// Traits of a format with calls that have, or may have, JSON values as arguments.
pub(crate) const NO_TEXT_ARGUMENTS: FormatTraits = FormatTraits {
    text_arguments: TextArguments::None,
    ..FormatTraits::USUAL
};

/// Evidence that an input has a format.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Evidence {
    /// Id of the source.
    pub source: &'static str,
    /// From 1 (a guess) to 100 (nothing else looks like this).
    pub confidence: u8,
    /// The reasons, one clause each.
    pub why: Vec<String>,
}
