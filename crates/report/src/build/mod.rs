//! Builds a report from a dataset. Figures come from the totals of the manifest, samples from the findings, and for messages and renderings
//! only narrow columns are read, so the time for a report does not depend on the length of texts. Texts are read only if there are few, for
//! the most frequent turns.

pub(crate) mod compare;
mod days;
mod findings;
mod found;
mod most_expensive;
pub(crate) mod stand_ins;
pub(crate) mod statistics;

use std::collections::BTreeMap;
use std::path::Path;

use chatmill_dataset::overview::{LossCount, cut, listed};
use chatmill_dataset::{Dataset, DatasetError, MANIFEST, Manifest, SpreadTotals};
use jiff::Timestamp;
use serde_json::Value;

use crate::bill;
use crate::build::compare::compare;
use crate::build::stand_ins::numbered;
use crate::report::queries;
use crate::report::{
    Balance, Bin, Clusters, Distribution, FORMAT, InputTotals, Queried, Reason, Report, Run, RunTime,
};

/// The number of rows that other parts of a report list.
const ROWS: usize = 1000;

/// Builds the report of a dataset; with an earlier dataset, also the changes since.
pub fn build_report(folder: &Path, against: Option<&Path>) -> Result<Report, DatasetError> {
    let dataset = Dataset::open(folder)?;
    let manifest = dataset.manifest();
    let overview = dataset.overview()?;
    let encodings = dataset.encodings();
    let mut run = run(&dataset)?;
    run.first_message = overview.first_message.and_then(instant);
    run.last_message = overview.last_message.and_then(instant);
    let bill = if encodings.is_empty() {
        queries::UNCOUNTED.to_owned()
    } else {
        queries::tokens(encodings)
    };
    let inputs = inputs(manifest, overview.shapes);
    let (findings, found) = findings::findings(&dataset, &inputs.rows)?;
    let totals = [
        &overview.message_lengths,
        &overview.turns,
        &overview.participants,
        &overview.calls,
    ];
    let distributions = queries::DISTRIBUTIONS.into_iter().zip(totals);
    let distributions =
        distributions.map(|((name, values), totals)| distribution(name, totals, queries::bins(values)));
    let statistics = statistics::of_report(&dataset, overview.message_lengths.sum)?;
    let lengths = statistics.lengths.iter().filter_map(|length| {
        if !dataset.has("messages") {
            return None;
        }
        let values = queries::token_lengths(length.of, &length.unit)?;
        let name = format!("tokens per {} ({})", length.of, length.unit);
        Some(distribution(&name, &length.totals, queries::bins(&values)))
    });
    let mut report = Report {
        format: FORMAT,
        run,
        balance: Balance {
            mix: dataset.mix()?,
            evaluations: overview.evaluations,
            ..balance(manifest)
        },
        inputs,
        findings: Queried::new(queries::FINDINGS, findings, ROWS),
        tokens: Queried::new(bill, bill::cells(overview.renderings, encodings), ROWS),
        losses: Queried::new(queries::LOSSES, losses(overview.losses), ROWS),
        distributions: distributions.chain(lengths).collect(),
        days: days::days(&dataset)?,
        roles: Queried::new(queries::ROLES, overview.roles, ROWS),
        references: Queried::new(queries::REFERENCES, overview.references, ROWS),
        tool_calls: Queried::new(queries::TOOL_CALLS, overview.tool_calls, ROWS),
        tools: Queried {
            left_out: overview.tools_left_out,
            ..Queried::new(queries::TOOLS, overview.tools, ROWS)
        },
        money: Vec::new(),
        dearest: most_expensive::most_expensive(&dataset)?,
        sources: Queried::new(queries::sources(encodings), statistics.sources, ROWS),
        trained: Queried::new(queries::TRAINED, statistics.trained, ROWS),
        frequent: statistics.frequent,
        largest: Queried::new(queries::LARGEST, overview.largest, ROWS),
        // Times are not part of a dataset; `Report::add_slowest` adds them.
        slowest: None,
        clusters: is_compared(manifest).then(|| Clusters {
            query: queries::CLUSTERS.to_owned(),
            count: overview.clusters,
        }),
        comparison: against
            .map(|old| compare(&Dataset::open(old)?, &dataset))
            .transpose()?,
        time: time(&dataset)?,
        found,
    };
    leave_out_queries(&mut report);
    if !report.run.quotes {
        report.mask_ids(&mut numbered());
    }
    Ok(report)
}

