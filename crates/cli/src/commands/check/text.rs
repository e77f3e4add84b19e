//! `--format text`: findings with their place and the source text under it, a verdict per file, and a last line that sums up.
//!
//! Only the first findings of a code are printed; of the rest only a count is kept.

use std::collections::BTreeMap;
use std::io::{self, Write};

use chatmill_dataset::rows::FindingRow;
use chatmill_diag::Severity;
use chatmill_engine::check::{Checked, Excerpt, FileVerdict, Files, Judgement};
use unicode_width::UnicodeWidthStr;

use super::report::{Report, RunSummary, Totals, place};
use crate::figures::{count, counted};
use crate::output::{self, Colours, Output, Style, harmless};

/// Findings of a code that are printed.
pub(super) const PER_CODE: u64 = 10;

/// The report.
pub(super) struct Text {
    out: Output,
    colours: Colours,
    statistics: bool,
    /// Per code: findings printed, and occurrences that were not.
    seen: BTreeMap<&'static str, (u64, u64)>,
}

impl Text {
    /// A report into a sink; with `statistics` it shows counts only.
    pub(super) fn new(out: Output, colours: Colours, statistics: bool) -> Self {
        Self {
            out,
            colours,
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
        self.out
            .write_all(describe(checked, row, self.colours).as_bytes())
    }

    fn end(&mut self, files: &Files, totals: &Totals) -> io::Result<()> {
        for (code, (_, left)) in &self.seen {
            if *left > 0 {
                let name = totals.0.get(code).map_or("", |count| count.name);
                writeln!(self.out, "{code} {name}: and {}", counted(*left, "more finding"))?;
            }
        }
        if self.statistics {
            self.out.write_all(statistics(totals).as_bytes())?;
        } else {
            for file in files.iter() {
                writeln!(self.out, "{}", verdict(&file, self.colours))?;
            }
        }
        writeln!(self.out, "{}", last_line(&RunSummary::new(files, totals)))?;
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
fn describe(checked: &Checked, row: &FindingRow, colours: Colours) -> String {
    let times = if row.count > 1 {
        format!(" ({} times)", count(row.count))
    } else {
        String::new()
    };
    let mut text = format!(
        "{}: {}[{} {}]: {}{times}\n",
        harmless(&place(checked, row)),
        colours.paint(severity_style(checked.located.finding.severity), row.severity),
        row.code,
        row.name,
        harmless(row.message)
    );
    if let Some([line, carets]) = checked.excerpt.as_ref().and_then(draw) {
        text.push_str(&format!("    {line}\n    {carets}\n"));
    }
    if let Some(path) = row.json_path.filter(|path| *path != "$") {
        text.push_str(&format!("    at {}\n", harmless(path)));
    }
    text.push_str(&format!("    help: {}\n", first_sentence(row.help)));
    text
}

fn severity_style(severity: Severity) -> Style {
    match severity {
        Severity::Error => Style::Error,
        Severity::Warning => Style::Warning,
        Severity::Note => Style::Note,
    }
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

fn verdict(file: &FileVerdict, colours: Colours) -> String {
    let mut clauses = vec![
        file.source.unwrap_or("unknown source").to_owned(),
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
    if file.known > 0 {
        clauses.push(format!("{} known", count(file.known)));
    }
    let judgements = file.judgements.iter().map(judgement);
    let style = match file.verdict {
        "valid" | "skipped" => Style::Good,
        "warnings" | "known" | "empty" => Style::Warning,
        _ => Style::Error,
    };
    format!(
        "{}: {} ({}){}",
        harmless(&file.path),
        colours.paint(style, file.verdict),
        clauses.join(", "),
        judgements.collect::<String>()
    )
}

/// What a dialect thinks of a file, after its verdict.
fn judgement(judgement: &Judgement) -> String {
    let Judgement {
        dialect,
        accepted,
        refused,
    } = judgement;
    let dialect = harmless(dialect);
    let all = accepted + refused;
    match (all, *refused) {
        (0, _) => format!("; {dialect} has nothing to judge"),
        (_, 0) => format!("; {dialect} would accept it"),
        _ => format!(
            "; {dialect} would refuse {} of {}",
            count(*refused),
            counted(all, "conversation")
        ),
    }
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

fn last_line(summary: &RunSummary) -> String {
    let mut verdicts = Vec::new();
    for (number, verdict) in [
        (summary.valid, "valid"),
        (summary.with_warnings, "with warnings"),
        (summary.with_errors, "with errors"),
        (summary.with_known, "with known findings only"),
        (summary.empty, "empty"),
        (summary.unreadable, "unreadable"),
        (summary.skipped, "skipped, as no chats"),
    ] {
        if number > 0 {
            verdicts.push(format!("{} {verdict}", count(number)));
        }
    }
    let known = summary
        .known
        .map(|known| format!("; {} known from the baseline", count(known)))
        .unwrap_or_default();
    format!(
        "{}: {}; {} in {}; {}, {}, {}{known}",
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
    use super::super::report::tests::dangling;
    use super::*;
    use chatmill_diag::codes;

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
        let checked = dangling();
        let shown = describe(&checked, &checked.row(&checked.texts(true)), Colours::NONE);
        let help = first_sentence(codes::DANGLING_REFERENCE.page.fix);
        assert_eq!(
            shown,
            format!(
                "a.zip!chat.json:4:9: warning[RF001 dangling-reference]: no such message (3 times)\n    \
                 at $.x\n    help: {help}\n"
            )
        );
    }

    #[test]
    fn a_verdict_says_what_is_known_and_what_each_dialect_thinks() {
        let judgement = |dialect: &str, accepted, refused| Judgement {
            dialect: dialect.into(),
            accepted,
            refused,
        };
        let file = FileVerdict {
            path: "a.jsonl".into(),
            source: Some("group-chat"),
            verdict: "errors",
            records: 3,
            conversations: 3,
            errors: 1,
            known: 2,
            judgements: vec![judgement("openai-chat", 2, 1), judgement("chatml", 3, 0)],
            ..FileVerdict::default()
        };
        assert_eq!(
            verdict(&file, Colours::NONE),
            "a.jsonl: errors (group-chat, 3 records, 3 conversations, 1 error, 2 known); \
             openai-chat would refuse 1 of 3 conversations; chatml would accept it"
        );
    }

    #[test]
    fn the_last_line_leaves_out_verdicts_that_no_file_has() {
        let summary = RunSummary {
            files: 2,
            valid: 1,
            unreadable: 1,
            records: 3,
            conversations: 1,
            errors: 1,
            known: Some(4),
            ..RunSummary::default()
        };
        assert_eq!(
            last_line(&summary),
            "2 files: 1 valid, 1 unreadable; 1 conversation in 3 records; 1 error, 0 warnings, 0 notes; \
             4 known from the baseline"
        );
    }
}
