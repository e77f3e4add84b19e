//! The history: a row for each night that ended, as a Parquet file has it.

use chatmill_dataset::{FreeCell, FreeKind};

use super::{NightRecord, NightState};
use crate::numbers::whole;

/// The columns, in their order.
pub const HISTORY_COLUMNS: [(&str, FreeKind); 21] = [
    ("night", FreeKind::Text),
    ("state", FreeKind::Word),
    ("pipeline", FreeKind::Word),
    ("version", FreeKind::Word),
    ("began_at", FreeKind::Text),
    ("ended_at", FreeKind::Text),
    ("seconds", FreeKind::Number),
    ("exit_code", FreeKind::Number),
    ("verdict", FreeKind::Word),
    ("against", FreeKind::Text),
    ("inputs", FreeKind::Number),
    ("conversations", FreeKind::Number),
    ("messages", FreeKind::Number),
    ("framed", FreeKind::Number),
    ("rejected", FreeKind::Number),
    ("rejects", FreeKind::Number),
    ("errors", FreeKind::Number),
    ("warnings", FreeKind::Number),
    ("tokens", FreeKind::Json),
    ("money", FreeKind::Json),
    ("objections", FreeKind::Json),
];

/// The value of a cell.
enum Value {
    Text(Option<String>),
    Number(Option<u64>),
}

/// A row of the history.
pub struct HistoryRow(Vec<Value>);

impl HistoryRow {
    /// The cells, in the order of the columns.
    pub fn cells(&self) -> Vec<FreeCell<'_>> {
        let cells = self.0.iter().map(|value| match value {
            Value::Text(Some(text)) => FreeCell::Text(text),
            Value::Number(Some(number)) => FreeCell::Number(*number),
            Value::Text(None) | Value::Number(None) => FreeCell::Missing,
        });
        cells.collect()
    }
}

/// The rows of the nights that ended, in the order of the records.
pub fn history_rows(records: &[NightRecord]) -> Vec<HistoryRow> {
    let ended = records.iter().filter(|record| record.state != NightState::Begun);
    ended.map(row).collect()
}

fn row(record: &NightRecord) -> HistoryRow {
    let figures = record.figures.as_ref();
    let text = |text: &str| Value::Text(Some(text.to_owned()));
    let json = |value: Option<serde_json::Result<String>>| Value::Text(value.and_then(Result::ok));
    HistoryRow(vec![
        text(&record.night),
        text(record.state.word()),
        text(&record.pipeline),
        text(&record.version),
        text(&record.began_at),
        Value::Text(record.ended_at.clone()),
        Value::Number(record.seconds.map(|seconds| whole(seconds.round()))),
        Value::Number(record.exit_code.map(u64::from)),
        Value::Text(record.verdict.clone()),
        Value::Text(record.against.clone()),
        Value::Number(figures.map(|figures| figures.inputs)),
        Value::Number(figures.map(|figures| figures.conversations)),
        Value::Number(figures.map(|figures| figures.messages)),
        Value::Number(figures.map(|figures| figures.framed)),
        Value::Number(figures.map(|figures| figures.rejected)),
        Value::Number(figures.map(|figures| figures.rejects)),
        Value::Number(figures.map(|figures| figures.errors)),
        Value::Number(figures.map(|figures| figures.warnings)),
        json(figures.map(|figures| serde_json::to_string(&figures.tokens))),
        json(figures.map(|figures| serde_json::to_string(&figures.money))),
        json(Some(serde_json::to_string(&record.objections))),
    ])
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
            exit_code: Some(1),
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
        let rows = history_rows(&[ended, NightRecord::default(), failed]);
        assert_eq!(rows.len(), 2);
        for row in &rows {
            let cells = row.cells();
            assert_eq!(cells.len(), HISTORY_COLUMNS.len());
            for (cell, (name, kind)) in cells.iter().zip(HISTORY_COLUMNS) {
                let is_number = matches!(cell, FreeCell::Number(_));
                assert!(
                    *cell == FreeCell::Missing || is_number == (kind == FreeKind::Number),
                    "{name}"
                );
            }
        }
        let cells = rows[0].cells();
        assert_eq!(cells[1], FreeCell::Text("objected"));
        assert_eq!(cells[11], FreeCell::Number(7));
        assert_eq!(cells[20], FreeCell::Text("[\"rejects > 0: rejects: 3\"]"));
        assert_eq!(rows[1].cells()[11], FreeCell::Missing);
    }
}
