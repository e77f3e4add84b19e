//! What a source is: the trait that every format implements, and what it says of itself.

use chatmill_diag::{Finding, Limits};
use chatmill_intake::Sketch;
use chatmill_intake::json::Document;
use chatmill_intake::table::TableMap;
use chatmill_model::{Customs, TextArguments};

use crate::frame::{FrameView, Placed, Reading, Row};
use crate::silence::Silence;

/// An input format.
pub trait Source: Sync {
    /// What it is, for lists and documentation.
    fn about(&self) -> &'static About;

    /// Its id, for example `group-chat`.
    fn id(&self) -> &'static str {
        self.about().id
    }

    /// The text of the format file that it is, where that is none of chatmill's own.
    fn written_outside(&self) -> Option<&'static str> {
        None
    }

    /// The keys of its format that mean nothing for a conversation.
    fn silence(&self) -> &'static Silence {
        Silence::of(self.id())
    }

    /// Recognises its own format by what the first records hold: how sure it is, from 1 to 100, and what it saw. `None`
    /// when nothing speaks for it.
    fn recognise(&self, sketch: &Sketch) -> Option<(u8, Vec<String>)>;

    /// What [`Self::recognise`] found, as evidence for this source.
    fn detect(&self, sketch: &Sketch) -> Option<Evidence> {
        let source = self.id();
        self.recognise(sketch).map(|(confidence, why)| Evidence {
            source,
            confidence,
            why,
        })
    }

    /// Reads one frame. Scan notes of the document are the engine's business, not the source's.
    fn read(&self, frame: &FrameView<'_>, limits: &Limits) -> Reading;

    /// The JSON path of the message with this index in the record's own list. Nobody asks for it where the record itself is
    /// the list, as gathered rows are: it is `$[index]` then. A record without a list is one message. None where the message
    /// stands in no list, as an answer beside the messages does: its bytes alone say where it is.
    fn message_path(&self, _index: u32) -> Option<String> {
        (!self.lies_apart()).then(|| "$".to_owned())
    }

    /// What is doubtful about reading records like these, where the source was named.
    fn doubts(&self, _sketch: &Sketch) -> Vec<Finding> {
        Vec::new()
    }

    /// Maps of the tables whose rows this source reads; columns get the names that the source expects.
    fn tables(&self) -> Vec<TableMap> {
        Vec::new()
    }

    /// Whether a field map says where its records hold what; no record is recognised as its own then.
    fn needs_map(&self) -> bool {
        false
    }

    /// Whether conversations of an entry that begins like this are spread over several frames. Their rows are gathered
    /// before they are read. Rows of tables are gathered always.
    fn gathers(&self, _sketch: &Sketch) -> bool {
        false
    }

    /// Cuts a frame of an entry that gathers into rows; `None` when the frame is to be read on its own, for example because
    /// it cannot be cut. The rows of one conversation come back to [`Source::read`] as one frame: an array of them.
    fn rows(&self, _document: &Document<'_>) -> Option<Vec<Row>> {
        None
    }

    /// What the path of an entry that gathers says of its rows: below which folder its export lies, and the conversation of the
    /// rows that name none. Nothing, for most formats.
    fn placed(&self, _sketch: &Sketch, _path: &str) -> Option<Placed> {
        None
    }

    /// What an entry is that begins like this, where it is part of an export and holds no conversation: it is passed over and
    /// counted, and nothing of it is rejected.
    fn passes_over(&self, _sketch: &Sketch) -> Option<&'static str> {
        None
    }

    /// Whether messages lie anywhere in a record, as those of a tree do, and in no list of its own: their bytes alone say where
    /// they stand, and none has a [`Self::message_path`].
    fn lies_apart(&self) -> bool {
        false
    }

    /// Whether, unless the request says otherwise, files of one input that hold the same conversation are one conversation.
    fn merges(&self) -> bool {
        false
    }

    /// Whether conversations may go on in another file, under another id: their rows say what they begin with
    /// ([`Row::begins`]). Such files become one conversation, too, unless the request says otherwise.
    fn resumes(&self) -> bool {
        false
    }

    /// Whether files that hold the same conversation can become one, where the request says so: their rows are gathered by
    /// the ids of conversations.
    fn can_merge(&self) -> bool {
        self.merges()
    }
}

/// What a source is.
#[derive(Debug)]
pub struct About {
    /// Its id, for example `group-chat`.
    pub id: &'static str,
    /// Name for people.
    pub title: &'static str,
    /// Where the format is described.
    pub specification: &'static str,
    /// The structures that are told apart, oldest first.
    pub shapes: &'static [&'static str],
    /// What a conversation of this source can hold, in one clause.
    pub carries: &'static str,
    /// What the format is like, as far as rules and dialects have to know.
    pub customs: Customs,
}

/// Customs of a format whose calls have JSON values as arguments, or may have.
pub(crate) const NO_TEXT_ARGUMENTS: Customs = Customs {
    text_arguments: TextArguments::None,
    ..Customs::USUAL
};

/// Why an input is taken for a format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// Id of the source.
    pub source: &'static str,
    /// From 1 (a guess) to 100 (nothing else looks like this).
    pub confidence: u8,
    /// What was seen, one clause each.
    pub why: Vec<String>,
}
