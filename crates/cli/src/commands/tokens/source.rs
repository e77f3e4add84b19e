//! Where a bill is drawn from: the tables of a finished dataset, or files that are rendered now and not kept.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use chatmill_dataset::{Dataset, Key, is_dataset};
use chatmill_diag::Limits;
use chatmill_diag::suggest::nearest;
use chatmill_dialect::{MadeTexts, Policy};
use chatmill_engine::PlanError;
use chatmill_engine::Progress;
use chatmill_engine::pipeline::{PerspectiveChoice, PerspectiveRule};
use chatmill_engine::plan::{Target, typed_inputs};
use chatmill_engine::trouble::Troubles;
use chatmill_engine::walk::{WalkEvent, walk};
use chatmill_engine::work::bill::{BillingMode, requests};
use chatmill_engine::work::{render, tables};
use chatmill_model::{Linked, MessageKind, Sink};
use chatmill_report::GroupKey;
use chatmill_report::bill::{self, Bill, BillBy, Booking};
use chatmill_token::{Counter, Encoding};

use super::ENCODING;
use crate::commands::Context;
use crate::exit::{self, Exit, WrongRequest};
use crate::troubles;

/// What is to be priced.
pub(super) struct BillRequest<'r> {
    /// Paths as typed.
    pub paths: &'r [String],
    /// Source id, or `auto`.
    pub source: &'r str,
    /// Dialects; empty for all.
    pub targets: Vec<Target>,
    /// Names of encodings; empty for those of the pipeline, else for the default.
    pub encodings: &'r [String],
    /// The encodings of the pipeline, where one is given.
    pub own: Vec<Encoding>,
    /// What is billed apart.
    pub by: BillBy,
}

/// A bill, and what could not be read for it.
pub(super) struct Drawn {
    /// The bill.
    pub bill: Bill,
    /// What is missing in it.
    pub not_counted: Troubles,
    /// Whether there was a conversation, or a dataset.
    has_read: bool,
}

impl Drawn {
    /// Says on stderr what could not be read. A bill in which something is missing, or everything, is an objection.
    pub(super) fn conclude(&self) -> Exit {
        troubles::tell("not counted", &self.not_counted);
        let told = exit::tell(&self.not_counted.failures);
        if !self.has_read || self.not_counted.count > 0 {
            Exit::Objection
        } else {
            told
        }
    }
}

/// Draws the bill.
pub(super) fn draw(request: &BillRequest<'_>, context: &Context<'_>) -> anyhow::Result<Drawn> {
    let mut datasets = 0;
    for path in request.paths {
        datasets += usize::from(is_dataset(Path::new(path))?);
    }
    match (datasets, request.paths) {
        (0, _) => from_files(request, context),
        (1, [folder]) => from_dataset(request, Path::new(folder)),
        _ => Err(
            WrongRequest::new("a finished dataset is priced alone: give one folder, or files")
                .then("`chatmill diff` compares two datasets")
                .into(),
        ),
    }
}

fn from_dataset(request: &BillRequest<'_>, folder: &Path) -> anyhow::Result<Drawn> {
    let dataset = Dataset::open(folder)?;
    let known = dataset.encodings();
    if let Some(other) = request.encodings.iter().find(|name| !known.contains(name)) {
        let near = nearest(other, known.iter().map(String::as_str));
        return Err(WrongRequest::unknown("encoding in this dataset", other, near)
            .then(format!("it was counted in {}", known.join(", ")))
            .into());
    }
    refuse_uncountable(request, known)?;
    let dialects: Vec<(String, String)> = request
        .targets
        .iter()
        .map(|target| (target.dialect.id().to_owned(), target.profile().to_owned()))
        .collect();
    let bill = bill::of_dataset(
        &dataset,
        &bill::BillRequest {
            by: request.by,
            dialects,
            encodings: request.encodings.to_vec(),
            own: request.own.clone(),
        },
    )?;
    let priced: BTreeSet<(String, String)> = bill
        .rows()
        .into_iter()
        .map(|row| (row.cell.dialect, row.cell.profile))
        .collect();
    let targets = &request.targets;
    if let Some(absent) = targets
        .iter()
        .find(|target| !priced.contains(&(target.dialect.id().to_owned(), target.profile().to_owned())))
    {
        let message = format!(
            "{} has no rendering in {}@{}",
            folder.display(),
            absent.dialect.id(),
            absent.profile()
        );
        return Err(WrongRequest::new(message)
            .then("render it in a run, or give the files instead of the dataset")
            .into());
    }
    Ok(Drawn {
        bill,
        not_counted: Troubles::default(),
        has_read: true,
    })
}

