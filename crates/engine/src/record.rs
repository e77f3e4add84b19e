//! Reads one record: from its bytes to a linked conversation, findings with their places, and rejects.
//!
//! Runs, checks and all commands that read files call [`read()`] for a frame or [`Group::read`]
//! for grouped rows, with the [`Settings`] of the plan. Both parse, read by the source, link,
//! apply the rules, redact if requested, and locate each finding in the original file.

use std::cell::OnceCell;
use std::rc::Rc;

use chatmill_diag::{Limits, Reject, RowLedger};
use chatmill_model::Linked;
use chatmill_redact::Redactor;
use chatmill_source::ReadOptions;

use self::evaluation::Evaluations;

pub(crate) mod evaluation;
pub(crate) mod group;
pub(crate) mod locate;
mod read;
pub(crate) mod redact;
pub(crate) mod unread;
pub(crate) mod written;

pub use group::{Group, GroupRow, RowPlace};
pub use locate::Located;
pub use read::read;
pub(crate) use read::read_rows;

use redact::Redaction;

/// The outcome of reading a record.
#[derive(Default)]
pub struct RecordOutcome {
    /// The conversation, unless the whole record is rejected.
    pub linked: Option<Linked>,
    /// Findings with their places, sorted by position, code and byte.
    pub findings: Vec<Located>,
    /// The rejects, with their places.
    pub rejects: Vec<(Reject, Located)>,
    /// The ledger of the record's rows.
    pub rows: RowLedger,
    /// The fields of the record that nothing reads; empty for further conversations of the record.
    pub unread: Vec<UnreadAt>,
    /// The bytes of words that the source read, and of those that it did not read.
    pub words: (u64, u64),
    /// The redactions in the conversation, if a redactor replaces text.
    pub redaction: Option<Redaction>,
    /// Further conversations of the record, each with its findings.
    pub also: Vec<Self>,
}

/// A path of keys with unread fields in a record, with the place of the first one.
pub struct UnreadAt {
    /// The place of the field, the number of its values, and whether they contain words.
    pub located: Located,
    /// The number of bytes of all its values.
    pub bytes: u64,
}

impl RecordOutcome {
    /// Returns the conversation before redaction.
    pub(crate) fn as_read(&self) -> Option<&Linked> {
        let redaction = self.redaction.as_ref().map(|redaction| &redaction.original);
        redaction.or(self.linked.as_ref())
    }

    /// Calls a function with the outcome of each conversation of the record.
    fn each(&mut self, change: &mut dyn FnMut(&mut Self)) {
        change(self);
        self.also.iter_mut().for_each(change);
    }
}

/// The settings for reading a record.
#[derive(Clone, Copy)]
pub struct Settings<'s> {
    /// The limits.
    pub limits: &'s Limits,
    /// Options of the sources.
    pub options: ReadOptions<'s>,
    /// Finds personal data and secrets, if requested.
    pub redactor: Option<&'s Redactor>,
    /// Evaluations; words that a conversation shares with them become findings.
    pub evaluations: Option<&'s Evaluations>,
}

impl<'s> Settings<'s> {
    /// Returns the settings for an input that may have a zone.
    pub(crate) fn in_zone(self, zone: Option<&'s str>) -> Self {
        Self {
            options: ReadOptions {
                zone: zone.or(self.options.zone),
                ..self.options
            },
            ..self
        }
    }

    /// Returns settings with limits and nothing else.
    pub fn plain(limits: &'s Limits) -> Self {
        Self {
            limits,
            options: ReadOptions::default(),
            redactor: None,
            evaluations: None,
        }
    }
}

/// Returns the id of a conversation: the one in the source, else the
/// hash of its record; prefixed with its table if a run reads several.
pub fn id(linked: &Linked, record: &RecordHash<'_>) -> String {
    let own = linked.conversation.source_id.clone().filter(|id| !id.is_empty());
    let id = own.unwrap_or_else(|| record.id().to_owned());
    match &linked.conversation.table {
        Some(table) => format!("{table}/{id}"),
        None => id,
    }
}

/// The hash of a record, computed once for all its conversations, and only if one of them needs it.
#[derive(Clone, Debug)]
pub struct RecordHash<'r> {
    bytes: &'r [u8],
    computed: Rc<OnceCell<String>>,
}

impl<'r> RecordHash<'r> {
    /// Prepares the hash of a record with these bytes.
    pub fn of(bytes: &'r [u8]) -> Self {
        let computed = Rc::default();
        Self { bytes, computed }
    }

    /// Returns the length of the record in bytes.
    pub fn record_bytes(&self) -> usize {
        self.bytes.len()
    }

    fn id(&self) -> &str {
        let compute = || blake3::hash(self.bytes).to_hex().chars().take(16).collect();
        self.computed.get_or_init(compute)
    }
}
