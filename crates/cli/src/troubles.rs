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
    let mut text = String::new();
    for trouble in troubles.warnings.iter().take(MAX_SHOWN) {
        text.push_str(&line(Word::Warning, &harmless(&trouble.to_string())));
    }
    for trouble in troubles.first.iter().take(MAX_SHOWN) {
        text.push_str(&line(
            Word::Warning,
            &format!("{what}: {}", harmless(&trouble.to_string())),
        ));
    }
    let shown = troubles.first.len().min(MAX_SHOWN) as u64;
    let more = troubles.count.saturating_sub(shown);
    if more > 0 {
        let more = counted(more, "more record");
        text.push_str(&line(
            Word::Warning,
            &format!("{more} {what}; `chatmill check` shows them"),
        ));
    }
    text
}
