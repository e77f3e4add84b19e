//! From a milled dataset to the record of its night: certified, compared with the last good night, judged.

use chatmill_dataset::{Dataset, DatasetError, certify};
use chatmill_engine::Progress;
use chatmill_engine::summary::COMPLETE;
use chatmill_report::bill::Price;
use chatmill_report::night::{NightRecord, NightState, new_codes};
use chatmill_report::report::Comparison;
use chatmill_report::{Case, Condition, ConditionOutcome, compare, gather, numbered, save};

use super::books::{BookedNight, Books};
use super::settings::NightSettings;
use crate::context::Context;
use crate::exit::Exit;
use crate::mask::mask;

/// What is done after a run, and how long it takes when the run's rendering takes 1000.
pub(super) const CERTIFY: (&str, u64) = ("certify", 30);
/// Comparing with the last good night, and the reports.
pub(super) const JUDGE: (&str, u64) = ("judge", 20);

/// Faults of a dataset that are recorded.
const FAULTS: usize = 20;

/// Judges the dataset of a night that is milled, writes its reports, and gives the record that it ends with.
pub(super) fn conclude(
    books: &Books,
    night: &BookedNight,
    settings: &NightSettings,
    prices: &[Price],
    context: &Context<'_>,
) -> anyhow::Result<NightRecord> {
    // The dataset is read by its path from here on: that must still lead into the store.
    books.store.begin(&night.name)?;
    let folder = books.store.dataset(&night.name);
    let mut record = night.record.clone();
    context.meter.stage(CERTIFY.0, 0);
    let certificate = certify(&folder)?;
    context.meter.stage(JUDGE.0, 0);
    if !certificate.holds() {
        record.state = NightState::Broken;
        record.exit_code = Some(Exit::Objection.code());
        record.objections = certificate.faults.into_iter().take(FAULTS).collect();
        return Ok(record);
    }
    let after = Dataset::open(&folder)?;
    let (base, notes) = base(books, night, &after)?;
    record.notes.extend(notes);
    let mut report = gather(&folder, None)?;
    report.add_money(prices);
    let case = match &base {
        None => Case::first(&after, prices)?,
        Some(base) => {
            record.against = Some(base.night.clone());
            record.notes.extend(changes(&base.dataset, &after));
            record.new_codes = new_codes(&base.comparison);
            let mut conversations = base.comparison.conversations.clone();
            record.grown = std::mem::take(&mut conversations.grown);
            record.conversations = Some(conversations);
            Case::of(&base.dataset, &after, &base.comparison, prices)?
        }
    };
    report.comparison = base.map(|base| base.comparison);
    if let Some(mask) = mask(context.global)? {
        report.leave_out_content(&mut |id| mask.id(id));
        record.mask_ids(&mut |id| mask.id(id));
    } else if !report.run.quotes {
        let mut numbered = numbered();
        if let Some(comparison) = &mut report.comparison {
            comparison.mask_ids(&mut numbered);
        }
        record.mask_ids(&mut numbered);
    }
    save(&folder, &report)?;
    let verdict = after.manifest().verdict.clone();
    let objections = &mut record.objections;
    if verdict != COMPLETE {
        objections.push(format!("the verdict of the run is {verdict}"));
    }
    if case.after.conversations == 0 {
        objections.push("there is no conversation in it".to_owned());
    }
    let mut unheard = Vec::new();
    objections.extend(judged(&settings.fail_if, &case, &mut unheard));
    let warnings = judged(&settings.warn_if, &case, &mut unheard);
    record.warnings.extend(warnings);
    if !unheard.is_empty() {
        record.notes.push(format!(
            "not evaluated, because there is no good night to compare with: {}",
            unheard.join("; ")
        ));
    }
    let is_good = record.objections.is_empty();
    record.state = if is_good {
        NightState::Good
    } else {
        NightState::Objected
    };
    record.exit_code = Some(Exit::complete_if(is_good).code());
    record.verdict = Some(verdict);
    if let Some(before) = case.before {
        record.before = Some(before.figures);
        record.missing = before.missing;
    }
    record.figures = Some(case.after);
    Ok(record)
}

/// What conditions object to, as text; `unheard` gets those that only an earlier night could answer.
fn judged(conditions: &[Condition], case: &Case, unheard: &mut Vec<String>) -> Vec<String> {
    let mut found = Vec::new();
    for condition in conditions {
        match condition.judge(case) {
            Ok(ConditionOutcome::Judged(objections)) => {
                found.extend(objections.iter().map(ToString::to_string));
            }
            Ok(ConditionOutcome::NotEvaluated) => unheard.push(condition.text().to_owned()),
            // The dataset is complete all the same, and a condition that nobody can judge is not a false one.
            Err(error) => found.push(error.to_string()),
        }
    }
    found
}

/// The night that another is compared with.
struct Base {
    night: String,
    dataset: Dataset,
    comparison: Comparison,
}

/// The last good night that can still be read, and why those after it cannot.
fn base(books: &Books, night: &BookedNight, after: &Dataset) -> anyhow::Result<(Option<Base>, Vec<String>)> {
    let mut notes = Vec::new();
    for good in books.good().filter(|good| good.name < night.name) {
        let compared = Dataset::open(&books.store.dataset(&good.name)).and_then(|dataset| {
            Ok(Base {
                night: good.name.to_string(),
                comparison: compare(&dataset, after)?,
                dataset,
            })
        });
        match compared {
            Ok(base) => return Ok((Some(base), notes)),
            Err(
                error @ (DatasetError::WrongPath { .. }
                | DatasetError::Corrupt { .. }
                | DatasetError::Format { .. }
                | DatasetError::AbsentTable { .. }),
            ) => notes.push(format!(
                "the good night {} cannot be compared with: {error}",
                good.name
            )),
            Err(error) => return Err(error.into()),
        }
    }
    notes.push("there is no good night to compare with".to_owned());
    Ok((None, notes))
}

/// What is not of the inputs and changed: whoever reads a comparison has to know it.
fn changes(before: &Dataset, after: &Dataset) -> Vec<String> {
    let (before, after) = (before.manifest(), after.manifest());
    let mut notes = Vec::new();
    if before.version != after.version {
        notes.push(format!(
            "chatmill changed from {} to {} since the night that it is compared with: differences may come from that",
            before.version, after.version
        ));
    }
    if before.plan != after.plan {
        notes.push(
            "the pipeline changed since the night that it is compared with: differences may come from that"
                .to_owned(),
        );
    }
    notes
}
