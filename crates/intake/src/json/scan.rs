//! The validating scanner: strict grammar, depth, surrogates and number ranges in one iterative pass.

use std::borrow::Cow;
use std::cell::{Cell, OnceCell, RefCell};

use chatmill_diag::codes::{
    DEPTH_EXCEEDED, DOCUMENT_TOO_LARGE, ESCAPED_NUL, INVALID_JSON, INVALID_UTF8, LONE_SURROGATE,
    NUMBER_OUT_OF_RANGE, REPLACEMENT_CHARACTER,
};
use chatmill_diag::{Code, cut};

use super::{Document, Node, Note, ScanError};

/// Input bytes per tape node that the first allocation assumes; chat records have more text than this.
const BYTES_PER_NODE: usize = 24;

/// Checks that `bytes` are exactly one JSON value of at most `depth_limit` levels; white space around it is allowed.
///
/// # Errors
///
/// The first fault. UTF-8 is checked over the whole frame first, then grammar and depth from the start.
pub fn scan(bytes: &[u8], depth_limit: u32) -> Result<Document<'_>, ScanError> {
    if u32::try_from(bytes.len()).is_err() {
        return Err(scan_error(
            &DOCUMENT_TOO_LARGE,
            0,
            "a frame of 4 GiB or more cannot be read",
        ));
    }
    // The vectorised check only reports that the text is invalid; on failure, the standard library finds the position.
    let text = simdutf8::basic::from_utf8(bytes)
        .or_else(|_| std::str::from_utf8(bytes))
        .map_err(|error| scan_error(&INVALID_UTF8, error.valid_up_to(), "expected UTF-8 text"))?;
    let mut scanner = Scanner {
        bytes,
        at: 0,
        depth_limit: depth_limit as usize,
        nodes: Vec::with_capacity(bytes.len() / BYTES_PER_NODE + 1),
        open: Vec::new(),
        notes: Vec::new(),
    };
    scanner.run()?;
    let Scanner { nodes, mut notes, .. } = scanner;
    lost(text, &mut notes);
    Ok(Document {
        text: repair(text, &notes),
        marks: vec![Cell::default(); nodes.len()],
        nodes,
        notes,
        steps: OnceCell::new(),
        inside: RefCell::default(),
        sorted: RefCell::default(),
        recent: RefCell::default(),
    })
}

/// The message of the note about U+FFFD.
const LOST_BEFORE: &str = "the text holds U+FFFD: the original character was lost before";

/// Adds a note for each place of U+FFFD, literal or escaped; adjacent ones are one place.
fn lost(text: &str, notes: &mut Vec<Note>) {
    const LOST: &str = "\u{fffd}";
    let found = memchr::memmem::find_iter(text.as_bytes(), LOST);
    notes.extend(found.map(|at| Note {
        code: &REPLACEMENT_CHARACTER,
        message: LOST_BEFORE,
        at,
        end: at + LOST.len(),
    }));
    if notes.iter().any(|note| *note.code == REPLACEMENT_CHARACTER) {
        notes.sort_by_key(|note| note.at);
        notes.dedup_by(|note, before| {
            let goes_on = [note.code, before.code] == [&REPLACEMENT_CHARACTER; 2] && before.end == note.at;
            if goes_on {
                before.end = note.end;
            }
            goes_on
        });
    }
}

/// Replaces each lone surrogate escape by the escape of U+FFFD, which has the same length.
fn repair<'t>(text: &'t str, notes: &[Note]) -> Cow<'t, str> {
    let mut lone = notes
        .iter()
        .filter(|note| *note.code == LONE_SURROGATE)
        .peekable();
    if lone.peek().is_none() {
        return Cow::Borrowed(text);
    }
    let mut repaired = String::with_capacity(text.len());
    let mut copied = 0;
    for note in lone {
        repaired.push_str(cut::text(text, copied..note.at));
        repaired.push_str("\\uFFFD");
        copied = note.end;
    }
    repaired.push_str(text.split_at(copied).1);
    Cow::Owned(repaired)
}

