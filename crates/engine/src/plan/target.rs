//! A dialect of a plan.

use chatmill_dialect::Dialect;

/// A dialect in one of its profiles.
#[derive(Clone)]
pub struct Target {
    /// The dialect.
    pub dialect: Dialect,
}

impl Target {
    pub(super) fn new(dialect: Dialect) -> Self {
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
