//! Sealing: prove that every receipt is there and that nothing disappeared, and write the manifest.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use chatmill_dataset::manifest::{DERIVED, InputEntry, table_entries};
use chatmill_dataset::rows::TotalRow;
use chatmill_dataset::{FORMAT, Manifest, PartFile, Sealed, Staging, TableOptions};
use chatmill_diag::Ledger;

use crate::collisions::Ids;
use crate::pipeline::Speaker;
use crate::plan::Plan;
use crate::receipt::{InputCounts, SliceReceipt};
use crate::run::{RunError, go_on};
use crate::slices::{InputTally, Tally};
use crate::summary::{RunTotals, TokenTotal};
use crate::totals::Totals;

/// What was ground: what the receipts must say when they are read back.
pub struct Ground {
    /// Of each slice, what its receipt is known by.
    pub slices: BTreeMap<u32, Ids>,
    /// What was cut from the inputs.
    pub tally: Tally,
}

/// What the receipts of a run say together.
#[derive(Default)]
pub struct Outcome {
    inputs: BTreeMap<usize, InputCounts>,
    whole: RunTotals,
    totals: Totals,
    files: Vec<PartFile>,
    /// How many slices were finished.
    slices: usize,
    /// The number behind the last of them.
    after_last: u32,
}

impl Outcome {
    /// Adds up the receipts of a staging, one after the other. There must be one for every slice that was cut, and each must be
    /// the one that was written.
    pub fn read(staging: &Staging, ground: &Ground, stop: &AtomicBool) -> Result<Self, RunError> {
        let mut outcome = Self::default();
        for receipt in staging.receipts::<SliceReceipt>()? {
            go_on(stop, outcome.slices)?;
            let receipt = receipt?;
            if receipt.slice != outcome.after_last {
                return Err(missing(outcome.after_last));
            }
            let known = ground.slices.get(&receipt.slice);
            if !known.is_some_and(|ids| ids.agree_with(&receipt.body)) {
                let reason = format!(
                    "the receipt of slice {} is not the one that was written",
                    receipt.slice
                );
                return Err(RunError::Incomplete { reason });
            }
            outcome.slices += 1;
            outcome.after_last = receipt.slice + 1;
            outcome.files.extend(receipt.files);
            outcome.add(receipt.body);
        }
        if outcome.after_last != ground.tally.slices {
            return Err(missing(outcome.after_last));
        }
        outcome.add_inputs();
        Ok(outcome)
    }

    /// How many slices were finished.
    pub fn slices(&self) -> usize {
        self.slices
    }

    fn add(&mut self, receipt: SliceReceipt) {
        for (input, counts) in receipt.inputs {
            let sum = self.inputs.entry(input).or_default();
            sum.entries += counts.entries;
            sum.ledger.add(&counts.ledger);
            sum.rows.add(&counts.rows);
            sum.conversations += counts.conversations;
            sum.findings += counts.findings;
            for source in counts.sources {
                if !sum.sources.contains(&source) {
                    sum.sources.push(source);
                }
            }
            for (reason, records) in counts.filtered_by {
                *sum.filtered_by.entry(reason).or_default() += records;
            }
            for (kind, files) in counts.skipped_files {
                *sum.skipped_files.entry(kind).or_default() += files;
            }
            for (table, rows) in counts.skipped_tables {
                *sum.skipped_tables.entry(table).or_default() += rows;
            }
        }
        let whole = &mut self.whole;
        whole.messages += receipt.messages;
        whole.renderings += receipt.renderings;
        whole.unrenderable += receipt.unrenderable;
        whole.without_turns += receipt.without_turns;
        whole.without_reasoning += receipt.without_reasoning;
        for (code, count) in receipt.findings {
            let sum = whole.findings.entry(code).or_default();
            sum.name = count.name;
            sum.errors += count.errors;
            sum.warnings += count.warnings;
            sum.notes += count.notes;
            sum.of_rejects += count.of_rejects;
        }
        self.totals.merge(&receipt.totals);
    }

    fn add_inputs(&mut self) {
        let whole = &mut self.whole;
        for counts in self.inputs.values() {
            let Ledger {
                framed,
                accepted,
                rejected,
                filtered,
                ..
            } = counts.ledger;
            whole.framed += framed;
            whole.accepted += accepted;
            whole.rejected += rejected;
            whole.filtered += filtered;
            whole.conversations += counts.conversations;
            for (reason, records) in &counts.filtered_by {
                *whole.filtered_by.entry(reason.clone()).or_default() += records;
            }
        }
    }

