//! A comparison for people: as text for a terminal, as Markdown for the summary of a job.

use chatmill_report::Objection;
use chatmill_report::markdown::plain;
use chatmill_report::report::{Change, Comparison, LossChange};

use crate::figures::{count, counted};
use crate::output::{self, harmless};
use crate::terminal;

/// Rows of each table of the text.
const TEXT_ROWS: usize = 40;
/// Lines of the Markdown at most.
const MARKDOWN_LINES: usize = 40;

/// The comparison as text.
pub(super) fn text(comparison: &Comparison, objections: &[Objection], columns: usize) -> String {
    let mut text = format!("{}\n\n", headline(comparison));
    let findings = finding_rows(comparison);
    if !findings.is_empty() {
        text.push_str(&tables(
            &["Finding", "before", "after", "change"],
            findings,
            columns,
        ));
    }
    let tokens = token_rows(comparison);
    if tokens.is_empty() {
        text.push_str("Tokens: the same in every dialect and encoding\n");
    } else {
        let header = ["Tokens", "before", "after", "change", "in common"];
        text.push_str(&tables(&header, tokens, columns));
    }
    for line in one_sided(comparison) {
        text.push_str(&format!("{}\n", terminal::prose(&line, 2)));
    }
    let losses = loss_rows(comparison);
    if !losses.is_empty() {
        text.push('\n');
        text.push_str(&tables(&["Loss", "before", "after", "change"], losses, columns));
    }
    for objection in objections {
        text.push_str(&format!("\nFAILED  {}", harmless(&objection.to_string())));
    }
    if !objections.is_empty() {
        text.push('\n');
    }
    text
}

/// A table of at most [`TEXT_ROWS`] rows, and how many there are more.
fn tables(header: &[&str], mut rows: Vec<Vec<String>>, columns: usize) -> String {
    let more = rows.len().saturating_sub(TEXT_ROWS);
    rows.truncate(TEXT_ROWS);
    let header = header.iter().map(|&title| title.to_owned()).collect();
    let mut table = output::fitted(header, rows, 1, &["before"], columns);
    table.push('\n');
    if more > 0 {
        table.push_str(&format!(
            "and {}; --format json has them\n",
            counted(more as u64, "more row")
        ));
    }
    table.push('\n');
    table
}

/// The comparison as Markdown of at most [`MARKDOWN_LINES`] lines.
pub(super) fn markdown(comparison: &Comparison, objections: &[Objection]) -> String {
    let mut lines = vec![format!("**chatmill diff**: {}", plain(&headline(comparison)))];
    lines.extend(
        objections
            .iter()
            .take(8)
            .map(|objection| format!("- ❌ {}", plain(&objection.to_string()))),
    );
    if objections.len() > 8 {
        lines.push(format!("- and {} more", objections.len() - 8));
    }
    let parts = [
        (
            "| Finding | before | after | change |",
            "|---|--:|--:|--:|",
            finding_rows(comparison),
            8,
        ),
        (
            "| Tokens | before | after | change | in common |",
            "|---|--:|--:|--:|--:|",
            token_rows(comparison),
            12,
        ),
        (
            "| Loss | before | after | change |",
            "|---|--:|--:|--:|",
            loss_rows(comparison),
            6,
        ),
    ];
    let one_sided = one_sided(comparison);
    for (header, line, rows, limit) in parts {
        // A blank line, two for the header, one for what is left out; then a blank line and the dialects of one run.
        let taken = lines.len() + 4 + 2 * one_sided.len();
        let room = MARKDOWN_LINES.saturating_sub(taken).min(limit);
        if rows.is_empty() || room == 0 {
            continue;
        }
        lines.extend([String::new(), header.to_owned(), line.to_owned()]);
        for row in rows.iter().take(room) {
            let cells: Vec<String> = row.iter().map(|text| plain(text)).collect();
            lines.push(format!("| {} |", cells.join(" | ")));
        }
        if rows.len() > room {
            lines.push(format!("| and {} more | | | |", rows.len() - room));
        }
    }
    for line in one_sided {
        lines.extend([String::new(), plain(&line)]);
    }
    let mut text = lines.join("\n");
    text.push('\n');
    text
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

/// A difference with its sign, and in percent where there was something before.
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

/// Tokens that differ, of the dialects and encodings that both runs have.
fn token_rows(comparison: &Comparison) -> Vec<Vec<String>> {
    let changes = comparison.tokens.iter();
    changes
        .filter_map(|change| {
            let (before, after) = change.before.zip(change.after)?;
            (before != after).then(|| {
                vec![
                    harmless(&format!("{} {}", change.target(), change.encoding)),
                    count(before.tokens),
                    count(after.tokens),
                    signed(before.tokens, after.tokens),
                    signed(before.tokens_common, after.tokens_common),
                ]
            })
        })
        .collect()
}

/// A line for each run about the dialects that it alone counted.
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

/// Losses that differ, of the dialects that both runs have; the largest change first.
fn loss_rows(comparison: &Comparison) -> Vec<Vec<String>> {
    let mut changes: Vec<&LossChange> = comparison
        .losses
        .iter()
        .filter(|loss| comparison.shares(&loss.dialect, &loss.profile))
        .collect();
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
        let objection = Objection {
            condition: "tokens > 0".to_owned(),
            subject: "d1".to_owned(),
            before: Some(1.0),
            after: Some(2.0),
        };
        for objections in [0, 1, 50] {
            let said = markdown(&large(), &vec![objection.clone(); objections]);
            assert!(said.lines().count() <= MARKDOWN_LINES, "{said}");
            assert!(said.contains("a\\|b") && said.contains("+10 (+10.0 %)"), "{said}");
        }
        assert!(markdown(&Comparison::default(), &[]).lines().count() == 1);
    }

    #[test]
    fn a_text_says_how_much_it_leaves_out() {
        let said = text(&large(), &[], 80);
        assert!(
            said.contains("and 51 more rows; --format json has them"),
            "{said}"
        );
        assert!(!said.contains("FAILED"));
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
        for said in [text(&comparison, &[], 80), markdown(&comparison, &[])] {
            assert!(said.contains("Only the first run has old (a, b)"), "{said}");
            assert!(said.contains("Only the second run has new (a)"), "{said}");
            assert!(!said.contains("old extra-dropped"), "{said}");
            let largest = said.find("+7").unwrap();
            assert!(largest < said.find("+1 ").unwrap(), "{said}");
        }
    }

    #[test]
    fn runs_that_say_the_same_have_no_tables() {
        let said = text(&Comparison::default(), &[], 80);
        assert!(said.contains("the same in every dialect"), "{said}");
        assert!(!said.contains("before"));
    }
}
