//! Messages: identity, speaker, role, time, pieces, and the fields that have no place in the model.
//!
//! `Message::extra` keeps two levels apart by name, so that they can be written back where they stood: a field of the
//! message's own `extra` object keeps its name, an unknown field beside it gets a `/` in front (`/avatar`). An `extra`
//! that is no object, or that has a name starting with `/`, is kept whole as `/extra`.

use chatmill_diag::{Finding, Limits, Reject, Severity, codes};
use chatmill_intake::json::{Kind, Value};
use chatmill_model::{
    Extra, MediaKind, Message, MessageKind, MessageOrigin, Part, ParticipantKind, RawJson, Role, ToolResult,
    Unstated,
};

use super::roster::Roster;
use super::times::Clock;
use super::wire::Row;
use super::{media, message_path, references, tools};
use crate::notes::{Notes, Site, repeated_key};
use crate::reject::reject_message;
use crate::taken::{Taken, taken};
use crate::{FrameView, RowLedger};

/// Reads the messages of one conversation, in order.
pub struct Reader<'d, 'r> {
    /// The frame that holds them.
    pub frame: FrameView<'d>,
    /// The limits of the run.
    pub limits: &'r Limits,
    /// Who speaks; grows by those who are not listed.
    pub roster: Roster<'d>,
    /// Reads their times.
    pub clock: Clock,
    /// What is odd about them.
    pub notes: Notes,
    /// Those that could not be kept.
    pub rejects: Vec<Reject>,
    /// Those that were.
    pub messages: Vec<Message>,
    /// Their numbers.
    pub rows: RowLedger,
}

impl<'d> Reader<'d, '_> {
    /// Reads the message with this index in `conversation_list`.
    pub fn read(&mut self, index: u32, value: Value<'d>) {
        self.rows.rows += 1;
        let fault = if value.kind() == Kind::Object {
            match Row::read(value) {
                Ok(row) => return self.accept(index, value, &row),
                Err(key) => {
                    let text = "a known key stands more than once: the message is rejected";
                    Finding::new(&codes::DUPLICATE_KEY, text).quoting(&key)
                }
            }
        } else {
            Finding::new(&codes::WRONG_TYPE, "the message is no object and is rejected")
        };
        self.reject(index, value, fault);
    }

    fn reject(&mut self, index: u32, value: Value<'d>, finding: Finding) {
        self.rows.rejected += 1;
        let path = message_path(index);
        self.rejects.push(reject_message(
            self.frame,
            &self.notes,
            value,
            finding.at_path(path),
            self.limits,
        ));
    }

    fn accept(&mut self, index: u32, value: Value<'d>, row: &Row<'d>) {
        let position = self.messages.len() as u32;
        let id = match taken(row.message_id) {
            Taken::Text(text) if !text.is_empty() => Some(text.into_owned()),
            Taken::Number(number) => Some(number.to_owned()),
            _ => None,
        };
        let mut site = Site {
            notes: &mut self.notes,
            position,
            id: id.as_deref(),
            message: value,
        };
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
        let medium = media::kind(known);
        if word.is_some() && medium.is_none() && !matches!(known, "text" | "system") {
            let text = "the type is none of the known words: the message is read as text";
            site.note(
                &codes::UNKNOWN_MESSAGE_TYPE,
                text,
                ".type",
                row.word.unwrap_or(value),
            );
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
        let (extra, lifted) = extra(row, own_fields, &mut site, self.limits);
        let parts = if kind == MessageKind::Notice {
            content.map(Part::Notice).into_iter().collect()
        } else {
            parts(content, medium, role, row.extra, lifted)
        };

        let sender_name = match taken(row.sender_name) {
            Taken::Text(name) => Some(name.into_owned()),
            Taken::Absent | Taken::Null => None,
            Taken::Number(_) | Taken::Other => {
                let text = "sender_name is no string and is left out";
                site.wrong(
                    "sender_name",
                    text,
                    Severity::Warning,
                    row.sender_name.unwrap_or(value),
                );
                None
            }
        };
        let references = references::read(row.refer_list, &self.roster, &mut site, self.limits);

        if kind == MessageKind::Notice {
            self.rows.notices += 1;
        } else {
            self.rows.messages += 1;
        }
        let span = value.span();
        self.messages.push(Message {
            id,
            position,
            sender,
            sender_name,
            role,
            kind,
            source_type: word,
            timestamp,
            parts,
            references,
            mentions: Vec::new(),
            weight: None,
            unstated: Unstated::default(),
            extra,
            external_id: None,
            origin: MessageOrigin {
                start: self.frame.start + span.start as u64,
                end: self.frame.start + span.end as u64,
                index,
            },
        });
    }
}

