//! Reports a bug of chatmill in one plain line, without a backtrace and without the text of the panic, which may quote chat text.

use std::io::{self, Write};
use std::panic;
use std::sync::Once;

use crate::stderr::{Word, line};

static REPORTED: Once = Once::new();

/// Installs the hook. If several threads panic, only the first panic is reported.
pub fn install() {
    panic::set_hook(Box::new(|info| {
        // The panic of a decoder on a broken file is caught, and becomes a finding.
        if chatmill_diag::caught::is_expected() {
            return;
        }
        REPORTED.call_once(|| {
            let place = info
                .location()
                .map(|place| format!(" (at {}:{})", place.file(), place.line()))
                .unwrap_or_default();
            // Ignored: a closed stderr has no reader.
            let message = format!(
                "chatmill failed{place} because of a bug, not because of the request; please report this line"
            );
            let _ = write!(io::stderr(), "{}", line(Word::Error, &message));
        });
    }));
}
