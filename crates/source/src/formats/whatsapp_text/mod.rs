//! A chat that `WhatsApp` exported as text.
//!
//! The smallest example, of two phones:
//!
//! ```text
//! 09.12.20, 23:55 - Ann: Who is coming?
//! [12/9/20, 11:56:01 PM] Bo: I am
//! ```
//!
//! A line without a date continues the message before it. The order of day and month depends on the phone's
//! language: the numbers of the whole chat decide it, then the sequence of its days, then the usual order,
//! with a finding ([`line`]). Times have no zone. A line without a name is a notice, and so is a text that
//! the app writes under the name of a person or of the group ([`words`]), or an event with a colon in
//! its text. There are no ids and no replies.

mod line;
mod words;

use std::collections::HashMap;
use std::ops::Range;

use chatmill_diag::{Finding, Limits, codes};
use chatmill_intake::{Framing, Sketch};
use chatmill_model::{Conversation, Extra, FormatTraits, Message, Part, RawJson, Role, Scene};

use crate::base::{media::upload, message_kind};
use crate::frame::{FrameView, Reading};
use crate::layout::text::TextReader;
use crate::rust_format::{Read, RustFormat};
use crate::source::About;
use line::{Begin, Evidence, Order};
use words::{MARKS, Mark};

static ABOUT: About = About {
    id: "whatsapp-text",
    title: "WhatsApp text",
    specification: "the text export of WhatsApp on Android and iPhones, as its files are",
    verified: "2026-11",
    shapes: &["android", "iphone"],
    carries: "names, text, files by name, edits as extra fields, events and deletions as notices, times without a zone",
    traits: FormatTraits::USUAL,
};

const LINES: &str = "`1/5/26, 10:00 - Ann: Hi`, `[05.01.2026, 10:00:00] Ann: Hi`";

/// The source `whatsapp-text`.
pub static WHATSAPP_TEXT: RustFormat = RustFormat {
    lines: Some(LINES),
    message_path: Some(|_| Some("$.text".to_owned())),
    ..RustFormat::of(&ABOUT, recognise, Read::Stored(read))
};

fn recognise(sketch: &Sketch) -> Option<(u8, Vec<String>)> {
    let mut lines = sketch.records.iter().flat_map(|record| &record.starts);
    let is_line = |line: &str| {
        let is_chat = |begin: Begin<'_>| {
            !is_logged(begin.rest) && (!begin.is_like_log() || words::is_about_encryption(begin.rest))
        };
        line::begin(line).is_some_and(is_chat)
    };
    let is_ours = sketch.framing == Framing::Text && lines.any(|(_, line)| is_line(line));
    is_ours.then(|| (90, vec!["lines begin with a date, a time and a name".to_owned()]))
}

/// Whether the text after a time is a program's log line, which has a level where a chat has a name.
fn is_logged(rest: &str) -> bool {
    let name = named(rest).map_or("", |(name, _)| name);
    LEVELS.contains(&name.rsplit('.').next().unwrap_or(name))
}

const LEVELS: [&str; 10] = [
    "TRACE",
    "DEBUG",
    "INFO",
    "NOTICE",
    "WARN",
    "WARNING",
    "ERROR",
    "CRITICAL",
    "FATAL",
    "EMERGENCY",
];

/// A message or a notice, with the lines that belong to it.
struct Entry<'t> {
    begin: Begin<'t>,
    /// The bytes of the message in the text.
    span: Range<usize>,
    /// Lines after the first.
    more: Vec<&'t str>,
    is_iphone: bool,
}

fn read(frame: FrameView<'_>, limits: &Limits) -> Result<Reading, Box<Finding>> {
    let (text_reader, value, text) = TextReader::open(frame, limits)?;
    let (before, entries) = entries(&text);
    if entries.is_empty() {
        let text = format!("no line of the text begins with a date and a time, as {LINES}");
        return Err(frame.error(&codes::WRONG_TYPE, text, "$.text", value));
    }
    frame.bound(("the chat", entries.len(), "messages"), "$.text", value, limits)?;
    let begins: Vec<Begin<'_>> = entries.iter().map(|entry| entry.begin.clone()).collect();
    let (order, evidence) = line::order(&begins);
    let mut reader = ChatReader {
        text: text_reader,
        speakers: Speakers::of(&entries),
        order,
    };
    if let Some(before) = before {
        let why = "the text begins inside a message, of which neither name nor time is known";
        reader.text.outside(before, why);
    }
    let is_iphone = entries.iter().any(|entry| entry.is_iphone);
    for entry in entries {
        reader.entry(&entry);
    }
    reader.report_doubtful_dates(evidence);
    Ok(reader.text.finish(Conversation {
        shape: if is_iphone { "iphone" } else { "android" },
        scene: Scene::GroupChat,
        ..Conversation::default()
    }))
}

