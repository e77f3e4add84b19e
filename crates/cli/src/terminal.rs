//! The width of the terminal, and text that fits in it. Wide characters take two columns, as terminals show them.

use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering};
use std::{env, io};

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The width of output that is not written to a terminal.
pub(crate) const COLUMNS_OF_A_FILE: usize = 100;

/// The smallest width of any layout.
const FEWEST_COLUMNS: usize = 40;

/// The largest width of any layout.
const MOST_COLUMNS: usize = 400;

/// The width of stdout: `COLUMNS` of the environment, else that of the terminal, else [`COLUMNS_OF_A_FILE`].
pub(crate) fn columns() -> usize {
    let environment = env::var("COLUMNS").ok().and_then(|text| text.parse().ok());
    let seen = || {
        let size = terminal_size::terminal_size_of(io::stdout());
        size.map(|(width, _)| usize::from(width.0))
    };
    bounded(environment.or_else(seen))
}

/// Whether tables show all columns.
static IS_WIDE: AtomicBool = AtomicBool::new(false);

/// Makes tables show all columns, however narrow the terminal is.
pub(crate) fn show_all_columns() {
    IS_WIDE.store(true, Ordering::Relaxed);
}

/// Whether tables show all columns, and all rows where they would show only the first.
pub(crate) fn shows_all() -> bool {
    IS_WIDE.load(Ordering::Relaxed)
}

/// The width that a table may have.
pub(crate) fn table_columns() -> usize {
    if shows_all() { usize::MAX } else { columns() }
}

/// The width that prose may have: that of the terminal; unlimited in files and pipes.
pub(crate) fn prose_columns() -> usize {
    let is_shown = env::var_os("COLUMNS").is_some() || io::stdout().is_terminal();
    if is_shown { table_columns() } else { usize::MAX }
}

/// Prose, wrapped to the width of the terminal.
pub(crate) fn prose(text: &str, indentation: usize) -> String {
    let lines = text
        .split('\n')
        .map(|line| wrapped(line, prose_columns(), indentation));
    lines.collect::<Vec<_>>().join("\n")
}

/// Markdown, wrapped to the width of the terminal; code blocks and tables are unchanged.
pub(crate) fn markdown(text: &str) -> String {
    let mut is_code = false;
    let lines = text.split('\n').map(|line| {
        let is_fence = line.starts_with("```");
        is_code ^= is_fence;
        if is_code || is_fence || line.starts_with('|') {
            line.to_owned()
        } else {
            wrapped(line, prose_columns(), if line.starts_with("- ") { 2 } else { 0 })
        }
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn bounded(columns: Option<usize>) -> usize {
    let columns = columns.filter(|columns| *columns > 0);
    columns.map_or(COLUMNS_OF_A_FILE, |columns| {
        columns.clamp(FEWEST_COLUMNS, MOST_COLUMNS)
    })
}

/// A line, cut to the width of the terminal; whole in files and pipes.
pub(crate) fn clipped(line: &str) -> String {
    let columns = prose_columns();
    if line.width() <= columns {
        return line.to_owned();
    }
    format!("{}…", beginning(line, columns.saturating_sub(1)))
}

/// The beginning of a text that fits in `columns`.
pub(crate) fn beginning(text: &str, columns: usize) -> &str {
    let mut taken = 0;
    let end = text.char_indices().find(|(_, character)| {
        taken += character.width().unwrap_or(0);
        taken > columns
    });
    end.map_or(text, |(at, _)| text.get(..at).unwrap_or(text))
}

/// The end of a text that fits in `columns`.
pub(crate) fn ending(text: &str, columns: usize) -> &str {
    let mut taken = 0;
    let mut from = text.len();
    for (at, character) in text.char_indices().rev() {
        taken += character.width().unwrap_or(0);
        if taken > columns {
            break;
        }
        from = at;
    }
    text.get(from..).unwrap_or(text)
}

/// A path of at most `columns` columns; if it is longer, its end is shown.
pub(crate) fn short_path(path: &str, columns: usize) -> String {
    if path.width() <= columns {
        return path.to_owned();
    }
    format!("…{}", ending(path, columns.saturating_sub(1)))
}

/// A name of at most `columns` columns; the middle of a longer one is left out.
pub(crate) fn short_name(name: &str, columns: usize) -> String {
    if name.width() <= columns {
        return name.to_owned();
    }
    let shown = columns.saturating_sub(1);
    let first = beginning(name, shown / 2);
    format!("{first}…{}", ending(name, shown - shown / 2))
}

/// Text in lines of at most `columns` columns, broken between words; all lines but the first are indented. A word that is longer gets a
/// separate line.
pub(crate) fn wrapped(text: &str, columns: usize, indentation: usize) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    let mut taken = 0;
    for (index, word) in text.split(' ').enumerate() {
        let width = word.width();
        let begins = index == 0 || out.trim_start_matches(' ').is_empty();
        if !begins && taken + 1 + width > columns {
            out.push('\n');
            out.extend(std::iter::repeat_n(' ', indentation));
            taken = indentation;
        } else if index > 0 {
            out.push(' ');
            taken += 1;
        }
        out.push_str(word);
        taken += width;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_width_has_bounds_and_a_default() {
        let bounds = [None, Some(0), Some(39), Some(40), Some(80), Some(400), Some(401)].map(bounded);
        assert_eq!(bounds, [100, 100, 40, 40, 80, 400, 400]);
    }

    #[test]
    fn a_text_is_cut_by_columns_and_never_inside_a_character() {
        assert_eq!(beginning("abc", 2), "ab");
        assert_eq!(beginning("名前", 3), "名");
        assert_eq!(beginning("abc", 9), "abc");
        assert_eq!(ending("abc", 2), "bc");
        assert_eq!(ending("名前", 3), "前");
        assert_eq!(ending("abc", 0), "");
    }

    #[test]
    fn a_long_path_is_shortened_to_its_end() {
        assert_eq!(short_path("a/b.json", 8), "a/b.json");
        assert_eq!(short_path("aa/b.json", 8), "…/b.json");
    }

    #[test]
    fn a_long_name_is_shortened_in_its_middle() {
        assert_eq!(short_name("abcdefgh", 8), "abcdefgh");
        assert_eq!(short_name("abcdefghi", 8), "abc…fghi");
    }

    #[test]
    fn lines_break_between_words() {
        assert_eq!(wrapped("one two three", 7, 2), "one two\n  three");
        assert_eq!(wrapped("one", 1, 2), "one");
        assert_eq!(wrapped("a incomprehensible b", 5, 1), "a\n incomprehensible\n b");
        assert_eq!(wrapped("", 5, 1), "");
        assert_eq!(wrapped("  a b", 4, 3), "  a\n   b", "blanks before the text stay");
    }
}
