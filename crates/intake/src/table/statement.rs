//! What a statement of a dump says that matters for reading rows.

use std::borrow::Cow;

use super::escape::{Escapes, quoted};
use super::row::RowFault;
use super::sql::{Dialect, Syntax, Token, Tokens};

/// A statement, as far as it matters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Statement {
    /// Rows follow, one a line.
    Copy {
        table: String,
        columns: Option<Vec<String>>,
        /// Whether the rows are in the text format without options.
        is_plain: bool,
    },
    /// Rows follow, each in brackets.
    Insert {
        table: String,
        columns: Option<Vec<String>>,
    },
    /// A table and its columns.
    Create { table: String, columns: Vec<String> },
    /// The encoding of what follows.
    Encoding(String),
    /// The schema of tables without one.
    SearchPath(Option<String>),
    /// Whether backslashes escape in plain quotes.
    Backslashes(bool),
    /// The database of what follows.
    Database(String),
    /// A transaction begins.
    Begin,
    /// A transaction ends well.
    Commit,
    /// A transaction is taken back.
    Rollback,
    /// Nothing that matters.
    Other,
}

impl Statement {
    /// Reads a statement; of an `INSERT` only what stands before the first row.
    ///
    /// A statement that makes no sense does not matter.
    pub(crate) fn parse(text: &[u8], syntax: Syntax) -> Self {
        let mut tokens = Tokens::new(text, syntax);
        parse(&mut tokens).ok().flatten().unwrap_or(Self::Other)
    }
}

type Parsed<T> = Result<Option<T>, RowFault>;

fn parse(tokens: &mut Tokens<'_>) -> Parsed<Statement> {
    let Some(Token::Word(first)) = tokens.next()? else {
        return Ok(None);
    };
    match first.to_ascii_uppercase().as_slice() {
        b"COPY" => copy(tokens),
        b"INSERT" | b"REPLACE" => insert(tokens),
        b"CREATE" => create(tokens),
        b"SET" => set(tokens),
        b"USE" => Ok(name_part(tokens)?.map(Statement::Database)),
        b"BEGIN" => Ok(Some(Statement::Begin)),
        b"COMMIT" => Ok(Some(Statement::Commit)),
        b"ROLLBACK" => Ok(Some(Statement::Rollback)),
        _ => Ok(None),
    }
}

fn copy(tokens: &mut Tokens<'_>) -> Parsed<Statement> {
    let Some(table) = name(tokens)? else {
        return Ok(None);
    };
    let columns = columns(tokens)?;
    let is_from_stdin = tokens.take_word("FROM") && tokens.take_word("STDIN");
    if !is_from_stdin {
        // `WITH OIDS` stands before `FROM` and adds a column.
        let mut has_rows = false;
        while let Some(token) = tokens.next()? {
            has_rows |= matches!(token, Token::Word(word) if word.eq_ignore_ascii_case(b"STDIN"));
        }
        return Ok(has_rows.then_some(Statement::Copy {
            table,
            columns,
            is_plain: false,
        }));
    }
    tokens.take_symbol(b';');
    let is_plain = tokens.next()?.is_none();
    Ok(Some(Statement::Copy {
        table,
        columns,
        is_plain,
    }))
}

fn insert(tokens: &mut Tokens<'_>) -> Parsed<Statement> {
    while !tokens.take_word("INTO") {
        let Some(Token::Word(_)) = tokens.next()? else {
            return Ok(None);
        };
    }
    let Some(table) = name(tokens)? else {
        return Ok(None);
    };
    if tokens.take_word("PARTITION") && tokens.take_symbol(b'(') {
        tokens.skip_bracket()?;
    }
    let columns = columns(tokens)?;
    Ok(Some(Statement::Insert { table, columns }))
}

fn create(tokens: &mut Tokens<'_>) -> Parsed<Statement> {
    loop {
        match tokens.next()? {
            Some(Token::Word(word)) if word.eq_ignore_ascii_case(b"TABLE") => break,
            // GLOBAL, LOCAL, TEMPORARY, UNLOGGED, FOREIGN
            Some(Token::Word(_)) => {}
            _ => return Ok(None),
        }
    }
    if tokens.take_word("IF") {
        tokens.take_word("NOT");
        tokens.take_word("EXISTS");
    }
    let Some(table) = name(tokens)? else {
        return Ok(None);
    };
    if !tokens.take_symbol(b'(') {
        return Ok(None);
    }
    let mut columns = Vec::new();
    loop {
        let (column, is_last) = column_definition(tokens)?;
        columns.extend(column);
        if is_last {
            break;
        }
    }
    // The columns of parents stand before these, and are not named here.
    let is_child = tokens.take_word("INHERITS");
    Ok((!columns.is_empty() && !is_child).then_some(Statement::Create { table, columns }))
}

