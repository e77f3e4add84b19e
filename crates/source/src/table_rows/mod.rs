//! Rows of anybody's chat table, whose columns a table map of the pipeline gives these names: `id`, `conversation`,
//! `order`, `role`, `sender`, `sender_name`, `content`, `metadata`, `reply_to`, `created_at`, and where a table has them
//! `tool_calls`, `tool_call_id` and `name` as `OpenAI` means them. Only `role` or `sender`, and `content`, are needed.
//!
//! A record is the list of all rows of one conversation. The smallest example:
//!
//! ```json
//! [{"conversation": "7", "role": "customer", "content": "Is it open?"},
//!  {"conversation": "7", "role": "bot", "content": "From nine to five."}]
//! ```
//!
//! Rows are sorted by `order`, where all have one, else by `created_at`, and then as they come. Content is plain text, a
//! list of parts, or a message object of `OpenAI`'s. JSON and CSV that have these names themselves need no map, and are
//! recognised by `conversation` and `content` beside `role` or `sender`.

mod content;
mod messages;
mod order;
mod row;

use chatmill_diag::{Finding, Limits, Severity, codes};
use chatmill_intake::json::{Document, Kind, Value};
use chatmill_intake::{RecordSketch, Sketch};
use chatmill_model::{Conversation, Customs, Scene};

use crate::notes::Notes;
use crate::reject::reject_message;
use crate::roster::Roster;
use crate::times::Times;
use crate::{About, Evidence, FrameView, Reading, Row, RowLedger, Source, TableMap};
use messages::Reader;
pub use row::{role, text};

const ID: &str = "table-rows";

/// The source `table-rows`.
#[derive(Debug)]
pub struct TableRows;

static ABOUT: About = About {
    title: "Rows of a mapped table",
    specification: "the columns that a [table_map] of the pipeline file names",
    shapes: &["table"],
    carries: "roles, speakers, times, replies, text, pictures, sound and files, tool calls and results",
    customs: Customs::USUAL,
};

impl Source for TableRows {
    fn id(&self) -> &'static str {
        ID
    }

    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn detect(&self, sketch: &Sketch) -> Option<Evidence> {
        let is_row = |record: &RecordSketch| {
            let has = |name: &str| record.names(name) || record.names(&format!("[].{name}"));
            has("conversation") && has("content") && (has("role") || has("sender"))
        };
        let mut records = sketch.records.iter();
        records.any(is_row).then(|| Evidence {
            source: ID,
            confidence: 75,
            why: vec!["rows name their conversation, who speaks, and the content".to_owned()],
        })
    }

    /// Maps for files that have these names themselves, as CSV does that was made for the purpose.
    fn tables(&self) -> Vec<TableMap> {
        let whole = ["role", "sender"].map(|who| vec!["conversation", who, "content"]);
        let single = ["role", "sender"].map(|who| vec![who, "content"]);
        let maps = whole.into_iter().chain(single).map(|requires| TableMap {
            name: ID.to_owned(),
            source: ID.to_owned(),
            table: ID.to_owned(),
            requires: requires.into_iter().map(str::to_owned).collect(),
            ..TableMap::default()
        });
        maps.collect()
    }

    fn read(&self, frame: &FrameView<'_>, limits: &Limits) -> Reading {
        Reading::of(&ABOUT, read(*frame, limits))
    }

    /// A record that is no list is one row.
    fn message_path(&self, _index: u32) -> String {
        "$".to_owned()
    }

    fn gathers(&self, _sketch: &Sketch) -> bool {
        true
    }

    fn can_merge(&self) -> bool {
        true
    }

    fn rows(&self, document: &Document<'_>) -> Option<Vec<Row>> {
        let cut = |row: Value<'_>| Row {
            keys: vec![row.get("conversation").and_then(text).unwrap_or_default()],
            span: row.span(),
        };
        let root = document.root();
        match root.kind() {
            Kind::Object => Some(vec![cut(root)]),
            Kind::Array => Some(root.items().map(cut).collect()),
            _ => None,
        }
    }
}

fn read(frame: FrameView<'_>, limits: &Limits) -> Result<Reading, Box<Finding>> {
    let mut notes = Notes::new(frame.start);
    let mut ledger = RowLedger::default();
    let mut rejects = Vec::new();
    let mut rows = Vec::new();
    let root = frame.document.root();
    for (index, value) in (0..).zip(record(root, limits, &notes)?) {
        ledger.rows += 1;
        match row::Row::read(index, value) {
            Ok(row) => rows.push(row),
            Err(finding) => {
                ledger.rejected += 1;
                let path = if root.kind() == Kind::Array {
                    format!("$[{index}]")
                } else {
                    "$".to_owned()
                };
                let finding = finding.at_path(path);
                rejects.push(reject_message(frame, &notes, value, finding, limits));
            }
        }
    }
    order::arrange(&mut rows, &mut notes);
    let of_rows = || rows.iter().find_map(|row| row.conversation.and_then(text));
    let source_id = frame.key.map(str::to_owned).or_else(of_rows);
    let mut reader = Reader {
        start: frame.start,
        limits,
        roster: Roster::default(),
        times: Times::default(),
        notes,
        messages: Vec::new(),
    };
    for row in &rows {
        reader.accept(row);
    }
    ledger.messages = reader.messages.len() as u64;
    let mut notes = reader.notes;
    reader.times.finish(&mut notes);
    Ok(Reading {
        conversation: Some(Conversation {
            source: ID,
            source_id,
            shape: "table",
            scene: Scene::Unknown,
            participants: reader.roster.participants,
            messages: reader.messages,
            ..Conversation::default()
        }),
        fault: None,
        findings: notes.findings,
        rejects,
        rows: ledger,
    })
}

/// The rows of a record: those of a list, or one alone.
fn record<'d>(root: Value<'d>, limits: &Limits, notes: &Notes) -> Result<Vec<Value<'d>>, Box<Finding>> {
    let fault = |finding: Finding| {
        let finding = finding.with_severity(Severity::Error).at_path("$");
        Box::new(notes.spanned(finding, root.span()))
    };
    match root.kind() {
        Kind::Object => return Ok(vec![root]),
        Kind::Array => {}
        _ => {
            let text = "the record is neither a row nor a list of rows";
            return Err(fault(Finding::new(&codes::WRONG_TYPE, text)));
        }
    }
    let limit = limits.messages_per_conversation;
    let count = root.len() as u64;
    if count > limit {
        let text = format!("the conversation has {count} rows, the limit is {limit}");
        return Err(fault(Finding::new(&codes::CONVERSATION_TOO_LARGE, text)));
    }
    Ok(root.items().collect())
}
