//! `--format text`: findings with their place and the source text under it, a verdict per file, and a last line that sums up.
//!
//! Only the first findings of a code are printed; of the rest only a count is kept.

use std::collections::BTreeMap;
use std::io::{self, Write};

use chatmill_dataset::rows::FindingRow;
use chatmill_engine::check::{Checked, Excerpt, FileVerdict};
use unicode_width::UnicodeWidthStr;

use super::report::{Report, Summary, Totals};
use crate::figures::{count, counted};
use crate::output::{self, Sink, harmless};

/// Findings of a code that are printed.
const PER_CODE: u64 = 10;

/// The report.
pub struct Text {
    out: Sink,
    quote: bool,
    statistics: bool,
    /// Per code: findings printed, and occurrences that were not.
    seen: BTreeMap<&'static str, (u64, u64)>,
}

impl Text {
    /// A report into a sink. Without `quote` it shows no source text; with `statistics` only counts.
    pub fn new(out: Sink, quote: bool, statistics: bool) -> Self {
        Self {
            out,
            quote,
            statistics,
            seen: BTreeMap::new(),
        }
    }
}

impl Report for Text {
    fn finding(&mut self, checked: &Checked, row: &FindingRow) -> io::Result<()> {
        if self.statistics {
            return Ok(());
        }
        let (printed, left) = self.seen.entry(checked.located.finding.code.code).or_default();
        if *printed >= PER_CODE {
            *left += row.count;
            return Ok(());
        }
        *printed += 1;
        let excerpt = checked.excerpt.as_ref().filter(|_| self.quote);
        self.out.write_all(describe(row, excerpt).as_bytes())
    }

    fn end(&mut self, files: &[FileVerdict], totals: &Totals) -> io::Result<()> {
        for (code, (_, left)) in &self.seen {
            if *left > 0 {
                let name = totals.0.get(code).map_or("", |count| count.name);
                writeln!(self.out, "{code} {name}: and {}", counted(*left, "more finding"))?;
            }
        }
        if self.statistics {
            self.out.write_all(statistics(totals).as_bytes())?;
        } else {
            for file in files {
                writeln!(self.out, "{}", verdict(file))?;
            }
        }
        writeln!(self.out, "{}", last_line(&Summary::new(files, totals)))?;
        if let Some((code, _)) = totals.worst_first().first() {
            writeln!(
                self.out,
                "`chatmill explain {code}` says more about {code}; `--format json` lists every finding"
            )?;
        }
        self.out.flush()
    }
}

/// A finding with its place, its source text, its path and what to do.
fn describe(row: &FindingRow, excerpt: Option<&Excerpt>) -> String {
    let mut place = row.input.clone();
    if !row.entry.is_empty() {
        place.push('!');
        place.push_str(&row.entry);
    }
    for number in [row.line_number, row.column_number].into_iter().flatten() {
        place.push_str(&format!(":{number}"));
    }
    let times = if row.count > 1 {
        format!(" ({} times)", count(row.count))
    } else {
        String::new()
    };
    let mut text = format!(
        "{}: {}[{} {}]: {}{times}\n",
        harmless(&place),
        row.severity,
        row.code,
        row.name,
        harmless(&row.message)
    );
    if let Some([line, carets]) = excerpt.and_then(draw) {
        text.push_str(&format!("    {line}\n    {carets}\n"));
    }
    if let Some(path) = &row.json_path {
        text.push_str(&format!("    at {}\n", harmless(path)));
    }
    text.push_str(&format!("    help: {}\n", first_sentence(&row.help)));
    text
}

/// The line of source text without its indentation, and carets under the finding; nothing when there is no text.
fn draw(excerpt: &Excerpt) -> Option<[String; 2]> {
    let whole = &excerpt.text;
    let indentation = (whole.len() - whole.trim_start().len()).min(excerpt.start);
    let line = whole.get(indentation..)?.trim_end();
    let before = whole.get(indentation..excerpt.start)?;
    let inside = whole.get(excerpt.start..excerpt.end)?;
    let carets = "^".repeat(inside.trim_end().width().max(1));
    (!line.is_empty()).then(|| [line.to_owned(), format!("{}{carets}", " ".repeat(before.width()))])
}

fn first_sentence(text: &str) -> &str {
    text.split_once(". ")
        .map_or(text, |(first, _)| first)
        .trim_end_matches('.')
}

