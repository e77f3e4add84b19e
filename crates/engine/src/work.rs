//! Processes one slice into closed part files and a receipt. A run and `tables` call it.
//!
//! The output depends only on the slice and the plan: no thread pool, no shared
//! state, and the clock only decides which conversations are listed as slow.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use chatmill_dataset::overview::cut;
use chatmill_dataset::{PartSet, SliceId};
use chatmill_diag::{Finding, Reject, RejectLevel, Severity, ShownId, Span, codes};
use chatmill_dialect::TextArena;
use chatmill_intake::FramingError;
use chatmill_link::ClusterMembership;
use chatmill_model::{Component, Linked, Message, MessageKind, Sink, SinkBuffers};
use chatmill_token::{Encoding, TokenCounter};

use crate::entry::EntryRef;
use crate::error::RunError;
use crate::options::CountMode;
use crate::plan::{DECONTAMINATE, Plan};
use crate::progress::Progress;
use crate::record::Settings;
use crate::record::locate::Located;
use crate::slice::records::{AccountedRow, At, Item, ReadRecord, Record};
use crate::slice::scheduler::locked;
use crate::slice::{Slice, Step};

pub(crate) mod bill;
pub(crate) mod budget;
mod fit;
pub(crate) mod overview;
pub(crate) mod perspectives;
pub(crate) mod receipt;
pub(crate) mod recognition;
pub(crate) mod render;
mod renderings;
pub(crate) mod shares;
pub(crate) mod slowest;
pub(crate) mod survey;
pub(crate) mod tables;
mod totals;
mod written_messages;

use budget::BudgetMeter;
use receipt::{InputCounts, SliceReceipt, add_shapes, count_finding};
use recognition::{Recognition, is_misread};
use renderings::{PlanKeys, RenderingBuffers};
use slowest::Slowest;
use survey::Survey;
use tables::{FindingTexts, Place, Quoting};
pub(crate) use totals::{TotalNames, Totals};
use written_messages::WrittenMessages;

/// The context of a worker, shared by all slices.
pub(crate) struct WorkerContext<'p> {
    /// The plan.
    pub plan: &'p Plan,
    /// Counters of the plan's encodings that no worker currently uses, each with the
    /// buffers of the sink that it counts. Their caches save time and do not change counts.
    pub idle_counters: Mutex<Vec<(TokenCounter, SinkBuffers)>>,
    /// Meters of the plan's budget that no worker currently uses, if it has a budget.
    pub idle_meters: Mutex<Vec<BudgetMeter>>,
    /// The way of counting tokens.
    pub count_mode: CountMode,
    /// The interval of renderings that are counted again by the reference; 0 for none.
    pub verify_every: u64,
    /// The result of the survey: the cluster of each conversation, and which are left out.
    pub survey: Survey,
    /// The slowest conversations.
    pub slowest: Mutex<Slowest>,
    /// Receives the progress of the work.
    pub progress: &'p dyn Progress,
    /// Set when the run should stop.
    pub stop: &'p AtomicBool,
}

impl<'p> WorkerContext<'p> {
    /// Creates the context of a plan without a survey.
    pub(crate) fn new(
        plan: &'p Plan,
        count_mode: CountMode,
        verify_every: u64,
        progress: &'p dyn Progress,
        stop: &'p AtomicBool,
    ) -> Self {
        Self {
            plan,
            idle_counters: Mutex::default(),
            idle_meters: Mutex::default(),
            count_mode,
            verify_every,
            survey: Survey::default(),
            slowest: Mutex::default(),
            progress,
            stop,
        }
    }

