//! The note of a night: about ten lines of Markdown for users, and the record as JSON for programs.

use std::collections::BTreeSet;

use chatmill_model::target_name;
use serde::{Deserialize, Serialize};

use super::NightRecord;
use crate::figures::RunFigures;
use crate::report::Comparison;
use crate::templates::{TemplateError, fill};

/// The number of listed changes of tokens, and of money; the largest changes are listed.
const CELLS: usize = 3;

/// A code of findings that the earlier night did not have.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewCode {
    /// The code.
    pub code: String,
    /// The name of the code.
    pub name: String,
    /// Occurrences.
    pub count: u64,
}

/// The codes that only the later run has, errors first.
pub fn new_codes(comparison: &Comparison) -> Vec<NewCode> {
    let known: BTreeSet<&str> = comparison
        .findings
        .iter()
        .filter(|change| change.count.before > 0)
        .map(|change| change.code.as_str())
        .collect();
    let new = comparison
        .findings
        .iter()
        .filter(|change| change.count.after > 0 && !known.contains(change.code.as_str()));
    new.map(|change| NewCode {
        code: change.code.clone(),
        name: change.name.clone(),
        count: change.count.after,
    })
    .collect()
}

/// The note of a night.
pub struct NightNote<'n>(pub &'n NightRecord);

/// The fields of the template.
#[derive(Serialize)]
struct NoteFields<'n> {
    #[serde(flatten)]
    record: &'n NightRecord,
    tokens: Cells<'n, u64>,
    money: Cells<'n, f64>,
}

/// The cells with the largest changes.
#[derive(Serialize)]
struct Cells<'n, V> {
    cells: Vec<Cell<'n, V>>,
    /// The number of cells that are not listed.
    more: usize,
}

/// The tokens or money of a dialect.
#[derive(Serialize)]
struct Cell<'n, V> {
    target: String,
    /// An encoding or a model.
    unit: &'n str,
    currency: &'n str,
    before: Option<V>,
    after: V,
    /// The relative change since the earlier night; infinite for a new cell.
    #[serde(skip)]
    change: f64,
}

impl NightNote<'_> {
    /// The note for programs: the record as indented JSON.
    pub fn json(&self) -> serde_json::Result<String> {
        Ok(serde_json::to_string_pretty(self.0)? + "\n")
    }

    /// The note for users: about ten lines of Markdown.
    pub fn markdown(&self) -> Result<String, TemplateError> {
        let none = RunFigures::default();
        let after = self.0.figures.as_ref().unwrap_or(&none);
        let before = self.0.before.as_ref().unwrap_or(&none);
        // A run that counts nothing has cells without an encoding.
        let counted = after.tokens.iter().filter(|figure| !figure.encoding.is_empty());
        let tokens = counted.map(|figure| {
            let was = before.tokens.iter().find(|other| other.key() == figure.key());
            let was = was.map(|was| was.tokens);
            Cell {
                target: target_name(&figure.dialect, &figure.profile),
                unit: &figure.encoding,
                currency: "",
                before: was,
                after: figure.tokens,
                change: change(was.map(|was| was as f64), figure.tokens as f64),
            }
        });
        let money = after.money.iter().map(|figure| {
            let was = before.money.iter().find(|other| other.is_of(figure));
            let was = was.map(|was| was.amount);
            Cell {
                target: target_name(&figure.dialect, &figure.profile),
                unit: &figure.model,
                currency: &figure.currency,
                before: was,
                after: figure.amount,
                change: change(was, figure.amount),
            }
        });
        let fields = NoteFields {
            record: self.0,
            tokens: largest(tokens.collect()),
            money: largest(money.collect()),
        };
        Ok(fill("night.md", &fields, [])?.into_string())
    }
}

fn change(before: Option<f64>, after: f64) -> f64 {
    match before {
        Some(before) if before > 0.0 => ((after - before) / before).abs(),
        _ if after > 0.0 => f64::INFINITY,
        _ => 0.0,
    }
}