fn check_id(row: &Row<'_>, site: &mut Site<'_>) {
    match taken(row.message_id) {
        Taken::Absent => site.missing("message_id", Severity::Error),
        Taken::Null => site.missing("message_id", Severity::Warning),
        Taken::Text(text) if text.is_empty() => site.missing("message_id", Severity::Warning),
        Taken::Text(_) => {}
        Taken::Number(_) => {
            let text = "message_id is a number and is read as text";
            site.wrong(
                "message_id",
                text,
                Severity::Warning,
                row.message_id.unwrap_or(site.message),
            );
        }
        Taken::Other => {
            let text = "message_id is no string and is left out";
            site.wrong(
                "message_id",
                text,
                Severity::Warning,
                row.message_id.unwrap_or(site.message),
            );
        }
    }
}

/// The role that the message itself states.
fn stated_role(row: &Row<'_>, site: &mut Site<'_>) -> Option<Role> {
    let value = row.role.filter(|role| !role.is_null())?;
    let role = match value.as_str().as_deref() {
        Some("user") => Some(Role::User),
        Some("assistant") => Some(Role::Assistant),
        Some("system") => Some(Role::System),
        Some("tool") => Some(Role::Tool),
        _ => None,
    };
    if role == Some(Role::System) {
        let text =
            "the format knows no role of this name: the text is read as what a system says to an assistant";
        site.wrong("role", text, Severity::Warning, value);
    }
    if role.is_none() {
        site.wrong(
            "role",
            "the role is none of the known words: the sender decides",
            Severity::Warning,
            value,
        );
    }
    role
}

fn sender<'d>(
    row: &Row<'d>,
    stated: Option<Role>,
    roster: &mut Roster<'d>,
    site: &mut Site<'_>,
) -> Option<usize> {
    match taken(row.sender) {
        Taken::Text(id) => Some(roster.speaker(id, stated, site)),
        Taken::Number(number) => {
            let text = "the sender is a number and is read as text";
            site.wrong(
                "sender",
                text,
                Severity::Error,
                row.sender.unwrap_or(site.message),
            );
            Some(roster.speaker(number.into(), stated, site))
        }
        Taken::Absent | Taken::Null => {
            site.missing("sender", Severity::Error);
            None
        }
        Taken::Other => {
            let text = "the sender is no string and is left out";
            site.wrong(
                "sender",
                text,
                Severity::Error,
                row.sender.unwrap_or(site.message),
            );
            None
        }
    }
}

/// The role: what the message states, else what its sender is.
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
        site.note(
            &codes::ROLE_CONFLICT,
            text,
            ".role",
            row.role.unwrap_or(site.message),
        );
    }
    let is_agent = sender.is_some_and(|sender| sender.kind == ParticipantKind::Agent);
    stated
        .or(listed)
        .unwrap_or(if is_agent { Role::Assistant } else { Role::User })
}

/// Whether what stands as an event is what a system says to an assistant: `extra.role` says so.
fn is_system_text(row: &Row<'_>) -> bool {
    let extra = row.extra.filter(|extra| extra.kind() == Kind::Object);
    let role = extra.and_then(|extra| extra.get("role")?.as_str());
    role.as_deref() == Some("system")
}

