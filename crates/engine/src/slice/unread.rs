//! Inputs without frames: databases and dumps without a table
//! that a source reads, and files that cannot be opened.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;
use std::sync::atomic::AtomicBool;

use chatmill_diag::{Finding, Limits, codes};
use chatmill_intake::TableName;
use chatmill_intake::{FramingError, json};
use chatmill_source::{Guess, TableMap};
use memchr::memmem;

use super::grouping::ReadTable;
use super::recognise::guesses;
use crate::plan::PlannedInput;

/// The tables of an input, each of which may be an entry.
#[derive(Default)]
pub(super) struct Tables {
    /// Whether any of its entries has tables.
    pub(super) is_database: bool,
    /// Whether any table was read.
    pub(super) has_one: bool,
    /// Names of tables that were skipped.
    pub(super) passed: Vec<String>,
    /// Names of undeclared tables that were skipped, and the map that has their columns.
    undeclared: (Vec<String>, String),
    /// The current table, and the index of the user's map that reads it.
    reading: Option<(String, usize)>,
    /// The first table that was read, for the user's maps and for each known system.
    first: BTreeMap<Option<&'static str>, TableName>,
    /// The findings that were reported, each once per input.
    noted: BTreeSet<Noted>,
    /// Whether a row was read.
    pub(super) has_rows: bool,
    /// The name of a map with a filter that excluded rows.
    filter: Option<String>,
}

/// A remark about the tables of an input.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Noted {
    /// Several tables are read.
    Several,
    /// Rows have no conversation.
    Alone,
    /// Texts of this column are JSON.
    TextsOf(String),
    /// This map has no column for the order.
    Unordered(String),
}

/// The start of a row's content that is a text with a list.
static TEXT_OF_LIST: LazyLock<memmem::Finder<'static>> =
    LazyLock::new(|| memmem::Finder::new(b"\"content\":\""));

/// The number of tables that a finding names if none is read.
const MAX_NAMED_TABLES: usize = 12;

impl Tables {
    /// Records a table with skipped rows, the map that it resembles, and whether a filter of its map skipped them.
    pub(super) fn pass(&mut self, table: &str, resembles: Option<String>, maps: &[TableMap]) {
        add(table, &mut self.passed);
        if let Some(map) = resembles {
            add(table, &mut self.undeclared.0);
            self.undeclared.1 = map;
        }
        self.filtered(self.map(Some(table), maps));
    }

    /// Records a table that is read; returns a finding if it is the second table of the input for this system.
    pub(super) fn note(&mut self, ReadTable { system, name: table }: &ReadTable) -> Option<Finding> {
        let first = self.first.entry(*system).or_insert_with(|| table.clone());
        if first == table || !self.noted.insert(Noted::Several) {
            return None;
        }
        let (first, second) = (first.full(), table.full());
        let text = format!(
            "several tables are read ({first}, {second}): each has separate conversations, and all ids begin with the \
             table; if they are one table, name them in one map as `table = [\"{first}\", \"{second}\"]`"
        );
        Some(Finding::new(&codes::SEVERAL_TABLES, text))
    }

    /// Returns the reason for refusing a table that is the
    /// second one with the columns of a map without a table.
    pub(super) fn rival(&self, table: Option<&TableName>, maps: &[TableMap]) -> Option<String> {
        let map = self.map(None, maps).filter(|map| map.table == TableMap::ANY)?;
        let (first, table) = (self.first.get(&None)?, table?);
        (first != table).then(|| {
            let (first, second) = (first.full(), table.full());
            format!(
                "{first} and {second} have the columns of {}: name one of them with `table={first}` or `table={second}`, or both if \
                 they are one",
                map.name
            )
        })
    }

    /// Records the table that is read from here on, and its map.
    pub(super) fn begin(&mut self, table: &str, map: &str, maps: &[TableMap]) {
        let own = maps.iter().position(|own| own.is_own && own.name == map);
        self.reading = own.map(|own| (table.to_owned(), own));
    }

