//! Text reports: the findings file by file, in the order of their places, and a summary that fits on a screen.
//!
//! Conversations with rows in several files are checked after the files, so findings are buffered until the end and sorted. The buffer is
//! limited: when it is full, it is written in order, and findings of a file that was already written may follow later.

pub(super) mod snippet;
mod summary;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use chatmill_dataset::rows::FindingRow;
use chatmill_diag::{Severity, codes};
use chatmill_engine::check::{Checked, FileVerdict, Files, Judgement};
use unicode_width::UnicodeWidthStr;

use self::summary::{Hidden, statistics};
use super::report::{Report, Summary, Totals, by_severity, place, place_inside, with_times};
use crate::figures::{count, counted};
use crate::output::{Colours, Style, harmless};
use crate::terminal::wrapped;

/// The size of the buffer for sorting, in bytes.
const BUFFER_BYTES: usize = 32 << 20;

/// The layout of findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// Message, place, excerpt and remedy.
    Full,
    /// One line per finding.
    Concise,
    /// One line per finding, under the name of its file.
    Grouped,
    /// Counts by code instead of findings.
    Statistics,
}

/// The parts of the report that are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verbosity {
    /// Findings only.
    Quiet,
    /// Findings and the summary.
    Plain,
    /// Findings, the summary, and the verdict on every file.
    Verbose,
}

/// The options of a text report.
#[derive(Clone, Debug)]
pub(super) struct View {
    /// The layout of findings.
    pub layout: Layout,
    /// The parts that are printed.
    pub verbosity: Verbosity,
    /// The width of a line.
    pub columns: usize,
    /// The least severity of the findings that are shown.
    pub least: Severity,
    /// The number of findings of a code in a file that are shown; 0 shows all.
    pub most: usize,
    /// The file from which the settings come.
    pub settings: Option<String>,
}

/// The text report.
pub(super) struct TextReport {
    colours: Colours,
    view: View,
    /// Findings by file.
    buffered: BTreeMap<usize, Group>,
    buffered_bytes: usize,
    /// Codes for which the remedy was already shown.
    explained: BTreeSet<&'static str>,
    hidden: Hidden,
}

/// The findings of one file.
struct Group {
    path: String,
    by_code: BTreeMap<&'static str, OfCode>,
}

/// The findings of one code in one file.
#[derive(Default)]
struct OfCode {
    name: &'static str,
    shown: Vec<Shown>,
    /// Number of occurrences that are not shown.
    left: u64,
}

/// A finding as text.
struct Shown {
    key: Key,
    count: u64,
    /// The place inside its file.
    place: String,
    text: String,
    code: &'static str,
    help: &'static str,
    /// The indentation of `= help`.
    indentation: usize,
}

/// The order of findings in a file: by member of an archive, then by byte, or by record if bytes are not known.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    entry: String,
    byte: Option<u64>,
    record: Option<u64>,
    /// Findings at the same place keep their order.
    turn: u64,
}

impl TextReport {
    /// A report with this view.
    pub(super) fn new(colours: Colours, view: View) -> Self {
        Self {
            colours,
            view,
            buffered: BTreeMap::new(),
            buffered_bytes: 0,
            explained: BTreeSet::new(),
            hidden: Hidden::default(),
        }
    }

    fn shown(&self, checked: &Checked, row: &FindingRow, turn: u64) -> Shown {
        let finding = &checked.located.finding;
        let severity = self.colours.paint(style(finding.severity), row.severity);
        let (text, indentation) = match self.view.layout {
            Layout::Full => full(checked, row, self.colours, self.view.columns),
            Layout::Concise => {
                let place = harmless(&place(checked, row));
                let message = message(row);
                (
                    format!("{place}: {severity}[{} {}]: {message}\n", row.code, row.name),
                    0,
                )
            }
            Layout::Grouped => {
                let blanks = " ".repeat("warning".len().saturating_sub(row.severity.len()));
                (format!("{severity}{blanks}  {}  {}\n", row.code, message(row)), 0)
            }
            Layout::Statistics => (String::new(), 0),
        };
        Shown {
            key: Key {
                entry: row.entry.to_owned(),
                byte: row.byte_start,
                record: row.record,
                turn,
            },
            count: row.count,
            place: harmless(&place_inside(checked, row)),
            text,
            code: finding.code.code,
            help: finding.code.page.fix,
            indentation,
        }
    }

    /// Writes the buffered findings in order.
    fn flush(&mut self, out: &mut dyn Write) -> io::Result<()> {
        self.buffered_bytes = 0;
        for (_, group) in std::mem::take(&mut self.buffered) {
            self.write_group(out, group)?;
        }
        Ok(())
    }

