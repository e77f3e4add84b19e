//! The history of chats that aider appends to `.aider.chat.history.md`.
//!
//! The smallest example:
//!
//! ```text
//! # aider chat started at 2026-01-05 10:00:00
//!
//! > Main model: gpt-4o with diff edit format
//!
//! #### Where is the kite?
//!
//! In `shed.py`.
//!
//! > Tokens: 1.2k sent, 6 received. Cost: $0.01 message, $0.01 session.
//! ```
//!
//! aider ends each line of the user (`#### `) and each notice (`> `) with two blanks, and a notice of several
//! lines after its last: these blanks distinguish them from headings and quotations of the model, as long as
//! no editor removed all of them. Neighbouring lines are one message; the rest is the model's. A session is a
//! conversation; one without messages is joined to the next, and the last to the one before it. The head of a
//! session is a notice with its time, which is also the id of the conversation: messages have no ids. Numbers
//! of tokens may be rounded (`1.2k`), and are the usage of the answer before them.
//!
//! The file's name begins with a full stop: searching a folder does not find it, so it has to be named.

use std::ops::Range;

use chatmill_diag::{Finding, Limits, codes};
use chatmill_intake::{Framing, Sketch};
use chatmill_model::{Conversation, FormatTraits, Message, Part, Role, Scene};
use jiff::civil::DateTime;

use crate::frame::{FrameView, Reading};
use crate::grammar::usage::{self, CountedTokens};
use crate::layout::{Turns, text::TextReader};
use crate::rust_format::{Read, RustFormat};
use crate::source::About;

static ABOUT: About = About {
    id: "aider-history",
    title: "aider's chat history",
    specification: "Aider-AI/aider, aider/io.py, versions 0.30 to 0.86",
    verified: "aider 0.86, 2026-11",
    shapes: &["session"],
    carries: "what the user and the model say, notices, models, usage, versions, times of sessions without a zone",
    traits: FormatTraits::USUAL,
};

/// Begins a session.
const SESSION: &str = "# aider chat started at ";

const LINES: &str = "`# aider chat started at 2026-01-05 10:00:00`";

/// The end of what aider itself writes: two blanks.
const END: &str = "  ";

/// The source `aider-history`.
pub static AIDER_HISTORY: RustFormat = RustFormat {
    lines: Some(LINES),
    message_path: Some(|_| Some("$.text".to_owned())),
    ..RustFormat::of(&ABOUT, recognise, Read::Stored(read))
};

fn recognise(sketch: &Sketch) -> Option<(u8, Vec<String>)> {
    let mut lines = sketch.records.iter().flat_map(|record| &record.starts);
    let is_ours = sketch.framing == Framing::Text && lines.any(|(_, line)| line.starts_with(SESSION));
    is_ours.then(|| (96, vec!["a line is the head of an aider chat".to_owned()]))
}

/// The speaker of the following lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LineSpeaker {
    /// No speaker is known: lines before the first mark.
    Unknown,
    /// The head of a session.
    Session,
    User,
    Model,
    Aider,
}

/// Lines of one speaker.
struct ChatBlock<'t> {
    speaker: LineSpeaker,
    /// The lines without their prefixes.
    lines: Vec<&'t str>,
    /// The bytes of the lines in the text.
    span: Range<usize>,
}

fn read(frame: FrameView<'_>, limits: &Limits) -> Result<Reading, Box<Finding>> {
    let (mut reader, value, text) = TextReader::open(frame, limits)?;
    let blocks = blocks(&text);
    if blocks.iter().all(|block| block.speaker == LineSpeaker::Unknown) {
        let text = format!("no line of the text is one of aider's, as {LINES}");
        return Err(frame.error(&codes::WRONG_TYPE, text, "$.text", value));
    }
    let mut readings = Vec::new();
    for session in sessions(&blocks) {
        frame.bound(
            ("the session", session.len(), "messages"),
            "$.text",
            value,
            limits,
        )?;
        readings.push(conversation(&mut reader, session));
    }
    let mut readings = readings.into_iter();
    let mut first = readings.next().unwrap_or_default();
    first.also = readings.collect();
    Ok(first)
}

