//! Unread values of a record, found by the marks that reading leaves on values; one implementation for all sources. The function `read` of
//! the crate calls [`unread_report`] after each reading, and returns the result with it.
//!
//! A value that a source used is read. A value that a source retained without using it, or never inspected, is unread: the former is in `extra`
//! already, the latter is added to `extra`. Both are reported by the path of their keys, unless the format lists the path as without meaning
//! ([`MeaninglessKeys`]) and the value has none: a list cannot silence words, times or JSON.

mod copies;
pub(crate) mod meaningless_keys;

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::ops::Range;

use chatmill_diag::codes;
use chatmill_intake::json::{Kind, Mark, Value, append_key};
use chatmill_model::{Conversation, Extra, Message, RawJson, bytes};
use rustc_hash::FxHashMap;

use crate::base::moment_of;
use crate::frame::{FrameView, Reading};
use crate::unread::copies::ReadLines;
pub(crate) use crate::unread::copies::has_meaning;
use crate::unread::meaningless_keys::{Meaning, MeaninglessKeys, Step};

/// A path of keys with unread values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unread {
    /// The keys from the record on; elements of lists are `[]`, and keys that are ids are `*`.
    pub path: String,
    /// The number of values.
    pub count: u64,
    /// The bytes of all values.
    pub bytes: u64,
    /// Whether any value contains words.
    pub has_words: bool,
    /// The span of the first value in the frame.
    pub first: Range<usize>,
}

/// Read and unread values of a frame.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UnreadReport {
    /// The unread paths, in the order of their first values.
    pub fields: Vec<Unread>,
    /// Bytes of read values with words.
    pub read_words: u64,
    /// Bytes of unread values with words that look like messages: with a role or an author near them, except in objects that the format allows
    /// arbitrary additions to.
    pub unread_words: u64,
}

/// Finds the unread values of a frame, and adds to `extra` those that are not there yet.
pub(crate) fn unread_report(
    meaningless_keys: &MeaninglessKeys,
    frame: &FrameView<'_>,
    reading: &mut Reading,
) -> UnreadReport {
    if reading.error.is_some() {
        return UnreadReport::default();
    }
    let reported = reported(reading, frame.start);
    let lines = ReadLines::of(frame.root());
    let times = times(reading);
    let mut walk = Walk {
        meaningless_keys,
        reported: &reported,
        lines: &lines,
        unread: Vec::new(),
        message_times: &times,
        known: HashMap::new(),
        path: String::new(),
        times: 0,
        read_words: 0,
        unread_words: 0,
        records: records(reading, frame.start),
        left: Vec::new(),
        string: None,
    };
    walk.visit(frame.root(), false, &OUTERMOST);
    for (record, key, value) in walk.left {
        if let Some(extra) = extra_of(reading, record) {
            extra.0.push((key, value));
        }
    }
    UnreadReport {
        fields: walk.unread,
        read_words: walk.read_words,
        unread_words: walk.unread_words,
    }
}

/// A record with extra fields: the index of a conversation in the reading, and the index of one of its messages; `None` for the conversation itself.
type RecordAt = (usize, Option<usize>);

/// The messages of a reading.
fn all(reading: &Reading) -> impl Iterator<Item = (RecordAt, &Message)> {
    let all = std::iter::once(reading).chain(&reading.also).enumerate();
    all.flat_map(|(at, reading)| {
        let conversation = reading.conversation.iter();
        let messages = conversation.flat_map(|conversation| &conversation.messages);
        messages
            .enumerate()
            .map(move |(index, message)| ((at, Some(index)), message))
    })
}

/// The messages of a reading by their bytes in the frame. If several messages have the same bytes, or several
/// conversations share a message, unread fields go to the first.
fn records(reading: &Reading, start: u64) -> FxHashMap<(usize, usize), RecordAt> {
    let mut records = FxHashMap::default();
    for (record, message) in all(reading) {
        let span = [message.origin.start, message.origin.end];
        let [begin, end] = span.map(|place| place.saturating_sub(start) as usize);
        records.entry((begin, end)).or_insert(record);
    }
    records
}

/// The time of a conversation, a step or a line adds nothing if it is within so many microseconds (an hour) before or after the time of a message:
/// programs write such a time when they open or close what contains the message. A time farther from all messages belongs to an event that no
/// message records.
const NEAR: u64 = 3_600_000_000;

/// The times of the messages of a reading, in order.
fn times(reading: &Reading) -> Vec<i64> {
    let times = all(reading).filter_map(|(_, message)| message.timestamp.as_ref()?.instant);
    let mut times: Vec<i64> = times.collect();
    times.sort_unstable();
    times
}

