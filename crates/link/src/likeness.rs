//! Likeness: the similarity of the content of two conversations, regardless of their ids and times.
//!
//! Equal conversations have the same hash. Nearly equal ones are found by `MinHash`: a signature keeps, for each of a fixed number of
//! orders of all runs of words, the first run of the conversation. The share of places in which two signatures agree estimates the share of
//! runs that two conversations have in common (Jaccard). Forks and continuations have the same opening.

use std::collections::HashMap;
use std::io::{self, Read, Write};

use chatmill_model::{Alternative, Conversation, Message, MessageKind, Part, Role};
use minhash_rs::prelude::{MinHash, MinHasher, band_hash};

use crate::question::first_question;
use crate::words::each_word;

/// Words in a run.
const SHINGLE_WORDS: usize = 3;
/// The number of orders of the runs, and of the numbers in a signature.
const PERMUTATIONS: usize = 128;
/// The numbers of a signature that must all agree before two conversations are compared. With 32 such chances, two conversations that share
/// half of their runs are compared 7 times of 8, and two that share four fifths almost always.
const ROWS_PER_BAND: usize = 4;
/// Bands of a signature.
pub(crate) const BANDS: usize = PERMUTATIONS / ROWS_PER_BAND;
/// The length in bytes of text from which an opening without times distinguishes conversations.
const MIN_DISTINCT_BYTES: usize = 128;

/// Flags in the first byte of a serialised likeness: the fields that follow.
const HAS_OPENING: u8 = 1;
const HAS_SIGNATURE: u8 = 2;

type Signature = MinHash<u32, PERMUTATIONS>;

/// The features of a conversation that are compared; about 600 bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Likeness {
    /// The hash of the content with its speakers, in order.
    pub content_hash: u128,
    /// The hash of the first two turns with their times, if they are enough to distinguish conversations.
    pub opening: Option<u128>,
    /// The signature; `None` if there are no words.
    signature: Option<Box<Signature>>,
}

impl Likeness {
    /// The likeness of a conversation; with a signature only if near duplicates are sought.
    pub fn of(conversation: &Conversation, near: bool) -> Self {
        let turns = || {
            conversation
                .messages
                .iter()
                .filter(|message| message.kind == MessageKind::Message)
        };
        Self {
            content_hash: content_hash(turns(), &conversation.alternatives),
            opening: opening(turns()),
            signature: near.then(|| signature(turns())).flatten(),
        }
    }

    /// The likeness of a conversation by its first question: two that ask the same are equal, with any answers. A conversation without a
    /// question is compared as a whole, and only for equality.
    pub fn of_question(conversation: &Conversation, near: bool) -> Self {
        let whole = Self::of(conversation, false);
        let Some(question) = first_question(conversation) else {
            return whole;
        };
        let mut hash = Hash::new("asked");
        hash.text(&question);
        let mut shingles = Shingles::default();
        if near {
            each_word(&question, &mut |word| shingles.add(word));
        }
        Self {
            content_hash: hash.finish(),
            signature: shingles.signature(),
            ..whole
        }
    }

    /// The estimated share of runs of words that two conversations have in common, between 0 and 1.
    pub(crate) fn nearness(&self, other: &Self) -> f64 {
        match (&self.signature, &other.signature) {
            (Some(one), Some(other)) => one.estimate_jaccard_index(other),
            _ => 0.0,
        }
    }

    /// Writes the likeness as bytes, little-endian: flags, content hash, opening, signature; 545 bytes at most.
    ///
    /// # Errors
    ///
    /// Those of the writer.
    pub fn write_to(&self, into: &mut dyn Write) -> io::Result<()> {
        let has_opening = u8::from(self.opening.is_some()) * HAS_OPENING;
        let has_signature = u8::from(self.signature.is_some()) * HAS_SIGNATURE;
        into.write_all(&[has_opening | has_signature])?;
        into.write_all(&self.content_hash.to_le_bytes())?;
        if let Some(opening) = self.opening {
            into.write_all(&opening.to_le_bytes())?;
        }
        for number in self.signature.iter().flat_map(|signature| signature.as_words()) {
            into.write_all(&number.to_le_bytes())?;
        }
        Ok(())
    }

    /// Reads bytes that [`write_to`](Self::write_to) has written.
    ///
    /// # Errors
    ///
    /// Those of the reader, and `InvalidData` if the bytes are no likeness.
    pub fn read_from(from: &mut dyn Read) -> io::Result<Self> {
        let [there] = bytes(from)?;
        if there & !(HAS_OPENING | HAS_SIGNATURE) != 0 {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let content_hash = u128::from_le_bytes(bytes(from)?);
        let opening = if there & HAS_OPENING == 0 {
            None
        } else {
            Some(u128::from_le_bytes(bytes(from)?))
        };
        let mut signature = (there & HAS_SIGNATURE != 0).then(|| Box::new(Signature::new()));
        if let Some(signature) = &mut signature {
            let read: [u8; 4 * PERMUTATIONS] = bytes(from)?;
            let (numbers, _) = read.as_chunks();
            for (number, bytes) in signature.as_words_mut().iter_mut().zip(numbers) {
                *number = u32::from_le_bytes(*bytes);
            }
        }
        Ok(Self {
            content_hash,
            opening,
            signature,
        })
    }

    /// The hash of one band of the signature; similar conversations have at least one equal band.
    pub(crate) fn band(&self, band: usize) -> Option<u64> {
        let numbers = self.signature.as_ref()?.as_words();
        numbers.chunks_exact(ROWS_PER_BAND).nth(band).map(band_hash)
    }
}

/// The next bytes of a reader.
pub(crate) fn bytes<const N: usize>(from: &mut dyn Read) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    from.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// Speakers are numbered by their first turn: names and ids do not count. Alternative answers do count: of two comparisons with the same
/// better answer, neither repeats the other.
fn content_hash<'m>(turns: impl Iterator<Item = &'m Message>, alternatives: &[Alternative]) -> u128 {
    let mut hash = Hash::new("said");
    let mut speakers: HashMap<usize, usize> = HashMap::new();
    for message in turns {
        let next = speakers.len() + 1;
        let speaker = message
            .sender
            .map(|sender| *speakers.entry(sender).or_insert(next));
        hash.text(message.role.as_str());
        hash.number(speaker.unwrap_or(0));
        hash.message(message);
    }
    for alternative in alternatives {
        hash.text(alternative.origin.as_str());
        hash.number(alternative.place.start as usize);
        for message in alternative.messages.iter().flatten() {
            hash.text(message.role.as_str());
            hash.message(message);
        }
    }
    hash.finish()
}

