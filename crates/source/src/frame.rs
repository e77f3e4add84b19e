//! Input and output of a source: a frame, the rows of a frame, and the reading of a frame.

use std::ops::Range;

use chatmill_diag::{Code, Finding, Limits, Reject, RejectLevel, RowLedger, Span, codes};
use chatmill_intake::json::{Document, Kind, Value};
use chatmill_model::{Conversation, MessageOrigin};

use crate::options::ReadOptions;

/// One row of a frame, with the conversations that it belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Ids of the conversations that the row belongs to, usually one. The empty text is the only conversation of an entry that names none; a row
    /// without any id belongs to every conversation of the entry, and starts none.
    pub keys: Vec<String>,
    /// A word (letters, digits and underscores) for the person or thing that a row without any conversation id is about: the row belongs only to
    /// conversations with rows that contain this word. `None`: it belongs to all of them.
    pub about: Option<String>,
    /// An identifier that only this row and its copies have, for the first row of a conversation that continues under other ids: the first
    /// rows of all of these are copies. Conversations of a section that begin with the same row are one conversation.
    pub begins: Option<String>,
    /// Whether the row has the column for its conversation, but no value in it: the row is a conversation.
    pub is_alone: bool,
    /// The bytes of the row in the frame.
    pub span: Range<usize>,
}

/// Facts about the rows of an entry that come from its path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExportPath {
    /// The folder of the export: entries of one folder contain the same conversations.
    pub export: String,
    /// The conversation of rows that name none; empty if the path does not name it.
    pub conversation: String,
}

impl Row {
    /// A row of the conversation with this id, or of the entry's only conversation if it names none.
    pub(crate) fn of(key: Option<String>, row: Value<'_>) -> Self {
        Self {
            keys: vec![key.unwrap_or_default()],
            about: None,
            begins: None,
            is_alone: false,
            span: row.span(),
        }
    }

    /// A row of every conversation of its entry's export, or of those that mention the person it is about.
    pub(crate) fn shared(about: Option<String>, row: Value<'_>) -> Self {
        Self {
            keys: Vec::new(),
            about,
            begins: None,
            is_alone: false,
            span: row.span(),
        }
    }

    /// The same row with an identifier, if a conversation begins with this row.
    pub(crate) fn beginning(self, begins: Option<String>) -> Self {
        Self { begins, ..self }
    }

    /// The rows of a list, or a single row, with the ids that `key` finds in them.
    pub(crate) fn cut(root: Value<'_>, key: impl Fn(Value<'_>) -> Option<String>) -> Option<Vec<Self>> {
        match root.kind() {
            Kind::Array => Some(root.items().map(|row| Self::of(key(row), row)).collect()),
            Kind::Object => Some(vec![Self::of(key(root), root)]),
            _ => None,
        }
    }
}

/// One frame, as passed to a source.
#[derive(Clone, Copy, Debug)]
pub struct FrameView<'f> {
    /// The scanned frame.
    pub document: &'f Document<'f>,
    /// The original bytes.
    pub bytes: &'f [u8],
    /// Position of the first byte in the decompressed entry.
    pub start: u64,
    /// The id by which rows were grouped; `None` for a frame that is a separate record, or if there was no id.
    pub key: Option<&'f str>,
    /// Options of reading that are not limits.
    pub options: ReadOptions<'f>,
}

impl<'f> FrameView<'f> {
    /// A view of a single record: the first of its entry, without a group and with the default options.
    pub fn alone(document: &'f Document<'f>, bytes: &'f [u8]) -> Self {
        Self {
            document,
            bytes,
            start: 0,
            key: None,
            options: ReadOptions::default(),
        }
    }

