//! The summary of a run, on one screen: inputs, findings, tokens, the path of the dataset, and the next steps.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use chatmill_dataset::overview::{Mix, MixSection, RenderingCount};
use chatmill_dataset::{InputEntry, Inputs};
use chatmill_engine::summary::{NOTHING_READ, REFUSED_INPUTS, TOO_MANY_ERRORS};
use chatmill_engine::{FindingCount, RunSummary};
use chatmill_export::ENVELOPES;
use chatmill_report::GroupKey;
use chatmill_report::token_table::{TokenRow, TokenTable, shows};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};

use crate::exit::Exit;
use crate::figures::{bytes, count, counted, duration, percent, quotient};
use crate::output::{self, harmless};
use crate::terminal;

/// The number of inputs up to which all are listed.
const INPUTS_SHOWN: usize = 4;
/// The number of inputs that are listed if there are more.
const INPUTS_FIRST: usize = 3;
/// The number of codes that are listed; the others are counted.
const CODES_SHOWN: usize = 5;
/// The number of the cheapest and of the most expensive dialects of vendors and trainers that are shown for the first coverage, if there
/// are many.
const FIRST_ENDS: [usize; 2] = [4, 2];
/// The same numbers for dialects of the house, and for all other coverages.
const OTHER_ENDS: [usize; 2] = [1, 1];

/// The summary of a run as text. `out` is the path of the dataset, as shown.
pub(super) fn describe(name: &str, out: &str, summary: &RunSummary, columns: usize) -> String {
    let totals = &summary.totals;
    let mut blocks = vec![
        headline(name, summary),
        inputs(summary, columns, terminal::shows_all()),
        findings(&totals.findings, columns),
    ];
    blocks.extend(tokens(
        &totals.overview.renderings,
        &whole_bill(out, summary),
        columns,
    ));
    blocks.push(verdict(out, summary));
    blocks.push(next_steps(out, summary));
    let summary = blocks.join("\n");
    if name == "demo" { summary + YOURS } else { summary }
}

/// The inputs and what happened to them, without tokens and next steps.
pub(in crate::commands) fn ledger(name: &str, summary: &RunSummary, columns: usize) -> String {
    let mut blocks = vec![
        headline(name, summary),
        inputs(summary, columns, terminal::shows_all()),
        findings(&summary.totals.findings, columns),
    ];
    if !summary.is_within_threshold() {
        blocks.push(format!("Verdict  {}\n", verdict_reason(summary)));
    }
    blocks.join("\n")
}

/// The fields of the last event of a run, in addition to the exit code.
pub(super) fn ending(out: &str, summary: &RunSummary) -> Map<String, Value> {
    let mut ending = Map::new();
    ending.insert("dataset".to_owned(), out.into());
    ending.insert("verdict".to_owned(), summary.manifest.verdict.as_str().into());
    ending.insert("conversations".to_owned(), summary.totals.conversations.into());
    ending.insert("rejected".to_owned(), summary.totals.rejected.into());
    ending
}

/// The summary for programs. Its inputs, which may be millions, are assembled while they are written.
pub(super) fn json(name: &str, out: &str, summary: &RunSummary, exit: Exit) -> impl Serialize {
    let totals = &summary.totals;
    RunJson {
        name: name.to_owned(),
        dataset: out.to_owned(),
        verdict: &summary.manifest.verdict,
        exit_code: exit.code(),
        fingerprint: &summary.manifest.fingerprint,
        seconds: summary.elapsed.map(|elapsed| elapsed.as_secs_f64()),
        inputs: InputList(&summary.manifest.inputs),
        refused_inputs: totals.refused_inputs,
        framed: totals.framed,
        accepted: totals.accepted,
        rejected: totals.rejected,
        filtered: totals.filtered,
        mix: totals.mix.as_ref(),
        conversations: totals.conversations,
        messages: totals.messages,
        renderings: totals.renderings,
        findings: &totals.findings,
        tokens: &totals.overview.renderings,
    }
}

#[derive(Serialize)]
struct RunJson<'s> {
    name: String,
    dataset: String,
    verdict: &'s str,
    exit_code: u8,
    fingerprint: &'s str,
    seconds: Option<f64>,
    inputs: InputList<'s>,
    refused_inputs: u64,
    framed: u64,
    accepted: u64,
    rejected: u64,
    filtered: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    mix: Option<&'s Mix>,
    conversations: u64,
    messages: u64,
    renderings: u64,
    findings: &'s BTreeMap<String, FindingCount>,
    tokens: &'s [RenderingCount],
}

