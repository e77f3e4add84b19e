//! From rows to messages.

use chatmill_diag::{Limits, Severity, codes};
use chatmill_intake::json::{Document, Kind, Value, append_key};
use chatmill_model::{
    Extra, Message, MessageKind, MessageOrigin, Part, RawJson, Reference, ReferenceForm, Role, ToolCall,
    ToolResult, Unstated,
};

use super::content::{self, Aim, Said};
use super::row::{self, Row, text};
use crate::arguments::word;
use crate::cell::{self, Form, Inside};
use crate::notes::{Notes, Site, repeated_key};
use crate::openai_messages::tools::{self, Rest};
use crate::roster::Roster;
use crate::times::Times;
use crate::turn::Turn;

/// Reads the rows of one conversation.
pub struct Reader<'r> {
    /// The frame's first byte in the entry.
    pub start: u64,
    /// The limits of the run.
    pub limits: &'r Limits,
    /// Who speaks.
    pub roster: Roster,
    /// The clock.
    pub times: Times,
    /// What is odd about the rows.
    pub notes: Notes,
    /// What came of them.
    pub messages: Vec<Message>,
}

impl Reader<'_> {
    /// Reads a row.
    pub fn accept(&mut self, row: &Row<'_>) {
        let position = self.messages.len() as u32;
        let mut site = Site {
            notes: &mut self.notes,
            position,
            id: row.id.as_deref(),
            message: row.value,
        };
        let stated = stated_role(row, &mut site);
        let column_call_id = word(row.tool_call_id, "tool_call_id", &mut site);
        let aim = |turn: &Turn| {
            if stated.or(turn.role) == Some(Role::Tool) || column_call_id.is_some() || turn.call_id.is_some()
            {
                Aim::Answer
            } else {
                Aim::Words
            }
        };
        let mut said = match row.content {
            Some(value) => content::read(value, self.start, self.limits, aim, &mut site),
            None => Said::default(),
        };
        let mut calls = std::mem::take(&mut said.turn.calls);
        calls.extend(column_calls(
            row,
            self.start,
            self.limits,
            &mut said.rest,
            &mut site,
        ));
        if row.content.is_none() && calls.is_empty() {
            site.missing("content", Severity::Warning);
        }
        let call_id = column_call_id.or(said.turn.call_id.take());
        let role = role(stated, call_id.is_some(), row, &said, &mut site);
        let name = word(row.name, "name", &mut site).or(said.turn.name.take());
        let sender_name = word(row.sender_name, "sender_name", &mut site);
        let timestamp = self.times.read(row.created, "created_at", &mut site);
        let references = references(row, &mut site);
        let is_read = Read {
            role: row.role.is_some_and(|value| value.as_str().is_some()),
            time: timestamp.is_some(),
            reference: !references.is_empty(),
        };
        rest(row, role, &is_read, &mut said.rest, &mut site);

        let sender = sender(
            &mut self.roster,
            row,
            role,
            sender_name.as_deref(),
            call_id.as_deref(),
        );
        if !calls.is_empty() {
            self.roster
                .calls(sender, calls.iter().filter_map(|call| call.id.as_deref()));
        }
        let word = row.source_type.or(row.role).and_then(Value::as_str);
        let span = row.value.span();
        self.messages.push(Message {
            id: row.id.clone(),
            unstated: Unstated::default(),
            external_id: said
                .turn
                .message_id
                .take()
                .filter(|id| row.id.as_ref() != Some(id)),
            position,
            sender: Some(sender),
            sender_name: sender_name.filter(|_| role != Role::Tool),
            role,
            kind: MessageKind::Message,
            source_type: word
                .filter(|word| word != role.as_str())
                .map(std::borrow::Cow::into_owned),
            timestamp,
            parts: parts(
                role,
                said.turn.reasoning.take(),
                said.parts,
                said.answer,
                call_id,
                name,
                calls,
            ),
            references,
            mentions: Vec::new(),
            weight: None,
            extra: Extra(said.rest),
            origin: MessageOrigin {
                start: self.start + span.start as u64,
                end: self.start + span.end as u64,
                index: row.index,
            },
        });
    }
}

/// The role that the column states in a word that is known.
fn stated_role(row: &Row<'_>, site: &mut Site<'_>) -> Option<Role> {
    let value = row.role?;
    let role = value.as_str().and_then(|word| row::role(&word));
    if role.is_none() {
        let text =
            "the role is none of the known words: the content or the sender decides, else it is a user's";
        site.wrong("role", text, Severity::Warning, value);
    }
    role
}

fn role(stated: Option<Role>, answers: bool, row: &Row<'_>, said: &Said, site: &mut Site<'_>) -> Role {
    let role = stated.or(said.turn.role);
    if let (Some(stated), Some(inner)) = (stated, said.turn.role)
        && stated != inner
    {
        let text = "the role column and the role in the content disagree: the column counts";
        site.note(
            &codes::ROLE_CONFLICT,
            text,
            ".role",
            row.role.unwrap_or(row.value),
        );
    }
    match role {
        Some(role) if role != Role::Tool && answers => {
            let text = "the message answers a call but has another role than tool: it is read as the result";
            site.note(
                &codes::ROLE_CONFLICT,
                text,
                ".role",
                row.role.unwrap_or(row.value),
            );
            Role::Tool
        }
        Some(role) => role,
        None if answers => Role::Tool,
        None => {
            if row.role.is_none() {
                site.missing("role", Severity::Warning);
            }
            let sender = row.sender.and_then(text);
            let speaks_as = sender.and_then(|sender| row::role(&sender));
            speaks_as.filter(|role| *role != Role::Tool).unwrap_or(Role::User)
        }
    }
}

