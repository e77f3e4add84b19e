//! Rows of Suna's `messages` table: from a database dump, CSV, JSON lines, pages of its API, and thread dumps.
//!
//! A record is the list of all rows of one thread. The smallest example:
//!
//! ```json
//! [{"message_id": "m1", "thread_id": "t1", "type": "user", "is_llm_message": true, "created_at": "2026-01-18T05:35:40+00:00",
//!   "content": "{\"role\": \"user\", \"content\": \"Morning\"}", "metadata": {}}]
//! ```
//!
//! Content is a message object, a string that holds one (also twice), plain text where a context manager shortened it, or
//! a list of parts; metadata an object, null, or a string. Rows are sorted by `created_at`, then as they come. What the
//! system notes about itself is a notice: rows with `is_llm_message` false, and where a row says nothing of it `status`,
//! `llm_response_end` and their like. Rows of agents without an `agent_id` are the thread's one agent's.
//!
//! Three generations of tool use are read alike ([`xml`], [`result`], [`metadata`]): calls written into the text as XML,
//! calls and results in `OpenAI`'s shape, and copies of both in the metadata. A call that stands in two places is one call.

mod content;
mod messages;
mod metadata;
mod order;
mod pages;
mod result;
mod row;
mod speech;
mod xml;

use chatmill_diag::{Finding, Limits, Severity, codes};
use chatmill_intake::Sketch;
use chatmill_intake::json::{Document, Kind, Value};
use chatmill_intake::table::TableMap;
use chatmill_model::{Conversation, Customs, Scene, TextArguments};

use crate::notes::Notes;
use crate::reject::reject_message;
use crate::roster::Roster;
use crate::times::Times;
use crate::{About, Evidence, FrameView, Reading, Row, RowLedger, Source};
use content::Era;
use messages::Reader;

const ID: &str = "suna-rows";

/// The source `suna-rows`.
#[derive(Debug)]
pub struct SunaRows;

static ABOUT: About = About {
    title: "Suna message rows",
    specification: "the messages table of Suna's Message Structures (November 2025), as its code stored it from 2024 to 2026",
    shapes: &["plain", "xml", "native", "metadata"],
    carries: "roles, text, pictures, thoughts, tool calls and results of all three generations, compressed rows, \
              status rows as notices",
    customs: Customs {
        kept_form: Some(ID),
        // Only calls in the content of a row have an id of their own; text and metadata hold the others.
        text_arguments: TextArguments::WithId,
        ..Customs::USUAL
    },
};

impl Source for SunaRows {
    fn id(&self) -> &'static str {
        ID
    }

    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn detect(&self, sketch: &Sketch) -> Option<Evidence> {
        let recognised = sketch.records.iter().filter_map(pages::recognise);
        let (confidence, why) = recognised.max_by_key(|(confidence, _)| *confidence)?;
        Some(Evidence {
            source: ID,
            confidence,
            why,
        })
    }

    fn read(&self, frame: &FrameView<'_>, limits: &Limits) -> Reading {
        Reading::stored(&ABOUT, read(*frame, limits))
    }

    /// A record that is no list is one row.
    fn message_path(&self, _index: u32) -> String {
        "$".to_owned()
    }

    fn tables(&self) -> Vec<TableMap> {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        vec![TableMap {
            name: "suna".to_owned(),
            source: ID.to_owned(),
            table: "messages".to_owned(),
            requires: owned(&["message_id", "thread_id", "type", "content"]),
            columns: Vec::new(),
            json: owned(&["content", "metadata"]),
            definition: Vec::new(),
            filters: Vec::new(),
            ..TableMap::default()
        }]
    }

    fn gathers(&self, _sketch: &Sketch) -> bool {
        true
    }

    fn rows(&self, document: &Document<'_>) -> Option<Vec<Row>> {
        pages::rows(document.root())
    }

    fn merges(&self) -> bool {
        true
    }
}

fn read(frame: FrameView<'_>, limits: &Limits) -> Result<Reading, Box<Finding>> {
    let mut notes = Notes::new(frame.start);
    let mut ledger = RowLedger::default();
    let mut rejects = Vec::new();
    let mut rows = Vec::new();
    for (index, value) in (0..).zip(record(frame.document.root(), limits, &notes)?) {
        ledger.rows += 1;
        match row::Row::read(index, value) {
            Ok(row) => rows.push(row),
            Err(finding) => {
                ledger.rejected += 1;
                let finding = finding.at_path(path(frame, index));
                rejects.push(reject_message(frame, &notes, value, finding, limits));
            }
        }
    }
    let steps = order::arrange(&rows, &mut notes, &mut ledger, limits);
    let of_rows = || rows.iter().find_map(|row| row.thread.and_then(row::text));
    let mut reader = Reader {
        frame,
        limits,
        thread: frame.key.map(str::to_owned).or_else(of_rows),
        agent: only_agent(&rows),
        roster: Roster::default(),
        times: Times::default(),
        notes,
        era: Era::default(),
        messages: Vec::new(),
        rows: ledger,
    };
    for step in &steps {
        reader.accept(step);
    }
    let mut notes = reader.notes;
    reader.times.finish(&mut notes);
    Ok(Reading {
        conversation: Some(Conversation {
            source: ID,
            source_id: reader.thread,
            shape: reader.era.as_str(),
            scene: Scene::Assistant,
            participants: reader.roster.participants,
            messages: reader.messages,
            ..Conversation::default()
        }),
        fault: None,
        findings: notes.findings,
        rejects,
        rows: reader.rows,
    })
}

/// The agent that rows name, unless they name several. Old rows name none, for the column came later.
fn only_agent(rows: &[row::Row<'_>]) -> Option<String> {
    let mut named = rows.iter().filter_map(|row| row.agent.and_then(row::text));
    let first = named.next()?;
    named.all(|agent| agent == first).then_some(first)
}

fn path(frame: FrameView<'_>, index: u32) -> String {
    if frame.document.root().kind() == Kind::Array {
        format!("$[{index}]")
    } else {
        "$".to_owned()
    }
}

/// The rows of a record: those of a list, or one alone.
fn record<'d>(root: Value<'d>, limits: &Limits, notes: &Notes) -> Result<Vec<Value<'d>>, Box<Finding>> {
    let fault = |finding: Finding| {
        let finding = finding.with_severity(Severity::Error).at_path("$");
        Box::new(notes.spanned(finding, root.span()))
    };
    match root.kind() {
        Kind::Array => {}
        Kind::Object if pages::is_row(root) => return Ok(vec![root]),
        Kind::Object => {
            let text = "the record is neither a row of the messages table nor a page of rows";
            return Err(fault(Finding::new(&codes::MISSING_FIELD, text)));
        }
        _ => {
            let text = "the record is neither a row nor a list of rows";
            return Err(fault(Finding::new(&codes::WRONG_TYPE, text)));
        }
    }
    let limit = limits.messages_per_conversation;
    let count = root.len() as u64;
    if count > limit {
        let text = format!("the thread has {count} rows, the limit is {limit}");
        return Err(fault(Finding::new(&codes::CONVERSATION_TOO_LARGE, text)));
    }
    Ok(root.items().collect())
}
