//! Reads a list of messages or rows, as most formats are: when the whole frame is rejected, when one element is, how the ledger
//! counts them, and the reading that results.

pub(crate) mod answers;
mod padding;
mod signed_ids;

use std::borrow::Cow;
use std::ops::Range;

use chatmill_diag::{Finding, Limits, Path, Reject, RowLedger, codes};
use chatmill_intake::json::{Kind, Value};
use chatmill_model::{
    Alternative, AlternativeOrigin, Conversation, Judgement, Message, MessageKind, Part, RawJson, Role,
};

use self::answers::Answers;
use crate::base::{Notes, Site};
use crate::frame::{FrameView, Reading};

/// The name for the elements of a list, in findings.
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
            Self::Message => "duplicate key of the format: the message is rejected",
            Self::Row => "duplicate column of the format: the row is rejected",
        }
    }
}

/// Collects the outcomes of the elements of one frame's list.
#[derive(Debug)]
pub(crate) struct ListReader<'d, 'r> {
    /// The frame of the list.
    pub frame: FrameView<'d>,
    /// The limits of the run.
    pub limits: &'r Limits,
    /// Findings about the elements.
    pub notes: Notes,
    /// Rejected elements.
    pub rejects: Vec<Reject>,
    /// The messages so far.
    pub messages: Vec<Message>,
    /// Alternatives to messages of the conversation.
    pub alternatives: Vec<Alternative>,
    /// Counts of elements by outcome.
    pub rows: RowLedger,
    /// Definitions of tools that turns bring.
    pub tools: Vec<RawJson>,
    /// Positions of the messages that are also in an earlier branch.
    pub shared: Vec<usize>,
    /// Whether an answer may be in several messages.
    pub answers: Answers,
}

/// The state of a reader before a message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Checkpoint {
    messages: usize,
    findings: usize,
    rejects: usize,
}

/// The state of a reader before an alternative answer, which is not part of the conversation.
#[derive(Debug)]
pub(crate) struct ReaderState {
    messages: Vec<Message>,
    findings: usize,
    rejects: usize,
}

impl<'d, 'r> ListReader<'d, 'r> {
    /// A reader without elements.
    pub(crate) fn new(frame: FrameView<'d>, limits: &'r Limits) -> Self {
        Self {
            frame,
            limits,
            notes: Notes::new(frame.start),
            rejects: Vec::new(),
            messages: Vec::new(),
            alternatives: Vec::new(),
            rows: RowLedger::default(),
            tools: Vec::new(),
            shared: Vec::new(),
            answers: Answers::default(),
        }
    }

    /// Counts an element and reads its fields. It is rejected if it is not an object, or if `read` returns the name of a field
    /// that must not occur twice.
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

    /// Reads rows: `columns` finds the columns of each, and `row` reads them. Rows for which one of them fails are rejected.
    pub(crate) fn rows<C, R>(
        &mut self,
        values: Vec<Value<'d>>,
        columns: impl Fn(Value<'d>) -> Result<C, Cow<'d, str>>,
        row: impl Fn(u32, Value<'d>, C) -> Result<R, Box<Finding>>,
    ) -> Vec<R> {
        let mut rows = Vec::new();
        for (index, value) in (0..).zip(values) {
            let frame = self.frame;
            let path = || row_path(frame, index);
            let columns = self.element(Element::Row, path, value, &columns);
            match columns.map(|columns| row(index, value, columns)) {
                Some(Ok(row)) => rows.push(row),
                Some(Err(finding)) => self.reject(value.span(), finding.at_path(path())),
                None => {}
            }
        }
        rows
    }

    /// Rejects an element that is already counted.
    pub(crate) fn reject(&mut self, span: Range<usize>, finding: Finding) {
        self.rows.rejected += 1;
        let place = self.frame.span(span.clone());
        // Values in the JSON of a string have the place of the whole string, so that its bytes are hashed only once.
        let reject = match self.rejects.last().filter(|last| last.span == place) {
            Some(last) => Reject {
                finding: finding.rejecting().at_span(place.start, place.end),
                ..last.clone()
            },
            None => self.frame.reject(span, finding, self.limits),
        };
        self.rejects.push(reject);
    }

    /// The next message, as a place for findings.
    pub(crate) fn site<'s>(&'s mut self, id: Option<&'s str>, message: Value<'s>) -> Site<'s> {
        Site {
            notes: &mut self.notes,
            position: self.messages.len() as u32,
            id,
            message,
            limits: self.limits,
            is_strict: false,
        }
    }

