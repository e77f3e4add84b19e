//! Findings of a dataset, read once: by code, and by the inputs that are listed.

use std::collections::BTreeMap;

use chatmill_dataset::overview::cut;
use chatmill_dataset::{Dataset, DatasetError};
use chatmill_diag::codes;

use super::found::{FindingRow, Found};
use crate::judged::JudgedFile;
use crate::report::{FindingCode, InputTotals, Sample};

/// Findings that a report quotes per code.
const SAMPLES: usize = 3;

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

/// The codes of the findings, the worst first, and the listed inputs that have findings.
pub(super) fn findings(
    dataset: &Dataset,
    inputs: &[InputTotals],
) -> Result<(Vec<FindingCode>, Vec<JudgedFile>), DatasetError> {
    let mut by_code: BTreeMap<String, FindingCode> = BTreeMap::new();
    let mut by_input = Found::of(inputs);
    dataset.scan("findings", &COLUMNS, &mut |batch| {
        let (found, names) = (batch.texts("code")?, batch.texts("name")?);
        let (severities, counts) = (batch.texts("severity")?, batch.numbers("count")?);
        let (inputs, entries) = (batch.texts("input")?, batch.texts("entry")?);
        let (lines, columns) = (batch.numbers("line_number")?, batch.numbers("column_number")?);
        let (paths, ids) = (batch.texts("json_path")?, batch.texts("conversation_id")?);
        let messages = batch.texts("message")?;
        for row in 0..batch.rows() {
            let finding = FindingRow {
                code: found.at(row),
                name: names.at(row),
                severity: severities.at(row),
                count: counts.at(row),
                input: inputs.at(row),
                entry: entries.at(row),
                line: lines.get(row),
                column: columns.get(row),
                json_path: paths.get(row),
                conversation: ids.get(row),
                message: messages.at(row),
            };
            add(&mut by_code, &finding);
            by_input.add(&finding);
        }
        Ok(())
    })?;
    let mut rows: Vec<FindingCode> = by_code.into_values().collect();
    rows.sort_by_key(|row| std::cmp::Reverse((row.errors, row.warnings, row.notes)));
    Ok((rows, by_input.into_files()))
}

fn add(found: &mut BTreeMap<String, FindingCode>, row: &FindingRow<'_>) {
    if !found.contains_key(row.code) {
        found.insert(row.code.to_owned(), finding_code(row.code, row.name));
    }
    let Some(code) = found.get_mut(row.code) else {
        return;
    };
    match row.severity {
        "error" => code.errors += row.count,
        "warning" => code.warnings += row.count,
        _ => code.notes += row.count,
    }
    if code.samples.len() < SAMPLES {
        code.samples.push(Sample {
            input: cut(row.input),
            entry: cut(row.entry),
            line_number: row.line,
            column_number: row.column,
            json_path: row.json_path.map(cut),
            conversation_id: row.conversation.map(cut),
            message: cut(row.message),
        });
    }
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
