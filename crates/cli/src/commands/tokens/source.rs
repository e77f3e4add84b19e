//! The data of a bill: the tables of finished datasets, which `chatmill_report` sums, or files that are rendered now, priced by several
//! threads (`pricer`), and not kept. Both give a [`Drawn`] to `chatmill tokens`.

mod pricer;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use chatmill_dataset::is_dataset;
use chatmill_diag::Limits;
use chatmill_diag::suggest::nearest;
use chatmill_dialect::Dialect;
use chatmill_engine::pipeline::{PerspectiveChoice, PerspectiveRule};
use chatmill_engine::record::Settings;
use chatmill_engine::{
    InputReading, Plan, PlanError, PlannedInput, Progress, ReadProblems, Templates, WalkEvent, typed_inputs,
    walk,
};
use chatmill_intake::discover::Links;
use chatmill_report::bill::{self, Bill, BillBy, PaidAnswers, PriceDivision, Repeated};
use chatmill_token::Encoding;
use jiff::tz::TimeZone;

use self::pricer::{Priced, Pricer};
use super::{Arguments, ENCODING};
use crate::commands::encodings;
use crate::context::Context;
use crate::exit::{self, CommandError, Exit, Outcome, refuse};
use crate::figures::counted;
use crate::read_problems;

/// The number of conversations that a thread prices at a time, and adds to the bill together.
const BATCH: usize = 64;
/// The number of bytes of records at which a batch is closed even with fewer conversations.
const BATCH_BYTES: usize = 4 << 20;

/// A request for a bill.
pub(super) struct BillRequest<'r> {
    /// The arguments as they were typed: paths, source, encodings and grouping.
    pub arguments: &'r Arguments,
    /// The settings for reading files.
    pub reading: &'r InputReading,
    /// The dialects; empty for all.
    pub targets: Vec<Dialect>,
    /// The pipeline, if one is given, with the paths as its inputs.
    pub plan: Option<&'r Plan>,
    /// Whether text is billed, before any dialect renders it.
    pub text: bool,
    /// The time zone of days.
    pub zone: TimeZone,
    /// The properties on which prices depend; `None` if nothing is priced.
    pub division: Option<PriceDivision>,
}

impl BillRequest<'_> {
    fn own(&self) -> &[Encoding] {
        self.plan.map_or(&[], |plan| plan.encodings.as_slice())
    }
}

/// A bill, and the records that could not be read.
#[derive(Default)]
pub(super) struct Drawn {
    /// The bill.
    pub bill: Bill,
    /// The records that are missing in the bill.
    pub not_counted: ReadProblems,
    /// Whether there was a conversation, or a dataset.
    has_read: bool,
}

impl Drawn {
    /// Prints on stderr the records that could not be read, and returns the exit code: a bill with missing records, or with nothing read,
    /// fails.
    pub(super) fn report_exit(&self) -> Exit {
        read_problems::report("not counted", &self.not_counted);
        let exit = exit::report_failures(&self.not_counted.failures);
        if !self.has_read || self.not_counted.count > 0 {
            Exit::Failed
        } else {
            exit
        }
    }
}

/// Makes the bill.
pub(super) fn draw(request: &BillRequest<'_>, context: &Context<'_>) -> Outcome<Drawn> {
    let mut datasets = 0;
    for path in &request.arguments.paths {
        datasets += usize::from(is_dataset(Path::new(path))?);
    }
    if datasets == 0 {
        from_files(request, context)
    } else if datasets == request.arguments.paths.len() {
        from_datasets(request, context)
    } else {
        refuse(
            "files and finished datasets cannot be priced together",
            "give one of them at a time",
        )
    }
}

fn from_datasets(request: &BillRequest<'_>, context: &Context<'_>) -> Outcome<Drawn> {
    let dialects: Vec<(String, String)> = request
        .targets
        .iter()
        .map(|target| (target.id().to_owned(), target.profile().to_owned()))
        .collect();
    let asked = bill::BillRequest {
        by: request.arguments.by.clone(),
        text: request.text,
        zone: Some(request.zone.clone()),
        dialects,
        encodings: request.arguments.encodings.clone(),
        own: request.own().to_vec(),
        division: request.division.clone(),
        counted: bill::Counted::default(),
    };
    if !asked.is_in_totals() {
        let message = "renderings of a dataset can be grouped by source, day (in UTC) and model only";
        return refuse(
            message,
            "give the files instead of the dataset, or bill the text: --dialect text",
        );
    }
    let folders: Vec<&Path> = request.arguments.paths.iter().map(Path::new).collect();
    let (bill, repeated) = bill::of_datasets::<CommandError>(&folders, &asked, &|dataset| {
        let known = dataset.encodings();
        if let Some(other) = request
            .arguments
            .encodings
            .iter()
            .find(|name| !known.contains(name))
        {
            let near = nearest(other, known.iter().map(String::as_str));
            return Err(CommandError::unknown("encoding in this dataset", other, near)
                .then(format!("it was counted in {}", known.join(", "))));
        }
        refuse_uncountable(request, known)
    })?;
    note_repeated(request, &repeated, context)?;
    refuse_absent(request, &bill)?;
    Ok(Drawn {
        bill,
        not_counted: ReadProblems::default(),
        has_read: true,
    })
}

