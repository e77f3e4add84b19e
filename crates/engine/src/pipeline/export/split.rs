//! `[split]`: the division of an export with `--split`. A run
//! divides nothing; it copies the section into the manifest.

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
    /// The properties that conversations of different parts never share: `prompt` (the first question,
    /// ignoring case and white space), `input`, `source`, `title`, or `extra.KEY`, a field of the record.
    pub group_by: Vec<String>,
    /// The number of consecutive words from which two parts count as overlapping. Words of users and
    /// assistants count, message by message, also those of alternative answers; system text and tools do not.
    pub ngram: NonZeroUsize,
    /// The treatment of conversations that share that many words with an earlier part.
    pub ngram_leaks: LeakTreatment,
    /// The property that is distributed evenly: each value gets its share in each part, as nearly
    /// as whole groups allow. `source`, `input` or `extra.KEY`; it applies to splits by a hash.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stratify: Option<String>,
    /// The time after each part in which no session of a later part may begin, such
    /// as `1d`; sessions that do are left out. It applies to splits by session.
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

/// The treatment of conversations that share words with an earlier part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LeakTreatment {
    /// They stay and are counted.
    #[default]
    Keep,
    /// They move to the earliest part that they share words with,
    /// together with their groups, until no parts share words.
    Move,
    /// They are left out, with the reason `split.ngram_leaks`.
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

/// Words for `group_by` and for `stratify`, in addition to fields of the record.
const GROUPED: &[&str] = &["prompt", "input", "source", "title"];
const STRATA: &[&str] = &["source", "input"];

impl SplitSection {
    /// Reads the section from the plan of a dataset, and the number of words that `limits.split_words` allows.
    ///
    /// # Errors
    ///
    /// If no run could have written the plan.
    pub fn of_plan(plan: &Value) -> Result<(Self, u64), serde_json::Error> {
        let section = plan.get("split").map(Self::deserialize).transpose()?;
        let limits = plan.get("limits").map(Limits::deserialize).transpose()?;
        Ok((
            section.unwrap_or_else(Self::default),
            limits.unwrap_or_else(Limits::default).split_words,
        ))
    }

    /// Reads the seconds of `window.session_gap` from the plan of a
    /// dataset; `None` if conversations are not divided into sessions.
    pub fn session_gap_of_plan(plan: &Value) -> Option<u32> {
        let gap = plan.pointer("/window/session_gap")?;
        SessionGap::deserialize(gap).ok()?.seconds
    }

    /// Refuses a word that is no property of conversations.
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
