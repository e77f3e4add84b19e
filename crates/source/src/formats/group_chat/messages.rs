//! Messages: identity, speaker, role, time, pieces, and the fields that have no place in the model.
//!
//! `Message::extra` distinguishes two levels by name, so that fields can be written back to their places: a
//! field of the message's own `extra` object keeps its name, and an unknown field next to that object gets a
//! leading `/` (`/avatar`). An `extra` that is not an object, or that has a name starting with `/`, is kept
//! whole as `/extra`.

use std::borrow::Cow;

use chatmill_diag::codes;
use chatmill_intake::json::{Kind, Value};
use chatmill_model::{Extra, MediaKind, Message, MessageKind, Part, ParticipantKind, Role, ToolResult};

use super::roster::Roster;
use super::shape::states_kind;
use super::wire::Row;
use super::{media, message_path, references, times, tools};
use crate::base::{
    ExtraFields, FieldText, Keep as _, Site, Times, Wire as _, field_text, id, present, text, word,
};
use crate::layout::{Element, ListReader};

/// Reads the messages of one conversation, in order.
pub(super) struct Reader<'d, 'r> {
    /// The messages that the rows become.
    pub list: ListReader<'d, 'r>,
    /// The participants; speakers who are not listed are added.
    pub roster: Roster<'d>,
    /// Reads the times of the messages.
    pub clock: Times,
}

impl<'d> Reader<'d, '_> {
    /// Reads the message with this index in `conversation_list`.
    pub(super) fn read(&mut self, index: u32, value: Value<'d>) {
        let path = || message_path(index);
        if let Some(row) = self.list.element(Element::Message, path, value, Row::read) {
            self.accept(index, value, &row);
        }
    }

    fn accept(&mut self, index: u32, value: Value<'d>, row: &Row<'d>) {
        let id = row.message_id.and_then(id);
        let mut site = self.list.site(id.as_deref(), value);
        check_id(row, &mut site);

        if row.create_time.is_none() {
            site.absent("create_time");
        }
        let timestamp = times::read(&mut self.clock, row.create_time, &mut site);

        let stated = stated_role(row, &mut site);
        let sender = sender(row, stated, &mut self.roster, &mut site);
        let role = role(stated, sender, &self.roster, row, &mut site);

        let wrong = "the type is not a string: the message is read as text";
        let word = required(row.word, "type", wrong, &mut site).map(Cow::into_owned);
        let known = word.as_deref().unwrap_or("text");
        let is_system_text = known == "system" && is_system_text(row);
        let kind = if known == "system" && !is_system_text {
            MessageKind::Notice
        } else {
            MessageKind::Message
        };
        let media_item = media::kind(known);
        if word.is_some() && media_item.is_none() && !matches!(known, "text" | "system") {
            let text = "the type is none of the known words: the message is read as text";
            let place = row.word.unwrap_or(value);
            site.note(&codes::UNKNOWN_MESSAGE_TYPE, text, ".type", place);
        }

        let content = content(row, &mut site);
        let role = match kind {
            MessageKind::Notice => role,
            MessageKind::Message if is_system_text => Role::System,
            MessageKind::Message => answering(role, row, &mut site),
        };
        let own_fields: &[&str] = match (kind, role) {
            (MessageKind::Notice, _) => &[],
            _ if is_system_text => &["role"],
            (_, Role::Assistant) => &["tool_calls"],
            // A participant who is not an assistant may call tools, too.
            (_, Role::User) if own_field(row, "tool_calls").is_some_and(|calls| !calls.is_empty()) => {
                &["tool_calls"]
            }
            (_, Role::Tool) => &["tool_call_id", "name"],
            _ => &[],
        };
        let (extra, lifted) = extra(row, own_fields, &mut site);
        let parts = match kind {
            MessageKind::Notice => content.map(Part::Notice).into_iter().collect(),
            MessageKind::Message => parts(content, media_item, role, row.extra, lifted),
        };

        let named = row.sender_name.filter(|name| !name.is_null());
        let sender_name = text(named);
        if let Some(name) = named.filter(|_| sender_name.is_none()) {
            site.warn("sender_name", "sender_name is not a string and is left out", name);
        }
        let references = references::read(row.refer_list, &self.roster, &mut site);

        self.list.push(Message {
            id,
            sender,
            sender_name,
            kind,
            source_type: word,
            timestamp,
            parts,
            references,
            extra,
            ..self.list.message(role, value.span(), index)
        });
    }
}