/// Notes what is in several datasets and is counted once.
fn note_repeated(request: &BillRequest<'_>, repeated: &Repeated, context: &Context<'_>) -> Outcome<()> {
    let conversations = counted(repeated.conversations, "conversation");
    if let Some(path) = repeated
        .undivided
        .and_then(|place| request.arguments.paths.get(place))
    {
        return refuse(
            format!(
                "{conversations} in more than one of these datasets, and {path} has others as well: its sums by day, \
                 model and source do not separate them"
            ),
            "give one of the datasets, bill it by room, input or conversation or as --dialect text, or give the files",
        );
    }
    if repeated.datasets > 0 {
        let datasets = counted(repeated.datasets, "dataset");
        context.note(&format!("{datasets} given again: each is counted once"));
    }
    if repeated.conversations > 0 {
        context.note(&format!(
            "{conversations} in more than one of the datasets: each is counted once, with the most messages that it has"
        ));
    }
    Ok(())
}

/// Refuses a requested dialect that has no rendering, since an empty bill would be misleading.
fn refuse_absent(request: &BillRequest<'_>, bill: &Bill) -> Outcome<()> {
    if request.text {
        return Ok(());
    }
    let rows = bill.total().rows();
    let priced: BTreeSet<(&str, &str)> = rows
        .iter()
        .map(|row| (row.cell.dialect.as_str(), row.cell.profile.as_str()))
        .collect();
    let mut targets = request.targets.iter();
    let absent = targets.find(|target| !priced.contains(&(target.id(), target.profile())));
    let Some(absent) = absent else {
        return Ok(());
    };
    let named = match request.arguments.paths.as_slice() {
        [path] => format!("{path} has"),
        paths => format!("all {} datasets have", paths.len()),
    };
    let message = format!("{named} no rendering in {}@{}", absent.id(), absent.profile());
    refuse(
        message,
        "render it in a run, or give the files instead of the dataset",
    )
}

/// Refuses encodings that are not known: the arguments and results of tools are counted now.
fn refuse_uncountable(request: &BillRequest<'_>, encodings: &[String]) -> Outcome<()> {
    if !request.text {
        return Ok(());
    }
    let is_wanted =
        |name: &&String| request.arguments.encodings.is_empty() || request.arguments.encodings.contains(name);
    let is_known = |name: &str| {
        chatmill_token::find(name).is_some() || request.own().iter().any(|own| own.name() == name)
    };
    match encodings.iter().filter(is_wanted).find(|name| !is_known(name)) {
        None => Ok(()),
        Some(name) => refuse(
            format!("`{name}` is an encoding of the pipeline file, which is needed to count tool calls"),
            "give --pipeline FILE, or name other encodings with --encoding",
        ),
    }
}

/// Refuses sections of the pipeline that a bill cannot apply, since they would change the counts.
fn refuse_unusable(plan: &Plan) -> Outcome<()> {
    let pipeline = &plan.pipeline;
    let unusable = [
        pipeline.surveys(),
        plan.replaces().then_some("redact.mode"),
        pipeline.select.limit.map(|_| "select.limit"),
    ];
    match unusable.into_iter().flatten().next() {
        None => Ok(()),
        Some(key) => refuse(
            format!("the pipeline has {key}, which only a run can apply: counts without it would be wrong"),
            "run the pipeline and give the dataset, or omit --pipeline",
        ),
    }
}

/// A conversation that is to be priced.
struct Job {
    id: String,
    input: String,
    linked: chatmill_model::Linked,
}

type Batch = (usize, Vec<Job>);

