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
//! line of the role may name the speaker. Control tokens and tags that were escaped by U+200B behind their `<` are read back.
//! Reasoning, calls and results are written as Hermes and Qwen write them: `<think>`, `<tool_call>`, `<tool_response>`.
//! Tools that a system text describes stay text.

mod blocks;
mod said;

use std::ops::Range;

use chatmill_diag::{Code, Finding, Limits, Reject, RejectLevel, Severity, Span, codes};
use chatmill_intake::json::{Kind, Places, Value};
use chatmill_intake::{RecordSketch, Sketch};
use chatmill_model::{Customs, Message, MessageKind, MessageOrigin, Part, Role, TextArguments, Unstated};

use crate::notes::Notes;
use crate::openai_messages::speakers::Speakers;
use crate::requests::{Beside, Form, Said, best};
use crate::{About, Evidence, FrameView, Reading, RowLedger, Source};
use blocks::{Block, OPENING, Opened};

/// The source `chatml`.
#[derive(Debug)]
pub struct Chatml;

static ABOUT: About = About {
    title: "ChatML transcripts",
    specification: "OpenAI, Chat Markup Language, and the chat templates of Qwen and Hermes",
    shapes: &["chatml"],
    carries: "roles, names, text, reasoning, calls and results by their order",
    customs: Customs {
        text_arguments: TextArguments::None,
        ..Customs::USUAL
    },
};

/// What stands beside the text is read like what stands beside the turns of a request.
static FORM: Form = Form {
    source: "chatml",
    shape: "chatml",
    list: "text",
    may_be_text: true,
    system: None,
    tools: "tools",
    answer: None,
    known: &[],
    turn: |_, _, _| Said::default(),
};

impl Source for Chatml {
    fn id(&self) -> &'static str {
        FORM.source
    }

    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn detect(&self, sketch: &Sketch) -> Option<Evidence> {
        best(FORM.source, sketch, recognise)
    }

    fn read(&self, frame: &FrameView<'_>, limits: &Limits) -> Reading {
        Reading::of(&ABOUT, read(*frame, limits))
    }

    fn message_path(&self, _index: u32) -> String {
        "$.text".to_owned()
    }
}

fn recognise(record: &RecordSketch) -> Option<(u8, String)> {
    let mut texts = record.strings.iter().chain(&record.starts);
    let is_transcript = texts
        .any(|(field, text)| matches!(field.as_str(), "text" | "") && text.trim_start().starts_with(OPENING));
    is_transcript.then(|| (95, "a text starts with <|im_start|>".to_owned()))
}

fn read(frame: FrameView<'_>, limits: &Limits) -> Result<Reading, Box<Finding>> {
    let mut notes = Notes::new(frame.start);
    let root = frame.document.root();
    let value = transcript(root, &notes)?;
    let text = value.as_str().unwrap_or_default();
    let (count, limit) = (
        text.matches(OPENING).count() as u64,
        limits.messages_per_conversation,
    );
    if count > limit {
        let text = format!("the conversation has {count} messages, the limit is {limit}");
        return Err(fault(&notes, &codes::CONVERSATION_TOO_LARGE, text, value));
    }
    let beside = Beside::read(&FORM, root, limits, &mut notes);
    let raw = value.raw();
    let mut reader = Reader {
        frame,
        limits,
        start: value.span().start + 1,
        places: Places::new(
            raw.get(1..raw.len().saturating_sub(1))
                .unwrap_or_default()
                .as_bytes(),
        ),
        speakers: Speakers::default(),
        notes,
        rejects: Vec::new(),
        messages: Vec::new(),
        rows: RowLedger::default(),
    };
    for block in blocks::cut(&text) {
        reader.add(&text, block);
    }
    Ok(Reading {
        conversation: Some(beside.conversation(
            &FORM,
            frame.key,
            reader.speakers.participants,
            reader.messages,
        )),
        fault: None,
        findings: reader.notes.findings,
        rejects: reader.rejects,
        rows: reader.rows,
    })
}

