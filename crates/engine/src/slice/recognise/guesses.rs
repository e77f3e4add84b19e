//! What the columns of tables are taken for that no map reads: one guess for each header, from the first file that has it.

use std::collections::BTreeMap;

use chatmill_diag::{Finding, codes};
use chatmill_intake::Head;
use chatmill_source::{Guess, TableSample, guess};

use crate::plan::PlannedInput;

/// Headers that are remembered; files with others are guessed each by itself.
const MAX_HEADERS: usize = 1024;

/// The guesses so far.
#[derive(Default)]
pub(in crate::slice) struct Guesses {
    by_header: BTreeMap<Vec<String>, Option<Guess>>,
}

impl Guesses {
    /// The guess for an entry with this beginning.
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

/// The name of a guessed map.
pub(in crate::slice) const NAME: &str = "guessed";

/// The note that says how a table is read.
pub(in crate::slice) fn note(guess: &Guess, planned: &PlannedInput) -> Finding {
    let text = match guess.options().filter(|_| planned.settings.quotes) {
        Some(options) => format!("no map reads this table: its columns are read as {options} would"),
        None => "no map reads this table: its columns are read as their names and values suggest".to_owned(),
    };
    Finding::new(&codes::GUESSED_COLUMNS, text)
}

/// Why a table is refused that nobody mapped, with the map that would read it.
pub(in crate::slice) fn refusal(guess: &Guess, planned: &PlannedInput) -> String {
    if !planned.settings.quotes {
        return "this is a table that no map reads: --map, or [table_map] in a pipeline file, says what its columns are".to_owned();
    }
    let columns = &guess.described;
    let options = guess.options().filter(|_| planned.settings.guesses);
    let Some(options) = options else {
        let line = guess.line("mine");
        return format!(
            "this is a table: {columns}; a run guesses no columns, this line before the first section reads it: {line}"
        );
    };
    let agents = if guess.has_agents() {
        ""
    } else {
        "; --assistant NAME says whose rows are an agent's"
    };
    format!("this is a table: {columns}; if it is a chat, this reads it: {options}{agents}")
}
