//! Seals a dataset: proves that every receipt is present and that no record was lost, and writes the manifest.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::AddAssign as _;
use std::sync::atomic::AtomicBool;

use chatmill_dataset::overview::{Mix, Overview, listed};
use chatmill_dataset::{
    DERIVED, FORMAT, InputEntry, InputRows, Inputs, Manifest, PartSet, Sealed, ShardManifests, SliceId,
    Staging, TableOptions, account_problems,
};
use chatmill_diag::{Severity, cut};
use serde::{Serialize, Serializer};

use crate::commit::collisions::Ids;
use crate::commit::summary::RunTotals;
use crate::error::{RunError, go_on, unwritable};
use crate::pipeline::PerspectiveChoice;
use crate::plan::{Plan, PlannedInput};
use crate::slice::{CutCounts, CutTotals};
use crate::work::overview::{OverviewSums, merge};
use crate::work::perspectives::{list_names, shorten_names};
use crate::work::receipt::{InputCounts, SliceReceipt, SliceShapes, add_shapes, count_finding};
use crate::work::recognition::Recognition;
use crate::work::tables;
use crate::work::{TotalNames, Totals};

/// The number of mismatches in an error message.
const MAX_MISMATCHES: usize = 3;

/// The processed slices. Their receipts are compared with these when they are read back.
pub(crate) struct FinishedSlices {
    /// The ids of each slice's receipt.
    pub slices: BTreeMap<SliceId, Ids>,
    /// The totals of the records that were cut from the inputs.
    pub cut_totals: CutTotals,
}

/// The sums of all receipts of a run.
#[derive(Default)]
pub(crate) struct ReceiptTotals {
    /// The counts of each input, by its index in the plan.
    inputs: Inputs,
    /// The rows written for each input; `None` if no receipt mentions the input.
    written: Vec<Option<InputRows>>,
    whole: RunTotals,
    totals: Totals,
    overview: OverviewSums,
    /// Participants for the error about absent ones.
    participants: BTreeSet<String>,
    /// The number of finished slices.
    pub slices: usize,
    /// The number of slices of each shard.
    shards: Vec<u32>,
}

impl ReceiptTotals {
    /// Adds up the receipts in the staging folder, one after the other. There must be
    /// one for every slice that was cut, and each must be the one that was written.
    pub(crate) fn read(
        staging: &Staging,
        finished: &FinishedSlices,
        stop: &AtomicBool,
    ) -> Result<Self, RunError> {
        let count = finished.cut_totals.inputs.len();
        let mut outcome = Self {
            inputs: Inputs::blank(count),
            written: vec![None; count],
            ..Self::default()
        };
        let mut cut = finished.cut_totals.each();
        for receipt in staging.receipts::<SliceReceipt>()? {
            go_on(stop, outcome.slices)?;
            let receipt = receipt?;
            match cut.next() {
                Some(slice) if slice != receipt.slice => return Err(missing(slice)),
                _ => {}
            }
            let known = finished.slices.get(&receipt.slice);
            if !known.is_some_and(|ids| ids.agree_with(&receipt.body)) {
                let reason = format!(
                    "the receipt of slice {} differs from the one that was written",
                    receipt.slice
                );
                return Err(RunError::Incomplete(reason));
            }
            outcome.slices += 1;
            outcome.add(receipt.body);
        }
        if let Some(slice) = cut.next() {
            return Err(missing(slice));
        }
        drop(cut);
        let shards = &finished.cut_totals.shards;
        let last = shards.keys().next_back().copied();
        outcome.shards = last.map_or_else(Vec::new, |last| {
            // A shard without input has no slice.
            (0..=last)
                .map(|shard| shards.get(&shard).map_or(0, |slices| *slices))
                .collect()
        });
        outcome.add_inputs();
        Ok(outcome)
    }