/// The outcome of each input, in the order of the run.
struct InputList<'s>(&'s Inputs);

impl Serialize for InputList<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(|input| {
            json!({
                "path": input.path,
                "source": input.source,
                "bytes": input.bytes,
                "is_refused": input.is_refused(),
                "framed": input.framed,
                "accepted": input.accepted,
                "rejected": input.rejected,
                "filtered": input.filtered,
                "conversations": input.conversations,
                "findings": input.findings,
                "errors": input.errors,
            })
        }))
    }
}

fn headline(name: &str, summary: &RunSummary) -> String {
    let totals = &summary.totals;
    let ending = match summary.elapsed {
        Some(elapsed) => format!("in {}", duration(elapsed)),
        None => "(the dataset already exists, with the same plan and inputs; nothing was changed)".to_owned(),
    };
    format!(
        "{}: {}, {}, {}, {} {ending}\n",
        harmless(name),
        counted(summary.manifest.inputs.len() as u64, "input"),
        counted(totals.conversations, "conversation"),
        counted(totals.messages, "message"),
        counted(totals.renderings, "rendering"),
    )
}

/// The number of tables in the line of skipped rows.
const TABLES_SHOWN: usize = 6;

/// The line of skipped rows; empty without any.
fn skipped_rows(summary: &RunSummary) -> String {
    let mut rows: BTreeMap<String, u64> = BTreeMap::new();
    for (table, count) in summary
        .manifest
        .inputs
        .iter()
        .flat_map(|entry| entry.skipped_tables)
    {
        *rows.entry(table).or_default() += count;
    }
    if rows.is_empty() {
        return String::new();
    }
    let more = rows.len().saturating_sub(TABLES_SHOWN);
    let shown = rows.iter().take(TABLES_SHOWN);
    let mut tables: Vec<String> = shown
        .map(|(table, rows)| format!("{} of {}", count(*rows), harmless(table)))
        .collect();
    tables.extend((more > 0).then(|| format!("… and {more} more tables")));
    format!(
        "Skipped rows, because no map reads the table or a filter leaves them out: {}\n",
        tables.join(", ")
    )
}

fn inputs(summary: &RunSummary, columns: usize, shows_all: bool) -> String {
    let totals = &summary.totals;
    let entries = &summary.manifest.inputs;
    let header = [
        "Input", "source", "framed", "accepted", "rejected", "filtered", "findings", "errors",
    ];
    let shown = if entries.len() <= INPUTS_SHOWN || shows_all {
        entries.len()
    } else {
        INPUTS_FIRST
    };
    let mut rows: Vec<Vec<String>> = worst(entries, shown).iter().map(input_row).collect();
    if shown < entries.len() {
        let more = count((entries.len() - shown) as u64);
        rows.push(vec![format!("… and {more} more")]);
    }
    if entries.len() != 1 {
        let sum = |count: fn(&InputEntry) -> u64| entries.iter().map(|entry| count(&entry)).sum();
        rows.push(vec![
            format!("{} in total", counted(entries.len() as u64, "input")),
            String::new(),
            count(totals.framed),
            count(totals.accepted),
            count(totals.rejected),
            count(totals.filtered),
            count(sum(|entry| entry.findings)),
            count(sum(|entry| entry.errors)),
        ]);
    }
    let spare = ["filtered", "accepted", "source", "findings"];
    let mut text = output::fitted(header, rows, 2, &spare, columns);
    if !totals.filtered_by.is_empty() {
        let reasons: Vec<String> = totals
            .filtered_by
            .iter()
            .map(|(reason, records)| format!("{} by {}", count(*records), key(reason)))
            .collect();
        text.push_str(&format!("Filtered: {}\n", reasons.join(", ")));
    }
    text.extend(totals.mix.iter().flat_map(mix));
    let mut skipped: BTreeMap<String, u64> = BTreeMap::new();
    for (kind, files) in entries.iter().flat_map(|entry| entry.skipped_files) {
        *skipped.entry(kind).or_default() += files;
    }
    if !skipped.is_empty() {
        let kinds: Vec<String> = skipped
            .iter()
            .map(|(kind, files)| match kind.as_str() {
                "excluded" => format!("{} by exclude", count(*files)),
                kind => counted(*files, kind),
            })
            .collect();
        text.push_str(&format!(
            "Skipped, because they are not chats: {}\n",
            kinds.join(", ")
        ));
    }
    text.push_str(&skipped_rows(summary));
    if totals.unrenderable > 0 {
        text.push_str(&format!(
            "Not rendered: {}, because a participant of perspective.as is absent\n",
            counted(totals.unrenderable, "time")
        ));
    }
    if totals.without_turns > 0 {
        text.push_str(&format!(
            "Not rendered: {}, because the perspective has no turn to train on\n",
            counted(totals.without_turns, "time")
        ));
    }
    for (reason, turns) in &totals.skipped_targets {
        text.push_str(&format!(
            "Not trained on: {}, because {reason}\n",
            counted(*turns, "turn")
        ));
    }
    for (field, times) in &totals.unprompted {
        text.push_str(&format!(
            "No prompt: {}, because the conversation has no {field}; write {{{field}|other words}} for these\n",
            counted(*times, "time")
        ));
    }
    if totals.without_reasoning > 0 {
        text.push_str(&format!(
            "Reasoning: left out of {}; policy.reasoning = \"keep\" keeps it where the dialect has a place for it\n",
            counted(totals.without_reasoning, "rendering")
        ));
    }
    text
}

