//! The split of an export: adds the settings of the dataset's plan to the arguments, and describes the result.

use chatmill_dataset::Dataset;
use chatmill_engine::check::Mask;
use chatmill_engine::pipeline::{LeakTreatment, SplitSection};
use chatmill_export::{ExportSummary, LeakRule, PartQuota, Split};

use crate::exit::{CommandError, Outcome};
use crate::figures::{count, counted};
use crate::output::harmless;

/// The split of the arguments, completed by `[split]` of the dataset's plan.
pub(in crate::commands) fn planned(split: Split, dataset: &Dataset) -> Outcome<Split> {
    let (section, most_words) = SplitSection::of_plan(&dataset.manifest().plan).map_err(|error| {
        CommandError::request(format!(
            "[split] in the plan of the dataset cannot be read: {error}"
        ))
        .then("run the pipeline again with this version")
    })?;
    Ok(Split {
        group_by: section.group_by,
        stratify: section.stratify,
        ngram: section.ngram,
        ngram_leaks: match section.ngram_leaks {
            LeakTreatment::Keep => LeakRule::Keep,
            LeakTreatment::Move => LeakRule::Move,
            LeakTreatment::Drop => LeakRule::Drop,
        },
        most_words,
        session_gap: SplitSection::session_gap_of_plan(&dataset.manifest().plan).map(microseconds),
        gap: section.gap.seconds.map_or(0, microseconds),
        ..split
    })
}

fn microseconds(seconds: u32) -> i64 {
    i64::from(seconds) * 1_000_000
}

/// Lines about what the parts have in common. The mask hides values of records.
pub(super) fn described(summary: &ExportSummary, mask: Option<&Mask>) -> String {
    let mut text = String::new();
    let Some(split) = &summary.split else {
        return text;
    };
    if let Some(moved) = split.moved {
        text.push_str(&format!(
            "  moved because of shared words: {}\n",
            counted(moved, "conversation")
        ));
    }
    let leaks = split.leaks.as_deref().unwrap_or_default();
    let first = summary.files.first().map_or("", |file| file.part.as_str());
    for (place, leak) in leaks.iter().enumerate() {
        let part = harmless(&leak.part);
        let other = if place == 0 {
            harmless(first)
        } else {
            "a part before it".to_owned()
        };
        let words = split.ngram;
        text.push_str(&match leak.rows {
            0 => format!("  no record of {part} shares {words} words in a row with {other}\n"),
            1 => format!("  1 record of {part} shares {words} words in a row with {other}\n"),
            rows => format!(
                "  {} records of {part} share {words} words in a row with {other}\n",
                count(rows)
            ),
        });
    }
    if split.ngram_leaks == LeakRule::Keep && leaks.iter().any(|leak| leak.rows > 0) {
        text.push_str("  help: [split] ngram_leaks = \"move\" in the pipeline puts them into that part, \"drop\" leaves them out\n");
    }
    if let Some(strata) = &split.strata {
        let stratum = mask.map(|mask| mask.id(&strata.stratum));
        let instead = |quota: &PartQuota| {
            let conversations = counted(quota.conversations, "conversation");
            format!("{conversations} instead of {:.1}\n", quota.expected)
        };
        text.push_str(&format!(
            "  stratified by {} ({}); farthest from its share: `{}` in {}, {}",
            harmless(&strata.by),
            counted(strata.strata as u64, "value"),
            harmless(stratum.as_ref().unwrap_or(&strata.stratum)),
            harmless(&strata.farthest.part),
            instead(&strata.farthest),
        ));
        text.push_str(&format!(
            "  of all values together, {} is farthest from its share: {}",
            harmless(&strata.total.part),
            instead(&strata.total),
        ));
    }
    text
}
