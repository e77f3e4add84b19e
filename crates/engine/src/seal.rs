//! Sealing: every receipt is there; prove that nothing disappeared and write the manifest.

use std::collections::BTreeMap;

use chatmill_dataset::manifest::{DERIVED, InputEntry, table_entries};
use chatmill_dataset::{Manifest, PartFile, Receipt, Sealed, Staging, TableOptions};
use chatmill_diag::Ledger;

use crate::pipeline::Speaker;
use crate::plan::Plan;
use crate::receipt::{InputCounts, SliceReceipt};
use crate::run::RunError;
use crate::summary::{COMPLETE, RunTotals, TOO_MANY_REJECTS, TokenTotal};
use crate::totals::Totals;

/// Refuses a run whose ledger does not balance, or whose perspective is nobody's.
pub fn check(plan: &Plan, receipts: &BTreeMap<u32, SliceReceipt>) -> Result<(), RunError> {
    let counts = input_counts(receipts);
    let names: Vec<String> = counts
        .iter()
        .filter(|(_, counts)| !counts.ledger.balances() || !counts.rows.balances())
        .filter_map(|(index, _)| plan.inputs.get(*index))
        .map(|planned| planned.name.clone())
        .collect();
    if !names.is_empty() {
        return Err(RunError::Unbalanced { names });
    }
    if let Speaker::Participants(participants) = &plan.pipeline.perspective.speaker {
        let conversations: u64 = counts.values().map(|counts| counts.conversations).sum();
        let absent: u64 = receipts.values().map(|receipt| receipt.unrenderable).sum();
        if conversations > 0 && absent == conversations * participants.len() as u64 {
            return Err(RunError::PerspectiveAbsent);
        }
    }
    Ok(())
}

fn input_counts(receipts: &BTreeMap<u32, SliceReceipt>) -> BTreeMap<usize, InputCounts> {
    let mut whole: BTreeMap<usize, InputCounts> = BTreeMap::new();
    for receipt in receipts.values() {
        for (input, counts) in &receipt.inputs {
            let sum = whole.entry(*input).or_default();
            sum.ledger.add(&counts.ledger);
            sum.rows.add(&counts.rows);
            sum.conversations += counts.conversations;
            sum.findings += counts.findings;
            for source in &counts.sources {
                if !sum.sources.contains(source) {
                    sum.sources.push(source.clone());
                }
            }
            for (reason, records) in &counts.filtered_by {
                *sum.filtered_by.entry(reason.clone()).or_default() += records;
            }
            for (table, rows) in &counts.skipped_tables {
                *sum.skipped_tables.entry(table.clone()).or_default() += rows;
            }
        }
    }
    whole
}

/// Writes the totals and the manifest; what is left to do is to publish.
pub fn seal(
    plan: &Plan,
    fingerprint: &str,
    staging: Staging,
    finished: Vec<Receipt<SliceReceipt>>,
    receipts: &BTreeMap<u32, SliceReceipt>,
    options: &TableOptions,
) -> Result<Sealed, RunError> {
    let mut totals = Totals::default();
    for receipt in receipts.values() {
        totals.merge(&receipt.totals);
    }
    // The totals belong to no slice: they take the number after the last one.
    let after_last = receipts.keys().next_back().map_or(0, |last| last + 1);
    let mut parts = staging.parts(after_last, options)?;
    for row in totals.rows() {
        parts.push_total(row)?;
    }
    let mut files: Vec<PartFile> = finished.into_iter().flat_map(|receipt| receipt.files).collect();
    files.extend(parts.close()?);
    let counts = input_counts(receipts);
    let run_totals = run_totals(receipts, &counts, &totals);
    let ratio = run_totals.rejected as f64 / run_totals.framed.max(1) as f64;
    let within = ratio <= plan.limits().max_reject_ratio;
    let manifest = Manifest {
        program: "chatmill".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        fingerprint: fingerprint.to_owned(),
        plan: plan.normalised(),
        inputs: inputs(plan, &counts),
        tables: table_entries(files),
        totals: serde_json::to_value(&run_totals).unwrap_or_default(),
        ledger_balanced: true,
        verdict: if within { COMPLETE } else { TOO_MANY_REJECTS }.to_owned(),
        derived: DERIVED.map(str::to_owned).to_vec(),
    };
    Ok(staging.seal(&manifest, options)?)
}

fn run_totals(
    receipts: &BTreeMap<u32, SliceReceipt>,
    counts: &BTreeMap<usize, InputCounts>,
    totals: &Totals,
) -> RunTotals {
    let mut whole = RunTotals::default();
    for counts in counts.values() {
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
    for receipt in receipts.values() {
        whole.messages += receipt.messages;
        whole.renderings += receipt.renderings;
        whole.unrenderable += receipt.unrenderable;
        whole.without_turns += receipt.without_turns;
        for (code, count) in &receipt.findings {
            let sum = whole.findings.entry(code.clone()).or_default();
            sum.name.clone_from(&count.name);
            sum.errors += count.errors;
            sum.warnings += count.warnings;
            sum.notes += count.notes;
        }
    }
    whole.tokens = totals
        .rows()
        .into_iter()
        .map(|row| TokenTotal {
            dialect: row.dialect,
            profile: row.profile,
            encoding: row.encoding,
            coverage: row.coverage,
            bytes: row.bytes,
            messages_rendered: row.messages_rendered,
            tokens: row.tokens,
            invalid: row.invalid,
            losses: row.losses,
        })
        .collect();
    whole
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
                source: (!counts.sources.is_empty()).then(|| counts.sources.join(",")),
                conversations: counts.conversations,
                findings: counts.findings,
                rows: counts.rows,
                skipped: counts.skipped_tables.values().sum(),
                skipped_tables: counts.skipped_tables,
                filtered_by: counts.filtered_by,
                ..InputEntry::default()
            };
            entry.set_ledger(&counts.ledger);
            entry
        })
        .collect()
}