/// The shares that a mix asked for, and the result: a line for each section, and one for the total.
fn mix(mix: &Mix) -> Vec<String> {
    let retained: u64 = mix.sections.iter().map(|section| section.retained).sum();
    let weights: f64 = mix.sections.iter().filter_map(|section| section.weight).sum();
    let unit = harmless(&mix.unit);
    let section = |section: &MixSection| {
        let asked = section.weight.map(|weight| {
            let (asked, came) = (weight / weights, section.retained as f64 / retained.max(1) as f64);
            format!(" (asked for {:.1} %, got {:.1} %)", asked * 100.0, came * 100.0)
        });
        let (stays, found) = (count(section.retained), count(section.found));
        let first = harmless(&section.first);
        format!(
            "Mix: {stays} of {found} {unit} of {first}{}\n",
            asked.unwrap_or_default()
        )
    };
    let mut lines: Vec<String> = mix.sections.iter().map(section).collect();
    lines.extend(
        mix.total
            .map(|total| format!("Mix: {} {unit} of {} at most\n", count(retained), count(total))),
    );
    lines
}

/// The first `most` inputs, those with the most rejects first, then the most findings, then the most bytes. If all are listed, they have
/// this order, too.
fn worst(inputs: &Inputs, most: usize) -> Vec<InputEntry> {
    let mut first = BTreeMap::new();
    for (place, input) in inputs.iter().enumerate() {
        first.insert((Reverse((input.problems(), input.bytes)), place), input);
        if first.len() > most {
            first.pop_last();
        }
    }
    first.into_values().collect()
}

/// The key of the pipeline file that leaves out records for this reason.
pub(super) fn key(reason: &str) -> String {
    if reason.contains('.') {
        reason.to_owned()
    } else {
        format!("select.{reason}")
    }
}

fn input_row(entry: &InputEntry) -> Vec<String> {
    vec![
        harmless(&entry.path),
        entry.source.as_deref().map_or_else(|| "–".to_owned(), harmless),
        count(entry.framed),
        count(entry.accepted),
        count(entry.rejected),
        count(entry.filtered),
        count(entry.findings),
        count(entry.errors),
    ]
}

fn findings(findings: &BTreeMap<String, FindingCount>, columns: usize) -> String {
    if findings.is_empty() {
        return "No findings\n".to_owned();
    }
    let shown = worst_first(findings).into_iter().take(CODES_SHOWN);
    let rows = shown.map(|(code, found)| {
        let mut row = vec![harmless(&format!("{code} {}", found.name))];
        row.extend([found.errors, found.warnings, found.notes].map(count));
        row
    });
    let header = ["Finding", "errors", "warnings", "notes"];
    let mut text = output::fitted(header, rows, 1, &[], columns);
    let more = findings.len().saturating_sub(CODES_SHOWN);
    if more > 0 {
        text.push_str(&format!("and {}\n", counted(more as u64, "more code")));
    }
    text
}

