//! Finds the ends of statements, comments and rows in SQL text. A chunk may end at any byte, and no text is kept.

use chatmill_diag::cut;
use memchr::{memchr, memchr2};

use crate::table::sql::{Dialect, Syntax, Version, is_tag, is_word};

/// The number of bytes of a word that are kept; no keyword is longer.
const WORD: usize = 12;

/// The maximum length of the tag of a dollar quote, in bytes; names have at most 63.
const TAG: usize = 64;

/// The unit that a lexer reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Scope {
    /// A statement: it ends with `;`, but an `INSERT` ends with the word `VALUES`.
    #[default]
    Statement,
    /// A row: it ends with the counterpart of its first bracket.
    Row,
}

/// Where a lexer stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::frame) enum Mark {
    /// A `;`, which is part of a statement but not of a row.
    Semicolon,
    /// The word `VALUES`.
    Values,
    /// A closing bracket.
    Bracket,
    /// The end of a comment with only white space before it. Comments that MySQL executes count, except one that begins
    /// to fill a table.
    Comment,
}

/// A word in capital letters, cut to the bytes that are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Word {
    bytes: [u8; WORD],
    length: usize,
}

impl Word {
    fn push(&mut self, byte: u8) {
        if let Some(place) = self.bytes.get_mut(self.length) {
            *place = byte.to_ascii_uppercase();
        }
        self.length += 1;
    }

