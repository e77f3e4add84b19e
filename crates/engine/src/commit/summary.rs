//! The summary of a finished run, which is always read from its manifest.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use chatmill_dataset::overview::{Mix, Overview};
use chatmill_dataset::{DatasetError, MANIFEST, Manifest};
use chatmill_diag::{Limits, Reason};
use serde::{Deserialize, Serialize};

use crate::work::receipt::FindingCount;

/// The `totals` of a manifest.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct RunTotals {
    /// Records cut from the inputs.
    pub framed: u64,
    /// Records that became conversations.
    pub accepted: u64,
    /// Records that could not be read.
    pub rejected: u64,
    /// Inputs that were refused whole, because no source reads them or they cannot be opened.
    #[serde(default)]
    pub refused_inputs: u64,
    /// Records left out by the request.
    pub filtered: u64,
    /// Number of records left out, by reason.
    pub filtered_by: BTreeMap<String, u64>,
    /// Conversations.
    pub conversations: u64,
    /// Messages, notices not counted.
    pub messages: u64,
    /// Renderings.
    pub renderings: u64,
    /// Renderings that are missing because a configured participant is not in the conversation.
    pub unrenderable: u64,
    /// Perspectives of conversations without a turn to render, when each turn is rendered separately.
    #[serde(default)]
    pub without_turns: u64,
    /// Assistant turns that no rendering trains, by reason, summed over perspectives;
    /// only counted in modes with renderings that end with the trained turn.
    #[serde(default, rename = "untaught")]
    pub skipped_targets: BTreeMap<String, u64>,
    /// The number of perspectives that get no prompt, by the field that the conversation lacks.
    #[serde(default)]
    pub unprompted: BTreeMap<String, u64>,
    /// Renderings without reasoning because `policy` excludes it.
    #[serde(default)]
    pub without_reasoning: u64,
    /// Findings by code.
    pub findings: BTreeMap<String, FindingCount>,
    /// The settings and the result of a mix.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mix: Option<Mix>,
    /// The totals of the tables, for a report.
    #[serde(default)]
    pub overview: Overview,
}

/// The summary of a finished run.
pub struct RunSummary {
    /// The path of the dataset.
    pub out: PathBuf,
    /// The manifest of the dataset.
    pub manifest: Manifest,
    /// The manifest's totals.
    pub totals: RunTotals,
    /// The duration of this run; `None` if the dataset existed already.
    pub elapsed: Option<Duration>,
}

/// The verdict of a run that read records, with rejects and errors within their limits.
pub const COMPLETE: &str = "complete";
/// The verdict of a run that rejected more than the threshold allows.
pub const TOO_MANY_REJECTS: &str = "too-many-rejects";
/// The verdict of a run that refused more whole inputs than `limits.refused_inputs` allows.
pub const REFUSED_INPUTS: &str = "refused-inputs";
/// The verdict of a run that read no conversation at all, not even one that was filtered.
pub const NOTHING_READ: &str = "nothing-read";
/// The verdict of a run with more error findings than `limits.max_error_findings` allows.
pub const TOO_MANY_ERRORS: &str = "too-many-errors";

/// The verdicts, most serious first.
pub const VERDICTS: &[Reason] = &[
    Reason {
        code: TOO_MANY_REJECTS,
        words: "more records were rejected than `limits.max_reject_ratio` allows",
        advice: "`chatmill check` names the records and what is wrong with them; correct them at their source, or raise the limit",
    },
    Reason {
        code: NOTHING_READ,
        words: "no conversation was read",
        advice: "`chatmill inspect` shows what each input is; name the source or a map where none was recognised",
    },
    Reason {
        code: REFUSED_INPUTS,
        words: "more inputs were refused whole than `limits.refused_inputs` allows",
        advice: "`chatmill check` reports why no source reads them; leave them out of `[[input]]`, write a map for them, or raise the limit",
    },
    Reason {
        code: TOO_MANY_ERRORS,
        words: "there are more error findings than `limits.max_error_findings` allows",
        advice: "`chatmill check` lists them; correct them at their source, or raise the limit",
    },
    Reason {
        code: COMPLETE,
        words: "records were read, and rejects and errors are within their limits",
        advice: "nothing has to be done",
    },
];

impl RunTotals {
    /// Returns the number of error findings without those in rejects, which have a separate limit.
    pub fn error_findings(&self) -> u64 {
        let errors = self.findings.values();
        errors
            .map(|count| count.errors.saturating_sub(count.of_rejects))
            .sum()
    }