    /// Returns the user's map that reads the current table; `table`, if given, must be its name.
    pub(super) fn map<'m>(&self, table: Option<&str>, maps: &'m [TableMap]) -> Option<&'m TableMap> {
        let (reading, map) = self.reading.as_ref()?;
        maps.get(*map)
            .filter(|_| table.is_none_or(|table| table == reading))
    }

    /// Records that rows were skipped by a filter of this map.
    pub(super) fn filtered(&mut self, map: Option<&TableMap>) {
        let map = map.filter(|map| !map.filters.is_empty());
        self.filter = self.filter.take().or_else(|| map.map(|map| map.name.clone()));
    }

    /// Returns the findings about the whole input, at its end.
    pub(super) fn at_end(&self) -> impl Iterator<Item = Finding> {
        self.nothing_left().into_iter().chain(self.undeclared_parts())
    }

    /// Returns the finding that undeclared tables have the columns of a map, and are not read.
    fn undeclared_parts(&self) -> Option<Finding> {
        let (tables, map) = &self.undeclared;
        let names = listed(tables).filter(|_| self.has_one)?;
        let text = format!(
            "tables with the columns of the table map {map} are not read, because it does not name them and the dump does not \
             declare them: {names}; if they are partitions of its table, name them in `table` of the map, or read a dump with the \
             definitions"
        );
        Some(Finding::new(&codes::UNDECLARED_PARTS, text))
    }

    /// Returns the finding that a filter excluded all rows of the input.
    fn nothing_left(&self) -> Option<Finding> {
        let name = self.filter.as_ref().filter(|_| !self.has_rows)?;
        let text = format!(
            "the filter of the table map {name} leaves out every row of the input: compare its values with those of the column"
        );
        Some(Finding::new(&codes::EMPTY_INPUT, text))
    }

    /// Returns the findings for the first row of each kind in the input: its
    /// text is a list of parts, it has no conversation, or its map has no order.
    pub(super) fn notes_of_row(
        &mut self,
        row: &[u8],
        map: Option<&TableMap>,
        alone: u64,
        limits: &Limits,
    ) -> [Option<Finding>; 3] {
        let is_first = alone > 0 && self.noted.insert(Noted::Alone);
        let alone = is_first.then(|| {
            let text = "the conversation is null or empty in rows of the table: each of them is a conversation of one row";
            Finding::new(&codes::SPARED_FIELD, text)
        });
        let has_order = |map: &TableMap| {
            map.columns
                .iter()
                .any(|(ours, _)| ours == "order" || ours == "created_at")
        };
        self.has_rows = true;
        let unordered = map.filter(|map| map.is_own && map.source == "table-rows" && !has_order(map));
        let unordered = unordered.filter(|map| self.noted.insert(Noted::Unordered(map.name.clone())));
        let unordered = unordered.map(|map| {
            let text = format!(
                "the table map {} names neither order nor created_at: messages are in the order of their ids if these are numbers, \
                 else in the order of the rows, which a database does not guarantee",
                map.name
            );
            Finding::new(&codes::SPARED_FIELD, text)
        });
        [self.text_of_parts(row, map, limits), alone, unordered]
    }

    /// Returns the finding about a row with a text that is a list of parts.
    fn text_of_parts(&mut self, row: &[u8], map: Option<&TableMap>, limits: &Limits) -> Option<Finding> {
        let (_, text) = row.split_at_checked(TEXT_OF_LIST.find(row)? + TEXT_OF_LIST.needle().len())?;
        // Blanks, also escaped ones, may precede and follow the bracket.
        let mut signs = text.iter().filter(|sign| !b" \\nrt".contains(sign));
        if (signs.next(), signs.next()) != (Some(&b'['), Some(&b'{')) {
            return None;
        }
        let mut columns = map.into_iter().flat_map(|map| &map.columns);
        let column = columns.find(|(ours, _)| ours == "content");
        let column = column.map_or("content", |(_, theirs)| theirs);
        let noted = Noted::TextsOf(column.to_owned());
        if self.noted.contains(&noted) {
            return None;
        }
        let document = json::scan(row, limits.depth).ok()?;
        let text = document.root().get("content")?.as_str()?.into_owned();
        if !chatmill_source::is_text_of_parts(&text, limits) {
            return None;
        }
        self.noted.insert(noted);
        let text = format!(
            "texts of the column {column} are lists of parts as JSON, and are read as plain text: `json = [\"{column}\"]` in the \
             table map reads the parts"
        );
        Some(Finding::new(&codes::BEARABLE_TYPE, text))
    }
}

/// Adds a name once; one more than a finding lists, which then shows that there are others.
fn add(name: &str, names: &mut Vec<String>) {
    if names.len() <= MAX_NAMED_TABLES && !names.iter().any(|known| known == name) {
        names.push(name.to_owned());
    }
}

/// Returns the names of tables for a finding, if there are any.
fn listed(names: &[String]) -> Option<String> {
    let mut shown: Vec<&str> = names.iter().map(String::as_str).take(MAX_NAMED_TABLES).collect();
    if names.len() > MAX_NAMED_TABLES {
        shown.push("…");
    }
    (!shown.is_empty()).then(|| shown.join(", "))
}

/// Returns the finding that a database or a dump has no table that is read, with a guess about one of them.
pub(super) fn no_table(
    planned: &PlannedInput,
    passed: &[String],
    limits: &Limits,
    stop: &AtomicBool,
) -> (Finding, Option<Guess>) {
    let finding = |text| Finding::new(&codes::UNKNOWN_FORMAT, text);
    if let Some(known) = chatmill_source::unsupported_tables(passed) {
        let text = format!(
            "this looks like {}, which is not read yet: {}",
            known.name, known.why
        );
        return (finding(text), None);
    }
    let guess = guesses::of_tables(planned, limits, stop);
    if let Some(guess) = guess.as_ref().filter(|_| planned.settings.quotes) {
        return (finding(guesses::refusal(guess, planned)), Some(guess.clone()));
    }
    let found = match listed(passed) {
        None => "there is no table with rows".to_owned(),
        Some(names) => format!("no table map names any of {names}"),
    };
    let text = format!("{found}; name the table of messages with --map or [table_map] in a pipeline file");
    (finding(text), guess)
}

/// Returns the framing error for an unread input, or for all of its tables.
pub(super) fn of_nothing(finding: &Finding) -> FramingError {
    FramingError {
        record: 0,
        start: 0,
        end: 0,
        line: 1,
        column: 1,
        code: finding.code,
        hash: blake3::hash(b"").to_hex().to_string(),
        head: Vec::new(),
        message: finding.message.clone(),
        at: None,
        around: None,
    }
}