    pub(super) fn is(&self, word: &str) -> bool {
        self.bytes.get(..self.length) == Some(word.as_bytes())
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.length == 0
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum Mode {
    #[default]
    Code,
    /// Inside quotes of this kind, in which a backslash may be an escape.
    Quoted {
        quote: u8,
        backslashes: bool,
    },
    /// After a backslash inside quotes.
    Escaped {
        quote: u8,
    },
    /// After a dollar sign that may open a quote, with the tag so far.
    DollarTag(Vec<u8>),
    /// Inside dollar quotes, with the length of the closing mark so far, from its first dollar sign.
    Dollar {
        tag: Vec<u8>,
        seen: usize,
    },
    LineComment,
    /// After the opening mark of a block comment of MySQL; for MariaDB, after the `M`.
    Opened,
    OpenedByMariaDb,
    /// In the version number of a comment that MySQL executes.
    Versioned(Version),
    /// In nested block comments, after the byte `last`.
    BlockComment {
        depth: u32,
        last: u8,
    },
}

/// The lexer of one statement or row.
#[derive(Clone, Debug, Default)]
pub(in crate::frame) struct Lexer {
    syntax: Syntax,
    scope: Scope,
    mode: Mode,
    depth: u64,
    /// The previous byte, if it was code.
    last: u8,
    /// The quote that has just closed, and whether backslashes were escapes in it; the same quote again continues the text.
    closed: Option<(u8, bool)>,
    word: Word,
    /// The first word of the statement.
    first: Word,
    /// The word before the current one.
    before: Word,
    words: u32,
    /// Whether `OVERRIDING` was read, the clause of which ends with the word `VALUE`.
    is_overriding: bool,
    /// Whether anything except white space and comments was read.
    is_begun: bool,
    /// Whether the statement contains statements, so that it ends with the single word `END` before a `;`.
    is_compound: bool,
    /// The number of words since the last `;` of a compound statement.
    words_since: u32,
    /// Set inside a comment that MySQL executes; true if there was anything before it.
    versioned: Option<bool>,
}

impl Lexer {
    pub(super) fn new(syntax: Syntax, scope: Scope) -> Self {
        Self {
            syntax,
            scope,
            ..Self::default()
        }
    }

    /// The lexer of a row.
    pub(in crate::frame) fn row(syntax: Syntax) -> Self {
        Self::new(syntax, Scope::Row)
    }

    /// The first word of the statement, as far as it has been read.
    pub(super) const fn first(&self) -> Word {
        if self.first.is_empty() {
            self.word
        } else {
            self.first
        }
    }

    /// Whether only white space and comments were read.
    pub(super) fn is_blank(&self) -> bool {
        !self.is_begun && self.versioned.is_none() && matches!(self.mode, Mode::Code | Mode::LineComment)
    }

    /// Reads on; returns the mark that ends the statement or row, and the length up to it.
    pub(in crate::frame) fn run(&mut self, bytes: &[u8]) -> Option<(Mark, usize)> {
        let mut at = 0;
        while at < bytes.len() {
            let rest = bytes.split_at(at).1;
            if self.mode == Mode::Code {
                let (mark, read) = self.code(rest);
                at += read;
                if let Some(mark) = mark {
                    return Some((mark, at));
                }
            } else {
                let was_comment = matches!(self.mode, Mode::LineComment | Mode::BlockComment { .. });
                at += self.quoted(rest);
                if was_comment
                    && self.mode == Mode::Code
                    && self.versioned.is_none()
                    && !self.is_begun
                    && self.scope == Scope::Statement
                {
                    return Some((Mark::Comment, at));
                }
            }
        }
        None
    }

    /// Reads code up to a mark or to a quote or comment; returns the number of bytes read.
    fn code(&mut self, bytes: &[u8]) -> (Option<Mark>, usize) {
        for (at, byte) in bytes.iter().enumerate() {
            if is_word(*byte)
                && !(*byte == b'$' && self.word.is_empty() && self.syntax.dialect == Dialect::PostgreSql)
            {
                self.word.push(*byte);
                self.pass(*byte);
                continue;
            }
            let word = std::mem::take(&mut self.word);
            if !word.is_empty() && self.end_word(word) {
                // The byte after the word is read again by the caller, which reads the rows.
                return (Some(Mark::Values), at);
            }
            let closed = self.closed.take();
            match byte {
                b'\'' | b'"' | b'`' => {
                    let backslashes = match closed {
                        Some((quote, backslashes)) if quote == *byte => backslashes,
                        _ => self.escapes_in(*byte, word),
                    };
                    self.enter(Mode::Quoted {
                        quote: *byte,
                        backslashes,
                    });
                }
                b'[' if self.syntax.quotes_with_brackets() => {
                    self.enter(Mode::Quoted {
                        quote: b']',
                        backslashes: false,
                    });
                }
                b'$' if self.syntax.dialect == Dialect::PostgreSql => self.enter(Mode::DollarTag(Vec::new())),
                b'-' if self.last == b'-' => self.enter_comment(Mode::LineComment),
                b'#' if self.syntax.dialect == Dialect::MySql => self.enter_comment(Mode::LineComment),
                b'*' if self.last == b'/' && self.syntax.dialect == Dialect::MySql => {
                    self.enter_comment(Mode::Opened);
                }
                b'*' if self.last == b'/' => self.enter_comment(Mode::BlockComment { depth: 1, last: 0 }),
                b'/' if self.last == b'*' && self.versioned.is_some() => {
                    if self.end_versioned() {
                        return (Some(Mark::Comment), at + 1);
                    }
                }
                // These bytes may begin a comment.
                b'-' | b'/' => {
                    self.is_begun |= self.last == b'-' || self.last == b'/';
                    self.last = *byte;
                }
                b'(' => {
                    self.depth += 1;
                    self.pass(*byte);
                }
                b')' => {
                    self.depth = self.depth.saturating_sub(1);
                    self.pass(*byte);
                    if self.depth == 0 && self.scope == Scope::Row {
                        return (Some(Mark::Bracket), at + 1);
                    }
                }
                b';' if self.scope == Scope::Row => return (Some(Mark::Semicolon), at),
                b';' if self.depth == 0 && self.ends_statement() => return (Some(Mark::Semicolon), at + 1),
                byte => {
                    self.is_begun |= !byte.is_ascii_whitespace() || self.last == b'-' || self.last == b'/';
                    self.last = *byte;
                }
            }
            if self.mode != Mode::Code {
                return (None, at + 1);
            }
        }
        (None, bytes.len())
    }

    /// Skips a byte of code that begins no comment.
    fn pass(&mut self, byte: u8) {
        self.is_begun = true;
        self.closed = None;
        self.last = byte;
    }

    fn enter(&mut self, mode: Mode) {
        self.pass(0);
        self.mode = mode;
    }

    fn enter_comment(&mut self, mode: Mode) {
        self.last = 0;
        self.mode = mode;
    }

    /// Ends a comment that MySQL executes; true if the comment is a separate unit. One that begins to fill a table continues.
    fn end_versioned(&mut self) -> bool {
        self.last = 0;
        let is_inside = self.versioned.take().unwrap_or_default();
        let fills = self.first.is("INSERT") || self.first.is("REPLACE");
        !is_inside && !fills && self.depth == 0 && self.scope == Scope::Statement
    }

    /// Whether backslashes are escapes inside quotes that open after `word`.
    fn escapes_in(&self, quote: u8, word: Word) -> bool {
        let is_marked = self.syntax.dialect == Dialect::PostgreSql && word.is("E");
        match quote {
            b'\'' => self.syntax.backslashes || is_marked,
            b'"' => self.syntax.dialect == Dialect::MySql,
            _ => false,
        }
    }

    /// Records a word; true if rows follow it.
    fn end_word(&mut self, word: Word) -> bool {
        self.words += 1;
        self.words_since += 1;
        if self.words == 1 {
            self.first = word;
        }
        let is_trigger = self.syntax.dialect == Dialect::Sqlite && self.first.is("CREATE") && self.words <= 3;
        self.is_compound |=
            (is_trigger && word.is("TRIGGER")) || (self.before.is("BEGIN") && word.is("ATOMIC"));
        self.before = word;
        self.is_overriding |= word.is("OVERRIDING") && self.syntax.dialect == Dialect::PostgreSql;
        self.depth == 0
            && self.scope == Scope::Statement
            && (self.first.is("INSERT") || self.first.is("REPLACE"))
            && (word.is("VALUES") || word.is("VALUE") && !self.is_overriding)
    }

    /// Whether a `;` outside brackets ends the statement.
    fn ends_statement(&mut self) -> bool {
        let is_end = !self.is_compound || (self.words_since == 1 && self.before.is("END"));
        self.words_since = 0;
        self.pass(b';');
        is_end
    }

    /// Reads a quote or comment; returns the number of bytes read, or 0 where it turns out to be code.
    fn quoted(&mut self, bytes: &[u8]) -> usize {
        match &mut self.mode {
            Mode::Code => 0,
            Mode::Quoted { quote, backslashes } => {
                let (quote, backslashes) = (*quote, *backslashes);
                let stop = if backslashes {
                    memchr2(quote, b'\\', bytes)
                } else {
                    memchr(quote, bytes)
                };
                let Some(stop) = stop else {
                    return bytes.len();
                };
                if bytes.get(stop) == Some(&quote) {
                    self.mode = Mode::Code;
                    // A closing bracket cannot be escaped by doubling it.
                    self.closed = (quote != b']').then_some((quote, backslashes));
                } else {
                    self.mode = Mode::Escaped { quote };
                }
                stop + 1
            }
            Mode::Escaped { quote } => {
                let quote = *quote;
                self.mode = Mode::Quoted {
                    quote,
                    backslashes: true,
                };
                1
            }
            Mode::DollarTag(_) | Mode::Dollar { .. } => self.dollar_quoted(bytes),
            _ => self.comment(bytes),
        }
    }

    /// Reads a dollar-quoted string, or text that may begin one.
    fn dollar_quoted(&mut self, bytes: &[u8]) -> usize {
        let first = *cut::at(bytes, 0);
        match &mut self.mode {
            Mode::DollarTag(tag) => {
                let is_tag = is_tag(first) && tag.len() < TAG && !(tag.is_empty() && first.is_ascii_digit());
                if is_tag {
                    tag.push(first);
                    return 1;
                }
                let tag = std::mem::take(tag);
                if first == b'$' {
                    self.mode = Mode::Dollar { tag, seen: 0 };
                    return 1;
                }
                self.mode = Mode::Code;
                0
            }
            Mode::Dollar { tag, seen: 0 } => {
                let Some(dollar) = memchr(b'$', bytes) else {
                    return bytes.len();
                };
                self.mode = Mode::Dollar {
                    tag: std::mem::take(tag),
                    seen: 1,
                };
                dollar + 1
            }
            Mode::Dollar { tag, seen } => {
                if tag.get(*seen - 1) == Some(&first) {
                    *seen += 1;
                } else if first != b'$' {
                    *seen = 0;
                } else if *seen > tag.len() {
                    self.mode = Mode::Code;
                } else {
                    *seen = 1;
                }
                1
            }
            _ => 0,
        }
    }

    /// Reads a comment, or text that may begin one.
    fn comment(&mut self, bytes: &[u8]) -> usize {
        let all = bytes.len();
        let first = *cut::at(bytes, 0);
        match &mut self.mode {
            Mode::LineComment => {
                let Some(end) = memchr(b'\n', bytes) else {
                    return all;
                };
                self.mode = Mode::Code;
                end + 1
            }
            Mode::Opened if first == b'M' => {
                self.mode = Mode::OpenedByMariaDb;
                1
            }
            Mode::Opened | Mode::OpenedByMariaDb => {
                let is_versioned = first == b'!';
                self.mode = if is_versioned {
                    Mode::Versioned(Version::default())
                } else {
                    Mode::BlockComment { depth: 1, last: 0 }
                };
                usize::from(is_versioned)
            }
            Mode::Versioned(version) => {
                if version.takes(first) {
                    return 1;
                }
                if version.is_executed() {
                    self.versioned = Some(self.is_begun);
                    self.mode = Mode::Code;
                } else {
                    self.mode = Mode::BlockComment { depth: 1, last: 0 };
                }
                0
            }
            Mode::BlockComment { depth, last } => {
                let nests = self.syntax.dialect == Dialect::PostgreSql;
                match (*last, first) {
                    (b'*', b'/') => {
                        *depth -= 1;
                        *last = 0;
                        if *depth == 0 {
                            self.mode = Mode::Code;
                        }
                        1
                    }
                    (b'/', b'*') if nests => {
                        *depth = depth.saturating_add(1);
                        *last = 0;
                        1
                    }
                    _ => {
                        let skipped = memchr2(b'*', b'/', bytes).unwrap_or(all - 1);
                        *last = *cut::at(bytes, skipped);
                        skipped + 1
                    }
                }
            }
            _ => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::reader::testing::{cases, dialect};

    fn run(text: &str, dialect: Dialect, scope: Scope) -> Option<(Mark, &str)> {
        let (mark, at) = Lexer::new(Syntax::new(dialect), scope).run(text.as_bytes())?;
        Some((mark, text.get(..at)?))
    }

    #[test]
    fn statements_end_at_semicolons_outside_quotes_and_brackets() {
        cases("semicolons", |sql, text| {
            for cut in (0..text.len()).filter_map(|cut| text.get(..cut)) {
                assert_eq!(run(cut, dialect(sql), Scope::Statement), None, "{cut}");
            }
            let whole = format!("{text} more;");
            let (mark, statement) = run(&whole, dialect(sql), Scope::Statement).unwrap();
            assert_eq!(mark, Mark::Semicolon);
            serde_json::to_string(statement).unwrap()
        });
    }

    #[test]
    fn comments_before_a_statement_end_by_themselves() {
        let run = |text| run(text, Dialect::PostgreSql, Scope::Statement);
        assert_eq!(run("-- a;\nSET"), Some((Mark::Comment, "-- a;\n")));
        assert_eq!(run(" /* ' */ SET"), Some((Mark::Comment, " /* ' */")));
        assert_eq!(run("- -- a\n;"), Some((Mark::Semicolon, "- -- a\n;")));
        assert_eq!(run("-- open"), None);
    }

    #[test]
    fn an_insert_ends_before_its_rows() {
        let run = |text| run(text, Dialect::PostgreSql, Scope::Statement);
        assert_eq!(
            run("INSERT INTO t (a) VALUES(1)"),
            Some((Mark::Values, "INSERT INTO t (a) VALUES"))
        );
        assert_eq!(
            run("insert into \"values\" values\n(1)"),
            Some((Mark::Values, "insert into \"values\" values"))
        );
        assert_eq!(
            run("INSERT INTO t (a) OVERRIDING USER VALUE VALUES (1)"),
            Some((Mark::Values, "INSERT INTO t (a) OVERRIDING USER VALUE VALUES"))
        );
        assert_eq!(
            run("INSERT INTO user VALUE (1)"),
            Some((Mark::Values, "INSERT INTO user VALUE"))
        );
        assert_eq!(
            run("SELECT 1 VALUES;"),
            Some((Mark::Semicolon, "SELECT 1 VALUES;"))
        );
    }

    #[test]
    fn rows_end_with_their_bracket() {
        let run = |text| run(text, Dialect::PostgreSql, Scope::Row);
        assert_eq!(run("(1,')',f(2)),(3)"), Some((Mark::Bracket, "(1,')',f(2))")));
        assert_eq!(run("(1, 'a'; INSERT"), Some((Mark::Semicolon, "(1, 'a'")));
        assert_eq!(run("(1, 'a"), None);
    }

    proptest! {
        #![proptest_config(chatmill_drawn::law(64))]

        #[test]
        fn chunks_change_nothing(
            text in r"([a-zE$';()\-/*\\\n\x22`#\[\]]|VALUES|INSERT|\$x\$){0,40}",
            cut in 0_usize..60,
            dialect in prop::sample::select(vec![Dialect::PostgreSql, Dialect::MySql, Dialect::Sqlite]),
            scope in prop::sample::select(vec![Scope::Statement, Scope::Row]),
        ) {
            let bytes = text.as_bytes();
            let cut = cut.min(bytes.len());
            let mut whole = Lexer::new(Syntax::new(dialect), scope);
            let mut parts = whole.clone();
            // If a word ends a chunk, its end is only known in the next one.
            let split = parts.run(&bytes[..cut]).or_else(|| {
                let (mark, at) = parts.run(&bytes[cut..])?;
                Some((mark, cut + at))
            });
            prop_assert_eq!(split, whole.run(bytes));
        }
    }
}
