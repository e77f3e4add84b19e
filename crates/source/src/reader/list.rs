//! Reading a list of messages or rows, which most formats are: when the whole frame is rejected, when one element is, how the
//! ledger counts them, and the reading that results.

use std::borrow::Cow;
use std::ops::Range;

use chatmill_diag::{Finding, Limits, Reject, RowLedger, codes};
use chatmill_intake::json::{Kind, Value};
use chatmill_model::{Conversation, Message, MessageKind, Role};

use crate::frame::{FrameView, Reading};
use crate::reader::notes::{Notes, Site};

/// What the elements of a list are called in findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Element {
    /// A message, with keys.
    Message,
    /// A row, with columns.
    Row,
}

impl Element {
    const fn is_no_object(self) -> &'static str {
        match self {
            Self::Message => "the message is not an object and is rejected",
            Self::Row => "the row is not an object and is rejected",
        }
    }

    const fn has_a_known_field_twice(self) -> &'static str {
        match self {
            Self::Message => "a known key stands more than once: the message is rejected",
            Self::Row => "a known column stands more than once: the row is rejected",
        }
    }
}

/// Collects what becomes of the elements of one frame's list.
#[derive(Debug)]
pub(crate) struct ListReader<'d, 'r> {
    /// The frame that holds them.
    pub frame: FrameView<'d>,
    /// The limits of the run.
    pub limits: &'r Limits,
    /// What is odd about them.
    pub notes: Notes,
    /// Rejected elements.
    pub rejects: Vec<Reject>,
    /// The messages so far.
    pub messages: Vec<Message>,
    /// What became of each element, in numbers.
    pub rows: RowLedger,
}

impl<'d, 'r> ListReader<'d, 'r> {
    /// A reader that has read nothing yet.
    pub(crate) fn new(frame: FrameView<'d>, limits: &'r Limits) -> Self {
        Self {
            frame,
            limits,
            notes: Notes::new(frame.start),
            rejects: Vec::new(),
            messages: Vec::new(),
            rows: RowLedger::default(),
        }
    }

    /// Counts an element and reads its fields. It is rejected when it is not an object, or when `read` returns the name of a
    /// field that must not occur twice.
    pub(crate) fn element<T>(
        &mut self,
        element: Element,
        path: impl FnOnce() -> String,
        value: Value<'d>,
        read: impl FnOnce(Value<'d>) -> Result<T, Cow<'d, str>>,
    ) -> Option<T> {
        self.rows.rows += 1;
        let finding = if value.kind() == Kind::Object {
            match read(value) {
                Ok(read) => return Some(read),
                Err(key) => {
                    Finding::new(&codes::DUPLICATE_KEY, element.has_a_known_field_twice()).quoting(&key)
                }
            }
        } else {
            Finding::new(&codes::WRONG_TYPE, element.is_no_object())
        };
        self.reject(value.span(), finding.at_path(path()));
        None
    }

    /// Rejects an element that is counted already.
    pub(crate) fn reject(&mut self, span: Range<usize>, finding: Finding) {
        self.rows.rejected += 1;
        self.rejects.push(self.frame.reject(span, finding, self.limits));
    }

    /// The next message, as a place for findings.
    pub(crate) fn site<'s>(&'s mut self, id: Option<&'s str>, message: Value<'s>) -> Site<'s> {
        Site {
            notes: &mut self.notes,
            position: self.messages.len() as u32,
            id,
            message,
        }
    }

    /// The next message with its role, position and origin, and nothing else yet.
    pub(crate) fn message(&self, role: Role, span: Range<usize>, index: u32) -> Message {
        Message::new(role, self.messages.len() as u32, self.frame.origin(span, index))
    }

    /// Adds and counts the next message.
    pub(crate) fn push(&mut self, message: Message) {
        match message.kind {
            MessageKind::Message => self.rows.messages += 1,
            MessageKind::Notice => self.rows.notices += 1,
        }
        self.messages.push(message);
    }

    /// Everything that was read, as this conversation.
    pub(crate) fn finish(self, conversation: Conversation) -> Reading {
        Reading {
            conversation: Some(Conversation {
                messages: self.messages,
                ..conversation
            }),
            fault: None,
            findings: self.notes.findings,
            rejects: self.rejects,
            rows: self.rows,
            also: Vec::new(),
        }
    }
}

