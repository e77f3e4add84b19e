//! Records as they are written: the room and its people, then entries in the order of the document's fields, then what the format
//! does not know.

use chatmill_model::{
    Component, Conversation, Participant, ParticipantKind, RawJson, Reference, Role, Scene, Sink,
};

use super::entry::Entry;
use super::extra::{Call, CallArguments, Extension};
use super::references::Refer;
use super::roster::People;
use super::{VERSION, is_native};
use crate::text::times;
use crate::write::object::{Object, key, list};

/// A record that is being written.
pub(super) struct Record<'r, 'a> {
    object: Object<'r, 'a>,
    separator: &'static str,
}

impl<'r, 'a> Record<'r, 'a> {
    /// Writes what stands before the entries.
    pub(super) fn open(sink: &'r mut Sink<'a>, conversation: &'a Conversation, people: &People<'a>) -> Self {
        let mut object = Object::open(sink);
        let version = conversation.format_version.as_deref();
        let version = version.filter(|_| is_native(conversation)).unwrap_or(VERSION);
        object.string(key!("version"), Some(version), Component::Meta);
        meta(object.key(key!("conversation_meta")), conversation, people);
        object.key(key!("conversation_list")).framing("[");
        Self {
            object,
            separator: "",
        }
    }

    /// Writes an entry.
    pub(super) fn add(&mut self, entry: Entry<'a>) {
        let sink = self.object.sink();
        sink.framing(self.separator);
        self.separator = ",";
        entry.write(sink);
    }

    /// Writes what stands behind the entries.
    pub(super) fn close(mut self, conversation: &'a Conversation) {
        self.object.sink().framing("]");
        self.object.fields(fields(&conversation.envelope.0));
        self.object.close();
    }
}

fn meta<'a>(sink: &mut Sink<'a>, conversation: &'a Conversation, people: &People<'a>) {
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
    roster(details, &conversation.participants, people);
    meta.close();
}

fn fields(extra: &[(String, RawJson)]) -> impl Iterator<Item = (&str, &RawJson)> {
    extra.iter().map(|(key, value)| (key.as_str(), value))
}

/// The roster: the participants, then whom they lack.
fn roster<'a>(sink: &mut Sink<'a>, participants: &'a [Participant], people: &People<'a>) {
    let mut separator = "{";
    for participant in participants {
        sink.framing(separator);
        separator = ",";
        sink.json_string(&participant.id, Component::Meta);
        sink.framing(":");
        user(sink, participant);
    }
    for id in people.lacked() {
        sink.framing(separator);
        separator = ",";
        sink.json_string(id, Component::Meta);
        sink.framing(":{}");
    }
    sink.framing(if separator == "," { "}" } else { "{}" });
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

impl<'a> Entry<'a> {
    fn write(self, sink: &mut Sink<'a>) {
        let mut object = Object::open(sink);
        object.string(key!("message_id"), Some(self.id), Component::Meta);
        object.string(key!("create_time"), self.time, Component::Meta);
        object.string(key!("sender"), Some(self.sender), Component::Names);
        object.string(key!("sender_name"), self.sender_name, Component::Names);
        match self.role {
            // System text is known by its type.
            Role::System => {}
            Role::User => object.word(key!("role"), "\"user\""),
            Role::Assistant => object.word(key!("role"), "\"assistant\""),
            Role::Tool => object.word(key!("role"), "\"tool\""),
        }
        object.string(key!("type"), Some(self.kind), Component::Meta);
        match self.content {
            Some(content) => object.string(key!("content"), Some(content), self.component),
            None => object.word(key!("content"), "null"),
        }
        list(object.key(key!("refer_list")), self.refers, Refer::write);
        object.fields(self.beside);
        if let Some(extension) = self.extension {
            extension.write(object.key(key!("extra")));
        }
        object.close();
    }
}

impl<'a> Extension<'a> {
    fn write(self, sink: &mut Sink<'a>) {
        let mut extra = Object::open(sink);
        extra.fields(self.inside);
        extra.string(key!("url"), self.url, Component::Content);
        extra.string(key!("file_name"), self.file_name, Component::Meta);
        extra.string(key!("file_type"), self.file_type, Component::Meta);
        if self.is_system_text {
            extra.word(key!("role"), "\"system\"");
        }
        if !self.calls.is_empty() {
            list(extra.key(key!("tool_calls")), self.calls, Call::write);
        }
        extra.string(key!("tool_call_id"), self.call_id, Component::Meta);
        extra.string(key!("name"), self.name, Component::Tools);
        extra.close();
    }
}

impl<'a> Call<'a> {
    fn write(self, sink: &mut Sink<'a>) {
        let mut object = Object::open(sink);
        object.string(key!("id"), Some(self.id), Component::Meta);
        object.word(key!("type"), "\"function\"");
        let mut function = Object::open(object.key(key!("function")));
        function.string(key!("name"), self.name, Component::Tools);
        let sink = function.key(key!("arguments"));
        match self.arguments {
            CallArguments::Text(text) => sink.json_string(text, Component::Tools),
            CallArguments::Json(raw) => sink.raw_json(raw, Component::Tools),
        }
        function.close();
        object.close();
    }
}

impl<'a> Refer<'a> {
    fn write(self, sink: &mut Sink<'a>) {
        let (raw, id) = match self {
            Self::Id(id) => return sink.json_string(id, Component::Replies),
            Self::Object(id, reference) => return object(sink, reference, Some(id)),
            Self::AsItWas(raw, None) => return sink.raw_json(raw, Component::Replies),
            Self::AsItWas(raw, Some(id)) => (raw, id),
        };
        sink.framing("{\"message_id\":");
        sink.json_string(id, Component::Replies);
        let rest = raw.trim_start().strip_prefix('{').unwrap_or(raw);
        if !rest.trim_start().starts_with('}') {
            sink.framing(",");
        }
        sink.raw_json(rest, Component::Replies);
    }
}

/// A reference of another system as an object with what is known of its target.
fn object<'a>(sink: &mut Sink<'a>, reference: &'a Reference, id: Option<&'a str>) {
    let mut object = Object::open(sink);
    object.string(key!("message_id"), id, Component::Replies);
    if let Some(preview) = &reference.preview {
        let time = preview.timestamp.as_ref().map(times::uncounted);
        object.string(key!("create_time"), time, Component::Replies);
        let sender = preview.sender.as_deref().filter(|sender| !sender.is_empty());
        object.string(key!("sender"), sender, Component::Replies);
        object.string(
            key!("sender_name"),
            preview.sender_name.as_deref(),
            Component::Replies,
        );
        if preview.from_agent {
            object.word(key!("role"), "\"assistant\"");
        }
        object.string(key!("content"), preview.content.as_deref(), Component::Replies);
    }
    if !reference.nested.is_empty() {
        list(
            object.key(key!("refer_list")),
            &reference.nested,
            |inner, sink| match inner.target.as_deref() {
                Some(id) if inner.preview.is_none() && inner.nested.is_empty() => {
                    sink.json_string(id, Component::Replies);
                }
                id => self::object(sink, inner, id),
            },
        );
    }
    object.close();
}
