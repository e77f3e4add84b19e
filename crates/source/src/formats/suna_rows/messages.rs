//! Converts rows to messages and notices: speakers, times, and remaining fields.

use chatmill_diag::codes;
use chatmill_intake::json::Value;
use chatmill_model::{Extra, Message, MessageKind, Part, Role};

use super::content;
use super::order::Step;
use super::row::Row;
use super::speech;
use super::types::{Era, Extent, MessageContent};
use crate::base::{ExtraFields, Keep as _, drop_extra, id};
use crate::layout::Turns;

/// Reads the rows of one thread.
pub(super) struct Reader<'d, 'r> {
    /// The messages that the rows become.
    pub turns: Turns<'d, 'r>,
    /// Id of the thread.
    pub thread: Option<String>,
    /// The only agent that rows name: agents' rows without a name belong to it as well.
    pub agent: Option<String>,
    /// The way in which tools were used.
    pub era: Era,
}

impl<'d> Reader<'d, '_> {
    /// Reads the rows of one message.
    pub(super) fn accept(&mut self, step: &Step<'_, 'd>) {
        let row = step.row;
        let limits = self.turns.list.limits;
        let mut site = self.turns.list.site(row.id.as_deref(), row.value);
        if row.id.is_none() && !step.is_unfinished {
            site.empty("message_id");
        }
        if row.columns.created.is_none() {
            site.empty("created_at");
        }
        let row_kind = row.row_kind(&mut site);
        let extent = if step.is_unfinished {
            Extent::Piece
        } else {
            Extent::Whole
        };
        let mut draft = content::read(row, row_kind, extent, limits, &mut site);
        if step.is_unfinished {
            for piece in &step.pieces {
                let more = content::read(piece, row_kind, extent, limits, &mut site);
                append(&mut draft.parts, more.parts);
                drop_extra(piece.value);
            }
            let pieces = step.pieces.len() + 1;
            let text = format!("only {pieces} chunks of the answer exist: they are its text");
            site.note(&codes::UNFINISHED_STREAM, &text, "", row.value);
            speech::find_calls(&mut draft, None, limits, "", &mut site);
        }
        self.era = self.era.max(draft.era);
        if row.columns.others.len() > 1 {
            // Known columns occur once here, so a name that repeats is an unknown one.
            site.repeated_keys(row.value, |_| false);
        }
        let timestamp = self
            .turns
            .times
            .read(row.columns.created, "created_at", &mut site);
        let sender = self.sender(row, &draft);
        let mut rest = draft.rest;
        if timestamp.is_none() {
            rest.keep_some("created_at", row.columns.created);
        }
        self.columns(row, draft.kind, draft.role, &mut rest);
        let is_own_word = |word: &&str| draft.kind == MessageKind::Notice || *word != draft.role.as_str();
        let word = row.word.as_deref().filter(is_own_word);
        self.turns.list.push(Message {
            id: row.id.clone(),
            sender,
            kind: draft.kind,
            source_type: word.map(str::to_owned),
            timestamp,
            parts: draft.parts,
            extra: Extra(rest),
            ..self.turns.list.message(draft.role, row.value.span(), row.index)
        });
    }

    /// The sender: the row's agent or user, else the participant of its role. A result belongs to the agent that made the
    /// call.
    fn sender(&mut self, row: &Row<'_>, draft: &MessageContent) -> Option<usize> {
        let own = row.columns.agent.and_then(id);
        let agent = own.clone().or_else(|| self.agent.clone());
        let name = row.columns.agents.and_then(|agent| agent.get("name"));
        let name = name.and_then(Value::as_str);
        let author = row.columns.author.and_then(id);
        if draft.kind == MessageKind::Notice {
            return match (own, author) {
                (Some(agent), _) => Some(self.turns.roster.of(Role::Assistant, &agent, name.as_deref())),
                (None, Some(author)) => Some(self.turns.roster.of(Role::User, &author, None)),
                (None, None) => None,
            };
        }
        let sender = match (draft.role, agent) {
            (Role::User, _) => {
                let author = author.as_deref().unwrap_or("user");
                self.turns.roster.of(Role::User, author, None)
            }
            (Role::System, _) => self.turns.roster.of(Role::System, "system", None),
            (_, Some(agent)) => self.turns.roster.of(Role::Assistant, &agent, name.as_deref()),
            (role, None) => {
                let caller =
                    (role == Role::Tool).then(|| self.turns.roster.answered(ids_answered(&draft.parts)));
                let unnamed = || self.turns.roster.of(Role::Assistant, "assistant", None);
                caller.flatten().unwrap_or_else(unnamed)
            }
        };
        self.turns.roster.calls(sender, &draft.parts);
        Some(sender)
    }

    /// Keeps the columns that are not part of the message.
    fn columns(&self, row: &Row<'_>, kind: MessageKind, role: Role, rest: &mut ExtraFields) {
        let mut keep = |key: &str, value: Option<Value<'_>>| rest.keep_some(key, value);
        let is_llm = row.columns.is_llm.filter(|_| !row.is_llm_usual(kind));
        keep("is_llm_message", is_llm);
        let is_other = |thread: &Value<'_>| id(*thread) != self.thread;
        keep("thread_id", row.columns.thread.filter(is_other));
        keep("updated_at", row.columns.updated);
        let is_agents = matches!(role, Role::Assistant | Role::Tool) || kind == MessageKind::Notice;
        keep("agent_id", row.columns.agent.filter(|_| !is_agents));
        let is_name_only =
            |agent: &Value<'_>| agent.len() == 1 && agent.get("name").and_then(Value::as_str).is_some();
        let is_known = |agent: &Value<'_>| is_agents && row.columns.agent.is_some() && is_name_only(agent);
        keep("agents", row.columns.agents.filter(|agent| !is_known(agent)));
        let is_authors = match kind {
            MessageKind::Notice => row.columns.agent.is_none(),
            MessageKind::Message => role == Role::User,
        };
        keep("created_by_user_id", row.columns.author.filter(|_| !is_authors));
        for (key, value) in &row.columns.others {
            keep(key, Some(*value).filter(|value| !value.is_null()));
        }
    }
}

/// Appends the pieces of a streamed answer: adjacent texts, and adjacent thoughts, are joined.
fn append(parts: &mut Vec<Part>, more: Vec<Part>) {
    for part in more {
        match (parts.last_mut(), part) {
            (Some(Part::Text(text)), Part::Text(more))
            | (Some(Part::Reasoning(text)), Part::Reasoning(more)) => text.push_str(&more),
            (_, part) => parts.push(part),
        }
    }
}

/// The ids of the answered calls, those of the content and those of the metadata.
fn ids_answered(parts: &[Part]) -> impl Iterator<Item = &str> {
    let ids = parts.iter().flat_map(|part| match part {
        Part::ToolResult(result) => [result.call_id.as_deref(), result.metadata_id.as_deref()],
        _ => [None, None],
    });
    ids.flatten()
}