/// The time of the run; `None` if the file is missing or does not have the expected form.
fn time(dataset: &Dataset) -> Result<Option<RunTime>, DatasetError> {
    match dataset.derived("run.json") {
        Ok(bytes) => Ok(bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok())),
        Err(DatasetError::Corrupt { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

fn distribution(name: &str, totals: &SpreadTotals, query: String) -> Distribution {
    let bins = totals.bins.iter();
    Distribution {
        name: name.to_owned(),
        query,
        count: totals.count,
        sum: totals.sum,
        p50: totals.p50,
        p95: totals.p95,
        max: totals.max,
        bins: bins.map(|&(from, count)| Bin { from, count }).collect(),
    }
}

/// The losses of each dialect: by dialect, then the most frequent kind first.
fn losses(mut rows: Vec<LossCount>) -> Vec<LossCount> {
    let amount = |row: &LossCount| std::cmp::Reverse(row.amount);
    rows.sort_by(|one, other| {
        (&one.dialect, &one.profile, amount(one), &one.code).cmp(&(
            &other.dialect,
            &other.profile,
            amount(other),
            &other.code,
        ))
    });
    rows
}

/// Whether the run compared its conversations with one another.
fn is_compared(manifest: &Manifest) -> bool {
    let treatments = ["/dedup/exact", "/dedup/near"].map(|key| manifest.plan.pointer(key));
    let mut words = treatments.into_iter().flatten().filter_map(Value::as_str);
    words.any(|word| word != "off")
}

/// A total of the manifest.
pub(crate) fn total(dataset: &Dataset, name: &str) -> Result<u64, DatasetError> {
    let total = dataset.manifest().totals.get(name).and_then(Value::as_u64);
    total.ok_or_else(|| DatasetError::Corrupt {
        path: dataset.folder().join(MANIFEST),
        reason: format!("it does not contain the number of {name}"),
    })
}

/// Removes queries on tables that the dataset does not have.
fn leave_out_queries(report: &mut Report) {
    let absent = report.run.absent_tables.iter();
    let absent: Vec<String> = absent.map(|table| format!("'{table}/")).collect();
    let mut queries = vec![
        &mut report.tokens.query,
        &mut report.losses.query,
        &mut report.days.query,
        &mut report.roles.query,
        &mut report.references.query,
        &mut report.tool_calls.query,
        &mut report.tools.query,
        &mut report.sources.query,
        &mut report.trained.query,
        &mut report.largest.query,
    ];
    queries.extend(report.distributions.iter_mut().map(|part| &mut part.query));
    queries.extend(report.clusters.iter_mut().map(|part| &mut part.query));
    for query in queries {
        if absent.iter().any(|files| query.contains(files)) {
            query.clear();
        }
    }
}

fn run(dataset: &Dataset) -> Result<Run, DatasetError> {
    let manifest = dataset.manifest();
    let plan = &manifest.plan;
    let targets = plan.get("targets").and_then(Value::as_array);
    let dialects = targets.into_iter().flatten().filter_map(Value::as_str);
    Ok(Run {
        name: word(plan.get("name")),
        version: manifest.version.clone(),
        fingerprint: manifest.fingerprint.clone(),
        verdict: manifest.verdict.clone(),
        perspective: word(plan.pointer("/perspective/as")),
        history: word(plan.pointer("/window/history")),
        dialects: dialects.map(str::to_owned).collect(),
        encodings: dataset.encodings().to_vec(),
        redaction: word(plan.pointer("/redact/mode")),
        conversations: total(dataset, "conversations")?,
        messages: total(dataset, "messages")?,
        renderings: total(dataset, "renderings")?,
        quotes: manifest.quotes(),
        absent_tables: manifest.absent_tables.clone(),
        ..Run::default()
    })
}

/// A value of the plan as text: words unchanged, lists with commas, everything else as JSON.
fn word(value: Option<&Value>) -> String {
    match value {
        None => String::new(),
        Some(Value::String(word)) => cut(word),
        Some(Value::Array(words)) => {
            let words: Vec<String> = words.iter().map(|value| word(Some(value))).collect();
            cut(&words.join(", "))
        }
        Some(other) => cut(&other.to_string()),
    }
}

fn instant(microseconds: i64) -> Option<String> {
    Some(Timestamp::from_microsecond(microseconds).ok()?.to_string())
}

fn balance(manifest: &Manifest) -> Balance {
    let mut ledger = chatmill_diag::Ledger::default();
    let mut rows = chatmill_diag::RowLedger::default();
    for input in manifest.inputs.iter() {
        ledger.add(&input.ledger());
        rows.add(&input.rows);
    }
    let reasons = manifest.totals.get("filtered_by").and_then(Value::as_object);
    let filtered_by = reasons.into_iter().flatten().map(|(reason, records)| Reason {
        reason: reason.clone(),
        records: records.as_u64().unwrap_or_default(),
    });
    Balance {
        query: queries::BALANCE.to_owned(),
        balanced: manifest.ledger_balanced,
        framed: ledger.framed,
        accepted: ledger.accepted,
        rejected: ledger.rejected,
        filtered: ledger.filtered,
        filtered_by: Queried::new(queries::FILTERED, filtered_by.collect(), ROWS),
        // The caller sets these.
        mix: None,
        evaluations: Vec::new(),
        decoded_bytes: ledger.decoded_bytes,
        accepted_bytes: ledger.accepted_bytes,
        rejected_bytes: ledger.rejected_bytes,
        filtered_bytes: ledger.filtered_bytes,
        separator_bytes: ledger.separator_bytes,
        skipped_bytes: ledger.skipped_bytes,
        rows: rows.rows,
        row_messages: rows.messages,
        row_notices: rows.notices,
        row_alternatives: rows.alternatives,
        row_repeated: rows.repeated,
        row_merged: rows.merged,
        row_rejected: rows.rejected,
    }
}

fn inputs(manifest: &Manifest, mut shapes: BTreeMap<String, Vec<String>>) -> Queried<InputTotals> {
    let listed = listed(manifest.inputs.iter().map(|input| (input, ())));
    let rows: Vec<InputTotals> = listed
        .into_iter()
        .map(|(entry, ())| InputTotals {
            path: cut(&entry.path),
            shapes: shapes.remove(&entry.path).unwrap_or_default(),
            source: entry.source,
            bytes: entry.bytes,
            framed: entry.framed,
            accepted: entry.accepted,
            rejected: entry.rejected,
            filtered: entry.filtered,
            conversations: entry.conversations,
            findings: entry.findings,
        })
        .collect();
    Queried {
        query: queries::INPUTS.to_owned(),
        left_out: (manifest.inputs.len() - rows.len()) as u64,
        rows,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_the_plan_are_words_where_they_can_be() {
        assert_eq!(word(Some(&serde_json::json!("auto"))), "auto");
        assert_eq!(word(Some(&serde_json::json!(["ann", "bob"]))), "ann, bob");
        assert_eq!(
            word(Some(&serde_json::json!({"messages": 20}))),
            "{\"messages\":20}"
        );
        assert_eq!(word(None), "");
    }
}
