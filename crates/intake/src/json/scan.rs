//! The validating scanner: strict grammar, depth, surrogates and number ranges in one iterative pass.

use std::borrow::Cow;

use chatmill_diag::Code;
use chatmill_diag::codes::{
    DEPTH_EXCEEDED, DOCUMENT_TOO_LARGE, ESCAPED_NUL, INVALID_JSON, INVALID_UTF8, LONE_SURROGATE,
    NUMBER_OUT_OF_RANGE,
};

use super::{Document, Fault, Node, Note};

/// Input bytes per tape node that the first allocation assumes; chat records hold more text than this.
const BYTES_PER_NODE: usize = 24;

/// Checks that `bytes` are exactly one JSON value, white space around it allowed, of at most `depth_limit` levels.
///
/// # Errors
///
/// The first fault: UTF-8 is checked over the whole frame, then grammar and depth from the start.
pub fn scan(bytes: &[u8], depth_limit: u32) -> Result<Document<'_>, Fault> {
    if u32::try_from(bytes.len()).is_err() {
        return Err(fault(
            &DOCUMENT_TOO_LARGE,
            0,
            "a frame of 4 GiB or more cannot be read",
        ));
    }
    let text = std::str::from_utf8(bytes)
        .map_err(|error| fault(&INVALID_UTF8, error.valid_up_to(), "expected UTF-8 text"))?;
    let mut scanner = Scanner {
        bytes,
        at: 0,
        depth_limit: depth_limit as usize,
        nodes: Vec::with_capacity(bytes.len() / BYTES_PER_NODE + 1),
        open: Vec::new(),
        notes: Vec::new(),
    };
    scanner.run()?;
    let Scanner { nodes, notes, .. } = scanner;
    Ok(Document {
        text: repair(text, &notes),
        nodes,
        notes,
    })
}

/// Replaces each lone surrogate escape by the equally long escape of U+FFFD.
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
        repaired.push_str(text.get(copied..note.at).unwrap_or_default());
        repaired.push_str("\\uFFFD");
        copied = note.end;
    }
    repaired.push_str(text.get(copied..).unwrap_or_default());
    Cow::Owned(repaired)
}

fn fault(code: &'static Code, at: usize, message: impl Into<String>) -> Fault {
    Fault {
        code,
        at,
        message: message.into(),
    }
}

/// What may come next.
#[derive(Clone, Copy)]
enum Expect {
    /// A value: at the start, after a colon, after a comma in an array.
    Value,
    /// A value or the end of the array that was just opened.
    FirstElement,
    /// A field name or the end of the object that was just opened.
    FirstKey,
    /// A field name, after a comma.
    Key,
    /// A comma or an end, after a value.
    Separator,
}

