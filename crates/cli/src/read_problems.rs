//! Lists the records that could not be read on stderr, for commands that are incomplete without them.

use std::io::{self, Write};

use chatmill_engine::ReadProblems;

use crate::figures::counted;
use crate::output::harmless;
use crate::stderr::{Word, line};

/// The number of problems that are listed; the rest is counted.
const MAX_SHOWN: usize = 5;

/// Prints warnings, and the missing records, each with `what` happened to it (`not counted`).
pub(crate) fn report(what: &str, problems: &ReadProblems) {
    // Ignored: a closed stderr has no reader.
    let _ = write!(io::stderr().lock(), "{}", lines(what, problems));
}

fn lines(what: &str, problems: &ReadProblems) -> String {
    let warnings = problems.warnings.iter().take(MAX_SHOWN);
    let warnings = warnings.map(|problem| harmless(&problem.to_string()));
    let missing = problems.first.iter().take(MAX_SHOWN);
    let missing = missing.map(|problem| format!("{what}: {}", harmless(&problem.to_string())));
    let more = problems.count.saturating_sub(missing.len() as u64);
    let more = (more > 0).then(|| {
        let more = counted(more, "more record");
        format!("{more} {what}; `chatmill check` shows them")
    });
    let notes = problems.notes.iter();
    let notes = notes.map(|note| line(Word::Note, &harmless(note)));
    let lines = warnings.chain(missing).chain(more);
    let lines = lines.map(|text| line(Word::Warning, &text));
    notes.chain(lines).collect()
}