/// The codes, those with the most errors first, then the most warnings, then the most notes.
fn worst_first(findings: &BTreeMap<String, FindingCount>) -> Vec<(&String, &FindingCount)> {
    let mut sorted: Vec<_> = findings.iter().collect();
    sorted.sort_by_key(|(_, found)| Reverse((found.errors, found.warnings, found.notes)));
    sorted
}

/// The command that prints all dialects with their prices. It needs tables that the dataset may not have.
fn whole_bill(out: &str, summary: &RunSummary) -> String {
    let out = harmless(out);
    let tables = ["renderings", "token_counts"];
    if tables.into_iter().any(|table| leaves_out(summary, table)) {
        format!("{out}/report.html")
    } else {
        format!("`chatmill tokens {out}`")
    }
}

/// Whether the dataset was made without a table.
fn leaves_out(summary: &RunSummary, table: &str) -> bool {
    let absent = &summary.manifest.absent_tables;
    absent.iter().any(|absent| absent == table)
}

/// A table by coverage, since bills can be compared only within one, sorted by tokens per message in the first encoding: the dialects of
/// vendors and trainers, then those of the house. Of many dialects, the cheapest and the most expensive are shown.
fn tokens(totals: &[RenderingCount], whole_bill: &str, columns: usize) -> Option<String> {
    let mut table: TokenTable<&RenderingCount> = TokenTable::new(&[]);
    for total in totals {
        let key = GroupKey {
            group: "",
            second: "",
            dialect: total.dialect.as_str(),
            profile: &total.profile,
            coverage: &total.coverage,
            encoding: &total.encoding,
        };
        *table.cell(key) = Some(total);
    }
    // If nothing is counted, there is a single encoding without a name.
    let names: Vec<String> = table.encodings.iter().map(|name| harmless(name)).collect();
    let is_counted = names.iter().any(|name| !name.is_empty());
    let mut header = vec![if is_counted { "Tokens" } else { "Renderings" }, "of"];
    for name in names.iter().filter(|name| !name.is_empty()) {
        header.extend([name.as_str(), "per message"]);
    }
    header.extend(["bytes", "invalid", "losses"]);
    let mut rows: Vec<Vec<String>> = Vec::new();
    let mut folded = 0;
    for (number, group) in table.coverages.iter().enumerate() {
        let sorted = group.by_price(|row| price(row, is_counted)).into_iter();
        let (house, field): (Vec<_>, Vec<_>) = sorted.partition(|row| is_of_house(row));
        for (block, ends) in [(field, FIRST_ENDS), (house, OTHER_ENDS)] {
            let [cheapest, priciest] = if number == 0 { ends } else { OTHER_ENDS };
            // A line about one omitted dialect would take as much space as the dialect.
            let between = if block.len() > cheapest + priciest + 1 {
                cheapest..block.len() - priciest
            } else {
                0..0
            };
            folded += between.len();
            for (rank, row) in block.into_iter().enumerate() {
                if rank == between.start && !between.is_empty() {
                    let more = counted(between.len() as u64, "more dialect");
                    rows.push(vec![format!("… {more}")]);
                }
                if !between.contains(&rank) {
                    rows.push(token_row(row, &group.coverage, &table.encodings));
                }
            }
        }
    }
    if rows.is_empty() {
        return None;
    }
    // The rows are sorted by the first encoding, so its columns are the last to be left out.
    let later = names.iter().skip(1).rev().map(String::as_str);
    let spare = later.flat_map(|name| ["per message", name]);
    let spare: Vec<&str> = ["losses", "bytes"].into_iter().chain(spare).collect();
    let mut text = output::fitted(header, rows, 2, &spare, columns);
    if folded > 0 {
        text.push_str(&format!(
            "cheapest and most expensive dialects shown; {whole_bill} lists all\n"
        ));
    }
    Some(text)
}

/// Whether the dialect of a row belongs to a system for which chatmill was first written.
fn is_of_house<C>(row: &TokenRow<C>) -> bool {
    let id = row
        .target
        .split_once('@')
        .map_or(row.target.as_str(), |(id, _)| id);
    chatmill_dialect::is_house(id)
}

