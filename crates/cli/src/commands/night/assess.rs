//! Assesses the dataset of a night: it is certified and compared with the last good night, and the conditions are evaluated.

use chatmill_dataset::{Dataset, DatasetError, certify};
use chatmill_engine::Progress;
use chatmill_engine::summary::COMPLETE;
use chatmill_report::bill::PriceList;
use chatmill_report::night::{NightRecord, NightState, new_codes};
use chatmill_report::report::Comparison;
use chatmill_report::{Case, Condition, ConditionOutcome, RunFigures, build_report, compare, numbered, save};

use super::records::{Night, Records};
use super::settings::NightSettings;
use crate::context::Context;
use crate::exit::{Exit, Outcome};
use crate::mask::mask;

/// The stages after a run, with the time that each takes if rendering takes 1000.
pub(super) const CERTIFY: (&str, u64) = ("certify", 30);
/// The comparison with the last good night, and the reports.
pub(super) const COMPARE: (&str, u64) = ("judge", 20);

/// The number of problems of a dataset that are recorded.
const MAX_PROBLEMS: usize = 20;

/// Assesses the dataset of a night, writes its reports, and returns the final record.
pub(super) fn assess(
    records: &Records,
    night: &Night,
    settings: &NightSettings,
    prices: &PriceList,
    context: &Context<'_>,
) -> Outcome<NightRecord> {
    // From here on the dataset is read by its path, which must still lead into the store.
    records.store.begin(&night.name)?;
    let folder = records.store.dataset(&night.name);
    let mut record = night.record.clone();
    context.meter.stage(CERTIFY.0, 0);
    let certificate = certify(&folder)?;
    context.meter.stage(COMPARE.0, 0);
    if !certificate.holds() {
        record.state = NightState::Broken;
        record.exit_code = Some(Exit::Failed.code());
        record.objections = certificate.problems.into_iter().take(MAX_PROBLEMS).collect();
        return Ok(record);
    }
    let after = Dataset::open(&folder)?;
    let (base, notes) = base(records, night, &after)?;
    record.notes.extend(notes);
    let mut report = build_report(&folder, None)?;
    report.add_money(&after, prices)?;
    let case = match &base {
        None => Case::first(&after, prices)?,
        Some(base) => {
            record.against = Some(base.night.clone());
            record.notes.extend(changes(&base.dataset, &after));
            record.new_codes = new_codes(&base.comparison);
            let mut conversations = base.comparison.conversations.clone();
            record.grown = std::mem::take(&mut conversations.grown);
            record.conversations = Some(conversations);
            Case::of(
                &base.dataset,
                &after,
                &base.comparison,
                prices,
                base.figures.as_ref(),
            )?
        }
    };
    report.comparison = base.map(|base| base.comparison);
    let mask = mask(context.global)?;
    if let Some(mask) = &mask {
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
    let failures = &mut record.objections;
    if verdict != COMPLETE {
        failures.push(format!("the verdict of the run is {verdict}"));
    }
    if case.after.conversations == 0 {
        failures.push("the dataset holds no conversation".to_owned());
    }
    let mut unheard = Vec::new();
    failures.extend(failed_conditions(&settings.fail_if, &case, &mut unheard));
    let warnings = failed_conditions(&settings.warn_if, &case, &mut unheard);
    record.warnings.extend(warnings);
    if !unheard.is_empty() {
        record.notes.push(format!(
            "not evaluated, because there is no good earlier run to compare with: {}",
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
    if let Some(mask) = mask {
        for figures in record.figures.iter_mut().chain(&mut record.before) {
            figures.mask_models(&mut |model| mask.id(model));
        }
    }
    Ok(record)
}

/// The failed conditions, as text; `unheard` gets the conditions that need an earlier night.
fn failed_conditions(conditions: &[Condition], case: &Case, unheard: &mut Vec<String>) -> Vec<String> {
    let mut found = Vec::new();
    for condition in conditions {
        match condition.evaluate(case) {
            Ok(ConditionOutcome::Evaluated(failures)) => {
                found.extend(failures.iter().map(ToString::to_string));
            }
            Ok(ConditionOutcome::NotEvaluated) => unheard.push(condition.text().to_owned()),
            // The dataset is complete, and a condition that cannot be evaluated is a failure.
            Err(error) => found.push(error.to_string()),
        }
    }
    found
}

/// The night with which another is compared.
struct Base {
    night: String,
    dataset: Dataset,
    comparison: Comparison,
    /// Its figures as they were recorded, with money at the prices of that time.
    figures: Option<RunFigures>,
}

/// The last good night that can be read, and notes on later ones that cannot.
fn base(records: &Records, night: &Night, after: &Dataset) -> Outcome<(Option<Base>, Vec<String>)> {
    let mut notes = Vec::new();
    for good in records.good().filter(|good| good.name < night.name) {
        let compared = Dataset::open(&records.store.dataset(&good.name)).and_then(|dataset| {
            Ok(Base {
                night: good.name.to_string(),
                figures: good.record.figures.clone(),
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
                "the good run {} cannot be compared with: {error}",
                good.name
            )),
            Err(error) => return Err(error.into()),
        }
    }
    notes.push("there is no good earlier run to compare with".to_owned());
    Ok((None, notes))
}

/// Notes on changes outside the inputs: of the program, and of the pipeline.
fn changes(before: &Dataset, after: &Dataset) -> Vec<String> {
    let (before, after) = (before.manifest(), after.manifest());
    let mut notes = Vec::new();
    if before.version != after.version {
        notes.push(format!(
            "chatmill changed from {} to {} since the run that this one is compared with: differences may come from that",
            before.version, after.version
        ));
    }
    if before.plan != after.plan {
        notes.push(
            "the pipeline changed since the run that this one is compared with: differences may come from that"
                .to_owned(),
        );
    }
    notes
}
