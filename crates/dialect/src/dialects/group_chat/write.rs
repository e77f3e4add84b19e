//! Writes the parts of a record around the entries: the chat, its participants, and fields that the format does not know.

use chatmill_model::{Component, Conversation, Participant, ParticipantKind, RawJson, Scene, Sink};

use super::roster::Unlisted;
use super::{VERSION, is_native};
use crate::write::object::{Object, key};

/// Writes the fields before the entries.
pub(super) fn head<'a>(object: &mut Object<'_, 'a>, conversation: &'a Conversation, unlisted: &Unlisted<'a>) {
    let version = conversation.format_version.as_deref();
    let version = version.filter(|_| is_native(conversation)).unwrap_or(VERSION);
    object.string(key!("version"), Some(version), Component::Meta);
    meta(object.key(key!("conversation_meta")), conversation, unlisted);
}

fn meta<'a>(sink: &mut Sink<'a>, conversation: &'a Conversation, unlisted: &Unlisted<'a>) {
    let extra = &conversation.extra;
    let has = |key: &str| extra.get(key).is_some();
    let mut meta = Object::open(sink);
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
    if !has("name") {
        let title = conversation.title.as_deref();
        let name = title.or(conversation.source_id.as_deref()).unwrap_or_default();
        meta.string(key!("name"), Some(name), Component::Meta);
    }
    meta.fields(fields(rest));
    let details = meta.key(key!("user_details"));
    roster(details, &conversation.participants, unlisted);
    meta.close();
}

/// Returns fields that the format does not know.
pub(super) fn fields(extra: &[(String, RawJson)]) -> impl Iterator<Item = (&str, &RawJson)> {
    extra.iter().map(|(key, value)| (key.as_str(), value))
}

/// Writes the roster: the participants, then those who are not among them.
fn roster<'a>(sink: &mut Sink<'a>, participants: &'a [Participant], unlisted: &Unlisted<'a>) {
    let mut roster = Object::open(sink);
    for participant in participants {
        user(roster.named(&participant.id), participant);
    }
    for id in unlisted.ids() {
        roster.named(id).framing("{}");
    }
    roster.close();
}

fn user<'a>(sink: &mut Sink<'a>, participant: &'a Participant) {
    // Details that are not an object are kept whole under this name.
    if let Some(whole) = participant.extra.get("/") {
        sink.raw_json(whole.as_str(), Component::Meta);
        return;
    }
    let mut user = Object::open(sink);
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
    user.fields(fields(&participant.extra.0));
    user.close();
}
