//! What the reading of a record passed over: found by the marks that reading leaves on its values, for all sources alike.
//!
//! A value that a source took is read, whatever it made of it. What it kept without a use for it, and what it never looked at,
//! is unread: the one stands in `extra` already, the other is put there. Both are told, by the path of their keys, unless the
//! format lists the path as without meaning ([`Silence`]).

use std::collections::HashMap;
use std::fmt::Write as _;
use std::ops::Range;

use chatmill_diag::codes;
use chatmill_intake::json::{Kind, Mark, Value, append_key};
use chatmill_model::{Conversation, Extra};

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
}

/// Finds what the reading of a frame passed over, and puts into `extra` what does not stand there yet.
pub(crate) fn leftovers(source: &str, frame: &FrameView<'_>, reading: &mut Reading) -> Leftovers {
    if reading.fault.is_some() {
        return Leftovers::default();
    }
    let told = told(reading, frame.start);
    let mut walk = Walk::new(Silence::of(source), &told);
    walk.visit(frame.root(), None);
    let leftovers = Leftovers {
        fields: std::mem::take(&mut walk.unread),
        read_words: walk.read_words,
    };
    if walk.has_left {
        let mut walk = Walk::new(walk.silence, &told);
        walk.records = Some(records(reading, frame.start));
        walk.visit(frame.root(), None);
        for (record, key, value) in walk.left {
            if let Some(extra) = extra_of(reading, record) {
                extra.0.push((key, raw(value)));
            }
        }
    }
    leftovers
}

/// A record that has further fields: which conversation of the reading, and which of its messages; none for itself.
type RecordAt = (usize, Option<usize>);

/// The messages of a reading by their bytes in the frame.
fn records(reading: &Reading, start: u64) -> HashMap<(usize, usize), RecordAt> {
    let all = std::iter::once(reading).chain(&reading.also).enumerate();
    let messages = all.flat_map(|(at, reading)| {
        let messages = reading
            .conversation
            .iter()
            .flat_map(|conversation| &conversation.messages);
        messages.enumerate().map(move |(index, message)| {
            let origin = message.origin;
            let span = (
                origin.start.saturating_sub(start) as usize,
                origin.end.saturating_sub(start) as usize,
            );
            (span, (at, Some(index)))
        })
    });
    // Of several messages in the same bytes, and of several conversations with the same message, the first has what is left.
    let mut records = HashMap::new();
    for (span, record) in messages {
        records.entry(span).or_insert(record);
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

/// Bytes in the frame that a more particular finding speaks of, in order: what is of a kind or a type that nobody knows, and what
/// was rejected.
fn told(reading: &Reading, start: u64) -> Vec<Range<usize>> {
    let particular = [
        &codes::UNKNOWN_MESSAGE_TYPE,
        &codes::UNKNOWN_META_KEY,
        &codes::WRONG_TYPE,
    ];
    let all = std::iter::once(reading).chain(&reading.also);
    let spans = all.flat_map(|reading| {
        let findings = reading.findings.iter();
        let findings = findings.filter(|finding| particular.contains(&finding.code));
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
struct Walk<'w, 'd> {
    silence: &'w Silence,
    told: &'w [Range<usize>],
    unread: Vec<Unread>,
    /// Where in `unread` a path stands.
    known: HashMap<String, usize>,
    /// How often something was told.
    times: u64,
    /// Bytes of what was taken, as far as that holds words.
    read_words: u64,
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
    left: Vec<(RecordAt, String, Value<'d>)>,
}

impl<'w, 'd> Walk<'w, 'd> {
    fn new(silence: &'w Silence, told: &'w [Range<usize>]) -> Self {
        Self {
            silence,
            told,
            unread: Vec::new(),
            known: HashMap::new(),
            times: 0,
            read_words: 0,
            has_left: false,
            path: "$".to_owned(),
            records: None,
            around: ((0, None), 0),
            place: String::new(),
            left: Vec::new(),
        }
    }

    /// Looks at a value. `whole` is what became of what stands around it, where all of that is unread.
    fn visit(&mut self, value: Value<'d>, whole: Option<Mark>) {
        let (own, kind, span) = (value.marked(), value.kind(), value.span());
        if self.is_read(value) || self.is_told(&span) {
            return;
        }
        let is_container = matches!(kind, Kind::Array | Kind::Object);
        let is_left = own == Mark::Left && !(is_container && value.is_touched());
        let begins = is_left && whole.is_none();
        let whole = whole.or(match own {
            Mark::Kept => Some(Mark::Kept),
            _ => is_left.then_some(Mark::Left),
        });
        let times = self.times;
        if is_container {
            self.inside(value, kind, whole);
        } else {
            self.tell(value);
        }
        if begins && self.times > times {
            self.leave(value);
        }
    }

    fn inside(&mut self, value: Value<'d>, kind: Kind, whole: Option<Mark>) {
        let (length, place, around) = (self.path.len(), self.place.len(), self.around);
        let span = value.span();
        if let Some(record) = self
            .records
            .as_ref()
            .and_then(|records| records.get(&(span.start, span.end)))
        {
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
                    append_key(&mut self.path, &key);
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
        self.around = around;
    }

    /// Whether a value is read, or there is nothing to read. What is read is counted where it holds words.
    fn is_read(&mut self, value: Value<'d>) -> bool {
        let kind = value.kind();
        if value.marked() != Mark::Taken {
            return kind == Kind::Null;
        }
        let has_words = match kind {
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
    fn is_told(&self, span: &Range<usize>) -> bool {
        let key = (span.start, span.end);
        let found = self
            .told
            .binary_search_by_key(&key, |told| (told.start, told.end));
        found.is_ok()
    }

    /// Remembers a value that nobody looked at.
    fn leave(&mut self, value: Value<'d>) {
        let (record, from) = self.around;
        self.has_left = true;
        if self.records.is_some() {
            let own = self.place.get(from..).unwrap_or_default();
            let key = own.strip_prefix('.').unwrap_or(own).to_owned();
            self.left.push((record, key, value));
        }
    }

    /// Counts a value that nobody reads, unless it is without meaning.
    fn tell(&mut self, value: Value<'d>) {
        if self.silence.covers(&self.path) {
            return;
        }
        self.times += 1;
        let index = self.known.get(&self.path).copied().unwrap_or_else(|| {
            self.known.insert(self.path.clone(), self.unread.len());
            self.unread.push(Unread {
                path: self.path.clone(),
                count: 0,
                bytes: 0,
                has_words: false,
                first: value.span(),
            });
            self.unread.len() - 1
        });
        if let Some(unread) = self.unread.get_mut(index) {
            unread.count += 1;
            unread.bytes += value.span().len() as u64;
            unread.has_words |= value.string().is_some_and(|text| holds_words(&text));
        }
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
