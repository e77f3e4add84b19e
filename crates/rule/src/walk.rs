//! Iterators that several rules share: references with their links, tool calls and results with their messages, and findings at these
//! places.

pub(crate) use chatmill_diag::ShownId as Id;
use chatmill_diag::{Code, Finding, cut};
use chatmill_model::{
    CallStatus, Conversation, Link, Linked, Message, Pairing, Part, PartPlace, Reference, ToolCall,
    ToolResult,
};

/// A reference in its message.
pub(crate) struct Referring<'a> {
    /// The message that refers.
    pub message: &'a Message,
    /// The index among the message's references.
    pub ordinal: usize,
    /// The reference as the source wrote it.
    pub reference: &'a Reference,
    /// The result of linking it.
    pub link: &'a Link,
    /// The field that lists the message's references.
    list: Option<&'static str>,
}

impl Referring<'_> {
    /// A finding at this reference.
    pub(crate) fn finding(&self, code: &'static Code, message: impl Into<String>) -> Finding {
        Finding::new(code, message).at_message(
            self.message.position,
            self.message.id.as_deref(),
            match self.list {
                Some(list) => format!(".{list}[{}]", self.ordinal),
                None => String::new(),
            },
        )
    }
}

/// Every reference of a conversation, in order.
pub(crate) fn references(linked: &Linked) -> impl Iterator<Item = Referring<'_>> {
    let list = linked.conversation.traits.reference_list;
    linked
        .conversation
        .messages
        .iter()
        .zip(&linked.links)
        .flat_map(move |(message, links)| {
            message
                .references
                .iter()
                .zip(links)
                .enumerate()
                .map(move |(ordinal, (reference, link))| Referring {
                    message,
                    ordinal,
                    reference,
                    link,
                    list,
                })
        })
}

/// A finding at a whole message.
pub(crate) fn at_message(code: &'static Code, message: &Message, text: impl Into<String>) -> Finding {
    Finding::new(code, text).at_message(message.position, message.id.as_deref(), "")
}

/// Findings that each participant has at most one of, at the first message concerned, with the number of such messages as count.
pub(crate) struct PerParticipant {
    /// For each participant the index of the finding, once there is one.
    found: Vec<Option<usize>>,
}

impl PerParticipant {
    /// No findings yet, for the participants of `conversation`.
    pub(crate) fn new(conversation: &Conversation) -> Self {
        Self {
            found: vec![None; conversation.participants.len()],
        }
    }

    /// Counts a message of participant `index`: in the existing finding, or in the one that `first` makes.
    pub(crate) fn add(&mut self, index: usize, findings: &mut Vec<Finding>, first: impl FnOnce() -> Finding) {
        let place = cut::at_mut(&mut self.found, index);
        if let Some(earlier) = *place {
            cut::at_mut(findings, earlier).count += 1;
        } else {
            *place = Some(findings.len());
            findings.push(first());
        }
    }
}

/// A finding at a call: at its id, or at its name if it has no id.
pub(crate) fn at_call(
    code: &'static Code,
    message: &Message,
    call: &ToolCall,
    text: impl Into<String>,
) -> Finding {
    let mark = call.known_id().or(call.name.as_deref()).unwrap_or_default();
    at_message(code, message, text).marking(mark).naming(mark)
}

/// A finding at the result of a call: at the call's id in it, or at the name of the tool if there is no id.
pub(crate) fn at_result(
    code: &'static Code,
    message: &Message,
    result: &ToolResult,
    text: impl Into<String>,
) -> Finding {
    let mark = result.known_id().or(result.name.as_deref()).unwrap_or_default();
    at_message(code, message, text).marking(mark).naming(mark)
}

/// A finding at the arguments of a call, or at the call if they are empty or very long.
pub(crate) fn at_arguments(
    code: &'static Code,
    message: &Message,
    call: &ToolCall,
    text: impl Into<String>,
) -> Finding {
    at_call(code, message, call, text).marking(call.arguments.source_text())
}

/// Every tool call of a conversation with its message, in order.
pub(crate) fn calls(linked: &Linked) -> impl Iterator<Item = (&Message, &ToolCall)> {
    parts(linked).filter_map(|(message, part)| match part {
        Part::ToolCall(call) => Some((message, call)),
        _ => None,
    })
}

/// Every part of a conversation with its message, in order.
pub(crate) fn parts(linked: &Linked) -> impl Iterator<Item = (&Message, &Part)> {
    linked
        .conversation
        .messages
        .iter()
        .flat_map(|message| message.parts.iter().map(move |part| (message, part)))
}

/// The pairings with a status, in order.
pub(crate) fn pairings(linked: &Linked, status: CallStatus) -> impl Iterator<Item = &Pairing> {
    let pairings = linked.pairings.iter();
    pairings.filter(move |pairing| pairing.status == status)
}

/// The results in pairings with a status, with their messages, in order.
pub(crate) fn results(linked: &Linked, status: CallStatus) -> impl Iterator<Item = (&Message, &ToolResult)> {
    pairings(linked, status).filter_map(|pairing| result_of(linked, pairing))
}

/// An id in the form in which it follows a noun in a sentence; empty if there is none.
pub(crate) fn with_id(id: Option<&str>) -> String {
    id.map_or_else(String::new, |id| format!(" {}", Id(id)))
}

/// The call of a pairing and its message.
pub(crate) fn call_of<'a>(linked: &'a Linked, pairing: &Pairing) -> Option<(&'a Message, &'a ToolCall)> {
    match part_at(linked, pairing.call?)? {
        (message, Part::ToolCall(call)) => Some((message, call)),
        _ => None,
    }
}

/// The result of a pairing and its message.
pub(crate) fn result_of<'a>(linked: &'a Linked, pairing: &Pairing) -> Option<(&'a Message, &'a ToolResult)> {
    match part_at(linked, pairing.result?)? {
        (message, Part::ToolResult(result)) => Some((message, result)),
        _ => None,
    }
}

fn part_at(linked: &Linked, place: PartPlace) -> Option<(&Message, &Part)> {
    let message = linked.conversation.messages.get(place.position as usize)?;
    message.parts.get(place.part as usize).map(|part| (message, part))
}
