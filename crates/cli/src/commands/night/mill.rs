//! One night: what an earlier call left is made up for, then a dataset is milled and concluded.

use anyhow::Context as _;
use chatmill_dataset::{DatasetError, NIGHT_NOTE, NightFolder, NightName};
use chatmill_engine::{Plan, PlanError, Progress, RunOptions, run};
use chatmill_intake::discover::DiscoverError;
use chatmill_report::bill::Price;
use chatmill_report::night::{NIGHT_FORMAT, NightNote, NightRecord, NightState, kept};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value};

use super::NightRequest;
use super::books::{BookedNight, Books, instant_of, name_at};
use super::conclude::{CERTIFY, JUDGE, conclude};
use super::notify::notify;
use super::settings::NightSettings;
use super::settle::{settle, tell};
use crate::context::Context;
use crate::exit::{self, Exit, refuse};
use crate::figures::{bytes, counted, thousandths};
use crate::output::{self, harmless};

/// How long after its beginning, or its end, a night that a kill interrupted is gone on with; later, another one begins.
const GOES_ON: SignedDuration = SignedDuration::from_hours(12);

/// Mills a night, or says what would be done.
pub(super) fn execute(request: &NightRequest, context: &Context<'_>) -> anyhow::Result<Exit> {
    let settings = NightSettings::read(request, context.global.no_content)?;
    let now = request.at.unwrap_or_else(Timestamp::now);
    if request.dry_run {
        return rehearse(&settings, request, now);
    }
    let mut books = Books::open(&settings.store)?;
    for (name, reason) in &books.damaged {
        context.note(&format!(
            "the record of {name} is damaged, and the night is left alone: {reason}"
        ));
    }
    if let Some(exit) = make_up(&mut books, &settings, now, context)? {
        return Ok(exit);
    }
    let mut night = next(&books, &settings, now)?;
    if night.record.is_new() {
        for note in &night.record.notes {
            context.note(note);
        }
    } else {
        context.note(&format!("going on with the night {}", night.name));
    }
    let plan = match load(&books, &night, &settings, request) {
        Ok(plan) => plan,
        Err(error) => return refused(&mut books, night, &settings, error, context),
    };
    let prices = settings.prices(&plan.encodings)?;
    // Only a night that has its folder begins.
    let folder = match books.store.begin(&night.name) {
        Ok(folder) => folder,
        Err(error) => {
            let error = error.into();
            interrupted(&mut books, night, &settings, &error, context);
            return Err(error);
        }
    };
    night.record.attempts = night.record.attempts.saturating_add(1);
    books.save(night.clone())?;
    let milled = mill(plan, &folder, request, context)
        .and_then(|()| conclude(&books, &night, &settings, &prices, context));
    context.meter.finish();
    match milled {
        Ok(record) => {
            let night = BookedNight { record, ..night };
            finish(&mut books, night, &settings, context)
        }
        Err(error) => {
            interrupted(&mut books, night, &settings, &error, context);
            Err(error)
        }
    }
}

fn load(
    books: &Books,
    night: &BookedNight,
    settings: &NightSettings,
    request: &NightRequest,
) -> anyhow::Result<Plan> {
    let out = books.store.dataset(&night.name);
    let plan = Plan::load(&settings.path, &settings.overrides, Some(&out), &request.inputs)?;
    for planned in &plan.inputs {
        let path = planned.input.path();
        let is_inside = std::path::absolute(&path).is_ok_and(|path| path.starts_with(books.store.path()));
        if is_inside {
            let message = format!("the input {} lies in the store of the nights", path.display());
            return refuse(message, "keep the store beside the inputs");
        }
    }
    Ok(plan)
}

fn mill(
    plan: Plan,
    folder: &NightFolder,
    request: &NightRequest,
    context: &Context<'_>,
) -> anyhow::Result<()> {
    let options = RunOptions {
        night: Some(folder),
        threads: request.threads,
        // What lies there is of this very night, and nobody has judged it.
        replace: true,
        ..RunOptions::default()
    };
    context.meter.ahead(&[CERTIFY, JUDGE]);
    run(plan, options, context.meter, context.signals.stop())?;
    Ok(())
}

