//! The columns of a row.

use std::borrow::Cow;

use chatmill_diag::{Finding, Limits, Severity, codes};
use chatmill_intake::json::{Kind, Value};

use crate::cell;
use crate::notes::Site;

/// Types whose rows are turns of the conversation.
const TURNS: [&str; 4] = ["user", "assistant", "tool", "system"];

/// Types whose rows say what the system did.
const EVENTS: [&str; 7] = [
    "status",
    "llm_response_start",
    "llm_response_end",
    "assistant_response_end",
    "summary",
    "browser_state",
    "image_context",
];

/// The columns of the table.
pub const COLUMNS: [&str; 10] = [
    "message_id",
    "thread_id",
    "type",
    "content",
    "is_llm_message",
    "metadata",
    "agent_id",
    "agent_version_id",
    "created_at",
    "updated_at",
];

/// Whether a word is a type that Suna writes.
pub fn is_known_type(word: &str) -> bool {
    TURNS.contains(&word) || is_event(word)
}

fn is_event(word: &str) -> bool {
    EVENTS.contains(&word) || word.starts_with("llm_response_")
}

/// A row of the table; columns that are null are absent.
#[derive(Debug)]
pub struct Row<'d> {
    /// Its index in the record.
    pub index: u32,
    /// The whole row.
    pub value: Value<'d>,
    /// `message_id` as text.
    pub id: Option<String>,
    /// `type`.
    pub word: Option<Cow<'d, str>>,
    /// `thread_id`.
    pub thread: Option<Value<'d>>,
    /// `is_llm_message`.
    pub is_llm: Option<Value<'d>>,
    /// `content`.
    pub content: Option<Value<'d>>,
    /// `metadata`.
    pub metadata: Option<Value<'d>>,
    /// `created_at`.
    pub created: Option<Value<'d>>,
    /// `updated_at`.
    pub updated: Option<Value<'d>>,
    /// `agent_id`.
    pub agent: Option<Value<'d>>,
    /// `agents`: the agent's row, joined by some queries.
    pub agents: Option<Value<'d>>,
    /// `created_by_user_id`.
    pub author: Option<Value<'d>>,
    /// All others.
    pub others: Vec<(Cow<'d, str>, Value<'d>)>,
}

/// What becomes of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// A message.
    Turn,
    /// A notice.
    Event,
    /// The type is none of the known: the content decides.
    Unknown,
    /// The type is none of the known, but the row is sent to the model.
    UnknownTurn,
}

impl<'d> Row<'d> {
    /// Reads the columns, or says why this is no row.
    pub fn read(index: u32, value: Value<'d>) -> Result<Self, Box<Finding>> {
        if value.kind() != Kind::Object {
            let text = "the row is no object and is rejected";
            return Err(Box::new(Finding::new(&codes::WRONG_TYPE, text)));
        }
        let mut row = Self {
            index,
            value,
            id: None,
            word: None,
            thread: None,
            is_llm: None,
            content: None,
            metadata: None,
            created: None,
            updated: None,
            agent: None,
            agents: None,
            author: None,
            others: Vec::new(),
        };
        let mut word = None;
        let mut id = None;
        for (key, value) in value.fields() {
            let slot = match &*key {
                "message_id" => &mut id,
                "type" => &mut word,
                "thread_id" => &mut row.thread,
                "is_llm_message" => &mut row.is_llm,
                "content" => &mut row.content,
                "metadata" => &mut row.metadata,
                "created_at" => &mut row.created,
                "updated_at" => &mut row.updated,
                "agent_id" => &mut row.agent,
                "agents" => &mut row.agents,
                "created_by_user_id" => &mut row.author,
                _ => {
                    row.others.push((key, value));
                    continue;
                }
            };
            if slot.replace(value).is_some() {
                let text = "a known column stands more than once: the row is rejected";
                return Err(Box::new(Finding::new(&codes::DUPLICATE_KEY, text).quoting(&key)));
            }
        }
        for slot in [
            &mut id,
            &mut word,
            &mut row.thread,
            &mut row.is_llm,
            &mut row.content,
            &mut row.metadata,
            &mut row.created,
            &mut row.updated,
            &mut row.agent,
            &mut row.agents,
            &mut row.author,
        ] {
            *slot = slot.filter(|value| !value.is_null());
        }
        row.id = id.and_then(text);
        row.word = word.and_then(Value::as_str);
        if row.word.is_none() && row.content.is_none() {
            let text = "the row has neither type nor content and is rejected";
            return Err(Box::new(Finding::new(&codes::MISSING_FIELD, text)));
        }
        Ok(row)
    }

    /// What becomes of the row: what `is_llm_message` says, as Suna itself goes by it; where it says nothing, the type decides.
    pub fn fate(&self, site: &mut Site<'_>) -> Fate {
        match (self.is_sent(site), self.word.as_deref()) {
            (Some(false), _) => Fate::Event,
            (_, Some(word)) if TURNS.contains(&word) => Fate::Turn,
            (is_sent, Some(word)) if is_event(word) => match is_sent {
                Some(_) => Fate::Turn,
                None => Fate::Event,
            },
            (Some(_), Some(_)) => Fate::UnknownTurn,
            _ => Fate::Unknown,
        }
    }

    /// Whether the row is sent to the model: `is_llm_message` as a boolean, or as dumps write one.
    fn is_sent(&self, site: &mut Site<'_>) -> Option<bool> {
        let value = self.is_llm?;
        let word = value.as_str().or_else(|| value.number_text().map(Cow::Borrowed));
        let is_sent = value.as_bool().or_else(|| match &*word?.to_ascii_lowercase() {
            "t" | "true" | "1" | "y" | "yes" | "on" => Some(true),
            "f" | "false" | "0" | "n" | "no" | "off" => Some(false),
            _ => None,
        });
        if is_sent.is_none() {
            let text = "is_llm_message is no boolean and is read as true";
            site.wrong("is_llm_message", text, Severity::Warning, value);
        }
        is_sent
    }

    /// Whether `is_llm_message` says what nearly every row of this type says.
    pub fn is_llm_usual(&self, fate: Fate) -> bool {
        let usual = if fate == Fate::Event { "false" } else { "true" };
        self.is_llm
            .is_none_or(|value| value.raw() == usual || value.as_str().as_deref() == usual.get(..1))
    }

    /// What the metadata says about a stream: its status and the run that it belongs to.
    pub fn stream(&self, limits: &Limits) -> Stream {
        let Some(metadata) = self.metadata else {
            return Stream::default();
        };
        let text = cell::json_text(metadata, limits);
        let document = cell::scan(text.as_deref(), limits);
        let root = document
            .as_ref()
            .map_or(metadata, chatmill_intake::json::Document::root);
        let word = |key: &str| root.get(key).and_then(Value::as_str).map(Cow::into_owned);
        Stream {
            is_chunk: word("stream_status").is_some_and(|status| status == "chunk"),
            run: word("thread_run_id"),
        }
    }
}

/// Where a row stands in a stream.
#[derive(Debug, Default)]
pub struct Stream {
    /// Whether it is a piece of an answer.
    pub is_chunk: bool,
    /// Id of the run that answered.
    pub run: Option<String>,
}

/// A string that is not empty, or a number as written.
pub fn text(value: Value<'_>) -> Option<String> {
    let text = value
        .as_str()
        .or_else(|| value.number_text().map(Cow::Borrowed))?;
    (!text.is_empty()).then(|| text.into_owned())
}
