//! The columns of a row.

use std::borrow::Cow;

use chatmill_diag::{Finding, Limits, codes};
use chatmill_intake::json::{Document, Mark, Value};
use chatmill_model::{MessageKind, Role};

use crate::base::{Site, Wire as _, id, roles, text, texts::quoted_json, wire, words};

/// Types of rows that are turns of the conversation.
const TURNS: [&str; 4] = ["user", "assistant", "tool", "system"];

/// Types of rows that record actions of the system.
const EVENTS: [&str; 7] = words!(
    status llm_response_start llm_response_end assistant_response_end summary browser_state image_context
);

/// The columns of the table.
pub(super) const COLUMNS: [&str; 10] = words!(
    message_id thread_id type content is_llm_message metadata agent_id agent_version_id created_at
    updated_at
);

/// Whether a word is a type that Suna writes.
pub(super) fn is_known_type(word: &str) -> bool {
    TURNS.contains(&word) || is_event(word)
}

fn is_event(word: &str) -> bool {
    EVENTS.contains(&word) || word.starts_with("llm_response_")
}

wire! {
    /// The columns that are read. `agents` is the agent's row, joined by some queries.
    Columns {
        id: "message_id",
        word: "type",
        thread: "thread_id",
        is_llm: "is_llm_message",
        content: "content",
        metadata: "metadata",
        created: "created_at",
        updated: "updated_at",
        agent: "agent_id",
        agents: "agents",
        author: "created_by_user_id",
    }
}

/// A row of the table; columns that are null are absent.
#[derive(Debug)]
pub(super) struct Row<'d> {
    /// The index of the row in the record.
    pub index: u32,
    /// The whole row.
    pub value: Value<'d>,
    /// `message_id` as text.
    pub id: Option<String>,
    /// `type`.
    pub word: Option<Cow<'d, str>>,
    /// The columns of the row.
    pub columns: Columns<'d>,
}

/// How a row is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RowKind {
    /// A message.
    Message,
    /// A notice.
    Notice,
    /// The type is unknown: the content decides.
    Unknown,
    /// The type is unknown, but the row is sent to the model.
    UnknownMessage,
}

impl<'d> Row<'d> {
    /// The row with these columns; a finding if it is rejected.
    pub(super) fn of(index: u32, value: Value<'d>, columns: Columns<'d>) -> Result<Self, Box<Finding>> {
        let columns = columns.without_nulls();
        let word = columns.word.and_then(Value::as_str);
        if word.is_none() && columns.content.is_none() {
            let text = "the row has neither type nor content and is rejected";
            return Err(Box::new(Finding::new(&codes::MISSING_FIELD, text)));
        }
        Ok(Self {
            index,
            value,
            id: columns.id.and_then(id),
            word,
            columns,
        })
    }

    /// The role that `type` names.
    pub(super) fn role(&self) -> Option<Role> {
        self.word.as_deref().and_then(roles::api_role)
    }

    /// The value of `type`, else the row.
    pub(super) fn type_value(&self) -> Value<'d> {
        self.columns.word.unwrap_or(self.value)
    }

    /// The kind of the row: `is_llm_message` decides, as in Suna itself, and if it is missing the type.
    pub(super) fn row_kind(&self, site: &mut Site<'_>) -> RowKind {
        match (self.is_sent(site), self.word.as_deref()) {
            (Some(false), _) => RowKind::Notice,
            (_, Some(word)) if TURNS.contains(&word) => RowKind::Message,
            (None, Some(word)) if is_event(word) => RowKind::Notice,
            (Some(_), Some(word)) if is_event(word) => RowKind::Message,
            (Some(_), Some(_)) => RowKind::UnknownMessage,
            _ => RowKind::Unknown,
        }
    }

    /// Whether the row is sent to the model: `is_llm_message` as a boolean, or as dumps write one.
    fn is_sent(&self, site: &mut Site<'_>) -> Option<bool> {
        let value = self.columns.is_llm?;
        let word = value.as_str().or_else(|| value.number_text().map(Cow::Borrowed));
        let is_sent = value.as_bool().or_else(|| match &*word?.to_ascii_lowercase() {
            "t" | "true" | "1" | "y" | "yes" | "on" => Some(true),
            "f" | "false" | "0" | "n" | "no" | "off" => Some(false),
            _ => None,
        });
        if is_sent.is_none() {
            let text = "is_llm_message is not a boolean and is read as true";
            site.warn("is_llm_message", text, value);
        }
        is_sent
    }

    /// Whether `is_llm_message` has the usual value for rows of this kind.
    pub(super) fn is_llm_usual(&self, kind: MessageKind) -> bool {
        let usual = match kind {
            MessageKind::Notice => "false",
            MessageKind::Message => "true",
        };
        let is_llm = self.columns.is_llm;
        is_llm.is_none_or(|value| value.raw() == usual || value.as_str().as_deref() == usual.get(..1))
    }

    /// Marks the text of a piece of an answer as read if the whole answer is stored, too.
    pub(super) fn repeats_whole(&self, limits: &Limits) {
        let Some(content) = self.columns.content else {
            return;
        };
        let document = quoted_json::open(content, limits);
        let root = document.as_deref().map_or(content, Document::root);
        for column in ["role", "content"].map(|key| root.get(key)).into_iter().flatten() {
            column.mark(Mark::Taken);
        }
    }

    /// The stream named in the metadata: its status and the run that it belongs to.
    pub(super) fn stream(&self, limits: &Limits) -> Stream {
        let Some(metadata) = self.columns.metadata else {
            return Stream::default();
        };
        let document = quoted_json::open(metadata, limits);
        let root = document.as_deref().map_or(metadata, Document::root);
        Stream {
            is_chunk: text(root.get("stream_status")).is_some_and(|status| status == "chunk"),
            run: text(root.get("thread_run_id")),
        }
    }
}

/// The position of a row in a stream.
#[derive(Debug, Default)]
pub(super) struct Stream {
    /// Whether the row is a piece of an answer.
    pub is_chunk: bool,
    /// Id of the run that answered.
    pub run: Option<String>,
}
