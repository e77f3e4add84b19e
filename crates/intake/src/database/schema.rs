//! The schema of a database: its tables and columns.

use std::collections::VecDeque;
use std::sync::Arc;

use rusqlite::{Connection, Error, ErrorCode, ffi};

use super::{CorruptionCheck, explain};
use crate::stream::{ReadBudget, StreamError};
use crate::table::TableMap;
use crate::table::column::{Column, ColumnKind};

/// The names under which a table may expose the number of a row.
const ROW_NUMBERS: [&str; 3] = ["rowid", "_rowid_", "oid"];

/// A table or a view.
pub(super) struct Relation {
    pub(super) name: String,
    pub(super) is_view: bool,
}

/// The tables that store rows, in the order of their creation, and the views that a map of the user names.
pub(super) fn tables(connection: &Connection, maps: &[TableMap]) -> rusqlite::Result<VecDeque<Relation>> {
    let mut statement = connection.prepare(
        "SELECT name, type = 'view' FROM sqlite_schema WHERE (type = 'table' AND rootpage > 0 OR type = 'view') \
         AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY rowid",
    )?;
    let found = statement.query_map([], |row| {
        Ok(Relation {
            name: text(row, 0)?,
            is_view: row.get(1)?,
        })
    })?;
    let is_named = |view: &Relation| {
        let mut own = maps.iter().filter(|map| map.is_own && map.table != TableMap::ANY);
        own.any(|map| map.names(&view.name))
    };
    let mut found: VecDeque<Relation> = found.collect::<rusqlite::Result<_>>()?;
    found.retain(|relation| !relation.is_view || is_named(relation));
    Ok(found)
}

/// The number of SQLite instructions between two checks of what a view has used.
const STEPS: i32 = 1000;

/// The number of unfolded values that [`STEPS`] instructions count as: a row of a few columns takes about forty.
const VALUES: u64 = 100;

/// Copies the rows of a view into a temporary table of the same name, which numbers them. A view may be endless, so its
/// instructions count as unfolded values, and its bytes are limited like those of copied databases.
pub(super) fn copy_view(
    connection: &mut Connection,
    view: &str,
    columns: &[Column],
    gauge: &Arc<ReadBudget>,
) -> rusqlite::Result<Keys> {
    let limit = Arc::clone(gauge);
    let is_over = move || {
        limit.unfold(VALUES);
        limit.values_left() == 0
    };
    connection.progress_handler(STEPS, Some(is_over))?;
    let name = quoted(view);
    let pages = (gauge.limits.spool / PAGE).max(1);
    let copied = connection.execute_batch(&format!(
        "PRAGMA temp.max_page_count = {pages}; CREATE TEMP TABLE {name} AS SELECT * FROM main.{name}"
    ));
    connection.progress_handler(STEPS, None::<fn() -> bool>)?;
    copied.map_err(|error| match error.sqlite_error_code() {
        // The temporary table has reached its maximum number of pages.
        Some(ErrorCode::DiskFull) => Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_INTERRUPT), None),
        _ => error,
    })?;
    let is_hidden = |name: &&str| {
        columns
            .iter()
            .any(|column| column.name.eq_ignore_ascii_case(name))
    };
    Ok(match ROW_NUMBERS.into_iter().find(|name| !is_hidden(name)) {
        Some(number) => Keys::Number(number),
        None => Keys::Columns(Vec::new()),
    })
}

/// The length of a page of a temporary table, in bytes.
const PAGE: u64 = 4096;

/// The columns of a table, except computed ones.
pub(super) fn columns(connection: &Connection, table: &str) -> rusqlite::Result<Vec<Column>> {
    let mut statement =
        connection.prepare("SELECT name, type FROM pragma_table_info(?1, 'main') ORDER BY cid")?;
    let columns = statement.query_map([table], |row| {
        Ok(Column::of(text(row, 0)?, ColumnKind::of_type(&text(row, 1)?)))
    })?;
    columns.collect()
}

/// The columns that identify the rows of a table.
pub(super) enum Keys {
    /// Their row number, under this name.
    Number(&'static str),
    /// The columns of the primary key, as SQL expressions.
    Columns(Vec<String>),
}

/// The keys of a table: row numbers, or the primary key in a table without them.
pub(super) fn keys(connection: &Connection, table: &str, columns: &[Column]) -> rusqlite::Result<Keys> {
    let is_hidden = |name: &str| {
        columns
            .iter()
            .any(|column| column.name.eq_ignore_ascii_case(name))
    };
    let number = ROW_NUMBERS.into_iter().find(|name| !is_hidden(name));
    if let Some(number) = number
        && connection
            .prepare(&format!("SELECT {number} FROM main.{}", quoted(table)))
            .is_ok()
    {
        return Ok(Keys::Number(number));
    }
    // The key may compare text with another collation than its columns.
    let mut statement = connection.prepare(
        "SELECT part.name, part.coll FROM pragma_index_list(?1, 'main') AS list \
         JOIN pragma_index_xinfo(list.name, 'main') AS part \
         WHERE list.origin = 'pk' AND part.key = 1 ORDER BY part.seqno",
    )?;
    let parts = statement.query_map([table], |row| {
        let (name, collation) = (text(row, 0)?, text(row, 1)?);
        Ok(format!("{} COLLATE {}", quoted(&name), quoted(&collation)))
    })?;
    Ok(Keys::Columns(parts.collect::<rusqlite::Result<_>>()?))
}

/// Counts the rows of a table; returns the error that ended the count early, if any.
///
/// A row takes at least one byte of the file; if there are more rows than bytes, the pages of the table form a circle.
pub(super) fn count(
    connection: &Connection,
    table: &str,
    bytes: u64,
    corruption_check: &mut CorruptionCheck,
    gauge: &ReadBudget,
) -> rusqlite::Result<(u64, Option<StreamError>)> {
    let mut statement = connection.prepare(&format!("SELECT 1 FROM main.{} NOT INDEXED", quoted(table)))?;
    let mut rows = statement.query([])?;
    let mut count = 0;
    loop {
        match rows.next() {
            Ok(Some(_)) if count < bytes => count += 1,
            Ok(Some(_)) => {
                let circle = StreamError::corrupt("the table has more rows than the file has bytes");
                return Ok((count, Some(circle)));
            }
            Ok(None) => return Ok((count, None)),
            Err(error) if corruption_check.should_retry(&error) => {
                return self::count(connection, table, bytes, corruption_check, gauge);
            }
            Err(error) => return Ok((count, Some(explain(&error, gauge)))),
        }
    }
}

/// A quoted name in SQL.
pub(super) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// The text of a column, which need not be valid UTF-8.
fn text(row: &rusqlite::Row<'_>, at: usize) -> rusqlite::Result<String> {
    Ok(String::from_utf8_lossy(row.get_ref(at)?.as_bytes()?).into_owned())
}
