//! From the names in `render.dialects` to dialects and profiles.

use chatmill_dialect::DIALECTS;

use super::target::Target;
use super::templates::Templates;
use crate::error::PlanError;

impl Target {
    /// `ID` or `ID@PROFILE` of a registered dialect to a target.
    pub fn find(word: &str) -> Result<Self, PlanError> {
        Self::find_among(word, &Templates::default())
    }

    /// The same, or a template by its name.
    pub fn find_among(word: &str, templates: &Templates) -> Result<Self, PlanError> {
        if let Some(template) = templates.get(word) {
            return Ok(template.clone());
        }
        let known = DIALECTS
            .iter()
            .map(|dialect| dialect.id())
            .chain(templates.names());
        let dialect = chatmill_dialect::find(word)
            .ok_or_else(|| PlanError::unknown("render.dialects", "dialect", word, known))?;
        Ok(Self::new(dialect.clone()))
    }
}

/// The words of `render.dialects` as targets, each once: in registry order, then templates by name.
pub(super) fn targets(words: &[String], templates: &Templates) -> Result<Vec<Target>, PlanError> {
    if words.is_empty() {
        return Err(PlanError::value(
            "render.dialects",
            "the list is empty; name dialects or write [\"all\"]",
        ));
    }
    let all = words.iter().any(|word| word == "all");
    let registered = DIALECTS.iter().map(|dialect| dialect.id());
    let everything = registered.chain(templates.names()).filter(|_| all);
    let named = words.iter().map(String::as_str).filter(|word| *word != "all");
    let mut targets: Vec<Target> = Vec::new();
    for word in everything.chain(named) {
        let target = Target::find_among(word, templates)?;
        if !targets.contains(&target) {
            targets.push(target);
        }
    }
    let rank = |target: &Target| {
        let id = target.dialect.id();
        let registered = DIALECTS.iter().position(|dialect| dialect.id() == id);
        (registered.unwrap_or(DIALECTS.len()), id.to_owned())
    };
    targets.sort_by_cached_key(rank);
    Ok(targets)
}
