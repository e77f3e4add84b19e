//! A dialect of a plan.

use std::sync::Arc;

use chatmill_dialect::{Dialect, DialectAbout, Emit, LossCode, Transcript};
use chatmill_model::Sink;

/// A dialect in one of its profiles.
#[derive(Clone)]
pub struct Target {
    /// The dialect.
    pub dialect: Arc<dyn Dialect>,
}

impl Target {
    pub(super) fn new(dialect: Arc<dyn Dialect>) -> Self {
        Self { dialect }
    }

    /// Name of its profile.
    pub fn profile(&self) -> &'static str {
        self.dialect.profile()
    }
}

impl PartialEq for Target {
    fn eq(&self, other: &Self) -> bool {
        self.dialect.id() == other.dialect.id() && self.profile() == other.profile()
    }
}

/// A dialect of the registry, beside those that a plan makes of templates.
pub(super) struct Registered(pub(super) &'static dyn Dialect);

impl Dialect for Registered {
    fn id(&self) -> &str {
        self.0.id()
    }

    fn about(&self) -> &'static DialectAbout {
        self.0.about()
    }

    fn profile(&self) -> &'static str {
        self.0.profile()
    }

    fn loses(&self) -> Vec<LossCode> {
        self.0.loses()
    }

    fn render<'a>(&self, transcript: &Transcript<'a>, sink: &mut Sink<'a>, emit: &mut Emit<'_, 'a>) {
        self.0.render(transcript, sink, emit);
    }

    fn is_single_turn(&self) -> bool {
        self.0.is_single_turn()
    }

    fn is_one_request(&self) -> bool {
        self.0.is_one_request()
    }
}