    /// Refuses a run that does not account for all that was cut, whose ledger does not balance, or whose perspective is nobody's.
    pub fn check(&self, plan: &Plan, tally: &Tally) -> Result<(), RunError> {
        for (index, planned) in plan.inputs.iter().enumerate() {
            let counts = self.inputs.get(&index);
            let accounted = counts.map(|counts| InputTally {
                entries: counts.entries,
                records: counts.ledger.framed,
                bytes: counts.ledger.decoded_bytes,
            });
            if accounted.is_none() || accounted.as_ref() != tally.inputs.get(index) {
                let reason = format!("the receipts do not account for all of {}", planned.name);
                return Err(RunError::Incomplete { reason });
            }
        }
        let unbalanced = self
            .inputs
            .iter()
            .filter(|(_, counts)| !counts.ledger.balances() || !counts.rows.balances());
        let names: Vec<String> = unbalanced
            .filter_map(|(index, _)| plan.inputs.get(*index))
            .map(|planned| planned.name.clone())
            .collect();
        if !names.is_empty() {
            return Err(RunError::Unbalanced { names });
        }
        if let Speaker::Participants(participants) = &plan.pipeline.perspective.speaker {
            let conversations = self.whole.conversations;
            if conversations > 0 && self.whole.unrenderable == conversations * participants.len() as u64 {
                return Err(RunError::PerspectiveAbsent);
            }
        }
        Ok(())
    }

    /// Writes the totals and the manifest; what is left to do is to publish.
    pub fn seal(
        self,
        plan: &Plan,
        fingerprint: &str,
        staging: Staging,
        options: &TableOptions,
    ) -> Result<Sealed, RunError> {
        let rows = self.totals.rows();
        let mut whole = self.whole;
        whole.tokens = rows.iter().map(token_total).collect();
        // The totals belong to no slice: they take the number after the last one.
        let mut parts = staging.parts(self.after_last, options)?;
        for row in rows {
            parts.push_total(row)?;
        }
        let mut files = self.files;
        files.extend(parts.close()?);
        let manifest = Manifest {
            program: "chatmill".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            format: FORMAT,
            fingerprint: fingerprint.to_owned(),
            plan: plan.normalised(),
            slices: self.after_last,
            inputs: inputs(plan, &self.inputs),
            tables: table_entries(files),
            totals: serde_json::to_value(&whole).unwrap_or_default(),
            ledger_balanced: true,
            verdict: whole.verdict(plan.limits()).to_owned(),
            derived: DERIVED.map(str::to_owned).to_vec(),
        };
        Ok(staging.seal(&manifest, options)?)
    }
}

fn missing(slice: u32) -> RunError {
    RunError::Incomplete {
        reason: format!("the receipt of slice {slice} is missing"),
    }
}

fn token_total(row: &TotalRow) -> TokenTotal {
    TokenTotal {
        dialect: row.dialect.clone(),
        profile: row.profile.clone(),
        encoding: row.encoding.clone(),
        coverage: row.coverage.clone(),
        bytes: row.bytes,
        messages_rendered: row.messages_rendered,
        tokens: row.tokens,
        invalid: row.invalid,
        losses: row.losses,
    }
}

fn inputs(plan: &Plan, counts: &BTreeMap<usize, InputCounts>) -> Vec<InputEntry> {
    plan.inputs
        .iter()
        .enumerate()
        .map(|(index, planned)| {
            let counts = counts.get(&index).cloned().unwrap_or_default();
            let mut entry = InputEntry {
                path: planned.name.clone(),
                bytes: planned.input.bytes,
                hash: planned.hash.clone(),
                refused: planned.refused().map(str::to_owned),
                entries: counts.entries,
                source: (!counts.sources.is_empty()).then(|| counts.sources.join(",")),
                conversations: counts.conversations,
                findings: counts.findings,
                rows: counts.rows,
                skipped: counts.skipped_tables.values().sum(),
                skipped_tables: counts.skipped_tables,
                skipped_files: counts.skipped_files,
                filtered_by: counts.filtered_by,
                ..InputEntry::default()
            };
            entry.set_ledger(&counts.ledger);
            entry
        })
        .collect()
}