/// The list in a field of the record; `elements` is what findings call its elements. A record that lacks the field, has it
/// twice, or has something else in it is rejected.
pub(crate) fn named<'d>(
    frame: FrameView<'d>,
    name: &str,
    elements: &str,
    limits: &Limits,
) -> Result<Value<'d>, Box<Finding>> {
    let list = single(frame, name)?;
    let path = || format!("$.{name}");
    if list.kind() != Kind::Array {
        return Err(frame.fault(&codes::WRONG_TYPE, format!("{name} is not a list"), path(), list));
    }
    match too_many(list, "the conversation", elements, limits) {
        Some(text) => Err(frame.fault(&codes::CONVERSATION_TOO_LARGE, text, path(), list)),
        None => Ok(list),
    }
}

/// The field of this name, which the record must have exactly once.
pub(crate) fn single<'d>(frame: FrameView<'d>, name: &str) -> Result<Value<'d>, Box<Finding>> {
    let root = frame.root();
    let mut fields = root.fields().filter(|(key, _)| key == name);
    let (code, text) = match (fields.next(), fields.next()) {
        (Some((_, value)), None) => return Ok(value),
        (Some(_), Some(_)) => (
            &codes::DUPLICATE_KEY,
            format!("{name} stands more than once in the record"),
        ),
        (None, _) => (&codes::MISSING_FIELD, format!("the record has no {name}")),
    };
    Err(frame.fault(code, text, format!("$.{name}"), root))
}

/// The record itself as the list.
pub(crate) fn bare<'d>(
    frame: FrameView<'d>,
    elements: &str,
    limits: &Limits,
) -> Result<Value<'d>, Box<Finding>> {
    let root = frame.root();
    match too_many(root, "the conversation", elements, limits) {
        Some(text) => Err(frame.fault(&codes::CONVERSATION_TOO_LARGE, text, "$", root)),
        None => Ok(root),
    }
}

/// The rows of a record: the elements of a list, or the record itself. Findings call all of them together `whole`; `no_row` is
/// why the object is not a row, and `neither` why anything but a list or an object is rejected.
pub(crate) fn rows<'d>(
    frame: FrameView<'d>,
    whole: &str,
    no_row: Option<&str>,
    neither: &str,
    limits: &Limits,
) -> Result<Vec<Value<'d>>, Box<Finding>> {
    let root = frame.root();
    let (code, text) = match (root.kind(), no_row) {
        (Kind::Array, _) => match too_many(root, whole, "rows", limits) {
            None => return Ok(root.items().collect()),
            Some(text) => (&codes::CONVERSATION_TOO_LARGE, text),
        },
        (Kind::Object, None) => return Ok(vec![root]),
        (Kind::Object, Some(text)) => (&codes::MISSING_FIELD, text.to_owned()),
        _ => (&codes::WRONG_TYPE, neither.to_owned()),
    };
    Err(frame.fault(code, text, "$", root))
}

/// The path of a row in such a record.
pub(crate) fn row_path(frame: FrameView<'_>, index: u32) -> String {
    if frame.root().kind() == Kind::Array {
        format!("$[{index}]")
    } else {
        "$".to_owned()
    }
}

/// Says that a list is too long, where it is.
pub(crate) fn too_many(list: Value<'_>, whole: &str, elements: &str, limits: &Limits) -> Option<String> {
    exceeds(list.len() as u64, whole, elements, limits)
}

/// Says that there are too many elements, where there are.
pub(crate) fn exceeds(count: u64, whole: &str, elements: &str, limits: &Limits) -> Option<String> {
    let limit = limits.messages_per_conversation;
    (count > limit).then(|| format!("{whole} has {count} {elements}, the limit is {limit}"))
}