/// Tokens per message in the first encoding, or bytes if nothing is counted. Dialects without messages have no price and are sorted last.
fn price(row: &TokenRow<&RenderingCount>, is_counted: bool) -> f64 {
    match row.cell(0) {
        Some(cell) if cell.messages_rendered > 0 => {
            let amount = if is_counted { cell.tokens } else { cell.bytes };
            amount as f64 / cell.messages_rendered as f64
        }
        _ => f64::INFINITY,
    }
}

fn token_row(row: &TokenRow<&RenderingCount>, coverage: &str, encodings: &[String]) -> Vec<String> {
    let mut line = vec![harmless(&row.target), harmless(shows(coverage))];
    for (place, encoding) in encodings.iter().enumerate() {
        if !encoding.is_empty() {
            let cell = row.cell(place);
            let tokens = cell.map_or(0, |cell| cell.tokens);
            line.extend([
                count(tokens),
                quotient(tokens, cell.map_or(0, |cell| cell.messages_rendered)),
            ]);
        }
    }
    // Columns that do not depend on the encoding are taken from the first.
    let (size, invalid, losses) = row
        .cell(0)
        .map_or((0, 0, 0), |cell| (cell.bytes, cell.invalid, cell.losses));
    line.extend([bytes(size), count(invalid), count(losses)]);
    line
}

fn verdict(out: &str, summary: &RunSummary) -> String {
    let tables = &summary.manifest.tables;
    let sums = tables.iter();
    let (rows, size) = sums.fold((0, 0), |(rows, size), table| {
        (rows + table.rows, size + table.bytes)
    });
    let out = harmless(out);
    let dataset = format!(
        "Dataset  {out}  ({}, {}, {})\nReport   {out}/report.html\n",
        counted(tables.len() as u64, "table"),
        counted(rows, "row"),
        bytes(size)
    );
    let absent = &summary.manifest.absent_tables;
    let dataset = if absent.is_empty() {
        dataset
    } else {
        format!(
            "{dataset}Without  {} (left out by [output] tables)\n",
            absent.join(", ")
        )
    };
    if summary.is_within_threshold() {
        return dataset;
    }
    format!("{dataset}Verdict  {}\n", verdict_reason(summary))
}

/// The reason for the exit code 1.
fn verdict_reason(summary: &RunSummary) -> String {
    let totals = &summary.totals;
    let limit = |key: &str| summary.manifest.plan.pointer(&format!("/limits/{key}"));
    match summary.manifest.verdict.as_str() {
        NOTHING_READ => {
            return "nothing was read: no input holds a conversation. The dataset is complete, but empty."
                .to_owned();
        }
        REFUSED_INPUTS => {
            let allowed = limit("refused_inputs").and_then(Value::as_u64);
            return format!(
                "{} refused, and limits.refused_inputs allows {}: no source reads them, or they cannot be opened. The dataset \
                 is complete without them; `chatmill check` reports why.",
                counted(totals.refused_inputs, "input"),
                count(allowed.unwrap_or_default()),
            );
        }
        TOO_MANY_ERRORS => {
            let allowed = limit("max_error_findings").and_then(Value::as_u64);
            return format!(
                "too many errors: {}, and limits.max_error_findings allows {}. The dataset is complete; the table findings lists \
                 the errors.",
                counted(totals.error_findings(), "error finding"),
                count(allowed.unwrap_or_default()),
            );
        }
        _ => {}
    }
    let allowed = limit("max_reject_ratio").and_then(Value::as_f64);
    let rejected = totals.rejected as f64 / totals.framed.max(1) as f64;
    format!(
        "too many rejects: {} of {} ({}), and limits.max_reject_ratio allows {}. The dataset is complete without them.",
        count(totals.rejected),
        counted(totals.framed, "record"),
        percent(rejected),
        percent(allowed.unwrap_or_default()),
    )
}

fn next_steps(out: &str, summary: &RunSummary) -> String {
    let out = harmless(out);
    let mut text = format!("Next     chatmill certify {out}\n");
    if summary.totals.renderings > 0 && !leaves_out(summary, "renderings") {
        text.push_str(&format!(
            "         duckdb -c \"SELECT dialect, content FROM '{out}/renderings/**/*.parquet' LIMIT 5\"\n"
        ));
        text.push_str(&export_step(&out, summary).unwrap_or_default());
    }
    if let Some((code, _)) = worst_first(&summary.totals.findings).first() {
        text.push_str(&format!(
            "         duckdb -c \"SELECT code, input, line_number, message FROM '{out}/findings/*.parquet' LIMIT 20\"\n"
        ));
        text.push_str(&format!("         chatmill explain {code}\n"));
    }
    text
}

