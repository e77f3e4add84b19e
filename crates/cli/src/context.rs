//! What surrounds a command: options of all commands, progress, signals.

use chatmill_engine::Progress;

use crate::args::Global;
use crate::progress::Meter;
use crate::signals::Signals;

/// What a command gets beside its own arguments.
pub(crate) struct Context<'c> {
    /// What all commands understand.
    pub global: &'c Global,
    /// Where progress is shown.
    pub meter: &'c Meter,
    /// The signals that the process received.
    pub signals: &'c Signals,
}

impl Context<'_> {
    /// Says what is worth knowing while the command works.
    pub(crate) fn note(&self, text: &str) {
        self.meter.note(text);
    }
}