/// Divides a text into blocks of lines with the same speaker.
fn blocks(text: &str) -> Vec<ChatBlock<'_>> {
    let is_aider = |line: &str| line.starts_with("#### ") || line.starts_with("> ");
    // An editor that strips trailing blanks strips all of them: one line that still has them shows that the
    // marks can be trusted.
    let has_ends = text.lines().any(|line| is_aider(line) && line.ends_with(END));
    let ends = |line: &str| !has_ends || line.ends_with(END);
    let mut blocks: Vec<ChatBlock<'_>> = Vec::new();
    // Whether the last block may go on, and whether it is a notice that has not ended.
    let (mut goes_on, mut is_open) = (false, false);
    let mut at = 0;
    for whole in text.split_inclusive('\n') {
        let start = at;
        at += whole.len();
        let line = whole.trim_end_matches(['\n', '\r']);
        let last = blocks.last().map_or(LineSpeaker::Unknown, |block| block.speaker);
        let is_model = last == LineSpeaker::Model;
        let may_begin = || !is_model || ends_soon(text.get(start..).unwrap_or_default());
        let (speaker, own) = if let Some(time) = line.strip_prefix(SESSION) {
            goes_on = false;
            (LineSpeaker::Session, time)
        } else if let Some(own) = line.strip_prefix("#### ").filter(|_| ends(line)) {
            (LineSpeaker::User, own.strip_suffix(END).unwrap_or(own))
        } else if let Some(own) = line
            .strip_prefix("> ")
            .filter(|_| is_open || ends(line) || may_begin())
        {
            (LineSpeaker::Aider, own.strip_suffix(END).unwrap_or(own))
        } else if is_open {
            (LineSpeaker::Aider, line.strip_suffix(END).unwrap_or(line))
        } else if line.trim().is_empty()
            && (blocks.is_empty() || !matches!(last, LineSpeaker::Model | LineSpeaker::Unknown))
        {
            goes_on = false;
            continue;
        } else if last == LineSpeaker::Unknown {
            (LineSpeaker::Unknown, line)
        } else {
            (LineSpeaker::Model, line)
        };
        // A notice may contain blank lines, but a blank line is never its last.
        is_open = speaker == LineSpeaker::Aider && !(ends(line) && (!is_open || !line.trim().is_empty()));
        let span = start..start + line.len();
        match blocks
            .last_mut()
            .filter(|block| goes_on && block.speaker == speaker)
        {
            Some(block) => {
                block.lines.push(own);
                if !line.trim().is_empty() {
                    block.span.end = span.end;
                }
            }
            None => blocks.push(ChatBlock {
                speaker,
                lines: vec![own],
                span,
            }),
        }
        goes_on = speaker != LineSpeaker::Session;
    }
    blocks
}

/// The number of lines that are searched for the end of a notice that directly follows the model's text.
const PARAGRAPH: usize = 64;

/// Whether a paragraph ends with the two blanks of aider's own lines.
fn ends_soon(text: &str) -> bool {
    let lines = text.lines().take_while(|line| !line.is_empty());
    lines
        .take(PARAGRAPH)
        .last()
        .is_some_and(|line| line.ends_with(END))
}

/// The blocks of each conversation: of a session with messages, and of the empty sessions before it.
fn sessions<'b, 't>(blocks: &'b [ChatBlock<'t>]) -> Vec<&'b [ChatBlock<'t>]> {
    let is_turn = |block: &ChatBlock<'_>| matches!(block.speaker, LineSpeaker::User | LineSpeaker::Model);
    let mut sessions = Vec::new();
    let mut rest = blocks;
    while let Some(first) = rest.iter().position(is_turn) {
        let following = rest.iter().skip(first);
        let length = following
            .take_while(|block| block.speaker != LineSpeaker::Session)
            .count();
        let (session, left) = rest.split_at(first + length);
        let is_last = !left.iter().any(is_turn);
        sessions.push(if is_last { rest } else { session });
        rest = if is_last { &[] } else { left };
    }
    if sessions.is_empty() {
        sessions.push(blocks);
    }
    sessions
}