fn sender(
    roster: &mut Roster,
    row: &Row<'_>,
    role: Role,
    name: Option<&str>,
    call_id: Option<&str>,
) -> usize {
    if role == Role::Tool {
        return match roster.answered(call_id.into_iter()) {
            Some(caller) => caller,
            None => roster.of(Role::Assistant, "assistant", None),
        };
    }
    let id = row.sender.and_then(text);
    roster.of(role, id.as_deref().or(name).unwrap_or(role.as_str()), name)
}

/// The calls of the column of that name, as a list or inside a string.
fn column_calls(
    row: &Row<'_>,
    start: u64,
    limits: &Limits,
    rest: &mut Rest,
    site: &mut Site<'_>,
) -> Vec<ToolCall> {
    let Some(value) = row.tool_calls else {
        return Vec::new();
    };
    let text = cell::json_text(value, limits);
    let document = cell::scan(text.as_deref(), limits);
    let list = document.as_ref().map_or(value, Document::root);
    let place = Inside {
        field: ".tool_calls",
        span: value.span(),
        form: if document.is_some() {
            Form::Quoted
        } else {
            Form::Named
        },
    };
    let mut found = Notes::new(start);
    let mut inner = Site {
        notes: &mut found,
        position: site.position,
        id: site.id,
        message: list,
    };
    let calls = if list.as_str().is_some_and(|text| text.trim().is_empty()) {
        Some(Vec::new())
    } else {
        tools::calls(list, rest, &mut inner, limits)
    };
    place.report(found, site);
    calls.unwrap_or_else(|| {
        rest.push(("tool_calls".to_owned(), RawJson(value.raw().to_owned())));
        Vec::new()
    })
}

fn references(row: &Row<'_>, site: &mut Site<'_>) -> Vec<Reference> {
    let Some(value) = row.reply_to else {
        return Vec::new();
    };
    let target = text(value);
    if target.is_none() && value.as_str().is_none() {
        let text = "reply_to is neither text nor a number and is kept as it is";
        site.wrong("reply_to", text, Severity::Warning, value);
    }
    let reference = |target| Reference {
        target: Some(target),
        preview: None,
        form: ReferenceForm::Id,
        is_pseudo: false,
        nested: Vec::new(),
    };
    target.map(reference).into_iter().collect()
}

/// Which columns are said by the message.
struct Read {
    role: bool,
    time: bool,
    reference: bool,
}

/// Keeps the columns that have no place.
fn rest(row: &Row<'_>, role: Role, is_read: &Read, rest: &mut Rest, site: &mut Site<'_>) {
    let mut keep = |key: &str, value: Option<Value<'_>>| {
        rest.extend(value.map(|value| (key.to_owned(), RawJson(value.raw().to_owned()))));
    };
    let is_empty = |value: &Value<'_>| value.kind() == Kind::Object && value.is_empty();
    keep("metadata", row.metadata.filter(|value| !is_empty(value)));
    keep("order", row.order);
    keep("role", row.role.filter(|_| !is_read.role));
    keep("created_at", row.created.filter(|_| !is_read.time));
    let is_empty_text = |value: &Value<'_>| value.as_str().as_deref() == Some("");
    keep(
        "reply_to",
        row.reply_to
            .filter(|value| !is_read.reference && !is_empty_text(value)),
    );
    if role == Role::Tool {
        keep("sender", row.sender);
        keep("sender_name", row.sender_name);
    } else {
        keep("name", row.name);
    }
    for (key, value) in &row.others {
        keep(key, Some(*value).filter(|value| !value.is_null()));
    }
    if row.others.len() > 1 {
        // Known columns occur once here, so a name that repeats is an unknown one.
        for key in row.value.duplicate_keys() {
            let mut suffix = String::new();
            append_key(&mut suffix, &key);
            let value = row.value.get(&key).unwrap_or(row.value);
            let finding = site.place(repeated_key(false), suffix, value);
            site.notes.findings.push(finding);
        }
    }
}

fn parts(
    role: Role,
    thought: Option<String>,
    said: Vec<Part>,
    answer: String,
    call_id: Option<String>,
    name: Option<String>,
    calls: Vec<ToolCall>,
) -> Vec<Part> {
    let mut parts: Vec<Part> = thought.map(Part::Reasoning).into_iter().collect();
    if role == Role::Tool {
        parts.push(Part::ToolResult(ToolResult {
            call_id,
            name,
            content: answer,
            is_error: false,
            metadata_id: None,
            caller: None,
        }));
    }
    parts.extend(said);
    parts.extend(calls.into_iter().map(Part::ToolCall));
    parts
}