    /// The record.
    pub(crate) fn root(&self) -> Value<'f> {
        self.document.root()
    }

    /// The error for which the whole frame is rejected, at a value of the record.
    pub(crate) fn error(
        &self,
        code: &'static Code,
        text: impl Into<String>,
        path: impl Into<String>,
        value: Value<'_>,
    ) -> Box<Finding> {
        let finding = Finding::new(code, text).rejecting();
        let Span { start, end } = self.span(value.span());
        Box::new(finding.at_path(path).at_span(start, end))
    }

    /// Rejects the whole frame if its count exceeds the limit; the tuple has the name of the whole, the count, and the name of the elements.
    pub(crate) fn bound(
        &self,
        (whole, count, elements): (&str, usize, &str),
        path: impl Into<String>,
        value: Value<'_>,
        limits: &Limits,
    ) -> Result<(), Box<Finding>> {
        let text = exceeds(count as u64, whole, elements, limits);
        text.map_or(Ok(()), |text| {
            Err(self.error(&codes::CONVERSATION_TOO_LARGE, text, path, value))
        })
    }

    /// The rows of the frame, each with its path: the elements of a list, or the record itself.
    pub(crate) fn rows(&self) -> Vec<(String, Value<'f>)> {
        let root = self.root();
        match root.kind() {
            Kind::Array => {
                let rows = root.items().enumerate();
                rows.map(|(at, row)| (format!("$[{at}]"), row)).collect()
            }
            _ => vec![("$".to_owned(), root)],
        }
    }

    /// Byte range of the frame as byte range of the entry.
    pub(crate) fn span(&self, span: Range<usize>) -> Span {
        Span {
            start: self.start + span.start as u64,
            end: self.start + span.end as u64,
        }
    }

    /// The origin of the message in these bytes of the frame, with its index in the record's own list.
    pub(crate) fn origin(&self, span: Range<usize>, index: u32) -> MessageOrigin {
        let Span { start, end } = self.span(span);
        MessageOrigin { start, end, index }
    }

    /// A reject of one message of an accepted frame, with its first bytes; the finding becomes an error.
    pub(crate) fn reject(&self, span: Range<usize>, finding: Finding, limits: &Limits) -> Reject {
        let bytes = self.bytes.get(span.clone()).unwrap_or_default();
        let head = usize::try_from(limits.reject_head).unwrap_or(usize::MAX);
        let span = self.span(span);
        let finding = finding.rejecting();
        Reject {
            level: RejectLevel::Message,
            span,
            hash: blake3::hash(bytes).to_hex().to_string(),
            head: bytes.get(..head).unwrap_or(bytes).to_vec(),
            finding: finding.at_span(span.start, span.end),
        }
    }
}

/// The result of reading a frame.
#[derive(Clone, Debug, Default)]
pub struct Reading {
    /// The conversation; `None` when the whole frame is rejected, and then `error` gives the reason. Grouped
    /// rows without any message (presence in a chat without messages) give neither.
    pub conversation: Option<Conversation>,
    /// The error for which the frame is rejected; `findings` does not repeat it.
    pub error: Option<Finding>,
    /// Findings about the conversation. Positions are those before linking.
    pub findings: Vec<Finding>,
    /// Rejected messages; `findings` does not repeat their findings.
    pub rejects: Vec<Reject>,
    /// Counts of the record's rows by outcome.
    pub rows: RowLedger,
    /// Further conversations of the record, each with its findings: the other chats of an account, the other branches of a tree. Only if
    /// `conversation` is present.
    pub also: Vec<Self>,
}

impl Reading {
    /// The reading of a record of this structure.
    pub(crate) fn of_shape(mut self, shape: &'static str) -> Self {
        if let Some(conversation) = &mut self.conversation {
            conversation.shape = shape;
        }
        self
    }

    /// Adds a rejected element that was not counted yet.
    pub(crate) fn reject(
        &mut self,
        frame: FrameView<'_>,
        value: Value<'_>,
        finding: Finding,
        limits: &Limits,
    ) {
        self.rows.rows += 1;
        self.rows.rejected += 1;
        self.rejects.push(frame.reject(value.span(), finding, limits));
    }

    /// The conversations of a record with several: the readings, with the failed ones among the rejects. `none` is the error if there
    /// is nothing to read.
    pub(crate) fn of_several<'d>(
        frame: FrameView<'_>,
        all: impl Iterator<Item = (Result<Self, Box<Finding>>, Value<'d>)>,
        limits: &Limits,
        none: impl FnOnce() -> Box<Finding>,
    ) -> Result<Self, Box<Finding>> {
        let (mut readings, mut errors) = (Vec::new(), Vec::new());
        for (read, value) in all {
            match read {
                Ok(reading) => readings.push(reading),
                Err(error) => errors.push((error, value)),
            }
        }
        let mut readings = readings.into_iter();
        let Some(mut first) = readings.next() else {
            return Err(errors.into_iter().next().map_or_else(none, |(error, _)| error));
        };
        for mut reading in readings {
            let branches = std::mem::take(&mut reading.also);
            first.also.push(reading);
            first.also.extend(branches);
        }
        for (error, value) in errors {
            first.reject(frame, value, *error, limits);
        }
        Ok(first)
    }
}

/// The text of the finding about too many elements.
pub(crate) fn exceeds(count: u64, whole: &str, elements: &str, limits: &Limits) -> Option<String> {
    let limit = limits.messages_per_conversation;
    (count > limit).then(|| format!("{whole} has {count} {elements}, the limit is {limit}"))
}
