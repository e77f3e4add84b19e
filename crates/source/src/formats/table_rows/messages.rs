//! Turns rows into messages.

use std::borrow::Cow;

use chatmill_diag::{Limits, codes};
use chatmill_intake::json::{Document, Kind, Value};
use chatmill_model::{Extra, Message, Part, Reference, Role, ToolCall, ToolResult};

use super::content::{self, CellContent};
use super::row::Row;
use crate::base::media::{ResultText, hold_place, result_of};
use crate::base::texts::quoted_json::{self, CellForm, CellPlace};
use crate::base::{ExtraFields, Keep as _, Roster, Site, id, only_answers, reply_to, roles, word};
use crate::grammar::openai::{MessageObject, calls};
use crate::layout::{Turns, turns::divided};

/// Reads a row.
pub(super) fn accept(turns: &mut Turns<'_, '_>, row: &Row<'_>) {
    let limits = turns.list.limits;
    let mut site = turns.list.site(row.id.as_deref(), row.value);
    let stated = stated_role(row, &mut site);
    let column_call_id = word(row.columns.tool_call_id, "tool_call_id", &mut site);
    let is_answer = |turn: &MessageObject| {
        stated.or(turn.role) == Some(Role::Tool) || column_call_id.is_some() || turn.call_id.is_some()
    };
    let mut cell = match row.columns.content {
        Some(value) => content::read(value, is_answer, &mut site),
        None => CellContent::default(),
    };
    let mut calls = std::mem::take(&mut cell.turn.calls);
    if let Some(list) = row.columns.tool_calls {
        calls.extend(column_calls(list, limits, &mut cell.rest, &mut site));
    }
    if row.columns.content.is_none() && calls.is_empty() {
        site.empty("content");
    }
    let call_id = column_call_id.or(cell.turn.call_id.take());
    let role = match role(stated, call_id.is_some(), row, &cell, &mut site) {
        Role::User if only_answers(&cell.parts) => Role::Tool,
        role => role,
    };
    let name = word(row.columns.name, "name", &mut site).or(cell.turn.name.take());
    let sender_name = word(row.columns.sender_name, "sender_name", &mut site);
    let model = word(row.columns.model, "model", &mut site).filter(|model| !model.is_empty());
    let timestamp = turns.times.read(row.columns.created, "created_at", &mut site);
    let references = references(row, &mut site);
    let are_read = (timestamp.is_some(), !references.is_empty());
    rest(row, role, are_read, &mut cell.rest, &mut site);

    let name_of_sender = sender_name.as_deref();
    let sender = sender(&mut turns.roster, row, role, name_of_sender, call_id.as_deref());
    let columns = &row.columns;
    let word = columns.source_type.or(columns.role).and_then(Value::as_str);
    let thoughts = std::mem::take(&mut cell.turn.thoughts);
    cell.parts.extend(cell.turn.refusal.take().map(Part::Text));
    let mut parts = parts(role, thoughts, cell.parts, cell.answer, (call_id, name), calls);
    hold_place(role, &mut parts, &cell.rest);
    turns.roster.calls(sender, &parts);
    let other_id = cell.turn.message_id.take();
    let (index, span) = (row.index, row.value.span());
    // If an answer contains results of its calls, it is divided at them, because the results belong
    // to the tool.
    let has = |is: fn(&Part) -> bool| parts.iter().any(is);
    let is_divided = role == Role::Assistant
        && has(|part| matches!(part, Part::ToolCall(_)))
        && has(|part| matches!(part, Part::ToolResult(_)));
    let mut pieces = if is_divided {
        divided(role, std::mem::take(&mut parts))
    } else {
        Vec::new()
    }
    .into_iter();
    parts = pieces.next().map_or(parts, |(_, parts)| parts);
    turns.list.push(Message {
        id: row.id.clone(),
        external_id: other_id.filter(|id| row.id.as_ref() != Some(id)),
        sender: Some(sender),
        sender_name: sender_name.filter(|_| role != Role::Tool),
        source_type: word.filter(|word| word != role.as_str()).map(Cow::into_owned),
        timestamp: timestamp.clone(),
        parts,
        references,
        model: model.map(Box::from),
        extra: Extra(cell.rest),
        ..turns.list.message(role, span.clone(), index)
    });
    for (role, parts) in pieces {
        // Each further piece counts as a separate row.
        turns.list.rows.rows += 1;
        let other = (role == Role::Tool).then(|| turns.roster.answering(&parts));
        turns.list.push(Message {
            sender: Some(other.unwrap_or(sender)),
            timestamp: timestamp.clone(),
            parts,
            ..turns.list.message(role, span.clone(), index)
        });
    }
}

/// The role in the column, if it is a known word.
fn stated_role(row: &Row<'_>, site: &mut Site<'_>) -> Option<Role> {
    let value = row.columns.role?;
    let role = value.as_str().and_then(|word| roles::known_role(&word));
    if role.is_none() {
        let text =
            "the role is none of the known words: the content or the sender decides, else it is a user's";
        site.warn("role", text, value);
    }
    role
}