fn from_files(request: &BillRequest<'_>, context: &Context<'_>) -> Outcome<Drawn> {
    if let Some(plan) = request.plan {
        refuse_unusable(plan)?;
    }
    let typed;
    let (inputs, notes): (&[PlannedInput], &[String]) = if let Some(plan) = request.plan {
        (&plan.inputs, &plan.notes)
    } else {
        typed = typed_inputs(&request.arguments.paths, request.reading, Links::Refused, false)?;
        (&typed.0, &typed.1)
    };
    for note in notes {
        context.meter.note(note);
    }
    let limits = Limits::default();
    let settings = request
        .plan
        .map_or_else(|| request.reading.records(&limits), Plan::reading);
    let encodings = encodings(request)?;
    let targets = targets(&request.targets)?;
    let (policy, windows) = request
        .plan
        .map_or_else(Default::default, |plan| (*plan.policy(), plan.windows.clone()));
    let planned_speaker = request.plan.map(|plan| &plan.pipeline.perspective.speaker);
    let priced = Priced {
        by: &request.arguments.by,
        text: request.text,
        zone: &request.zone,
        targets: &targets,
        encodings: &encodings,
        policy: &policy,
        additions: request.plan.map(|plan| plan.additions(&[])).unwrap_or_default(),
        windows: &windows,
        speaker: planned_speaker.unwrap_or(&AUTO),
        division: request.division.as_ref(),
    };
    let bytes = inputs.iter().map(|planned| planned.input.bytes).sum();
    context.meter.stage("count", bytes);
    let threads = chatmill_engine::threads(request.arguments.threads, context.meter);
    let (to_workers, jobs) = sync_channel::<Batch>(2 * threads);
    let jobs = Arc::new(Mutex::new(jobs));
    let bills = Mutex::new(BTreeMap::new());
    let mut drawn = Drawn::default();
    let outcome = thread::scope(|scope| {
        for _ in 0..threads {
            // The workers have the only references to the receiver: if all of them have panicked, sending fails and does not block.
            let jobs = Arc::clone(&jobs);
            let (priced, bills) = (&priced, &bills);
            scope.spawn(move || price_batches(&jobs, priced, bills));
        }
        drop(jobs);
        let mut queue = Queue::new(&to_workers);
        let outcome = walk_through(request, inputs, settings, context, &mut drawn, &mut queue);
        queue.flush();
        drop(queue);
        drop(to_workers);
        outcome
    });
    outcome?;
    // Merged by the numbers of the batches, so the order of groups does not depend on which thread was faster.
    let bills = bills.into_inner().unwrap_or_else(PoisonError::into_inner);
    for part in bills.values() {
        drawn.bill.merge(part);
    }
    Ok(drawn)
}

const AUTO: PerspectiveChoice = PerspectiveChoice::Rule(PerspectiveRule::Auto);

/// The conversations that are collected for the worker threads.
struct Queue<'q> {
    to: &'q SyncSender<Batch>,
    next: usize,
    batch: Vec<Job>,
    bytes: usize,
}

impl<'q> Queue<'q> {
    fn new(to: &'q SyncSender<Batch>) -> Self {
        Self {
            to,
            next: 0,
            batch: Vec::new(),
            bytes: 0,
        }
    }

    fn push(&mut self, job: Job, bytes: usize) {
        self.batch.push(job);
        self.bytes += bytes;
        if self.batch.len() >= BATCH || self.bytes >= BATCH_BYTES {
            self.flush();
        }
    }

    fn flush(&mut self) {
        let batch = std::mem::take(&mut self.batch);
        self.bytes = 0;
        self.next += 1;
        // Ignored: a send fails only if all workers have panicked, which the scope reports.
        let _ = self.to.send((self.next, batch));
    }
}