/// The next column of a table, where it is one that rows have a value for, and whether the closing bracket follows it.
fn column_definition(tokens: &mut Tokens<'_>) -> Result<(Option<String>, bool), RowFault> {
    let dialect = tokens.syntax().dialect;
    let mut column = None;
    let mut is_first = true;
    let mut after_as = false;
    loop {
        let token = tokens
            .next()?
            .ok_or_else(|| RowFault::malformed("the list of columns does not end"))?;
        match &token {
            Token::Symbol(b')') => return Ok((column, true)),
            Token::Symbol(b',') => return Ok((column, false)),
            Token::Symbol(b'(') => {
                // SQLite writes no value for a column that it computes.
                if after_as && dialect == Dialect::Sqlite {
                    column = None;
                }
                tokens.skip_bracket()?;
            }
            Token::Word(word) if is_first && begins_constraint(word, dialect) => {}
            Token::Word(word) if is_first && word.eq_ignore_ascii_case(b"LIKE") => {
                return Err(RowFault::malformed("columns of another table are meant"));
            }
            _ if is_first => column = text(&token, dialect),
            _ => {}
        }
        after_as = matches!(&token, Token::Word(word) if word.eq_ignore_ascii_case(b"AS"));
        is_first = false;
    }
}

fn begins_constraint(word: &[u8], dialect: Dialect) -> bool {
    let everywhere: &[&str] = &["CONSTRAINT", "PRIMARY", "UNIQUE", "CHECK", "FOREIGN"];
    // MySQL quotes every name of a column, so that these words are none; elsewhere `key` is a common name.
    let in_mysql: &[&str] = &["KEY", "INDEX", "FULLTEXT", "SPATIAL", "PERIOD"];
    let is = |name: &&str| word.eq_ignore_ascii_case(name.as_bytes());
    everywhere.iter().any(is) || (dialect == Dialect::MySql && in_mysql.iter().any(is))
}

fn set(tokens: &mut Tokens<'_>) -> Parsed<Statement> {
    let Some(Token::Word(name)) = tokens.next()? else {
        return Ok(None);
    };
    let name = name.to_ascii_lowercase();
    if name != b"names" && !tokens.take_symbol(b'=') {
        tokens.take_word("TO");
    }
    let Some(value) = tokens.next()? else {
        return Ok(None);
    };
    let Some(value) = text(&value, tokens.syntax().dialect) else {
        return Ok(None);
    };
    Ok(match name.as_slice() {
        b"client_encoding" | b"names" => Some(Statement::Encoding(value)),
        b"search_path" => Some(Statement::SearchPath(
            Some(value).filter(|schema| !schema.is_empty()),
        )),
        b"standard_conforming_strings" => Some(Statement::Backslashes(value.eq_ignore_ascii_case("off"))),
        _ => None,
    })
}

/// The database that a line for PostgreSQL's client connects to, `\connect name`, if it is such a line.
pub(crate) fn database_of(line: &[u8]) -> Option<String> {
    let line = line.trim_ascii();
    let rest = line
        .strip_prefix(b"\\connect")
        .or_else(|| line.strip_prefix(b"\\c"))?;
    if !rest.first()?.is_ascii_whitespace() {
        return None;
    }
    let mut rest = rest.trim_ascii_start();
    while rest.starts_with(b"-") {
        let space = rest.iter().position(u8::is_ascii_whitespace)?;
        rest = rest.get(space..)?.trim_ascii_start();
    }
    let name = match rest.first()? {
        quote @ (b'"' | b'\'') => quoted(*quote, rest.get(1..)?, Escapes::None).ok()??.0,
        _ => Cow::Borrowed(rest.split(u8::is_ascii_whitespace).next()?),
    };
    // A whole connection string is written where the name needs quotes.
    let name = match name.strip_prefix(b"dbname=") {
        Some(value) => match value.strip_prefix(b"'") {
            Some(inside) => quoted(b'\'', inside, Escapes::PostgreSql).ok()??.0.into_owned(),
            None => value.to_vec(),
        },
        None => name.into_owned(),
    };
    Some(String::from_utf8_lossy(&name).into_owned())
}

