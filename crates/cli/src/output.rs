//! Streams that results are written to: stdout, and the files of `--write`.

use std::io::{self, BufWriter, Write};
use std::path::Path;

use comfy_table::presets::NOTHING;
use comfy_table::{CellAlignment, ContentArrangement, LineStyle, Table};
use serde::Serialize;

/// A destination of results; a worker thread may write to it.
pub type Sink = Box<dyn Write + Send>;

/// Buffered stdout.
pub fn stdout() -> Sink {
    Box::new(BufWriter::new(io::stdout()))
}

/// A new file for results, in place of an older one.
pub fn file(path: &Path) -> anyhow::Result<Sink> {
    Ok(Box::new(BufWriter::new(chatmill_dataset::create_report(path)?)))
}

/// Prints a value as indented JSON.
pub fn print_json(value: &impl Serialize) -> anyhow::Result<()> {
    Ok(print(&serde_json::to_string_pretty(value)?)?)
}

/// Prints text; a last line break is added where it has none. When nobody reads it any more, that is no error: the
/// command's own exit code stands.
pub fn print(text: &str) -> io::Result<()> {
    let mut out = stdout();
    let end = if text.ends_with('\n') { "" } else { "\n" };
    let written = write!(out, "{text}{end}").and_then(|()| out.flush());
    match written {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

/// A table with a line under its header and numbers flush right from column `first_number` on.
pub fn table(header: Vec<String>, rows: Vec<Vec<String>>, first_number: usize) -> String {
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

/// Text for a terminal: control characters, which could move the cursor, are written as escapes.
pub fn harmless(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_control() {
            out.extend(character.escape_default());
        } else {
            out.push(character);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_do_not_reach_the_terminal() {
        assert_eq!(harmless("a\u{1b}[2Jb\nпривіт"), "a\\u{1b}[2Jb\\nпривіт");
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
