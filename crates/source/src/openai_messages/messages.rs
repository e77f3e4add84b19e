//! Messages: role, speaker, content, tool use, ids.
//!
//! A field that is `null` counts as absent, as tables that give every message every key write it. Fields without a place
//! in the model (`audio`, `annotations`, …) go into the message's extra fields.

use std::borrow::Cow;

use chatmill_diag::{Finding, Limits, Reject, Severity, codes};
use chatmill_intake::json::{Kind, Value};
use chatmill_model::{Extra, Message, MessageKind, MessageOrigin, Part, RawJson, Role, Unstated};

use super::speakers::Speakers;
use super::{cached, tools};
use crate::arguments::word;
use crate::notes::{Notes, Site, repeated_key};
use crate::reject::reject_message;
use crate::weight;
use crate::{FrameView, RowLedger, parts, spoken};

/// Reads the messages of one list, in order.
pub struct Reader<'d, 'r> {
    /// The frame that holds them.
    pub frame: FrameView<'d>,
    /// Where the message with an index stands in the record.
    pub path: fn(u32) -> String,
    /// The limits of the run.
    pub limits: &'r Limits,
    /// Who speaks.
    pub speakers: Speakers,
    /// What is odd about them.
    pub notes: Notes,
    /// Those that could not be kept.
    pub rejects: Vec<Reject>,
    /// Those that were.
    pub messages: Vec<Message>,
    /// Their numbers.
    pub rows: RowLedger,
}

/// The known fields of a message that are not null.
#[derive(Default)]
struct Row<'d> {
    role: Option<Value<'d>>,
    content: Option<Value<'d>>,
    name: Option<Value<'d>>,
    tool_calls: Option<Value<'d>>,
    tool_call_id: Option<Value<'d>>,
    function_call: Option<Value<'d>>,
    refusal: Option<Value<'d>>,
    reasoning: Option<Value<'d>>,
    reasoning_content: Option<Value<'d>>,
    message_id: Option<Value<'d>>,
    id: Option<Value<'d>>,
    others: Vec<(Cow<'d, str>, Value<'d>)>,
}