/// Instructions are the same in many conversations, so they are not part of an opening.
fn opening<'m>(turns: impl Iterator<Item = &'m Message>) -> Option<u128> {
    let first: Vec<&Message> = turns
        .filter(|message| message.role != Role::System)
        .take(2)
        .collect();
    if first.len() < 2 {
        return None;
    }
    let has_times = first.iter().all(|message| message.timestamp.is_some());
    let bytes: usize = first.iter().map(|message| message.text().len()).sum();
    if !has_times && bytes < MIN_DISTINCT_BYTES {
        return None;
    }
    let mut hash = Hash::new("opening");
    for message in first {
        hash.text(message.role.as_str());
        hash.text(message.timestamp.as_ref().map_or("", |time| time.raw.as_str()));
        hash.message(message);
    }
    Some(hash.finish())
}

/// Collects the runs of words of a text, word by word.
struct Shingles {
    signature: Box<Signature>,
    run: [u64; SHINGLE_WORDS],
    words: usize,
}

impl Default for Shingles {
    fn default() -> Self {
        Self {
            signature: Box::new(Signature::new()),
            run: [0; SHINGLE_WORDS],
            words: 0,
        }
    }
}

impl Shingles {
    fn add(&mut self, word: &str) {
        self.run.rotate_left(1);
        if let Some(last) = self.run.last_mut() {
            *last = Hash::word(word);
        }
        self.words += 1;
        if self.words >= SHINGLE_WORDS {
            let run = self
                .run
                .iter()
                .fold(0, |run: u64, word| run.rotate_left(21) ^ word);
            self.signature.insert(run);
        }
    }

    /// The signature; `None` if there is no run.
    fn signature(self) -> Option<Box<Signature>> {
        (self.words >= SHINGLE_WORDS).then_some(self.signature)
    }
}

fn signature<'m>(turns: impl Iterator<Item = &'m Message>) -> Option<Box<Signature>> {
    let mut shingles = Shingles::default();
    let mut word = |word: &str| shingles.add(word);
    for message in turns {
        for part in &message.parts {
            match part {
                Part::Text(text) | Part::Reasoning(text) => each_word(text, &mut word),
                Part::ToolCall(call) => {
                    each_word(call.name.as_deref().unwrap_or_default(), &mut word);
                    each_word(call.arguments.source_text(), &mut word);
                }
                Part::ToolResult(result) => each_word(&result.content, &mut word),
                Part::Item(item) => each_word(item.raw.as_str(), &mut word),
                Part::Media(_) | Part::Notice(_) | Part::CacheMark => {}
            }
        }
    }
    shingles.signature()
}

/// BLAKE3 over parts with their lengths, so that different parts cannot give the same bytes.
struct Hash(blake3::Hasher);

impl Hash {
    fn new(kind: &str) -> Self {
        let mut hash = Self(blake3::Hasher::new());
        hash.text(kind);
        hash
    }

    fn word(word: &str) -> u64 {
        first_bytes(blake3::hash(word.as_bytes()).as_bytes().iter().take(8))
            .try_into()
            .unwrap_or_default()
    }

    fn number(&mut self, number: usize) {
        self.0.update(&(number as u64).to_le_bytes());
    }

    fn text(&mut self, text: &str) {
        self.number(text.len());
        self.0.update(text.as_bytes());
    }

    /// Hashes the content of a message, without ids of calls.
    fn message(&mut self, message: &Message) {
        self.number(message.parts.len());
        for part in &message.parts {
            self.text(part.type_name());
            match part {
                Part::Text(text) | Part::Reasoning(text) | Part::Notice(text) => self.text(text),
                Part::Media(media) => {
                    self.text(media.kind.as_str());
                    self.text(media.name.as_deref().unwrap_or_default());
                    match &media.source {
                        chatmill_model::MediaSource::Url(text)
                        | chatmill_model::MediaSource::Inline(text)
                        | chatmill_model::MediaSource::Text(text) => {
                            self.text(text);
                        }
                        chatmill_model::MediaSource::Upload => {}
                    }
                }
                Part::ToolCall(call) => {
                    self.text(call.name.as_deref().unwrap_or_default());
                    self.text(call.arguments.source_text());
                }
                Part::ToolResult(result) => {
                    self.text(result.name.as_deref().unwrap_or_default());
                    self.text(&result.content);
                }
                Part::Item(item) => self.text(item.raw.as_str()),
                Part::CacheMark => {}
            }
        }
    }

    fn finish(self) -> u128 {
        first_bytes(self.0.finalize().as_bytes().iter().take(16))
    }
}

fn first_bytes<'b>(bytes: impl Iterator<Item = &'b u8>) -> u128 {
    bytes.fold(0, |number, byte| number << 8 | u128::from(*byte))
}
