//! The note of a night: about ten lines for people, the same for programs.

use std::collections::BTreeSet;

use chatmill_model::target_name;
use serde::{Deserialize, Serialize};

use super::{NightRecord, NightState};
use crate::figures::RunFigures;
use crate::html::markup::{count, counted};
use crate::markdown::{code, plain};
use crate::report::Comparison;

/// Objections and warnings that are listed; more are counted.
const LISTED: usize = 8;
/// Cells of tokens and of money that are listed: those that changed most.
const CELLS: usize = 3;
/// Codes that are listed.
const CODES: usize = 5;

/// A code of findings that an earlier night did not have.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewCode {
    /// The code.
    pub code: String,
    /// Its name.
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

/// What is told of a night.
pub struct NightNote<'n>(pub &'n NightRecord);

impl NightNote<'_> {
    /// For programs: the record, indented.
    pub fn json(&self) -> String {
        // Plain structs with text keys and finite numbers always become JSON.
        let mut text = serde_json::to_string_pretty(self.0).unwrap_or_default();
        text.push('\n');
        text
    }

    /// For people: about ten lines of Markdown.
    pub fn markdown(&self) -> String {
        let record = self.0;
        let mut lines = vec![format!(
            "# {}: night {} is {}",
            plain(&record.pipeline),
            plain(&record.night),
            record.state.word()
        )];
        lines.push(String::new());
        lines.push(format!("- {}", self.headline()));
        lines.extend(listed("❌", &record.objections));
        lines.extend(listed("⚠", &record.warnings));
        lines.extend(listed("Note:", &record.notes));
        if let Some(figures) = &record.figures {
            lines.extend(self.figures(figures).into_iter().map(|line| format!("- {line}")));
        }
        let mut text = lines.join("\n");
        text.push('\n');
        text
    }

    fn headline(&self) -> String {
        let record = self.0;
        let mut parts = Vec::new();
        if let Some(verdict) = &record.verdict {
            parts.push(format!("verdict {}", plain(verdict)));
        }
        if let Some(code) = record.exit_code {
            parts.push(format!("exit code {code}"));
        }
        parts.push(match &record.against {
            Some(night) => format!("compared with the last good night, {}", plain(night)),
            None if record.state == NightState::Failed => "no dataset was made".to_owned(),
            None => "compared with no other night".to_owned(),
        });
        parts.push(format!("chatmill {}", plain(&record.version)));
        parts.join(", ")
    }

    fn figures(&self, after: &RunFigures) -> Vec<String> {
        let record = self.0;
        let before = record.before.as_ref();
        let was = |figure: fn(&RunFigures) -> u64| before.map(figure);
        let mut lines = vec![format!(
            "Conversations: {}{}; messages: {}{}",
            changed(was(|figures| figures.conversations), after.conversations),
            record
                .conversations
                .as_ref()
                .map_or_else(String::new, |changes| format!(
                    ": {} added, {} removed, {} changed",
                    count(changes.added),
                    count(changes.removed),
                    count(changes.changed)
                )),
            count(after.messages),
            suffix(was(|figures| figures.messages), after.messages),
        )];
        lines.push(format!(
            "Rejects: {}; errors: {}; warnings: {}",
            changed(was(|figures| figures.rejects), after.rejects),
            changed(was(|figures| figures.errors), after.errors),
            changed(was(|figures| figures.warnings), after.warnings)
        ));
        if record.missing.count > 0 {
            let names: Vec<String> = record
                .missing
                .names
                .iter()
                .take(CODES)
                .map(|name| clause(name))
                .collect();
            lines.push(format!(
                "{} that the other night had: {}",
                counted(record.missing.count, "missing input"),
                names.join(", ")
            ));
        }
        if !record.new_codes.is_empty() {
            let codes = record.new_codes.iter().take(CODES);
            let codes: Vec<String> = codes
                .map(|code| {
                    format!(
                        "{} {} ({})",
                        clause(&code.code),
                        clause(&code.name),
                        count(code.count)
                    )
                })
                .collect();
            let more = record.new_codes.len().saturating_sub(CODES);
            let more = if more > 0 {
                format!(" and {more} more")
            } else {
                String::new()
            };
            lines.push(format!("New codes: {}{more}", codes.join(", ")));
        }
        if !record.grown.is_empty() {
            let rooms: Vec<String> = record
                .grown
                .iter()
                .map(|room| {
                    format!(
                        "{} {}",
                        clause(&room.conversation_id),
                        changed(Some(room.before), room.after)
                    )
                })
                .collect();
            lines.push(format!("Rooms that grew most, in messages: {}", rooms.join("; ")));
        }
        lines.extend(self.tokens(after));
        lines.extend(self.money(after));
        lines
    }

    fn tokens(&self, after: &RunFigures) -> Option<String> {
        let before = self.0.before.as_ref();
        let mut cells: Vec<(f64, String)> = after
            .tokens
            .iter()
            .filter(|figure| !figure.encoding.is_empty())
            .map(|figure| {
                let was = before.and_then(|before| {
                    let same = before.tokens.iter().find(|other| {
                        (&other.dialect, &other.profile, &other.coverage, &other.encoding)
                            == (
                                &figure.dialect,
                                &figure.profile,
                                &figure.coverage,
                                &figure.encoding,
                            )
                    });
                    Some(same?.tokens)
                });
                let target = clause(&target_name(&figure.dialect, &figure.profile));
                let said = format!(
                    "{target} in {} {}",
                    clause(&figure.encoding),
                    changed(was, figure.tokens)
                );
                (share(was.map(|was| was as f64), figure.tokens as f64), said)
            })
            .collect();
        largest(&mut cells).map(|cells| format!("Tokens: {cells}"))
    }

    fn money(&self, after: &RunFigures) -> Option<String> {
        let before = self.0.before.as_ref();
        let mut cells: Vec<(f64, String)> = after
            .money
            .iter()
            .map(|figure| {
                let was = before.and_then(|before| {
                    let same = before.money.iter().find(|other| {
                        (
                            &other.dialect,
                            &other.profile,
                            &other.coverage,
                            &other.model,
                            &other.currency,
                        ) == (
                            &figure.dialect,
                            &figure.profile,
                            &figure.coverage,
                            &figure.model,
                            &figure.currency,
                        )
                    });
                    Some(same?.amount)
                });
                let target = clause(&target_name(&figure.dialect, &figure.profile));
                let change = share(was, figure.amount);
                let percent = match was {
                    Some(was) if was > 0.0 => format!(" ({:+.1} %)", (figure.amount - was) / was * 100.0),
                    _ => String::new(),
                };
                let (model, currency) = (clause(&figure.model), clause(&figure.currency));
                (
                    change,
                    format!("{target} for {model} {:.4} {currency}{percent}", figure.amount),
                )
            })
            .collect();
        largest(&mut cells).map(|cells| format!("Money: {cells}"))
    }
}

