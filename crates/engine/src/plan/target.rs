//! A dialect of a plan.

use std::sync::Arc;

use chatmill_dialect::{About, Dialect, Rendering, View};

/// A dialect with its profile.
#[derive(Clone)]
pub struct Target {
    /// The dialect.
    pub dialect: Arc<dyn Dialect>,
    /// Its profile.
    pub profile: &'static str,
}

/// A dialect of the registry, beside those that a plan makes of templates.
pub(super) struct Registered(pub(super) &'static dyn Dialect);

impl Dialect for Registered {
    fn id(&self) -> &str {
        self.0.id()
    }

    fn about(&self) -> &'static About {
        self.0.about()
    }

    fn render(&self, view: &View<'_>, emit: &mut dyn FnMut(Rendering<'_>)) {
        self.0.render(view, emit);
    }

    fn is_single_turn(&self) -> bool {
        self.0.is_single_turn()
    }
}