fn check_id(row: &Row<'_>, site: &mut Site<'_>) {
    let text = match field_text(row.message_id) {
        FieldText::Text(text) if !text.is_empty() => return,
        FieldText::Absent => return site.missing("message_id"),
        FieldText::Null | FieldText::Text(_) => return site.empty("message_id"),
        FieldText::Number(_) => "message_id is a number and is read as text",
        FieldText::Other => "message_id is not a string and is left out",
    };
    site.warn("message_id", text, row.message_id.unwrap_or(site.message));
}

/// The role that the message itself states.
fn stated_role(row: &Row<'_>, site: &mut Site<'_>) -> Option<Role> {
    let value = row.role.filter(|role| !role.is_null())?;
    let word = value.as_str().unwrap_or_default();
    let role = word.to_ascii_lowercase().parse::<Role>().ok();
    if let Some(role) = role.filter(|role| *word != *role.as_str()) {
        let text = format!(
            "the role is spelled in another way and is read as `{}`",
            role.as_str()
        );
        site.warn("role", &text, value);
    }
    if role == Some(Role::System) {
        let text = "the format has no role of this name: the text is read as a system text";
        site.warn("role", text, value);
    }
    if role.is_none() {
        let text = "the role is none of the known words: the sender decides";
        site.warn("role", text, value);
    }
    role
}

fn sender<'d>(
    row: &Row<'d>,
    stated: Option<Role>,
    roster: &mut Roster<'d>,
    site: &mut Site<'_>,
) -> Option<usize> {
    let (id, text) = match field_text(row.sender) {
        FieldText::Text(id) => return Some(roster.speaker(id, stated, site)),
        FieldText::Number(number) => (Some(number), "the sender is a number and is read as text"),
        FieldText::Other => (None, "the sender is not a string and is left out"),
        FieldText::Absent | FieldText::Null => {
            site.missing("sender");
            return None;
        }
    };
    site.error("sender", text, row.sender.unwrap_or(site.message));
    id.map(|id| roster.speaker(id.into(), stated, site))
}

/// The role that the message states, else the role of its sender.
fn role(
    stated: Option<Role>,
    sender: Option<usize>,
    roster: &Roster<'_>,
    row: &Row<'_>,
    site: &mut Site<'_>,
) -> Role {
    let sender = sender.and_then(|index| roster.participants.get(index));
    let listed = sender.and_then(|sender| sender.role.as_deref());
    let listed: Option<Role> = listed
        .filter(|word| states_kind(word))
        .and_then(|word| word.parse().ok());
    if let (Some(stated @ (Role::User | Role::Assistant | Role::System)), Some(listed)) = (stated, listed)
        && stated != listed
    {
        let text = "the message states another role than user_details does for its sender";
        let place = row.role.unwrap_or(site.message);
        site.note(&codes::ROLE_CONFLICT, text, ".role", place);
    }
    let is_agent = sender.is_some_and(|sender| sender.kind == ParticipantKind::Agent);
    let guessed = if is_agent { Role::Assistant } else { Role::User };
    stated.or(listed).unwrap_or(guessed)
}

/// A field of the message's own `extra` that is not null.
fn own_field<'d>(row: &Row<'d>, key: &str) -> Option<Value<'d>> {
    let extra = row.extra.filter(|extra| extra.kind() == Kind::Object)?;
    present(extra, key)
}

/// Whether a message of type `system` is a system prompt and not an event; `extra.role` distinguishes them.
fn is_system_text(row: &Row<'_>) -> bool {
    let role = own_field(row, "role").and_then(Value::as_str);
    role.as_deref() == Some("system")
}

/// The role of a message that may answer a call. A message that answers one is a tool's result, even if it states another
/// role.
fn answering(role: Role, row: &Row<'_>, site: &mut Site<'_>) -> Role {
    let Some(id) = own_field(row, "tool_call_id").filter(|_| role != Role::Tool) else {
        return role;
    };
    let text = "the message answers a call and states another role than tool";
    site.note(&codes::ROLE_CONFLICT, text, ".extra.tool_call_id", id);
    match own_field(row, "tool_calls") {
        Some(_) => role,
        None => Role::Tool,
    }
}

