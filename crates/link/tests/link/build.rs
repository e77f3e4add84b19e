//! Small conversations for the tests of this crate.

use chatmill_model::{
    ArgumentForm, Arguments, Conversation, Message, MessageKind, MessageOrigin, Part, Participant, Preview,
    RawJson, Reference, ReferenceForm, Role, ToolCall, ToolResult,
};

/// A text message of participant 0 without an id.
pub(crate) fn text_message(text: &str) -> Message {
    Message {
        sender: Some(0),
        parts: vec![Part::Text(text.to_owned())],
        ..Message::new(Role::User, 0, MessageOrigin::default())
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

/// A notice: a person joined.
pub(crate) fn notice() -> Message {
    Message {
        kind: MessageKind::Notice,
        parts: vec![Part::Notice("joined".to_owned())],
        ..text_message("")
    }
}

/// A reference that contains the beginning of a text.
pub(crate) fn excerpt(shown: &str) -> Reference {
    Reference {
        form: ReferenceForm::Excerpt,
        ..with_preview(None, None, Some(shown))
    }
}

/// A call or a result in the form `id:name#metadata_id@caller`; each piece is optional.
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
        own: None,
    })
}

pub(crate) fn result_part(text: &str) -> Part {
    let step = step(text);
    Part::ToolResult(ToolResult {
        call_id: step.id,
        name: step.name,
        content: "ok".to_owned(),
        metadata_id: step.metadata_id,
        caller: step.caller,
        ..ToolResult::default()
    })
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
