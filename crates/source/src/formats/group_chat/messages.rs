//! Messages: identity, speaker, role, time, pieces, and the fields that have no place in the model.
//!
//! `Message::extra` keeps two levels apart by name, so that they can be written back where they stood: a field of the
//! message's own `extra` object keeps its name, an unknown field beside it gets a leading `/` (`/avatar`). An `extra`
//! that is not an object, or that has a name starting with `/`, is kept whole as `/extra`.

use chatmill_diag::{Limits, Severity, codes};
use chatmill_intake::json::{Kind, Value};
use chatmill_model::{Extra, MediaKind, Message, MessageKind, Part, ParticipantKind, Role, ToolResult};

use super::roster::Roster;
use super::times::Clock;
use super::wire::Row;
use super::{media, message_path, references, tools};
use crate::reader::{
    Element, FieldText, Keep as _, Kept, ListReader, Site, Wire as _, field_text, id, present, word,
};

/// Reads the messages of one conversation, in order.
pub(super) struct Reader<'d, 'r> {
    /// What they become.
    pub list: ListReader<'d, 'r>,
    /// The participants; speakers who are not listed are added.
    pub roster: Roster<'d>,
    /// Reads their times.
    pub clock: Clock,
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
        let limits = self.list.limits;
        let id = row.message_id.and_then(id);
        let mut site = self.list.site(id.as_deref(), value);
        check_id(row, &mut site);

        let timestamp = if row.create_time.is_some() {
            self.clock.read(row.create_time, &mut site)
        } else {
            site.absent("create_time", Severity::Warning);
            None
        };

        let stated = stated_role(row, &mut site);
        let sender = sender(row, stated, &mut self.roster, &mut site);
        let role = role(stated, sender, &self.roster, row, &mut site);

        let word = message_type(row, &mut site);
        let known = word.as_deref().unwrap_or("text");
        let is_system_text = known == "system" && is_system_text(row);
        let kind = if known == "system" && !is_system_text {
            MessageKind::Notice
        } else {
            MessageKind::Message
        };
        let role = if is_system_text { Role::System } else { role };
        let media_item = media::kind(known);
        if word.is_some() && media_item.is_none() && !matches!(known, "text" | "system") {
            let text = "the type is none of the known words: the message is read as text";
            let place = row.word.unwrap_or(value);
            site.note(&codes::UNKNOWN_MESSAGE_TYPE, text, ".type", place);
        }

        let content = content(row, &mut site);
        let role = if kind == MessageKind::Message && !is_system_text {
            answering(role, row, &mut site)
        } else {
            role
        };
        let own_fields = match (kind, role) {
            (MessageKind::Notice, _) => OwnFields::None,
            _ if is_system_text => OwnFields::Role,
            (_, Role::Assistant) => OwnFields::Calls,
            (_, Role::Tool) => OwnFields::Result,
            _ => OwnFields::None,
        };
        let (extra, lifted) = extra(row, own_fields, &mut site, limits);
        let parts = if kind == MessageKind::Notice {
            content.map(Part::Notice).into_iter().collect()
        } else {
            parts(content, media_item, role, row.extra, lifted)
        };

        let sender_name = match field_text(row.sender_name) {
            FieldText::Text(name) => Some(name.into_owned()),
            FieldText::Absent | FieldText::Null => None,
            FieldText::Number(_) | FieldText::Other => {
                let text = "sender_name is not a string and is left out";
                site.warn("sender_name", text, row.sender_name.unwrap_or(value));
                None
            }
        };
        let references = references::read(row.refer_list, &self.roster, &mut site, limits);

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
    match field_text(row.message_id) {
        FieldText::Absent => site.missing("message_id", Severity::Error),
        FieldText::Text(text) if !text.is_empty() => {}
        FieldText::Null | FieldText::Text(_) => site.missing("message_id", Severity::Warning),
        FieldText::Number(_) => {
            let value = row.message_id.unwrap_or(site.message);
            site.warn("message_id", "message_id is a number and is read as text", value);
        }
        FieldText::Other => {
            let value = row.message_id.unwrap_or(site.message);
            site.warn("message_id", "message_id is not a string and is left out", value);
        }
    }
}

