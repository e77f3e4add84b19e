//! `ChatML` transcripts: turns between control tokens, as a file of text or as the field `text` of a record.
//!
//! The smallest example:
//!
//! ```text
//! <|im_start|>user
//! Hi<|im_end|>
//! <|im_start|>assistant name=Bo
//! Hello<|im_end|>
//! ```
//!
//! A record is one such text: a whole file, a JSON string, or an object with `text`, as training files have it. The line of
//! the role may name the speaker. Control tokens and tags that were escaped by U+200B after their `<` are read back.
//! Reasoning, calls and results are written as Hermes and Qwen write them: `<think>`, `<tool_call>`, `<tool_response>`.
//! Tools that a system text describes stay text.

mod blocks;

use std::ops::Range;

use chatmill_diag::{Finding, Limits, codes};
use chatmill_intake::RecordSketch;
use chatmill_model::{Message, Part, Role};

use crate::frame::{FrameView, Reading};
use crate::grammar::sharegpt::tagged;
use crate::layout::{Names, RequestFields, best, text::TextReader};
use crate::rust_format::{Read, RustFormat};
use crate::source::{About, NO_TEXT_ARGUMENTS};
use blocks::{Block, OPENING, Opened};

static ABOUT: About = About {
    id: "chatml",
    title: "ChatML transcripts",
    specification: "OpenAI, Chat Markup Language, and the chat templates of Qwen and Hermes",
    verified: "2026-11",
    shapes: &["chatml"],
    carries: "roles, names, text, reasoning, calls and results by their order",
    traits: NO_TEXT_ARGUMENTS,
};

/// Fields next to the text are read like those next to the messages of a request.
const NAMES: Names<'_> = Names {
    turns: &["text"],
    system: None,
    tools: &["tools"],
};

/// The source `chatml`.
pub static CHATML: RustFormat = RustFormat {
    lines: Some("`<|im_start|>user`"),
    message_path: Some(|_| Some("$.text".to_owned())),
    ..RustFormat::of(&ABOUT, |sketch| best(sketch, recognise), Read::Thoughts(read))
};

fn recognise(record: &RecordSketch) -> Option<(u8, String)> {
    let mut texts = record.strings.iter().chain(&record.starts);
    // For a text file, this is its first line.
    let text = texts.find(|(field, _)| matches!(field.as_str(), "text" | ""));
    let is_transcript = text.is_some_and(|(_, text)| text.trim_start().starts_with(OPENING));
    is_transcript.then(|| (95, "a text starts with <|im_start|>".to_owned()))
}

fn read(frame: FrameView<'_>, limits: &Limits) -> Result<Reading, Box<Finding>> {
    let (mut reader, value, text) = TextReader::open(frame, limits)?;
    let count = ("the conversation", text.matches(OPENING).count(), "messages");
    frame.bound(count, "$.text", value, limits)?;
    let beside = RequestFields::read(NAMES, frame.root(), limits, &mut reader.turns.list.notes);
    for block in blocks::cut(&text) {
        add(&mut reader, &text, block);
    }
    Ok(reader.finish(beside.conversation("chatml", frame)))
}

/// Makes a message of the next block of a transcript.
fn add(reader: &mut TextReader<'_, '_>, text: &str, block: Block) {
    match block {
        Block::Outside(range) => reader.outside(range, "the text is outside of the turns and has no speaker"),
        Block::Turn(turn) => {
            let span = reader.written(turn.span.clone());
            let inside = text.get(turn.inside.clone()).unwrap_or_default();
            let is_last = turn.span.end == text.len();
            // An open assistant turn at the end asks the model for an answer; it is no turn.
            if turn.is_closed || !is_last || !blocks::asks(inside) {
                read_turn(reader, inside, &turn, span);
            }
        }
    }
}

fn read_turn(reader: &mut TextReader<'_, '_>, inside: &str, turn: &Opened, span: Range<usize>) {
    let (line, body) = blocks::role_line(inside);
    let mut problems = Vec::new();
    let speaker = tagged::speaker(line, &mut problems);
    let role = speaker.role.unwrap_or(Role::User);
    let mut parts = tagged::parts(role, body, reader.turns.list.limits, &mut problems);
    if let Some(rest) = speaker.rest {
        parts.insert(0, Part::Text(rest));
    }
    if !turn.is_closed {
        let text = "the turn has no <|im_end|> and ends where the next begins, or the text does";
        problems.push(Finding::new(&codes::UNCLOSED_TURN, text));
    }
    let message = reader.begin(role, span.clone());
    let notes = &mut reader.turns.list.notes;
    for finding in problems {
        let finding = notes.spanned(finding.at_message(message.position, None, ""), span.clone());
        notes.findings.push(finding);
    }
    let only_answers = !parts.is_empty() && parts.iter().all(|part| matches!(part, Part::ToolResult(_)));
    let role = if role == Role::User && only_answers {
        Role::Tool
    } else {
        role
    };
    let sender = if role == Role::Tool {
        reader.turns.roster.answering(&parts)
    } else {
        reader.turns.roster.named(role, speaker.name.as_deref())
    };
    reader.turns.roster.calls(sender, &parts);
    reader.turns.list.push(Message {
        sender: Some(sender),
        source_type: speaker.word,
        role,
        parts,
        ..message
    });
}

#[cfg(test)]
mod tests;