    /// Returns the cluster of a conversation, or the reason why the plan excludes it, by its content
    /// before redaction. `met` counts the conversations of the slice that the selection has kept so far.
    pub(crate) fn membership(
        &self,
        read: &ReadRecord<'_>,
        slice: SliceId,
        met: &mut usize,
    ) -> Result<ClusterMembership, &'p str> {
        let plan = self.plan;
        if read.outcome.linked.is_none() {
            return Ok(ClusterMembership::default());
        }
        if let Some(reason) = read.left_out_by(plan) {
            return Err(reason);
        }
        let decision = self.survey.decision(slice, *met);
        *met += 1;
        match decision.left_out {
            None => Ok(decision.membership),
            Some(reason) => Err(reason.as_str()),
        }
    }

    /// Returns the limit that filters a record before it is read.
    pub(crate) fn limit_of(&self, record: Record<'_>) -> &'static str {
        let planned = self.plan.inputs.get(record.entry.input);
        let of_section = planned.and_then(|planned| planned.settings.written.limit);
        of_section.map_or("limit", |_| "input.limit")
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

/// Runs the work of a slice; a panic in it stops the other workers.
pub(crate) fn guarded<T>(slice: &Slice, stop: &AtomicBool, work: impl FnOnce() -> T) -> Result<T, RunError> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|_| {
        stop.store(true, Ordering::Relaxed);
        RunError::WorkerFailed(slice.id)
    })
}

/// Processes one slice: its records are read, rendered and counted into `parts`.
/// `renamed` has new ids for conversations, by their index in the slice.
pub(crate) fn process_slice(
    slice: &Slice,
    tools: &WorkerContext<'_>,
    parts: &mut PartSet,
    renamed: BTreeMap<usize, String>,
) -> Result<SliceReceipt, RunError> {
    let pooled = locked(&tools.idle_counters).pop();
    let (counter, sink) = pooled.unwrap_or_else(|| (tools.new_counter(), SinkBuffers::default()));
    let keys = PlanKeys::new(tools.plan, parts);
    let mut work = Work {
        tools,
        parts,
        counter,
        meter: tools.plan.windows.budget.as_ref().map(|budget| {
            let pooled = locked(&tools.idle_meters).pop();
            pooled.unwrap_or_else(|| BudgetMeter::new(budget))
        }),
        receipt: SliceReceipt {
            slice: slice.digest(),
            renamed,
            ..SliceReceipt::default()
        },
        slice: slice.id,
        met: 0,
        slowest: Slowest::default(),
        keys,
        buffers: RenderingBuffers::new(sink),
    };
    for (entry, item) in slice.work(tools.progress) {
        if tools.stop.load(Ordering::Relaxed) {
            return Err(RunError::Stopped { done: 0 });
        }
        work.item(entry, item)?;
    }
    locked(&tools.idle_counters).push((work.counter, work.buffers.sink));
    locked(&tools.idle_meters).extend(work.meter);
    locked(&tools.slowest).merge(slice.id, work.slowest);
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
    /// The slowest conversations of the slice.
    slowest: Slowest,
    /// The keys of the names in the plan.
    keys: PlanKeys,
    buffers: RenderingBuffers,
}

/// A conversation that is written.
#[derive(Clone, Copy)]
struct AcceptedConversation<'r> {
    id: &'r str,
    linked: &'r Linked,
    read: &'r ReadRecord<'r>,
    /// The cluster of the conversation.
    membership: &'r ClusterMembership,
}

impl<'r> AcceptedConversation<'r> {
    fn at(&self) -> At<'r> {
        At::row(self.read.record.row(None), Some(self.id))
    }
}

