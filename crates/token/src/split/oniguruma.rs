//! Translates the patterns of a `tokenizer.json`, which Python compiles with Oniguruma, to the syntax of the engines here.
//!
//! Syntax that both read alike is kept, byte for byte, so that a published pattern is still recognised. Syntax with an exact equivalent is
//! rewritten: words, POSIX brackets, quantifiers, and `(?m)`, which lets a dot match line breaks. Everything else is refused and named in
//! the error: an escape or a group that is not listed here does not pass. Binding Oniguruma instead would bring C code, and a search that
//! gives up after ten million steps.
//!
//! Specified by the source of Oniguruma 6.9.10 with its default syntax, and compared with the matches that Python finds
//! (`data-samples/oniguruma`). Both sides have the tables of Unicode 16.

use regex_syntax::hir::{Hir, HirKind};

use crate::split::part;
use crate::split::patterns::{CL100K, PatternError, family_of, without_tail};

/// The characters of `[[:word:]]`, and of `\w` in brackets.
const WORD: &str = r"\p{Alphabetic}\p{M}\p{Nd}\p{Pc}";

/// The characters of `\w` outside of brackets, where Oniguruma has a separate table for the first 256 characters.
const WORD_ALONE: &str = r"\p{Alphabetic}\p{M}\p{Nd}\p{Pc}²³¹¼½¾";

const HEXADECIMAL: &str = "0-9A-Fa-f";

/// POSIX brackets and their characters.
const POSIX: [(&str, &str); 14] = [
    ("alnum", r"\p{Alphabetic}\p{Nd}"),
    ("alpha", r"\p{Alphabetic}"),
    ("ascii", r"\x00-\x7F"),
    ("blank", r"\p{Zs}\t"),
    ("cntrl", r"\p{Cc}"),
    ("digit", r"\p{Nd}"),
    ("graph", r"[^\s\p{Cc}\p{Cn}]"),
    ("lower", r"\p{Lowercase}"),
    ("print", r"[^\s\p{Cc}\p{Cn}]\p{Zs}"),
    ("punct", r"\p{P}\p{S}"),
    ("space", r"\s"),
    ("upper", r"\p{Uppercase}"),
    ("word", WORD),
    ("xdigit", HEXADECIMAL),
];

/// Pairs of letters that are another case of one character: `ß`, `ﬀ`, `ﬁ`, `ﬂ`, `ﬆ`.
const LIGATURES: [(char, char); 5] = [('s', 's'), ('f', 'f'), ('f', 'i'), ('f', 'l'), ('s', 't')];

/// The pattern in the syntax of the engines here.
pub(crate) fn translated(pattern: &str) -> Result<String, PatternError> {
    // Oniguruma reads every family as published except for this one: its `{1,3}+` is not possessive there.
    if family_of(pattern).is_some_and(|family| family.name != CL100K.name) {
        return Ok(pattern.to_owned());
    }
    let mut reader = Reader {
        pattern,
        at: 0,
        written: String::with_capacity(pattern.len()),
        operand: 0,
        folds: false,
        last: None,
        open: Vec::new(),
    };
    while let Some(first) = reader.next() {
        reader.token(first)?;
    }
    match regex_syntax::parse(without_tail(&reader.written)) {
        Ok(parsed) if repeats_nothing(&parsed) => Err(PatternError(
            "repeats a part that may be empty, for which `tokenizers` and the engines here have different rules; \
             count with another file of the model"
                .to_owned(),
        )),
        // The engines report the patterns that they cannot parse.
        _ => Ok(reader.written),
    }
}

/// Whether a part that may match the empty text can be repeated: after such a match, Oniguruma leaves the repetition.
fn repeats_nothing(parsed: &Hir) -> bool {
    let may_be_empty = |part: &Hir| part.properties().minimum_len().is_none_or(|bytes| bytes == 0);
    match parsed.kind() {
        HirKind::Repetition(repeated) => {
            repeated.max != Some(1) && may_be_empty(&repeated.sub) || repeats_nothing(&repeated.sub)
        }
        HirKind::Capture(group) => repeats_nothing(&group.sub),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => parts.iter().any(repeats_nothing),
        _ => false,
    }
}

struct Reader<'p> {
    pattern: &'p str,
    /// The number of bytes that were read.
    at: usize,
    written: String,
    /// The start in `written` of the operand that a quantifier would repeat.
    operand: usize,
    /// Whether case is ignored here.
    folds: bool,
    /// The previous character in lower case, and its byte: the next one may make it a ligature.
    last: Option<(char, usize)>,
    /// Open groups: whether case is ignored around each, and its start in `written`.
    open: Vec<(bool, usize)>,
}

