//! Small conversations for the tests of the rules, linked by hand.

use chatmill_diag::{Finding, Limits};
use chatmill_model::{
    ArgumentForm, Arguments, CallStatus, Conversation, Link, LinkStatus, Linked, Message, MessageKind,
    MessageOrigin, OffsetOrigin, Pairing, Part, PartPlace, Participant, Preview, RawJson, Reference,
    ReferenceForm, Role, Timestamp, ToolCall, ToolResult, Unstated,
};

use crate::Rule;

/// A conversation of `u1` and `u2`, who are listed; whoever else speaks is not.
pub(crate) struct Sample(Linked);

impl Sample {
    pub(crate) fn new() -> Self {
        let participants = ["u1", "u2"].map(|id| participant(id, true)).to_vec();
        Self(Linked {
            conversation: Conversation {
                source: "group-chat",
                participants,
                ..Conversation::default()
            },
            links: Vec::new(),
            pairings: Vec::new(),
        })
    }

    /// Appends a text message.
    pub(crate) fn say(&mut self, sender: &str, text: &str) -> &mut Message {
        self.post(sender, vec![Part::Text(text.to_owned())])
    }

    /// Appends a message of any parts; its id is `m` and its position.
    pub(crate) fn post(&mut self, sender: &str, parts: Vec<Part>) -> &mut Message {
        let conversation = &mut self.0.conversation;
        let known = conversation
            .participants
            .iter()
            .position(|known| known.id == sender);
        let sender = known.unwrap_or_else(|| {
            conversation.participants.push(participant(sender, false));
            conversation.participants.len() - 1
        });
        let position = conversation.messages.len() as u32;
        conversation.messages.push(Message {
            id: Some(format!("m{position}")),
            position,
            sender: Some(sender),
            sender_name: None,
            role: Role::User,
            kind: MessageKind::Message,
            source_type: None,
            timestamp: None,
            parts,
            references: Vec::new(),
            mentions: Vec::new(),
            weight: None,
            model: None,
            usage: None,
            told_before: None,
            extra: chatmill_model::Extra::default(),
            unstated: Unstated::default(),
            external_id: None,
            origin: MessageOrigin::default(),
        });
        self.0.links.push(Vec::new());
        conversation.messages.last_mut().unwrap()
    }

    /// The same in a format that lists references in this field.
    pub(crate) fn listing_references_in(mut self, field: &'static str) -> Self {
        self.0.conversation.customs.reference_list = Some(field);
        self
    }

    /// Appends a message that asks for a tool.
    pub(crate) fn call(&mut self, id: Option<&str>, name: &str, arguments: Arguments, form: ArgumentForm) {
        self.post(
            "u2",
            vec![Part::ToolCall(ToolCall {
                id: id.map(str::to_owned),
                name: Some(name.to_owned()),
                arguments,
                form,
                metadata_id: None,
            })],
        );
    }

    /// Appends a message with a tool's answer.
    pub(crate) fn answer(&mut self, call_id: Option<&str>, name: &str) {
        self.post(
            "u1",
            vec![Part::ToolResult(ToolResult {
                call_id: call_id.map(str::to_owned),
                name: Some(name.to_owned()),
                content: "12 °C".to_owned(),
                media: 0,
                is_error: false,
                metadata_id: None,
                caller: None,
            })],
        );
    }

    /// Appends a call with good arguments and its answer, unpaired.
    pub(crate) fn call_and_answer(&mut self) {
        self.call(Some("c1"), "weather", object("{}"), ArgumentForm::Text);
        self.answer(Some("c1"), "weather");
    }

    /// Pairs the first parts of two messages.
    pub(crate) fn pair(&mut self, call: Option<u32>, result: Option<u32>, status: CallStatus) {
        let place = |position| PartPlace { position, part: 0 };
        self.0.pairings.push(Pairing {
            call: call.map(place),
            result: result.map(place),
            status,
            paired_by: None,
        });
    }

    /// Appends a reference to the last message.
    pub(crate) fn refer(&mut self, target: Option<u32>, status: LinkStatus, preview: Option<Preview>) {
        let reference = Reference {
            target: Some(target.map_or_else(|| "elsewhere".to_owned(), |target| format!("m{target}"))),
            preview,
            form: ReferenceForm::Id,
            is_pseudo: false,
            nested: Vec::new(),
        };
        self.refer_as(reference, target, status);
    }

    /// Appends a reference, as the source wrote it, to the last message.
    pub(crate) fn refer_as(&mut self, reference: Reference, target: Option<u32>, status: LinkStatus) {
        self.0
            .conversation
            .messages
            .last_mut()
            .unwrap()
            .references
            .push(reference);
        self.0.links.last_mut().unwrap().push(Link {
            target,
            status,
            same_sender: false,
            nested: Vec::new(),
        });
    }

    pub(crate) fn linked(self) -> Linked {
        self.0
    }

    /// What a rule finds, with default limits.
    pub(crate) fn check(self, rule: &dyn Rule) -> Vec<Finding> {
        let mut findings = Vec::new();
        rule.check(&self.0, &Limits::default(), &mut findings);
        findings
    }
}

/// Arguments that are a JSON object.
pub(crate) fn object(raw: &str) -> Arguments {
    Arguments::Object(RawJson(raw.to_owned()))
}

/// A time with an instant.
pub(crate) fn at(seconds: i64) -> Timestamp {
    Timestamp {
        instant: Some(seconds * 1_000_000),
        raw: format!("second {seconds}"),
        offset: OffsetOrigin::Explicit,
    }
}

fn participant(id: &str, listed: bool) -> Participant {
    Participant {
        id: id.to_owned(),
        listed,
        ..Participant::default()
    }
}