/// An array or object that is not closed yet.
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
    fn run(&mut self) -> Result<(), Fault> {
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

    /// Passes white space; the byte after it, which is not consumed.
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

    fn wrong(&self, message: &str) -> Fault {
        fault(&INVALID_JSON, self.at, message)
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
    fn value(&mut self, first: u8) -> Result<Expect, Fault> {
        match first {
            b'"' => self.string()?,
            b'{' | b'[' => {
                if self.open.len() >= self.depth_limit {
                    let message = format!("more than {} levels of nesting", self.depth_limit);
                    return Err(fault(&DEPTH_EXCEEDED, self.at, message));
                }
                let object = first == b'{';
                self.open.push(Open {
                    node: self.nodes.len(),
                    object,
                });
                // `end` and `link` are written when the container closes.
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

    /// Writes a node from `start` to the current place.
    #[inline]
    fn push(&mut self, start: usize, link: u32) {
        self.nodes.push(Node {
            start: start as u32,
            end: self.at as u32,
            link,
        });
    }

    fn word(&mut self, word: &'static [u8]) -> Result<(), Fault> {
        let start = self.at;
        if !self.bytes.get(start..).is_some_and(|rest| rest.starts_with(word)) {
            return Err(self.wrong("expected a JSON value"));
        }
        self.at += word.len();
        self.push(start, 0);
        Ok(())
    }

    #[inline]
    fn string(&mut self) -> Result<(), Fault> {
        let start = self.at;
        let mut escapes = 0;
        self.at += 1;
        loop {
            self.at += plain_run(self.bytes.get(self.at..).unwrap_or_default());
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

    /// Consumes one escape; a surrogate pair is one.
    fn escape(&mut self) -> Result<(), Fault> {
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
        let code = match unit {
            0 => &ESCAPED_NUL,
            0xD800..0xE000 if !pair => &LONE_SURROGATE,
            _ => return Ok(()),
        };
        self.notes.push(Note {
            code,
            at: start,
            end: self.at,
        });
        Ok(())
    }

    /// The code unit that four hexadecimal digits at `at` spell.
    fn unit(&self, at: usize) -> Option<u32> {
        let digits = self.bytes.get(at..at + 4)?;
        digits.iter().try_fold(0, |unit, &digit| {
            Some(unit << 4 | char::from(digit).to_digit(16)?)
        })
    }

    fn number(&mut self) -> Result<(), Fault> {
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
                    at: start,
                    end: self.at,
                });
            }
        }
        self.push(start, 0);
        Ok(())
    }

    /// Consumes at least one digit; their number.
    fn digits(&mut self) -> Result<usize, Fault> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let count = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.at += count;
        if count == 0 {
            return Err(self.wrong("expected a digit"));
        }
        Ok(count)
    }
}

/// Whether a parser with 64-bit integers and doubles can hold the number: integers exactly, others without overflow.
fn holds(text: &str, integer: bool) -> bool {
    if integer {
        text.parse::<u64>().is_ok() || text.parse::<i64>().is_ok()
    } else {
        text.parse::<f64>().is_ok_and(f64::is_finite)
    }
}

/// The number of bytes before the first quote, backslash or control character.
#[inline]
fn plain_run(bytes: &[u8]) -> usize {
    let (words, tail) = bytes.as_chunks::<8>();
    let mut run = 0;
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

/// Marks the bytes of a word that end a plain run: the high bit of each such byte is set.
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

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use chatmill_diag::codes::{
        DEPTH_EXCEEDED, ESCAPED_NUL, INVALID_JSON, INVALID_UTF8, LONE_SURROGATE, NUMBER_OUT_OF_RANGE,
    };
    use proptest::prelude::*;

    use super::{plain_run, scan};
    use crate::json::Kind;

    /// Texts that RFC 8259 allows.
    const ACCEPTED: &[&str] = &[
        "{}",
        "[]",
        "null",
        "true",
        "false",
        "0",
        "-0",
        "1",
        "-1",
        "10",
        "0.0",
        "-0.5",
        "1e0",
        "1E+05",
        "1e-05",
        "0e00",
        "123456789012345678",
        "9223372036854775807",
        "-9223372036854775808",
        "18446744073709551615",
        "1.7976931348623157e308",
        "1e-400",
        "\"\"",
        "\" \"",
        "\"a\"",
        "\"\u{7f}\u{80}\u{2028}\u{feff}\u{ffff}\u{10ffff}\"",
        r#""\"\\\/\b\f\n\r\t""#,
        r#""\u0041\uFFFF\uABCD\uabcd""#,
        r#""\ud83d\ude00""#,
        r#""\uDBFF\uDFFF""#,
        " \t\r\n{} \t\r\n",
        "[1]",
        "[1,2]",
        "[ 1 , 2 ]",
        "[[],[[]],{}]",
        "[null,true,false,\"\",0,{},[]]",
        r#"{"":0}"#,
        r#"{"a":1}"#,
        r#"{ "a" : 1 , "b" : [ ] }"#,
        r#"{"a":1,"a":2}"#,
        r#"{"a":{"b":{"c":null}}}"#,
        r#"["12345678","1234567\\","1234567\"","12345678\\"]"#,
    ];

    /// Texts that it does not allow, where the fault lies, and a word of the reason.
    const REJECTED: &[(&str, usize, &str)] = &[
        ("", 0, "JSON value"),
        (" \n", 2, "JSON value"),
        ("\u{feff}{}", 0, "JSON value"),
        ("{\u{feff}}", 1, "field name"),
        ("nul", 0, "JSON value"),
        ("nulL", 0, "JSON value"),
        ("True", 0, "JSON value"),
        ("tru", 0, "JSON value"),
        ("truee", 4, "nothing more"),
        ("NaN", 0, "JSON value"),
        ("Infinity", 0, "JSON value"),
        ("-Infinity", 1, "digit"),
        ("undefined", 0, "JSON value"),
        ("01", 1, "leading zero"),
        ("-01", 2, "leading zero"),
        ("00", 1, "leading zero"),
        ("+1", 0, "JSON value"),
        (".5", 0, "JSON value"),
        ("5.", 2, "digit"),
        ("1.e5", 2, "digit"),
        ("1e", 2, "digit"),
        ("1e+", 3, "digit"),
        ("-", 1, "digit"),
        ("--1", 1, "digit"),
        ("0x10", 1, "nothing more"),
        ("1_000", 1, "nothing more"),
        ("1 2", 2, "nothing more"),
        ("{}{}", 2, "nothing more"),
        ("{},", 2, "nothing more"),
        ("{} // done", 3, "nothing more"),
        ("[1] x", 4, "nothing more"),
        ("'a'", 0, "JSON value"),
        ("\"", 1, "closing quote"),
        ("\"abc", 4, "closing quote"),
        ("\"a\\", 3, "backslash"),
        ("\"a\\\"", 4, "closing quote"),
        ("\"\\x41\"", 2, "backslash"),
        ("\"\\'\"", 2, "backslash"),
        ("\"\\u12\"", 3, "hexadecimal"),
        ("\"\\u123g\"", 3, "hexadecimal"),
        ("\"\\U0041\"", 2, "backslash"),
        ("\"\\u+041\"", 3, "hexadecimal"),
        ("\"a\nb\"", 2, "control"),
        ("\"a\tb\"", 2, "control"),
        ("\"a\0b\"", 2, "control"),
        ("\"abcdefghijkl\u{1f}\"", 13, "control"),
        ("[", 1, "`]`"),
        ("]", 0, "JSON value"),
        ("[1", 2, "`]`"),
        ("[1,", 3, "JSON value"),
        ("[1,]", 3, "JSON value"),
        ("[,1]", 1, "JSON value"),
        ("[1,,2]", 3, "JSON value"),
        ("[1 2]", 3, "`,`"),
        ("[1}", 2, "`]`"),
        ("[1:2]", 2, "`,`"),
        ("{", 1, "field name"),
        ("}", 0, "JSON value"),
        ("{]", 1, "field name"),
        ("{a:1}", 1, "field name"),
        ("{'a':1}", 1, "field name"),
        ("{1:1}", 1, "field name"),
        ("{null:1}", 1, "field name"),
        ("{\"a\"}", 4, "`:`"),
        ("{\"a\" 1}", 5, "`:`"),
        ("{\"a\"=1}", 4, "`:`"),
        ("{\"a\":}", 5, "JSON value"),
        ("{\"a\":1", 6, "`}`"),
        ("{\"a\":1,", 7, "field name"),
        ("{\"a\":1,}", 7, "field name"),
        ("{,\"a\":1}", 1, "field name"),
        ("{\"a\":1 \"b\":2}", 7, "`,`"),
        ("{\"a\":1]", 6, "`}`"),
        ("{\"a\":1,,\"b\":2}", 7, "field name"),
        ("{\"a\":{\"b\":}}", 10, "JSON value"),
        ("/* c */ {}", 0, "JSON value"),
        ("[1, // c\n2]", 4, "JSON value"),
        ("\u{a0}1", 0, "JSON value"),
        ("\u{c}1", 0, "JSON value"),
        ("\u{2028}1", 0, "JSON value"),
        ("\u{1e}{}", 0, "JSON value"),
    ];

    #[test]
    fn what_the_grammar_allows_is_accepted() {
        for text in ACCEPTED {
            let document = scan(text.as_bytes(), 128).unwrap_or_else(|fault| panic!("{text}: {fault:?}"));
            assert_eq!(
                document.root().raw(),
                text.trim_matches([' ', '\t', '\r', '\n']),
                "{text}"
            );
        }
    }

    #[test]
    fn what_the_grammar_forbids_is_rejected_with_place_and_reason() {
        for (text, at, reason) in REJECTED {
            let fault = scan(text.as_bytes(), 128).map(|_| ()).expect_err(text);
            assert_eq!(
                (fault.code.name, fault.at),
                (INVALID_JSON.name, *at),
                "{text:?}: {}",
                fault.message
            );
            assert!(fault.message.contains(reason), "{text:?}: {}", fault.message);
        }
        assert!(ACCEPTED.len() + REJECTED.len() >= 80);
    }

    #[test]
    fn every_raw_control_character_in_a_string_is_rejected_and_every_other_kept() {
        for byte in 0..=0x7F_u8 {
            let text = format!("\"ab{}\"", char::from(byte));
            let expected = byte >= 0x20 && byte != b'\\' && byte != b'"';
            assert_eq!(scan(text.as_bytes(), 1).is_ok(), expected, "{byte:#x}");
        }
    }

    #[test]
    fn invalid_utf8_is_found_at_its_byte_wherever_it_stands() {
        let sequences: [&[u8]; 8] = [
            b"\xFF",
            b"\xC0\xAF",
            b"\xE0\x80\xAF",
            b"\xED\xA0\x80",
            b"\xF4\x90\x80\x80",
            b"\x80",
            b"\xC3",
            b"\xE4\xB8",
        ];
        let text = br#"{"a":["b",{"key":1}]} "#;
        for sequence in sequences {
            for at in 0..=text.len() {
                let mut bytes = text.to_vec();
                bytes.splice(at..at, sequence.iter().copied());
                let fault = scan(&bytes, 128).map(|_| ()).expect_err("must fail");
                assert_eq!(
                    (fault.code.name, fault.at),
                    (INVALID_UTF8.name, at),
                    "{sequence:x?}"
                );
            }
        }
    }

    #[test]
    fn depth_is_bounded_at_its_limit_and_found_fast() {
        let shapes: [(&str, &str); 3] = [("[", "]"), ("{\"a\":", "}"), ("[{\"a\":", "}]")];
        for (open, close) in shapes {
            let levels = open.matches(['[', '{']).count();
            let nested =
                |depth: usize| format!("{}0{}", open.repeat(depth / levels), close.repeat(depth / levels));
            assert!(scan(nested(126).as_bytes(), 126).is_ok());
            assert!(scan(nested(128).as_bytes(), 128).is_ok());
            let fault = scan(nested(130).as_bytes(), 128)
                .map(|_| ())
                .expect_err("must fail");
            assert_eq!(fault.code.name, DEPTH_EXCEEDED.name);
            for depth in [1_000, 1_000_000] {
                for text in [nested(depth), open.repeat(depth)] {
                    let start = Instant::now();
                    let fault = scan(text.as_bytes(), 128).map(|_| ()).expect_err("must fail");
                    assert_eq!(fault.code.name, DEPTH_EXCEEDED.name);
                    // The verdict falls at level 129; what takes time is the check of UTF-8 before it.
                    assert!(
                        start.elapsed() < Duration::from_millis(50),
                        "{:?}",
                        start.elapsed()
                    );
                }
            }
        }
        assert!(scan(b"[[1]]", 2).is_ok() && scan(b"[[1]]", 1).is_err() && scan(b"[]", 0).is_err());
    }

    #[test]
    fn a_million_levels_are_walked_and_dropped_without_recursion() {
        let text = format!("{}{}", "[".repeat(1_000_000), "]".repeat(1_000_000));
        let document = scan(text.as_bytes(), u32::MAX).unwrap();
        let mut depth = 0;
        let mut value = Some(document.root());
        while let Some(inner) = value {
            depth += 1;
            value = inner.items().next();
        }
        assert_eq!(depth, 1_000_000);
    }

    #[test]
    fn each_lone_surrogate_becomes_one_replacement_character_of_equal_length() {
        for (text, repaired, count) in [
            (r#""\ud83d""#, "\u{fffd}", 1),
            (r#""\ude00""#, "\u{fffd}", 1),
            (r#""\ude00\ud83d""#, "\u{fffd}\u{fffd}", 2),
            (r#""\ud83d\ud83d""#, "\u{fffd}\u{fffd}", 2),
            (r#""\ud83d\ud83d\ude00""#, "\u{fffd}😀", 1),
            (r#""\ud83d\u0041""#, "\u{fffd}A", 1),
            (r#""\ud83dx\ude00""#, "\u{fffd}x\u{fffd}", 2),
            (r#""\ud83d\n""#, "\u{fffd}\n", 1),
            (r#""end \uDBFF""#, "end \u{fffd}", 1),
            (r#""\\ud83d""#, "\\ud83d", 0),
            (r#""\ud83d\ude00""#, "😀", 0),
        ] {
            let document = scan(text.as_bytes(), 0).unwrap();
            assert_eq!(document.root().as_str().unwrap(), repaired, "{text}");
            assert_eq!(document.text().len(), text.len(), "{text}");
            let lone = document
                .notes()
                .iter()
                .filter(|note| *note.code == LONE_SURROGATE);
            assert_eq!(lone.clone().count(), count, "{text}");
            for note in lone {
                assert!(
                    text[note.at..note.end].starts_with("\\u") && note.end - note.at == 6,
                    "{text}"
                );
            }
        }
        let document = scan(br#"{"k\ud83d":"\ud83d","ok":1}"#, 1).unwrap();
        assert_eq!(document.root().get("k\u{fffd}").unwrap().raw(), r#""\uFFFD""#);
        assert_eq!(document.notes().len(), 2);
        assert_eq!(document.root().get("ok").unwrap().span(), 25..26);
    }

    #[test]
    fn an_escaped_nul_is_kept_and_noted() {
        let document = scan(br#"["\u0000","\\u0000","\u0001"]"#, 1).unwrap();
        let notes: Vec<_> = document
            .notes()
            .iter()
            .map(|note| (note.code.name, note.at, note.end))
            .collect();
        assert_eq!(notes, [(ESCAPED_NUL.name, 2, 8)]);
        assert_eq!(document.root().items().next().unwrap().as_str().unwrap(), "\0");
    }

    #[test]
    fn numbers_that_no_parser_holds_are_kept_as_text_and_noted() {
        let many = |count: usize| "9".repeat(count);
        let table = [
            ("9007199254740993".to_owned(), false),
            ("9223372036854775808".to_owned(), false),
            ("18446744073709551616".to_owned(), true),
            ("-9223372036854775809".to_owned(), true),
            ("-0".to_owned(), false),
            (many(30), true),
            (many(100_000), true),
            ("1e400".to_owned(), true),
            ("-1E+400".to_owned(), true),
            ("1e99999999999999999999".to_owned(), true),
            ("0e99999999999999999999".to_owned(), false),
            ("1e-400".to_owned(), false),
            ("1e308".to_owned(), false),
            (format!("{}.5", many(308)), false),
            (format!("{}.5", many(400)), true),
            (format!("0.{}", many(100_000)), false),
        ];
        for (text, noted) in table {
            let document = scan(text.as_bytes(), 0).unwrap();
            assert_eq!(document.root().number_text(), Some(text.as_str()));
            let codes: Vec<_> = document
                .notes()
                .iter()
                .map(|note| (note.code.name, note.at, note.end))
                .collect();
            let expected = [(NUMBER_OUT_OF_RANGE.name, 0, text.len())];
            assert_eq!(
                codes,
                expected[..usize::from(noted)],
                "{}",
                text.get(..40).unwrap_or(&text)
            );
        }
    }

    #[test]
    fn a_million_backslashes_take_no_longer_than_plain_text() {
        let text = format!("\"{}\"", "\\\\".repeat(500_000));
        assert_eq!(
            scan(text.as_bytes(), 0).unwrap().root().as_str().unwrap().len(),
            500_000
        );
    }

    #[test]
    fn values_are_walked_with_their_spans() {
        let text = r#" {"a": [1, {"b": null}, "x\ty"], "c": {}, "d": true, "a": -1.5e3} "#;
        let document = scan(text.as_bytes(), 128).unwrap();
        let root = document.root();
        assert_eq!(
            (root.kind(), root.len(), root.is_empty()),
            (Kind::Object, 4, false)
        );
        let fields: Vec<_> = root
            .fields()
            .map(|(name, value)| (name.into_owned(), value.raw()))
            .collect();
        let expected = [
            ("a", r#"[1, {"b": null}, "x\ty"]"#),
            ("c", "{}"),
            ("d", "true"),
            ("a", "-1.5e3"),
        ];
        assert_eq!(fields, expected.map(|(name, raw)| (name.to_owned(), raw)));
        assert_eq!(
            root.get("a").unwrap().number_text(),
            Some("-1.5e3"),
            "the last of equal names counts"
        );
        assert_eq!(root.get("d").unwrap().as_bool(), Some(true));
        assert!(root.get("x").is_none());
        let list = root.fields().next().unwrap().1;
        assert_eq!(
            list.items().map(super::super::Value::span).collect::<Vec<_>>(),
            [8..9, 11..22, 24..30]
        );
        assert_eq!(list.items().nth(2).unwrap().as_str().unwrap(), "x\ty");
        assert_eq!(
            (list.len(), list.fields().count(), root.items().count()),
            (3, 0, 0)
        );
        assert!(root.get("c").unwrap().is_empty());
    }

    #[test]
    fn repeated_names_are_found_in_every_spelling_and_size() {
        let duplicates = |text: &str| scan(text.as_bytes(), 128).unwrap().root().duplicate_keys();
        assert_eq!(duplicates(r#"{"a":1,"b":2}"#), [""; 0]);
        assert_eq!(duplicates(r#"{"b":1,"\u0061":1,"a":2,"b":3,"a":4}"#), ["a", "b"]);
        assert_eq!(duplicates(r#"{"a":{"x":1},"b":{"x":1}}"#), [""; 0]);
        assert_eq!(duplicates("[1,1]"), [""; 0]);
        let many: Vec<String> = (0..100_000)
            .map(|key| format!("\"{}\":0", key % 99_999))
            .collect();
        let start = Instant::now();
        assert_eq!(duplicates(&format!("{{{}}}", many.join(","))), ["0"]);
        assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
    }

    proptest! {
        #[test]
        fn words_find_what_bytes_find(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
            let plain = bytes.iter().take_while(|byte| **byte >= 0x20 && !b"\"\\".contains(byte)).count();
            prop_assert_eq!(plain_run(&bytes), plain);
        }
    }
}