    /// The next message with its role, position and origin; everything else is empty.
    pub(crate) fn message(&self, role: Role, span: Range<usize>, index: u32) -> Message {
        Message::new(role, self.messages.len() as u32, self.frame.origin(span, index))
    }

    /// Adds and counts the next message. An empty thought, which some vendors write for an answer without thoughts, is none.
    pub(crate) fn push(&mut self, mut message: Message) {
        message
            .parts
            .retain(|part| !matches!(part, Part::Reasoning(thought) if thought.is_empty()));
        // The first growth of a list makes room for four, and there may be a million messages of one part.
        message.parts.shrink_to_fit();
        match message.kind {
            MessageKind::Message => self.rows.messages += 1,
            MessageKind::Notice => self.rows.notices += 1,
        }
        self.messages.push(message);
    }

    /// The present state, before a message that an earlier branch may share.
    pub(crate) fn checkpoint(&self) -> Checkpoint {
        Checkpoint {
            messages: self.messages.len(),
            findings: self.notes.findings.len(),
            rejects: self.rejects.len(),
        }
    }

    /// Drops the findings since then, if an earlier branch also has the message: the message is reported, billed and trained
    /// there.
    pub(crate) fn drop_repeated(&mut self, checkpoint: Checkpoint) {
        self.shared.extend(checkpoint.messages..self.messages.len());
        self.notes.findings.truncate(checkpoint.findings);
        let repeated = (self.rejects.len() - checkpoint.rejects) as u64;
        self.rejects.truncate(checkpoint.rejects);
        self.rows.rejected -= repeated;
        self.rows.merged += repeated;
    }

    /// Merges the last message into the one before it.
    pub(crate) fn join_last(&mut self) {
        if self.messages.len() < 2 {
            return;
        }
        let Some((last, before)) = self.messages.pop().zip(self.messages.last_mut()) else {
            return;
        };
        before.parts.extend(last.parts);
        before.extra.0.extend(last.extra.0);
        self.rows.messages -= 1;
        self.rows.merged += 1;
    }

    /// Moves the findings from `known` on, which are about a piece at a path of the record, to the message that it belongs to.
    pub(crate) fn move_findings(&mut self, known: usize, position: usize, place: impl FnOnce() -> String) {
        if self.notes.findings.len() <= known {
            return;
        }
        let own = place();
        for finding in self.notes.findings.iter_mut().skip(known) {
            finding.position = finding.position.map(|_| position as u32);
            if let Path::InMessage(suffix) = &finding.path {
                finding.path = Path::Absolute(format!("{own}{suffix}"));
            }
        }
    }

    /// Reports that messages are copies from an earlier conversation, if there are any.
    pub(crate) fn note_copies(&mut self, copied: u64) {
        if copied > 0 {
            let text = "messages are copied from an earlier conversation: they are context, neither trained on nor billed again";
            let mut finding = Finding::new(&codes::HISTORY_REPEATED, text);
            finding.count = copied;
            self.notes.findings.push(finding);
        }
    }

    /// Begins an alternative answer: messages from here on are not part of the conversation.
    pub(crate) fn begin_alternative(&mut self) -> ReaderState {
        ReaderState {
            messages: std::mem::take(&mut self.messages),
            findings: self.notes.findings.len(),
            rejects: self.rejects.len(),
        }
    }

    /// Ends an alternative answer, and returns its messages.
    pub(crate) fn end_alternative(&mut self, before: ReaderState) -> Vec<Message> {
        let messages = std::mem::replace(&mut self.messages, before.messages);
        self.count_as_alternative(&messages, 0, (before.findings, before.rejects));
        messages
    }