/// The string that is the transcript.
fn transcript<'d>(root: Value<'d>, notes: &Notes) -> Result<Value<'d>, Box<Finding>> {
    if root.kind() == Kind::String {
        return Ok(root);
    }
    let mut texts = root.fields().filter(|(key, _)| key == FORM.list);
    let Some((_, text)) = texts.next() else {
        let message = "the record is neither a text nor an object with one";
        return Err(fault(notes, &codes::MISSING_FIELD, message.to_owned(), root));
    };
    if texts.next().is_some() {
        let message = "text stands more than once in the record";
        return Err(fault(notes, &codes::DUPLICATE_KEY, message.to_owned(), text));
    }
    if text.kind() != Kind::String {
        return Err(fault(
            notes,
            &codes::WRONG_TYPE,
            "text is no string".to_owned(),
            text,
        ));
    }
    Ok(text)
}

fn fault(notes: &Notes, code: &'static Code, text: String, value: Value<'_>) -> Box<Finding> {
    let finding = Finding::new(code, text).with_severity(Severity::Error);
    Box::new(notes.spanned(finding.at_path("$.text"), value.span()))
}

/// Makes messages of the blocks of one transcript, in order.
struct Reader<'d, 'r> {
    frame: FrameView<'d>,
    limits: &'r Limits,
    /// Where the inside of the string begins in the frame.
    start: usize,
    /// Leads from the text to the string that says it.
    places: Places<'d>,
    speakers: Speakers,
    notes: Notes,
    rejects: Vec<Reject>,
    messages: Vec<Message>,
    rows: RowLedger,
}

impl Reader<'_, '_> {
    fn add(&mut self, text: &str, block: Block) {
        let span = self.written(block.span());
        match block {
            Block::Outside(_) => {
                self.rows.rows += 1;
                self.reject(span);
            }
            Block::Turn(turn) => {
                let inside = text.get(turn.inside.clone()).unwrap_or_default();
                let is_last = turn.span.end == text.len();
                // What asks the model for an answer is no turn.
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
        self.rows.rows += 1;
        let (line, body) = blocks::role_line(inside);
        let mut faults = Vec::new();
        let speaker = said::speaker(line, &mut faults);
        let role = speaker.role.unwrap_or(Role::User);
        let mut parts = said::parts(role, body, self.limits, &mut faults);
        if let Some(rest) = speaker.rest {
            parts.insert(0, Part::Text(rest));
        }
        if !turn.is_closed {
            let text = "the turn has no <|im_end|> and ends where the next begins, or the text does";
            faults.push(Finding::new(&codes::UNCLOSED_TURN, text));
        }
        let position = self.messages.len() as u32;
        for finding in faults {
            let finding = finding.at_message(position, None, "");
            self.notes
                .findings
                .push(self.notes.spanned(finding, span.clone()));
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
            self.speakers.answered(None)
        } else {
            self.speakers.of(role, name)
        };
        if parts.iter().any(|part| matches!(part, Part::ToolCall(_))) {
            self.speakers.calls(sender, None);
        }
        self.rows.messages += 1;
        let index = self.messages.len() as u32;
        self.messages.push(Message {
            id: None,
            unstated: Unstated::default(),
            external_id: None,
            position: index,
            sender: Some(sender),
            sender_name: None,
            role,
            kind: MessageKind::Message,
            source_type: word,
            timestamp: None,
            parts,
            references: Vec::new(),
            mentions: Vec::new(),
            weight: None,
            extra: chatmill_model::Extra::default(),
            origin: MessageOrigin {
                start: self.frame.start + span.start as u64,
                end: self.frame.start + span.end as u64,
                index,
            },
        });
    }

    /// Rejects text that stands in no turn.
    fn reject(&mut self, span: Range<usize>) {
        let text = "text stands outside of the turns and is nobody's";
        let finding = Finding::new(&codes::TEXT_OUTSIDE_TURNS, text).with_severity(Severity::Error);
        let bytes = self.frame.bytes.get(span.clone()).unwrap_or_default();
        let head = usize::try_from(self.limits.reject_head).unwrap_or(usize::MAX);
        self.rows.rejected += 1;
        self.rejects.push(Reject {
            level: RejectLevel::Message,
            span: Span {
                start: self.frame.start + span.start as u64,
                end: self.frame.start + span.end as u64,
            },
            hash: blake3::hash(bytes).to_hex().to_string(),
            head: bytes.get(..head).unwrap_or(bytes).to_vec(),
            finding: self.notes.spanned(finding.at_path("$.text"), span),
        });
    }
}

#[cfg(test)]
mod tests;
