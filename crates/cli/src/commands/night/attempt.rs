//! One night: steps that an earlier call did not finish are completed, then a dataset is built and assessed.

use std::io;

use chatmill_dataset::{DatasetError, DatasetParent, NIGHT_NOTE, NightName};
use chatmill_engine::{Plan, PlanError, Progress, RunOptions, run};
use chatmill_intake::discover::DiscoverError;
use chatmill_report::bill::PriceList;
use chatmill_report::night::{NIGHT_FORMAT, NightNote, NightRecord, NightState, retained};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value};

use super::NightRequest;
use super::assess::{CERTIFY, COMPARE, assess};
use super::follow_up::{follow_up, write_note};
use super::notify::notify;
use super::records::{Night, Records, instant_of, name_at};
use super::settings::NightSettings;
use crate::commands::run::resumable;
use crate::context::Context;
use crate::exit::{CommandError, Exit, Outcome, refuse};
use crate::figures::{bytes, counted, thousandths};
use crate::output::{self, harmless};

/// The time after its beginning, or its end, within which an interrupted night is resumed; after that, a new one begins.
const GOES_ON: SignedDuration = SignedDuration::from_hours(12);

/// Builds the dataset of a night, or prints what would be done.
pub(super) fn execute(request: &NightRequest, context: &Context<'_>) -> Outcome<Exit> {
    let settings = NightSettings::read(request, context.global.no_content)?;
    let now = request.at.unwrap_or_else(Timestamp::now);
    if request.dry_run {
        return rehearse(&settings, request, now, context);
    }
    let mut records = Records::open(&settings.store)?;
    for (name, reason) in &records.unreadable {
        context.note(&format!(
            "the record of the run {name} is damaged, so the run is left as it is: {reason}"
        ));
    }
    if let Some(exit) = make_up(&mut records, &settings, now, context)? {
        return Ok(exit);
    }
    let mut night = next(&records, &settings, now)?;
    if night.record.is_new() {
        for note in &night.record.notes {
            context.note(note);
        }
    } else {
        context.note(&format!("resuming the run {}", night.name));
    }
    let plan = match load(&records, &night, &settings, request) {
        Ok(plan) => plan,
        Err(error) => return refused(&mut records, night, &settings, error, context),
    };
    refuse_own_inputs(&records, &plan)?;
    let prices = settings.prices(&plan.encodings, context)?;
    // A night begins only when it has its folder.
    let folder = match records.store.begin(&night.name) {
        Ok(folder) => folder,
        Err(error) => {
            let error = error.into();
            interrupted(&mut records, night, &settings, &error, context);
            return Err(error);
        }
    };
    night.record.attempts = night.record.attempts.saturating_add(1);
    records.save(night.clone())?;
    let record = build_dataset(plan, &folder, request, context)
        .and_then(|()| assess(&records, &night, &settings, &prices, context));
    context.meter.finish();
    match record {
        Ok(record) => {
            let night = Night { record, ..night };
            finish(&mut records, night, &settings, context)
        }
        Err(error) => {
            interrupted(&mut records, night, &settings, &error, context);
            Err(error)
        }
    }
}

fn load(
    records: &Records,
    night: &Night,
    settings: &NightSettings,
    request: &NightRequest,
) -> Result<Plan, PlanError> {
    let out = records.store.dataset(&night.name);
    Plan::load(&settings.path, &settings.overrides, Some(&out), &request.inputs)
}

fn refuse_own_inputs(records: &Records, plan: &Plan) -> Outcome<()> {
    for planned in &plan.inputs {
        let path = planned.input.path();
        let is_inside = std::path::absolute(&path).is_ok_and(|path| path.starts_with(records.store.path()));
        if is_inside {
            let message = format!("the input {} is inside the store", path.display());
            return refuse(message, "choose a store outside of the inputs");
        }
    }
    Ok(())
}

fn build_dataset(
    plan: Plan,
    parent: &DatasetParent,
    request: &NightRequest,
    context: &Context<'_>,
) -> Outcome<()> {
    let options = RunOptions {
        parent: Some(parent),
        threads: request.threads,
        // A dataset in the folder belongs to this night, and is not assessed yet.
        replace: true,
        ..RunOptions::default()
    };
    context.meter.ahead(&[CERTIFY, COMPARE]);
    run(plan, options, context.meter, context.signals.stop()).map_err(resumable)?;
    Ok(())
}

