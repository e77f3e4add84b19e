//! Hugging Face conversational data: rows whose columns are lists of messages in `OpenAI`'s shape.
//!
//! The smallest example:
//!
//! ```json
//! {"prompt": [{"role": "user", "content": "Hi"}], "completion": [{"role": "assistant", "content": "Hello"}]}
//! ```
//!
//! A row has `messages`, or a `prompt` with its `completion`: both together are the conversation. Of a preference row it is
//! the `prompt` with the `chosen` answer, or `chosen` alone, which then holds everything; what was `rejected` is an extra
//! field, and so is a `label`. A row with nothing but `messages` is left to `openai-messages`, which reads it alike.

use chatmill_diag::{Finding, Limits, Severity, codes};
use chatmill_intake::json::{Kind, Value};
use chatmill_intake::{RecordSketch, Sketch};

use crate::notes::Notes;
use crate::openai_messages::{self, Record, too_many};
use crate::requests::{best, has, holds};
use crate::{About, Evidence, FrameView, Reading, Source};

const ID: &str = "hf-messages";

/// Columns that are lists of messages, in the order in which they follow one another.
const COLUMNS: [&str; 3] = ["prompt", "completion", "chosen"];

/// Index of the first message of a column: the upper two bits say which column it is; `messages` are 0.
const fn first(column: u32) -> u32 {
    (column + 1) << 30
}

/// The source `hf-messages`.
#[derive(Debug)]
pub struct HfMessages;

static ABOUT: About = About {
    title: "Hugging Face messages",
    specification: "TRL, dataset formats",
    shapes: &["messages", "prompt"],
    carries: "roles, text, tool definitions, calls and results, reasoning",
};

impl Source for HfMessages {
    fn id(&self) -> &'static str {
        ID
    }

    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn detect(&self, sketch: &Sketch) -> Option<Evidence> {
        best(ID, sketch, recognise)
    }

    fn read(&self, frame: &FrameView<'_>, limits: &Limits) -> Reading {
        let root = frame.document.root();
        let is_split = root.get("messages").is_none_or(Value::is_null)
            && COLUMNS.iter().any(|column| root.get(column).is_some());
        if !is_split {
            return openai_messages::read(ID, Some("messages"), *frame, limits);
        }
        let record = columns(root, limits, &Notes::new(frame.start));
        Reading::of(record.map(|record| record.read(*frame, limits)))
    }

    fn message_path(&self, index: u32) -> String {
        path(index)
    }
}

fn path(index: u32) -> String {
    let column = (index >> 30)
        .checked_sub(1)
        .and_then(|column| COLUMNS.get(column as usize));
    let place = index & (first(0) - 1);
    format!("$.{}[{place}]", column.unwrap_or(&"messages"))
}

fn recognise(record: &RecordSketch) -> Option<(u8, String)> {
    let is_list = |column| holds(record, column, "role") && holds(record, column, "content");
    if is_list("messages") && has(record, "chat_template_kwargs") {
        return Some((92, "the record has messages and chat_template_kwargs".to_owned()));
    }
    let column = COLUMNS.into_iter().find(|column| is_list(column))?;
    let is_row = column != "prompt" || has(record, "completion") || has(record, "chosen");
    let confidence = if is_row { 90 } else { 70 };
    Some((confidence, format!("the column {column} holds messages")))
}

/// The columns of a row that has no `messages`.
fn columns<'d>(root: Value<'d>, limits: &Limits, notes: &Notes) -> Result<Record<'d>, Box<Finding>> {
    let mut lists = Vec::new();
    for (number, column) in (0..).zip(COLUMNS) {
        let Some(list) = root.get(column).filter(|list| !list.is_null()) else {
            continue;
        };
        let finding = if root.fields().filter(|(key, _)| key == column).count() > 1 {
            let text = format!("{column} stands more than once in the record");
            Some(Finding::new(&codes::DUPLICATE_KEY, text))
        } else if list.kind() == Kind::Array {
            too_many(list, limits)
        } else {
            let text = format!("{column} is no list of messages");
            Some(Finding::new(&codes::WRONG_TYPE, text))
        };
        if let Some(finding) = finding {
            let finding = finding
                .with_severity(Severity::Error)
                .at_path(format!("$.{column}"));
            return Err(Box::new(notes.spanned(finding, list.span())));
        }
        lists.push((first(number), list));
    }
    Ok(Record {
        source: ID,
        shape: Some("prompt"),
        columns: &COLUMNS,
        lists,
        path,
    })
}