/// The path and value of the role: in its column, else in the content.
fn states_role<'d>(row: &Row<'d>) -> (&'static str, Value<'d>) {
    let columns = [(".role", row.columns.role), (".content", row.columns.content)];
    let found = columns.into_iter().find_map(|(path, value)| Some((path, value?)));
    found.unwrap_or(("", row.value))
}

fn role(stated: Option<Role>, answers: bool, row: &Row<'_>, cell: &CellContent, site: &mut Site<'_>) -> Role {
    let role = stated.or(cell.turn.role);
    if let (Some(stated), Some(inner)) = (stated, cell.turn.role)
        && stated != inner
    {
        let text = "the role column and the role in the content disagree: the column counts";
        let place = row.columns.role.unwrap_or(row.value);
        site.note(&codes::ROLE_CONFLICT, text, ".role", place);
    }
    match role {
        Some(role) if role != Role::Tool && answers => {
            let text = "the message answers a call but has another role than tool: it is read as the result";
            let (path, place) = states_role(row);
            site.note(&codes::ROLE_CONFLICT, text, path, place);
            Role::Tool
        }
        Some(role) => role,
        None if answers => Role::Tool,
        None => {
            // If the sender decides the role, rows need not have the column.
            let has_column = row.value.get("role").is_some() || row.columns.sender.is_none();
            if row.columns.role.is_none() && has_column {
                site.empty("role");
            }
            let sender = row.columns.sender.and_then(id);
            let sender_role = sender.and_then(|sender| roles::known_role(&sender));
            sender_role
                .filter(|role| *role != Role::Tool)
                .unwrap_or(Role::User)
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
        let caller = roster.answered(call_id.into_iter());
        return caller.unwrap_or_else(|| roster.of(Role::Assistant, "assistant", None));
    }
    let id = row.columns.sender.and_then(id);
    roster.of(role, id.as_deref().or(name).unwrap_or(role.as_str()), name)
}

/// The calls in the column `tool_calls`, as a list or inside a string.
fn column_calls(
    value: Value<'_>,
    limits: &Limits,
    rest: &mut ExtraFields,
    site: &mut Site<'_>,
) -> Vec<ToolCall> {
    let document = quoted_json::open(value, limits);
    let list = document.as_deref().map_or(value, Document::root);
    let place = CellPlace {
        field: ".tool_calls",
        span: value.span(),
        form: match document {
            Some(_) => CellForm::Quoted,
            None => CellForm::Named,
        },
    };
    if list.as_str().is_some_and(|text| text.trim().is_empty()) {
        return Vec::new();
    }
    let calls = place.read(list, site, |site| calls::calls(list, rest, site));
    calls.unwrap_or_else(|| {
        rest.keep("tool_calls", value);
        Vec::new()
    })
}

fn references(row: &Row<'_>, site: &mut Site<'_>) -> Vec<Reference> {
    let Some(value) = row.columns.reply_to else {
        return Vec::new();
    };
    let target = id(value);
    if target.is_none() && value.as_str().is_none() {
        let text = "reply_to is neither text nor a number and is kept as it is";
        site.warn("reply_to", text, value);
    }
    target.map(reply_to).into_iter().collect()
}

/// Keeps the columns that have no place in the model; `are_read` are time and reply.
fn rest(
    row: &Row<'_>,
    role: Role,
    (has_time, has_reply): (bool, bool),
    rest: &mut ExtraFields,
    site: &mut Site<'_>,
) {
    let mut keep = |key: &str, value: Option<Value<'_>>| rest.keep_some(key, value);
    let is_empty = |value: &Value<'_>| value.kind() == Kind::Object && value.is_empty();
    keep("metadata", row.columns.metadata.filter(|value| !is_empty(value)));
    keep("order", row.columns.order);
    keep(
        "model",
        row.columns.model.filter(|value| value.as_str().is_none()),
    );
    keep("role", row.columns.role.filter(|value| value.as_str().is_none()));
    keep("created_at", row.columns.created.filter(|_| !has_time));
    let is_empty_text = |value: &Value<'_>| value.as_str().as_deref() == Some("");
    let reply_to = row.columns.reply_to.filter(|_| !has_reply);
    keep("reply_to", reply_to.filter(|value| !is_empty_text(value)));
    if role == Role::Tool {
        keep("sender", row.columns.sender);
        keep("sender_name", row.columns.sender_name);
    } else {
        keep("name", row.columns.name);
    }
    for (key, value) in &row.columns.others {
        keep(key, Some(*value).filter(|value| !value.is_null()));
    }
    if row.columns.others.len() > 1 {
        // Known columns occur once here, so a name that repeats is an unknown one.
        site.repeated_keys(row.value, |_| false);
    }
}

fn parts(
    role: Role,
    thoughts: Vec<String>,
    cell: Vec<Part>,
    answer: ResultText,
    (call_id, name): (Option<String>, Option<String>),
    calls: Vec<ToolCall>,
) -> Vec<Part> {
    let mut parts: Vec<Part> = thoughts.into_iter().map(Part::Reasoning).collect();
    if role == Role::Tool && !only_answers(&cell) {
        let result = ToolResult {
            call_id,
            name,
            ..ToolResult::default()
        };
        parts.extend(result_of(result, (answer, cell)));
    } else {
        parts.extend(cell);
    }
    calls::add(&mut parts, calls);
    parts
}
