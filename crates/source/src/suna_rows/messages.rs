//! From rows to messages and notices: who speaks, when, and what is left over.

use chatmill_diag::{Limits, Severity, codes};
use chatmill_intake::json::{Value, append_key};
use chatmill_model::{
    Extra, Message, MessageKind, MessageOrigin, Part, RawJson, Role, Timestamp, ToolCall, ToolResult,
    Unstated,
};

use super::content::{self, Era, Extent, Said};
use super::order::Step;
use super::row::{Fate, Row, text};
use super::speech;
use crate::notes::{Notes, Site, repeated_key};
use crate::openai_messages::tools::Rest;
use crate::roster::Roster;
use crate::times::Times;
use crate::{FrameView, RowLedger};

/// Reads the rows of one thread.
pub struct Reader<'d, 'r> {
    /// The frame that holds them.
    pub frame: FrameView<'d>,
    /// The limits of the run.
    pub limits: &'r Limits,
    /// Id of the thread.
    pub thread: Option<String>,
    /// The one agent that the rows name: it speaks in those rows of agents too that name none.
    pub agent: Option<String>,
    /// Who speaks.
    pub roster: Roster,
    /// The clock.
    pub times: Times,
    /// What is odd about them.
    pub notes: Notes,
    /// How tools were used.
    pub era: Era,
    /// What came of them.
    pub messages: Vec<Message>,
    /// Their numbers.
    pub rows: RowLedger,
}

impl<'d> Reader<'d, '_> {
    /// Reads the rows of one message.
    pub fn accept(&mut self, step: &Step<'_, 'd>) {
        let row = step.row;
        let position = self.messages.len() as u32;
        let mut site = Site {
            notes: &mut self.notes,
            position,
            id: row.id.as_deref(),
            message: row.value,
        };
        if row.id.is_none() && !step.is_unfinished {
            site.missing("message_id", Severity::Warning);
        }
        if row.created.is_none() {
            site.missing("created_at", Severity::Warning);
        }
        let fate = row.fate(&mut site);
        let (start, limits) = (self.frame.start, self.limits);
        let extent = if step.is_unfinished {
            Extent::Piece
        } else {
            Extent::Whole
        };
        let mut said = content::said(row, fate, extent, start, limits, &mut site);
        if step.is_unfinished {
            for piece in &step.pieces {
                let more = content::said(piece, fate, extent, start, limits, &mut site);
                append(&mut said.parts, more.parts);
            }
            let text = format!(
                "of the answer only {} pieces are there: they are its text",
                step.pieces.len() + 1
            );
            site.note(&codes::UNFINISHED_STREAM, &text, "", row.value);
            speech::find_calls(&mut said, None, limits, &mut site);
        }
        self.era = self.era.max(said.era);
        repeated_columns(row, &mut site);
        let timestamp = self.times.read(row.created, "created_at", &mut site);
        let sender = self.sender(row, &said);
        self.push(row, said, sender, timestamp, position);
    }

    /// Who speaks: the agent of the row, its user, or what the role says. A result belongs to the agent who asked for it.
    fn sender(&mut self, row: &Row<'_>, said: &Said) -> Option<usize> {
        let own = row.agent.and_then(text);
        let agent = own.clone().or_else(|| self.agent.clone());
        let name = row
            .agents
            .and_then(|agent| agent.get("name"))
            .and_then(Value::as_str);
        let author = row.author.and_then(text);
        if said.kind == MessageKind::Notice {
            return match (own, author) {
                (Some(agent), _) => Some(self.roster.of(Role::Assistant, &agent, name.as_deref())),
                (None, Some(author)) => Some(self.roster.of(Role::User, &author, None)),
                (None, None) => None,
            };
        }
        let sender = match (said.role, agent) {
            (Role::User, _) => self
                .roster
                .of(Role::User, author.as_deref().unwrap_or("user"), None),
            (Role::System, _) => self.roster.of(Role::System, "system", None),
            (_, Some(agent)) => self.roster.of(Role::Assistant, &agent, name.as_deref()),
            (Role::Tool, None) => match self.roster.answered(results(&said.parts).flat_map(ids_of_result)) {
                Some(agent) => agent,
                None => self.roster.of(Role::Assistant, "assistant", None),
            },
            (Role::Assistant, None) => self.roster.of(Role::Assistant, "assistant", None),
        };
        if calls(&said.parts).next().is_some() {
            self.roster
                .calls(sender, calls(&said.parts).flat_map(ids_of_call));
        }
        Some(sender)
    }

    fn push(
        &mut self,
        row: &Row<'d>,
        said: Said,
        sender: Option<usize>,
        timestamp: Option<Timestamp>,
        position: u32,
    ) {
        match said.kind {
            MessageKind::Message => self.rows.messages += 1,
            MessageKind::Notice => self.rows.notices += 1,
        }
        let mut rest = said.rest;
        if timestamp.is_none() {
            let unread = row.created.map(|value| RawJson(value.raw().to_owned()));
            rest.extend(unread.map(|raw| ("created_at".to_owned(), raw)));
        }
        self.columns(row, said.kind, said.role, &mut rest);
        let span = row.value.span();
        let word = row.word.as_deref();
        self.messages.push(Message {
            id: row.id.clone(),
            unstated: Unstated::default(),
            external_id: None,
            position,
            sender,
            sender_name: None,
            role: said.role,
            kind: said.kind,
            source_type: word
                .filter(|word| said.kind == MessageKind::Notice || *word != said.role.as_str())
                .map(str::to_owned),
            timestamp,
            parts: said.parts,
            references: Vec::new(),
            mentions: Vec::new(),
            weight: None,
            extra: Extra(rest),
            origin: MessageOrigin {
                start: self.frame.start + span.start as u64,
                end: self.frame.start + span.end as u64,
                index: row.index,
            },
        });
    }

    /// Keeps the columns that the message does not say itself.
    fn columns(&self, row: &Row<'_>, kind: MessageKind, role: Role, rest: &mut Rest) {
        let mut keep = |key: &str, value: Option<Value<'_>>| {
            rest.extend(value.map(|value| (key.to_owned(), RawJson(value.raw().to_owned()))));
        };
        let fate = match kind {
            MessageKind::Notice => Fate::Event,
            MessageKind::Message => Fate::Turn,
        };
        keep("is_llm_message", row.is_llm.filter(|_| !row.is_llm_usual(fate)));
        keep(
            "thread_id",
            row.thread.filter(|thread| text(*thread) != self.thread),
        );
        keep("updated_at", row.updated);
        let is_agents = matches!(role, Role::Assistant | Role::Tool) || kind == MessageKind::Notice;
        keep("agent_id", row.agent.filter(|_| !is_agents));
        let is_name_only =
            |agent: &Value<'_>| agent.len() == 1 && agent.get("name").and_then(Value::as_str).is_some();
        let is_told = |agent: &Value<'_>| is_agents && row.agent.is_some() && is_name_only(agent);
        keep("agents", row.agents.filter(|agent| !is_told(agent)));
        let is_authors = match kind {
            MessageKind::Notice => row.agent.is_none(),
            MessageKind::Message => role == Role::User,
        };
        keep("created_by_user_id", row.author.filter(|_| !is_authors));
        for (key, value) in &row.others {
            keep(key, Some(*value).filter(|value| !value.is_null()));
        }
    }
}

