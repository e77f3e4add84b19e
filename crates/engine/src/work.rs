//! The kernel: one slice in, closed part files and a receipt out.
//!
//! What is written is a function of the slice and the plan alone: no thread pool, no shared state, and the clock tells only which
//! conversations took long.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use chatmill_dataset::PartSet;
use chatmill_diag::{Finding, Reject, RejectLevel, Severity, Span, codes};
use chatmill_intake::{Damage, Frame};
use chatmill_link::Standing;
use chatmill_model::{ComponentSpan, Linked, MessageKind};
use chatmill_source::Source;
use chatmill_token::{Encoding, Tallier};

use crate::entry::EntryStep;
use crate::error::WorkError;
use crate::options::Counter;
use crate::plan::Plan;
use crate::record;
use crate::record::group::{Group, GroupRow};
use crate::record::locate::Located;
use crate::record::redact::{self, Redaction};
use crate::slice::{Slice, Step};

pub mod bill;
mod budget;
mod fit;
pub mod receipt;
pub mod render;
mod renderings;
mod slowest;
pub mod survey;
pub mod tables;
mod totals;

use budget::Scales;
use receipt::{InputCounts, SliceReceipt};
use slowest::Slowest;
use survey::Survey;
use tables::Place;
pub use totals::Totals;

/// What a worker needs beside its slice.
pub struct Tools<'p> {
    /// The plan.
    pub plan: &'p Plan,
    /// Talliers of the plan's encodings that no worker uses at the moment; what they remember is only of use.
    pub talliers: Mutex<Vec<Tallier>>,
    /// Scales of the plan's budget that no worker uses at the moment, where it has one.
    pub scales: Mutex<Vec<Scales>>,
    /// Who counts.
    pub counter: Counter,
    /// Every how many renderings of a slice are counted again by the reference; 0 for none.
    pub verify_every: u64,
    /// Where conversations stand among the others, where they are compared.
    pub survey: Survey,
    /// The conversations that took longest.
    pub slowest: Mutex<Slowest>,
    /// Set when the run should stop.
    pub stop: &'p AtomicBool,
}

impl Tools<'_> {
    fn tallier(&self) -> Tallier {
        let encodings = &self.plan.encodings;
        match self.counter {
            Counter::Tallier => Tallier::new(encodings),
            Counter::Reference => Tallier::of_counters(encodings.iter().map(Encoding::referee).collect()),
        }
    }
}

/// Grinds one slice into `parts`. `renamed` gives conversations, by their index in the slice, another id.
pub fn grind(
    slice: &Slice,
    tools: &Tools<'_>,
    parts: &mut PartSet,
    renamed: BTreeMap<usize, String>,
) -> Result<SliceReceipt, WorkError> {
    let pooled = tools
        .talliers
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .pop();
    let mut work = Work {
        tools,
        parts,
        tallier: pooled.unwrap_or_else(|| tools.tallier()),
        scales: tools.plan.windows.budget.as_ref().map(|budget| {
            let pooled = tools.scales.lock().unwrap_or_else(PoisonError::into_inner).pop();
            pooled.unwrap_or_else(|| Scales::new(budget))
        }),
        receipt: SliceReceipt {
            slice: slice.digest(),
            renamed,
            ..SliceReceipt::default()
        },
        slice: slice.index,
        met: 0,
        standing: Standing::default(),
        place: None,
        input: String::new(),
        written: (None, None),
        slowest: Slowest::default(),
        redaction: None,
        text: String::new(),
        spans: Vec::new(),
    };
    for step in &slice.steps {
        if tools.stop.load(Ordering::Relaxed) {
            return Err(WorkError::Stopped);
        }
        work.step(step, slice)?;
    }
    let mut idle = tools.talliers.lock().unwrap_or_else(PoisonError::into_inner);
    idle.push(work.tallier);
    let mut idle = tools.scales.lock().unwrap_or_else(PoisonError::into_inner);
    idle.extend(work.scales);
    let mut slowest = tools.slowest.lock().unwrap_or_else(PoisonError::into_inner);
    slowest.merge(slice.index, work.slowest);
    Ok(work.receipt)
}

struct Work<'w, 'p> {
    tools: &'w Tools<'p>,
    parts: &'w mut PartSet,
    tallier: Tallier,
    scales: Option<Scales>,
    receipt: SliceReceipt,
    /// Index of the slice.
    slice: u32,
    /// Conversations of the slice that the selection kept, so far.
    met: usize,
    /// Where the one at hand stands among the others.
    standing: Standing,
    place: Option<EntryStep>,
    /// The name of its input.
    input: String,
    /// Bytes of the record at hand in its entry, and line and column of the first, where it is written down there.
    written: (Option<Span>, Option<(u64, u64)>),
    /// The conversations of the slice that took longest.
    slowest: Slowest,
    /// What was replaced in the conversation at hand.
    redaction: Option<Redaction>,
    /// Buffers of the rendering at hand, reused.
    text: String,
    spans: Vec<ComponentSpan>,
}