fn scan_error(code: &'static Code, at: usize, message: impl Into<String>) -> ScanError {
    ScanError {
        code,
        at,
        message: message.into(),
    }
}

/// The tokens that are allowed next.
#[derive(Clone, Copy)]
enum Expect {
    /// A value: at the start, after a colon, or after a comma in an array.
    Value,
    /// A value, or the end of the array that has just been opened.
    FirstElement,
    /// A field name, or the end of the object that has just been opened.
    FirstKey,
    /// A field name, after a comma.
    Key,
    /// A comma or an end, after a value.
    Separator,
}

/// An array or object that has not been closed yet.
#[derive(Clone, Copy)]
struct Open {
    node: usize,
    object: bool,
}

struct Scanner<'t> {
    bytes: &'t [u8],
    at: usize,
    depth_limit: usize,
    nodes: Vec<Node>,
    open: Vec<Open>,
    notes: Vec<Note>,
}

impl Scanner<'_> {
    fn run(&mut self) -> Result<(), ScanError> {
        let mut expect = Expect::Value;
        loop {
            let byte = self.skip_space();
            expect = match (expect, byte) {
                (Expect::FirstElement, Some(b']')) | (Expect::FirstKey, Some(b'}')) => self.close(),
                (Expect::Value | Expect::FirstElement, Some(first)) => self.value(first)?,
                (Expect::FirstKey | Expect::Key, Some(b'"')) => {
                    self.string()?;
                    if self.skip_space() != Some(b':') {
                        return Err(self.wrong("expected `:` after a field name"));
                    }
                    self.at += 1;
                    Expect::Value
                }
                (Expect::Separator, _) => match (self.open.last().map(|open| open.object), byte) {
                    (None, None) => return Ok(()),
                    (Some(true), Some(b',')) => self.step(Expect::Key),
                    (Some(false), Some(b',')) => self.step(Expect::Value),
                    (Some(true), Some(b'}')) | (Some(false), Some(b']')) => self.close(),
                    (None, Some(_)) => return Err(self.wrong("expected nothing more after the JSON value")),
                    (Some(true), _) => return Err(self.wrong("expected `,` or `}` after a field")),
                    (Some(false), _) => return Err(self.wrong("expected `,` or `]` after an array element")),
                },
                (Expect::Value, None) => return Err(self.wrong("expected a JSON value")),
                (Expect::FirstElement, None) => return Err(self.wrong("expected a JSON value or `]`")),
                (Expect::FirstKey, _) => {
                    return Err(self.wrong("expected a field name in double quotes or `}`"));
                }
                (Expect::Key, _) => return Err(self.wrong("expected a field name in double quotes")),
            };
        }
    }

    /// Skips white space; returns the next byte without consuming it.
    #[inline]
    fn skip_space(&mut self) -> Option<u8> {
        loop {
            match self.bytes.get(self.at) {
                Some(b' ' | b'\n' | b'\r' | b'\t') => self.at += 1,
                other => return other.copied(),
            }
        }
    }

    fn step(&mut self, next: Expect) -> Expect {
        self.at += 1;
        next
    }

    fn wrong(&self, message: &str) -> ScanError {
        scan_error(&INVALID_JSON, self.at, message)
    }

    /// Consumes the closing bracket of the innermost container.
    fn close(&mut self) -> Expect {
        self.at += 1;
        let (end, link) = (self.at as u32, self.nodes.len() as u32);
        if let Some(node) = self.open.pop().and_then(|open| self.nodes.get_mut(open.node)) {
            node.end = end;
            node.link = link;
        }
        Expect::Separator
    }

    /// Consumes a scalar or the opening bracket of a container.
    #[inline]
    fn value(&mut self, first: u8) -> Result<Expect, ScanError> {
        match first {
            b'"' => self.string()?,
            b'{' | b'[' => {
                if self.open.len() >= self.depth_limit {
                    let message = format!("more than {} levels of nesting", self.depth_limit);
                    return Err(scan_error(&DEPTH_EXCEEDED, self.at, message));
                }
                let object = first == b'{';
                self.open.push(Open {
                    node: self.nodes.len(),
                    object,
                });
                // `end` and `link` are set when the container closes.
                self.push(self.at, 0);
                return Ok(self.step(if object {
                    Expect::FirstKey
                } else {
                    Expect::FirstElement
                }));
            }
            b'-' | b'0'..=b'9' => self.number()?,
            b't' => self.word(b"true")?,
            b'f' => self.word(b"false")?,
            b'n' => self.word(b"null")?,
            _ => return Err(self.wrong("expected a JSON value")),
        }
        Ok(Expect::Separator)
    }

    /// Appends a node that ends at the current position.
    #[inline]
    fn push(&mut self, start: usize, link: u32) {
        self.nodes.push(Node {
            start: start as u32,
            end: self.at as u32,
            link,
        });
    }

    fn word(&mut self, word: &'static [u8]) -> Result<(), ScanError> {
        let start = self.at;
        if !self.bytes.get(start..).is_some_and(|rest| rest.starts_with(word)) {
            return Err(self.wrong("expected a JSON value"));
        }
        self.at += word.len();
        self.push(start, 0);
        Ok(())
    }

    #[inline]
    fn string(&mut self) -> Result<(), ScanError> {
        let start = self.at;
        let mut escapes = 0;
        self.at += 1;
        loop {
            self.at += plain_run(self.bytes.split_at(self.at).1);
            match self.bytes.get(self.at) {
                Some(b'"') => {
                    self.at += 1;
                    self.push(start, escapes);
                    return Ok(());
                }
                Some(b'\\') => {
                    escapes = 1;
                    self.escape()?;
                }
                Some(_) => return Err(self.wrong("expected control characters in a string to be escaped")),
                None => return Err(self.wrong("expected a closing quote")),
            }
        }
    }

    /// Consumes one escape; a surrogate pair counts as one.
    fn escape(&mut self) -> Result<(), ScanError> {
        let start = self.at;
        match self.bytes.get(start + 1) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => {
                self.at += 2;
                return Ok(());
            }
            Some(b'u') => {}
            _ => {
                self.at += 1;
                return Err(self.wrong("expected one of `\"`, `\\`, `/`, b, f, n, r, t, u after a backslash"));
            }
        }
        let Some(unit) = self.unit(start + 2) else {
            self.at += 2;
            return Err(self.wrong("expected four hexadecimal digits after `\\u`"));
        };
        let pair = (0xD800..0xDC00).contains(&unit)
            && self.bytes.get(start + 6..start + 8) == Some(b"\\u")
            && self
                .unit(start + 8)
                .is_some_and(|low| (0xDC00..0xE000).contains(&low));
        self.at = start + if pair { 12 } else { 6 };
        let (code, message) = match unit {
            0 => (
                &ESCAPED_NUL,
                "the text holds an escaped NUL character, kept as it is",
            ),
            0xFFFD => (&REPLACEMENT_CHARACTER, LOST_BEFORE),
            0xD800..0xE000 if !pair => (&LONE_SURROGATE, "a lone surrogate escape was replaced by U+FFFD"),
            _ => return Ok(()),
        };
        self.notes.push(Note {
            code,
            message,
            at: start,
            end: self.at,
        });
        Ok(())
    }

    /// The code unit that the four hexadecimal digits at `at` denote.
    fn unit(&self, at: usize) -> Option<u32> {
        let digits = self.bytes.get(at..at + 4)?;
        digits.iter().try_fold(0, |unit, &digit| {
            Some(unit << 4 | char::from(digit).to_digit(16)?)
        })
    }

    fn number(&mut self) -> Result<(), ScanError> {
        let start = self.at;
        if self.bytes.get(self.at) == Some(&b'-') {
            self.at += 1;
        }
        let whole = self.digits()?;
        if whole > 1 && self.bytes.get(self.at - whole) == Some(&b'0') {
            self.at = self.at - whole + 1;
            return Err(self.wrong("expected no digit after a leading zero"));
        }
        let mut integer = true;
        if self.bytes.get(self.at) == Some(&b'.') {
            integer = false;
            self.at += 1;
            self.digits()?;
        }
        let mut exponent = false;
        if let Some(b'e' | b'E') = self.bytes.get(self.at) {
            (integer, exponent) = (false, true);
            self.at += 1;
            if let Some(b'+' | b'-') = self.bytes.get(self.at) {
                self.at += 1;
            }
            self.digits()?;
        }
        // 18 digits fit an i64; a double without exponent overflows from 309 digits on.
        if (integer && whole > 18) || exponent || whole > 308 {
            let text = self
                .bytes
                .get(start..self.at)
                .and_then(|number| std::str::from_utf8(number).ok());
            if !text.is_some_and(|text| holds(text, integer)) {
                self.notes.push(Note {
                    code: &NUMBER_OUT_OF_RANGE,
                    message: "the number is beyond what common parsers hold exactly; its text is kept",
                    at: start,
                    end: self.at,
                });
            }
        }
        self.push(start, 0);
        Ok(())
    }

    /// Consumes at least one digit; returns their number.
    fn digits(&mut self) -> Result<usize, ScanError> {
        let rest = self.bytes.split_at(self.at).1;
        let count = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.at += count;
        if count == 0 {
            return Err(self.wrong("expected a digit"));
        }
        Ok(count)
    }
}