    /// Returns the verdict of a run with these totals: the most serious one that applies.
    pub fn verdict(&self, limits: &Limits) -> &'static str {
        let ratio = self.rejected as f64 / self.framed.max(1) as f64;
        if ratio > limits.max_reject_ratio {
            TOO_MANY_REJECTS
        } else if self.conversations == 0 && self.filtered == 0 {
            NOTHING_READ
        } else if self.refused_inputs > limits.refused_inputs {
            REFUSED_INPUTS
        } else if self.error_findings() > limits.max_error_findings {
            TOO_MANY_ERRORS
        } else {
            COMPLETE
        }
    }
}

impl RunSummary {
    /// Returns the summary of a dataset that was just published.
    pub fn of_run(out: &Path, elapsed: Duration) -> Result<Self, DatasetError> {
        let manifest = chatmill_dataset::read_manifest(out)?;
        Ok(Self {
            elapsed: Some(elapsed),
            ..Self::of_finished(out, manifest)?
        })
    }

    /// Returns the summary of a dataset that existed before.
    pub(crate) fn of_finished(out: &Path, manifest: Manifest) -> Result<Self, DatasetError> {
        let totals = RunTotals::deserialize(&manifest.totals).map_err(|error| DatasetError::Corrupt {
            path: out.join(MANIFEST),
            reason: format!("its totals cannot be read: {error}"),
        })?;
        Ok(Self {
            out: out.to_path_buf(),
            manifest,
            totals,
            elapsed: None,
        })
    }

    /// Returns whether the run read any record, with rejects and errors within their limits.
    pub fn is_within_threshold(&self) -> bool {
        self.manifest.verdict == COMPLETE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn totals(rejected: u64, conversations: u64, errors: u64, of_rejects: u64) -> RunTotals {
        let count = FindingCount {
            errors,
            of_rejects,
            ..FindingCount::default()
        };
        RunTotals {
            framed: 10,
            rejected,
            conversations,
            findings: BTreeMap::from([("XX001".to_owned(), count)]),
            ..RunTotals::default()
        }
    }

    #[test]
    fn rejects_precede_empty_reads_and_errors_in_a_verdict() {
        let limits = Limits {
            max_reject_ratio: 0.2,
            max_error_findings: 3,
            ..Limits::default()
        };
        assert_eq!(totals(2, 8, 3, 0).verdict(&limits), COMPLETE);
        assert_eq!(totals(3, 7, 3, 3).verdict(&limits), TOO_MANY_REJECTS);
        assert_eq!(totals(2, 8, 4, 0).verdict(&limits), TOO_MANY_ERRORS);
        assert_eq!(totals(0, 0, 0, 0).verdict(&limits), NOTHING_READ);
    }

    #[test]
    fn a_refused_input_alone_makes_the_verdict_refused_inputs() {
        let limits = Limits {
            max_reject_ratio: 1.0,
            ..Limits::default()
        };
        let totals = RunTotals {
            refused_inputs: 2,
            ..totals(2, 8, 0, 0)
        };
        assert_eq!(totals.verdict(&limits), REFUSED_INPUTS);
        for (refused_inputs, verdict) in [(1, REFUSED_INPUTS), (2, COMPLETE)] {
            let allowed = Limits {
                refused_inputs,
                ..limits.clone()
            };
            assert_eq!(totals.verdict(&allowed), verdict, "{refused_inputs}");
        }
    }

    #[test]
    fn errors_that_are_reasons_of_rejects_count_as_rejects() {
        let limits = Limits {
            max_reject_ratio: 1.0,
            ..Limits::default()
        };
        assert_eq!(totals(4, 6, 4, 4).verdict(&limits), COMPLETE);
        assert_eq!(totals(4, 6, 5, 4).verdict(&limits), TOO_MANY_ERRORS);
    }

    #[test]
    fn totals_that_cannot_be_read_are_no_summary_of_nothing() {
        let summary = RunSummary::of_finished(Path::new("out"), Manifest::default());
        let error = summary.err().unwrap().to_string();
        assert!(error.contains("its totals cannot be read"), "{error}");
    }

    #[test]
    fn a_run_that_leaves_everything_out_has_read_something() {
        let filtered = RunTotals {
            filtered: 10,
            ..totals(0, 0, 0, 0)
        };
        assert_eq!(filtered.verdict(&Limits::default()), COMPLETE);
    }
}