fn largest<V>(mut cells: Vec<Cell<'_, V>>) -> Cells<'_, V> {
    cells.sort_by(|one, other| other.change.total_cmp(&one.change));
    let more = cells.len().saturating_sub(CELLS);
    cells.truncate(CELLS);
    Cells { cells, more }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::{MissingInputs, TokenFigure};
    use crate::night::NightState;
    use crate::report::{Change, ConversationChanges, FindingChange, Grown, MoneyFigure};

    fn figures(conversations: u64, tokens: u64, amount: f64) -> RunFigures {
        RunFigures {
            conversations,
            messages: 10 * conversations,
            tokens: (0..5)
                .map(|number| TokenFigure {
                    dialect: format!("d{number}"),
                    profile: "document".to_owned(),
                    encoding: "o200k_base".to_owned(),
                    tokens: 1000 + number * tokens,
                    ..TokenFigure::default()
                })
                .collect(),
            money: vec![MoneyFigure {
                dialect: "d0".to_owned(),
                profile: "document".to_owned(),
                model: "m".to_owned(),
                currency: "USD".to_owned(),
                amount,
                ..MoneyFigure::default()
            }],
            ..RunFigures::default()
        }
    }

    fn record() -> NightRecord {
        NightRecord {
            night: "2026-11-22T021500Z".to_owned(),
            state: NightState::Objected,
            pipeline: "a|b".to_owned(),
            version: "0.1.0".to_owned(),
            exit_code: Some(1),
            verdict: Some("complete".to_owned()),
            against: Some("2026-11-21T021500Z".to_owned()),
            objections: (0..10).map(|number| format!("objection {number}")).collect(),
            figures: Some(figures(1200, 100, 5.0)),
            before: Some(figures(1000, 50, 4.0)),
            conversations: Some(ConversationChanges {
                added: 200,
                ..ConversationChanges::default()
            }),
            missing: MissingInputs {
                count: 1,
                names: vec!["b.zip".to_owned()],
            },
            grown: vec![Grown {
                conversation_id: "room".to_owned(),
                before: 10,
                after: 35,
            }],
            ..NightRecord::default()
        }
    }

    #[test]
    fn a_note_lists_the_changes_in_a_few_lines() {
        let markdown = NightNote(&record()).markdown().unwrap();
        for part in [
            "# a\\|b: run 2026-11-22T021500Z is objected\n",
            "exit code 1, compared with the last good run, 2026-11-21T021500Z",
            "- ❌ and 2 more",
            "Conversations: 1,200 (+200, +20.0 %): 200 added",
            "1 missing input that the other run had: b.zip",
            "room 35 (+25, +250.0 %)",
            "Tokens: d4 in `o200k_base` 1,400 (+200, +16.7 %)",
            "; and 2 more",
            "Money: d0 for m 5.00 USD (+25.0 %)",
        ] {
            assert!(markdown.contains(part), "{part}\n{markdown}");
        }
        assert!(markdown.lines().count() < 24, "{markdown}");
    }

    #[test]
    fn a_first_night_has_no_percentages_and_a_failed_one_no_figures() {
        let first = NightRecord {
            before: None,
            against: None,
            conversations: None,
            objections: Vec::new(),
            ..record()
        };
        let markdown = NightNote(&first).markdown().unwrap();
        assert!(
            markdown.contains("Conversations: 1,200; messages: 12,000"),
            "{markdown}"
        );
        assert!(!markdown.contains("(+200"), "{markdown}");
        let failed = NightRecord {
            state: NightState::Failed,
            figures: None,
            ..first
        };
        let markdown = NightNote(&failed).markdown().unwrap();
        assert!(
            markdown.contains("no dataset was made") && !markdown.contains("Conversations"),
            "{markdown}"
        );
        let back: NightRecord = serde_json::from_str(&NightNote(&failed).json().unwrap()).unwrap();
        assert_eq!(back, failed);
    }

    #[test]
    fn a_code_that_had_another_severity_before_is_not_new() {
        let change = |code: &str, severity: &str, before, after| FindingChange {
            code: code.to_owned(),
            severity: severity.to_owned(),
            count: Change { before, after },
            ..FindingChange::default()
        };
        let comparison = Comparison {
            findings: vec![
                change("IN001", "error", 0, 3),
                change("SR002", "error", 0, 1),
                change("SR002", "warning", 4, 4),
                change("RF001", "warning", 2, 0),
            ],
            ..Comparison::default()
        };
        let new = new_codes(&comparison);
        assert_eq!(new.len(), 1);
        assert_eq!((new[0].code.as_str(), new[0].count), ("IN001", 3));
    }
}