/// Whether a parser with 64-bit integers and doubles can represent the number: integers exactly, others without overflow.
fn holds(text: &str, integer: bool) -> bool {
    if integer {
        text.parse::<u64>().is_ok() || text.parse::<i64>().is_ok()
    } else {
        text.parse::<f64>().is_ok_and(f64::is_finite)
    }
}

/// The number of bytes that are tested at once.
const BLOCK_BYTES: usize = 16;

/// Whether no byte of a block ends a plain run.
#[inline]
#[expect(
    clippy::needless_bitwise_bool,
    reason = "without branches, the whole block is tested at once"
)]
fn is_plain(block: &[u8; BLOCK_BYTES]) -> bool {
    let ends = |byte: u8| (byte == b'"') | (byte == b'\\') | (byte < 0x20);
    !block.iter().fold(false, |found, byte| found | ends(*byte))
}

/// The number of bytes before the first quote, backslash or control character.
#[inline]
pub(crate) fn plain_run(bytes: &[u8]) -> usize {
    // Most of a long text is skipped in blocks, without locating where a run ends, because that compiles to vector instructions.
    let (blocks, _) = bytes.as_chunks::<BLOCK_BYTES>();
    let mut run = BLOCK_BYTES * blocks.iter().take_while(|block| is_plain(block)).count();
    let (words, tail) = bytes.split_at(run).1.as_chunks::<8>();
    for word in words {
        let stops = stops(u64::from_le_bytes(*word));
        if stops != 0 {
            return run + stops.trailing_zeros() as usize / 8;
        }
        run += 8;
    }
    run + tail
        .iter()
        .take_while(|byte| !matches!(byte, b'"' | b'\\' | 0..=0x1F))
        .count()
}

/// Sets the high bit of each byte of a word that ends a plain run.
///
/// Subtraction may mark a byte above the first true one as well, so only the lowest mark counts.
#[inline]
const fn stops(word: u64) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x8080_8080_8080_8080;
    let quote = word ^ (ONES * b'"' as u64);
    let backslash = word ^ (ONES * b'\\' as u64);
    let below_space = word.wrapping_sub(ONES * 0x20) & !word;
    let quote = quote.wrapping_sub(ONES) & !quote;
    let backslash = backslash.wrapping_sub(ONES) & !backslash;
    (below_space | quote | backslash) & HIGH
}
