//! A chat with links that are set by hand, and its renderings.

use chatmill_dialect::{Additions, History, Loss, LossCode, Policy, View, Window, WindowRange, find};
use chatmill_model::{
    ArgumentForm, Arguments, CallStatus, Conversation, Extra, Link, LinkStatus, Linked, Media, MediaKind,
    MediaSource, Message, MessageKind, MessageOrigin, OffsetOrigin, PairedBy, Pairing, Part, PartPlace,
    Participant, ParticipantKind, Preview, RawJson, Reference, ReferenceForm, Role, Scene, Timestamp,
    ToolCall, ToolResult, Unstated,
};
use std::rc::Rc;

/// A conversation under construction.
pub(crate) struct TestChat {
    pub linked: Linked,
}

/// A rendering with the values that tests compare.
#[derive(Debug)]
pub(crate) struct Out {
    pub text: String,
    pub losses: Vec<Loss>,
    pub violations: Vec<String>,
    pub messages: u32,
    pub assistant: u32,
    pub last_role: Option<&'static str>,
    pub coverage: &'static str,
    pub positions: (Option<u32>, Option<u32>),
    /// Text of the perspective's segments.
    pub own: String,
}

impl Out {
    /// The losses: codes, positions and amounts.
    pub(crate) fn lost(&self, code: LossCode) -> Vec<(Option<u32>, u64)> {
        let of_code = self.losses.iter().filter(|loss| loss.code == code);
        of_code.map(|loss| (loss.position, loss.amount)).collect()
    }

    /// Returns the codes of the losses of one message.
    pub(crate) fn codes_at(&self, position: u32) -> Vec<&'static str> {
        let here = self.losses.iter().filter(|loss| loss.position == Some(position));
        here.map(|loss| loss.code.as_str()).collect()
    }
}

impl TestChat {
    pub(crate) fn new() -> Self {
        Self {
            linked: Linked {
                conversation: Conversation {
                    source: "test",
                    source_id: Some("room-1".to_owned()),
                    scene: Scene::GroupChat,
                    ..Conversation::default()
                },
                links: Vec::new(),
                pairings: Vec::new(),
            },
        }
    }

    fn join(&mut self, id: &str, name: &str, kind: ParticipantKind) -> usize {
        let participants = &mut self.linked.conversation.participants;
        participants.push(Participant {
            id: id.to_owned(),
            name: (!name.is_empty()).then(|| name.to_owned()),
            kind,
            listed: true,
            ..Participant::default()
        });
        participants.len() - 1
    }

    pub(crate) fn human(&mut self, id: &str, name: &str) -> usize {
        self.join(id, name, ParticipantKind::Human)
    }

    pub(crate) fn agent(&mut self, id: &str, name: &str) -> usize {
        self.join(id, name, ParticipantKind::Agent)
    }

    /// Adds a message with these parts, in the role for the kind of its sender.
    pub(crate) fn post(&mut self, sender: Option<usize>, parts: Vec<Part>) -> u32 {
        let conversation = &mut self.linked.conversation;
        let position = conversation.messages.len() as u32;
        let kind = sender.map(|sender| conversation.participants[sender].kind);
        let role = if parts.iter().any(|part| matches!(part, Part::ToolResult(_))) {
            Role::Tool
        } else if kind == Some(ParticipantKind::Agent) {
            Role::Assistant
        } else {
            Role::User
        };
        conversation.messages.push(Message {
            id: Some(format!("msg{position}")),
            position,
            sender,
            sender_name: None,
            role,
            kind: MessageKind::Message,
            source_type: None,
            timestamp: None,
            parts,
            references: Vec::new(),
            mentions: Vec::new(),
            weight: None,
            model: None,
            answer: None,
            usage: None,
            earlier_copy: None,
            extra: Extra::default(),
            unstated: Unstated::default(),
            external_id: None,
            origin: MessageOrigin::default(),
        });
        self.linked.links.push(Vec::new());
        position
    }

    pub(crate) fn write(&mut self, sender: usize, text: &str) -> u32 {
        self.post(Some(sender), vec![Part::Text(text.to_owned())])
    }

    pub(crate) fn system(&mut self, text: &str) -> u32 {
        let position = self.post(None, vec![Part::Text(text.to_owned())]);
        self.message(position).role = Role::System;
        position
    }

    pub(crate) fn notice(&mut self, text: &str) -> u32 {
        let position = self.post(None, vec![Part::Notice(text.to_owned())]);
        self.message(position).kind = MessageKind::Notice;
        position
    }

    pub(crate) fn message(&mut self, position: u32) -> &mut Message {
        &mut self.linked.conversation.messages[position as usize]
    }

    pub(crate) fn time(&mut self, position: u32, raw: &str) {
        self.message(position).timestamp = Some(Timestamp {
            instant: None,
            raw: raw.to_owned(),
            offset: OffsetOrigin::Missing,
        });
    }

    /// Makes a message reply to another one.
    pub(crate) fn reply(&mut self, position: u32, target: u32) {
        let id = self.message(target).id.clone();
        let author = self.message(target).sender;
        let same_sender = author.is_some() && self.message(position).sender == author;
        self.refer(position, id, None, Some(target), LinkStatus::Resolved);
        self.linked.links[position as usize]
            .last_mut()
            .unwrap()
            .same_sender = same_sender;
    }