/// Whether a time is near one of these times, which are sorted.
fn is_near(time: i64, times: &[i64]) -> bool {
    let behind = times.partition_point(|one| *one < time);
    let next = [behind.checked_sub(1), Some(behind)].into_iter().flatten();
    let mut next = next.filter_map(|at| times.get(at));
    next.any(|one| one.abs_diff(time) <= NEAR)
}

/// The extra fields of a record.
fn extra_of(reading: &mut Reading, (at, message): RecordAt) -> Option<&mut Extra> {
    let reading = match at.checked_sub(1) {
        None => reading,
        Some(also) => reading.also.get_mut(also)?,
    };
    let conversation: &mut Conversation = reading.conversation.as_mut()?;
    match message {
        None => Some(&mut conversation.extra),
        Some(index) => conversation
            .messages
            .get_mut(index)
            .map(|message| &mut message.extra),
    }
}

/// Spans in the frame that a more specific finding reports, sorted: values of a wrong type, and rejected values.
fn reported(reading: &Reading, start: u64) -> Vec<Range<usize>> {
    let all = std::iter::once(reading).chain(&reading.also);
    let spans = all.flat_map(|reading| {
        let findings = reading.findings.iter();
        let findings = findings
            .filter(|finding| [&codes::WRONG_TYPE, &codes::UNKNOWN_MESSAGE_TYPE].contains(&finding.code));
        let findings = findings.filter_map(|finding| finding.span);
        findings.chain(reading.rejects.iter().map(|reject| reject.span))
    });
    let mut reported: Vec<Range<usize>> = spans
        .map(|span| span.start.saturating_sub(start) as usize..span.end.saturating_sub(start) as usize)
        .collect();
    reported.sort_by_key(|span| (span.start, span.end));
    reported
}

/// The position of a value, and facts that apply to everything inside it.
#[derive(Clone, Copy)]
struct Here<'p> {
    /// The last step to it, and the position of the value around it.
    step: Step<'p>,
    around: Option<&'p Here<'p>>,
    /// The number of steps of the path.
    depth: usize,
    /// Whether the format allows arbitrary additional fields there.
    is_free: bool,
    /// The object or list that contains it.
    holder: Option<Value<'p>>,
    /// The enclosing value that the format keeps as a whole, if there is one: unread fields inside are reported there, as one note.
    whole: Option<&'p Here<'p>>,
    /// The record that contains it, and the depth of that record.
    record: (RecordAt, usize),
}

/// The position of the whole frame.
const OUTERMOST: Here<'_> = Here {
    step: Step::Record,
    around: None,
    depth: 0,
    is_free: false,
    holder: None,
    whole: None,
    record: ((0, None), 0),
};

impl<'p> Here<'p> {
    /// The steps to it, the last one first.
    fn steps(&self) -> impl Iterator<Item = Step<'p>> + Clone {
        std::iter::successors(Some(self), |here| here.around).map(|here| here.step)
    }

    /// Whether the value may be the text of a message, or of a part in its list of parts.
    fn is_of_message(&self) -> bool {
        let around = std::iter::successors(Some(self), |here| here.around);
        let mut holders = around.take(PART_STEPS).filter_map(|here| here.holder);
        holders.any(has_author)
    }

    /// Writes the path to the value, as reports show it.
    fn report(&self, path: &mut String) {
        if let Some(around) = self.around {
            around.report(path);
        }
        match self.step {
            Step::Record => path.push('$'),
            Step::Key(key) => append_key(path, &shown(key)),
            Step::Id(_) => path.push_str(".*"),
            Step::Item(_) => path.push_str("[]"),
        }
    }

    /// Writes the path from a depth on, with names and indices unchanged.
    fn write(&self, from: usize, path: &mut String) {
        let Some(around) = self.around.filter(|_| self.depth > from) else {
            return;
        };
        around.write(from, path);
        match self.step {
            Step::Key(key) | Step::Id(key) => append_key(path, key),
            // Writing to a string cannot fail.
            Step::Item(index) => _ = write!(path, "[{index}]"),
            Step::Record => {}
        }
    }
}

/// The walk over the values of a record, in the order of their bytes.
struct Walk<'w> {
    meaningless_keys: &'w MeaninglessKeys,
    reported: &'w [Range<usize>],
    /// The lines that the source read: a listed key may repeat them.
    lines: &'w ReadLines<'w>,
    unread: Vec<Unread>,
    /// The times of the messages, in order.
    message_times: &'w [i64],
    /// The index in `unread` of each path.
    known: HashMap<String, usize>,
    /// The path that was reported last.
    path: String,
    /// The number of values that were reported, or are to be retained.
    times: u64,
    /// Bytes of read values with words.
    read_words: u64,
    /// Bytes of unread values with words that look like messages.
    unread_words: u64,
    /// The records that keep their unread values, by their bytes.
    records: FxHashMap<(usize, usize), RecordAt>,
    /// Values that no reader inspected: the record, the path inside, the value.
    left: Vec<(RecordAt, String, RawJson)>,
    /// The string that contains the current value, if the value is in the JSON of a string.
    string: Option<Range<usize>>,
}

