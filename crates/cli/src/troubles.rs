//! Lists on stderr what could not be read, for commands whose result is incomplete without it.

use std::io::{self, Write};

use chatmill_engine::Troubles;

use crate::figures::counted;
use crate::output::harmless;
use crate::stderr::{Word, line};

/// What is told one by one; the rest is counted.
const MAX_SHOWN: usize = 5;

/// Says what is missing, with `what` in front (`not counted`), and what was read but is in doubt.
pub(crate) fn tell(what: &str, troubles: &Troubles) {
    // Nobody is left to be told when stderr is closed.
    let _ = write!(io::stderr().lock(), "{}", lines(what, troubles));
}

fn lines(what: &str, troubles: &Troubles) -> String {
    let warnings = troubles.warnings.iter().take(MAX_SHOWN);
    let warnings = warnings.map(|trouble| harmless(&trouble.to_string()));
    let missing = troubles.first.iter().take(MAX_SHOWN);
    let missing = missing.map(|trouble| format!("{what}: {}", harmless(&trouble.to_string())));
    let more = troubles.count.saturating_sub(missing.len() as u64);
    let more = (more > 0).then(|| {
        let more = counted(more, "more record");
        format!("{more} {what}; `chatmill check` shows them")
    });
    let lines = warnings.chain(missing).chain(more);
    lines.map(|said| line(Word::Warning, &said)).collect()
}
