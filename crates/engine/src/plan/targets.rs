//! The dialects of a plan.

use chatmill_dialect::Dialect;

use super::PlanError;
use crate::pipeline::nearest;

/// A dialect with its profile.
#[derive(Clone, Copy)]
pub struct Target {
    /// The dialect.
    pub dialect: &'static dyn Dialect,
    /// Its profile.
    pub profile: &'static str,
}

impl Target {
    /// `ID` or `ID@PROFILE` to a target.
    pub fn find(word: &str) -> Result<Self, PlanError> {
        let (dialect, profile) = chatmill_dialect::find(word).ok_or_else(|| PlanError::UnknownWord {
            key: "render.dialects",
            what: "dialect",
            word: word.to_owned(),
            suggestion: nearest(
                word,
                chatmill_dialect::DIALECTS.iter().map(|dialect| dialect.id()),
            )
            .map(str::to_owned),
        })?;
        Ok(Self { dialect, profile })
    }
}

/// The words of `render.dialects` as targets in registry order, each once.
pub(super) fn targets(words: &[String]) -> Result<Vec<Target>, PlanError> {
    if words.is_empty() {
        return Err(PlanError::Value {
            key: "render.dialects",
            message: "the list is empty; name dialects or write [\"all\"]".to_owned(),
        });
    }
    let all = words.iter().any(|word| word == "all");
    let mut targets = Vec::new();
    if all {
        for dialect in chatmill_dialect::DIALECTS {
            targets.push(Target::find(dialect.id())?);
        }
    }
    for word in words.iter().filter(|word| *word != "all") {
        let target = Target::find(word)?;
        let known =
            |other: &Target| other.dialect.id() == target.dialect.id() && other.profile == target.profile;
        if !targets.iter().any(known) {
            targets.push(target);
        }
    }
    let rank = |target: &Target| {
        chatmill_dialect::DIALECTS
            .iter()
            .position(|dialect| dialect.id() == target.dialect.id())
    };
    targets.sort_by_key(rank);
    Ok(targets)
}