impl Walk<'_> {
    /// Inspects a value. `is_inside`: all of the value around it is unread.
    fn visit(&mut self, value: Value<'_>, is_inside: bool, here: &Here<'_>) {
        let (own, kind) = (value.marked(), value.kind());
        if self.is_read(value) || self.is_reported(value) {
            return;
        }
        let is_container = matches!(kind, Kind::Array | Kind::Object);
        let documents = if own == Mark::Opened {
            value.opened()
        } else {
            Vec::new()
        };
        let begins = !is_inside
            && match own {
                Mark::Left => !(is_container && value.is_touched()),
                Mark::Opened => !documents.iter().any(|document| document.root().is_touched()),
                _ => false,
            };
        let whole = is_inside || begins || own == Mark::Retained;
        let times = self.times;
        if own == Mark::Opened {
            let outer = self.string.clone();
            self.string.get_or_insert(value.span());
            for document in documents {
                self.visit(document.root(), whole, here);
            }
            self.string = outer;
        } else if is_container {
            self.inside(value, whole, here);
        } else {
            self.report(value, here);
        }
        if begins && self.times > times {
            self.leave(value, here);
        }
    }

    fn inside(&mut self, value: Value<'_>, whole: bool, here: &Here<'_>) {
        let meanings = self.meaningless_keys.meanings(&here.steps());
        let span = value.span();
        let record = self.records.get(&(span.start, span.end));
        let record = record.filter(|_| self.string.is_none());
        let inside = Here {
            around: Some(here),
            depth: here.depth + 1,
            is_free: here.is_free || meanings.has(Meaning::Free),
            holder: Some(value),
            whole: here.whole.or(meanings.has(Meaning::Whole).then_some(here)),
            record: record.map_or(here.record, |record| (*record, here.depth)),
            ..*here
        };
        for (index, item) in value.items().enumerate() {
            let step = Step::Item(index);
            self.visit(item, whole, &Here { step, ..inside });
        }
        let is_map = meanings.has(Meaning::Map);
        for (key, field) in value.fields() {
            // Most fields are read, and need no position.
            if !self.is_read(field) {
                let step = if is_map { Step::Id(&key) } else { Step::Key(&key) };
                self.visit(field, whole, &Here { step, ..inside });
            }
        }
    }

    /// Whether a value is read or empty. A read value is counted if it contains words.
    fn is_read(&mut self, value: Value<'_>) -> bool {
        if value.marked() != Mark::Taken {
            return value.is_null() || value.written() == "\"\"";
        }
        let has_words = match value.kind() {
            Kind::String => holds_words(value.written()),
            Kind::Array | Kind::Object => true,
            _ => false,
        };
        if has_words {
            self.read_words += value.span().len() as u64;
        }
        true
    }

    /// Whether a more specific finding reports a value.
    fn is_reported(&self, value: Value<'_>) -> bool {
        let span = value.span();
        let found = self
            .reported
            .binary_search_by_key(&(span.start, span.end), |reported| (reported.start, reported.end));
        // Findings about fields in the JSON of a string have the span of the string, which contains other text as well.
        let is_whole = self.string.is_none() && value.marked() != Mark::Opened;
        value.marked() == Mark::Reported || is_whole && found.is_ok()
    }

    /// Collects a value that no reader inspected.
    fn leave(&mut self, value: Value<'_>, here: &Here<'_>) {
        let (record, depth) = here.record;
        let mut own = String::new();
        here.write(depth, &mut own);
        let key = own.strip_prefix('.').unwrap_or(&own).to_owned();
        self.left.push((record, key, RawJson(value.written().to_owned())));
    }

    /// Counts an unread value, unless its path and the value are without meaning.
    fn report(&mut self, value: Value<'_>, here: &Here<'_>) {
        if here.whole.is_none() {
            let meanings = self.meaningless_keys.meanings(&here.steps());
            let is_known = || moment_of(value).is_some_and(|time| is_near(time, self.message_times));
            if meanings.has(Meaning::Used) || meanings.has(Meaning::Time) && is_known() {
                self.times += 1;
                return;
            }
            let has_none = || value.string().is_none_or(|text| self.lines.repeat(&text));
            if meanings.has(Meaning::None) && has_none() {
                return;
            }
        }
        self.times += 1;
        self.path.clear();
        here.whole.unwrap_or(here).report(&mut self.path);
        let index = self.known.get(&self.path).copied().unwrap_or_else(|| {
            self.known.insert(self.path.clone(), self.unread.len());
            self.unread.push(Unread {
                path: self.path.clone(),
                count: 0,
                bytes: 0,
                has_words: false,
                first: self.string.clone().unwrap_or_else(|| value.span()),
            });
            self.unread.len() - 1
        });
        if let Some(unread) = self.unread.get_mut(index) {
            unread.count += 1;
            unread.bytes += value.span().len() as u64;
            if here.whole.is_none() && value.string().is_some_and(|text| holds_words(&text)) {
                unread.has_words = true;
                if !here.is_free && here.is_of_message() {
                    self.unread_words += value.span().len() as u64;
                }
            }
        }
    }
}