/// Completes the steps that earlier calls did not finish. If a call was killed right after its night had ended, that was all, and the exit
/// of that night is returned.
fn make_up(
    records: &mut Records,
    settings: &NightSettings,
    now: Timestamp,
    context: &Context<'_>,
) -> Outcome<Option<Exit>> {
    if let Some(mut night) = records.begun().cloned()
        && let Some(reason) = ended_early(records, &night, now)?
    {
        night.record.state = NightState::Failed;
        night.record.exit_code = Some(Exit::Incomplete.code());
        night.record.objections.push(reason);
        finish(records, night, settings, context)?;
    }
    let unsettled = records
        .nights
        .iter()
        .filter(|night| night.record.state != NightState::Begun && !night.record.is_settled);
    let unsettled: Vec<Night> = unsettled.cloned().collect();
    let mut exit = None;
    for night in unsettled {
        context.note(&format!(
            "completing the unfinished steps of the run {}",
            night.name
        ));
        let ended = night.record.ended_at.as_deref();
        let is_done =
            night.record.state != NightState::Failed && ended.is_some_and(|ended| is_recent(ended, now));
        let followed_up = follow_up(records, night, settings, context)?;
        exit = is_done.then_some(followed_up);
    }
    Ok(exit)
}

/// The reason why an unfinished night cannot be resumed; `None` if it can.
fn ended_early(records: &Records, night: &Night, now: Timestamp) -> Result<Option<String>, DatasetError> {
    if !is_recent(&night.record.began_at, now) {
        return Ok(Some(format!(
            "the run was interrupted and not resumed within {} hours",
            GOES_ON.as_hours()
        )));
    }
    match records.store.begin(&night.name) {
        Err(error @ DatasetError::WrongPath { .. }) => Ok(Some(format!(
            "the run was interrupted, and its folder is gone: {error}"
        ))),
        other => other.map(|_| None),
    }
}

fn is_recent(instant: &str, now: Timestamp) -> bool {
    let instant: Option<Timestamp> = instant.parse().ok();
    instant.is_some_and(|instant| now.duration_since(instant) < GOES_ON)
}