/// The role that the message itself states.
fn stated_role(row: &Row<'_>, site: &mut Site<'_>) -> Option<Role> {
    let value = row.role.filter(|role| !role.is_null())?;
    let word = value.as_str().unwrap_or_default();
    let role = match word.to_ascii_lowercase().as_str() {
        "user" => Some(Role::User),
        "assistant" => Some(Role::Assistant),
        "system" => Some(Role::System),
        "tool" => Some(Role::Tool),
        _ => None,
    };
    if let Some(role) = role.filter(|role| *word != *role.as_str()) {
        let text = format!(
            "the role is spelled in another way and is read as `{}`",
            role.as_str()
        );
        site.warn("role", &text, value);
    }
    if role == Some(Role::System) {
        let text =
            "the format knows no role of this name: the text is read as what a system says to an assistant";
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
    let value = row.sender.unwrap_or(site.message);
    let id = match field_text(row.sender) {
        FieldText::Text(id) => id,
        FieldText::Number(number) => {
            site.error("sender", "the sender is a number and is read as text", value);
            number.into()
        }
        FieldText::Absent | FieldText::Null => {
            site.missing("sender", Severity::Error);
            return None;
        }
        FieldText::Other => {
            site.error("sender", "the sender is not a string and is left out", value);
            return None;
        }
    };
    Some(roster.speaker(id, stated, site))
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
    let listed = match sender.and_then(|sender| sender.role.as_deref()) {
        Some("user") => Some(Role::User),
        Some("assistant") => Some(Role::Assistant),
        _ => None,
    };
    if let (Some(stated @ (Role::User | Role::Assistant | Role::System)), Some(listed)) = (stated, listed)
        && stated != listed
    {
        let text = "the message states another role than user_details does for its sender";
        let place = row.role.unwrap_or(site.message);
        site.note(&codes::ROLE_CONFLICT, text, ".role", place);
    }
    let is_agent = sender.is_some_and(|sender| sender.kind == ParticipantKind::Agent);
    stated
        .or(listed)
        .unwrap_or(if is_agent { Role::Assistant } else { Role::User })
}

/// A field of the message's own `extra` that is not null.
fn own_field<'d>(row: &Row<'d>, key: &str) -> Option<Value<'d>> {
    let extra = row.extra.filter(|extra| extra.kind() == Kind::Object)?;
    present(extra, key)
}

/// Whether a message of type `system` is a system prompt and not an event, which `extra.role` says.
fn is_system_text(row: &Row<'_>) -> bool {
    let role = own_field(row, "role").and_then(Value::as_str);
    role.as_deref() == Some("system")
}

/// The role of a message that may answer a call: then it is a tool's result, whatever role it states.
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

/// The type as written.
fn message_type(row: &Row<'_>, site: &mut Site<'_>) -> Option<String> {
    match field_text(row.word) {
        FieldText::Text(word) => return Some(word.into_owned()),
        FieldText::Absent => site.missing("type", Severity::Error),
        FieldText::Null => site.missing("type", Severity::Warning),
        FieldText::Number(_) | FieldText::Other => {
            let text = "the type is not a string: the message is read as text";
            site.warn("type", text, row.word.unwrap_or(site.message));
        }
    }
    None
}

/// The content as text; a value that is not a string is kept as its JSON text.
fn content(row: &Row<'_>, site: &mut Site<'_>) -> Option<String> {
    match field_text(row.content) {
        FieldText::Text(text) => Some(text.into_owned()),
        FieldText::Absent => {
            site.missing("content", Severity::Error);
            None
        }
        FieldText::Null => {
            site.missing("content", Severity::Warning);
            None
        }
        FieldText::Number(_) | FieldText::Other => {
            let value = row.content.unwrap_or(site.message);
            let text = "the content is not a string and is read as its JSON text";
            site.warn("content", text, value);
            Some(value.raw().to_owned())
        }
    }
}

/// Which fields of `extra` belong to our extension.
#[derive(Clone, Copy, PartialEq)]
enum OwnFields {
    None,
    Role,
    Calls,
    Result,
}

/// What the extension took out of `extra`.
#[derive(Default)]
struct Lifted {
    calls: Vec<Part>,
    call_id: Option<String>,
    name: Option<String>,
}

fn extra(row: &Row<'_>, own_fields: OwnFields, site: &mut Site<'_>, limits: &Limits) -> (Extra, Lifted) {
    let mut fields = Kept::new();
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
        match (&*key, own_fields) {
            ("tool_calls", OwnFields::Calls) => {
                if let Some(calls) = tools::calls(field, site, limits) {
                    lifted.calls.extend(calls.into_iter().map(Part::ToolCall));
                    continue;
                }
            }
            ("role", OwnFields::Role) => continue,
            ("tool_call_id", OwnFields::Result) if !field.is_null() => {
                lifted.call_id = word(Some(field), "extra.tool_call_id", site);
                continue;
            }
            ("name", OwnFields::Result) if !field.is_null() => {
                lifted.name = word(Some(field), "extra.name", site);
                continue;
            }
            _ => {}
        }
        fields.keep(key, field);
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