fn verdict(file: &FileVerdict) -> String {
    let mut clauses = vec![
        file.source.clone().unwrap_or_else(|| "unknown source".to_owned()),
        counted(file.records, "record"),
        counted(file.conversations, "conversation"),
    ];
    for (number, noun) in [
        (file.errors, "error"),
        (file.warnings, "warning"),
        (file.notes, "note"),
    ] {
        if number > 0 {
            clauses.push(counted(number, noun));
        }
    }
    format!(
        "{}: {} ({})",
        harmless(&file.path),
        file.verdict,
        clauses.join(", ")
    )
}

fn statistics(totals: &Totals) -> String {
    let rows: Vec<Vec<String>> = totals
        .worst_first()
        .into_iter()
        .map(|(code, found)| {
            vec![
                format!("{code} {}", found.name),
                count(found.errors),
                count(found.warnings),
                count(found.notes),
                count(found.total()),
            ]
        })
        .collect();
    if rows.is_empty() {
        return String::new();
    }
    let header = ["Finding", "errors", "warnings", "notes", "all"]
        .map(str::to_owned)
        .to_vec();
    output::table(header, rows, 1) + "\n"
}

fn last_line(summary: &Summary) -> String {
    let mut verdicts = Vec::new();
    for (number, verdict) in [
        (summary.valid, "valid"),
        (summary.with_warnings, "with warnings"),
        (summary.with_errors, "with errors"),
        (summary.unreadable, "unreadable"),
    ] {
        if number > 0 {
            verdicts.push(format!("{} {verdict}", count(number)));
        }
    }
    format!(
        "{}: {}; {} in {}; {}, {}, {}",
        counted(summary.files, "file"),
        verdicts.join(", "),
        counted(summary.conversations, "conversation"),
        counted(summary.records, "record"),
        counted(summary.errors, "error"),
        counted(summary.warnings, "warning"),
        counted(summary.notes, "note"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn excerpt(text: &str, inside: &str) -> Excerpt {
        let start = text.find(inside).unwrap();
        Excerpt {
            text: text.to_owned(),
            start,
            end: start + inside.len(),
        }
    }

    #[test]
    fn carets_stand_under_the_finding() {
        let [line, carets] = draw(&excerpt("   \"a\": 17, ", "17")).unwrap();
        assert_eq!(line, "\"a\": 17,");
        assert_eq!(carets, "     ^^");
    }

    #[test]
    fn wide_characters_take_two_columns() {
        let [_, carets] = draw(&excerpt("\"名前\": \"値\"", "\"値\"")).unwrap();
        assert_eq!(carets, format!("{}{}", " ".repeat(8), "^".repeat(4)));
    }

    #[test]
    fn an_empty_span_still_has_a_caret_and_an_empty_line_none() {
        let at_end = Excerpt {
            text: "{".to_owned(),
            start: 1,
            end: 1,
        };
        assert_eq!(draw(&at_end).unwrap(), ["{".to_owned(), " ^".to_owned()]);
        assert!(
            draw(&Excerpt {
                text: "  ".to_owned(),
                start: 2,
                end: 2
            })
            .is_none()
        );
    }

    #[test]
    fn a_finding_reads_place_severity_code_message_path_and_help() {
        let row = FindingRow {
            code: "RF001".into(),
            name: "dangling-reference".into(),
            severity: "warning".into(),
            count: 3,
            input: "a.zip".into(),
            entry: "chat.json".into(),
            line_number: Some(4),
            column_number: Some(9),
            json_path: Some("$.x".into()),
            message: "no such message".into(),
            help: "Keep both. Then more.".into(),
            ..FindingRow::default()
        };
        assert_eq!(
            describe(&row, None),
            "a.zip!chat.json:4:9: warning[RF001 dangling-reference]: no such message (3 times)\n    \
             at $.x\n    help: Keep both\n"
        );
    }

    #[test]
    fn the_last_line_leaves_out_verdicts_that_no_file_has() {
        let summary = Summary {
            files: 2,
            valid: 1,
            unreadable: 1,
            records: 3,
            conversations: 1,
            errors: 1,
            ..Summary::default()
        };
        assert_eq!(
            last_line(&summary),
            "2 files: 1 valid, 1 unreadable; 1 conversation in 3 records; 1 error, 0 warnings, 0 notes"
        );
    }
}
