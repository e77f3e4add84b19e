//! What a user sees of a bug in chatmill itself: one plain line, without the panic's own text (it may quote chat text)
//! and without a backtrace.

use std::io::{self, Write};
use std::panic;
use std::sync::Once;

use crate::stderr::{Word, line};

static REPORTED: Once = Once::new();

/// Installs the hook. Several threads may fail at once; only the first is reported.
pub fn install() {
    panic::set_hook(Box::new(|info| {
        // A decoder's panic on a broken file is caught and reported as a finding.
        if chatmill_diag::caught::is_expected() {
            return;
        }
        REPORTED.call_once(|| {
            let place = info
                .location()
                .map(|place| format!(" (at {}:{})", place.file(), place.line()))
                .unwrap_or_default();
            // A closed stderr has no reader.
            let message = format!(
                "chatmill failed{place} because of a bug, not because of the request; please report this line"
            );
            let _ = write!(io::stderr(), "{}", line(Word::Error, &message));
        });
    }));
}