    /// Adds a reference with this status.
    pub(crate) fn refer(
        &mut self,
        position: u32,
        id: Option<String>,
        preview: Option<Preview>,
        target: Option<u32>,
        status: LinkStatus,
    ) {
        self.message(position).references.push(Reference {
            target: id,
            preview,
            form: ReferenceForm::Id,
            is_pseudo: false,
            nested: Vec::new(),
        });
        self.linked.links[position as usize].push(Link {
            target,
            status,
            same_sender: status == LinkStatus::Itself,
            nested: Vec::new(),
        });
    }

    /// Adds a message of the assistant with text and calls.
    pub(crate) fn call(&mut self, sender: usize, text: &str, calls: &[(&str, &str, &str)]) -> u32 {
        let mut parts = Vec::new();
        if !text.is_empty() {
            parts.push(Part::Text(text.to_owned()));
        }
        for (id, name, arguments) in calls {
            parts.push(Part::ToolCall(ToolCall {
                id: (!id.is_empty()).then(|| (*id).to_owned()),
                name: (!name.is_empty()).then(|| (*name).to_owned()),
                arguments: Arguments::Object(RawJson((*arguments).to_owned())),
                form: ArgumentForm::Text,
                metadata_id: None,
                own: None,
            }));
        }
        self.post(Some(sender), parts)
    }

    pub(crate) fn result(&mut self, call_id: &str, content: &str) -> u32 {
        let result = ToolResult {
            call_id: (!call_id.is_empty()).then(|| call_id.to_owned()),
            content: content.to_owned(),
            ..ToolResult::default()
        };
        self.post(None, vec![Part::ToolResult(result)])
    }

    /// Pairs part places: call (message, part) with result (message, part).
    pub(crate) fn pair(&mut self, call: Option<(u32, u32)>, result: Option<(u32, u32)>, status: CallStatus) {
        let place = |(position, part)| PartPlace { position, part };
        self.linked.pairings.push(Pairing {
            call: call.map(place),
            result: result.map(place),
            status,
            paired_by: Some(PairedBy::Id),
        });
    }

    pub(crate) fn render(&self, dialect: &str) -> Vec<Out> {
        self.render_with(dialect, &Policy::default(), History::Document)
    }

    /// Returns the only rendering with the agent with most turns as the perspective.
    pub(crate) fn only(&self, dialect: &str) -> Out {
        self.only_with(dialect, &Policy::default())
    }

    pub(crate) fn only_with(&self, dialect: &str, policy: &Policy) -> Out {
        let mut renderings = self.render_with(dialect, policy, History::Document);
        assert_eq!(renderings.len(), 1);
        renderings.remove(0)
    }

    pub(crate) fn render_with(&self, dialect: &str, policy: &Policy, history: History) -> Vec<Out> {
        let perspective = chatmill_dialect::auto_perspective(&self.linked);
        self.render_as(dialect, policy, history, perspective)
    }

    pub(crate) fn render_as(
        &self,
        dialect: &str,
        policy: &Policy,
        history: History,
        perspective: Option<usize>,
    ) -> Vec<Out> {
        self.render_window(dialect, policy, history, perspective, None)
    }

    pub(crate) fn render_window(
        &self,
        dialect: &str,
        policy: &Policy,
        history: History,
        perspective: Option<usize>,
        range: Option<WindowRange>,
    ) -> Vec<Out> {
        let seen = (policy, Additions::default());
        self.render_added(dialect, seen, history, perspective, range)
    }

    pub(crate) fn render_added(
        &self,
        dialect: &str,
        (policy, additions): (&Policy, Additions<'_>),
        history: History,
        perspective: Option<usize>,
        range: Option<WindowRange>,
    ) -> Vec<Out> {
        let dialect = find(dialect).unwrap();
        let perspective = perspective.filter(|_| !dialect.is_neutral());
        let view = View {
            history,
            additions,
            window: range.map(|range| Window {
                range,
                shared: Rc::default(),
            }),
            ..View::whole(&self.linked, perspective, policy)
        };
        let mut outs = Vec::new();
        dialect.render_each(&view, &mut |sink, rendering| {
            let own = sink
                .span_texts()
                .filter(|(_, span)| span.speaker == chatmill_model::Speaker::Perspective)
                .map(|(text, _)| text)
                .collect();
            assert_eq!(rendering.ordinal as usize, outs.len());
            outs.push(Out {
                text: sink.text().to_owned(),
                losses: rendering.losses,
                violations: rendering.violations.iter().map(ToString::to_string).collect(),
                messages: rendering.messages_rendered,
                assistant: rendering.assistant_messages,
                last_role: rendering.last_role,
                coverage: rendering.coverage.as_str(),
                positions: (rendering.first_position, rendering.last_position),
                own,
            });
        });
        outs
    }
}

pub(crate) fn text(text: &str) -> Part {
    Part::Text(text.to_owned())
}

pub(crate) fn media(kind: MediaKind, url: Option<&str>, name: Option<&str>) -> Part {
    Part::Media(Media {
        kind,
        source: url.map_or(MediaSource::Upload, |url| MediaSource::Url(url.to_owned())),
        media_type: None,
        name: name.map(str::to_owned),
    })
}

pub(crate) fn preview(content: &str, sender: Option<&str>, name: Option<&str>) -> Preview {
    Preview {
        content: Some(content.to_owned()),
        sender: sender.map(str::to_owned),
        sender_name: name.map(str::to_owned),
        from_agent: false,
        ..Preview::default()
    }
}