fn walk_through(
    request: &BillRequest<'_>,
    inputs: &[PlannedInput],
    settings: Settings<'_>,
    context: &Context<'_>,
    drawn: &mut Drawn,
    queue: &mut Queue<'_>,
) -> Outcome<()> {
    let mut ids = BTreeMap::new();
    let is_by_conversation =
        request.arguments.by.contains(&BillBy::Conversation) || request.arguments.by.contains(&BillBy::Room);
    let mut unplanned = None;
    let mut answers = PaidAnswers::default();
    walk(
        inputs,
        settings,
        context.meter,
        context.signals.stop(),
        &mut |sight| {
            match sight {
                WalkEvent::Conversation {
                    entry,
                    id,
                    linked,
                    codes,
                    hash,
                    ..
                } => {
                    let Some(planned) = inputs.get(entry.input) else {
                        unplanned = Some(entry.input);
                        return false;
                    };
                    let prefix = &planned.settings.written.id_prefix;
                    let is_left_out = request.plan.is_some_and(|plan| {
                        plan.excluded_by(entry.input, linked, hash, codes.into_iter())
                            .is_some()
                    });
                    drawn.has_read = true;
                    if !is_left_out {
                        let mut linked = linked.clone();
                        answers.leave_repeated(&mut linked);
                        let job = Job {
                            // Equal ids in different files belong to different conversations.
                            id: qualified(format!("{prefix}{id}"), is_by_conversation, &mut ids),
                            input: planned.name().into_owned(),
                            linked,
                        };
                        queue.push(job, hash.record_bytes());
                    }
                }
                WalkEvent::ReadProblem(problem) => drawn.not_counted.add(problem),
                WalkEvent::Failed(failure) => drawn.not_counted.failures.push(failure),
                WalkEvent::Entry(_)
                | WalkEvent::Recognised(_)
                | WalkEvent::Record { .. }
                | WalkEvent::Table { .. } => {}
            }
            true
        },
    )?;
    if answers.repeated > 0 {
        let answers = counted(answers.repeated, "logged answer");
        context.note(&format!(
            "{answers} repeated in another conversation with the same id, model and figures: each was paid once"
        ));
    }
    if answers.uncompared > 0 {
        let answers = counted(answers.uncompared, "logged answer");
        context.note(&format!(
            "{answers} not compared with others, of which there are too many: some may be counted twice"
        ));
    }
    match unplanned {
        None => Ok(()),
        Some(input) => Err(CommandError::bug(format!(
            "the input {input} is not in the plan; this is a bug in chatmill"
        ))),
    }
}

/// Prices batches until the queue is closed.
fn price_batches(jobs: &Mutex<Receiver<Batch>>, priced: &Priced<'_>, bills: &Mutex<BTreeMap<usize, Bill>>) {
    let mut worker = Pricer::new(priced);
    loop {
        let next = jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok((number, batch)) = next else { return };
        for job in &batch {
            worker.price(&job.id, &job.input, &job.linked);
        }
        let bill = worker.take();
        bills
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(number, bill);
    }
}

/// The requested encodings, without repetitions.
fn encodings(request: &BillRequest<'_>) -> Outcome<Vec<Encoding>> {
    let own = request.own();
    let planned: Vec<String> = own.iter().map(|own| own.name().to_owned()).collect();
    let default = [ENCODING.to_owned()];
    let names = match (request.arguments.encodings.as_slice(), planned.as_slice()) {
        ([], []) => &default,
        ([], planned) => planned,
        (named, _) => named,
    };
    let mut encodings: Vec<Encoding> = Vec::new();
    for name in names {
        let own = own.iter().find(|own| own.name() == name);
        let encoding = own
            .or_else(|| chatmill_token::find(name))
            .ok_or_else(|| encodings::unknown(name, planned.iter().map(String::as_str)))?;
        if encodings.iter().all(|known| known.name() != name) {
            encodings.push(encoding.clone());
        }
    }
    Ok(encodings)
}

/// The id; with a number if conversations are billed separately and an earlier one has the same id.
///
/// `ids` has all ids so far, each with the number to try next, so that the search continues where it stopped.
fn qualified(id: String, is_by_conversation: bool, ids: &mut BTreeMap<String, u64>) -> String {
    if !is_by_conversation {
        return id;
    }
    let mut given = id.clone();
    let mut number = ids.get(&id).copied().unwrap_or(2);
    while ids.contains_key(&given) {
        given = format!("{id}~{number}");
        number += 1;
    }
    ids.insert(id, number);
    ids.entry(given.clone()).or_insert(2);
    given
}

/// The dialects to render, without repetitions and in the order of the registry, as in a run.
fn targets(asked: &[Dialect]) -> Result<Vec<Dialect>, PlanError> {
    let mut targets: Vec<Dialect> = Vec::new();
    for dialect in chatmill_dialect::DIALECTS {
        let of_dialect = asked.iter().filter(|target| target.id() == dialect.id());
        let mut profiles: Vec<&str> = of_dialect.map(Dialect::profile).collect();
        profiles.sort_unstable();
        profiles.dedup();
        for profile in profiles {
            targets.push(Templates::default().find(&format!("{}@{profile}", dialect.id()))?);
        }
        if asked.is_empty() {
            targets.push(Templates::default().find(dialect.id())?);
        }
    }
    for template in asked {
        if targets.iter().all(|known| known.id() != template.id()) {
            targets.push(template.clone());
        }
    }
    Ok(targets)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conversations_with_the_same_id_are_billed_separately() {
        let mut ids = BTreeMap::new();
        let mut name = |is_by_conversation| qualified("a".to_owned(), is_by_conversation, &mut ids);
        assert_eq!(name(true), "a");
        assert_eq!(name(true), "a~2");
        assert_eq!(name(true), "a~3");
        assert_eq!(name(false), "a");
    }
}