    fn write_group(&mut self, out: &mut dyn Write, group: Group) -> io::Result<()> {
        let path = harmless(&group.path);
        let mut shown: Vec<Shown> = Vec::new();
        let mut left: Vec<String> = Vec::new();
        for (code, mut of_code) in group.by_code {
            if of_code.left > 0 {
                let more = counted(of_code.left, "more finding");
                left.push(format!("{more} of {code} {}", of_code.name));
                self.hidden.beyond += of_code.left;
            }
            shown.append(&mut of_code.shown);
        }
        shown.sort_by(|one, other| one.key.cmp(&other.key));
        let widest = shown.iter().map(|shown| shown.place.width()).max();
        if self.view.layout == Layout::Grouped {
            writeln!(out, "{path}")?;
        }
        for shown in shown {
            match self.view.layout {
                Layout::Grouped => {
                    let blanks = " ".repeat(widest.unwrap_or_default().saturating_sub(shown.place.width()));
                    write!(out, "  {}{blanks}  {}", shown.place, shown.text)?;
                }
                Layout::Full => {
                    out.write_all(shown.text.as_bytes())?;
                    if self.explained.insert(shown.code) {
                        let indentation = " ".repeat(shown.indentation);
                        let help = format!("{indentation} = help: {}", first_sentence(shown.help));
                        let help = wrapped(&help, self.view.columns, shown.indentation + 9);
                        writeln!(out, "{help}")?;
                    }
                    writeln!(out)?;
                }
                Layout::Concise | Layout::Statistics => out.write_all(shown.text.as_bytes())?,
            }
        }
        for left in left {
            match self.view.layout {
                Layout::Grouped => writeln!(out, "  and {left}")?,
                _ => writeln!(out, "{path}: and {left}")?,
            }
        }
        if self.view.layout == Layout::Grouped {
            writeln!(out)?;
        }
        Ok(())
    }
}

impl Report for TextReport {
    fn finding(&mut self, out: &mut dyn Write, checked: &Checked, row: &FindingRow) -> io::Result<()> {
        let finding = &checked.located.finding;
        if self.view.layout == Layout::Statistics {
            return Ok(());
        }
        if finding.severity < self.view.least {
            self.hidden.lesser += row.count;
            return Ok(());
        }
        self.hidden.turn += 1;
        let shown = self.shown(checked, row, self.hidden.turn);
        let group = self.buffered.entry(checked.file).or_insert_with(|| Group {
            path: checked.path.clone(),
            by_code: BTreeMap::new(),
        });
        let of_code = group.by_code.entry(finding.code.code).or_default();
        of_code.name = finding.code.name;
        self.buffered_bytes += shown.text.len() + size_of::<Shown>();
        of_code.add(shown, self.view.most);
        if self.buffered_bytes > BUFFER_BYTES {
            self.flush(out)?;
        }
        Ok(())
    }

    fn end(&mut self, out: &mut dyn Write, files: &Files, totals: &Totals) -> io::Result<()> {
        self.flush(out)?;
        if self.view.layout == Layout::Statistics {
            out.write_all(statistics(totals).as_bytes())?;
        }
        if self.view.verbosity == Verbosity::Verbose {
            for file in files.iter() {
                writeln!(out, "{}", verdict(&file, self.colours))?;
            }
        }
        if self.view.verbosity != Verbosity::Quiet {
            let summary = Summary::new(files, totals);
            let text = summary::write(&summary, &self.hidden, &self.view, self.colours);
            out.write_all(text.as_bytes())?;
        }
        Ok(())
    }
}

impl OfCode {
    /// Adds a finding; of each code in a file the first `most` are kept. An unknown format is reported once per file, although each of its
    /// records has the finding.
    fn add(&mut self, shown: Shown, most: usize) {
        let is_repeated = most > 0 && shown.code == codes::UNKNOWN_FORMAT.code;
        let mut known = self.shown.iter_mut().filter(|_| is_repeated);
        if let Some(known) = known.find(|known| known.key.entry == shown.key.entry) {
            self.left += shown.count;
            if shown.key < known.key {
                *known = shown;
            }
            return;
        }
        let at = self.shown.partition_point(|other| other.key < shown.key);
        self.shown.insert(at, shown);
        if most > 0
            && self.shown.len() > most
            && let Some(last) = self.shown.pop()
        {
            self.left += last.count;
        }
    }
}

