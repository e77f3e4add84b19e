//! The history of a store: a row for each night that ended, for a Parquet file.

use chatmill_dataset::{FreeCell, FreeKind};
use serde_json::Value;

use super::{NightRecord, NightState};
use crate::numbers::whole;

/// The columns in order: fields of a record, and of its figures.
const COLUMNS: [(&str, FreeKind); 21] = [
    ("/night", FreeKind::Text),
    ("/state", FreeKind::Word),
    ("/pipeline", FreeKind::Word),
    ("/version", FreeKind::Word),
    ("/began_at", FreeKind::Text),
    ("/ended_at", FreeKind::Text),
    ("/seconds", FreeKind::Number),
    ("/exit_code", FreeKind::Number),
    ("/verdict", FreeKind::Word),
    ("/against", FreeKind::Text),
    ("/figures/inputs", FreeKind::Number),
    ("/figures/conversations", FreeKind::Number),
    ("/figures/messages", FreeKind::Number),
    ("/figures/framed", FreeKind::Number),
    ("/figures/rejected", FreeKind::Number),
    ("/figures/rejects", FreeKind::Number),
    ("/figures/errors", FreeKind::Number),
    ("/figures/warnings", FreeKind::Number),
    ("/figures/tokens", FreeKind::Json),
    ("/figures/money", FreeKind::Json),
    ("/objections", FreeKind::Json),
];

/// The nights that ended, in the order of their records.
pub struct History {
    /// The names and types of the columns.
    pub columns: Vec<(String, FreeKind)>,
    rows: Vec<[Value; COLUMNS.len()]>,
}

impl History {
    /// The history of these records; nights that have not ended are left out.
    pub fn of(records: &[NightRecord]) -> serde_json::Result<Self> {
        let name = |field: &str| field.rsplit('/').next().unwrap_or(field).to_owned();
        let ended = records.iter().filter(|record| record.state != NightState::Begun);
        Ok(Self {
            columns: COLUMNS.map(|(field, kind)| (name(field), kind)).into(),
            rows: ended.map(row).collect::<Result<_, _>>()?,
        })
    }

    /// The cells of each row, in the order of the columns.
    pub fn cells(&self) -> Vec<Vec<FreeCell<'_>>> {
        let rows = self.rows.iter();
        rows.map(|row| row.iter().map(cell).collect()).collect()
    }
}

fn row(record: &NightRecord) -> serde_json::Result<[Value; COLUMNS.len()]> {
    let record = serde_json::to_value(record)?;
    Ok(COLUMNS.map(|(field, _)| match record.pointer(field) {
        Some(list @ Value::Array(_)) => Value::String(list.to_string()),
        value => value.cloned().into(),
    }))
}

fn cell(value: &Value) -> FreeCell<'_> {
    match value {
        Value::String(text) => FreeCell::Text(text),
        Value::Number(number) => match (number.as_u64(), number.as_f64()) {
            (Some(number), _) => FreeCell::Number(number),
            (None, Some(number)) => FreeCell::Number(whole(number.round())),
            (None, None) => FreeCell::Missing,
        },
        _ => FreeCell::Missing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::RunFigures;

    #[test]
    fn a_row_has_a_cell_for_each_column_and_a_night_that_runs_has_none() {
        let ended = NightRecord {
            night: "2026-11-22T021500Z".to_owned(),
            state: NightState::Objected,
            ended_at: Some("2026-11-22T021600Z".to_owned()),
            seconds: Some(65.5),
            exit_code: Some(1),
            verdict: Some("complete".to_owned()),
            against: Some("2026-11-21T021500Z".to_owned()),
            figures: Some(RunFigures {
                conversations: 7,
                ..RunFigures::default()
            }),
            objections: vec!["rejects > 0: rejects: 3".to_owned()],
            ..NightRecord::default()
        };
        let failed = NightRecord {
            state: NightState::Failed,
            ..NightRecord::default()
        };
        let history = History::of(&[ended, NightRecord::default(), failed]).unwrap();
        let (columns, rows) = (&history.columns, history.cells());
        assert_eq!(rows.len(), 2);
        for cells in &rows {
            assert_eq!(cells.len(), columns.len());
            for (cell, (name, kind)) in cells.iter().zip(columns) {
                let is_number = matches!(cell, FreeCell::Number(_));
                assert!(
                    *cell == FreeCell::Missing || is_number == (*kind == FreeKind::Number),
                    "{name}"
                );
            }
        }
        let cells = &rows[0];
        assert!(!cells.contains(&FreeCell::Missing), "every column names a field");
        assert_eq!(cells[6], FreeCell::Number(66));
        assert_eq!(cells[1], FreeCell::Text("objected"));
        assert_eq!(cells[11], FreeCell::Number(7));
        assert_eq!(cells[20], FreeCell::Text("[\"rejects > 0: rejects: 3\"]"));
        assert_eq!(rows[1][11], FreeCell::Missing);
    }
}