    /// Removes the messages from a position on from the conversation: they are an alternative answer.
    pub(crate) fn split_off(&mut self, position: usize) -> Vec<Message> {
        let mut messages = self.messages.split_off(position.min(self.messages.len()));
        self.count_as_alternative(&messages, position, (0, self.rejects.len()));
        for (index, message) in (0..).zip(&mut messages) {
            message.position = index;
        }
        messages
    }

    /// Counts messages as those of an alternative answer, which began at position `first`. Their findings, among the findings
    /// and rejects from the numbers in `from` on, are located in the record, because the messages have no position in the
    /// conversation.
    fn count_as_alternative(&mut self, messages: &[Message], first: usize, from: (usize, usize)) {
        let notices = messages
            .iter()
            .filter(|message| message.kind == MessageKind::Notice)
            .count() as u64;
        self.rows.alternatives += messages.len() as u64;
        self.rows.notices -= notices;
        self.rows.messages -= messages.len() as u64 - notices;
        let frame = self.frame;
        let path_at = |byte: u64| {
            let at = usize::try_from(byte.saturating_sub(frame.start)).unwrap_or_default();
            frame.document.path_at(at)
        };
        for finding in self.notes.findings.iter_mut().skip(from.0) {
            let place = finding
                .position
                .and_then(|position| (position as usize).checked_sub(first));
            let Some(place) = place else {
                continue;
            };
            finding.position = None;
            if let Path::InMessage(suffix) = &finding.path {
                let own = messages.get(place).map(|message| message.origin.start);
                let own = own.or_else(|| finding.span.map(|span| span.start)).map(path_at);
                finding.path = Path::Absolute(format!("{}{suffix}", own.unwrap_or_else(|| "$".to_owned())));
            }
        }
        for reject in self.rejects.iter_mut().skip(from.1) {
            let own = path_at(reject.span.start);
            if !matches!(&reject.finding.path, Path::Absolute(path) if path.starts_with(&own)) {
                reject.finding.path = Path::Absolute(own);
            }
        }
    }

    /// Adds the alternatives at one position of the conversation. If the message itself is among them, as `own`, it is not
    /// added.
    pub(crate) fn alternatives(
        &mut self,
        place: Range<usize>,
        own: Option<(AlternativeOrigin, Judgement)>,
        others: impl IntoIterator<Item = (AlternativeOrigin, Judgement, Vec<Message>)>,
    ) {
        let place = place.start as u32..place.end as u32;
        let mut add = |origin, judgement, messages| {
            self.alternatives.push(Alternative {
                place: place.clone(),
                origin,
                judgement,
                messages,
            });
        };
        if let Some((origin, judgement)) = own.filter(|_| !place.is_empty()) {
            add(origin, judgement, None);
        }
        for (origin, judgement, messages) in others {
            add(origin, judgement, Some(messages));
        }
    }

    /// Finishes the conversation.
    pub(crate) fn finish(mut self, conversation: Conversation) -> Reading {
        answers::join(&mut self);
        self.alternatives
            .sort_by_key(|alternative| alternative.place.start);
        for at in self.shared {
            if let Some(message) = self.messages.get_mut(at) {
                message.move_to_earlier_copy();
            }
        }
        let mut conversation = Conversation {
            messages: self.messages,
            alternatives: self.alternatives,
            ..conversation
        };
        for tool in self.tools {
            if !conversation.tools.contains(&tool) {
                conversation.tools.push(tool);
            }
        }
        padding::take_out(&mut conversation, self.limits);
        signed_ids::take_out(&mut conversation);
        Reading {
            conversation: Some(conversation),
            error: None,
            findings: self.notes.findings,
            rejects: self.rejects,
            rows: self.rows,
            also: Vec::new(),
        }
    }
}