impl<'d> Row<'d> {
    /// Reads a message, or gives the name of a known field that stands there twice.
    fn read(message: Value<'d>) -> Result<Self, Cow<'d, str>> {
        let mut row = Self::default();
        for (key, value) in message.fields() {
            let slot = match &*key {
                "role" => &mut row.role,
                "content" => &mut row.content,
                "name" => &mut row.name,
                "tool_calls" => &mut row.tool_calls,
                "tool_call_id" => &mut row.tool_call_id,
                "function_call" => &mut row.function_call,
                "refusal" => &mut row.refusal,
                "reasoning" => &mut row.reasoning,
                "reasoning_content" => &mut row.reasoning_content,
                "message_id" => &mut row.message_id,
                "id" => &mut row.id,
                _ => {
                    row.others.push((key, value));
                    continue;
                }
            };
            if slot.replace(value).is_some() {
                return Err(key);
            }
        }
        for slot in [
            &mut row.role,
            &mut row.content,
            &mut row.name,
            &mut row.tool_calls,
            &mut row.tool_call_id,
            &mut row.function_call,
            &mut row.refusal,
            &mut row.reasoning,
            &mut row.reasoning_content,
            &mut row.message_id,
            &mut row.id,
        ] {
            *slot = slot.filter(|value| !value.is_null());
        }
        Ok(row)
    }
}

impl<'d> Reader<'d, '_> {
    /// Reads the message with this index in the list.
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
        self.rows.rejected += 1;
        let finding = fault.at_path((self.path)(index));
        self.rejects.push(reject_message(
            self.frame,
            &self.notes,
            value,
            finding,
            self.limits,
        ));
    }

    /// Reads a string: what somebody says, or several turns written out.
    pub fn say(&mut self, index: u32, role: Role, value: Value<'d>) {
        let text = value.as_str().unwrap_or_default();
        let turns = spoken::turns(&text).unwrap_or_else(|| vec![(role, text.into_owned())]);
        self.rows.rows += turns.len() as u64;
        for (role, text) in turns {
            let sender = self.speakers.of(role, None);
            let span = value.span();
            self.rows.messages += 1;
            self.messages.push(Message {
                id: None,
                external_id: None,
                position: self.messages.len() as u32,
                sender: Some(sender),
                sender_name: None,
                role,
                kind: MessageKind::Message,
                source_type: None,
                timestamp: None,
                parts: vec![Part::Text(text)],
                references: Vec::new(),
                mentions: Vec::new(),
                weight: None,
                unstated: Unstated::default(),
                extra: Extra::default(),
                origin: MessageOrigin {
                    start: self.frame.start + span.start as u64,
                    end: self.frame.start + span.end as u64,
                    index,
                },
            });
        }
    }

    fn accept(&mut self, index: u32, value: Value<'d>, row: &Row<'d>) {
        let position = self.messages.len() as u32;
        let mut rest: Vec<(String, RawJson)> = Vec::new();
        let (id, spare_id) = match (plain(row.message_id), plain(row.id)) {
            (Some(id), other) => (Some(id), other.and(row.id)),
            (None, other) => (other, None),
        };
        let mut site = Site {
            notes: &mut self.notes,
            position,
            id: id.as_deref(),
            message: value,
        };
        let word_of_role = row.role.and_then(Value::as_str);
        let stated = role(row, &mut site);
        let call_id = word(row.tool_call_id, "tool_call_id", &mut site);
        let role = if stated != Role::Tool && call_id.is_some() {
            let text = "the message answers a call but has another role than tool: it is read as the result";
            site.note(&codes::ROLE_CONFLICT, text, ".role", row.role.unwrap_or(value));
            Role::Tool
        } else {
            stated
        };
        let name = word(row.name, "name", &mut site);

        let mut parts = Vec::new();
        let thoughts = [
            ("reasoning_content", row.reasoning_content),
            ("reasoning", row.reasoning),
        ];
        for (key, thought) in thoughts {
            let Some(thought) = thought else { continue };
            match thought.as_str() {
                Some(text) => parts.push(Part::Reasoning(text.into_owned())),
                None => rest.push((key.to_owned(), RawJson(thought.raw().to_owned()))),
            }
        }
        let content = content(row, role, &mut rest, &mut site);
        if role == Role::Tool {
            parts.extend(parts::answer(content, call_id, name.clone()));
        } else {
            parts.extend(content);
        }
        if let Some(refusal) = row.refusal {
            parts.extend(refusal.as_str().map(|text| Part::Text(text.into_owned())));
            rest.push(("refusal".to_owned(), RawJson(refusal.raw().to_owned())));
        }
        if let Some(list) = row.tool_calls {
            match tools::calls(list, &mut rest, &mut site, self.limits) {
                Some(calls) => parts.extend(calls.into_iter().map(Part::ToolCall)),
                None => rest.push(("tool_calls".to_owned(), RawJson(list.raw().to_owned()))),
            }
        }
        if let Some(call) = row.function_call {
            match tools::function_call(call, &mut rest, &mut site, self.limits) {
                Some(call) => parts.push(Part::ToolCall(call)),
                None => rest.push(("function_call".to_owned(), RawJson(call.raw().to_owned()))),
            }
        }
        if row.content.is_none() && parts.is_empty() && !row.others.iter().any(|(key, _)| key == "audio") {
            site.missing("content", Severity::Error);
        }
        if let Some(spare) = spare_id {
            rest.push(("id".to_owned(), RawJson(spare.raw().to_owned())));
        }
        extra(row, &mut rest, &mut site);

        let sender = match role {
            Role::Tool => {
                let call_id = parts.iter().find_map(|part| match part {
                    Part::ToolResult(result) => result.call_id.as_deref(),
                    _ => None,
                });
                self.speakers.answered(call_id)
            }
            _ => self.speakers.of(role, name.as_deref()),
        };
        for part in &parts {
            if let Part::ToolCall(call) = part {
                self.speakers.calls(sender, call.id.as_deref());
            }
        }
        let span = value.span();
        self.rows.messages += 1;
        self.messages.push(Message {
            id,
            position,
            sender: Some(sender),
            sender_name: None,
            role,
            kind: MessageKind::Message,
            source_type: word_of_role
                .filter(|word| word != role.as_str())
                .map(Cow::into_owned),
            timestamp: None,
            parts,
            references: Vec::new(),
            mentions: Vec::new(),
            weight: weight::take(value, &mut rest),
            extra: Extra(rest),
            unstated: Unstated::default(),
            external_id: None,
            origin: MessageOrigin {
                start: self.frame.start + span.start as u64,
                end: self.frame.start + span.end as u64,
                index,
            },
        });
        self.look_for_block(value);
    }

    /// Says so when the newest message is a cached block, and when it repeats what stands before it.
    fn look_for_block(&mut self, value: Value<'d>) {
        let Some((newest, earlier)) = self.messages.split_last() else {
            return;
        };
        let Some(block) = cached::block(newest) else {
            return;
        };
        let place = |finding: Finding, notes: &Notes| {
            let finding = finding.at_message(newest.position, newest.id.as_deref(), ".content");
            notes.spanned(finding, value.get("content").unwrap_or(value).span())
        };
        let text = "the message is earlier conversation written out for a prompt cache";
        let finding = place(Finding::new(&codes::CACHED_BLOCK, text), &self.notes);
        self.notes.findings.push(finding);
        let count = cached::repeated(block, earlier);
        if count > 0 {
            let text = format!("the cached block repeats {count} of the messages before it");
            let mut finding = place(Finding::new(&codes::HISTORY_REPEATED, text), &self.notes);
            finding.count = count;
            self.notes.findings.push(finding);
        }
    }
}

