//! Hugging Face conversational data: rows with columns that are lists of messages in `OpenAI`'s shape, or texts.
//!
//! The smallest example:
//!
//! ```json
//! {"prompt": [{"role": "user", "content": "Hi"}], "completion": [{"role": "assistant", "content": "Hello"}]}
//! ```
//!
//! A row has `messages`, or a `prompt` with its `completion`: both together are the conversation. The conversation of a row that compares two answers is the
//! `prompt` with the `chosen` answer, or only `chosen` where that begins with the question; the other answer becomes an alternative, with a finding.
//! `chosen_messages` and `input` with `preferred_output` are other names for the same. A column may be a text instead of a list. The column `conversation` of
//! LMSYS-Chat-1M and `WildChat` is also a list of messages, and `data` of `UltraChat` a list of texts, the user's first. Each column of messages may be the
//! JSON text of a list. A row with `problem` and `final_answer`, or another column that an answer is graded against (also a `label` that is a text,
//! next to `prompt`), is a question. A row with an answer and a `label` rates the answer: a bad one is no part of the conversation. A row with only `messages` is left to `openai-messages`, which reads it in the same way.

use chatmill_diag::Limits;
use chatmill_intake::RecordSketch;

use crate::base::{present, words};
use crate::frame::{FrameView, Reading};
use crate::grammar::signs;
use crate::layout::columns::{self, ColumnMeaning};
use crate::layout::{Requests, best, has, spelled_list};
use crate::rust_format::{Read, RustFormat};
use crate::source::{About, NO_TEXT_ARGUMENTS};

static ABOUT: About = About {
    id: "hf-messages",
    title: "Hugging Face messages",
    specification: "TRL, dataset formats",
    verified: "2026-11",
    shapes: &["messages", "prompt"],
    carries: "roles, text, tool definitions, calls and results, reasoning",
    traits: NO_TEXT_ARGUMENTS,
};

static REQUESTS: Requests = Requests::of_openai(&ABOUT);

/// The source `hf-messages`.
pub static HF_MESSAGES: RustFormat = RustFormat {
    message_path: Some(|index| REQUESTS.form.path(index)),
    ..RustFormat::of(&ABOUT, |sketch| best(sketch, recognise), Read::Own(read))
};

fn read(frame: FrameView<'_>, limits: &Limits) -> Reading {
    spelled_list::reading(frame, limits, |frame| of_row(frame, limits))
}

fn of_row(frame: FrameView<'_>, limits: &Limits) -> Reading {
    let has_messages = present(frame.root(), "messages").is_some();
    let columns = (!has_messages)
        .then(|| REQUESTS.of_columns(frame, limits))
        .flatten();
    columns.map_or_else(|| REQUESTS.reading(frame, limits), |row| row.of_shape("prompt"))
}

/// Columns of the options or of the chosen option in multiple-choice rows.
const OPTIONS: [&str; 9] = words!(choices options A option_a optionA option1 opa choice1 answer_idx);

fn recognise(record: &RecordSketch) -> Option<(u8, String)> {
    let is_list =
        |name: &str| record.names(&format!("{name}[].role")) && record.names(&format!("{name}[].content"));
    if spelled_list::is_one(record) {
        return Some((85, "the text of messages is a list of messages".to_owned()));
    }
    if is_list("messages") && has(record, "chat_template_kwargs") {
        return Some((92, "the record has messages and chat_template_kwargs".to_owned()));
    }
    let answers = || {
        [ColumnMeaning::Better, ColumnMeaning::Answer]
            .into_iter()
            .flat_map(columns::names)
    };
    let asks = columns::names(ColumnMeaning::Question).find(|name| is_list(name));
    if let Some(name) = asks.filter(|_| answers().any(|key| has(record, key))) {
        return Some((90, format!("the column {name} holds messages")));
    }
    let columns_of_turns = [ColumnMeaning::Turns, ColumnMeaning::Better]
        .into_iter()
        .flat_map(columns::names);
    let columns_of_turns = columns_of_turns
        .filter(|name| *name != "messages")
        .chain(["completion"]);
    if let Some(name) = columns_of_turns.into_iter().find(|name| is_list(name)) {
        return Some((90, format!("the column {name} holds messages")));
    }
    if let Some(name) = asks {
        return Some((70, format!("the column {name} holds messages")));
    }
    if has(record, "data") && has(record, "id") && record.names("data[]") && !record.names("data[].role") {
        return Some((80, "the column data holds texts in turn".to_owned()));
    }
    let is_text = |name: &str| {
        let mut strings = record.strings.iter().chain(&record.starts);
        strings.any(|(key, _)| key == name)
    };
    let compares = columns::names(ColumnMeaning::Worse).any(|name| has(record, name));
    if let Some(name) = columns::names(ColumnMeaning::Better)
        .find(|name| is_text(name))
        .filter(|_| compares)
    {
        return Some((85, format!("the record has {name} and another answer as text")));
    }
    let list = columns::name_alone(record, &["role", "content"]).filter(|list| is_unclaimed(record, list));
    if list.is_some_and(|list| is_read(record, list)) {
        return Some((45, "the only list of the record holds messages".to_owned()));
    }
    // In a multiple-choice row, an option is the answer, so that the text is no conversation.
    let has_options = OPTIONS.iter().any(|key| has(record, key));
    let question = columns::names(ColumnMeaning::Question).find(|name| is_text(name))?;
    let Some(answer) = columns::names(ColumnMeaning::Answer).find(|name| is_text(name)) else {
        let reference = reference(record, question).filter(|_| !has_options)?;
        return Some((60, format!("the record has {question} as text and {reference}")));
    };
    (!has_options).then(|| (75, format!("the record has {question} and {answer} as text")))
}

/// The column that the answer to a question is graded against: a reference, a label that is a text, or an answer that is a number.
fn reference(record: &RecordSketch, question: &str) -> Option<&'static str> {
    // The pair `problem` and `solution` is too common a name to be a sign of anything.
    let is_truth = |name: &&str| has(record, name) && (*name, question) != ("solution", "problem");
    let is_label = || question == "prompt" && record.strings.iter().any(|(key, _)| key == "label");
    let is_single = || has(record, "answer") && !record.names.keys().any(|name| is_inside(name, "answer"));
    let reference = columns::REFERENCES.into_iter().find(is_truth);
    reference
        .or_else(|| is_label().then_some("label"))
        .or_else(|| is_single().then_some("answer"))
}

/// Whether a path of names leads into a field.
fn is_inside(path: &str, field: &str) -> bool {
    path.strip_prefix(field)
        .is_some_and(|rest| rest.starts_with(['.', '[']))
}

/// Whether the reader takes the conversation from this list, which may have any name. Columns with known names have precedence.
fn is_read(record: &RecordSketch, list: &str) -> bool {
    let columns = [
        ColumnMeaning::Question,
        ColumnMeaning::History,
        ColumnMeaning::Better,
    ]
    .into_iter();
    let mut columns = columns.flat_map(columns::names);
    let has_messages = record.names.keys().any(|name| name.starts_with("messages[]"));
    columns::meaning(list).is_some() || !has_messages && !columns.any(|name| has(record, name))
}

/// Whether no other format claims the elements of this list: it is no group chat or thread, and its messages have no blocks of a vendor.
fn is_unclaimed(record: &RecordSketch, list: &str) -> bool {
    let is_of_thread = record.names(&format!("{list}[].content[].text.value"));
    list != "conversation_list" && !is_of_thread && signs::of(record, &format!("{list}[]")).is_none()
}
