//! Small conversations for the tests of this crate.

use chatmill_diag::{Finding, Limits};
use chatmill_link::{Repeats, link};
use chatmill_model::{
    ArgumentForm, Arguments, Conversation, Extra, Linked, Message, MessageKind, MessageOrigin, Part,
    Participant, Preview, RawJson, Reference, ReferenceForm, Role, ToolCall, ToolResult, Unstated,
};

/// A text message of participant 0 without an id.
pub(crate) fn says(text: &str) -> Message {
    Message {
        id: None,
        position: 0,
        sender: Some(0),
        sender_name: None,
        role: Role::User,
        kind: MessageKind::Message,
        source_type: None,
        timestamp: None,
        parts: vec![Part::Text(text.to_owned())],
        references: Vec::new(),
        mentions: Vec::new(),
        weight: None,
        model: None,
        usage: None,
        told_before: None,
        extra: Extra::default(),
        unstated: Unstated::default(),
        external_id: None,
        origin: MessageOrigin::default(),
    }
}

/// A text message with an id and references by id.
pub(crate) fn refers(id: &str, targets: &[&str]) -> Message {
    Message {
        id: Some(id.to_owned()),
        references: targets.iter().map(|target| by_id(target)).collect(),
        ..says(id)
    }
}

pub(crate) fn by_id(target: &str) -> Reference {
    Reference {
        target: Some(target.to_owned()),
        preview: None,
        form: ReferenceForm::Id,
        is_pseudo: false,
        nested: Vec::new(),
    }
}

pub(crate) fn with_preview(target: Option<&str>, sender: Option<&str>, content: Option<&str>) -> Reference {
    Reference {
        target: target.map(str::to_owned),
        preview: Some(Preview {
            content: content.map(str::to_owned),
            sender: sender.map(str::to_owned),
            ..Preview::default()
        }),
        form: ReferenceForm::Object(RawJson("{}".to_owned())),
        is_pseudo: false,
        nested: Vec::new(),
    }
}

/// A notice: somebody joined.
pub(crate) fn notice() -> Message {
    Message {
        kind: MessageKind::Notice,
        parts: vec![Part::Notice("joined".to_owned())],
        ..says("")
    }
}

/// A reference that shows the beginning of a text.
pub(crate) fn excerpt(shown: &str) -> Reference {
    Reference {
        form: ReferenceForm::Excerpt,
        ..with_preview(None, None, Some(shown))
    }
}

/// A call or a result written `id:name#metadata_id@caller`, where each piece may be left out.
struct Step {
    id: Option<String>,
    name: Option<String>,
    metadata_id: Option<String>,
    caller: Option<String>,
}

fn step(text: &str) -> Step {
    let known = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let (text, caller) = text.split_once('@').unwrap_or((text, ""));
    let (text, metadata_id) = text.split_once('#').unwrap_or((text, ""));
    let (id, name) = text.split_once(':').unwrap_or((text, ""));
    Step {
        id: known(id),
        name: known(name),
        metadata_id: known(metadata_id),
        caller: known(caller),
    }
}

pub(crate) fn call_part(text: &str) -> Part {
    let step = step(text);
    Part::ToolCall(ToolCall {
        id: step.id,
        name: step.name,
        arguments: Arguments::Object(RawJson("{}".to_owned())),
        form: ArgumentForm::Text,
        metadata_id: step.metadata_id,
    })
}

pub(crate) fn result_part(text: &str) -> Part {
    let step = step(text);
    Part::ToolResult(ToolResult {
        call_id: step.id,
        name: step.name,
        content: "ok".to_owned(),
        media: 0,
        is_error: false,
        metadata_id: step.metadata_id,
        caller: step.caller,
    })
}

/// An assistant message with calls.
pub(crate) fn calls(texts: &[&str]) -> Message {
    Message {
        role: Role::Assistant,
        parts: texts.iter().map(|text| call_part(text)).collect(),
        ..says("")
    }
}

/// A tool message with results.
pub(crate) fn results(texts: &[&str]) -> Message {
    Message {
        role: Role::Tool,
        parts: texts.iter().map(|text| result_part(text)).collect(),
        ..says("")
    }
}

pub(crate) fn conversation(messages: Vec<Message>) -> Conversation {
    let mut messages = messages;
    for (position, message) in (0..).zip(&mut messages) {
        message.position = position;
        message.origin = MessageOrigin {
            start: u64::from(position) * 10,
            end: u64::from(position) * 10 + 9,
            index: position,
        };
    }
    Conversation {
        source: "test",
        participants: ["ann", "bob"]
            .iter()
            .map(|id| Participant {
                id: (*id).to_owned(),
                listed: true,
                ..Participant::default()
            })
            .collect(),
        messages,
        ..Conversation::default()
    }
}

pub(crate) fn linked(messages: Vec<Message>) -> (Linked, Vec<Finding>, Repeats) {
    link(conversation(messages), &Limits::default())
}

pub(crate) fn ids(linked: &Linked) -> Vec<&str> {
    linked
        .conversation
        .messages
        .iter()
        .map(|message| message.id.as_deref().unwrap_or("-"))
        .collect()
}

/// The status of every link, message by message.
pub(crate) fn statuses(linked: &Linked) -> Vec<String> {
    linked
        .links
        .iter()
        .map(|links| {
            links
                .iter()
                .map(|link| link.status.as_str())
                .collect::<Vec<_>>()
                .join(" ")
        })
        .collect()
}

/// One line a pairing: `call -> result status rule`, places as `position.part`.
pub(crate) fn pairs(messages: Vec<Message>) -> Vec<String> {
    let (linked, _, _) = linked(messages);
    linked
        .pairings
        .iter()
        .map(|pairing| {
            let place = |place: Option<chatmill_model::PartPlace>| {
                place.map_or("-".to_owned(), |place| {
                    format!("{}.{}", place.position, place.part)
                })
            };
            let rule = pairing.paired_by.map_or("-", chatmill_model::PairedBy::as_str);
            format!(
                "{} -> {} {} {rule}",
                place(pairing.call),
                place(pairing.result),
                pairing.status.as_str()
            )
        })
        .collect()
}
