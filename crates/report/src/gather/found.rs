//! Findings of the inputs that a report lists, as its page shows them.

use std::collections::HashMap;

use chatmill_dataset::overview::cut;
use chatmill_dataset::{Dataset, DatasetError};
use chatmill_diag::{Code, Severity, codes};

use crate::judged::{JudgedFile, ShownFinding};
use crate::report::InputTotals;

/// Findings of one code that are shown of an input.
const OF_A_CODE: usize = 5;

/// Findings that are shown of all inputs together.
const OF_ALL: usize = 2_000;

/// The listed inputs that have findings, in the order of the list.
pub(super) fn found(dataset: &Dataset, inputs: &[InputTotals]) -> Result<Vec<JudgedFile>, DatasetError> {
    const COLUMNS: [&str; 10] = [
        "code",
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
    let listed = inputs.iter().filter(|input| input.findings > 0);
    let mut files: Vec<JudgedFile> = listed.map(judged).collect();
    let places: HashMap<String, usize> = files
        .iter()
        .enumerate()
        .map(|(place, file)| (file.path.clone(), place))
        .collect();
    let mut shown_of_all = 0;
    dataset.scan("findings", &COLUMNS, &mut |batch| {
        let [names, severities, inputs, entries] = [
            batch.texts("code")?,
            batch.texts("severity")?,
            batch.texts("input")?,
            batch.texts("entry")?,
        ];
        let counts = batch.numbers("count")?;
        let (lines, columns) = (batch.numbers("line_number")?, batch.numbers("column_number")?);
        let (paths, ids) = (batch.texts("json_path")?, batch.texts("conversation_id")?);
        let messages = batch.texts("message")?;
        for row in 0..batch.rows() {
            let place = places.get(&cut(inputs.at(row)));
            let file = place.and_then(|place| files.get_mut(*place));
            let (Some(file), Some(code)) = (file, codes::find(names.at(row))) else {
                continue;
            };
            let (severity, count) = (severity(severities.at(row)), counts.at(row));
            *match severity {
                Severity::Error => &mut file.errors,
                Severity::Warning => &mut file.warnings,
                Severity::Note => &mut file.notes,
            } += count;
            count_code(file, code, count);
            let shown = file.findings.iter().filter(|finding| finding.code == code);
            if shown.count() == OF_A_CODE || shown_of_all == OF_ALL {
                continue;
            }
            shown_of_all += 1;
            file.findings.push(ShownFinding {
                code,
                severity,
                count,
                key: shown_of_all.to_string(),
                place: position(entries.at(row), lines.get(row), columns.get(row)),
                json_path: paths.get(row).map(cut),
                conversation: ids.get(row).map(cut),
                message: cut(messages.at(row)),
            });
        }
        Ok(())
    })?;
    Ok(files)
}

fn judged(input: &InputTotals) -> JudgedFile {
    JudgedFile {
        path: input.path.clone(),
        bytes: Some(input.bytes),
        conversations: input.conversations,
        ..JudgedFile::default()
    }
}

fn severity(word: &str) -> Severity {
    match word {
        "error" => Severity::Error,
        "warning" => Severity::Warning,
        _ => Severity::Note,
    }
}

fn count_code(file: &mut JudgedFile, code: &'static Code, count: u64) {
    match file.codes.iter_mut().find(|(known, _)| *known == code) {
        Some((_, sum)) => *sum += count,
        None => file.codes.push((code, count)),
    }
}

/// Where a finding is inside its input, as far as is known.
fn position(entry: &str, line: Option<u64>, column: Option<u64>) -> String {
    let mut text = cut(entry);
    for number in [line, column].into_iter().flatten() {
        if !text.is_empty() {
            text.push(':');
        }
        text.push_str(&number.to_string());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_is_as_exact_as_the_finding() {
        assert_eq!(position("b.json", Some(3), Some(9)), "b.json:3:9");
        assert_eq!(position("", Some(3), None), "3");
        assert_eq!(position("", None, None), "");
    }
}
