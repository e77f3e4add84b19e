//! The parts of a dump's statements that matter for reading rows.

use std::borrow::Cow;

use super::column::{Column, ColumnKind};
use super::escape::{Escapes, quoted};
use super::sql::{Dialect, Syntax, Token, Tokens};
use crate::stream::StreamError;

/// A statement, as far as it matters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Statement {
    /// Rows follow, one per line.
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
    /// A table, the columns that it declares, and the tables of which it is a part, as a partition or an inheriting child.
    Create {
        table: String,
        columns: Vec<Column>,
        parents: Vec<String>,
    },
    /// A type that is another one with conditions; `base` is the name of that type if it may be a domain, too.
    Domain {
        name: String,
        kind: ColumnKind,
        base: Option<String>,
    },
    /// A table becomes part of another.
    Attach { parent: String, child: String },
    /// The encoding of the following text.
    Encoding(String),
    /// The schema of tables that are named without one.
    SearchPath(Option<String>),
    /// Whether backslashes are escapes in plain quotes.
    Backslashes(bool),
    /// The time zone offset of the following times.
    Offset(String),
    /// The database of the following text.
    Database(String),
    /// A transaction begins.
    Begin,
    /// A transaction ends with a commit.
    Commit,
    /// A transaction is rolled back.
    Rollback,
    /// A statement that does not matter for rows.
    Other,
}

impl ColumnKind {
    /// The kind that a word in a type names.
    fn named(word: &str, dialect: Dialect) -> Self {
        let word = word.to_ascii_lowercase();
        match (word.as_str(), dialect) {
            (word, Dialect::Sqlite) if word.contains("json") => Self::Json,
            // In SQLite, each value has a type.
            ("blob" | "binary" | "varbinary", Dialect::Sqlite) => Self::Plain,
            ("json" | "jsonb", _) => Self::Json,
            ("bytea" | "blob" | "tinyblob" | "mediumblob" | "longblob" | "binary" | "varbinary", _)
            | ("geometry" | "point" | "linestring" | "polygon", Dialect::MySql) => Self::Bytes,
            ("bool" | "boolean", _) | ("tinyint" | "bit", Dialect::MySql) => Self::Truth,
            ("timestamp", Dialect::MySql) => Self::Instant,
            _ => Self::Plain,
        }
    }

    /// The kind of a type in SQLite's schema.
    pub(crate) fn of_type(declared: &str) -> Self {
        let mut words = declared.split(|sign: char| !sign.is_ascii_alphanumeric() && sign != '_');
        let kinds = words.by_ref().map(|word| Self::named(word, Dialect::Sqlite));
        kinds.fold(Self::Plain, Self::or)
    }
}

impl Statement {
    /// Parses a statement; of an `INSERT` only the part before the first row.
    ///
    /// An invalid statement is ignored.
    pub(crate) fn parse(text: &[u8], syntax: Syntax) -> Self {
        let mut tokens = Tokens::new(text, syntax);
        parse(&mut tokens).unwrap_or(Self::Other)
    }
}

fn parse(tokens: &mut Tokens<'_>) -> Option<Statement> {
    let Token::Word(first) = tokens.next().ok()?? else {
        return None;
    };
    match first.to_ascii_uppercase().as_slice() {
        b"COPY" => copy(tokens),
        b"INSERT" | b"REPLACE" => insert(tokens),
        b"CREATE" => create(tokens),
        b"ALTER" => alter(tokens),
        b"SET" => set(tokens),
        b"USE" => name_part(tokens).map(Statement::Database),
        b"BEGIN" => Some(Statement::Begin),
        b"COMMIT" => Some(Statement::Commit),
        b"ROLLBACK" => Some(Statement::Rollback),
        _ => None,
    }
}

fn copy(tokens: &mut Tokens<'_>) -> Option<Statement> {
    let table = name(tokens)?;
    let columns = columns(tokens).ok()?;
    let mut is_plain = tokens.take_word("FROM") && tokens.take_word("STDIN");
    let mut has_rows = is_plain;
    tokens.take_symbol(b';');
    // `WITH OIDS` is before `FROM` and adds a column.
    while let Some(token) = tokens.next().ok()? {
        is_plain = false;
        has_rows |= matches!(token, Token::Word(word) if word.eq_ignore_ascii_case(b"STDIN"));
    }
    has_rows.then_some(Statement::Copy {
        table,
        columns,
        is_plain,
    })
}

fn insert(tokens: &mut Tokens<'_>) -> Option<Statement> {
    while !tokens.take_word("INTO") {
        let Token::Word(_) = tokens.next().ok()?? else {
            return None;
        };
    }
    let table = name(tokens)?;
    if tokens.take_word("PARTITION") && tokens.take_symbol(b'(') {
        tokens.skip_bracket().ok()?;
    }
    let columns = columns(tokens).ok()?;
    Some(Statement::Insert { table, columns })
}