/// Arguments and results of tools are counted anew, in encodings that must be known for it.
fn refuse_uncountable(request: &BillRequest<'_>, encodings: &[String]) -> Result<(), WrongRequest> {
    if request.by != BillBy::Tool {
        return Ok(());
    }
    let is_wanted = |name: &&String| request.encodings.is_empty() || request.encodings.contains(name);
    let is_known =
        |name: &str| chatmill_token::find(name).is_some() || request.own.iter().any(|own| own.name() == name);
    match encodings.iter().filter(is_wanted).find(|name| !is_known(name)) {
        None => Ok(()),
        Some(name) => Err(WrongRequest::new(format!(
            "`{name}` is an encoding of the pipeline's own, and tools are counted anew"
        ))
        .then("give --pipeline FILE, or name other encodings with --encoding")),
    }
}

fn from_files(request: &BillRequest<'_>, context: &Context<'_>) -> anyhow::Result<Drawn> {
    let mut pricer = Pricer::new(request)?;
    let inputs = typed_inputs(request.paths, request.source)?;
    let bytes = inputs.iter().map(|planned| planned.input.bytes).sum();
    context.meter.stage("count", bytes);
    let mut not_counted = Troubles::default();
    let mut ids = BTreeMap::new();
    let mut has_read = false;
    walk(
        &inputs,
        &Limits::default(),
        context.meter,
        context.signals.stop(),
        &mut |sight| {
            match sight {
                WalkEvent::Conversation { id, linked, .. } => {
                    has_read = true;
                    // Equal ids in different files are different conversations.
                    let id = qualified(id, request.by, &mut ids);
                    pricer.price(&id, linked);
                }
                WalkEvent::Trouble(trouble) => not_counted.add(trouble),
                WalkEvent::Failed(failure) => not_counted.failures.push(failure),
                WalkEvent::Entry(_)
                | WalkEvent::Recognised(_)
                | WalkEvent::Records { .. }
                | WalkEvent::Table { .. } => {}
            }
            true
        },
    )?;
    Ok(Drawn {
        bill: pricer.bill,
        not_counted,
        has_read,
    })
}