    fn add(&mut self, receipt: SliceReceipt) {
        for (input, counts) in receipt.inputs {
            let written = cut::at_mut(&mut self.written, input).get_or_insert_default();
            written.add(counts.written);
            self.inputs.change(input, |sum| add_counts(sum, counts));
        }
        let whole = &mut self.whole;
        whole.messages += receipt.messages;
        whole.renderings += receipt.renderings;
        whole.unrenderable += receipt.unrenderable;
        self.participants.extend(receipt.participants);
        shorten_names(&mut self.participants);
        whole.without_turns += receipt.without_turns;
        let skipped = receipt.skipped_targets;
        merge(&mut whole.skipped_targets, skipped, u64::add_assign);
        merge(&mut whole.unprompted, receipt.unprompted, u64::add_assign);
        whole.without_reasoning += receipt.without_reasoning;
        merge(&mut whole.findings, receipt.findings, |sum, count| {
            sum.name = count.name;
            sum.errors += count.errors;
            sum.warnings += count.warnings;
            sum.notes += count.notes;
            sum.of_rejects += count.of_rejects;
        });
        self.totals.merge(receipt.totals);
        self.overview.merge(receipt.overview);
    }

    /// Records the result of the mix.
    pub(crate) fn set_mix(&mut self, mix: Option<Mix>) {
        self.whole.mix = mix;
    }

    fn add_inputs(&mut self) {
        let whole = &mut self.whole;
        for input in self.inputs.iter() {
            whole.framed += input.framed;
            whole.accepted += input.accepted;
            whole.rejected += input.rejected;
            whole.refused_inputs += u64::from(input.is_refused());
            whole.filtered += input.filtered;
            whole.conversations += input.conversations;
            merge(&mut whole.filtered_by, input.filtered_by, u64::add_assign);
        }
    }

    /// Refuses a run that does not account for all records that were cut, a dataset that would not
    /// be certified, and a run with no conversation that has a participant of `perspective.as`.
    pub(crate) fn check(&self, plan: &Plan, cut_totals: &CutTotals) -> Result<(), RunError> {
        let counted = self.inputs.iter().zip(&self.written).zip(&cut_totals.inputs);
        let mut mismatches = Vec::new();
        for (planned, ((input, written), cut_totals)) in plan.inputs.iter().zip(counted) {
            let accounted = CutCounts {
                entries: input.entries,
                records: input.framed,
                bytes: input.decoded_bytes,
            };
            let Some(written) = written.filter(|_| accounted == *cut_totals) else {
                let reason = format!("the receipts do not account for all of {}", planned.name());
                return Err(RunError::Incomplete(reason));
            };
            if mismatches.len() < MAX_MISMATCHES {
                mismatches.extend(account_problems(&account(planned, input), written));
            }
        }
        if !mismatches.is_empty() {
            return Err(RunError::Unbalanced(mismatches));
        }
        if let PerspectiveChoice::Participants(participants) = &plan.pipeline.perspective.speaker {
            let conversations = self.whole.conversations;
            if conversations > 0 && self.whole.unrenderable == conversations * participants.len() as u64 {
                return Err(RunError::PerspectiveAbsent(list_names(&self.participants)));
            }
        }
        Ok(())
    }

    /// Reads the receipts again for the data that is not kept in memory.
    fn list(&self, plan: &Plan, staging: &Staging) -> Result<Listed, RunError> {
        let inputs = plan.inputs.iter().zip(self.inputs.iter()).enumerate();
        let listed = listed(inputs.map(|(index, (planned, counts))| {
            let input = InputEntry {
                path: planned.name().into_owned(),
                ..counts
            };
            (input, index)
        }));
        let mut found: BTreeMap<usize, Vec<String>> = BTreeMap::new();
        let listed: BTreeMap<usize, String> = listed
            .into_iter()
            .map(|(input, index)| (index, input.path))
            .collect();
        let mut shards = staging.list_shards(self.shards.clone())?;
        let mut left: BTreeMap<usize, Recognition> = BTreeMap::new();
        let mut read_words = vec![0; plan.inputs.len()];
        for receipt in staging.receipts::<SliceShapes>()? {
            let receipt = receipt?;
            shards.add(receipt.slice, receipt.files)?;
            for (index, input) in receipt.body.inputs {
                if listed.contains_key(&index) {
                    add_shapes(found.entry(index).or_default(), input.shapes);
                }
                let recognition = input.recognition;
                *cut::at_mut(&mut read_words, index) += recognition.read_words;
                if recognition.misread > 0 || !recognition.unread.is_empty() {
                    let left = left.entry(index).or_default();
                    left.merge(recognition, plan.limits().unread_paths);
                }
            }
        }
        let named = listed.into_iter().filter_map(|(index, path)| {
            let mut shapes = found.remove(&index).filter(|shapes| !shapes.is_empty())?;
            shapes.sort_unstable();
            Some((path, shapes))
        });
        Ok(Listed {
            shards,
            shapes: named.collect(),
            left,
            read_words,
        })
    }