/// A name with the names before it, joined by dots.
fn name(tokens: &mut Tokens<'_>) -> Parsed<String> {
    let Some(mut name) = name_part(tokens)? else {
        return Ok(None);
    };
    while tokens.take_symbol(b'.') {
        let Some(part) = name_part(tokens)? else {
            return Ok(None);
        };
        name.push('.');
        name.push_str(&part);
    }
    Ok(Some(name))
}

fn name_part(tokens: &mut Tokens<'_>) -> Parsed<String> {
    let dialect = tokens.syntax().dialect;
    Ok(tokens.next()?.and_then(|token| text(&token, dialect)))
}

/// A list of columns in brackets, where one is next.
fn columns(tokens: &mut Tokens<'_>) -> Parsed<Vec<String>> {
    if !tokens.take_symbol(b'(') {
        return Ok(None);
    }
    let mut columns = Vec::new();
    if tokens.take_symbol(b')') {
        return Ok(Some(columns));
    }
    loop {
        let column = name_part(tokens)?;
        columns.push(column.ok_or_else(|| RowFault::malformed("expected the name of a column"))?);
        if !tokens.take_symbol(b',') {
            break;
        }
    }
    if tokens.take_symbol(b')') {
        Ok(Some(columns))
    } else {
        Err(RowFault::malformed("the list of columns does not end"))
    }
}

