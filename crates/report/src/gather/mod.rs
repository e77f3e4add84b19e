//! From the tables of a dataset to a report: each table is read once, in columns, in bounded memory.

mod messages;
mod tokens;

use std::collections::BTreeMap;
use std::path::Path;

use chatmill_dataset::manifest::InputEntry;
use chatmill_dataset::{Batch, Dataset, DatasetError, Manifest};
use chatmill_diag::codes;
use jiff::Timestamp;
use serde_json::Value;

use crate::compare::compare;
use crate::queries;
use crate::report::{
    Balance, CallStatusTotals, FORMAT, FindingCode, InputTotals, Queried, Reason, ReferenceStatus, Report,
    Run, Sample, Tool,
};
use crate::spread::Spread;

/// Inputs that a report lists one by one.
const INPUTS: usize = 200;
/// Findings that a report quotes per code.
const SAMPLES: usize = 3;
/// Characters of a text in a report; longer ones are cut.
const CHARACTERS: usize = 240;
/// Tools that a report lists.
const TOOLS: usize = 20;
/// Rows of other parts that a report lists.
const ROWS: usize = 1000;

/// Reads a dataset and says what is in it; with an earlier one, also what changed since.
pub fn gather(folder: &Path, against: Option<&Path>) -> Result<Report, DatasetError> {
    let dataset = Dataset::open(folder)?;
    let manifest = dataset.manifest();
    let quotes = quotes(manifest);
    let listed = listed(manifest);
    // Two ways through different tables, which take about as long as each other.
    let (talked, billed) = rayon::join(
        || {
            let calls = tool_calls(&dataset)?;
            let talk = messages::messages(&dataset)?;
            let rooms = messages::conversations(&dataset, &talk, &calls.per_conversation, &listed)?;
            Ok::<_, DatasetError>((calls, talk, rooms, findings(&dataset)?, references(&dataset)?))
        },
        || Ok::<_, DatasetError>((tokens::tokens(&dataset)?, tokens::losses(&dataset)?)),
    );
    let ((calls, talk, rooms, findings, references), (tokens, losses)) = (talked?, billed?);
    let mut run = run(manifest, dataset.encodings());
    run.conversations = total(manifest, "conversations");
    run.messages = total(manifest, "messages");
    run.renderings = total(manifest, "renderings");
    run.first_message = rooms.first.and_then(instant);
    run.last_message = rooms.last.and_then(instant);
    let tools = if quotes { calls.tools } else { Vec::new() };
    let mut report = Report {
        format: FORMAT,
        run,
        balance: balance(manifest),
        inputs: inputs(manifest, listed, rooms.shapes),
        findings,
        tokens,
        losses,
        distributions: vec![
            talk.lengths
                .distribution("characters per message", queries::message_lengths()),
            rooms
                .turns
                .distribution("messages per conversation", queries::turns()),
            rooms
                .participants
                .distribution("participants per conversation", queries::participants()),
            rooms.calls.distribution(
                "tool calls per conversation",
                queries::tool_calls_per_conversation(),
            ),
        ],
        roles: Queried::new(queries::ROLES, talk.roles, ROWS),
        references,
        tool_calls: Queried::new(queries::TOOL_CALLS, calls.statuses, ROWS),
        tools: Queried::new(queries::TOOLS, tools, TOOLS),
        largest: Queried::new(queries::LARGEST, rooms.largest, ROWS),
        // Times are not a part of a dataset: who wants them adds them.
        slowest: None,
        clusters: messages::is_compared(manifest).then_some(rooms.clusters),
        comparison: against
            .map(|old| compare(&Dataset::open(old)?, &dataset))
            .transpose()?,
    };
    leave_out_queries(&mut report);
    Ok(report)
}

/// One of the manifest's totals.
fn total(manifest: &Manifest, name: &str) -> u64 {
    let total = manifest.totals.get(name).and_then(Value::as_u64);
    total.unwrap_or_default()
}

/// Visits the batches of a table; nothing where the dataset was made without it.
fn scan(
    dataset: &Dataset,
    table: &str,
    columns: &[&str],
    visit: &mut dyn FnMut(&Batch) -> Result<(), DatasetError>,
) -> Result<(), DatasetError> {
    if dataset.has(table) {
        dataset.scan(table, columns, visit)?;
    }
    Ok(())
}

