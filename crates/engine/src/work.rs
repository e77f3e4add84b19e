//! The kernel: one slice in, closed part files and a receipt out.
//!
//! What is written is a function of the slice and the plan alone: no thread pool, no shared state, and the clock tells only which
//! conversations took long.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use chatmill_dataset::overview::cut;
use chatmill_dataset::{PartSet, SliceId};
use chatmill_diag::{Finding, Reject, RejectLevel, Severity, ShownId, Span, codes};
use chatmill_dialect::MadeTexts;
use chatmill_intake::FramingError;
use chatmill_link::ClusterMembership;
use chatmill_model::{Component, Linked, Message, MessageKind, Sink, SinkBuffers};
use chatmill_source::Source;
use chatmill_token::{Encoding, TokenCounter};

use crate::entry::EntryRef;
use crate::error::WorkError;
use crate::options::CountMode;
use crate::plan::Plan;
use crate::record::RecordHash;
use crate::record::locate::Located;
use crate::record::redact::{self, Redaction};
use crate::slice::Slice;
use crate::slice::records::{AccountedRow, Item, ReadRecord, Record};

pub mod bill;
pub mod budget;
mod fit;
pub mod overview;
mod perspectives;
pub mod receipt;
pub mod recognition;
pub mod render;
mod renderings;
pub mod shares;
pub mod slowest;
pub mod survey;
pub mod tables;
mod told;
mod totals;

use budget::BudgetMeter;
use receipt::{InputCounts, SliceReceipt, add_shapes};
use recognition::{Recognition, is_misread};
use renderings::{PlanKeys, RenderingBuffers};
use slowest::Slowest;
use survey::Survey;
use tables::{FindingTexts, Place, Quoting};
use told::Told;
pub use totals::{TotalNames, Totals};

/// What a worker needs beside its slice.
pub struct WorkerContext<'p> {
    /// The plan.
    pub plan: &'p Plan,
    /// Counters of the plan's encodings that no worker uses at the moment, each with the buffers of the sink that it counts.
    /// What they remember saves time and changes no count.
    pub idle_counters: Mutex<Vec<(TokenCounter, SinkBuffers)>>,
    /// Meters of the plan's budget that no worker uses at the moment, where it has one.
    pub idle_meters: Mutex<Vec<BudgetMeter>>,
    /// Which counters count.
    pub count_mode: CountMode,
    /// Every how many renderings of a slice are counted again by the reference; 0 for none.
    pub verify_every: u64,
    /// Where conversations stand among the others, where they are compared.
    pub survey: Survey,
    /// The conversations that took longest.
    pub slowest: Mutex<Slowest>,
    /// Set when the run should stop.
    pub stop: &'p AtomicBool,
}

impl<'p> WorkerContext<'p> {
    /// What workers need of a plan; nothing was compared with anything.
    pub fn new(plan: &'p Plan, count_mode: CountMode, verify_every: u64, stop: &'p AtomicBool) -> Self {
        Self {
            plan,
            idle_counters: Mutex::default(),
            idle_meters: Mutex::default(),
            count_mode,
            verify_every,
            survey: Survey::default(),
            slowest: Mutex::default(),
            stop,
        }
    }

    fn new_counter(&self) -> TokenCounter {
        let encodings = &self.plan.encodings;
        match self.count_mode {
            CountMode::Cached => TokenCounter::new(encodings),
            CountMode::Reference => {
                TokenCounter::of_counters(encodings.iter().map(Encoding::reference_counter).collect())
            }
        }
    }
}