/// Does what earlier calls did not come to. Where one was killed just after its night had ended, that is all there is to do,
/// and the night's exit is given.
fn make_up(
    books: &mut Books,
    settings: &NightSettings,
    now: Timestamp,
    context: &Context<'_>,
) -> anyhow::Result<Option<Exit>> {
    if let Some(mut night) = books.begun().cloned()
        && let Some(reason) = ended_early(books, &night, now)?
    {
        night.record.state = NightState::Failed;
        night.record.exit_code = Some(Exit::Incomplete.code());
        night.record.objections.push(reason);
        finish(books, night, settings, context)?;
    }
    let unsettled = books
        .nights
        .iter()
        .filter(|night| night.record.state != NightState::Begun && !night.record.is_settled);
    let unsettled: Vec<BookedNight> = unsettled.cloned().collect();
    let mut exit = None;
    for night in unsettled {
        context.note(&format!("doing what is left to do for the night {}", night.name));
        let ended = night.record.ended_at.as_deref();
        let is_done =
            night.record.state != NightState::Failed && ended.is_some_and(|ended| is_recent(ended, now));
        let settled = settle(books, night, settings, context)?;
        exit = is_done.then_some(settled);
    }
    Ok(exit)
}

/// Why a night that began cannot be gone on with; nothing where it can.
fn ended_early(books: &Books, night: &BookedNight, now: Timestamp) -> Result<Option<String>, DatasetError> {
    if !is_recent(&night.record.began_at, now) {
        return Ok(Some(format!(
            "it was interrupted, and not gone on with within {} hours",
            GOES_ON.as_hours()
        )));
    }
    match books.store.begin(&night.name) {
        Err(error @ DatasetError::WrongPath { .. }) => Ok(Some(format!(
            "it was interrupted, and its folder is gone: {error}"
        ))),
        other => other.map(|_| None),
    }
}

fn is_recent(instant: &str, now: Timestamp) -> bool {
    let instant: Option<Timestamp> = instant.parse().ok();
    instant.is_some_and(|instant| now.duration_since(instant) < GOES_ON)
}

