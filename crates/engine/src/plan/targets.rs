//! Resolves the names in `render.dialects` to dialects, each in one of its profiles (variants).

use chatmill_dialect::{DIALECTS, Dialect, known};

use super::require;
use super::templates::Templates;
use crate::error::PlanError;

impl Templates {
    /// Finds a dialect: `ID` or `ID@PROFILE` of a registered one, or a template by its name.
    pub fn find(&self, word: &str) -> Result<Dialect, PlanError> {
        let known: Vec<&str> = known().map(Dialect::id).collect();
        let found = self.get(word).or_else(|| chatmill_dialect::find(word));
        let unknown = || {
            PlanError::unknown(
                "render.dialects",
                "dialect",
                word,
                known.into_iter().chain(self.names()),
            )
        };
        found.cloned().ok_or_else(unknown)
    }
}

/// Resolves the words of `render.dialects`, without duplicates: in registry order, then templates by name.
pub(super) fn targets(words: &[String], templates: &Templates) -> Result<Vec<Dialect>, PlanError> {
    let problem = "the list is empty; name dialects or write [\"all\"]";
    require(!words.is_empty(), "render.dialects", problem)?;
    let all = words.iter().any(|word| word == "all");
    let registered = DIALECTS.iter().map(|dialect| dialect.id());
    let everything = registered.chain(templates.names()).filter(|_| all);
    let named = words.iter().map(String::as_str).filter(|word| *word != "all");
    let mut targets: Vec<Dialect> = Vec::new();
    for word in everything.chain(named) {
        let target = templates.find(word)?;
        let is_target = |known: &Dialect| (known.id(), known.profile()) == (target.id(), target.profile());
        if !targets.iter().any(is_target) {
            targets.push(target);
        }
    }
    let rank = |target: &Dialect| {
        let id = target.id();
        let registered = DIALECTS.iter().position(|dialect| dialect.id() == id);
        (registered.unwrap_or(DIALECTS.len()), id.to_owned())
    };
    targets.sort_by_cached_key(rank);
    Ok(targets)
}