impl Work<'_, '_> {
    fn step(&mut self, step: &Step, slice: &Slice) -> Result<(), WorkError> {
        match step {
            Step::Entry(entry) => self.enter(entry),
            Step::Separator(bytes) => self.counts().ledger.separator_bytes += bytes,
            Step::EntryEnd(bytes) => {
                let counts = self.counts();
                counts.entries += 1;
                counts.ledger.decoded_bytes += bytes;
            }
            Step::Filtered(frame) => self.filter(frame.end - frame.start, "limit"),
            Step::Damage(damage) => self.damage(damage)?,
            Step::Note(finding) => self.finding(&Located::nowhere(finding.clone()), None, None)?,
            Step::Frame(frame) => {
                let bytes = slice.buffer.get(frame.buffer.clone()).unwrap_or_default();
                let (begun, index) = (Instant::now(), self.receipt.ids.len());
                self.frame(frame, bytes)?;
                self.took(begun.elapsed(), index, bytes.len());
            }
            Step::Group(group) => {
                let (begun, index) = (Instant::now(), self.receipt.ids.len());
                self.group(group, slice)?;
                self.took(begun.elapsed(), index, group.buffer.len());
            }
            Step::FilteredGroup(group) => self.filter_group(group, slice, "limit"),
            Step::PassedOver { kind, bytes } => {
                let counts = self.counts();
                counts.ledger.skipped_bytes += bytes;
                *counts.skipped_files.entry((*kind).to_owned()).or_default() += 1;
            }
            Step::Skipped { table, rows, bytes } => {
                let counts = self.counts();
                counts.ledger.skipped_bytes += bytes;
                *counts.skipped_tables.entry(table.clone()).or_default() += rows;
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
    fn enter(&mut self, entry: &EntryStep) {
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

    fn filter(&mut self, bytes: u64, reason: &str) {
        let counts = self.counts();
        counts.ledger.framed += 1;
        counts.ledger.filtered += 1;
        counts.ledger.filtered_bytes += bytes;
        *counts.filtered_by.entry(reason.to_owned()).or_default() += 1;
    }

    fn filter_group(&mut self, group: &Group, slice: &Slice, reason: &str) {
        for row in group.rows.iter().filter(|row| row.place.counts) {
            self.enter_row(row, slice);
            self.filter(row.place.end - row.place.start, reason);
        }
    }

    /// What follows is about this row.
    fn enter_row(&mut self, row: &GroupRow, slice: &Slice) {
        if let Some(entry) = slice.entries.get(row.place.entry) {
            self.enter(entry);
        }
    }

    /// The rows of a conversation: read, accounted for row by row, and rendered.
    fn group(&mut self, group: &Group, slice: &Slice) -> Result<(), WorkError> {
        let bytes = slice.buffer.get(group.buffer.clone()).unwrap_or_default();
        let Some(first) = group.rows.first() else {
            return Ok(());
        };
        let mut outcome = group.read(bytes, self.tools.plan.settings());
        self.redaction = outcome.redaction.take();
        self.enter_row(first, slice);
        let linked = outcome.linked.as_ref();
        let base = linked.map(|linked| self.base_id(linked, bytes));
        let found = record::found(&outcome.findings, &outcome.rejects);
        if let Some(linked) = linked
            && let Some(reason) = self.leaves_out(linked, bytes, found)
        {
            self.filter_group(group, slice, reason);
            return Ok(());
        }
        let rejected = group.rejected(&outcome);
        for (index, row) in group.rows.iter().enumerate().filter(|(_, row)| row.place.counts) {
            self.enter_row(row, slice);
            let length = row.place.end - row.place.start;
            let ledger = &mut self.counts().ledger;
            ledger.framed += 1;
            if rejected.contains(&index) {
                ledger.rejected += 1;
                ledger.rejected_bytes += length;
            } else {
                ledger.accepted += 1;
                ledger.accepted_bytes += length;
            }
        }
        self.enter_row(first, slice);
        let counts = self.counts();
        counts.rows.add(&outcome.rows);
        counts.conversations += u64::from(linked.is_some());
        let id = base
            .map(|base| self.claim_id(base, first.place.record))
            .transpose()?;
        for located in &outcome.findings {
            let row = located
                .row
                .and_then(|index| group.rows.get(index))
                .unwrap_or(first);
            self.enter_row(row, slice);
            self.finding(located, Some(row.place.record), id.as_deref())?;
        }
        for (row, reject, located) in group.rejects(&outcome, bytes, self.tools.plan.limits()) {
            self.enter_row(row, slice);
            self.reject(&reject, &located, row.place.record, id.as_deref())?;
        }
        self.enter_row(first, slice);
        self.written = (first.place.written(), first.place.line_column());
        if let (Some(linked), Some(id)) = (linked, id) {
            self.conversation(&id, linked, first.place.record)?;
            self.renderings(&id, linked, first.place.record)?;
        }
        Ok(())
    }

    fn damage(&mut self, damage: &Damage) -> Result<(), WorkError> {
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

    fn frame(&mut self, frame: &Frame, bytes: &[u8]) -> Result<(), WorkError> {
        let Some(source) = self.place.as_ref().and_then(|place| place.source) else {
            return Ok(());
        };
        let mut outcome = record::read(source, frame, bytes, self.tools.plan.settings());
        self.redaction = outcome.redaction.take();
        let Some(linked) = outcome.linked else {
            let counts = self.counts();
            counts.ledger.framed += 1;
            counts.ledger.rejected += 1;
            counts.ledger.rejected_bytes += frame.end - frame.start;
            for located in &outcome.findings {
                self.finding(located, Some(frame.record), None)?;
            }
            for (reject, located) in &outcome.rejects {
                self.reject(reject, located, frame.record, None)?;
            }
            return Ok(());
        };
        let found = record::found(&outcome.findings, &outcome.rejects);
        if let Some(reason) = self.leaves_out(&linked, bytes, found) {
            self.filter(frame.end - frame.start, reason);
            return Ok(());
        }
        let counts = self.counts();
        counts.ledger.framed += 1;
        counts.ledger.accepted += 1;
        counts.ledger.accepted_bytes += frame.end - frame.start;
        counts.rows.add(&outcome.rows);
        counts.conversations += 1;
        let id = self.claim_id(self.base_id(&linked, bytes), frame.record)?;
        for located in &outcome.findings {
            self.finding(located, Some(frame.record), Some(&id))?;
        }
        for (reject, located) in &outcome.rejects {
            self.reject(reject, located, frame.record, Some(&id))?;
        }
        let span = (frame.end > 0).then_some(Span {
            start: frame.start,
            end: frame.end,
        });
        self.written = (span, span.map(|_| (frame.line, frame.column)));
        self.conversation(&id, &linked, frame.record)?;
        self.renderings(&id, &linked, frame.record)
    }

    /// Why the plan leaves a conversation out, if it does: judged by what was read, whatever was replaced since.
    fn leaves_out<'f>(
        &mut self,
        linked: &Linked,
        bytes: &[u8],
        found: impl Iterator<Item = &'f str>,
    ) -> Option<&'static str> {
        let plan = self.tools.plan;
        let input = self.place.as_ref().map_or(0, |place| place.input);
        if let Some(reason) = plan.leaves_out(input, self.as_read(linked), bytes, found) {
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
    fn base_id(&self, linked: &Linked, bytes: &[u8]) -> String {
        let input = self.place.as_ref().map_or(0, |place| place.input);
        self.tools.plan.base_id(input, linked, bytes)
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
        let message =
            format!("the id {base} is taken by an earlier conversation; this one is called {renamed}");
        let finding = Finding::new(&codes::DUPLICATE_CONVERSATION_ID, message);
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
        self.counts().findings += 1;
        let row = {
            let place = self.table_place(record.unwrap_or_default());
            tables::finding(
                located,
                place,
                record.is_some(),
                id,
                self.tools.plan.pipeline.output.quote,
            )
        };
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
        let finding = &located.finding;
        if finding.severity == Severity::Error
            && let Some(count) = self.receipt.findings.get_mut(finding.code.code)
        {
            count.of_rejects += finding.count;
        }
        let row = tables::reject(
            reject,
            self.table_place(record),
            self.tools.plan.pipeline.output.quote,
        );
        Ok(self.parts.push_reject(row)?)
    }

    fn table_place(&self, record: u64) -> Place<'_> {
        let place = self.place.as_ref();
        Place {
            input: &self.input,
            entry: place.map_or("", |place| place.entry.as_str()),
            record,
        }
    }

    fn conversation(&mut self, id: &str, linked: &Linked, record: u64) -> Result<(), WorkError> {
        let row = tables::conversation(id, linked, self.table_place(record), &self.standing);
        self.parts.push_conversation(row)?;
        for message in &linked.conversation.messages {
            self.receipt.messages += u64::from(message.kind == MessageKind::Message);
            let text = message.text();
            let tokens = self.tallier.count(&text);
            self.parts
                .push_message(tables::message(id, linked, message, tokens))?;
            for row in tables::references(id, linked, message) {
                self.parts.push_reference(row)?;
            }
        }
        for row in tables::tool_calls(id, linked) {
            self.parts.push_tool_call(row)?;
        }
        Ok(())
    }
}