/// The messages and notices of a text, and the bytes before the first, if they contain text.
fn entries(text: &str) -> (Option<Range<usize>>, Vec<Entry<'_>>) {
    let mut entries: Vec<Entry<'_>> = Vec::new();
    let mut before: Option<Range<usize>> = None;
    let mut at = 0;
    for whole in text.split_inclusive('\n') {
        let end = at + whole.len();
        let line = whole.trim_end_matches(['\n', '\r']);
        match (line::begin(line), entries.last_mut()) {
            (Some(begin), _) => entries.push(Entry {
                is_iphone: line.trim_start_matches(MARKS).starts_with('['),
                begin,
                span: at..at + line.len(),
                more: Vec::new(),
            }),
            (None, Some(entry)) => {
                entry.more.push(line);
                // Blank lines at the end are not part of the entry.
                if !line.trim().is_empty() {
                    entry.span.end = at + line.len();
                }
            }
            (None, None) if line.trim_matches(MARKS).trim().is_empty() => {}
            (None, None) => before = Some(before.map_or(at, |before| before.start)..at + line.len()),
        }
        at = end;
    }
    (before, entries)
}

/// The longest name at the beginning of an event: names of people and groups have at most 100 characters.
const MAX_NAME_BYTES: usize = 512;

/// Names, with the number of lines in which they seem to speak.
struct Speakers(HashMap<String, u32>);

impl Speakers {
    fn of(entries: &[Entry<'_>]) -> Self {
        let mut counts: HashMap<String, u32> = HashMap::new();
        for entry in entries {
            if let Some((name, _)) = named(entry.begin.rest) {
                *counts.entry(clean(name)).or_default() += 1;
            }
        }
        Self(counts)
    }

    /// Whether the text before a colon is a name. An event may contain a colon: it begins with the name of a
    /// speaker and continues as events do, or has an open quotation before the colon. A name that begins with
    /// another is a name.
    fn is_name(&self, name: &str) -> bool {
        let is_rare = self.0.get(name).is_some_and(|count| *count == 1);
        let ends = name.char_indices().filter(|(_, sign)| *sign == ' ');
        let mut ends = ends.take_while(|(end, _)| *end <= MAX_NAME_BYTES);
        let goes_on = ends.any(|(end, _)| {
            let is_event = name.get(end + 1..).is_some_and(words::is_event);
            is_event && name.get(..end).is_some_and(|other| self.0.contains_key(other))
        });
        let is_event = goes_on || words::opens_quotation(name);
        !(is_rare && is_event)
    }
}

/// Splits a line into name and text.
fn named(rest: &str) -> Option<(&str, &str)> {
    let split = rest.split_once(": ");
    split.or_else(|| rest.strip_suffix(':').map(|name| (name, "")))
}

/// A name without the marks of phones; `~` precedes the names of strangers.
fn clean(name: &str) -> String {
    let is_mark = |sign: char| MARKS.contains(&sign) || sign == '\u{202f}' || sign == '\u{a0}' || sign == ' ';
    let name = name.trim_matches(is_mark);
    let own = name
        .strip_prefix('~')
        .map_or(name, |name| name.trim_start_matches(is_mark));
    own.to_owned()
}

struct ChatReader<'d, 'r> {
    text: TextReader<'d, 'r>,
    speakers: Speakers,
    order: Order,
}

impl ChatReader<'_, '_> {
    fn entry(&mut self, entry: &Entry<'_>) {
        let span = self.text.written(entry.span.clone());
        let iso = entry.begin.iso(self.order);
        let timestamp = self.text.time(iso.as_deref(), entry.begin.raw, span.clone());
        let message = self.text.begin(Role::User, span);
        let named_line = named(entry.begin.rest)
            .map(|(name, body)| (clean(name), body))
            .filter(|(name, _)| !name.is_empty() && self.speakers.is_name(name));
        let body = named_line.as_ref().map_or(entry.begin.rest, |(_, body)| body);
        let is_marked = body.starts_with(MARKS);
        let mut text = body.trim_start_matches(MARKS).to_owned();
        for line in &entry.more {
            text.push('\n');
            text.push_str(line.trim_start_matches(MARKS));
        }
        let mut text = text.trim_end().to_owned();
        let mut extra = Extra::default();
        if words::take_edited(&mut text) {
            extra.0.push(("edited".to_owned(), RawJson("true".to_owned())));
        }
        let mark = words::mark(&text, is_marked);
        let is_notice = named_line.is_none() || matches!(mark, Some(Mark::Deleted | Mark::Notice));
        let parts = match mark {
            _ if is_notice => vec![Part::Notice(text)],
            Some(Mark::Media(kind, name)) => vec![upload(kind, name)],
            _ if text.is_empty() => Vec::new(),
            _ => with_files(text),
        };
        // The name before a notice may be that of the group.
        let named_line = named_line.filter(|_| mark_is_of_person(is_notice, is_marked, &parts));
        let sender = named_line.map(|(name, _)| self.text.turns.roster.named(Role::User, Some(&name)));
        self.text.turns.list.push(Message {
            sender,
            kind: message_kind(is_notice),
            timestamp,
            parts,
            extra,
            ..message
        });
    }