impl<'p> Reader<'p> {
    fn rest(&self) -> &'p str {
        part(self.pattern, self.at..self.pattern.len())
    }

    fn next(&mut self) -> Option<char> {
        let next = self.rest().chars().next()?;
        self.at += next.len_utf8();
        Some(next)
    }

    fn take(&mut self, words: &str) -> bool {
        let is_next = self.rest().starts_with(words);
        self.at += if is_next { words.len() } else { 0 };
        is_next
    }

    fn take_while(&mut self, is_one: impl Fn(&u8) -> bool) -> &'p str {
        let rest = self.rest();
        let length = rest.bytes().take_while(is_one).count();
        self.at += length;
        part(rest, 0..length)
    }

    /// Writes the input since byte `start` unchanged if both syntaxes read it alike, or refuses it.
    fn keep_if(&mut self, is_alike: bool, start: usize) -> Result<(), PatternError> {
        let read = part(self.pattern, start..self.at);
        if is_alike {
            self.written.push_str(read);
            return Ok(());
        }
        let flag = if self.folds { " under the flag `i`" } else { "" };
        Err(PatternError(format!(
            "has `{read}`{flag} at byte {start}, which `tokenizers` reads like Oniguruma and no engine here can read; \
             count with another file of the model"
        )))
    }

    /// Writes a set of characters for the input since byte `start`, or refuses it.
    fn set_if(&mut self, is_alike: bool, start: usize, set: [&str; 2]) -> Result<(), PatternError> {
        if !is_alike {
            return self.keep_if(false, start);
        }
        for part in ["[", set[0], set[1], "]"] {
            self.written.push_str(part);
        }
        Ok(())
    }

    /// Translates the token outside of brackets that begins with this character.
    fn token(&mut self, first: char) -> Result<(), PatternError> {
        let start = self.at - first.len_utf8();
        if !matches!(first, '*' | '+' | '?' | '{' | ')') {
            self.operand = self.written.len();
        }
        match first {
            '(' => return self.group(start),
            '[' => return self.brackets(start),
            '{' => return self.interval(start),
            '\\' => return self.escape(start, WORD_ALONE),
            ')' => (self.folds, self.operand) = self.open.pop().unwrap_or_default(),
            '|' | '.' => self.last = None,
            '*' | '+' | '?' => {}
            '^' | '$' => return self.keep_if(false, start),
            _ => return self.literal(start, first),
        }
        self.keep_if(true, start)
    }

    fn literal(&mut self, start: usize, character: char) -> Result<(), PatternError> {
        let lower = character.to_ascii_lowercase();
        match self.last.replace((lower, start)) {
            Some((before, from)) if self.folds && LIGATURES.contains(&(before, lower)) => {
                self.keep_if(false, from)
            }
            // Beyond ASCII only dashes and quotation marks are certain to have no case.
            _ => self.keep_if(
                !self.folds || matches!(lower, '\0'..='\x7f' | '\u{2010}'..='\u{2027}'),
                start,
            ),
        }
    }

    /// Reads a group after its `(`.
    fn group(&mut self, start: usize) -> Result<(), PatternError> {
        self.open.push((self.folds, self.operand));
        if !self.take("?") {
            let is_callout = self.take("*");
            return self.keep_if(!is_callout, start);
        }
        if ["=", "!", ">", "<=", "<!"].iter().any(|kind| self.take(kind)) {
            return self.keep_if(true, start);
        }
        self.written.push_str("(?");
        let mut is_on = true;
        while let Some(flag) = self.next() {
            match flag {
                'm' | ':' => {}
                'i' => self.folds = is_on,
                '-' => is_on = false,
                // Flags in a group without content hold across alternatives up to the end of the surrounding group, here of the pattern.
                ')' if start == 0 => self.open.clear(),
                _ => break,
            }
            self.written.push(if flag == 'm' { 's' } else { flag });
            if matches!(flag, ':' | ')') {
                return Ok(());
            }
        }
        self.keep_if(false, start)
    }

    /// Reads a quantifier after its `{`. A `+` after it, possessive in other engines, is a second repetition in Oniguruma, as is `?` after
    /// a single number.
    fn interval(&mut self, start: usize) -> Result<(), PatternError> {
        let least = self.take_while(u8::is_ascii_digit);
        let is_range = self.take(",");
        let most = self.take_while(u8::is_ascii_digit);
        let is_quantifier = self.take("}") && !(least.is_empty() && most.is_empty());
        let is_repeated = self.rest().starts_with('+') || !is_range && self.rest().starts_with('?');
        if !is_quantifier {
            return self.keep_if(false, start);
        }
        if is_repeated {
            self.written.insert_str(self.operand, "(?:");
        }
        let comma = if is_range { "," } else { "" };
        let end = if is_repeated { "})" } else { "}" };
        for part in ["{", if least.is_empty() { "0" } else { least }, comma, most, end] {
            self.written.push_str(part);
        }
        Ok(())
    }

    /// Reads an escape after its `\`; `word` is the set of word characters in this place.
    fn escape(&mut self, start: usize, word: &str) -> Result<(), PatternError> {
        let kind = self.next().unwrap_or_default();
        if !kind.is_alphanumeric() {
            let is_escaped = kind.is_ascii() && !matches!(kind, '<' | '>');
            return self.literal(if is_escaped { start } else { start + 1 }, kind);
        }
        self.last = None;
        let is_caseless = !self.folds || matches!(kind, 'd' | 's' | 'f' | 'n' | 'r' | 't' | 'v');
        let is_alike = match kind {
            'w' => return self.set_if(is_caseless, start, ["", word]),
            'W' => return self.set_if(is_caseless, start, ["^", word]),
            'h' => return self.set_if(is_caseless, start, ["", HEXADECIMAL]),
            'H' => return self.set_if(is_caseless, start, ["^", HEXADECIMAL]),
            'p' | 'P' => self.property(),
            'x' | 'u' => self.code_point(kind),
            _ => matches!(kind, 'd' | 's' | 'f' | 'n' | 'r' | 't' | 'v' | 'D' | 'S'),
        };
        self.keep_if(is_alike && is_caseless, start)
    }

    /// Reads a property after `\p`: names that both sides know have the same characters.
    fn property(&mut self) -> bool {
        let is_open = self.take("{");
        let name = self.take_while(|byte| byte.is_ascii_alphanumeric() || b" _-".contains(byte));
        is_open && self.take("}") && !name.to_ascii_lowercase().starts_with("is")
    }

    /// Reads a code point after `\x` or `\u`; `\x80` and above are bytes in Oniguruma.
    fn code_point(&mut self, kind: char) -> bool {
        let is_braced = kind == 'x' && self.take("{");
        let digits = self.take_while(u8::is_ascii_hexdigit);
        match kind {
            'x' if is_braced => self.take("}"),
            'x' => digits.len() == 2 && digits < "80",
            _ => digits.len() == 4,
        }
    }

    /// Reads a character class after its `[`, up to the end of the outermost brackets.
    fn brackets(&mut self, start: usize) -> Result<(), PatternError> {
        let (mut depth, mut from, mut next) = (0_u32, start, Some('['));
        while let Some(first) = next {
            self.last = None;
            match first {
                '[' if depth > 0 && self.take(":") => self.posix(from)?,
                '[' => {
                    let is_plain = !self.take("^") && depth == 0;
                    self.take("]");
                    depth += 1;
                    self.keep_if(is_plain || !self.folds, from)?;
                }
                ']' => {
                    depth -= 1;
                    self.keep_if(true, from)?;
                    if depth == 0 {
                        return Ok(());
                    }
                }
                // An operator in one of the two syntaxes.
                '-' => self.keep_if(
                    !["-", "[", "&&"].iter().any(|next| self.rest().starts_with(next)),
                    from,
                )?,
                '~' if self.take("~") => self.written.push_str(r"~\~"),
                '&' => self.keep_if(!self.folds || !self.rest().starts_with('&'), from)?,
                '\\' => self.escape(from, WORD)?,
                _ => self.literal(from, first)?,
            }
            from = self.at;
            next = self.next();
        }
        self.keep_if(false, start)
    }

    /// Reads a POSIX bracket after its `[:`.
    fn posix(&mut self, start: usize) -> Result<(), PatternError> {
        let negation = if self.take("^") { "^" } else { "" };
        let name = self.take_while(u8::is_ascii_lowercase);
        let found = POSIX.iter().find(|(posix, _)| *posix == name);
        let is_known = self.take(":]") && !self.folds;
        let characters = found.map(|(_, characters)| *characters);
        self.set_if(
            is_known && found.is_some(),
            start,
            [negation, characters.unwrap_or_default()],
        )
    }
}

#[cfg(test)]
mod tests;
