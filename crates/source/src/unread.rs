//! What the reading of a record passed over: found by the marks that reading leaves on its values, for all sources alike.
//!
//! A value that a source took is read, whatever it made of it. What it kept without a use for it, and what it never looked at,
//! is unread: the one stands in `extra` already, the other is put there. Both are told, by the path of their keys, unless the
//! format lists the path as without meaning ([`Silence`]).

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::ops::Range;

use chatmill_diag::{codes, cut};
use chatmill_intake::json::{Kind, Mark, Value, append_key};
use chatmill_model::{Conversation, Extra, Message, RawJson};

use crate::frame::{FrameView, Reading};
use crate::reader::raw;
use crate::silence::Silence;

/// A path of keys at which a record holds what nobody reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unread {
    /// The keys from the record on; places in lists are `[]`, and keys that are ids are `*`.
    pub path: String,
    /// How often something stands there.
    pub count: u64,
    /// How many bytes all of it has.
    pub bytes: u64,
    /// Whether any of it holds words.
    pub has_words: bool,
    /// The bytes of the first in the frame.
    pub first: Range<usize>,
}

/// What the reading of a frame took and what it left.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Leftovers {
    /// What it left, in the order of the first bytes.
    pub fields: Vec<Unread>,
    /// Bytes of what it took, as far as that holds words.
    pub read_words: u64,
    /// Bytes of what it left, as far as that holds words and does not stand where the format keeps whatever somebody adds.
    pub unread_words: u64,
}

/// Finds what the reading of a frame passed over, and puts into `extra` what does not stand there yet.
pub(crate) fn leftovers(silence: &Silence, frame: &FrameView<'_>, reading: &mut Reading) -> Leftovers {
    if reading.fault.is_some() {
        return Leftovers::default();
    }
    let told = told(reading, frame.start);
    let mut walk = Walk::new(silence, &told);
    walk.visit(frame.root(), false);
    let leftovers = Leftovers {
        fields: std::mem::take(&mut walk.unread),
        read_words: walk.read_words,
        unread_words: walk.unread_words,
    };
    if walk.has_left {
        let mut walk = Walk::new(walk.silence, &told);
        walk.records = Some(records(reading, frame.start));
        walk.visit(frame.root(), false);
        for (record, key, value) in walk.left {
            if let Some(extra) = extra_of(reading, record) {
                extra.0.push((key, value));
            }
        }
    }
    leftovers
}

/// A record that has further fields: which conversation of the reading, and which of its messages; none for itself.
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

/// The messages of a reading by their bytes in the frame. Of several messages in the same bytes, and of several conversations with
/// the same message, the first has what is left.
fn records(reading: &Reading, start: u64) -> HashMap<(usize, usize), RecordAt> {
    let mut records = HashMap::new();
    for (record, message) in all(reading) {
        let span = [message.origin.start, message.origin.end];
        let [begin, end] = span.map(|place| place.saturating_sub(start) as usize);
        records.entry((begin, end)).or_insert(record);
    }
    records
}

/// The further fields of a record.
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

/// Bytes in the frame that a more particular finding speaks of, in order: what is of another type, or of none, and what was
/// rejected.
fn told(reading: &Reading, start: u64) -> Vec<Range<usize>> {
    let all = std::iter::once(reading).chain(&reading.also);
    let spans = all.flat_map(|reading| {
        let findings = reading.findings.iter();
        let findings = findings
            .filter(|finding| [&codes::WRONG_TYPE, &codes::UNKNOWN_MESSAGE_TYPE].contains(&finding.code));
        let findings = findings.filter_map(|finding| finding.span);
        findings.chain(reading.rejects.iter().map(|reject| reject.span))
    });
    let mut told: Vec<Range<usize>> = spans
        .map(|span| span.start.saturating_sub(start) as usize..span.end.saturating_sub(start) as usize)
        .collect();
    told.sort_by_key(|span| (span.start, span.end));
    told
}