/// An id as text: a string that is not empty, or a number as written.
fn plain(value: Option<Value<'_>>) -> Option<String> {
    let value = value?;
    let text = value
        .as_str()
        .or_else(|| value.number_text().map(Cow::Borrowed))?;
    (!text.is_empty()).then(|| text.into_owned())
}

fn role(row: &Row<'_>, site: &mut Site<'_>) -> Role {
    let Some(value) = row.role else {
        site.missing("role", Severity::Error);
        return Role::User;
    };
    match value.as_str().as_deref() {
        Some("system" | "developer") => Role::System,
        Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        Some("tool" | "function") => Role::Tool,
        _ => {
            let text = "the role is none of the known words: the message is read as a user's";
            site.wrong("role", text, Severity::Error, value);
            Role::User
        }
    }
}

/// The content as pieces.
fn content(row: &Row<'_>, role: Role, rest: &mut Vec<(String, RawJson)>, site: &mut Site<'_>) -> Vec<Part> {
    let Some(value) = row.content else {
        return Vec::new();
    };
    if let Some(text) = value.as_str() {
        return vec![Part::Text(text.into_owned())];
    }
    if value.kind() == Kind::Array && parts::is_parts(value) {
        let read = parts::read(value, "content", site);
        rest.extend(read.extra);
        return read.parts;
    }
    let severity = if role == Role::Tool {
        Severity::Warning
    } else {
        Severity::Error
    };
    let text = "the content is neither a string nor a list of parts and is read as its JSON text";
    site.wrong("content", text, severity, value);
    vec![Part::Text(value.raw().to_owned())]
}

fn extra(row: &Row<'_>, rest: &mut Vec<(String, RawJson)>, site: &mut Site<'_>) {
    for (key, value) in &row.others {
        if !value.is_null() {
            rest.push((key.clone().into_owned(), RawJson(value.raw().to_owned())));
        }
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
}