/// The night to go on with, or a new one.
fn next(books: &Books, settings: &NightSettings, now: Timestamp) -> anyhow::Result<BookedNight> {
    if let Some(begun) = books.begun() {
        let mut night = begun.clone();
        // What the attempt before had to say is over.
        night.record.notes.retain(|note| !note.starts_with(TROUBLE));
        env!("CARGO_PKG_VERSION").clone_into(&mut night.record.version);
        return Ok(night);
    }
    let mut name = name_at(now)?;
    let mut notes = Vec::new();
    if let Some(latest) = books.latest().filter(|latest| name <= **latest) {
        notes.push(format!(
            "the clock says {now}, and there is a night {latest} already; this one is named after that"
        ));
        name = second_after(latest)?;
    }
    // What has the name and no record is somebody else's.
    while books.store.is_taken(&name)? {
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
    Ok(BookedNight { name, record })
}

fn second_after(name: &NightName) -> anyhow::Result<NightName> {
    let instant = instant_of(name).with_context(|| format!("{name} is no instant; move its record away"))?;
    name_at(instant.checked_add(SignedDuration::from_secs(1))?)
}

/// What begins a note about an attempt that did not end.
const TROUBLE: &str = "an attempt ended early: ";

/// Ends a night whose request cannot be planned. Inputs that are missing are no fault of the request where there were some in
/// a night before: they may come, and until then every night is not complete.
fn refused(
    books: &mut Books,
    mut night: BookedNight,
    settings: &NightSettings,
    error: anyhow::Error,
    context: &Context<'_>,
) -> anyhow::Result<Exit> {
    let is_absence = matches!(
        error.downcast_ref::<PlanError>(),
        Some(PlanError::Input(DiscoverError::NothingMatches { .. }))
    );
    if !is_absence || books.good().next().is_none() {
        return Err(error);
    }
    night.record.state = NightState::Failed;
    night.record.exit_code = Some(Exit::Incomplete.code());
    night.record.objections.push(format!("{error:#}"));
    finish(books, night, settings, context)?;
    exit::report(&error);
    Ok(Exit::Incomplete)
}

/// Records why a night did not end. What cannot be recorded is told by the error itself.
fn interrupted(
    books: &mut Books,
    mut night: BookedNight,
    settings: &NightSettings,
    error: &anyhow::Error,
    context: &Context<'_>,
) {
    let exit = Exit::of(error, context.signals.exit());
    let said = format!("{error:#}");
    match exit {
        // It is told to stop, and goes on when it is called again.
        Exit::Interrupted | Exit::Terminated | Exit::HungUp => {}
        Exit::WrongRequest => {
            night.record.state = NightState::Failed;
            night.record.exit_code = Some(exit.code());
            night.record.objections.push(said);
            drop(finish(books, night, settings, context));
        }
        _ => {
            night.record.exit_code = Some(exit.code());
            night.record.notes.push(format!("{TROUBLE}{said}"));
            drop(tell(books, &night).and_then(|()| books.save(night.clone())));
            drop(notify(&settings.section.notify, books, &night));
        }
    }
}

/// Ends a night: tells of it, records it, and does what follows from that.
fn finish(
    books: &mut Books,
    mut night: BookedNight,
    settings: &NightSettings,
    context: &Context<'_>,
) -> anyhow::Result<Exit> {
    night.record.ended_at = Some(Timestamp::now().to_string());
    night.record.seconds = Some(thousandths(context.meter.seconds()));
    tell(books, &night)?;
    books.save(night.clone())?;
    let note = NightNote(&night.record).markdown()?;
    context.meter.set_ending(ending(books, &night));
    let exit = settle(books, night, settings, context)?;
    output::print(&note)?;
    Ok(exit)
}

/// What the last event says of a night, beside the exit code.
fn ending(books: &Books, night: &BookedNight) -> Map<String, Value> {
    let text = |text: &str| Value::from(text);
    let path = |path: std::path::PathBuf| Value::from(path.to_string_lossy().into_owned());
    let record = &night.record;
    let entries = [
        ("night", text(night.name.as_str())),
        ("state", text(record.state.word())),
        ("dataset", path(books.store.dataset(&night.name))),
        ("note", path(books.store.night(&night.name).join(NIGHT_NOTE))),
        ("verdict", record.verdict.as_deref().map_or(Value::Null, text)),
        ("against", record.against.as_deref().map_or(Value::Null, text)),
        ("objections", record.objections.clone().into()),
        ("warnings", record.warnings.clone().into()),
    ];
    let entries = entries.into_iter();
    entries.map(|(key, value)| (key.to_owned(), value)).collect()
}

/// Says what a night would do.
fn rehearse(settings: &NightSettings, request: &NightRequest, now: Timestamp) -> anyhow::Result<Exit> {
    let Some(books) = Books::find(&settings.store)? else {
        let plan = Plan::load(&settings.path, &settings.overrides, None, &request.inputs)?;
        let store = settings.store.display();
        output::print(&format!(
            "would make the store {store} and begin its first night\n{}",
            planned(&plan, &settings.prices(&plan.encodings)?)
        ))?;
        return Ok(Exit::Complete);
    };
    let night = next(&books, settings, now)?;
    let plan = load(&books, &night, settings, request)?;
    let verb = if night.record.is_new() {
        "begin"
    } else {
        "go on with"
    };
    let mut text = format!("would {verb} the night {}\n", night.name);
    text.push_str(&planned(&plan, &settings.prices(&plan.encodings)?));
    match books.good().next() {
        Some(good) => text.push_str(&format!("would compare it with {}\n", good.name)),
        None => text.push_str("there is no good night to compare it with\n"),
    }
    let others = books.nights.iter().filter(|known| known.name != night.name);
    let others = others.map(|known| (known.name.clone(), known.record.state));
    let nights: Vec<(NightName, NightState)> =
        others.chain([(night.name.clone(), NightState::Good)]).collect();
    for ((name, _), is_kept) in nights.iter().zip(kept(&nights, settings.section.keep as usize)) {
        let mut there = books.nights.iter().filter(|known| !known.record.is_removed);
        if !is_kept && there.any(|known| known.name == *name) {
            text.push_str(&format!("would remove {name} if it is good\n"));
        }
    }
    output::print(&text)?;
    Ok(Exit::Complete)
}

fn planned(plan: &Plan, prices: &[Price]) -> String {
    let mut text = format!(
        "would mill {} ({}) of `{}`",
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
