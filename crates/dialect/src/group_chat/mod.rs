//! Group Chat Format 1.0.0 in the shape of its document of 2026-01-19.
//!
//! ```json
//! {"version":"1.0.0","conversation_meta":{"scene":"group_chat","name":"Room","user_details":{"u1":{"full_name":"Ann"}}},
//!  "conversation_list":[{"message_id":"m1","sender":"u1","role":"user","type":"text","content":"Hi","refer_list":[]}]}
//! ```
//!
//! Nobody is the assistant here: the dialect renders once. What a group chat was read from, this writes back; what other
//! systems hold beyond the format is declared. Tools stand in `extra`, as our extension of the format has it.

mod extra;
mod message;
pub(crate) mod object;

use std::collections::BTreeSet;

use chatmill_model::{Component, Conversation, Participant, ParticipantKind, Rope, Scene};

use crate::Dialect;
use crate::about::About;
use crate::loss::{LossCode, Losses};
use crate::nature::Shown;
use crate::progress::Progress;
use crate::rendering::Rendering;
use crate::view::View;

use object::{Object, key};

/// The dialect of group chat archives.
pub struct GroupChat;

const VERSION: &str = "1.0.0";

static ABOUT: About = About {
    title: "Group Chat Format",
    family: "group-chat",
    media_type: "application/json",
    specification: "Group Chat Format Specification, version 1.0.0",
    dated: "2026-01-19",
    carries: "people, rooms, text, one medium per message, replies, times, ids, notices, tools as an extension",
    loses: "reasoning, further media of a message, tool definitions, second names",
    profiles: &["document"],
    neutral: true,
};

impl Dialect for GroupChat {
    fn id(&self) -> &'static str {
        "group-chat"
    }

    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn render(&self, view: &View<'_>, emit: &mut dyn FnMut(Rendering<'_>)) {
        let conversation = view.conversation();
        let mut losses = Losses::default();
        let shown = Shown::choose(view, None, &mut losses, |_| true);
        losses.everywhere(
            LossCode::ToolDefinitionDropped,
            conversation.tools.len() as u64,
            "the format has no tool definitions",
        );
        let mut rope = Rope::for_messages(shown.messages.len());
        let mut progress = Progress::default();
        let mut record = Object::open(&mut rope);
        let version = conversation
            .format_version
            .as_deref()
            .filter(|_| is_native(conversation))
            .unwrap_or(VERSION);
        record.string(key!("version"), Some(version), Component::Meta);
        meta(record.key(key!("conversation_meta")), conversation, &mut losses);
        let list = record.key(key!("conversation_list"));
        list.framing("[");
        let ids = MessageIds::new(conversation);
        for (index, message) in shown.messages.iter().enumerate() {
            if index > 0 {
                list.framing(",");
            }
            message::write(list, view, message, &ids, &mut losses, &mut progress);
        }
        list.framing("]");
        record.fields(&conversation.envelope);
        record.close();
        emit(progress.finish(rope, shown.extent, losses, Vec::new()));
    }
}

/// Whether a conversation was read from this format.
fn is_native(conversation: &Conversation) -> bool {
    conversation.keeps_form("group-chat")
}

/// Makes up ids for messages that have none.
pub(crate) struct MessageIds<'a>(BTreeSet<&'a str>);

impl<'a> MessageIds<'a> {
    /// For the messages of a conversation.
    pub(crate) fn new(conversation: &'a Conversation) -> Self {
        let messages = &conversation.messages;
        if messages.iter().all(|message| message.id.is_some()) {
            return Self(BTreeSet::new());
        }
        Self(
            messages
                .iter()
                .filter_map(|message| message.id.as_deref())
                .collect(),
        )
    }

    /// `m<position>`, qualified where somebody has that id.
    pub(crate) fn made_up(&self, position: u32) -> String {
        let plain = format!("m{position}");
        if !self.0.contains(plain.as_str()) {
            return plain;
        }
        let mut count = 2_u64;
        loop {
            let qualified = format!("{plain}~{count}");
            if !self.0.contains(qualified.as_str()) {
                return qualified;
            }
            count += 1;
        }
    }
}