/// Lines of a list, and how many more there are. Clauses hold conditions and names of files, which are read as they are.
fn listed(sign: &str, texts: &[String]) -> Vec<String> {
    let shown = texts
        .iter()
        .take(LISTED)
        .map(|text| format!("- {sign} {}", clause(text)));
    let mut lines: Vec<String> = shown.collect();
    if texts.len() > LISTED {
        lines.push(format!("- {sign} and {} more", texts.len() - LISTED));
    }
    lines
}

/// A clause on one line: as prose where nothing in it needs an escape, else as code, so that a terminal shows it as it was written.
fn clause(text: &str) -> String {
    let prose = plain(text);
    if prose == text { prose } else { code(text) }
}

/// A number, and in brackets what it was.
fn changed(before: Option<u64>, after: u64) -> String {
    format!("{}{}", count(after), suffix(before, after))
}

fn suffix(before: Option<u64>, after: u64) -> String {
    let Some(before) = before else {
        return String::new();
    };
    if before == after {
        return " (the same)".to_owned();
    }
    let sign = if after < before { "−" } else { "+" };
    let difference = count(after.abs_diff(before));
    if before == 0 {
        return format!(" ({sign}{difference})");
    }
    let percent = (after as f64 - before as f64) / before as f64 * 100.0;
    format!(" ({sign}{difference}, {sign}{:.1} %)", percent.abs())
}

/// How much a value changed, as a share of what it was; what is new changed most.
fn share(before: Option<f64>, after: f64) -> f64 {
    match before {
        Some(before) if before > 0.0 => ((after - before) / before).abs(),
        _ if after > 0.0 => f64::INFINITY,
        _ => 0.0,
    }
}

/// The cells that changed most, and how many more there are.
fn largest(cells: &mut [(f64, String)]) -> Option<String> {
    cells.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    let shown: Vec<&str> = cells.iter().take(CELLS).map(|(_, said)| said.as_str()).collect();
    let more = cells.len().saturating_sub(CELLS);
    let more = if more > 0 {
        format!("; and {more} more")
    } else {
        String::new()
    };
    (!shown.is_empty()).then(|| format!("{}{more}", shown.join("; ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::{MissingInputs, MoneyFigure, TokenFigure};
    use crate::night::Grown;
    use crate::report::{Change, ConversationChanges, FindingChange, Grown};

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
    fn a_note_says_what_changed_in_a_few_lines() {
        let said = NightNote(&record()).markdown();
        for part in [
            "# a\\|b: night 2026-11-22T021500Z is objected\n",
            "exit code 1, compared with the last good night, 2026-11-21T021500Z",
            "- ❌ and 2 more",
            "Conversations: 1,200 (+200, +20.0 %): 200 added",
            "1 missing input that the other night had: b.zip",
            "room 35 (+25, +250.0 %)",
            "Tokens: d4 in `o200k_base` 1,400 (+200, +16.7 %)",
            "; and 2 more",
            "Money: d0 for m 5.0000 USD (+25.0 %)",
        ] {
            assert!(said.contains(part), "{part}\n{said}");
        }
        assert!(said.lines().count() < 24, "{said}");
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
        let said = NightNote(&first).markdown();
        assert!(said.contains("Conversations: 1,200; messages: 12,000"), "{said}");
        assert!(!said.contains("(+200"), "{said}");
        let failed = NightRecord {
            state: NightState::Failed,
            figures: None,
            ..first
        };
        let said = NightNote(&failed).markdown();
        assert!(
            said.contains("no dataset was made") && !said.contains("Conversations"),
            "{said}"
        );
        let back: NightRecord = serde_json::from_str(&NightNote(&failed).json()).unwrap();
        assert_eq!(back, failed);
    }

    #[test]
    fn a_code_is_new_where_no_severity_of_it_was_there() {
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