/// The text of a field that every message has; `text` is the finding for any other type.
fn required<'d>(
    value: Option<Value<'d>>,
    field: &str,
    text: &str,
    site: &mut Site<'_>,
) -> Option<Cow<'d, str>> {
    match field_text(value) {
        FieldText::Text(own_text) => return Some(own_text),
        FieldText::Absent => site.missing(field),
        FieldText::Null => site.empty(field),
        FieldText::Number(_) | FieldText::Other => site.warn(field, text, value.unwrap_or(site.message)),
    }
    None
}

/// The content as text; a value that is not a string becomes its JSON text.
fn content(row: &Row<'_>, site: &mut Site<'_>) -> Option<String> {
    let text = "the content is not a string and is read as its JSON text";
    let own_text = required(row.content, "content", text, site);
    let raw = || Some(row.content.filter(|value| !value.is_null())?.raw().to_owned());
    own_text.map(Cow::into_owned).or_else(raw)
}

/// The fields that the extension took out of `extra`.
#[derive(Default)]
struct Lifted {
    calls: Vec<Part>,
    call_id: Option<String>,
    name: Option<String>,
}

/// The fields that have no place in the model. Of the message's own `extra`, the fields `own_fields` belong to
/// our extension.
fn extra(row: &Row<'_>, own_fields: &[&str], site: &mut Site<'_>) -> (Extra, Lifted) {
    let mut fields = ExtraFields::new();
    let mut lifted = Lifted::default();
    for (key, value) in &row.others {
        fields.keep(format!("/{key}"), *value);
    }
    if row.others.len() > 1 {
        // Known fields occur once here, so a name that repeats is an unknown one.
        site.repeated_keys(site.message, |_| false);
    }
    let Some(value) = row.extra.filter(|extra| !extra.is_null()) else {
        return (Extra(fields), lifted);
    };
    if value.kind() != Kind::Object {
        site.warn("extra", "extra is not an object and is kept as it is", value);
    }
    site.repeated_keys_within(value, ".extra");
    if value.kind() != Kind::Object || value.fields().any(|(key, _)| key.starts_with('/')) {
        fields.keep("/extra", value);
        return (Extra(fields), lifted);
    }
    for (key, field) in value.fields() {
        match &*key {
            own if !own_fields.contains(&own) => fields.keep(key, field),
            "role" => {}
            "tool_calls" => match tools::calls(field, site) {
                Some(calls) => lifted.calls.extend(calls.into_iter().map(Part::ToolCall)),
                None => fields.keep(key, field),
            },
            _ if field.is_null() => fields.keep(key, field),
            "name" => lifted.name = word(Some(field), "extra.name", site),
            _ => lifted.call_id = word(Some(field), "extra.tool_call_id", site),
        }
    }
    (Extra(fields), lifted)
}

/// The pieces of a turn: text, then the media item, then calls; the content of a tool's message is its result.
fn parts(
    content: Option<String>,
    media_item: Option<MediaKind>,
    role: Role,
    extra: Option<Value<'_>>,
    lifted: Lifted,
) -> Vec<Part> {
    let mut parts = Vec::with_capacity(1 + lifted.calls.len());
    if role == Role::Tool {
        parts.push(Part::ToolResult(ToolResult {
            call_id: lifted.call_id,
            name: lifted.name,
            content: content.unwrap_or_default(),
            ..ToolResult::default()
        }));
        parts.extend(media_item.map(|kind| Part::Media(media::media_item(kind, None, extra))));
        return parts;
    }
    match media_item {
        None => parts.extend(content.map(Part::Text)),
        Some(kind) => {
            let (address, text) = match content {
                Some(content) if media::is_lone_url(&content) => (Some(content), None),
                content => (None, content.filter(|content| !content.is_empty())),
            };
            parts.extend(text.map(Part::Text));
            parts.push(Part::Media(media::media_item(kind, address, extra)));
        }
    }
    parts.extend(lifted.calls);
    parts
}
