//! Reads the findings of a dataset once: by code, and for the listed inputs.

use std::collections::BTreeMap;

use chatmill_dataset::overview::cut;
use chatmill_dataset::{Dataset, DatasetError};
use chatmill_diag::codes;

use super::found::{FindingColumns, Found};
use crate::checked::CheckedFile;
use crate::report::{FindingCode, InputTotals, Sample};

/// The number of findings that a report quotes per code.
const SAMPLES: usize = 3;

/// The codes of the findings, the worst first, and the listed inputs that have findings.
pub(super) fn findings(
    dataset: &Dataset,
    inputs: &[InputTotals],
) -> Result<(Vec<FindingCode>, Vec<CheckedFile>), DatasetError> {
    let mut by_code: BTreeMap<String, FindingCode> = BTreeMap::new();
    let mut by_input = Found::of(inputs);
    dataset.each_row("findings", &mut |found: &FindingColumns, row| {
        add(&mut by_code, found, row);
        by_input.add(found, row);
    })?;
    let mut rows: Vec<FindingCode> = by_code.into_values().collect();
    rows.sort_by_key(|row| std::cmp::Reverse((row.errors, row.warnings, row.notes)));
    Ok((rows, by_input.into_files()))
}

fn add(codes: &mut BTreeMap<String, FindingCode>, found: &FindingColumns, row: usize) {
    let code = found.code.at(row);
    let known = codes.entry(code.to_owned());
    let code = known.or_insert_with(|| finding_code(code, found.name.at(row)));
    *match found.severity.at(row) {
        "error" => &mut code.errors,
        "warning" => &mut code.warnings,
        _ => &mut code.notes,
    } += found.count.at(row);
    if code.samples.len() < SAMPLES {
        code.samples.push(Sample {
            input: cut(found.input.at(row)),
            entry: cut(found.entry.at(row)),
            line_number: found.line_number.get(row),
            column_number: found.column_number.get(row),
            json_path: found.json_path.get(row).map(cut),
            conversation_id: found.conversation_id.get(row).map(cut),
            message: cut(found.message.at(row)),
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
