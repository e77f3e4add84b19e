//! What a dialect says about itself: the rows of `chatmill dialects` and of the README table.

use crate::Dialect;
use crate::rules::DialectRule;

/// The description of a dialect.
#[derive(Debug)]
pub struct DialectAbout {
    /// One short name for people.
    pub title: &'static str,
    /// The family that shapes its turns, for example `openai-chat`.
    pub family: &'static str,
    /// `application/json` or `text/plain`.
    pub media_type: &'static str,
    /// Where it is specified.
    pub specification: &'static str,
    /// Date of that specification, `YYYY-MM-DD`.
    pub dated: &'static str,
    /// What of a conversation it carries.
    pub carries: &'static str,
    /// Itself in each of its profiles; the first is the default. Of a template, there are none beside the one at hand.
    pub profiles: &'static [&'static dyn Dialect],
    /// Whether it knows no perspective: it renders once, with perspective `""`.
    pub neutral: bool,
    /// Whether it writes what only a record of its own system holds: it cannot be made of the tables of a dataset.
    pub own_system: bool,
    /// Whether rules are written down that its renderings have to keep.
    pub rules: Rules,
}

impl DialectAbout {
    /// Names of its profiles; the first is the default.
    pub fn profile_names(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.profiles.iter().map(|dialect| dialect.profile())
    }
}

/// Rules of a format that somebody beside the dialect can hold a rendering to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rules {
    /// The judge of the testkit knows them, and every test of dialects asks it. Those that have a code are listed; a variant
    /// of another dialect lists what it adds.
    Judged(&'static [&'static DialectRule]),
    /// There are none, or none that the text of a rendering can break; the reason.
    None(&'static str),
}