fn create(tokens: &mut Tokens<'_>) -> Option<Statement> {
    loop {
        match tokens.next().ok()?? {
            Token::Word(word) if word.eq_ignore_ascii_case(b"TABLE") => break,
            Token::Word(word) if word.eq_ignore_ascii_case(b"DOMAIN") => return domain(tokens),
            // The words GLOBAL, LOCAL, TEMPORARY, UNLOGGED and FOREIGN.
            Token::Word(_) => {}
            _ => return None,
        }
    }
    if tokens.take_word("IF") {
        tokens.take_word("NOT");
        tokens.take_word("EXISTS");
    }
    let table = name(tokens)?;
    if tokens.take_word("PARTITION") {
        // It has the columns of its parent table.
        let parents = vec![tokens.take_word("OF").then(|| name(tokens))??];
        let columns = Vec::new();
        return Some(Statement::Create {
            table,
            columns,
            parents,
        });
    }
    if !tokens.take_symbol(b'(') {
        return None;
    }
    let (mut columns, mut json) = (Vec::new(), Vec::new());
    while !tokens.take_symbol(b')') {
        let (column, is_last) = column_definition(tokens, &mut json)?;
        columns.extend(column);
        if is_last {
            break;
        }
    }
    for column in columns.iter_mut().filter(|column| json.contains(&column.name)) {
        column.kind = ColumnKind::Json;
    }
    let mut parents = Vec::new();
    if tokens.take_word("INHERITS") && tokens.take_symbol(b'(') {
        loop {
            parents.push(name(tokens)?);
            if !tokens.take_symbol(b',') {
                break;
            }
        }
    }
    (!columns.is_empty() || !parents.is_empty()).then_some(Statement::Create {
        table,
        columns,
        parents,
    })
}

/// Parses `CREATE DOMAIN name AS type` from its third word on.
fn domain(tokens: &mut Tokens<'_>) -> Option<Statement> {
    let name = name(tokens)?;
    tokens.take_word("AS");
    let (kind, base) = declared_type(tokens);
    Some(Statement::Domain { name, kind, base })
}

/// The kind of the type that is next in a statement of PostgreSQL, else its name, which may be that of a domain.
fn declared_type(tokens: &Tokens<'_>) -> (ColumnKind, Option<String>) {
    let mut tokens = tokens.clone();
    let declared = name(&mut tokens);
    // An array of such values is written differently.
    let declared = declared.filter(|_| !tokens.take_symbol(b'['));
    let kind = declared
        .as_deref()
        .map(|word| ColumnKind::named(word, Dialect::PostgreSql));
    let kind = kind.unwrap_or_default();
    (kind, declared.filter(|_| kind == ColumnKind::Plain))
}

/// Parses `ALTER TABLE parent ATTACH PARTITION child`, or `ALTER TABLE child INHERIT parent`.
fn alter(tokens: &mut Tokens<'_>) -> Option<Statement> {
    if !tokens.take_word("TABLE") {
        return None;
    }
    let _ = tokens.take_word("IF") && tokens.take_word("EXISTS");
    tokens.take_word("ONLY");
    let table = name(tokens)?;
    if tokens.take_word("ATTACH") && tokens.take_word("PARTITION") {
        let child = name(tokens)?;
        return Some(Statement::Attach { parent: table, child });
    }
    let parent = tokens.take_word("INHERIT").then(|| name(tokens))??;
    Some(Statement::Attach { parent, child: table })
}

/// The next column of a table, if rows have a value for it; the flag is true if the closing bracket follows. Columns
/// that a check declares as JSON are added to `json`.
fn column_definition(tokens: &mut Tokens<'_>, json: &mut Vec<String>) -> Option<(Option<Column>, bool)> {
    let dialect = tokens.syntax().dialect;
    let mut column: Option<Column> = None;
    let mut is_first = true;
    let mut is_type = true;
    let mut after_as = false;
    let mut after_bit = false;
    loop {
        let token = tokens.next().ok()??;
        match &token {
            Token::Symbol(b')') => return Some((column, true)),
            Token::Symbol(b',') => return Some((column, false)),
            Token::Symbol(b'(') => {
                // SQLite writes no value for a computed column.
                if after_as && dialect == Dialect::Sqlite {
                    column = None;
                }
                let mut inside = tokens.clone();
                if let Some(column) = &mut column
                    && after_bit
                    && column.kind == ColumnKind::Truth
                    && inside.peek().ok()? != Some(Token::Number(b"1"))
                {
                    column.kind = ColumnKind::Bytes;
                }
                if inside.take_word("json_valid") && inside.take_symbol(b'(') {
                    json.extend(name_part(&mut inside));
                }
                tokens.skip_bracket().ok()?;
            }
            // An array of such values is written differently.
            Token::Symbol(b'[') => {
                if let Some(column) = &mut column {
                    column.kind = ColumnKind::Plain;
                }
            }
            Token::Word(word) if is_first && begins_constraint(word, dialect) => {}
            // The columns are those of another table.
            Token::Word(word) if is_first && word.eq_ignore_ascii_case(b"LIKE") => return None,
            _ if is_first => {
                column = text(&token, dialect).map(|name| Column {
                    domain: (dialect == Dialect::PostgreSql)
                        .then(|| declared_type(tokens).1)
                        .flatten(),
                    ..Column::plain(&name)
                });
            }
            Token::Word(word) if is_type => {
                is_type = !ends_type(word);
                if let (Some(column), true) = (&mut column, is_type) {
                    let kind = ColumnKind::named(&String::from_utf8_lossy(word), dialect);
                    column.kind = column.kind.or(kind);
                }
            }
            _ => {}
        }
        let is = |name: &[u8]| matches!(&token, Token::Word(word) if word.eq_ignore_ascii_case(name));
        (after_as, after_bit) = (is(b"AS"), is(b"BIT"));
        is_first = false;
    }
}