/// The walk over the values of a record, in the order of their bytes.
struct Walk<'w> {
    silence: &'w Silence,
    told: &'w [Range<usize>],
    unread: Vec<Unread>,
    /// Where in `unread` a path stands.
    known: HashMap<String, usize>,
    /// Paths that mean nothing, or not: whether they do, and whether what stands there is kept all the same. Most stand in every message.
    silent: HashMap<String, (bool, bool)>,
    /// How often something was told, or is to be kept.
    times: u64,
    /// Bytes of what was taken, as far as that holds words.
    read_words: u64,
    /// The same of what was left, but for where the format keeps whatever somebody adds.
    unread_words: u64,
    /// Whether the value at hand stands there.
    is_free: bool,
    /// How much of the path leads to what the format keeps as a whole, where the value at hand stands in such: it is told there, as a note.
    whole: Option<usize>,
    /// Whether something was told that nobody looked at, and that stands in no `extra` yet.
    has_left: bool,
    /// The path of the value at hand, as it is told.
    path: String,
    /// Whose values are sought, by their bytes; nobody's where only paths are told.
    records: Option<HashMap<(usize, usize), RecordAt>>,
    /// The record around the value at hand, and where in `place` its own path ends.
    around: (RecordAt, usize),
    /// The path of the value at hand, as it is.
    place: String,
    /// What nobody looked at, each as a whole: its record and its path in there.
    left: Vec<(RecordAt, String, RawJson)>,
    /// The string around the value at hand, where that stands in the JSON of one.
    string: Option<Range<usize>>,
}

impl<'w> Walk<'w> {
    fn new(silence: &'w Silence, told: &'w [Range<usize>]) -> Self {
        Self {
            silence,
            told,
            unread: Vec::new(),
            known: HashMap::new(),
            silent: HashMap::new(),
            times: 0,
            read_words: 0,
            unread_words: 0,
            is_free: false,
            whole: None,
            has_left: false,
            path: "$".to_owned(),
            records: None,
            around: ((0, None), 0),
            place: String::new(),
            left: Vec::new(),
            string: None,
        }
    }