/// The text of a finding: message, place, source text and path; and the indentation of its gutter.
pub(super) fn full(checked: &Checked, row: &FindingRow, colours: Colours, columns: usize) -> (String, usize) {
    let severity = checked.located.finding.severity;
    let line = row.line_number.map(|line| line.to_string()).unwrap_or_default();
    let gutter = line.len().max(1);
    let blanks = " ".repeat(gutter);
    let title = format!("[{} {}]: {}", row.code, row.name, message(row));
    // Colours have no width.
    let title = wrapped(&format!("{}{title}", row.severity), columns, 2);
    let title = title.strip_prefix(row.severity).unwrap_or(&title);
    let mut text = format!(
        "{}{title}\n{blanks}--> {}\n",
        colours.paint(style(severity), row.severity),
        harmless(&place(checked, row))
    );
    let path = row.json_path.filter(|path| *path != "$").map(harmless);
    let available = columns.saturating_sub(gutter + 3);
    let drawn = checked.excerpt.as_ref();
    let drawn = drawn.and_then(|excerpt| snippet::draw(excerpt, available));
    let mut is_shown = false;
    if let Some([source, carets]) = drawn {
        let label = path.as_deref().unwrap_or_default();
        is_shown = !label.is_empty() && carets.width() + 1 + label.width() <= available;
        let label = if is_shown {
            format!(" {label}")
        } else {
            String::new()
        };
        let carets = colours.paint_after_blanks(style(severity), &carets);
        text.push_str(&format!(
            "{line:>gutter$} | {source}\n{blanks} | {carets}{label}\n"
        ));
    }
    if let Some(path) = path.filter(|_| !is_shown) {
        text.push_str(&format!("{blanks} = at {path}\n"));
    }
    (text, gutter)
}

/// The message of a finding, with the number of its occurrences.
fn message(row: &FindingRow) -> String {
    with_times(&harmless(row.message), row.count)
}

pub(super) fn style(severity: Severity) -> Style {
    match severity {
        Severity::Error => Style::Error,
        Severity::Warning => Style::Warning,
        Severity::Note => Style::Note,
    }
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
    clauses.extend(by_severity(file.errors, file.warnings, file.notes));
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

/// The judgement of a dialect on a file, for the line of its verdict.
fn judgement(judgement: &Judgement) -> String {
    let Judgement {
        dialect,
        accepted,
        refused,
    } = judgement;
    let dialect = harmless(dialect);
    let all = accepted + refused;
    match (all, *refused) {
        (0, _) => format!("; nothing to validate for {dialect}"),
        (_, 0) => format!("; valid for {dialect}"),
        _ => format!(
            "; {dialect} would refuse {} of {}",
            count(*refused),
            counted(all, "conversation")
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::super::report::tests::dangling;
    use super::*;
    use chatmill_engine::check::Excerpt;

    fn rendered(checked: &Checked, columns: usize) -> String {
        full(
            checked,
            &checked.row(&checked.texts(chatmill_engine::check::Quoting::All)),
            Colours::NONE,
            columns,
        )
        .0
    }

    #[test]
    fn a_finding_has_message_place_and_excerpt() {
        let mut checked = dangling();
        assert_eq!(
            rendered(&checked, 80),
            "warning[RF001 dangling-reference]: no such message (3 times)\n \
             --> a.zip!chat.json:4:9\n  = at $.x\n"
        );
        checked.excerpt = Some(Excerpt {
            text: "  \"x\": \"m0\"".to_owned(),
            start: 7,
            end: 11,
            begins_late: false,
            ends_early: false,
        });
        assert_eq!(
            rendered(&checked, 80).lines().skip(2).collect::<Vec<_>>(),
            ["4 | \"x\": \"m0\"", "  |      ^^^^ $.x"]
        );
    }

    #[test]
    fn a_long_message_is_wrapped_and_a_long_path_gets_a_line_of_its_own() {
        let mut checked = dangling();
        checked.located.finding.message = "word ".repeat(20).trim_end().to_owned();
        checked.located.json_path = Some(format!("$.{}", "x".repeat(60)));
        checked.excerpt = Some(Excerpt {
            text: "\"m0\"".repeat(30),
            start: 0,
            end: 4,
            begins_late: false,
            ends_early: false,
        });
        let text = rendered(&checked, 50);
        assert!(
            text.contains(&format!("\n  = at $.{}\n", "x".repeat(60))),
            "{text}"
        );
        let too_wide = text.lines().filter(|line| !line.contains(" = at "));
        for line in too_wide {
            assert!(line.width() <= 50, "{line}");
        }
    }

    #[test]
    fn the_first_findings_of_a_code_in_the_file_stay_whatever_their_order() {
        let mut of_code = OfCode::default();
        for byte in [5, 1, 4, 2, 3] {
            let shown = Shown {
                key: Key {
                    entry: String::new(),
                    byte: Some(byte),
                    record: None,
                    turn: 0,
                },
                count: byte,
                place: String::new(),
                text: String::new(),
                code: "RF001",
                help: "",
                indentation: 0,
            };
            of_code.add(shown, 3);
        }
        let shown_counts: Vec<u64> = of_code.shown.iter().map(|shown| shown.count).collect();
        assert_eq!((shown_counts, of_code.left), (vec![1, 2, 3], 9));
    }

    #[test]
    fn a_remedy_is_shown_in_one_sentence() {
        let help = first_sentence(codes::DANGLING_REFERENCE.page.fix);
        assert!(!help.ends_with('.') && !help.contains(". "), "{help}");
    }

    #[test]
    fn a_verdict_has_known_findings_and_the_judgement_of_each_dialect() {
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
             openai-chat would refuse 1 of 3 conversations; valid for chatml"
        );
    }
}