/// The list in a field of the record; `elements` is the name of its elements in findings. A record is rejected if the field is
/// missing, repeated, or of another type.
pub(crate) fn named<'d>(
    frame: FrameView<'d>,
    name: &str,
    elements: &str,
    limits: &Limits,
) -> Result<Value<'d>, Box<Finding>> {
    let list = single(frame, name)?;
    let path = || format!("$.{name}");
    if list.kind() != Kind::Array {
        return Err(frame.error(&codes::WRONG_TYPE, format!("{name} is not a list"), path(), list));
    }
    frame.bound(("the conversation", list.len(), elements), path(), list, limits)?;
    Ok(list)
}

/// The field of this name, which the record must have exactly once.
pub(crate) fn single<'d>(frame: FrameView<'d>, name: &str) -> Result<Value<'d>, Box<Finding>> {
    single_of(frame, frame.root(), "$", name)
}

/// The field of this name in a record at a path of the frame.
pub(crate) fn single_of<'d>(
    frame: FrameView<'d>,
    root: Value<'d>,
    path: &str,
    name: &str,
) -> Result<Value<'d>, Box<Finding>> {
    let mut fields = root.fields().filter(|(key, _)| key == name);
    let (code, text) = match (fields.next(), fields.next()) {
        (Some((_, value)), None) => return Ok(value),
        (Some(_), Some(_)) => (
            &codes::DUPLICATE_KEY,
            format!("duplicate key {name} in the record"),
        ),
        (None, _) => (&codes::MISSING_FIELD, format!("the record has no {name}")),
    };
    Err(frame.error(code, text, format!("{path}.{name}"), root))
}

/// The record itself as the list.
pub(crate) fn bare<'d>(
    frame: FrameView<'d>,
    elements: &str,
    limits: &Limits,
) -> Result<Value<'d>, Box<Finding>> {
    let root = frame.root();
    frame.bound(("the conversation", root.len(), elements), "$", root, limits)?;
    Ok(root)
}

/// The rows of a record: the elements of a list, or the record itself. Findings call them together `whole`. `no_row` is the
/// reason why the object is not a row, and `neither` the reason why anything but a list or an object is rejected.
pub(crate) fn rows<'d>(
    frame: FrameView<'d>,
    whole: &str,
    no_row: Option<&str>,
    neither: &str,
    limits: &Limits,
) -> Result<Vec<Value<'d>>, Box<Finding>> {
    let root = frame.root();
    let (code, text) = match (root.kind(), no_row) {
        (Kind::Array, _) => {
            frame.bound((whole, root.len(), "rows"), "$", root, limits)?;
            return Ok(root.items().collect());
        }
        (Kind::Object, None) => return Ok(vec![root]),
        (Kind::Object, Some(text)) => (&codes::MISSING_FIELD, text.to_owned()),
        _ => (&codes::WRONG_TYPE, neither.to_owned()),
    };
    Err(frame.error(code, text, "$", root))
}

/// The lines of a file, which together are a conversation, or a list that takes their place: its name is used in findings about
/// its elements, and in their paths. Lines without any object are rejected: only its contents distinguish an array from grouped
/// lines.
pub(crate) fn lines<'d>(
    frame: FrameView<'d>,
    whole: &str,
    within: Option<(&str, String, Value<'d>)>,
    limits: &Limits,
) -> Result<Vec<Value<'d>>, Box<Finding>> {
    let neither = "the line is JSON, but not an object";
    let lines = match within {
        None => rows(frame, whole, None, neither, limits)?,
        Some((elements, path, list)) => {
            frame.bound((whole, list.len(), elements), path, list, limits)?;
            list.items().collect()
        }
    };
    if !lines.is_empty() && lines.iter().all(|line| line.kind() != Kind::Object) {
        return Err(frame.error(&codes::WRONG_TYPE, neither, "$", frame.root()));
    }
    Ok(lines)
}

/// The path of a row in such a record.
pub(crate) fn row_path(frame: FrameView<'_>, index: u32) -> String {
    if frame.root().kind() == Kind::Array {
        format!("$[{index}]")
    } else {
        "$".to_owned()
    }
}