    /// Looks at a value. `is_inside` says that all of what stands around it is unread.
    fn visit(&mut self, value: Value<'_>, is_inside: bool) {
        let (own, kind) = (value.marked(), value.kind());
        if self.is_read(value) || self.is_told(value) {
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
        let whole = is_inside || begins || own == Mark::Kept;
        let times = self.times;
        if own == Mark::Opened {
            let outer = self.string.clone();
            self.string.get_or_insert(value.span());
            for document in documents {
                self.visit(document.root(), whole);
            }
            self.string = outer;
        } else if is_container {
            self.inside(value, kind, whole);
        } else {
            self.tell(value);
        }
        if begins && self.times > times {
            self.leave(value);
        }
    }

    fn inside(&mut self, value: Value<'_>, kind: Kind, whole: bool) {
        let (length, place, around) = (self.path.len(), self.place.len(), self.around);
        let (was_free, was_whole) = (self.is_free, self.whole);
        self.is_free |= self.silence.is_free(&self.path);
        if self.whole.is_none() && self.silence.keeps_whole(&self.path) {
            self.whole = Some(self.path.len());
        }
        let span = value.span();
        let records = self.records.as_ref().filter(|_| self.string.is_none());
        if let Some(record) = records.and_then(|records| records.get(&(span.start, span.end))) {
            self.around = (*record, place);
        }
        if kind == Kind::Array {
            self.path.push_str("[]");
            for (index, item) in value.items().enumerate() {
                if self.records.is_some() {
                    // Writing to a string cannot fail.
                    let _ = write!(self.place, "[{index}]");
                }
                self.visit(item, whole);
                self.place.truncate(place);
            }
        } else {
            let is_map = self.silence.is_map(&self.path);
            for (key, field) in value.fields() {
                // Most fields are read: they need no path.
                if self.is_read(field) {
                    continue;
                }
                if is_map {
                    self.path.push_str(".*");
                } else {
                    append_key(&mut self.path, &shown(&key));
                }
                if self.records.is_some() {
                    append_key(&mut self.place, &key);
                }
                self.visit(field, whole);
                self.path.truncate(length);
                self.place.truncate(place);
            }
        }
        self.path.truncate(length);
        self.is_free = was_free;
        self.whole = was_whole;
        self.around = around;
    }

    /// Whether a value is read, or there is nothing in it. What is read is counted where it holds words.
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

    /// Whether a more particular finding speaks of a value.
    fn is_told(&self, value: Value<'_>) -> bool {
        let span = value.span();
        let found = self
            .told
            .binary_search_by_key(&(span.start, span.end), |told| (told.start, told.end));
        // What is found in the JSON of a string is placed at the string, which holds more than that.
        let is_whole = self.string.is_none() && value.marked() != Mark::Opened;
        value.marked() == Mark::Told || is_whole && found.is_ok()
    }

    /// Remembers a value that nobody looked at.
    fn leave(&mut self, value: Value<'_>) {
        let (record, from) = self.around;
        self.has_left = true;
        if self.records.is_some() {
            let own = self.place.get(from..).unwrap_or_default();
            let key = own.strip_prefix('.').unwrap_or(own).to_owned();
            self.left.push((record, key, raw(value)));
        }
    }

    /// Counts a value that nobody reads, unless it is without meaning.
    fn tell(&mut self, value: Value<'_>) {
        if self.whole.is_none() {
            let known = self.silent.get(&self.path).copied();
            let (is_silent, is_kept) = known.unwrap_or_else(|| {
                let says = (self.silence.covers(&self.path), self.silence.keeps(&self.path));
                self.silent.insert(self.path.clone(), says);
                says
            });
            if is_silent {
                self.times += u64::from(is_kept);
                return;
            }
        }
        self.times += 1;
        let path = self
            .whole
            .map_or(self.path.as_str(), |end| cut::text(&self.path, 0..end));
        let index = self.known.get(path).copied().unwrap_or_else(|| {
            self.known.insert(path.to_owned(), self.unread.len());
            self.unread.push(Unread {
                path: path.to_owned(),
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
            if self.whole.is_none() && value.string().is_some_and(|text| holds_words(&text)) {
                unread.has_words = true;
                if !self.is_free {
                    self.unread_words += value.span().len() as u64;
                }
            }
        }
    }
}

/// Bytes of a name that are shown in paths: a longer one would stand in those of all that is below it.
const MAX_NAME_BYTES: usize = 256;

/// A name as paths show it.
fn shown(name: &str) -> Cow<'_, str> {
    match name.char_indices().find(|(at, _)| *at >= MAX_NAME_BYTES) {
        Some((at, _)) => Cow::Owned(format!("{}…", name.get(..at).unwrap_or_default())),
        None => Cow::Borrowed(name),
    }
}

/// Whether a text has at least two words, of letters. Where a script has no spaces, each letter is a word.
pub(crate) fn holds_words(text: &str) -> bool {
    let mut words = text.split_whitespace().map(|word| {
        let letters = word.chars().filter(|letter| letter.is_alphabetic());
        match letters.clone().filter(|letter| has_no_spaces(*letter)).count() {
            0 => usize::from(letters.clone().next().is_some()),
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
    fn a_long_name_is_shown_as_far_as_it_tells() {
        assert_eq!(shown("tide"), "tide");
        let long = "Hochwasserstände ".repeat(1_000);
        assert_eq!(shown(&long).len(), MAX_NAME_BYTES + "…".len());
    }

    #[test]
    fn a_text_of_two_words_holds_words() {
        for text in ["Which knot", "a 1 b", "你好", "マスト", "เรือ"] {
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