/// Works off one slice: its records are read, rendered and counted into `parts`. `renamed` gives conversations, by their index in the slice, another id.
pub fn process_slice(
    slice: &Slice,
    tools: &WorkerContext<'_>,
    parts: &mut PartSet,
    renamed: BTreeMap<usize, String>,
) -> Result<SliceReceipt, WorkError> {
    let pooled = tools
        .idle_counters
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .pop();
    let (counter, sink) = pooled.unwrap_or_else(|| (tools.new_counter(), SinkBuffers::default()));
    let keys = PlanKeys::new(tools.plan, parts);
    let mut work = Work {
        tools,
        parts,
        counter,
        meter: tools.plan.windows.budget.as_ref().map(|budget| {
            let pooled = tools
                .idle_meters
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .pop();
            pooled.unwrap_or_else(|| BudgetMeter::new(budget))
        }),
        receipt: SliceReceipt {
            slice: slice.digest(),
            renamed,
            ..SliceReceipt::default()
        },
        slice: slice.id,
        met: 0,
        standing: ClusterMembership::default(),
        place: None,
        input: String::new(),
        written: (None, None),
        slowest: Slowest::default(),
        redaction: None,
        keys,
        buffers: RenderingBuffers::new(sink),
    };
    for item in slice.items() {
        if tools.stop.load(Ordering::Relaxed) {
            return Err(WorkError::Stopped);
        }
        work.item(item)?;
    }
    let mut idle = tools.idle_counters.lock().unwrap_or_else(PoisonError::into_inner);
    idle.push((work.counter, work.buffers.take_sink()));
    let mut idle = tools.idle_meters.lock().unwrap_or_else(PoisonError::into_inner);
    idle.extend(work.meter);
    let mut slowest = tools.slowest.lock().unwrap_or_else(PoisonError::into_inner);
    slowest.merge(slice.id, work.slowest);
    Ok(work.receipt)
}

struct Work<'w, 'p> {
    tools: &'w WorkerContext<'p>,
    parts: &'w mut PartSet,
    counter: TokenCounter,
    meter: Option<BudgetMeter>,
    receipt: SliceReceipt,
    /// Number of the slice.
    slice: SliceId,
    /// Conversations of the slice that the selection has kept so far.
    met: usize,
    /// The cluster of the current conversation.
    standing: ClusterMembership,
    place: Option<EntryRef>,
    /// The name of its input.
    input: String,
    /// Bytes of the record at hand in its entry, and line and column of the first, where it is written down there.
    written: (Option<Span>, Option<(u64, u64)>),
    /// The conversations of the slice that took longest.
    slowest: Slowest,
    /// What was replaced in the conversation at hand.
    redaction: Option<Redaction>,
    /// The keys of what the plan names.
    keys: PlanKeys,
    buffers: RenderingBuffers,
}

impl Work<'_, '_> {
    fn item(&mut self, item: Item<'_>) -> Result<(), WorkError> {
        match item {
            Item::Entry(entry) => self.enter(entry),
            Item::Separator(bytes) => self.counts().ledger.separator_bytes += bytes,
            Item::EntryEnd(bytes) => {
                let counts = self.counts();
                counts.entries += 1;
                counts.ledger.decoded_bytes += bytes;
            }
            Item::StretchEnd(bytes) => self.counts().ledger.decoded_bytes += bytes,
            Item::Filtered(record) => {
                let planned = self.tools.plan.inputs.get(record.entry.input);
                let of_section = planned.and_then(|planned| planned.settings.limit);
                self.filter(record, of_section.map_or("limit", |_| "input.limit"));
            }
            Item::FramingError(damage) => self.damage(damage)?,
            Item::Note(finding) => self.finding(&Located::nowhere(finding.clone()), None, None)?,
            Item::Record(record) => {
                let (begun, index) = (Instant::now(), self.receipt.ids.len());
                self.record(record, record.read(self.tools.plan.settings()))?;
                self.took(begun.elapsed(), index, record.bytes.len());
            }
            Item::PassedOver { kind, bytes } => {
                let (member, limit) = (self.place.clone(), self.tools.plan.limits().unread_paths);
                let counts = self.counts();
                counts.recognition.pass_over(member.as_ref(), kind, bytes, limit);
                counts.ledger.skipped_bytes += bytes;
                *counts.skipped_files.entry(kind.to_owned()).or_default() += 1;
            }
            Item::Skipped { table, rows, bytes } => {
                let counts = self.counts();
                counts.ledger.skipped_bytes += bytes;
                *counts.skipped_tables.entry(table.to_owned()).or_default() += rows;
            }
        }
        Ok(())
    }

    /// Remembers how long the `index`-th conversation of the slice took, where there is one.
    fn took(&mut self, taken: Duration, index: usize, bytes: usize) {
        if let Some((_, base)) = self.receipt.ids.get(index) {
            let id = self.receipt.renamed.get(&index).unwrap_or(base);
            let name = self.input.as_str();
            self.slowest.offer(self.slice, taken, bytes, || (id, name));
        }
    }