/// Steps from a message to the text of one of its parts: the list, the element, the text.
const PART_STEPS: usize = 3;

/// Whether an object names a speaker.
fn has_author(value: Value<'_>) -> bool {
    let keys = ["role", "author", "sender", "speaker", "from", "username"];
    value.kind() == Kind::Object
        && keys
            .iter()
            .any(|key| value.get(key).is_some_and(|author| !author.is_null()))
}

/// The most bytes of a name in paths: a longer name would be repeated in the paths of everything below it.
const MAX_NAME_BYTES: usize = 256;

/// A name as paths show it.
fn shown(name: &str) -> Cow<'_, str> {
    match name.char_indices().find(|(at, _)| *at >= MAX_NAME_BYTES) {
        Some((at, _)) => Cow::Owned(format!("{}…", name.get(..at).unwrap_or_default())),
        None => Cow::Borrowed(name),
    }
}

/// Whether a text has at least two words of letters. In scripts without spaces, each letter is a word.
pub(crate) fn holds_words(text: &str) -> bool {
    // The fast path, because most texts are ids, times and single words.
    if !bytes::any(text.as_bytes(), may_part_words) {
        return false;
    }
    let (mut seen, mut is_word) = (0, false);
    for byte in text.bytes() {
        match byte {
            b'\t'..=b'\r' | b' ' => is_word = false,
            _ if byte.is_ascii_alphabetic() && !is_word => {
                is_word = true;
                seen += 1;
                if seen > 1 {
                    return true;
                }
            }
            _ if byte.is_ascii() => {}
            _ => return holds_words_of_any_script(text),
        }
    }
    false
}

/// Whether a byte is a blank, or part of a character that may need no blanks between words.
const fn may_part_words(byte: u8) -> bool {
    (byte == b' ') | (byte.wrapping_sub(b'\t') < 5) | !byte.is_ascii()
}

fn holds_words_of_any_script(text: &str) -> bool {
    let mut words = text.split_whitespace().map(|word| {
        let is_word = |letter: &char| has_no_spaces(*letter) && letter.is_alphabetic();
        match word.chars().filter(is_word).take(2).count() {
            0 => usize::from(word.chars().any(char::is_alphabetic)),
            letters => letters,
        }
    });
    let mut seen = 0;
    words.any(|more| {
        seen += more;
        seen > 1
    })
}

/// Whether a letter is of a script that is written without spaces: Thai to Khmer, kana, Chinese characters.
fn has_no_spaces(letter: char) -> bool {
    matches!(letter, '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_name_is_shortened_in_a_path() {
        assert_eq!(shown("tide"), "tide");
        let long = "Hochwasserstände ".repeat(1_000);
        assert_eq!(shown(&long).len(), MAX_NAME_BYTES + "…".len());
    }

    #[test]
    fn a_time_is_near_where_a_message_is_at_most_an_hour_away() {
        let hour = 3_600_000_000;
        let messages = [0, 10 * hour];
        for near in [-hour, 0, 1, hour, 9 * hour, 11 * hour] {
            assert!(is_near(near, &messages), "{near}");
        }
        for far in [
            -hour - 1,
            hour + 1,
            5 * hour,
            9 * hour - 1,
            11 * hour + 1,
            i64::MAX,
            i64::MIN,
        ] {
            assert!(!is_near(far, &messages), "{far}");
        }
        assert!(!is_near(0, &[]));
    }

    #[test]
    fn a_text_of_two_words_holds_words() {
        for text in ["Which knot", "a 1 b", "a é", "你好", "マスト", "เรือ"] {
            assert!(holds_words(text), "{text}");
        }
        for text in [
            "",
            "knot",
            "2026-11-25 10:00",
            "a1b2-c3d4",
            "claude-opus",
            "好",
            "1 2 3 a",
        ] {
            assert!(!holds_words(text), "{text}");
        }
    }
}