/// The role, less what a message is that answers a call: its result, whatever it states.
fn answering(role: Role, row: &Row<'_>, site: &mut Site<'_>) -> Role {
    let extra = row.extra.filter(|extra| extra.kind() == Kind::Object);
    let field = |key| extra?.get(key).filter(|value| !value.is_null());
    let Some(id) = field("tool_call_id").filter(|_| role != Role::Tool) else {
        return role;
    };
    let text = "the message answers a call and states another role than tool";
    site.note(&codes::ROLE_CONFLICT, text, ".extra.tool_call_id", id);
    match field("tool_calls") {
        Some(_) => role,
        None => Role::Tool,
    }
}

/// The type as written.
fn message_type(row: &Row<'_>, site: &mut Site<'_>) -> Option<String> {
    match taken(row.word) {
        Taken::Text(word) => return Some(word.into_owned()),
        Taken::Absent => site.missing("type", Severity::Error),
        Taken::Null => site.missing("type", Severity::Warning),
        Taken::Number(_) | Taken::Other => {
            let text = "the type is no string: the message is read as text";
            site.wrong("type", text, Severity::Warning, row.word.unwrap_or(site.message));
        }
    }
    None
}

/// The content as text; a value that is no string is kept as its JSON text.
fn content(row: &Row<'_>, site: &mut Site<'_>) -> Option<String> {
    match taken(row.content) {
        Taken::Text(text) => Some(text.into_owned()),
        Taken::Absent => {
            site.missing("content", Severity::Error);
            None
        }
        Taken::Null => {
            site.missing("content", Severity::Warning);
            None
        }
        Taken::Number(_) | Taken::Other => {
            let value = row.content.unwrap_or(site.message);
            let text = "the content is no string and is read as its JSON text";
            site.wrong("content", text, Severity::Warning, value);
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
    let mut fields = Vec::new();
    let mut lifted = Lifted::default();
    for (key, value) in &row.others {
        fields.push((format!("/{key}"), RawJson(value.raw().to_owned())));
    }
    if row.others.len() > 1 {
        // Known fields occur once here, so a name that repeats is an unknown one.
        for key in site.message.duplicate_keys() {
            let value = site.message.get(&key).unwrap_or(site.message);
            let mut suffix = String::new();
            chatmill_intake::json::append_key(&mut suffix, &key);
            let finding = site.place(repeated_key(false), suffix, value);
            site.notes.findings.push(finding);
        }
    }
    let Some(value) = row.extra.filter(|extra| !extra.is_null()) else {
        return (Extra(fields), lifted);
    };
    if value.kind() != Kind::Object {
        site.wrong(
            "extra",
            "extra is no object and is kept as it is",
            Severity::Warning,
            value,
        );
    }
    site.repeated_keys_within(value, ".extra");
    if value.kind() != Kind::Object || value.fields().any(|(key, _)| key.starts_with('/')) {
        fields.push(("/extra".to_owned(), RawJson(value.raw().to_owned())));
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
                lifted.call_id = crate::arguments::word(Some(field), "extra.tool_call_id", site);
                continue;
            }
            ("name", OwnFields::Result) if !field.is_null() => {
                lifted.name = crate::arguments::word(Some(field), "extra.name", site);
                continue;
            }
            _ => {}
        }
        fields.push((key.into_owned(), RawJson(field.raw().to_owned())));
    }
    (Extra(fields), lifted)
}

/// The pieces of a turn: text, then the medium, then calls; the content of a tool's message is its result.
fn parts(
    content: Option<String>,
    medium: Option<MediaKind>,
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
            is_error: false,
            metadata_id: None,
            caller: None,
        }));
        parts.extend(medium.map(|kind| Part::Media(media::medium(kind, None, extra))));
        return parts;
    }
    match medium {
        None => parts.extend(content.map(Part::Text)),
        Some(kind) => {
            let (address, text) = match content {
                Some(content) if media::is_lone_url(&content) => (Some(content), None),
                content => (None, content.filter(|content| !content.is_empty())),
            };
            parts.extend(text.map(Part::Text));
            parts.push(Part::Media(media::medium(kind, address, extra)));
        }
    }
    parts.extend(lifted.calls);
    parts
}
