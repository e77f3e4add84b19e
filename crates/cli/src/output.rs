//! The streams to which results are written: stdout, and the files of `--write`.
//!
//! Why: docs/decisions/2026-11-22-hidden-characters-in-terminals.md.

use std::cell::RefCell;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use anstream::{AutoStream, ColorChoice};
use chatmill_dataset::{ReportFile, create_report};
use chatmill_diag::visible::{visible, visible_json, visible_lines};
use comfy_table::presets::NOTHING;
use comfy_table::{CellAlignment, ContentArrangement, LineStyle, Table};
use serde::Serialize;
use unicode_width::UnicodeWidthStr;

use crate::exit::Outcome;
use crate::terminal;

/// A destination of results; a worker thread may write to it.
pub(crate) type Output = Box<dyn Write + Send>;

thread_local! {
    /// Where this thread's output goes in place of stdout, while a caller captures it.
    static CAPTURED: RefCell<Option<Captured>> = const { RefCell::new(None) };
}

/// A buffer for captured output.
#[derive(Clone, Default)]
struct Captured(Arc<Mutex<Vec<u8>>>);

impl Write for Captured {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut buffer = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        buffer.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Runs `work`, and returns its result and the captured output.
pub(crate) fn captured<T>(work: impl FnOnce() -> T) -> (T, String) {
    let buffer = Captured::default();
    CAPTURED.set(Some(buffer.clone()));
    let result = work();
    CAPTURED.set(None);
    let bytes = std::mem::take(&mut *buffer.0.lock().unwrap_or_else(PoisonError::into_inner));
    (result, String::from_utf8_lossy(&bytes).into_owned())
}

/// Buffered stdout, or the buffer if output is captured.
pub(crate) fn stdout() -> Output {
    match CAPTURED.with_borrow(Clone::clone) {
        Some(captured) => Box::new(captured),
        None => Box::new(BufWriter::new(io::stdout())),
    }
}

/// Whether stdout is a terminal, and output is not captured.
pub(crate) fn is_on_terminal() -> bool {
    CAPTURED.with_borrow(Option::is_none) && io::stdout().is_terminal()
}

/// A file for results, and the handle that gives it its name, in place of an older file, when everything is written. `inputs` are never
/// overwritten.
pub(crate) fn file(path: &Path, inputs: &[&Path]) -> Outcome<(Output, ReportFile)> {
    let file = create_report(path, inputs)?;
    Ok((Box::new(BufWriter::new(file.clone())), file))
}

/// Prints a value as indented JSON; hidden characters are escaped.
pub(crate) fn print_json(value: &impl Serialize) -> Outcome<()> {
    Ok(print_file(&visible_json(&serde_json::to_string_pretty(value)?))?)
}

/// A value as JSON on one line; hidden characters are escaped.
pub(crate) fn json_line(value: &impl Serialize) -> serde_json::Result<String> {
    Ok(visible_json(&serde_json::to_string(value)?).into_owned())
}

/// Prints text, in which content of inputs cannot control the terminal. Content that must not start a new line has to pass through
/// [`harmless`] first.
pub(crate) fn print(text: &str) -> io::Result<()> {
    print_file(&visible_lines(text))
}

/// Prints the text of a file, and adds a final line break if it has none. A closed pipe is not an error: the exit code of the command is
/// kept.
pub(crate) fn print_file(text: &str) -> io::Result<()> {
    let mut out = stdout();
    let end = if text.ends_with('\n') { "" } else { "\n" };
    let written = write!(out, "{text}{end}").and_then(|()| out.flush());
    match written {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

/// A table with a rule under its header; columns from `first_number` on are aligned right.
pub(crate) fn table(header: Vec<String>, rows: Vec<Vec<String>>, first_number: usize) -> String {
    let mut table = Table::new();
    table
        .load_style(NOTHING.header_separator(LineStyle::none().fill('-').junction('-')))
        .set_content_arrangement(ContentArrangement::Disabled)
        .set_header(header)
        .add_rows(rows);
    for column in table.column_iter_mut().skip(first_number) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table.trim_fmt()
}

/// A table of at most `columns` columns of the terminal. As long as it is wider, columns are left out: first text columns and those of
/// `spare` with one value in all rows, then those of `spare`, in its order; of columns with the same name the last is taken. A line under
/// the table counts them. If it is still too wide, the widest texts are shortened.
pub(crate) fn fitted(
    header: impl IntoIterator<Item = impl Into<String>>,
    rows: impl IntoIterator<Item = Vec<String>>,
    mut first_number: usize,
    spare: &[&str],
    columns: usize,
) -> String {
    let mut header: Vec<String> = header.into_iter().map(Into::into).collect();
    let mut rows: Vec<Vec<String>> = rows.into_iter().collect();
    let mut left_out = 0;
    let constant = header.iter().enumerate().skip(1).rev();
    let constant = constant.filter(|(place, name)| {
        let may_go = *place < first_number || spare.contains(&name.as_str());
        may_go && is_constant(&rows, *place)
    });
    let constant: Vec<String> = constant.map(|(_, name)| name.clone()).collect();
    let spare = constant.iter().map(String::as_str).chain(spare.iter().copied());
    for name in spare {
        if width(&table(header.clone(), rows.clone(), first_number)) <= columns {
            break;
        }
        let Some(place) = header.iter().rposition(|head| head == name) else {
            continue;
        };
        header.remove(place);
        for row in rows.iter_mut().filter(|row| place < row.len()) {
            row.remove(place);
        }
        first_number -= usize::from(place < first_number);
        left_out += 1;
    }
    let drawn = width(&table(header.clone(), rows.clone(), first_number));
    shorten(&mut rows, first_number, drawn.saturating_sub(columns));
    let drawn = table(header, rows, first_number);
    match left_out {
        0 => format!("{drawn}\n"),
        1 => format!("{drawn}\n1 column does not fit; --wide shows all\n"),
        _ => format!("{drawn}\n{left_out} columns do not fit; --wide shows all\n"),
    }
}

/// Whether all non-empty cells of a column are equal, if there are several rows.
fn is_constant(rows: &[Vec<String>], place: usize) -> bool {
    let cells = rows.iter().filter_map(|row| row.get(place));
    let mut cells = cells.filter(|cell| !cell.is_empty());
    let first = cells.next();
    rows.len() > 1 && cells.all(|cell| Some(cell) == first)
}

/// The width of a table, in columns of the terminal.
fn width(table: &str) -> usize {
    let lines = table.lines().map(|line| line.trim_end().width());
    lines.max().unwrap_or_default()
}

/// Shortens the cells of the widest text column by `too_many` columns.
fn shorten(rows: &mut [Vec<String>], first_number: usize, too_many: usize) {
    let widest = |place: usize| {
        rows.iter()
            .filter_map(|row| row.get(place))
            .map(|word| word.width())
            .max()
    };
    let widest = (0..first_number)
        .filter_map(|place| Some((widest(place)?, place)))
        .max();
    let Some((widest, place)) = widest.filter(|_| too_many > 0) else {
        return;
    };
    let most_columns = widest.saturating_sub(too_many).max(LEAST_WORD);
    for word in rows.iter_mut().filter_map(|row| row.get_mut(place)) {
        *word = terminal::short_name(word, most_columns);
    }
}

/// The width at least of a shortened cell.
const LEAST_WORD: usize = 12;

/// Text of an input as one line; hidden characters are escaped.
pub(crate) fn harmless(text: &str) -> String {
    visible(text).into_owned()
}

/// A path as one line; hidden characters are escaped.
pub(crate) fn shown(path: &Path) -> String {
    harmless(&path.display().to_string())
}

/// The emphasis of a word on a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// An error.
    Error,
    /// Something suspicious.
    Warning,
    /// Information.
    Note,
    /// Success.
    Good,
}

/// Whether words are coloured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Colours(bool);

impl Colours {
    /// No colours, for files and programs.
    pub(crate) const NONE: Self = Self(false);

    /// Colours if stdout is a terminal, and the environment (`NO_COLOR`, `CLICOLOR`, `TERM`) allows them.
    pub(crate) fn of_stdout() -> Self {
        Self(AutoStream::choice(&io::stdout()) != ColorChoice::Never)
    }

    /// A word in its colour.
    pub(crate) fn paint(self, style: Style, word: &str) -> String {
        let number = match style {
            Style::Error => 31,
            Style::Warning => 33,
            Style::Note => 36,
            Style::Good => 32,
        };
        self.paint_as(&format!("1;{number}"), word)
    }

    /// A text in a rendition such as `1;31`; unchanged if the rendition is empty.
    pub(crate) fn paint_as(self, rendition: &str, text: &str) -> String {
        if self.0 && !rendition.is_empty() {
            format!("\u{1b}[{rendition}m{text}\u{1b}[0m")
        } else {
            text.to_owned()
        }
    }

    /// A word in its colour; the blanks before it are not coloured.
    pub(crate) fn paint_after_blanks(self, style: Style, word: &str) -> String {
        let bare = word.trim_start_matches(' ');
        let blanks = word.strip_suffix(bare).unwrap_or_default();
        format!("{blanks}{}", self.paint(style, bare))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_coloured_only_where_colours_are_wanted() {
        assert_eq!(Colours::NONE.paint(Style::Error, "error"), "error");
        assert_eq!(
            Colours(true).paint(Style::Error, "error"),
            "\u{1b}[1;31merror\u{1b}[0m"
        );
        assert_eq!(
            Colours(true).paint_after_blanks(Style::Note, "  ^^"),
            "  \u{1b}[1;36m^^\u{1b}[0m"
        );
    }

    #[test]
    fn control_characters_do_not_reach_the_terminal() {
        assert_eq!(
            harmless("a\u{1b}[2Jb\n\u{202e}привіт"),
            "a\\u{1b}[2Jb\\n\\u{202e}привіт"
        );
    }

    #[test]
    fn columns_that_do_not_fit_are_left_out_in_order_and_counted() {
        let row = |word: &str| {
            vec![
                word.to_owned(),
                "alpha".to_owned(),
                "1".to_owned(),
                "22222".to_owned(),
            ]
        };
        let header = || ["name", "kind", "few", "many"].map(str::to_owned).to_vec();
        let drawn = |columns| fitted(header(), vec![row("ann")], 2, &["kind", "many"], columns);
        assert!(
            drawn(80).contains("kind") && !drawn(80).contains("--wide"),
            "{}",
            drawn(80)
        );
        let narrow = drawn(22);
        assert!(!narrow.contains("kind") && narrow.contains("many"), "{narrow}");
        assert!(narrow.contains("1 column does not fit"), "{narrow}");
        let two = || {
            let mut other = row("ben");
            other[3] = "1".to_owned();
            vec![row("ann"), other]
        };
        let narrow = fitted(header(), two(), 2, &["many"], 22);
        assert!(!narrow.contains("kind") && narrow.contains("many"), "{narrow}");
        let narrowest = drawn(3);
        assert!(
            narrowest.contains("few") && !narrowest.contains("many"),
            "{narrowest}"
        );
    }

    #[test]
    fn words_are_shortened_when_no_column_can_be_left_out() {
        let rows = vec![
            vec![
                "in/2026/a-rather-long-name.jsonl".to_owned(),
                "x".to_owned(),
                "7".to_owned(),
            ],
            vec!["in/b.jsonl".to_owned(), "y".to_owned(), "7".to_owned()],
        ];
        let header = ["Input", "source", "framed"].map(str::to_owned).to_vec();
        let drawn = fitted(header.clone(), rows.clone(), 2, &[], 40);
        assert!(width(&drawn) <= 40 && drawn.contains("in/2026/a…"), "{drawn}");
        assert!(
            drawn.contains("…name.jsonl") && drawn.contains(" in/b.jsonl "),
            "{drawn}"
        );
        assert!(width(&fitted(header, rows, 2, &[], 100)) > 40);
    }

    #[test]
    fn numbers_stand_flush_right() {
        let rows = vec![
            vec!["a".to_owned(), "7".to_owned()],
            vec!["b".to_owned(), "1,234".to_owned()],
        ];
        let drawn = table(vec!["name".to_owned(), "tokens".to_owned()], rows, 1);
        let ends: Vec<usize> = drawn
            .lines()
            .skip(2)
            .map(|line| line.trim_end().chars().count())
            .collect();
        assert_eq!(ends.len(), 2, "{drawn}");
        assert_eq!(ends.first(), ends.last(), "{drawn}");
    }
}
