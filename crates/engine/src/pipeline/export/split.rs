//! `[split]`: how an export with `--split` divides the dataset. A run divides nothing; it hands the section on in the manifest.

use std::num::NonZeroUsize;

use chatmill_diag::Limits;
use chatmill_model::Extra;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::PlanError;
use crate::pipeline::select::NGRAM;
use crate::pipeline::window::SessionGap;

/// `[split]`: how `export --split` and `convert --split` divide the conversations of the dataset.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SplitSection {
    /// What conversations of different parts never have in common: `prompt` (the first question, case and white space aside),
    /// `input`, `source`, `title`, or `extra.KEY`, a field of the record.
    pub group_by: Vec<String>,
    /// The number of words in a row from which two parts count as overlapping. Words of users and assistants count, message by
    /// message, also those of alternative answers; system text and tools do not.
    pub ngram: NonZeroUsize,
    /// The treatment of conversations that share so many words with a part before their own.
    pub ngram_leaks: LeakTreatment,
    /// The property whose values get their share in each part, as nearly as whole groups allow: `source`, `input` or `extra.KEY`.
    /// It applies to splits by a hash.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stratify: Option<String>,
    /// The time behind each part in which no session of a later part may begin, such as `1d`: those that do are left out. It applies to
    /// splits by session.
    #[serde(skip_serializing_if = "has_no_gap")]
    pub gap: SessionGap,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes fields by reference"
)]
fn has_no_gap(gap: &SessionGap) -> bool {
    gap.seconds.is_none()
}

/// The handling of conversations that share words with a part before their own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LeakTreatment {
    /// They stay and are counted.
    #[default]
    Keep,
    /// They go to the earliest part that they share words with, their groups with them, until no part shares words with another.
    Move,
    /// They are left out, as `split.ngram_leaks`.
    Drop,
}

impl Default for SplitSection {
    fn default() -> Self {
        Self {
            group_by: Vec::new(),
            ngram: NGRAM.into(),
            ngram_leaks: LeakTreatment::Keep,
            stratify: None,
            gap: SessionGap::default(),
        }
    }
}

/// Words of `group_by` and of `stratify` beside the fields of a record.
const GROUPED: &[&str] = &["prompt", "input", "source", "title"];
const STRATA: &[&str] = &["source", "input"];

impl SplitSection {
    /// The section in the plan of a dataset, and the words that `limits.split_words` allows.
    ///
    /// # Errors
    ///
    /// When the plan is not one that a run writes.
    pub fn of_plan(plan: &Value) -> Result<(Self, u64), serde_json::Error> {
        let section = plan.get("split").map(Self::deserialize).transpose()?;
        let limits = plan.get("limits").map(Limits::deserialize).transpose()?;
        Ok((
            section.unwrap_or_else(Self::default),
            limits.unwrap_or_else(Limits::default).split_words,
        ))
    }

    /// The seconds of `window.session_gap` in the plan of a dataset; none where nothing divides its conversations into sessions.
    pub fn session_gap_of_plan(plan: &Value) -> Option<u32> {
        let gap = plan.pointer("/window/session_gap")?;
        SessionGap::deserialize(gap).ok()?.seconds
    }

    /// Refuses a word that names no property of conversations.
    pub(crate) fn check(&self) -> Result<(), PlanError> {
        let unknown = |word: &str, known: &[&str]| !known.contains(&word) && Extra::selected(word).is_none();
        if let Some(word) = self.group_by.iter().find(|word| unknown(word, GROUPED)) {
            return Err(refused("split.group_by", word, GROUPED));
        }
        match self.stratify.as_deref().filter(|word| unknown(word, STRATA)) {
            Some(word) => Err(refused("split.stratify", word, STRATA)),
            None => Ok(()),
        }
    }
}

fn refused(key: &'static str, word: &str, known: &[&str]) -> PlanError {
    let known = known.iter().copied().chain(["extra.KEY"]);
    PlanError::unknown(key, "property of conversations", word, known)
}