/// Takes out the queries that need a table which the dataset was made without.
fn leave_out_queries(report: &mut Report) {
    let absent = report.run.absent_tables.iter();
    let absent: Vec<String> = absent.map(|table| format!("'{table}/")).collect();
    let mut queries = vec![
        &mut report.tokens.query,
        &mut report.losses.query,
        &mut report.roles.query,
        &mut report.references.query,
        &mut report.tool_calls.query,
        &mut report.tools.query,
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

/// Whether the plan lets texts of chats be quoted.
fn quotes(manifest: &Manifest) -> bool {
    manifest.plan.pointer("/output/quote").and_then(Value::as_bool) != Some(false)
}

fn run(manifest: &Manifest, encodings: &[String]) -> Run {
    let plan = &manifest.plan;
    let targets = plan.get("targets").and_then(Value::as_array);
    let dialects = targets.into_iter().flatten().filter_map(Value::as_str);
    Run {
        name: word(plan.get("name")),
        version: manifest.version.clone(),
        fingerprint: manifest.fingerprint.clone(),
        verdict: manifest.verdict.clone(),
        perspective: word(plan.pointer("/perspective/as")),
        history: word(plan.pointer("/window/history")),
        dialects: dialects.map(str::to_owned).collect(),
        encodings: encodings.to_vec(),
        redaction: word(plan.pointer("/redact/mode")),
        quotes: quotes(manifest),
        absent_tables: manifest.absent_tables.clone(),
        ..Run::default()
    }
}

/// A value of the plan for people: words as they are, lists with commas, everything else as JSON.
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

/// A text that fits into a report.
fn cut(text: &str) -> String {
    match text.char_indices().nth(CHARACTERS) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
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
        decoded_bytes: ledger.decoded_bytes,
        accepted_bytes: ledger.accepted_bytes,
        rejected_bytes: ledger.rejected_bytes,
        filtered_bytes: ledger.filtered_bytes,
        separator_bytes: ledger.separator_bytes,
        skipped_bytes: ledger.skipped_bytes,
        rows: rows.rows,
        row_messages: rows.messages,
        row_notices: rows.notices,
        row_repeated: rows.repeated,
        row_merged: rows.merged,
        row_rejected: rows.rejected,
    }
}

/// The inputs that are listed one by one: those in which most was rejected or found.
fn listed(manifest: &Manifest) -> Vec<InputEntry> {
    let mut first = BTreeMap::new();
    for input in manifest.inputs.iter() {
        let rank = std::cmp::Reverse((input.rejected, input.findings));
        first.insert((rank, input.path.clone()), input);
        if first.len() > INPUTS {
            first.pop_last();
        }
    }
    first.into_values().collect()
}

fn inputs(
    manifest: &Manifest,
    listed: Vec<InputEntry>,
    mut shapes: BTreeMap<String, Vec<String>>,
) -> Queried<InputTotals> {
    let rows: Vec<InputTotals> = listed
        .into_iter()
        .map(|entry| InputTotals {
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

fn findings(dataset: &Dataset) -> Result<Queried<FindingCode>, DatasetError> {
    const COLUMNS: [&str; 11] = [
        "code",
        "name",
        "severity",
        "count",
        "input",
        "entry",
        "line_number",
        "column_number",
        "json_path",
        "conversation_id",
        "message",
    ];
    let mut found: BTreeMap<String, FindingCode> = BTreeMap::new();
    dataset.scan("findings", &COLUMNS, &mut |batch| {
        let (codes, names) = (batch.texts("code")?, batch.texts("name")?);
        let (severities, counts) = (batch.texts("severity")?, batch.numbers("count")?);
        let (inputs, entries) = (batch.texts("input")?, batch.texts("entry")?);
        let (lines, columns) = (batch.numbers("line_number")?, batch.numbers("column_number")?);
        let (paths, ids) = (batch.texts("json_path")?, batch.texts("conversation_id")?);
        let messages = batch.texts("message")?;
        for row in 0..batch.rows() {
            let code = codes.at(row);
            if !found.contains_key(code) {
                found.insert(code.to_owned(), finding_code(code, names.at(row)));
            }
            let Some(entry) = found.get_mut(code) else {
                continue;
            };
            match severities.at(row) {
                "error" => entry.errors += counts.at(row),
                "warning" => entry.warnings += counts.at(row),
                _ => entry.notes += counts.at(row),
            }
            if entry.samples.len() < SAMPLES {
                entry.samples.push(Sample {
                    input: cut(inputs.at(row)),
                    entry: cut(entries.at(row)),
                    line_number: lines.get(row),
                    column_number: columns.get(row),
                    json_path: paths.get(row).map(cut),
                    conversation_id: ids.get(row).map(cut),
                    message: cut(messages.at(row)),
                });
            }
        }
        Ok(())
    })?;
    let mut rows: Vec<FindingCode> = found.into_values().collect();
    rows.sort_by_key(|row| std::cmp::Reverse((row.errors, row.warnings, row.notes)));
    Ok(Queried::new(queries::FINDINGS, rows, ROWS))
}

fn finding_code(code: &str, name: &str) -> FindingCode {
    let page = codes::find(code).map(|code| &code.page);
    FindingCode {
        code: code.to_owned(),
        name: name.to_owned(),
        what: page.map_or("", |page| page.what).to_owned(),
        fix: page.map_or("", |page| page.fix).to_owned(),
        ..FindingCode::default()
    }
}

fn references(dataset: &Dataset) -> Result<Queried<ReferenceStatus>, DatasetError> {
    let mut found: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    scan(
        dataset,
        "message_references",
        &["path", "status", "same_sender"],
        &mut |batch| {
            let (paths, statuses) = (batch.texts("path")?, batch.texts("status")?);
            let same = batch.flags("same_sender")?;
            let made = (0..batch.rows()).filter(|row| !paths.at(*row).contains('.'));
            for row in made {
                let counts = found.entry(statuses.at(row).to_owned()).or_default();
                counts.0 += 1;
                counts.1 += u64::from(same.at(row));
            }
            Ok(())
        },
    )?;
    let mut rows: Vec<ReferenceStatus> = found
        .into_iter()
        .map(|(status, (count, same_sender))| ReferenceStatus {
            status,
            count,
            same_sender,
        })
        .collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.count));
    Ok(Queried::new(queries::REFERENCES, rows, ROWS))
}

/// What the table of tool calls says.
struct ToolCalls {
    statuses: Vec<CallStatusTotals>,
    tools: Vec<Tool>,
    /// Rows per conversation, of those that have any.
    per_conversation: Spread,
}

fn tool_calls(dataset: &Dataset) -> Result<ToolCalls, DatasetError> {
    const COLUMNS: [&str; 5] = ["conversation_id", "name", "is_error", "status", "paired_by"];
    let mut statuses: BTreeMap<(String, Option<String>), u64> = BTreeMap::new();
    let mut tools: BTreeMap<Option<String>, Tool> = BTreeMap::new();
    let mut per_conversation = Spread::default();
    let mut here = (String::new(), 0);
    scan(dataset, "tool_calls", &COLUMNS, &mut |batch| {
        let (ids, names) = (batch.texts("conversation_id")?, batch.texts("name")?);
        let (failed, status) = (batch.flags("is_error")?, batch.texts("status")?);
        let paired_by = batch.texts("paired_by")?;
        for row in 0..batch.rows() {
            // The rows of one conversation are adjacent.
            if here.1 > 0 && here.0 != ids.at(row) {
                per_conversation.add(here.1);
                here.1 = 0;
            }
            if here.1 == 0 {
                ids.at(row).clone_into(&mut here.0);
            }
            here.1 += 1;
            let rule = paired_by.get(row).map(str::to_owned);
            *statuses.entry((status.at(row).to_owned(), rule)).or_default() += 1;
            let tool = tools.entry(names.get(row).map(cut)).or_default();
            tool.calls += 1;
            tool.unanswered += u64::from(status.at(row) == "unanswered");
            tool.failed += u64::from(failed.at(row));
        }
        Ok(())
    })?;
    if here.1 > 0 {
        per_conversation.add(here.1);
    }
    let mut statuses: Vec<CallStatusTotals> = statuses
        .into_iter()
        .map(|((status, paired_by), count)| CallStatusTotals {
            status,
            paired_by,
            count,
        })
        .collect();
    statuses.sort_by_key(|row| std::cmp::Reverse(row.count));
    let mut tools: Vec<Tool> = tools
        .into_iter()
        .map(|(name, tool)| Tool { name, ..tool })
        .collect();
    tools.sort_by_key(|tool| std::cmp::Reverse(tool.calls));
    Ok(ToolCalls {
        statuses,
        tools,
        per_conversation,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_cut_between_characters() {
        assert_eq!(cut("привіт"), "привіт");
        let long = "і".repeat(CHARACTERS + 1);
        assert_eq!(cut(&long).chars().count(), CHARACTERS + 1);
        assert!(cut(&long).ends_with('…'));
    }

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
