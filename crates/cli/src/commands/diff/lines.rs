//! A comparison as text for a terminal, and as Markdown for the summary of a job.

use chatmill_diag::markdown::plain;
use chatmill_report::ConditionFailure;
use chatmill_report::report::{Change, Comparison, LossChange};

use crate::figures::{count, counted};
use crate::output::{self, harmless};
use crate::terminal;

/// The number of rows of each table in the text.
const TEXT_ROWS: usize = 40;
/// The numbers of lines in the Markdown, and of failed conditions among them.
const MARKDOWN_LINES: usize = 40;
const FAILURES: usize = 8;

/// A table of changes.
struct Part {
    title: &'static str,
    /// The headings of the columns of numbers.
    numbers: &'static [&'static str],
    /// Rows of a name and numbers.
    rows: Vec<Vec<String>>,
    /// The number of rows in the Markdown.
    most: usize,
}

impl Part {
    fn header(&self) -> Vec<&'static str> {
        std::iter::once(&self.title)
            .chain(self.numbers)
            .copied()
            .collect()
    }
}

fn parts(comparison: &Comparison) -> [Part; 3] {
    const CHANGES: &[&str] = &["before", "after", "change"];
    [
        Part {
            title: "Finding",
            numbers: CHANGES,
            rows: finding_rows(comparison),
            most: 8,
        },
        Part {
            title: "Tokens",
            numbers: &["before", "after", "change", "in common"],
            rows: token_rows(comparison),
            most: 12,
        },
        Part {
            title: "Loss",
            numbers: CHANGES,
            rows: loss_rows(comparison),
            most: 6,
        },
    ]
}

/// The comparison as text.
pub(super) fn text(comparison: &Comparison, failures: &[ConditionFailure], columns: usize) -> String {
    let mut text = format!("{}\n\n", headline(comparison));
    let [findings, tokens, losses] = parts(comparison);
    if !findings.rows.is_empty() {
        text.push_str(&table(findings, columns));
    }
    if tokens.rows.is_empty() {
        text.push_str("Tokens: the same in every dialect and encoding\n");
    } else {
        text.push_str(&table(tokens, columns));
    }
    for line in one_sided(comparison) {
        text.push_str(&format!("{}\n", terminal::prose(&line, 2)));
    }
    if !losses.rows.is_empty() {
        text.push('\n');
        text.push_str(&table(losses, columns));
    }
    for failure in failures {
        text.push_str(&format!("\nFAILED  {}", harmless(&failure.to_string())));
    }
    if !failures.is_empty() {
        text.push('\n');
    }
    text
}

/// A table of the first [`TEXT_ROWS`] rows, and the number of the others.
fn table(mut part: Part, columns: usize) -> String {
    let header = part.header();
    let more = part.rows.len().saturating_sub(TEXT_ROWS);
    part.rows.truncate(TEXT_ROWS);
    let mut table = output::fitted(header, part.rows, 1, &["before"], columns);
    if more > 0 {
        table.push_str(&format!(
            "and {}; --format json lists them\n",
            counted(more as u64, "more row")
        ));
    }
    table.push('\n');
    table
}

/// The comparison as Markdown of at most [`MARKDOWN_LINES`] lines.
pub(super) fn markdown(comparison: &Comparison, failures: &[ConditionFailure]) -> String {
    let mut lines = vec![format!("**chatmill diff**: {}", plain(&headline(comparison)))];
    let shown = failures.iter().take(FAILURES);
    lines.extend(shown.map(|failure| format!("- ❌ {}", plain(&failure.to_string()))));
    if failures.len() > FAILURES {
        lines.push(format!("- and {} more", failures.len() - FAILURES));
    }
    let one_sided = one_sided(comparison);
    for part in parts(comparison) {
        // A table needs four more lines (a blank line, the header with its rule, the line about omitted rows); the dialects of only one run
        // need two lines per run.
        let taken = lines.len() + 4 + 2 * one_sided.len();
        let room = MARKDOWN_LINES.saturating_sub(taken).min(part.most);
        if part.rows.is_empty() || room == 0 {
            continue;
        }
        lines.extend([
            String::new(),
            format!("| {} |", part.header().join(" | ")),
            format!("|---{}|", "|--:".repeat(part.numbers.len())),
        ]);
        for row in part.rows.iter().take(room) {
            let cells: Vec<String> = row.iter().map(|text| plain(text)).collect();
            lines.push(format!("| {} |", cells.join(" | ")));
        }
        if part.rows.len() > room {
            lines.push(format!("| and {} more | | | |", part.rows.len() - room));
        }
    }
    for line in one_sided {
        lines.extend([String::new(), plain(&line)]);
    }
    lines.join("\n") + "\n"
}

fn headline(comparison: &Comparison) -> String {
    let changes = &comparison.conversations;
    format!(
        "{} → {}: {}, {} added, {} removed, {} changed, {} the same",
        harmless(&comparison.before),
        harmless(&comparison.after),
        counted(changes.count.after, "conversation"),
        count(changes.added),
        count(changes.removed),
        count(changes.changed),
        count(changes.same),
    )
}

fn change_cells(name: String, change: Change) -> Vec<String> {
    vec![
        name,
        count(change.before),
        count(change.after),
        signed(change.before, change.after),
    ]
}

/// A difference with its sign, and in percent if the earlier value is not zero.
fn signed(before: u64, after: u64) -> String {
    let sign = if after < before { "−" } else { "+" };
    let difference = format!("{sign}{}", count(after.abs_diff(before)));
    if before == 0 || before == after {
        return difference;
    }
    let percent = (after as f64 - before as f64) / before as f64 * 100.0;
    format!("{difference} ({sign}{:.1} %)", percent.abs())
}

