//! What a user sees of a fault in chatmill itself: one plain line, without the panic's own text (it may quote chat text)
//! and without a backtrace.

use std::io::{self, Write};
use std::panic;
use std::sync::Once;

use crate::stderr::{Word, line};

static SAID: Once = Once::new();

/// Installs the hook. Several threads may fail at once; only the first is reported.
pub fn install() {
    panic::set_hook(Box::new(|info| {
        // A decoder's panic on a broken file is caught and told as a finding.
        if chatmill_diag::caught::is_expected() {
            return;
        }
        SAID.call_once(|| {
            let place = info
                .location()
                .map(|place| format!(" (at {}:{})", place.file(), place.line()))
                .unwrap_or_default();
            // Nobody is left to be told when stderr is closed.
            let said = format!(
                "chatmill failed on its own account{place}, not because of the request; please report this line"
            );
            let _ = write!(io::stderr(), "{}", line(Word::Error, &said));
        });
    }));
}
