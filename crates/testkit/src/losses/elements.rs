//! The elements of a conversation: one for each part of its content, in order.

use chatmill_dialect::LossCode;
use chatmill_model::{
    LinkStatus, Linked, Media, Message, MessageKind, Part, PartPlace, Role, ToolCall, ToolResult,
};

use super::declared::is_white;

/// The kind of an element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind<'c> {
    /// The text of a message, or the event in a notice.
    Text(&'c str),
    /// Reasoning of a model.
    Reasoning(&'c str),
    /// A medium.
    Media(&'c Media),
    /// A tool call.
    Call(&'c ToolCall),
    /// A tool result.
    Result(&'c ToolResult),
    /// A prompt-cache mark.
    CacheMark,
    /// The text of a message that is replied to, which the reply repeats.
    Quote(String),
    /// A message without content.
    Nothing,
}

/// One part of the content.
#[derive(Clone, Debug)]
pub(super) struct Element<'c> {
    /// The message of the element.
    pub message: &'c Message,
    /// The kind of the element.
    pub kind: Kind<'c>,
    /// The call that a result, its media or its marks belong to.
    pub call: Option<PartPlace>,
    /// Whether the element is a medium of a result, or a mark on one.
    pub belongs_to_result: bool,
}

impl Element<'_> {
    /// The position of its message.
    pub(super) fn position(&self) -> u32 {
        self.message.position
    }

    /// The codes that declare the loss of an element of this kind, alone or with its message.
    pub(super) fn dropped_by(&self) -> Vec<LossCode> {
        use LossCode::{
            CacheMarkCapped, CacheMarkDropped, DuplicateResult, EmptyDropped, ExtraDropped, MediaDropped,
            NoticeDropped, OrphanResultDropped, ReasoningDropped, SystemDropped, ToolCallDropped,
            ToolResultDropped,
        };
        let mut codes = match &self.kind {
            Kind::Text(_) | Kind::Quote(_) => vec![],
            Kind::Reasoning(_) => vec![ReasoningDropped],
            Kind::Media(_) if self.belongs_to_result => {
                vec![
                    MediaDropped,
                    ToolResultDropped,
                    OrphanResultDropped,
                    DuplicateResult,
                ]
            }
            Kind::Media(_) => vec![MediaDropped],
            Kind::Call(_) => vec![ToolCallDropped],
            Kind::Result(_) => vec![ToolResultDropped, OrphanResultDropped, DuplicateResult],
            Kind::CacheMark => vec![CacheMarkDropped, CacheMarkCapped],
            // Data that only one vendor has is no element.
            Kind::Nothing => vec![EmptyDropped, ExtraDropped],
        };
        if matches!(&self.kind, Kind::Result(result) if result.content.trim_matches(is_white).is_empty()) {
            codes.push(EmptyDropped);
        }
        if self.message.kind == MessageKind::Notice {
            codes.push(NoticeDropped);
        }
        match (self.message.role, &self.kind) {
            (Role::System, _) => codes.push(SystemDropped),
            // Elements next to a result belong to it.
            (Role::Tool | Role::User, Kind::Text(_) | Kind::Media(_) | Kind::Nothing) => {
                codes.push(ToolResultDropped);
            }
            _ => {}
        }
        codes
    }
}

/// The elements of some messages, in order.
pub(super) fn elements<'c>(linked: &'c Linked, messages: &'c [Message]) -> Vec<Element<'c>> {
    let mut elements = Vec::new();
    for message in messages {
        let first = elements.len();
        // The answer that media and marks belong to, and the number of its media that are still to come.
        let mut answer = None;
        for (part, found) in (0..).zip(&message.parts) {
            answer = match (found, answer) {
                (Part::ToolResult(result), _) => Some((part, result.media)),
                (Part::Media(_), Some((place, more @ 1..))) => Some((place, more - 1)),
                (Part::CacheMark, Some((place, _))) => Some((place, 0)),
                _ => None,
            };
            let kind = match found {
                Part::Text(text) | Part::Notice(text) | Part::Reasoning(text) if text.is_empty() => continue,
                Part::Text(text) | Part::Notice(text) => Kind::Text(text),
                Part::Reasoning(text) => Kind::Reasoning(text),
                Part::Media(media) => Kind::Media(media),
                Part::ToolCall(call) => Kind::Call(call),
                Part::ToolResult(result) => Kind::Result(result),
                Part::CacheMark => Kind::CacheMark,
                // The prefix law compares these parts.
                Part::Item(_) => continue,
            };
            let place = PartPlace {
                position: message.position,
                part: answer.map_or(part, |(place, _)| place),
            };
            let pairing = linked
                .pairings
                .iter()
                .find(|pairing| pairing.result == Some(place));
            let call = pairing.and_then(|pairing| pairing.call);
            let belongs_to_result = matches!(kind, Kind::Media(_) | Kind::CacheMark) && answer.is_some();
            elements.push(Element {
                message,
                kind,
                call,
                belongs_to_result,
            });
        }
        if elements.len() == first {
            elements.push(Element {
                message,
                kind: Kind::Nothing,
                call: None,
                belongs_to_result: false,
            });
        }
    }
    elements
}

/// The texts that a message quotes if its replies are written out: those of the messages that it replies to, without duplicates.
pub(super) fn quoted(linked: &Linked, message: &Message) -> Vec<String> {
    let Some(links) = linked.links.get(message.position as usize) else {
        return Vec::new();
    };
    let mut known = Vec::new();
    let mut quoted = Vec::new();
    for (reference, link) in message.references.iter().zip(links) {
        let text = match (link.status, link.target) {
            (LinkStatus::Resolved, Some(target)) => words(&linked.conversation.messages[target as usize]),
            (LinkStatus::Preview, _) => {
                let preview = reference.preview.as_ref();
                preview
                    .and_then(|preview| preview.content.clone())
                    .unwrap_or_default()
            }
            _ => continue,
        };
        let key = (
            link.target,
            reference.target.as_ref().filter(|_| link.target.is_none()),
        );
        if key == (None, None) || !known.contains(&key) {
            known.push(key);
            quoted.push(text);
        }
    }
    quoted
}

/// The whole text of a message.
fn words(message: &Message) -> String {
    let texts = message.parts.iter().filter_map(|part| match part {
        Part::Text(text) | Part::Notice(text) => Some(text.as_str()),
        Part::ToolResult(result) => Some(result.content.as_str()),
        // The tests of quotes cover the placeholder of a medium in a quote.
        Part::Media(_) => Some("["),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}
