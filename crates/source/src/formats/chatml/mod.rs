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
//! A record is such a text alone: a whole file, a JSON string, or an object with `text`, as training files have it. The
//! line of the role may name the speaker. Control tokens and tags that were escaped by U+200B after their `<` are read back.
//! Reasoning, calls and results are written as Hermes and Qwen write them: `<think>`, `<tool_call>`, `<tool_response>`.
//! Tools that a system text describes stay text.

mod blocks;
mod turn;

use std::ops::Range;

use chatmill_diag::{Finding, Limits, codes};
use chatmill_intake::json::{Kind, Places, Value};
use chatmill_intake::{RecordSketch, Sketch};
use chatmill_model::{Message, Part, Role};

use crate::frame::{FrameView, Reading};
use crate::reader::{ListReader, Names, RequestFields, Roster, best, exceeds, reading, tools_of_vendor};
use crate::source::{About, NO_TEXT_ARGUMENTS, Source};
use blocks::{Block, OPENING, Opened};
pub(crate) use turn::parts;

/// The source `chatml`.
#[derive(Debug)]
pub struct Chatml;

static ABOUT: About = About {
    id: "chatml",
    title: "ChatML transcripts",
    specification: "OpenAI, Chat Markup Language, and the chat templates of Qwen and Hermes",
    shapes: &["chatml"],
    carries: "roles, names, text, reasoning, calls and results by their order",
    customs: NO_TEXT_ARGUMENTS,
};

/// What stands beside the text is read like what stands beside the turns of a request.
const NAMES: Names<'_> = Names {
    turns: &["text"],
    system: None,
    tools: &["tools"],
    define: tools_of_vendor,
};

impl Source for Chatml {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn recognise(&self, sketch: &Sketch) -> Option<(u8, Vec<String>)> {
        best(sketch, recognise)
    }

    fn read(&self, frame: &FrameView<'_>, limits: &Limits) -> Reading {
        reading(ABOUT.customs, read(*frame, limits))
    }

    fn message_path(&self, _index: u32) -> Option<String> {
        Some("$.text".to_owned())
    }
}

fn recognise(record: &RecordSketch) -> Option<(u8, String)> {
    let mut texts = record.strings.iter().chain(&record.starts);
    let is_transcript = texts
        .any(|(field, text)| matches!(field.as_str(), "text" | "") && text.trim_start().starts_with(OPENING));
    is_transcript.then(|| (95, "a text starts with <|im_start|>".to_owned()))
}

fn read(frame: FrameView<'_>, limits: &Limits) -> Result<Reading, Box<Finding>> {
    let value = transcript(frame)?;
    let text = value.as_str().unwrap_or_default();
    let count = text.matches(OPENING).count() as u64;
    if let Some(text) = exceeds(count, "the conversation", "messages", limits) {
        return Err(frame.fault(&codes::CONVERSATION_TOO_LARGE, text, "$.text", value));
    }
    let raw = value.raw();
    let inside = raw.get(1..raw.len().saturating_sub(1)).unwrap_or_default();
    let mut reader = Reader {
        list: ListReader::new(frame, limits),
        start: value.span().start + 1,
        places: Places::new(inside.as_bytes()),
        roster: Roster::default(),
    };
    let beside = RequestFields::read(NAMES, frame.root(), limits, &mut reader.list.notes);
    for block in blocks::cut(&text) {
        reader.add(&text, block);
    }
    let Reader { list, roster, .. } = reader;
    Ok(list.finish(beside.conversation((ABOUT.id, "chatml"), frame, roster.participants)))
}

/// The string that is the transcript.
fn transcript(frame: FrameView<'_>) -> Result<Value<'_>, Box<Finding>> {
    let root = frame.root();
    if root.kind() == Kind::String {
        return Ok(root);
    }
    let mut texts = root.fields().filter(|(key, _)| key == "text");
    let (code, text, value) = match (texts.next(), texts.next()) {
        (None, _) => (
            &codes::MISSING_FIELD,
            "the record is neither a text nor an object with one",
            root,
        ),
        (Some((_, text)), Some(_)) => (
            &codes::DUPLICATE_KEY,
            "text stands more than once in the record",
            text,
        ),
        (Some((_, text)), None) if text.kind() != Kind::String => {
            (&codes::WRONG_TYPE, "text is not a string", text)
        }
        (Some((_, text)), None) => return Ok(text),
    };
    Err(frame.fault(code, text, "$.text", value))
}

/// Makes messages of the blocks of one transcript, in order.
struct Reader<'d, 'r> {
    list: ListReader<'d, 'r>,
    /// Where the inside of the string begins in the frame.
    start: usize,
    /// Leads from the text to the string that says it.
    places: Places<'d>,
    roster: Roster,
}

impl Reader<'_, '_> {
    fn add(&mut self, text: &str, block: Block) {
        let span = self.written(block.span());
        match block {
            Block::Outside(_) => {
                self.list.rows.rows += 1;
                let text = "text stands outside of the turns and is nobody's";
                let finding = Finding::new(&codes::TEXT_OUTSIDE_TURNS, text);
                self.list.reject(span, finding.at_path("$.text"));
            }
            Block::Turn(turn) => {
                let inside = text.get(turn.inside.clone()).unwrap_or_default();
                let is_last = turn.span.end == text.len();
                // What asks the model for an answer is not a turn.
                if turn.is_closed || !is_last || !blocks::asks(inside) {
                    self.turn(inside, &turn, span);
                }
            }
        }
    }

    /// The bytes of the frame that say a stretch of the text.
    fn written(&mut self, said: Range<usize>) -> Range<usize> {
        let start = self.start + self.places.written(said.start);
        start..self.start + self.places.written(said.end)
    }

    fn turn(&mut self, inside: &str, turn: &Opened, span: Range<usize>) {
        self.list.rows.rows += 1;
        let (line, body) = blocks::role_line(inside);
        let mut faults = Vec::new();
        let speaker = turn::speaker(line, &mut faults);
        let role = speaker.role.unwrap_or(Role::User);
        let mut parts = parts(role, body, self.list.limits, &mut faults);
        if let Some(rest) = speaker.rest {
            parts.insert(0, Part::Text(rest));
        }
        if !turn.is_closed {
            let text = "the turn has no <|im_end|> and ends where the next begins, or the text does";
            faults.push(Finding::new(&codes::UNCLOSED_TURN, text));
        }
        let position = self.list.messages.len() as u32;
        let notes = &mut self.list.notes;
        for finding in faults {
            let finding = notes.spanned(finding.at_message(position, None, ""), span.clone());
            notes.findings.push(finding);
        }
        self.push(role, speaker.name.as_deref(), speaker.word, parts, span);
    }

    fn push(
        &mut self,
        role: Role,
        name: Option<&str>,
        word: Option<String>,
        parts: Vec<Part>,
        span: Range<usize>,
    ) {
        let only_answers = !parts.is_empty() && parts.iter().all(|part| matches!(part, Part::ToolResult(_)));
        let role = if role == Role::User && only_answers {
            Role::Tool
        } else {
            role
        };
        let sender = if role == Role::Tool {
            self.roster.answering(&parts)
        } else {
            self.roster.named(role, name)
        };
        self.roster.calls(sender, &parts);
        let index = self.list.messages.len() as u32;
        self.list.push(Message {
            sender: Some(sender),
            source_type: word,
            parts,
            ..self.list.message(role, span, index)
        });
    }
}

#[cfg(test)]
mod tests;
