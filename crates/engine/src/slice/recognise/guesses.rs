//! Guesses the meaning of columns in tables that no map reads:
//! one guess for each header, from the first file that has it.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use chatmill_diag::{Finding, Limits, codes, cut};
use chatmill_intake::discover::InputKind;
use chatmill_intake::{Event, Framing, Head, Reader};
use chatmill_source::{Guess, TableMap, TableSample, guess, guess_tables};

use crate::plan::PlannedInput;

/// The number of headers that are remembered; files with further headers are guessed separately.
const MAX_HEADERS: usize = 1024;

/// The guesses so far.
#[derive(Default)]
pub(in crate::slice) struct Guesses {
    by_header: BTreeMap<Vec<String>, Option<Guess>>,
}

impl Guesses {
    /// Returns the guess for an entry with this head.
    pub(in crate::slice) fn of(&mut self, head: &Head) -> Option<Guess> {
        let sample = TableSample::of(head)?;
        let mut header = sample.columns.clone();
        header.sort_unstable();
        if let Some(known) = self.by_header.get(&header) {
            return known.clone();
        }
        let guessed = guess(&sample);
        if self.by_header.len() < MAX_HEADERS {
            self.by_header.insert(header, guessed.clone());
        }
        guessed
    }
}

/// The number of tables in a database that are examined.
const MAX_TABLES: usize = 64;

/// Rows and bytes of each table that are examined.
const MAX_ROWS: usize = 256;
const MAX_BYTES: usize = 64 << 10;

/// Guesses the meaning of one table in a database or a dump without any known
/// table. The input is read once more, for the first rows of its tables.
pub(in crate::slice) fn of_tables(
    planned: &PlannedInput,
    limits: &Limits,
    stop: &AtomicBool,
) -> Option<Guess> {
    if !matches!(
        planned.input.kind,
        InputKind::File | InputKind::Folder | InputKind::Memory(_)
    ) {
        return None;
    }
    let all = TableMap {
        table: TableMap::ANY.to_owned(),
        ..TableMap::default()
    };
    let mut reader = Reader::open(&planned.input, limits).with_tables([all].into());
    let mut tables: Vec<(String, Head, usize)> = Vec::new();
    let mut present = 0;
    let mut buffer = Vec::new();
    while let Some(event) = reader.next(&mut buffer) {
        if stop.load(Ordering::Relaxed) {
            return None;
        }
        match event {
            Event::EntryStart { head, .. } if head.framing != Framing::Tables => {
                reader.skip_entry("no table");
            }
            // A file of rows.
            Event::Table { whole: None, .. } => reader.skip_table(),
            Event::Table {
                whole: Some(whole), ..
            } => {
                let name = whole.table;
                let known = tables.iter().position(|(known, ..)| *known == name);
                present = known.unwrap_or(tables.len());
                if known.is_none() && present < MAX_TABLES {
                    let head = Head {
                        framing: Framing::Lines,
                        complete: true,
                        bytes: Vec::new(),
                    };
                    tables.push((name, head, 0));
                }
            }
            Event::Frame(frame) => match tables.get_mut(present) {
                Some((_, head, rows)) if *rows < MAX_ROWS && head.bytes.len() < MAX_BYTES => {
                    head.bytes.extend_from_slice(cut::slice(&buffer, frame.buffer));
                    head.bytes.push(b'\n');
                    *rows += 1;
                }
                _ => reader.skip_table(),
            },
            Event::Failed(_) => return None,
            _ => {}
        }
        buffer.clear();
    }
    let samples = tables
        .into_iter()
        .filter_map(|(name, head, _)| Some((name, TableSample::of(&head)?)));
    guess_tables(&samples.collect::<Vec<_>>())
}

/// The name of a guessed map.
pub(in crate::slice) const NAME: &str = "guessed";

/// Returns the note about the guessed columns of a table.
pub(in crate::slice) fn note(guess: &Guess, planned: &PlannedInput) -> Finding {
    let text = match guess.options().filter(|_| planned.settings.quotes) {
        Some(options) => format!("no map reads this table: its columns are read as {options} would"),
        None => "no map reads this table: its columns are read as their names and values suggest".to_owned(),
    };
    Finding::new(&codes::GUESSED_COLUMNS, text)
}

/// Returns the reason for refusing an unmapped table, with a map that would read it.
pub(in crate::slice) fn refusal(guess: &Guess, planned: &PlannedInput) -> String {
    if !planned.settings.quotes {
        return "this is a table that no map reads: describe its columns with --map, or with [table_map] in a pipeline file".to_owned();
    }
    let columns = &guess.described;
    let what = guess.table.as_deref().unwrap_or("this");
    let options = guess.options().filter(|_| planned.settings.guesses);
    let Some(options) = options else {
        let line = guess.line("mine");
        return format!(
            "{what} is a table: {columns}; a run guesses no columns, this line before the first section reads it: {line}"
        );
    };
    let agents = if guess.has_agents() {
        ""
    } else {
        "; --assistant NAME marks the rows of an agent"
    };
    format!("{what} is a table: {columns}; if it is a chat, this reads it: {options}{agents}")
}