/// What a token says as a name. PostgreSQL writes names without quotes in small letters.
fn text(token: &Token<'_>, dialect: Dialect) -> Option<String> {
    let text = match token {
        Token::Word(word) if dialect == Dialect::PostgreSql => {
            return Some(String::from_utf8_lossy(word).to_ascii_lowercase());
        }
        Token::Word(word) => *word,
        Token::Name(name) | Token::Text(name) => name.as_ref(),
        _ => return None,
    };
    Some(String::from_utf8_lossy(text).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, dialect: Dialect) -> Statement {
        Statement::parse(text.as_bytes(), Syntax::new(dialect))
    }

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn copy_names_its_table_and_columns() {
        let copy = |text, table: &str, columns: Option<&[&str]>, is_plain| {
            let expected = Statement::Copy {
                table: table.to_owned(),
                columns: columns.map(names),
                is_plain,
            };
            assert_eq!(read(text, Dialect::PostgreSql), expected, "{text}");
        };
        copy(
            "COPY public.t (a, \"B c\") FROM stdin;",
            "public.t",
            Some(&["a", "B c"]),
            true,
        );
        copy("copy \"My\".T from STDIN ;", "My.t", None, true);
        copy("COPY t () FROM stdin;", "t", Some(&[]), true);
        copy(
            "COPY t (a) FROM stdin WITH (FORMAT csv);",
            "t",
            Some(&["a"]),
            false,
        );
        copy("COPY t WITH OIDS FROM stdin;", "t", None, false);
        for other in [
            "COPY t TO stdout;",
            "COPY t FROM '/tmp/x';",
            "COPY (SELECT 1) TO stdout;",
            "COPY",
            "",
        ] {
            assert_eq!(read(other, Dialect::PostgreSql), Statement::Other, "{other}");
        }
    }

    #[test]
    fn insert_names_its_table_and_sometimes_its_columns() {
        let insert = |text, dialect, table: &str, columns: Option<&[&str]>| {
            let expected = Statement::Insert {
                table: table.to_owned(),
                columns: columns.map(names),
            };
            assert_eq!(read(text, dialect), expected, "{text}");
        };
        insert(
            "INSERT INTO public.t VALUES",
            Dialect::PostgreSql,
            "public.t",
            None,
        );
        insert(
            "INSERT INTO public.t (\"a\"\"b\", C) OVERRIDING SYSTEM VALUE VALUES",
            Dialect::PostgreSql,
            "public.t",
            Some(&["a\"b", "c"]),
        );
        insert("INSERT INTO 'order' VALUES", Dialect::Sqlite, "order", None);
        insert(
            "insert or ignore into [Order](Id) values",
            Dialect::Sqlite,
            "Order",
            Some(&["Id"]),
        );
        insert(
            "INSERT IGNORE INTO `d`.`t` (`a`) VALUES",
            Dialect::MySql,
            "d.t",
            Some(&["a"]),
        );
        insert(
            "REPLACE INTO `t` PARTITION (p0) VALUES",
            Dialect::MySql,
            "t",
            None,
        );
        assert_eq!(read("INSERT INTO t (a", Dialect::MySql), Statement::Other);
    }

    #[test]
    fn create_table_names_the_columns_that_rows_have() {
        let create = |text, dialect, table: &str, columns: &[&str]| {
            let expected = Statement::Create {
                table: table.to_owned(),
                columns: names(columns),
            };
            assert_eq!(read(text, dialect), expected, "{text}");
        };
        create(
            "CREATE UNLOGGED TABLE IF NOT EXISTS public.t (\n id integer DEFAULT nextval('a,b'::regclass) NOT NULL,\n \
             key numeric(10,2), \"primary\" text, CONSTRAINT c CHECK ((id > 0)), PRIMARY KEY (id)\n) PARTITION BY RANGE (id);",
            Dialect::PostgreSql,
            "public.t",
            &["id", "key", "primary"],
        );
        create(
            "CREATE TABLE `t` (`id` int NOT NULL AUTO_INCREMENT, `kind` enum('a)','b') DEFAULT 'a', PRIMARY KEY (`id`), KEY `k` (`kind`)) ENGINE=InnoDB",
            Dialect::MySql,
            "t",
            &["id", "kind"],
        );
        create(
            "CREATE TABLE t(id INTEGER PRIMARY KEY, [key] TEXT, n AS (id + 1), m INT GENERATED ALWAYS AS (id) STORED, 'as' TEXT, UNIQUE(id))",
            Dialect::Sqlite,
            "t",
            &["id", "key", "as"],
        );
        for (text, dialect) in [
            ("CREATE TABLE t (a int) INHERITS (p);", Dialect::PostgreSql),
            ("CREATE TABLE t (LIKE p);", Dialect::PostgreSql),
            ("CREATE TABLE t (a int", Dialect::PostgreSql),
            ("CREATE TABLE t AS SELECT 1;", Dialect::Sqlite),
            ("CREATE TABLE t PARTITION OF p DEFAULT;", Dialect::PostgreSql),
            ("CREATE INDEX i ON t (a);", Dialect::PostgreSql),
        ] {
            assert_eq!(read(text, dialect), Statement::Other, "{text}");
        }
    }

    #[test]
    fn connecting_names_a_database() {
        for (line, name) in [
            ("\\connect shop\n", Some("shop")),
            ("\\c \"my \"\"db\"\r\n", Some("my \"db")),
            (
                "\\connect -reuse-previous=on \"dbname='my ''db'\"",
                Some("my 'db"),
            ),
            ("\\connect shop someone", Some("shop")),
            ("\\connect", None),
            ("\\connection x", None),
            ("\\restrict x", None),
            ("\\c -x", None),
        ] {
            assert_eq!(database_of(line.as_bytes()).as_deref(), name, "{line}");
        }
    }

    #[test]
    fn settings_that_change_the_reading_are_seen() {
        let postgresql = |text| read(text, Dialect::PostgreSql);
        assert_eq!(
            postgresql("SET client_encoding = 'LATIN1';"),
            Statement::Encoding("LATIN1".to_owned())
        );
        assert_eq!(
            postgresql("SET client_encoding TO utf8;"),
            Statement::Encoding("utf8".to_owned())
        );
        assert_eq!(
            postgresql("SET search_path = chat, pg_catalog;"),
            Statement::SearchPath(Some("chat".to_owned()))
        );
        assert_eq!(postgresql("SET search_path = '';"), Statement::SearchPath(None));
        assert_eq!(
            postgresql("SET standard_conforming_strings = off;"),
            Statement::Backslashes(true)
        );
        assert_eq!(
            postgresql("SET standard_conforming_strings = on;"),
            Statement::Backslashes(false)
        );
        assert_eq!(postgresql("SET row_security = off;"), Statement::Other);
        assert_eq!(
            read("SET NAMES utf8mb4", Dialect::MySql),
            Statement::Encoding("utf8mb4".to_owned())
        );
        assert_eq!(
            read("USE `my db`;", Dialect::MySql),
            Statement::Database("my db".to_owned())
        );
        assert_eq!(read("BEGIN TRANSACTION;", Dialect::Sqlite), Statement::Begin);
        assert_eq!(read("COMMIT;", Dialect::Sqlite), Statement::Commit);
        assert_eq!(
            read("ROLLBACK; -- due to errors", Dialect::Sqlite),
            Statement::Rollback
        );
    }
}