    /// Writes the findings about whole inputs. They are rows of the
    /// findings table and are counted like those of the slices.
    fn write_inputs(
        &mut self,
        plan: &Plan,
        left: BTreeMap<usize, Recognition>,
        read_words: &[u64],
        parts: &mut PartSet,
    ) -> Result<(), RunError> {
        for (index, mut recognition) in left {
            let input = self.inputs.get(index).ok_or_else(|| {
                RunError::Incomplete(format!("the receipts mention input {index}, which is unknown"))
            })?;
            recognition.read_words = *cut::at(read_words, index);
            let source = input.source.unwrap_or_default();
            for (located, first) in recognition.findings(input.framed, &source) {
                tables::push_of_input(plan, index, &located, first.as_ref(), parts)?;
                let finding = &located.finding;
                count_finding(&mut self.whole.findings, finding);
                let is_error = finding.severity == Severity::Error;
                self.inputs.change(index, |sum| {
                    sum.findings += 1;
                    sum.errors += if is_error { finding.count } else { 0 };
                });
            }
        }
        Ok(())
    }

    /// Writes the totals and the manifest; only publishing remains.
    pub(crate) fn seal(
        mut self,
        plan: &Plan,
        fingerprint: &str,
        staging: Staging,
        options: &TableOptions,
    ) -> Result<Sealed, RunError> {
        let Listed {
            shards,
            shapes,
            left,
            read_words,
        } = self.list(plan, &staging)?;
        // Files that belong to no slice (the totals, findings of
        // whole inputs) form one more shard, after the last one.
        let after_last = SliceId {
            shard: u32::try_from(self.shards.len()).unwrap_or(u32::MAX),
            slice: 0,
        };
        let mut parts = staging.parts(after_last, options)?;
        self.write_inputs(plan, left, &read_words, &mut parts)?;
        if plan.pipeline.infers_by_input() {
            // Rendering from the tables needs to know which inputs' calls define the tools of a conversation.
            for (index, planned) in plan.inputs.iter().enumerate() {
                self.inputs
                    .change(index, |input| input.section = planned.section as u64);
            }
        }
        let names = TotalNames::of(plan);
        let mut whole = self.whole;
        whole.overview = Overview {
            shapes,
            renderings: self.totals.renderings(&names),
            evaluations: plan
                .evaluations()
                .map_or_else(Vec::new, |known| self.overview.evaluations(known)),
            ..self.overview.overview(&plan.targets, plan.quotes)
        };
        self.totals.each_row(&names, |row| parts.push_total(row))?;
        let rest = parts.close()?;
        let manifest = Manifest {
            program: "chatmill".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            format: FORMAT,
            fingerprint: fingerprint.to_owned(),
            plan: plan.normalised(),
            // Sealing fills in the shards and the tables.
            shards: Vec::new(),
            inputs: Accounts {
                inputs: &plan.inputs,
                counts: &self.inputs,
            },
            tables: Vec::new(),
            absent_tables: Vec::new(),
            totals: serde_json::to_value(&whole).map_err(unwritable)?,
            ledger_balanced: true,
            verdict: whole.verdict(plan.limits()).to_owned(),
            derived: DERIVED.map(str::to_owned).to_vec(),
        };
        Ok(staging.seal(manifest, shards, rest, options)?)
    }
}

/// The parts of the receipts that are read again at the end instead of being kept in memory.
struct Listed {
    /// The files of the slices, for the manifests of the shards.
    shards: ShardManifests,
    /// The shapes of the inputs, for a report.
    shapes: Shapes,
    /// The recognition of inputs with unread fields, by index.
    left: BTreeMap<usize, Recognition>,
    /// Bytes of words that were read, for each input.
    read_words: Vec<u64>,
}

/// The shapes of inputs, by their names.
type Shapes = BTreeMap<String, Vec<String>>;