/// The night to resume, or a new one.
fn next(records: &Records, settings: &NightSettings, now: Timestamp) -> Outcome<Night> {
    if let Some(begun) = records.begun() {
        let mut night = begun.clone();
        // The note on the previous attempt is outdated.
        night.record.notes.retain(|note| !note.starts_with(EARLY_END));
        env!("CARGO_PKG_VERSION").clone_into(&mut night.record.version);
        return Ok(night);
    }
    let mut name = name_at(now)?;
    let mut notes = Vec::new();
    if let Some(latest) = records.latest().filter(|latest| name <= **latest) {
        notes.push(format!(
            "the clock shows {now}, but there is already a run {latest}; this run gets the next later name"
        ));
        name = second_after(latest)?;
    }
    // A folder with the name but without a record was made by someone else.
    while records.store.is_taken(&name)? {
        name = second_after(&name)?;
    }
    let record = NightRecord {
        format: NIGHT_FORMAT,
        night: name.to_string(),
        pipeline: settings.name.clone(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        began_at: now.to_string(),
        notes,
        ..NightRecord::default()
    };
    Ok(Night { name, record })
}

fn second_after(name: &NightName) -> Outcome<NightName> {
    let not_a_time = || io::Error::other(format!("{name} is not a time; move its record away"));
    let instant = instant_of(name).ok_or_else(not_a_time)?;
    name_at(
        instant
            .checked_add(SignedDuration::from_secs(1))
            .map_err(CommandError::bug)?,
    )
}

/// The beginning of the note on an attempt that did not finish.
const EARLY_END: &str = "an attempt ended early: ";

/// Ends a night with a request that cannot be planned. Missing inputs do not make the request wrong if an earlier night had inputs: they
/// may still arrive, and until then each night is incomplete.
fn refused(
    records: &mut Records,
    mut night: Night,
    settings: &NightSettings,
    error: PlanError,
    context: &Context<'_>,
) -> Outcome<Exit> {
    let is_absence = matches!(
        error,
        PlanError::Input(DiscoverError::NothingMatches { .. } | DiscoverError::Empty { .. })
    );
    let error = CommandError::from(error);
    if !is_absence || records.good().next().is_none() {
        return Err(error);
    }
    night.record.state = NightState::Failed;
    night.record.exit_code = Some(Exit::Incomplete.code());
    night.record.objections.push(error.to_string());
    finish(records, night, settings, context)?;
    error.report();
    Ok(Exit::Incomplete)
}

/// Records why a night did not end. If that fails, the original error is reported.
fn interrupted(
    records: &mut Records,
    mut night: Night,
    settings: &NightSettings,
    error: &CommandError,
    context: &Context<'_>,
) {
    let exit = Exit::of(error, context.signals.exit());
    let message = error.to_string();
    match exit {
        // The night was stopped on request, and the next call resumes it.
        Exit::Interrupted | Exit::Terminated | Exit::HungUp => {}
        Exit::WrongRequest => {
            night.record.state = NightState::Failed;
            night.record.exit_code = Some(exit.code());
            night.record.objections.push(message);
            drop(finish(records, night, settings, context));
        }
        _ => {
            night.record.exit_code = Some(exit.code());
            night.record.notes.push(format!("{EARLY_END}{message}"));
            drop(write_note(records, &night).and_then(|()| records.save(night.clone())));
            drop(notify(&settings.section.notify, records, &night));
        }
    }
}

/// Ends a night: writes its note and its record, and performs the steps that follow.
fn finish(
    records: &mut Records,
    mut night: Night,
    settings: &NightSettings,
    context: &Context<'_>,
) -> Outcome<Exit> {
    night.record.ended_at = Some(Timestamp::now().to_string());
    night.record.seconds = Some(thousandths(context.meter.seconds()));
    write_note(records, &night)?;
    records.save(night.clone())?;
    let note = NightNote(&night.record).markdown()?;
    context.meter.set_ending(ending(records, &night));
    let exit = follow_up(records, night, settings, context)?;
    output::print(&note)?;
    Ok(exit)
}

/// The fields of the last event of a night, in addition to the exit code.
fn ending(records: &Records, night: &Night) -> Map<String, Value> {
    let text = |text: &str| Value::from(text);
    let path = |path: std::path::PathBuf| Value::from(path.to_string_lossy().into_owned());
    let record = &night.record;
    let entries = [
        ("night", text(night.name.as_str())),
        ("state", text(record.state.word())),
        ("dataset", path(records.store.dataset(&night.name))),
        ("note", path(records.store.night(&night.name).join(NIGHT_NOTE))),
        ("verdict", record.verdict.as_deref().map_or(Value::Null, text)),
        ("against", record.against.as_deref().map_or(Value::Null, text)),
        ("objections", record.objections.clone().into()),
        ("warnings", record.warnings.clone().into()),
    ];
    let entries = entries.into_iter();
    entries.map(|(key, value)| (key.to_owned(), value)).collect()
}

/// Prints what a night would do.
fn rehearse(
    settings: &NightSettings,
    request: &NightRequest,
    now: Timestamp,
    context: &Context<'_>,
) -> Outcome<Exit> {
    let Some(records) = Records::find(&settings.store)? else {
        let plan = Plan::load(&settings.path, &settings.overrides, None, &request.inputs)?;
        let store = settings.store.display();
        output::print(&format!(
            "would create the store {store} and begin its first run\n{}",
            planned(&plan, &settings.prices(&plan.encodings, context)?)
        ))?;
        return Ok(Exit::Complete);
    };
    let night = next(&records, settings, now)?;
    let plan = load(&records, &night, settings, request)?;
    refuse_own_inputs(&records, &plan)?;
    let verb = if night.record.is_new() { "begin" } else { "resume" };
    let mut text = format!("would {verb} the run {}\n", night.name);
    text.push_str(&planned(&plan, &settings.prices(&plan.encodings, context)?));
    match records.good().next() {
        Some(good) => text.push_str(&format!("would compare it with {}\n", good.name)),
        None => text.push_str("there is no good earlier run to compare it with\n"),
    }
    let others = records.nights.iter().filter(|known| known.name != night.name);
    let others = others.map(|known| (known.name.clone(), known.record.state));
    let nights: Vec<(NightName, NightState)> =
        others.chain([(night.name.clone(), NightState::Good)]).collect();
    for ((name, _), stays) in nights
        .iter()
        .zip(retained(&nights, settings.section.keep as usize))
    {
        let mut there = records.nights.iter().filter(|known| !known.record.is_removed);
        if !stays && there.any(|known| known.name == *name) {
            text.push_str(&format!("would remove the run {name} if the new one is good\n"));
        }
    }
    output::print(&text)?;
    Ok(Exit::Complete)
}

fn planned(plan: &Plan, prices: &PriceList) -> String {
    let mut text = format!(
        "would process {} ({}) of `{}`",
        counted(plan.inputs.len() as u64, "input"),
        bytes(plan.input_bytes()),
        harmless(&plan.pipeline.name)
    );
    if !prices.is_empty() {
        text.push_str(&format!(", with {}", counted(prices.len() as u64, "price")));
    }
    text + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_night_is_resumed_for_twelve_hours_after_its_beginning() {
        let now = |text: &str| text.parse::<Timestamp>().unwrap();
        let began = "2026-11-22T02:15:00Z";
        assert!(is_recent(began, now("2026-11-22T14:14:59Z")));
        assert!(!is_recent(began, now("2026-11-22T14:15:00Z")));
        assert!(
            is_recent(began, now("2026-11-21T02:15:00Z")),
            "the clock went back"
        );
        assert!(!is_recent("last week", now("2026-11-22T02:15:00Z")));
    }

    #[test]
    fn the_name_of_the_next_second_is_that_of_a_night() {
        let name = NightName::parse("2026-12-31T235959Z").unwrap();
        assert_eq!(second_after(&name).unwrap().as_str(), "2027-01-01T000000Z");
    }
}