    /// A finding about the whole record at hand.
    fn at_record(&self, finding: Finding) -> Located {
        let (span, line_column) = self.written;
        Located {
            span,
            line_column,
            ..Located::nowhere(finding)
        }
    }

    /// What follows comes from this entry.
    fn enter(&mut self, entry: &EntryRef) {
        let is_here = self
            .place
            .as_ref()
            .is_some_and(|place| place.input == entry.input && place.entry == entry.entry);
        if is_here
            && self.place.as_ref().and_then(|place| place.source).map(Source::id)
                == entry.source.map(Source::id)
        {
            return;
        }
        let counts = self.receipt.inputs.entry(entry.input).or_default();
        counts.plain |= entry.is_plain;
        if let Some(source) = entry.source
            && !counts.sources.iter().any(|known| known == source.id())
        {
            counts.sources.push(source.id().to_owned());
        }
        self.place = Some(entry.clone());
        let planned = self.tools.plan.inputs.get(entry.input);
        self.input = planned
            .map(|planned| planned.name().into_owned())
            .unwrap_or_default();
    }

    fn counts(&mut self) -> &mut InputCounts {
        let input = self.place.as_ref().map_or(0, |place| place.input);
        self.receipt.inputs.entry(input).or_default()
    }

    fn filter(&mut self, record: Record<'_>, reason: &str) {
        for (_, row) in record.rows() {
            self.enter(row.entry);
            let counts = self.counts();
            counts.ledger.framed += 1;
            counts.ledger.filtered += 1;
            counts.ledger.filtered_bytes += row.bytes;
            *counts.filtered_by.entry(reason.to_owned()).or_default() += 1;
        }
    }

    /// A record: its conversations are rendered, but for those that the plan leaves out. Where it leaves out all, the record is
    /// left out; else what is rejected in any of them is accounted for, and told.
    fn record(&mut self, record: Record<'_>, mut read: Vec<ReadRecord<'_>>) -> Result<(), WorkError> {
        let mut unread = read.first_mut().map(|read| {
            let outcome = &mut read.outcome;
            (std::mem::take(&mut outcome.unread), outcome.words)
        });
        let mut left_out = None;
        let mut rejects = Vec::new();
        let mut rejected = 0;
        let mut told = Told::default();
        let mut accounting = read.first().map(ReadRecord::rows).into_iter().flatten().collect();
        for mut read in read {
            self.redaction = read.outcome.redaction.take();
            self.enter(record.entry);
            if let Some(linked) = &read.outcome.linked
                && let Some(reason) = self.leaves_out(linked, &read.hash, read.codes())
            {
                left_out.get_or_insert(reason);
                rejects.extend(read.rejects(self.tools.plan.limits()));
                rejected += read.outcome.rows.rejected;
                continue;
            }
            if let Some(linked) = &mut read.outcome.linked {
                told.keep(&mut linked.conversation);
            }
            self.account(std::mem::take(&mut accounting));
            if let Some((unread, messages)) = unread.take() {
                let limit = self.tools.plan.limits().unread_paths;
                let inputs = &mut self.receipt.inputs;
                let outcome = (unread.as_slice(), messages);
                Recognition::add(inputs, |counts| &mut counts.recognition, record, outcome, limit);
            }
            self.conversation_of(&read)?;
        }
        if let (Some(reason), Some(_)) = (left_out, unread) {
            self.filter(record, reason);
            return Ok(());
        }
        self.enter(record.entry);
        let rows = &mut self.counts().rows;
        rows.rows += rejected;
        rows.rejected += rejected;
        for (row, reject, located) in rejects {
            self.enter(row.entry);
            self.reject(&reject, &located, row.record, None)?;
        }
        Ok(())
    }

