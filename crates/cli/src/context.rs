//! What all commands get: the options of all commands, progress and signals.

use chatmill_engine::Progress;

use crate::args::Global;
use crate::progress::Meter;
use crate::signals::Signals;

/// What a command gets in addition to its own arguments.
pub(crate) struct Context<'c> {
    /// The options of all commands.
    pub global: &'c Global,
    /// The meter that shows progress.
    pub meter: &'c Meter,
    /// The signals that the process received.
    pub signals: &'c Signals,
}

impl Context<'_> {
    /// Prints a note while the command works.
    pub(crate) fn note(&self, text: &str) {
        self.meter.note(text);
    }
}