    /// Reports how the order of dates was found, if that is doubtful.
    fn report_doubtful_dates(&mut self, evidence: Evidence) {
        let order = match self.order {
            Order::DayFirst => "day first",
            Order::MonthFirst => "month first",
        };
        let text = match evidence {
            Evidence::Number | Evidence::Sequence => return,
            Evidence::Habit => {
                format!("no date shows whether the day or the month comes first: dates are read {order}")
            }
            Evidence::Contradicting => {
                format!("dates contradict one another: they are read {order}, as most of them are")
            }
        };
        let finding = Finding::new(&codes::TIMESTAMP_UNUSUAL, text);
        let span = self.text.turns.list.frame.root().span();
        let finding = self.text.turns.list.notes.spanned(finding, span);
        self.text.turns.list.notes.findings.push(finding);
    }
}

/// Whether the name of an entry is that of a participant: notices of the app also appear under the name of
/// the group.
fn mark_is_of_person(is_notice: bool, is_marked: bool, parts: &[Part]) -> bool {
    let is_deleted =
        |part: &Part| matches!(part, Part::Notice(text) if words::mark(text, false) == Some(Mark::Deleted));
    !is_notice || !is_marked || parts.iter().any(is_deleted)
}

/// A text with a file named in its first line, as captions have it.
fn with_files(text: String) -> Vec<Part> {
    let (first, caption) = text.split_once('\n').unwrap_or((&text, ""));
    match words::mark(first.trim_end_matches(MARKS), false) {
        Some(Mark::Media(kind, name)) if !caption.is_empty() => {
            vec![upload(kind, name), Part::Text(caption.to_owned())]
        }
        _ => vec![Part::Text(text)],
    }
}

#[cfg(test)]
mod tests {
    use chatmill_intake::RecordSketch;

    use super::*;

    fn is_recognised(lines: &[&str]) -> bool {
        let starts = lines.iter().map(|line| ("text".to_owned(), (*line).to_owned()));
        let record = RecordSketch {
            starts: starts.collect(),
            ..RecordSketch::default()
        };
        let sketch = Sketch {
            framing: Framing::Text,
            records: vec![record],
        };
        recognise(&sketch).is_some()
    }

    #[test]
    fn lines_that_programs_write_too_need_the_notice_of_a_chat() {
        let line = "2026-01-05 10:00 - Ann: hi";
        let notice = "2026-01-05 09:58 - Messages and calls are end-to-end encrypted.";
        assert!(!is_recognised(&[line]));
        assert!(is_recognised(&[notice, line]));
        assert!(is_recognised(&["2026-01-05, 10:00 - Ann: hi"]));
        assert!(is_recognised(&["[2026-01-05 10:00:00] Ann: hi"]));
        assert!(!is_recognised(&["05/01/2026 10:00 - ERROR: hi"]));
    }
}
