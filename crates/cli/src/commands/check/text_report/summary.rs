//! The summary at the end of a text report: verdicts, counts, and the codes with the worst file of each. It fits on a screen for any number
//! of files.

use chatmill_diag::Severity;
use unicode_width::UnicodeWidthStr;

use super::super::report::{CodeSummary, Summary, Totals, by_severity, worst_first};
use super::{Layout, View, style};
use crate::figures::{count, counted};
use crate::output::{self, Colours, harmless};
use crate::terminal::{self, short_path, wrapped};

/// The number of codes that a summary lists; the whole summary is shorter than the 24 lines of the smallest terminal.
const MAX_CODES: usize = 9;

/// The width below which a path is not recognisable.
const LEAST_PATH: usize = 20;

/// The counts of findings that are not shown.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Hidden {
    /// Findings below the least severity.
    pub lesser: u64,
    /// Findings beyond the limit for a code in a file.
    pub beyond: u64,
    /// Findings so far that are not below the least severity; it keeps findings of the same place in order.
    pub turn: u64,
}

/// The text of the summary.
pub(super) fn write(summary: &Summary, hidden: &Hidden, view: &View, colours: Colours) -> String {
    let mut lines = vec![verdicts(summary), numbers(summary)];
    lines.extend(summary.judgements.iter().map(|judgement| {
        let all = judgement.accepted + judgement.refused;
        let dialect = harmless(&judgement.dialect);
        let accepted = count(judgement.accepted);
        format!(
            "{dialect} would accept {accepted} of {}",
            counted(all, "conversation")
        )
    }));
    let mut text = String::new();
    for line in lines {
        text.push_str(&wrapped(&line, view.columns, 2));
        text.push('\n');
    }
    let is_listed = view.layout != Layout::Statistics && !summary.codes.is_empty();
    if is_listed {
        text.push('\n');
        text.push_str(&codes(summary, view.columns, colours));
    }
    let mut hints = Vec::new();
    if hidden.lesser > 0 {
        let what = match view.least {
            Severity::Error => "lesser finding",
            _ => "note",
        };
        let is = if hidden.lesser == 1 { "is" } else { "are" };
        hints.push(format!(
            "{} {is} not shown: `-v` or `--min-severity note`",
            counted(hidden.lesser, what)
        ));
    }
    if hidden.beyond > 0 {
        hints.push(format!(
            "{} beyond the first {} of a code in a file: `--max-findings 0` shows all",
            counted(hidden.beyond, "finding"),
            view.most
        ));
    }
    if let Some(path) = &view.settings {
        hints.push(format!("settings of {path}"));
    }
    if let Some((code, _)) = worst_first(&summary.codes).first() {
        hints.push(format!("`chatmill explain {code}` explains {code}"));
    }
    if !hints.is_empty() {
        text.push('\n');
    }
    for hint in hints {
        text.push_str(&wrapped(&hint, view.columns, 2));
        text.push('\n');
    }
    text
}

/// The number of files with each verdict.
fn verdicts(summary: &Summary) -> String {
    let mut verdicts = Vec::new();
    for (number, verdict) in [
        (summary.valid - summary.with_notes, "clean"),
        (summary.with_notes, "with notes"),
        (summary.with_warnings, "with warnings"),
        (summary.with_errors, "with errors"),
        (summary.with_known, "with known findings only"),
        (summary.empty, "empty"),
        (summary.unreadable, "unread"),
        (summary.skipped, "skipped, not chats"),
    ] {
        if number > 0 {
            verdicts.push(format!("{} {verdict}", count(number)));
        }
    }
    format!("{}: {}", counted(summary.files, "file"), verdicts.join(", "))
}

fn numbers(summary: &Summary) -> String {
    let known = summary.known.map(count);
    let known = known.map(|known| format!("; {known} known from the baseline"));
    format!(
        "{} in {}; {}, {}, {}{}",
        counted(summary.conversations, "conversation"),
        counted(summary.records, "record"),
        counted(summary.errors, "error"),
        counted(summary.warnings, "warning"),
        counted(summary.notes, "note"),
        known.unwrap_or_default(),
    )
}

/// The codes, worst first, each with its counts and the file that has the most of it.
fn codes(summary: &Summary, columns: usize, colours: Colours) -> String {
    let worst = worst_first(&summary.codes);
    let listed = worst.get(..MAX_CODES).unwrap_or(&worst);
    let severities_of_codes: Vec<String> = listed.iter().map(|(_, code)| severities(code)).collect();
    let widest = severities_of_codes
        .iter()
        .map(String::len)
        .max()
        .unwrap_or_default();
    let name = |code: &str, found: &CodeSummary| format!("{code} {}", found.name);
    let longest = listed.iter().map(|(code, found)| name(code, found).len());
    let longest = longest.max().unwrap_or_default();
    let files = listed.iter().map(|(_, code)| counted(code.files, "file"));
    let files: Vec<String> = files.map(|files| format!("in {files}")).collect();
    let most_files = files.iter().map(String::len).max().unwrap_or_default();
    // If there is no room for both, the file is shown rather than the name of the code.
    let shows_names = widest + 2 + longest + 2 + most_files + 2 + LEAST_PATH <= columns;
    let longest = if shows_names { longest } else { "IN001".len() };
    let mut text = String::new();
    for (((code, found), severities), files) in listed.iter().zip(severities_of_codes).zip(files) {
        let style = style(found.worst());
        let name = if shows_names {
            name(code, found)
        } else {
            (*code).to_owned()
        };
        let line = format!("{severities:>widest$}  {name:<longest$}  {files:<most_files$}");
        let worst = worst_file(found, columns.saturating_sub(line.width() + 2));
        // Colours have no width.
        let painted = colours.paint(style, &format!("{severities:>widest$}"));
        let rest = line.get(widest..).unwrap_or_default();
        let line = format!("{painted}{rest}  {worst}");
        text.push_str(line.trim_end());
        text.push('\n');
    }
    if worst.len() > listed.len() {
        let more = counted((worst.len() - listed.len()) as u64, "more code");
        text.push_str(&format!("and {more}: `--statistics` lists all\n"));
    }
    text
}