fn missing(slice: SliceId) -> RunError {
    RunError::Incomplete(format!("the receipt of slice {slice} is missing"))
}

/// The inputs of a plan with their counts, for the manifest. Each entry is built when it is written.
struct Accounts<'o> {
    inputs: &'o [PlannedInput],
    counts: &'o Inputs,
}

impl Serialize for Accounts<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let inputs = self.inputs.iter().zip(self.counts.iter());
        serializer.collect_seq(inputs.map(|(planned, counts)| account(planned, counts)))
    }
}

/// Returns the manifest's entry of an input with these counts.
fn account(planned: &PlannedInput, counts: InputEntry) -> InputEntry {
    InputEntry {
        path: planned.name().into_owned(),
        bytes: planned.input.bytes,
        hash: planned.hash.map(|hash| hash.to_hex().to_string()),
        refused: planned.refused().map(str::to_owned),
        ..counts
    }
}

/// Adds a slice's counts of an input.
fn add_counts(sum: &mut InputEntry, counts: InputCounts) {
    let mut ledger = sum.ledger();
    ledger.add(&counts.ledger);
    sum.set_ledger(&ledger);
    sum.plain |= counts.plain;
    sum.entries += counts.entries;
    sum.rows.add(&counts.rows);
    sum.conversations += counts.conversations;
    sum.findings += counts.findings;
    sum.errors += counts.errors;
    for source in counts.sources {
        let sources = sum.source.get_or_insert_default();
        if sources.is_empty() {
            *sources = source;
        } else if sources.split(',').all(|known| known != source) {
            sources.push(',');
            sources.push_str(&source);
        }
    }
    sum.skipped += counts.skipped_tables.values().sum::<u64>();
    merge(&mut sum.filtered_by, counts.filtered_by, u64::add_assign);
    merge(&mut sum.skipped_files, counts.skipped_files, u64::add_assign);
    merge(&mut sum.skipped_tables, counts.skipped_tables, u64::add_assign);
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use chatmill_diag::Ledger;

    use super::*;
    use crate::pipeline::parse;
    use crate::tests::test_dir::{TestDir, request};

    #[test]
    fn rows_that_were_not_written_as_they_are_accounted_for_are_never_published() {
        let test_dir = TestDir::new(&[("a.jsonl", &request("a"))]);
        let text = "name = \"n\"\n[[input]]\npath = \"a.jsonl\"\n[output]\npath = \"out\"\n";
        let pipeline = parse(text, &[], Path::new("p.toml")).unwrap();
        let mut plan = Plan::resolve(pipeline, Path::new(&test_dir.path("")), None, None).unwrap();
        plan.inputs[0].hash = Some(blake3::hash(b""));
        let cut_totals = CutTotals {
            shards: BTreeMap::new(),
            inputs: vec![CutCounts {
                entries: 1,
                records: 2,
                bytes: 10,
            }],
        };
        let check = |conversations, rejects| {
            let mut totals = ReceiptTotals {
                inputs: Inputs::blank(1),
                written: vec![None],
                ..ReceiptTotals::default()
            };
            let counts = InputCounts {
                entries: 1,
                ledger: Ledger {
                    framed: 2,
                    accepted: 1,
                    rejected: 1,
                    decoded_bytes: 10,
                    accepted_bytes: 7,
                    rejected_bytes: 3,
                    ..Ledger::default()
                },
                conversations: 1,
                written: InputRows {
                    conversations,
                    rejects,
                },
                ..InputCounts::default()
            };
            totals.add(SliceReceipt {
                inputs: BTreeMap::from([(0, counts)]),
                ..SliceReceipt::default()
            });
            totals
                .check(&plan, &cut_totals)
                .map_err(|error| (matches!(error, RunError::Unbalanced { .. }), error.to_string()))
        };
        assert_eq!(check(1, 1), Ok(()));
        for (conversations, rejects, mismatch) in [
            (1, 2, "a.jsonl has 2 frames in rejects instead of 1"),
            (1, 0, "a.jsonl has 0 frames in rejects instead of 1"),
            (2, 1, "a.jsonl has 2 rows in conversations instead of 1"),
        ] {
            let (is_bug, message) = check(conversations, rejects).unwrap_err();
            assert!(is_bug && message.starts_with(mismatch), "{message}");
        }
    }
}