/// Appends the pieces of an answer: words of one kind run on.
fn append(parts: &mut Vec<Part>, more: Vec<Part>) {
    for part in more {
        match (parts.last_mut(), part) {
            (Some(Part::Text(text)), Part::Text(more))
            | (Some(Part::Reasoning(text)), Part::Reasoning(more)) => text.push_str(&more),
            (_, part) => parts.push(part),
        }
    }
}

/// Known columns occur once here, so a name that repeats is an unknown one.
fn repeated_columns(row: &Row<'_>, site: &mut Site<'_>) {
    if row.others.len() < 2 {
        return;
    }
    for key in row.value.duplicate_keys() {
        let mut suffix = String::new();
        append_key(&mut suffix, &key);
        let value = row.value.get(&key).unwrap_or(row.value);
        let finding = site.place(repeated_key(false), suffix, value);
        site.notes.findings.push(finding);
    }
}

fn calls(parts: &[Part]) -> impl Iterator<Item = &ToolCall> {
    parts.iter().filter_map(|part| match part {
        Part::ToolCall(call) => Some(call),
        _ => None,
    })
}

fn results(parts: &[Part]) -> impl Iterator<Item = &ToolResult> {
    parts.iter().filter_map(|part| match part {
        Part::ToolResult(result) => Some(result),
        _ => None,
    })
}

fn ids_of_call(call: &ToolCall) -> impl Iterator<Item = &str> {
    [&call.id, &call.metadata_id]
        .into_iter()
        .flatten()
        .map(String::as_str)
}

fn ids_of_result(result: &ToolResult) -> impl Iterator<Item = &str> {
    [&result.call_id, &result.metadata_id]
        .into_iter()
        .flatten()
        .map(String::as_str)
}