/// Whether a word after a column's type begins another property of the column.
fn ends_type(word: &[u8]) -> bool {
    let words = [
        "NOT",
        "NULL",
        "DEFAULT",
        "COLLATE",
        "CHARACTER",
        "GENERATED",
        "AS",
        "REFERENCES",
        "ON",
    ];
    words
        .iter()
        .any(|known| word.eq_ignore_ascii_case(known.as_bytes()))
        || begins_constraint(word, Dialect::MySql)
}

fn begins_constraint(word: &[u8], dialect: Dialect) -> bool {
    let everywhere: &[&str] = &["CONSTRAINT", "PRIMARY", "UNIQUE", "CHECK", "FOREIGN"];
    // MySQL quotes every column name, so these words are keywords there; elsewhere `key` is a common name.
    let in_mysql: &[&str] = &["KEY", "INDEX", "FULLTEXT", "SPATIAL", "PERIOD"];
    let is = |name: &&str| word.eq_ignore_ascii_case(name.as_bytes());
    everywhere.iter().any(is) || (dialect == Dialect::MySql && in_mysql.iter().any(is))
}

fn set(tokens: &mut Tokens<'_>) -> Option<Statement> {
    let Token::Word(name) = tokens.next().ok()?? else {
        return None;
    };
    let name = name.to_ascii_lowercase();
    if name != b"names" && !tokens.take_symbol(b'=') {
        tokens.take_word("TO");
    }
    let value = name_part(tokens)?;
    match name.as_slice() {
        b"client_encoding" | b"names" => Some(Statement::Encoding(value)),
        b"search_path" => Some(Statement::SearchPath(
            Some(value).filter(|schema| !schema.is_empty()),
        )),
        b"standard_conforming_strings" => Some(Statement::Backslashes(value.eq_ignore_ascii_case("off"))),
        b"time_zone" if value.starts_with(['+', '-']) => Some(Statement::Offset(value)),
        _ => None,
    }
}

/// The database in a line for PostgreSQL's client, `\connect name`; `None` if it is no such line.
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
    // The client is given a whole connection string if the name needs quotes.
    let name = match name.strip_prefix(b"dbname=") {
        Some(value) => match value.strip_prefix(b"'") {
            Some(inside) => quoted(b'\'', inside, Escapes::PostgreSql).ok()??.0.into_owned(),
            None => value.to_vec(),
        },
        None => name.into_owned(),
    };
    Some(String::from_utf8_lossy(&name).into_owned())
}

/// A name with its qualifiers, joined by dots.
fn name(tokens: &mut Tokens<'_>) -> Option<String> {
    let mut name = name_part(tokens)?;
    while tokens.take_symbol(b'.') {
        name.push('.');
        name.push_str(&name_part(tokens)?);
    }
    Some(name)
}

fn name_part(tokens: &mut Tokens<'_>) -> Option<String> {
    let token = tokens.next().ok()??;
    text(&token, tokens.syntax().dialect)
}

/// A list of columns in brackets, if it is next.
fn columns(tokens: &mut Tokens<'_>) -> Result<Option<Vec<String>>, StreamError> {
    if !tokens.take_symbol(b'(') {
        return Ok(None);
    }
    let mut columns = Vec::new();
    if tokens.take_symbol(b')') {
        return Ok(Some(columns));
    }
    loop {
        let column = name_part(tokens);
        columns.push(column.ok_or_else(|| StreamError::malformed("expected the name of a column"))?);
        if !tokens.take_symbol(b',') {
            break;
        }
    }
    if tokens.take_symbol(b')') {
        Ok(Some(columns))
    } else {
        Err(StreamError::malformed("the list of columns is not closed"))
    }
}

/// The name that a token denotes. PostgreSQL writes unquoted names in lower case.
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
    use crate::reader::testing::{cases, dialect as named};

    #[test]
    fn statements_match_the_case_file() {
        cases("statements", |dialect, text| {
            if dialect == "database" {
                return format!("{:?}", database_of(text.as_bytes()));
            }
            let syntax = Syntax::new(named(dialect));
            format!("{:?}", Statement::parse(text.as_bytes(), syntax))
        });
    }
}