/// The id, with a number where conversations are billed apart and it was there before.
///
/// `ids` are those that were given, each with the number to try next: the search goes on where it stopped.
fn qualified(id: String, by: BillBy, ids: &mut BTreeMap<String, u64>) -> String {
    if by != BillBy::Conversation {
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

/// What is to be rendered, each once and in the order of the registry, as a run would have it.
fn targets(asked: &[Target]) -> Result<Vec<Target>, PlanError> {
    let mut targets: Vec<Target> = Vec::new();
    for dialect in chatmill_dialect::DIALECTS {
        let of_dialect = asked.iter().filter(|target| target.dialect.id() == dialect.id());
        let mut profiles: Vec<&str> = of_dialect.map(Target::profile).collect();
        profiles.sort_unstable();
        profiles.dedup();
        for profile in profiles {
            targets.push(Target::find(&format!("{}@{profile}", dialect.id()))?);
        }
        if asked.is_empty() {
            targets.push(Target::find(dialect.id())?);
        }
    }
    for template in asked {
        if targets
            .iter()
            .all(|known| known.dialect.id() != template.dialect.id())
        {
            targets.push(template.clone());
        }
    }
    Ok(targets)
}

/// Renders, counts and books.
struct Pricer {
    by: BillBy,
    targets: Vec<Target>,
    counters: Vec<(String, Arc<dyn Counter>)>,
    bill: Bill,
}

impl Pricer {
    fn new(request: &BillRequest<'_>) -> anyhow::Result<Self> {
        let planned: Vec<String> = request.own.iter().map(|own| own.name().to_owned()).collect();
        let default = [ENCODING.to_owned()];
        let names = match (request.encodings, planned.as_slice()) {
            ([], []) => &default,
            ([], planned) => planned,
            (named, _) => named,
        };
        let mut counters: Vec<(String, Arc<dyn Counter>)> = Vec::new();
        for name in names {
            let own = request.own.iter().find(|own| own.name() == name);
            let encoding = own.or_else(|| chatmill_token::find(name)).ok_or_else(|| {
                let registered = chatmill_token::ENCODINGS.iter().map(Encoding::name);
                let known = registered.chain(planned.iter().map(String::as_str));
                WrongRequest::unknown("encoding", name, nearest(name, known))
                    .then("`chatmill encodings` lists them")
            })?;
            if counters.iter().all(|(known, _)| known != name) {
                counters.push((name.clone(), encoding.counter()));
            }
        }
        let targets = targets(&request.targets)?;
        Ok(Self {
            by: request.by,
            targets,
            counters,
            bill: Bill::default(),
        })
    }

    fn price(&mut self, id: &str, linked: &Linked) {
        match self.by {
            BillBy::Participant | BillBy::Role => self.price_messages(linked),
            BillBy::Tool => self.price_tools(linked),
            BillBy::Nothing => self.price_renderings("", linked),
            BillBy::Source => self.price_renderings(linked.conversation.source, linked),
            BillBy::Conversation => self.price_renderings(id, linked),
            BillBy::Day => {
                let (start, _) = linked.conversation.span();
                self.price_renderings(&bill::day(start), linked);
            }
        }
    }

    fn price_renderings(&mut self, group: &str, linked: &Linked) {
        let (perspectives, _) = render::perspectives(linked, &PerspectiveChoice::Rule(PerspectiveRule::Auto));
        let policy = Policy::default();
        let made = MadeTexts::default();
        let mut sink = Sink::default();
        for target in &self.targets {
            let serving = BillingMode::of(&*target.dialect, chatmill_dialect::Cuts::default());
            let mut emit = |sink: &mut Sink<'_>, _: &str, rendering: chatmill_dialect::Rendering| {
                let requests = u64::from(requests(sink.spans_mut(), serving));
                for (encoding, counter) in &self.counters {
                    let key = GroupKey {
                        group,
                        dialect: target.dialect.id(),
                        profile: target.profile(),
                        coverage: rendering.coverage.as_str(),
                        encoding,
                    };
                    let booking = Booking {
                        messages: u64::from(rendering.messages_rendered),
                        bytes: sink.text().len() as u64,
                        tally: counter.tally(sink.text(), sink.spans()),
                        requests,
                        invalid: !rendering.violations.is_empty(),
                        losses: rendering.loss_count(),
                    };
                    self.bill.book(key, &booking);
                }
            };
            render::render(
                linked,
                target,
                &perspectives,
                &policy,
                &made,
                &mut sink,
                &mut emit,
            );
        }
    }

    fn price_messages(&mut self, linked: &Linked) {
        let messages = linked.conversation.messages.iter();
        for message in messages.filter(|message| message.kind == MessageKind::Message) {
            let text = message.text();
            let group = match self.by {
                BillBy::Role => Some(message.role.as_str()),
                _ => message
                    .sender
                    .and_then(|place| linked.conversation.participants.get(place))
                    .map(|sender| sender.id.as_str()),
            };
            for (encoding, counter) in &self.counters {
                let tokens = counter.count(&text);
                self.bill.book_text(group, encoding, text.len() as u64, tokens);
            }
        }
    }

    fn price_tools(&mut self, linked: &Linked) {
        for call in tables::tool_calls(Key::default(), linked) {
            let texts = [call.arguments, call.result].map(Option::unwrap_or_default);
            let bytes = texts.iter().map(|text| text.len() as u64).sum();
            for (encoding, counter) in &self.counters {
                let tokens = texts.iter().map(|text| counter.count(text)).sum();
                self.bill.book_tool(call.name, encoding, bytes, tokens);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conversations_of_one_name_are_billed_apart() {
        let mut ids = BTreeMap::new();
        let mut name = |by| qualified("a".to_owned(), by, &mut ids);
        assert_eq!(name(BillBy::Conversation), "a");
        assert_eq!(name(BillBy::Conversation), "a~2");
        assert_eq!(name(BillBy::Conversation), "a~3");
        assert_eq!(name(BillBy::Source), "a");
    }
}