/// The occurrences of a code by severity; most codes have one severity.
fn severities(code: &CodeSummary) -> String {
    let clauses: Vec<String> = by_severity(code.errors, code.warnings, code.notes).collect();
    clauses.join(", ")
}

/// The file with the most findings of a code, with their number if there are other files.
fn worst_file(code: &CodeSummary, columns: usize) -> String {
    let Some(worst) = &code.worst_file else {
        return String::new();
    };
    let path = harmless(&worst.path);
    if code.files == 1 {
        return fitting(&path, "", columns);
    }
    fitting(&path, &format!(" ({})", count(worst.count)), columns)
}

fn fitting(path: &str, number: &str, columns: usize) -> String {
    let available = columns.saturating_sub(number.len());
    if available < path.width().min(LEAST_PATH / 2) {
        return String::new();
    }
    format!("{}{number}", short_path(path, available))
}

/// A table of all codes with their counts.
pub(super) fn statistics(totals: &Totals) -> String {
    let codes = worst_first(&totals.0);
    if codes.is_empty() {
        return String::new();
    }
    let rows = codes.into_iter().map(|(code, found)| {
        let mut row = vec![format!("{code} {}", found.name)];
        let all = found.errors + found.warnings + found.notes;
        row.extend([found.errors, found.warnings, found.notes, all].map(count));
        row
    });
    let header = ["Finding", "errors", "warnings", "notes", "all"];
    output::fitted(header, rows, 1, &["all"], terminal::table_columns()) + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::check::report::WorstFile;
    use crate::commands::check::text_report::Verbosity;
    use chatmill_diag::codes as registry;
    use chatmill_engine::check::Judgement;

    fn view(columns: usize) -> View {
        View {
            layout: Layout::Full,
            verbosity: Verbosity::Plain,
            columns,
            least: Severity::Warning,
            most: 10,
            settings: Some("chatmill.toml".to_owned()),
        }
    }

    fn of_code(name: &'static str, errors: u64, path: &str) -> CodeSummary {
        CodeSummary {
            name,
            errors,
            files: 2,
            worst_file: Some(WorstFile {
                path: path.to_owned(),
                count: errors,
            }),
            ..CodeSummary::default()
        }
    }

    #[test]
    fn verdicts_that_no_file_has_are_left_out() {
        let summary = Summary {
            files: 4,
            valid: 2,
            with_notes: 1,
            unreadable: 2,
            records: 3,
            conversations: 1,
            errors: 1,
            known: Some(4),
            ..Summary::default()
        };
        assert_eq!(
            write(&summary, &Hidden::default(), &view(100), Colours::NONE),
            "4 files: 1 clean, 1 with notes, 2 unread\n\
             1 conversation in 3 records; 1 error, 0 warnings, 0 notes; 4 known from the baseline\n\n\
             settings of chatmill.toml\n"
        );
    }

    #[test]
    fn every_code_of_a_million_files_fits_a_screen_of_every_width() {
        let mut summary = Summary {
            files: 1_000_000,
            valid: 400_000,
            with_notes: 100_000,
            with_warnings: 100_000,
            with_errors: 300_000,
            empty: 100_000,
            unreadable: 100_000,
            records: 9_000_000,
            conversations: 8_000_000,
            errors: 7_000_000,
            ..Summary::default()
        };
        summary.judgements.push(Judgement {
            dialect: "openai-chat".to_owned(),
            accepted: 5,
            refused: 4,
        });
        let path = format!("exports/{}/room.json", "supplier/".repeat(20));
        for code in registry::CODES {
            summary
                .codes
                .insert(code.code, of_code(code.name, 1_234_567, &path));
        }
        let hidden = Hidden {
            lesser: 3,
            beyond: 7,
            turn: 0,
        };
        for columns in [60, 80, 200] {
            let text = write(&summary, &hidden, &view(columns), Colours::NONE);
            for line in text.lines() {
                assert!(line.width() <= columns, "{columns}: {line}");
            }
            let lines = text.lines().count();
            assert!(lines <= 24, "{columns}: {lines} lines\n{text}");
        }
    }

    #[test]
    fn a_code_names_its_worst_file() {
        let mut summary = Summary::default();
        summary
            .codes
            .insert("IN001", of_code("invalid-json", 3, "in/a.json"));
        let wide = codes(&summary, 80, Colours::NONE);
        assert_eq!(wide, "3 errors  IN001 invalid-json  in 2 files  in/a.json (3)\n");
        let narrow = codes(&summary, 45, Colours::NONE);
        assert_eq!(narrow, "3 errors  IN001  in 2 files  in/a.json (3)\n");
    }
}