fn conversation(reader: &mut TextReader<'_, '_>, session: &[ChatBlock<'_>]) -> Reading {
    let mut conversation = Conversation {
        shape: "session",
        scene: Scene::Assistant,
        ..Conversation::default()
    };
    let mut model: Option<Box<str>> = None;
    for block in session {
        if block.speaker == LineSpeaker::Unknown {
            reader.outside(
                block.span.clone(),
                "the text begins inside a session: its speaker is not known",
            );
            continue;
        }
        let span = reader.written(block.span.clone());
        let text = block.lines.join("\n");
        let text = text.trim_matches('\n').trim_end();
        if block.speaker == LineSpeaker::Session {
            model = None;
            if reader.turns.list.rows.messages == 0 {
                conversation.source_id = Some(text.to_owned());
            }
            let iso = text.parse::<DateTime>().ok().map(|time| time.to_string());
            let timestamp = reader.time(iso.as_deref(), text, span.clone());
            let parts = vec![Part::Notice(format!("aider chat started at {text}"))];
            let message = reader.begin(Role::System, span);
            reader.notice(Message {
                timestamp,
                parts,
                ..message
            });
            continue;
        }
        let role = match block.speaker {
            LineSpeaker::User => Role::User,
            LineSpeaker::Model => Role::Assistant,
            _ => Role::System,
        };
        let message = reader.begin(role, span);
        if block.speaker == LineSpeaker::Aider {
            for line in &block.lines {
                aider_output(line.trim(), reader, &mut model, &mut conversation);
            }
            let parts = vec![Part::Notice(text.to_owned())];
            reader.notice(Message { parts, ..message });
            continue;
        }
        let sender = Some(reader.turns.roster.named(role, None));
        let own_model = model.clone().filter(|_| role == Role::Assistant);
        let text = (!text.is_empty()).then(|| Part::Text(text.to_owned()));
        let parts = text.into_iter().collect();
        reader.turns.list.push(Message {
            sender,
            parts,
            model: own_model,
            ..message
        });
    }
    let (frame, limits) = (reader.turns.list.frame, reader.turns.list.limits);
    let turns = std::mem::replace(&mut reader.turns, Turns::new(frame, limits));
    turns.finish(conversation)
}

/// Reads a notice about the model, its usage or aider itself.
fn aider_output(
    line: &str,
    reader: &mut TextReader<'_, '_>,
    model: &mut Option<Box<str>>,
    conversation: &mut Conversation,
) {
    let named = ["Main model: ", "Model: ", "Models: "]
        .iter()
        .find_map(|word| line.strip_prefix(word));
    if let Some((name, _)) = named.and_then(|named| named.split_once(" with ")) {
        // A lightning sign marks a model that may answer without a limit on its output.
        *model = Some(name.trim_end_matches('\u{26a1}').into());
    } else if let Some(version) = line.strip_prefix("Aider v") {
        conversation.format_version = Some(version.to_owned());
    } else if line.starts_with("Tokens: ") || line.starts_with("Cost: ") {
        let answer = reader
            .turns
            .list
            .messages
            .iter_mut()
            .rev()
            .find(|message| message.role == Role::Assistant);
        match answer.map(|answer| &mut answer.usage) {
            Some(usage @ None) => *usage = counted(line).usage(),
            // The cost is in a separate line if tokens were both read from a cache and written to one.
            Some(Some(usage)) if line.starts_with("Cost: ") => usage.cost = usage.cost.or(counted(line).cost),
            _ => {}
        }
    }
}

/// The counts and the cost in `Tokens: 2.1k sent, 9.3k cache write, 6 received. Cost: $0.05 message, $0.12 session.`
fn counted(line: &str) -> CountedTokens {
    let mut counted = CountedTokens {
        contains_cache: true,
        ..CountedTokens::default()
    };
    let line = line.replace(": ", ", ").replace(". ", ", ");
    for count in line.split(", ") {
        let (number, what) = count.split_once(' ').unwrap_or_default();
        match what.trim_end_matches('.') {
            "sent" => counted.input = tokens(number),
            "received" => counted.output = tokens(number),
            "cached" | "cache hit" => counted.cached = tokens(number),
            "cache write" => counted.written = tokens(number),
            "message" => counted.cost = number.strip_prefix('$').and_then(usage::money),
            _ => {}
        }
    }
    counted
}

/// A number of tokens: `5,244`, `2.4k`, `12k`.
fn tokens(number: &str) -> Option<u64> {
    let Some(thousands) = number.strip_suffix('k') else {
        return number.replace(',', "").parse().ok();
    };
    let (whole, tenth) = thousands.split_once('.').unwrap_or((thousands, "0"));
    let tenth: u64 = tenth.parse().ok().filter(|tenth| *tenth < 10)?;
    whole
        .parse::<u64>()
        .ok()?
        .checked_mul(1000)?
        .checked_add(tenth * 100)
}

#[cfg(test)]
mod tests {
    use super::*;
    use chatmill_model::Cost;

    #[test]
    fn counts_of_caches_and_the_cost_are_read() {
        let line = "Tokens: 2.1k sent, 9.3k cache write, 9.3k cache hit, 1,100 received. Cost: $0.05 message, $0.12 session.";
        let usage = counted(line).usage().unwrap();
        // Older versions count what was read from a cache in addition to what was sent.
        assert_eq!((usage.input, usage.output), (Some(20_700), Some(1_100)));
        assert_eq!(
            (usage.cached_input, usage.cache_write),
            (Some(9_300), Some(9_300))
        );
        assert!(usage.mismatch.is_some());
        assert_eq!(usage.cost, Cost::new(0.05));
        assert_eq!(
            counted("Cost: $0.0012 message, $0.12 session.").cost,
            Cost::new(0.0012)
        );
    }
}
