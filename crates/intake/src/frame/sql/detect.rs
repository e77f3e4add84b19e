//! Recognises a text dump, and the program that wrote it, by its beginning.

use super::lexer::{Lexer, Mark, Scope};
use crate::table::sql::{Dialect, Syntax, Token, Tokens};
use crate::table::statement::Statement;

/// The comments that name the program of a dump.
const COMMENTS: &[(&[u8], Dialect)] = &[
    (b"PostgreSQL database dump", Dialect::PostgreSql),
    (b"PostgreSQL database cluster dump", Dialect::PostgreSql),
    (b"MySQL dump", Dialect::MySql),
    (b"MariaDB dump", Dialect::MySql),
    (b"phpMyAdmin SQL Dump", Dialect::MySql),
];

/// The words that may follow the first word of the first statement of a dump.
const OPENINGS: &[(&str, &str)] = &[
    ("ALTER", "TABLE DATABASE SCHEMA TYPE"),
    ("BEGIN", "TRANSACTION WORK ;"),
    (
        "CREATE",
        "DATABASE EXTENSION FOREIGN FUNCTION GLOBAL INDEX LOCAL OR ROLE SCHEMA SEQUENCE TABLE TEMP TEMPORARY \
         TYPE UNIQUE UNLOGGED USER VIEW",
    ),
    ("DELETE", "FROM"),
    ("DROP", "DATABASE INDEX ROLE SCHEMA TABLE TYPE VIEW"),
    ("INSERT", "IGNORE INTO OR"),
    ("LOCK", "TABLE TABLES"),
    ("REPLACE", "INTO"),
    ("SELECT", "PG_CATALOG"),
    ("START", "TRANSACTION"),
    ("TRUNCATE", "TABLE"),
];

/// The SQL dialect of a dump with this beginning; `None` if it is not a dump. At most blank bytes precede `head`.
pub(in crate::frame) fn detect(head: &[u8]) -> Option<Dialect> {
    let mut rest = head.trim_ascii_start();
    if !matches!(rest.first()?, b'-' | b'/' | b'\\' | b'a'..=b'z' | b'A'..=b'Z') {
        return None;
    }
    // The comments and first statements of MySQL and SQLite have the same syntax.
    let syntax = Syntax::new(Dialect::PostgreSql);
    let mut named = None;
    loop {
        if rest.starts_with(b"\\restrict ") || rest.starts_with(b"\\connect ") {
            return Some(Dialect::PostgreSql);
        }
        let mut lexer = Lexer::new(syntax, Scope::Statement);
        let found = lexer.run(rest);
        let (text, after) = rest.split_at(found.map_or(rest.len(), |(_, end)| end));
        let is_comment = matches!(found, Some((Mark::Comment, _))) || (found.is_none() && lexer.is_blank());
        if !is_comment {
            // The comment may end after the head.
            if is_executed(text) {
                return Some(named.unwrap_or(Dialect::MySql));
            }
            let opens = opening(text, found.map(|(mark, _)| mark), named.is_some());
            return opens.map(|dialect| named.unwrap_or(dialect));
        }
        if is_executed(text) {
            named = named.or(Some(Dialect::MySql));
        }
        let line = text.strip_prefix(b"--").unwrap_or_default().trim_ascii();
        let found = COMMENTS.iter().find(|(name, _)| line.starts_with(name));
        named = named.or(found.map(|(_, dialect)| *dialect));
        rest = after.trim_ascii_start();
        if rest.is_empty() {
            return named;
        }
    }
}

/// Whether a text begins with a comment that MySQL or MariaDB executes. Stylesheets and scripts also use `/*!`, but
/// without a number.
fn is_executed(text: &[u8]) -> bool {
    let inside = text.strip_prefix(b"/*!").or(text.strip_prefix(b"/*M!"));
    inside.and_then(<[u8]>::first).is_some_and(u8::is_ascii_digit)
}

/// The SQL dialect of a dump with this first statement. An unfinished statement counts only if a comment named the program.
fn opening(text: &[u8], mark: Option<Mark>, is_named: bool) -> Option<Dialect> {
    if mark.is_none() && !is_named {
        return None;
    }
    if is_named {
        return Some(Dialect::PostgreSql);
    }
    let mut tokens = Tokens::new(text, Syntax::new(Dialect::PostgreSql));
    let Ok(Some(Token::Word(first))) = tokens.next() else {
        return None;
    };
    let first = first.to_ascii_uppercase();
    let second = match tokens.next() {
        Ok(Some(Token::Word(word))) => word.to_ascii_uppercase(),
        Ok(Some(Token::Symbol(symbol))) => vec![symbol],
        Ok(Some(Token::Name(_))) => Vec::new(),
        _ => return None,
    };
    let opens = |(word, seconds): &(&str, &str)| {
        word.as_bytes() == first && seconds.split(' ').any(|known| known.as_bytes() == second)
    };
    let is_mysql = text
        .split(|byte| *byte == b'\'')
        .next()
        .is_some_and(|code| code.contains(&b'`'));
    match first.as_slice() {
        b"PRAGMA" => Some(Dialect::Sqlite),
        b"BEGIN" if second == b"TRANSACTION" => Some(Dialect::Sqlite),
        b"USE" => Some(Dialect::MySql),
        b"COPY" => {
            let statement = Statement::parse(text, Syntax::new(Dialect::PostgreSql));
            matches!(statement, Statement::Copy { .. }).then_some(Dialect::PostgreSql)
        }
        b"SET" if second == b"NAMES" => Some(Dialect::MySql),
        b"SET" => {
            let is_setting = tokens.take_symbol(b'=') || tokens.take_word("TO");
            is_setting.then_some(Dialect::PostgreSql)
        }
        _ if OPENINGS.iter().any(opens) && is_mysql => Some(Dialect::MySql),
        _ => OPENINGS.iter().any(opens).then_some(Dialect::PostgreSql),
    }
}

#[cfg(test)]
mod tests {
    use super::detect;
    use crate::reader::testing::cases;

    #[test]
    fn dumps_are_recognised_by_their_beginning() {
        cases("dialects", |_, head| format!("{:?}", detect(head.as_bytes())));
    }
}