    /// Accounts for a record row by row.
    fn account(&mut self, rows: Vec<(AccountedRow<'_>, bool)>) {
        for (row, is_rejected) in rows {
            self.enter(row.entry);
            let ledger = &mut self.counts().ledger;
            ledger.framed += 1;
            if is_rejected {
                ledger.rejected += 1;
                ledger.rejected_bytes += row.bytes;
            } else {
                ledger.accepted += 1;
                ledger.accepted_bytes += row.bytes;
            }
        }
    }

    /// One conversation of a record, or why it has none.
    fn conversation_of(&mut self, read: &ReadRecord<'_>) -> Result<(), WorkError> {
        let record = read.record;
        let linked = read.outcome.linked.as_ref();
        self.enter(record.entry);
        let counts = self.counts();
        counts.rows.add(&read.outcome.rows);
        counts.conversations += u64::from(linked.is_some());
        let number = record.row(None).record;
        let base = linked.map(|linked| self.base_id(linked, &read.hash));
        let id = base.map(|base| self.claim_id(base, number)).transpose()?;
        for (row, located) in read.findings() {
            self.enter(row.entry);
            self.finding(located, Some(row.record), id.as_deref())?;
        }
        for (row, reject, located) in read.rejects(self.tools.plan.limits()) {
            self.enter(row.entry);
            self.reject(&reject, &located, row.record, id.as_deref())?;
        }
        self.enter(record.entry);
        self.written = record.written();
        if let (Some(linked), Some(id)) = (linked, id) {
            let limit = usize::try_from(self.tools.plan.limits().rendering).unwrap_or(usize::MAX);
            let made = MadeTexts::default();
            let mut sink = Sink::new(self.buffers.take_sink(), limit);
            self.conversation(&id, linked, number, &mut sink)?;
            self.renderings(&id, linked, number, &made, &mut sink)?;
            self.buffers.put_sink(sink.into_buffers());
        }
        Ok(())
    }

    fn damage(&mut self, damage: &FramingError) -> Result<(), WorkError> {
        let counts = self.counts();
        counts.ledger.framed += 1;
        counts.ledger.rejected += 1;
        counts.ledger.rejected_bytes += damage.end - damage.start;
        let located = Located::of_damage(damage);
        let reject = Reject {
            level: RejectLevel::Frame,
            span: Span {
                start: damage.start,
                end: damage.end,
            },
            hash: damage.hash.clone(),
            head: damage.head.clone(),
            finding: located.finding.clone(),
        };
        self.reject(&reject, &located, damage.record, None)
    }

    /// Why the plan leaves a conversation out, if it does: judged by what was read, whatever was replaced since.
    fn leaves_out<'f>(
        &mut self,
        linked: &Linked,
        record: &RecordHash<'_>,
        found: impl Iterator<Item = &'f str>,
    ) -> Option<&'static str> {
        let plan = self.tools.plan;
        let input = self.place.as_ref().map_or(0, |place| place.input);
        if let Some(reason) = plan.leaves_out(input, self.as_read(linked), record, found) {
            return Some(reason);
        }
        self.standing = self.tools.survey.standing(self.slice, self.met);
        self.met += 1;
        survey::leaves_out(&plan.pipeline.dedup, &self.standing)
    }

    /// A conversation before anything in it was replaced.
    fn as_read<'a>(&'a self, linked: &'a Linked) -> &'a Linked {
        redact::as_read(self.redaction.as_ref(), linked)
    }

    /// The id before qualification, with the prefix of its input.
    fn base_id(&self, linked: &Linked, record: &RecordHash<'_>) -> String {
        let input = self.place.as_ref().map_or(0, |place| place.input);
        self.tools.plan.base_id(input, linked, record)
    }

    /// Takes the next id of the slice, or the one that sealing gave instead.
    fn claim_id(&mut self, base: String, record: u64) -> Result<String, WorkError> {
        let index = self.receipt.ids.len();
        let input = self.place.as_ref().map_or(0, |place| place.input);
        let renamed = self.receipt.renamed.get(&index).cloned();
        self.receipt.ids.push((input, base.clone()));
        let Some(renamed) = renamed else {
            return Ok(base);
        };
        let message = format!(
            "the id {} is taken by an earlier conversation; this one is called {}",
            ShownId(&base),
            ShownId(&renamed)
        );
        let finding = Finding::new(&codes::DUPLICATE_CONVERSATION_ID, message)
            .naming(&base)
            .naming(&renamed);
        self.finding(&Located::nowhere(finding), Some(record), Some(&renamed))?;
        Ok(renamed)
    }

    fn finding(&mut self, located: &Located, record: Option<u64>, id: Option<&str>) -> Result<(), WorkError> {
        let finding = &located.finding;
        let count = self
            .receipt
            .findings
            .entry(finding.code.code.to_owned())
            .or_default();
        finding.code.name.clone_into(&mut count.name);
        count.add(finding.severity, finding.count);
        let is_error = finding.severity == Severity::Error;
        let counts = self.counts();
        counts.findings += 1;
        counts.errors += if is_error { finding.count } else { 0 };
        let place = table_place(self.place.as_ref(), &self.input, record.unwrap_or_default());
        let key = tables::finding_key(located, place, id);
        let texts = FindingTexts::new(
            located,
            key,
            id,
            Quoting::of(self.tools.plan.pipeline.output.quote),
        );
        let row = tables::finding(located, &texts, place, record.is_some());
        Ok(self.parts.push_finding(row)?)
    }

    fn reject(
        &mut self,
        reject: &Reject,
        located: &Located,
        record: u64,
        id: Option<&str>,
    ) -> Result<(), WorkError> {
        self.finding(located, Some(record), id)?;
        let is_read = self.place.as_ref().is_some_and(|place| place.source.is_some());
        self.counts().recognition.misread += u64::from(is_read && is_misread(reject));
        let finding = &located.finding;
        if finding.severity == Severity::Error
            && let Some(count) = self.receipt.findings.get_mut(finding.code.code)
        {
            count.of_rejects += finding.count;
        }
        self.counts().written.rejects += u64::from(reject.level == RejectLevel::Frame);
        let place = table_place(self.place.as_ref(), &self.input, record);
        let row = tables::reject(reject, place, self.tools.plan.pipeline.output.quote);
        Ok(self.parts.push_reject(row)?)
    }

    /// The tokens of a message's text in each encoding, by a sink that is empty. Where dialects write the same text they need not
    /// be counted again.
    fn count_text<'a>(&mut self, message: &'a Message, sink: &mut Sink<'a>) -> Vec<u64> {
        sink.literal(message.text(), Component::Content);
        if sink.is_oversize() {
            sink.begin();
            return self.counter.count(&message.text());
        }
        let mut tallies = Vec::new();
        self.counter.tally_sink(sink, &mut tallies);
        sink.begin();
        tallies.into_iter().map(|tally| tally.tokens).collect()
    }

    fn conversation<'a>(
        &mut self,
        id: &str,
        linked: &'a Linked,
        record: u64,
        sink: &mut Sink<'a>,
    ) -> Result<(), WorkError> {
        let key = self.parts.key(id);
        self.counts().written.conversations += 1;
        if self.parts.writes_conversations() {
            let place = table_place(self.place.as_ref(), &self.input, record);
            tables::push_conversation(self.parts, key, linked, place, &self.standing)?;
        }
        let conversation = &linked.conversation;
        let shape = Some(conversation.shape)
            .filter(|shape| !shape.is_empty())
            .map(cut);
        let version = conversation.format_version.as_ref();
        // A version is whatever somebody wrote there.
        let version = version.filter(|_| self.tools.plan.pipeline.output.quote);
        let version = version.map(|version| cut(&format!("version {version}")));
        add_shapes(&mut self.counts().shapes, shape.into_iter().chain(version));
        let mut whole = 0;
        for message in &conversation.messages {
            self.receipt.messages += u64::from(message.kind == MessageKind::Message);
            let text = message.text();
            let characters = text.chars().count() as u64;
            whole += characters;
            let overview = &mut self.receipt.overview;
            overview.add_message(linked, message, characters);
            if self.parts.writes_messages() {
                let tokens = self.count_text(message, sink);
                tables::push_message(self.parts, key, linked, message, &text, &tokens)?;
            }
            if self.parts.writes_references() {
                tables::push_references(self.parts, key, linked, message)?;
            }
        }
        if self.parts.writes_alternatives() {
            tables::push_alternatives(self.parts, key, linked)?;
        }
        if self.parts.writes_tool_calls() {
            for row in tables::tool_calls(key, linked) {
                self.parts.push_tool_call(row)?;
            }
        }
        let overview = &mut self.receipt.overview;
        overview.add_conversation(id, &self.input, linked, &self.standing, whole);
        Ok(())
    }
}

fn table_place<'a>(place: Option<&'a EntryRef>, input: &'a str, record: u64) -> Place<'a> {
    Place {
        input,
        entry: place.map_or("", |place| place.entry.as_str()),
        record,
    }
}
