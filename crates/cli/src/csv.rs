//! Lines for spreadsheets, in the form of RFC 4180. Every `--format csv` is written here.
//!
//! A cell is never evaluated as a formula, never breaks its line, and has no hidden characters: control characters and direction marks are
//! written as escapes (`
//! `, `\u{1b}`), and text that a spreadsheet would evaluate gets an apostrophe in front.

use chatmill_diag::visible::visible;

/// A line of cells, with its line break.
pub(crate) fn line<C: AsRef<str>>(cells: impl IntoIterator<Item = C>) -> String {
    let cells: Vec<String> = cells.into_iter().map(|text| cell(text.as_ref())).collect();
    format!("{}\n", cells.join(","))
}

/// A cell, quoted if it contains a comma or a quotation mark.
fn cell(text: &str) -> String {
    let shown = visible(text);
    // The text is judged before it is escaped: a tabulator at its beginning is an escape by now.
    let guard = if is_formula(text) { "'" } else { "" };
    if shown.contains(['"', ',']) {
        format!("\"{guard}{}\"", shown.replace('"', "\"\""))
    } else {
        format!("{guard}{shown}")
    }
}

/// Whether a spreadsheet might evaluate a text. Some skip blanks and quotation marks at its beginning.
fn is_formula(text: &str) -> bool {
    if text.starts_with(['\t', '\r', '\n']) {
        return true;
    }
    let bare = text.trim_start_matches(|character: char| {
        character == '"' || character.is_whitespace() || character == '\u{feff}'
    });
    // Spreadsheets in Chinese or Japanese treat full-width characters like the ASCII ones.
    bare.starts_with(['=', '+', '-', '@', '＝', '＋', '－', '＠']) && !is_number(text)
}

/// Whether a text is a plain number: `-100123` and `+1.5` are, `-1+1` and `-inf` are not.
fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    digits.starts_with(|character: char| character.is_ascii_digit())
        && digits.ends_with(|character: char| character.is_ascii_digit())
        && text.parse::<f64>().is_ok_and(f64::is_finite)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_is_quoted_only_where_it_must_be() {
        assert_eq!(line(["exports/a b.json", "", "7"]), "exports/a b.json,,7\n");
        assert_eq!(cell("a,\"b\""), "\"a,\"\"b\"\"\"");
    }

    #[test]
    fn a_cell_is_never_a_formula() {
        for (text, expected) in [
            ("=1+1", "'=1+1"),
            ("+a", "'+a"),
            ("-a", "'-a"),
            ("@sum(a1)", "'@sum(a1)"),
            ("\t=1", "'\\t=1"),
            ("\rx", "'\\rx"),
            ("\"=1\"", "\"'\"\"=1\"\"\""),
            (" =1", "' =1"),
            ("＝1", "'＝1"),
            ("=cmd|'/c calc'!a1,b", "\"'=cmd|'/c calc'!a1,b\""),
            ("-inf", "'-inf"),
            ("-1+1", "'-1+1"),
            ("-", "'-"),
        ] {
            assert_eq!(cell(text), expected, "{text:?}");
        }
    }

    #[test]
    fn plain_numbers_stay_numbers() {
        for number in ["-100123", "+7", "-0.25", "-1.5e-7", "42", "2026-01-02"] {
            assert_eq!(cell(number), number);
        }
    }

    #[test]
    fn a_cell_stays_on_its_line_and_hides_nothing() {
        assert_eq!(
            cell("a\r\nb\0\u{1b}[2J\u{9b}\u{202e}c\u{2028}"),
            "a\\r\\nb\\u{0}\\u{1b}[2J\\u{9b}\\u{202e}c\\u{2028}"
        );
    }
}