impl<'p> Work<'_, 'p> {
    fn item(&mut self, entry: Option<&EntryRef>, item: Item<'_>) -> Result<(), RunError> {
        match item {
            Item::Filtered(record) => {
                self.filter(record, self.tools.limit_of(record));
            }
            Item::Record(record) => {
                let (begun, index) = (Instant::now(), self.receipt.ids.len());
                self.record(record, record.read(self.tools.plan.settings(record.entry.input)))?;
                self.took(begun.elapsed(), index, record);
            }
            Item::Step(step) => self.step(entry, step)?,
        }
        Ok(())
    }

    /// Accounts for a step that is not a record.
    fn step(&mut self, entry: Option<&EntryRef>, step: &Step) -> Result<(), RunError> {
        let limit = self.tools.plan.limits().unread_paths;
        let counts = self.counts(entry);
        match step {
            Step::Separator(bytes) => counts.ledger.separator_bytes += bytes,
            Step::EntryEnd(bytes) => {
                counts.entries += 1;
                counts.ledger.decoded_bytes += bytes;
            }
            Step::RangeEnd(bytes) => counts.ledger.decoded_bytes += bytes,
            Step::FramingError(error) => self.framing_error(entry, error)?,
            Step::Note(finding) => {
                let at = At {
                    entry,
                    ..At::default()
                };
                self.finding(&Located::nowhere(finding.clone()), at)?;
            }
            Step::SkippedEntry { kind, bytes } => {
                counts.recognition.add_skipped(entry, kind, *bytes, limit);
                counts.ledger.skipped_bytes += bytes;
                *counts.skipped_files.entry((*kind).to_owned()).or_default() += 1;
            }
            Step::Skipped { table, rows, bytes } => {
                counts.ledger.skipped_bytes += bytes;
                *counts.skipped_tables.entry(table.clone()).or_default() += rows;
            }
            // The start of an entry is counted above; the others are records.
            Step::Entry(_) | Step::Frame(_) | Step::Filtered(_) | Step::Group(_) | Step::FilteredGroup(_) => {
            }
        }
        Ok(())
    }

    /// Records the time of the `index`-th conversation of the slice, if it exists.
    fn took(&mut self, taken: Duration, index: usize, record: Record<'_>) {
        if let Some((_, base)) = self.receipt.ids.get(index) {
            // Only changed ids are in the list of renamed ones.
            let id = self.receipt.renamed.get(&index).unwrap_or(base);
            let plan = self.tools.plan;
            let name = || (id.clone(), plan.input_name(record.entry.input).into_owned());
            self.slowest.offer(self.slice, taken, record.bytes.len(), name);
        }
    }

    /// Returns the counts of an entry's input.
    fn counts(&mut self, entry: Option<&EntryRef>) -> &mut InputCounts {
        let input = entry.map_or(0, |entry| entry.input);
        let counts = self.receipt.inputs.entry(input).or_default();
        counts.plain |= entry.is_some_and(|entry| entry.is_plain);
        if let Some(source) = entry.and_then(|entry| entry.source)
            && !counts.sources.iter().any(|known| known == source.id())
        {
            counts.sources.push(source.id().to_owned());
        }
        counts
    }

    /// Returns the name of the input of a finding.
    fn name(&self, at: At<'_>) -> Cow<'p, str> {
        let plan = self.tools.plan;
        at.entry
            .map_or(Cow::Borrowed(""), |entry| plan.input_name(entry.input))
    }

    fn filter(&mut self, record: Record<'_>, reason: &str) {
        for (_, row) in record.rows() {
            let counts = self.counts(Some(row.entry));
            counts.ledger.framed += 1;
            counts.ledger.filtered += 1;
            counts.ledger.filtered_bytes += row.bytes;
            *counts.filtered_by.entry(reason.to_owned()).or_default() += 1;
        }
    }

    /// Processes a record: its conversations are rendered, except those that the plan excludes. If all are
    /// excluded, the record is counted as filtered; else the rejects in each are accounted for and written.
    fn record(&mut self, record: Record<'_>, mut read: Vec<ReadRecord<'_>>) -> Result<(), RunError> {
        let mut unread = read.first_mut().map(|read| {
            let outcome = &mut read.outcome;
            (std::mem::take(&mut outcome.unread), outcome.words)
        });
        let limits = self.tools.plan.limits();
        let mut left_out = None;
        let mut rejects = Vec::new();
        let mut rejected = 0;
        let mut written_messages = WrittenMessages::default();
        let mut accounting = read.first().map(ReadRecord::rows).into_iter().flatten().collect();
        for (index, mut read) in read.into_iter().enumerate() {
            let membership = match self.tools.membership(&read, self.slice, &mut self.met) {
                Ok(membership) => membership,
                Err(reason) => {
                    if reason == DECONTAMINATE {
                        self.contaminated(record, index)?;
                    }
                    left_out.get_or_insert(reason);
                    rejects.extend(read.rejects(limits));
                    rejected += read.outcome.rows.rejected;
                    continue;
                }
            };
            if let Some(linked) = &mut read.outcome.linked {
                written_messages.add(&mut linked.conversation);
            }
            self.account(std::mem::take(&mut accounting));
            if let Some((unread, messages)) = unread.take() {
                let inputs = &mut self.receipt.inputs;
                let outcome = (unread.as_slice(), messages);
                let limit = limits.unread_paths;
                Recognition::add(inputs, |counts| &mut counts.recognition, record, outcome, limit);
            }
            self.conversation_of(&read, &membership)?;
        }
        if let (Some(reason), Some(_)) = (left_out, unread) {
            self.filter(record, reason);
            return Ok(());
        }
        let rows = &mut self.counts(Some(record.entry)).rows;
        rows.rows += rejected;
        rows.rejected += rejected;
        for (row, reject, located) in rejects {
            self.reject(&reject, &located, At::row(row, None))?;
        }
        Ok(())
    }

    /// Accounts for a record row by row.
    fn account(&mut self, rows: Vec<(AccountedRow<'_>, bool)>) {
        for (row, is_rejected) in rows {
            let ledger = &mut self.counts(Some(row.entry)).ledger;
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

    /// Writes the findings and rejects of a record, and its conversation with all renderings if it has one.
    fn conversation_of(
        &mut self,
        read: &ReadRecord<'_>,
        membership: &ClusterMembership,
    ) -> Result<(), RunError> {
        let record = read.record;
        let linked = read.outcome.linked.as_ref();
        let counts = self.counts(Some(record.entry));
        counts.rows.add(&read.outcome.rows);
        counts.conversations += u64::from(linked.is_some());
        let plan = self.tools.plan;
        let base = linked.map(|linked| plan.base_id(record.entry.input, linked, &read.hash));
        let id = base.map(|base| self.claim_id(base, record)).transpose()?;
        for (row, located) in read.findings() {
            self.finding(located, At::row(row, id.as_deref()))?;
        }
        for (row, reject, located) in read.rejects(plan.limits()) {
            self.reject(&reject, &located, At::row(row, id.as_deref()))?;
        }
        if let (Some(linked), Some(id)) = (linked, &id) {
            let limit = usize::try_from(plan.limits().rendering).unwrap_or(usize::MAX);
            let arena = TextArena::default();
            let mut sink = Sink::new(std::mem::take(&mut self.buffers.sink), limit);
            let accepted = AcceptedConversation {
                id,
                linked,
                read,
                membership,
            };
            self.conversation(accepted, &mut sink)?;
            self.renderings(accepted, &arena, &mut sink)?;
            self.buffers.sink = sink.into_buffers();
        }
        Ok(())
    }

    fn framing_error(&mut self, entry: Option<&EntryRef>, error: &FramingError) -> Result<(), RunError> {
        let ledger = &mut self.counts(entry).ledger;
        ledger.framed += 1;
        ledger.rejected += 1;
        ledger.rejected_bytes += error.end - error.start;
        let located = Located::of_framing_error(error);
        let reject = Reject {
            level: RejectLevel::Frame,
            span: Span::new(error.start, error.end),
            hash: error.hash.clone(),
            head: error.head.clone(),
            finding: located.finding.clone(),
        };
        let record = Some(error.record);
        let id = None;
        self.reject(&reject, &located, At { entry, record, id })
    }

    /// Writes the places where a conversation contains text of an
    /// evaluation. The record is read again to find the places.
    fn contaminated(&mut self, record: Record<'_>, index: usize) -> Result<(), RunError> {
        let plan = self.tools.plan;
        let settings = Settings {
            evaluations: plan.evaluations(),
            ..plan.settings(record.entry.input)
        };
        let again = record.read(settings).into_iter().nth(index);
        let (Some(read), Some(evaluations)) = (again, plan.evaluations()) else {
            return Ok(());
        };
        let (Some(as_read), Some(linked)) = (read.outcome.as_read(), &read.outcome.linked) else {
            return Ok(());
        };
        let overview = &mut self.receipt.overview;
        overview.add_contaminated(evaluations, &as_read.conversation);
        let id = plan.base_id(record.entry.input, linked, &read.hash);
        let overlaps = read.findings();
        for (row, located) in
            overlaps.filter(|(_, located)| located.finding.code == &codes::EVALUATION_OVERLAP)
        {
            self.finding(located, At::row(row, Some(&id)))?;
        }
        Ok(())
    }

    /// Takes the next id of the slice, or the one that sealing gave instead.
    fn claim_id(&mut self, base: String, record: Record<'_>) -> Result<String, RunError> {
        let index = self.receipt.ids.len();
        let renamed = self.receipt.renamed.get(&index).cloned();
        self.receipt.ids.push((record.entry.input, base.clone()));
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
        self.finding(
            &Located::nowhere(finding),
            At::row(record.row(None), Some(&renamed)),
        )?;
        Ok(renamed)
    }

    fn finding(&mut self, located: &Located, at: At<'_>) -> Result<(), RunError> {
        let finding = &located.finding;
        count_finding(&mut self.receipt.findings, finding);
        let is_error = finding.severity == Severity::Error;
        let counts = self.counts(at.entry);
        counts.findings += 1;
        counts.errors += if is_error { finding.count } else { 0 };
        let input = self.name(at);
        let place = Place::of(&input, at);
        let key = tables::finding_key(located, place, at.id);
        let quoting = Quoting::of(self.tools.plan.quotes);
        let texts = FindingTexts::new(located, key, at.id, quoting);
        let row = tables::finding(located, &texts, place, at.record.is_some());
        Ok(self.parts.push_finding(row)?)
    }

    fn reject(&mut self, reject: &Reject, located: &Located, at: At<'_>) -> Result<(), RunError> {
        self.finding(located, at)?;
        let is_read = at.entry.is_some_and(|entry| entry.source.is_some());
        let counts = self.counts(at.entry);
        counts.recognition.misread += u64::from(is_read && is_misread(reject));
        counts.written.rejects += u64::from(reject.level == RejectLevel::Frame);
        let finding = &located.finding;
        if finding.severity == Severity::Error
            && let Some(count) = self.receipt.findings.get_mut(finding.code.code)
        {
            count.of_rejects += finding.count;
        }
        let input = self.name(at);
        let row = tables::reject(reject, Place::of(&input, at), self.tools.plan.quotes);
        Ok(self.parts.push_reject(row)?)
    }

    /// Counts the tokens of a message's text in each encoding, by an empty `sink`; dialects hit the cache.
    fn count_text<'a>(&mut self, message: &'a Message, sink: &mut Sink<'a>) -> Vec<u64> {
        sink.literal(message.text(), Component::Content);
        if sink.is_oversize() {
            sink.begin();
            return self.counter.count(&message.text());
        }
        let mut counts_by_encoding = Vec::new();
        self.counter.count_sink(sink, &mut counts_by_encoding);
        sink.begin();
        counts_by_encoding
            .into_iter()
            .map(|token_counts| token_counts.tokens)
            .collect()
    }

    fn conversation<'a>(
        &mut self,
        accepted: AcceptedConversation<'a>,
        sink: &mut Sink<'a>,
    ) -> Result<(), RunError> {
        let AcceptedConversation {
            id,
            linked,
            read,
            membership,
        } = accepted;
        let (key, entry) = (self.parts.key(id), Some(read.record.entry));
        self.counts(entry).written.conversations += 1;
        let input = self.name(accepted.at());
        if self.parts.writes_conversations() {
            tables::push_conversation(
                self.parts,
                key,
                linked,
                Place::of(&input, accepted.at()),
                membership,
            )?;
        }
        let conversation = &linked.conversation;
        let shape = Some(conversation.shape)
            .filter(|shape| !shape.is_empty())
            .map(cut);
        let version = conversation.format_version.as_ref();
        // A version may be text that users wrote.
        let version = version.filter(|_| self.tools.plan.quotes);
        let version = version.map(|version| cut(&format!("version {version}")));
        add_shapes(&mut self.counts(entry).shapes, shape.into_iter().chain(version));
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
        overview.add_conversation(id, &input, linked, membership, whole);
        Ok(())
    }
}