/// The next steps after the demo.
const YOURS: &str = "\
Yours    chatmill check FILES                                   your own files
         chatmill convert FILES --to trl-messages --out train
";

/// The command that makes a file for training, if one of the dialects is a trainer's.
fn export_step(out: &str, summary: &RunSummary) -> Option<String> {
    let tokens = &summary.totals.overview.renderings;
    let has = |dialect: &&&str| tokens.iter().any(|total| total.dialect == **dialect);
    let mut fitting = ENVELOPES
        .iter()
        .filter_map(|envelope| Some((envelope.id, envelope.dialects.iter().find(has)?)));
    let (envelope, dialect) = fitting.next()?;
    Some(format!(
        "         chatmill export {out} --dialect {dialect} --envelope {envelope} --format jsonl --valid --out {envelope}\n"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use chatmill_dataset::Manifest;
    use chatmill_engine::summary::{RunTotals, TOO_MANY_REJECTS};
    use std::path::PathBuf;
    use std::time::Duration;

    fn describe(name: &str, out: &str, summary: &RunSummary) -> String {
        super::describe(name, out, summary, usize::MAX)
    }

    fn tokens(totals: &[RenderingCount], whole_bill: &str) -> Option<String> {
        super::tokens(totals, whole_bill, usize::MAX)
    }

    fn total(dialect: &str, encoding: &str, coverage: &str, tokens: u64) -> RenderingCount {
        RenderingCount {
            dialect: dialect.into(),
            profile: "document".into(),
            encoding: encoding.into(),
            coverage: coverage.into(),
            bytes: 1_000,
            messages_rendered: 10,
            tokens,
            invalid: 1,
            losses: 2,
            ..RenderingCount::default()
        }
    }

    fn summary(inputs: usize, codes: usize) -> RunSummary {
        let findings = (0..codes)
            .map(|n| {
                let found = FindingCount {
                    name: format!("name-{n}"),
                    errors: n as u64,
                    warnings: 0,
                    notes: 1,
                    ..FindingCount::default()
                };
                (format!("XX{n:03}"), found)
            })
            .collect();
        let entry = |n: usize| InputEntry {
            path: format!("input-{n}.json"),
            framed: 2,
            ..InputEntry::default()
        };
        RunSummary {
            out: PathBuf::from("out/demo"),
            manifest: Manifest {
                inputs: (0..inputs).map(entry).collect(),
                verdict: TOO_MANY_REJECTS.into(),
                plan: serde_json::json!({"limits": {"max_reject_ratio": 0.1}}),
                ..Manifest::default()
            },
            totals: RunTotals {
                framed: 4,
                rejected: 1,
                findings,
                ..RunTotals::default()
            },
            elapsed: Some(Duration::from_secs(2)),
        }
    }

    #[test]
    fn a_few_inputs_have_a_line_each_and_of_many_the_first() {
        let few = describe("demo", "out/demo", &summary(4, 0));
        assert!(
            few.contains("input-3.json") && few.contains("4 inputs in total") && !few.contains('…'),
            "{few}"
        );
        let many = describe("demo", "out/demo", &summary(1_013, 0));
        assert!(
            many.contains("input-2.json") && !many.contains("input-3.json"),
            "{many}"
        );
        assert!(
            many.contains("… and 1,010 more") && many.contains("1,013 inputs in total"),
            "{many}"
        );
        assert!(many.lines().count() < 24, "{many}");
    }

    #[test]
    fn what_is_broken_comes_first_and_the_largest_of_the_rest() {
        let mut summary = summary(12, 0);
        for (index, rejected, errors, bytes) in [
            (11, 1, 0, 1),
            (9, 0, 2, 1),
            (10, 3, 0, 1),
            (4, 0, 0, 9),
            (5, 0, 1, 99),
        ] {
            summary.manifest.inputs.change(index, |input| {
                (input.rejected, input.errors, input.bytes) = (rejected, errors, bytes);
            });
        }
        let names = |shows_all| {
            let text = inputs(&summary, usize::MAX, shows_all);
            let words = text
                .lines()
                .filter_map(|line| line.split_once(".json")?.0.split_once('-'));
            words
                .map(|(_, number)| number.parse().unwrap())
                .collect::<Vec<usize>>()
        };
        assert_eq!(names(false), [10, 11, 9]);
        assert_eq!(names(true), [10, 11, 9, 5, 4, 0, 1, 2, 3, 6, 7, 8]);
    }

    #[test]
    fn programs_get_every_input_with_its_counts() {
        let mut summary = summary(5, 0);
        summary.manifest.inputs.change(3, |input| {
            (input.rejected, input.errors) = (2, 2);
        });
        let json = serde_json::to_value(json("demo", "out/demo", &summary, Exit::Failed)).unwrap();
        assert_eq!(json["inputs"].as_array().unwrap().len(), 5);
        let input = &json["inputs"][3];
        assert_eq!(input["path"], "input-3.json");
        for (key, value) in [("framed", 2), ("rejected", 2), ("errors", 2), ("accepted", 0)] {
            assert_eq!(input[key], value, "{key}");
        }
        assert_eq!(input["is_refused"], true);
    }

    #[test]
    fn the_worst_codes_come_first_and_the_rest_is_counted() {
        let text = describe("demo", "out/demo", &summary(1, 15));
        assert!(text.contains("and 10 more codes"), "{text}");
        let worst = text.find("XX014 name-14").unwrap();
        assert!(worst < text.find("XX013 name-13").unwrap());
        assert!(
            !text.contains("name-2\n") && text.contains("chatmill explain XX014"),
            "{text}"
        );
    }

    #[test]
    fn a_breached_threshold_is_reported_with_both_ratios() {
        let text = describe("demo", "out/demo", &summary(1, 0));
        assert!(
            text.contains("1 of 4 records (25 %), and limits.max_reject_ratio allows 10 %"),
            "{text}"
        );
    }

    #[test]
    fn every_verdict_but_complete_is_explained() {
        let mut summary = summary(1, 4);
        summary.manifest.verdict = TOO_MANY_ERRORS.into();
        let text = describe("demo", "out/demo", &summary);
        assert!(
            text.contains("6 error findings, and limits.max_error_findings allows 0"),
            "{text}"
        );
        summary.manifest.verdict = REFUSED_INPUTS.into();
        summary.totals.refused_inputs = 2;
        let text = describe("demo", "out/demo", &summary);
        assert!(
            text.contains("2 inputs refused, and limits.refused_inputs allows 0"),
            "{text}"
        );
        summary.manifest.verdict = NOTHING_READ.into();
        let text = describe("demo", "out/demo", &summary);
        assert!(text.contains("no input holds a conversation"), "{text}");
        summary.manifest.verdict = chatmill_engine::summary::COMPLETE.into();
        assert!(!describe("demo", "out/demo", &summary).contains("Verdict"));
    }

    #[test]
    fn a_dataset_that_existed_before_is_reported_as_unchanged() {
        let finished = RunSummary {
            elapsed: None,
            ..summary(1, 0)
        };
        assert!(describe("demo", "out/demo", &finished).contains("nothing was changed"));
    }

    #[test]
    fn encodings_stand_side_by_side_and_coverages_together() {
        let table = tokens(
            &[
                total("openai-chat", "a_base", "whole", 75),
                total("openai-chat", "b_base", "whole", 90),
                total("tzurot", "a_base", "single-turn", 7),
                total("tzurot", "b_base", "single-turn", 8),
                total("group-chat", "a_base", "whole", 9),
            ],
            "out/demo",
        )
        .unwrap();
        let rows: Vec<Vec<&str>> = table
            .lines()
            .map(|line| line.split_whitespace().collect())
            .collect();
        let chat = [
            "openai-chat",
            "all",
            "messages",
            "75",
            "7.5",
            "90",
            "9.0",
            "1.00",
            "kB",
            "1",
            "2",
        ];
        assert_eq!(rows.get(2).unwrap(), &chat, "{table}");
        assert_eq!(
            rows.get(3).unwrap().first(),
            Some(&"group-chat"),
            "the rows of a coverage are together: {table}"
        );
        assert_eq!(rows.get(4).unwrap().first(), Some(&"tzurot"), "{table}");
    }

    #[test]
    fn without_an_encoding_bytes_and_losses_remain() {
        let table = tokens(&[total("openai-chat", "", "whole", 0)], "out/demo").unwrap();
        let row: Vec<&str> = table.lines().last().unwrap().split_whitespace().collect();
        assert_eq!(row, ["openai-chat", "all", "messages", "1.00", "kB", "1", "2"]);
        assert!(tokens(&[], "out/demo").is_none());
    }

    #[test]
    fn of_many_dialects_the_cheapest_and_the_most_expensive_are_shown() {
        let names: Vec<String> = (0..20).map(|n| format!("dialect-{n:02}")).collect();
        // The order of the registry differs from that of the prices.
        let price = |n: usize| (n as u64 * 7) % 20 * 10;
        let totals: Vec<RenderingCount> = names
            .iter()
            .enumerate()
            .flat_map(|(n, name)| {
                ["a_base", "b_base"].map(|encoding| total(name, encoding, "whole", price(n)))
            })
            .collect();
        let table = tokens(&totals, "`chatmill tokens out/demo`").unwrap();
        assert_eq!(
            first_words(&table),
            [
                "dialect-00",
                "dialect-03",
                "dialect-06",
                "dialect-09",
                "…",
                "dialect-14",
                "dialect-17",
                "cheapest"
            ],
            "{table}"
        );
        assert!(
            table.contains("… 14 more dialects") && table.contains("chatmill tokens out/demo"),
            "{table}"
        );
    }

    /// The first word of each row.
    fn first_words(table: &str) -> Vec<&str> {
        let rows = table.lines().skip(2);
        rows.map(|line| line.split_whitespace().next().unwrap()).collect()
    }

    #[test]
    fn dialects_of_vendors_come_before_those_of_the_house_and_the_cheaper_one_first() {
        let tokens_of = [
            ("group-chat", 9),
            ("suna-llm@core", 8),
            ("openai-chat", 75),
            ("sharegpt", 70),
            ("tzurot", 7),
            ("suna-rows", 10),
            ("gryag-compact", 6),
        ];
        let totals = tokens_of.map(|(dialect, tokens)| total(dialect, "a_base", "whole", tokens));
        let table = tokens(&totals, "out/demo").unwrap();
        assert_eq!(
            first_words(&table),
            [
                "sharegpt",
                "openai-chat",
                "gryag-compact",
                "…",
                "suna-rows",
                "cheapest"
            ],
            "{table}"
        );
    }

    #[test]
    fn what_is_left_out_is_named_and_no_next_step_needs_it() {
        let mut summary = summary(1, 0);
        summary.totals.renderings = 4;
        assert!(describe("demo", "out/demo", &summary).contains("/renderings/"));
        summary.manifest.absent_tables = vec!["renderings".into(), "losses".into()];
        let text = describe("demo", "out/demo", &summary);
        assert!(
            text.contains("Without  renderings, losses (left out by [output] tables)\n"),
            "{text}"
        );
        assert!(!text.contains("/renderings/"), "{text}");
        assert_eq!(whole_bill("out/demo", &summary), "out/demo/report.html");
    }

    #[test]
    fn a_run_with_much_of_everything_fits_one_screen() {
        let mut summary = summary(1_013, 30);
        let coverages = ["whole", "window", "single-turn"];
        summary.totals.overview.renderings = (0..40)
            .map(|n| {
                total(
                    &format!("dialect-{n}"),
                    "a_base",
                    coverages[usize::from(n > 30) + usize::from(n > 38)],
                    n,
                )
            })
            .collect();
        summary.totals.renderings = 1;
        let text = describe("nightly", "out/nightly", &summary);
        assert!(!text.contains(YOURS));
        assert!(describe("demo", "out/demo", &summary).ends_with(YOURS));
        assert!(YOURS.lines().all(|line| line.len() <= 80));
        assert!(
            text.lines().count() <= 42,
            "{} lines\n{text}",
            text.lines().count()
        );
    }

    #[test]
    fn a_narrow_terminal_keeps_the_first_encoding() {
        let totals = [
            total("openai-chat", "a_base", "whole", 100),
            total("openai-chat", "b_base", "whole", 120),
        ];
        let narrow = super::tokens(&totals, "`chatmill tokens out/demo`", 62).unwrap();
        assert!(
            narrow.contains("a_base") && !narrow.contains("b_base"),
            "{narrow}"
        );
        assert!(narrow.contains("--wide shows all"), "{narrow}");
        assert!(narrow.lines().all(|line| line.chars().count() <= 62), "{narrow}");
    }
}