fn finding_rows(comparison: &Comparison) -> Vec<Vec<String>> {
    let rejects = std::iter::once(("rejects".to_owned(), comparison.rejects));
    let findings = comparison.findings.iter().map(|change| {
        let name = format!("{} {} ({})", change.code, change.name, change.severity);
        (harmless(&name), change.count)
    });
    rejects
        .chain(findings)
        .filter(|(_, change)| change.before != change.after)
        .map(|(name, change)| change_cells(name, change))
        .collect()
}

/// The token counts that differ, for dialects and encodings of both runs.
fn token_rows(comparison: &Comparison) -> Vec<Vec<String>> {
    let changes = comparison.shared_tokens();
    let changes = changes.filter_map(|change| Some((change, change.before?, change.after?)));
    let changes = changes.filter(|(_, before, after)| before != after);
    let rows = changes.map(|(change, before, after)| {
        vec![
            harmless(&format!("{} {}", change.target(), change.encoding)),
            count(before.tokens),
            count(after.tokens),
            signed(before.tokens, after.tokens),
            signed(before.tokens_common, after.tokens_common),
        ]
    });
    rows.collect()
}

/// A line for each run with the dialects that only this run counted.
fn one_sided(comparison: &Comparison) -> Vec<String> {
    let runs = [
        ("first", comparison.only_before()),
        ("second", comparison.only_after()),
    ];
    runs.into_iter()
        .filter(|(_, dialects)| !dialects.is_empty())
        .map(|(run, dialects)| harmless(&format!("Only the {run} run has {}", dialects.join(", "))))
        .collect()
}

/// The losses that differ, for dialects of both runs; the largest change first.
fn loss_rows(comparison: &Comparison) -> Vec<Vec<String>> {
    let mut changes: Vec<&LossChange> = comparison.shared_losses().collect();
    changes.sort_by_key(|loss| std::cmp::Reverse(loss.amount.before.abs_diff(loss.amount.after)));
    changes
        .into_iter()
        .map(|loss| change_cells(harmless(&format!("{} {}", loss.dialect, loss.code)), loss.amount))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use chatmill_report::report::{FindingChange, TokenChange, TokenCount};

    fn large() -> Comparison {
        let change = Change {
            before: 1,
            after: 1000,
        };
        let count = |tokens| {
            Some(TokenCount {
                tokens,
                ..TokenCount::default()
            })
        };
        Comparison {
            before: "a|b".to_owned(),
            rejects: change,
            findings: (0..90)
                .map(|number| FindingChange {
                    code: format!("XX{number:03}"),
                    count: change,
                    ..FindingChange::default()
                })
                .collect(),
            tokens: (0..90)
                .map(|number| TokenChange {
                    dialect: format!("d{number}"),
                    before: count(100),
                    after: count(110),
                    ..TokenChange::default()
                })
                .collect(),
            losses: (0..90)
                .map(|_| LossChange {
                    amount: change,
                    ..LossChange::default()
                })
                .collect(),
            ..Comparison::default()
        }
    }

    #[test]
    fn markdown_has_at_most_forty_lines() {
        let failure = ConditionFailure {
            condition: "tokens > 0".to_owned(),
            subject: "d1".to_owned(),
            before: Some(1.0),
            repriced: None,
            after: Some(2.0),
        };
        for failures in [0, 1, 50] {
            let text = markdown(&large(), &vec![failure.clone(); failures]);
            assert!(text.lines().count() <= MARKDOWN_LINES, "{text}");
            assert!(text.contains("a\\|b") && text.contains("+10 (+10.0 %)"), "{text}");
        }
        assert!(markdown(&Comparison::default(), &[]).lines().count() == 1);
    }

    #[test]
    fn a_text_counts_the_rows_that_it_leaves_out() {
        let text = text(&large(), &[], 80);
        assert!(
            text.contains("and 51 more rows; --format json lists them"),
            "{text}"
        );
        assert!(!text.contains("FAILED"));
    }

    #[test]
    fn dialects_of_one_run_are_named_once_and_their_losses_are_no_change() {
        let count = || Some(TokenCount::default());
        let change = |dialect: &str, encoding: &str, before, after| TokenChange {
            dialect: dialect.to_owned(),
            profile: "document".to_owned(),
            encoding: encoding.to_owned(),
            before,
            after,
            ..TokenChange::default()
        };
        let loss = |dialect: &str, before, after| LossChange {
            dialect: dialect.to_owned(),
            profile: "document".to_owned(),
            code: "extra-dropped".to_owned(),
            amount: Change { before, after },
        };
        let comparison = Comparison {
            tokens: vec![
                change("old", "a", count(), None),
                change("old", "b", count(), None),
                change("new", "a", None, count()),
                change("both", "a", count(), count()),
            ],
            losses: vec![loss("old", 9, 0), loss("both", 1, 2), loss("both", 1, 8)],
            ..Comparison::default()
        };
        for text in [text(&comparison, &[], 80), markdown(&comparison, &[])] {
            assert!(text.contains("Only the first run has old (a, b)"), "{text}");
            assert!(text.contains("Only the second run has new (a)"), "{text}");
            assert!(!text.contains("old extra-dropped"), "{text}");
            let largest = text.find("+7").unwrap();
            assert!(largest < text.find("+1 ").unwrap(), "{text}");
        }
    }

    #[test]
    fn equal_runs_have_no_tables() {
        let text = text(&Comparison::default(), &[], 80);
        assert!(text.contains("the same in every dialect"), "{text}");
        assert!(!text.contains("before"));
    }
}