fn meta<'a>(rope: &mut Rope<'a>, conversation: &'a Conversation, losses: &mut Losses) {
    let extra = &conversation.extra;
    let has = |key: &str| extra.get(key).is_some();
    let mut meta = Object::open(rope);
    if !has("conversation_id") && !has("group_id") {
        meta.string(
            key!("conversation_id"),
            conversation.source_id.as_deref(),
            Component::Meta,
        );
    }
    match conversation.scene {
        Scene::Assistant => meta.word(key!("scene"), "\"assistant\""),
        Scene::GroupChat => meta.word(key!("scene"), "\"group_chat\""),
        Scene::Unknown => {}
    }
    let (first, rest) = match extra.0.split_first() {
        Some(((key, value), rest)) if key == "scene_desc" => (Some((key, value)), rest),
        _ => (None, extra.0.as_slice()),
    };
    if let Some((key, value)) = first {
        meta.field(key, value);
    } else if let Some(description) = &conversation.description
        && !has("scene_desc")
        && !has("description")
    {
        let mut scene = Object::open(meta.key(key!("scene_desc")));
        scene.string(key!("description"), Some(description), Component::Meta);
        scene.close();
    }
    meta.string(key!("name"), conversation.title.as_deref(), Component::Meta);
    for (key, value) in rest {
        meta.field(key, value);
    }
    roster(meta.key(key!("user_details")), &conversation.participants, losses);
    meta.close();
}

fn roster<'a>(rope: &mut Rope<'a>, participants: &'a [Participant], losses: &mut Losses) {
    rope.framing("{");
    let listed = participants.iter().filter(|participant| participant.listed);
    for (index, participant) in listed.enumerate() {
        if index > 0 {
            rope.framing(",");
        }
        rope.json_string(&participant.id, Component::Meta);
        rope.framing(":");
        user(rope, participant, losses);
    }
    rope.framing("}");
    let unlisted = participants
        .iter()
        .filter(|participant| !participant.listed && has_facts(participant));
    losses.everywhere(
        LossCode::ParticipantDropped,
        unlisted.count() as u64,
        "participants who are not listed have no details",
    );
}

fn has_facts(participant: &Participant) -> bool {
    participant.name.is_some()
        || participant.custom_role.is_some()
        || participant.department.is_some()
        || participant.email.is_some()
        || !participant.extra.is_empty()
}

fn user<'a>(rope: &mut Rope<'a>, participant: &'a Participant, losses: &mut Losses) {
    // Details that are no object are kept whole under this name.
    if let Some(whole) = participant.extra.get("/") {
        rope.raw_json(whole.as_str(), Component::Meta);
        return;
    }
    losses.everywhere(
        LossCode::NameDropped,
        u64::from(participant.alias.is_some()),
        "the format has no second names",
    );
    let has_other_role = participant
        .role
        .as_deref()
        .is_some_and(|role| !matches!(role, "user" | "assistant" | ""))
        && participant.role != participant.custom_role;
    losses.everywhere(
        LossCode::ParticipantDropped,
        u64::from(has_other_role),
        "a role is user or assistant",
    );
    let mut user = Object::open(rope);
    user.string(key!("full_name"), participant.name.as_deref(), Component::Names);
    if participant.extra.get("role").is_none() {
        match participant.kind {
            ParticipantKind::Human => user.word(key!("role"), "\"user\""),
            ParticipantKind::Agent => user.word(key!("role"), "\"assistant\""),
            ParticipantKind::Unknown => {}
        }
    }
    user.string(
        key!("custom_role"),
        participant.custom_role.as_deref(),
        Component::Meta,
    );
    user.string(
        key!("department"),
        participant.department.as_deref(),
        Component::Meta,
    );
    user.string(key!("email"), participant.email.as_deref(), Component::Meta);
    user.fields(&participant.extra);
    user.close();
}
