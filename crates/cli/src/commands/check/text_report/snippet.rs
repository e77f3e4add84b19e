//! The source text of a finding: one line, never wider than the terminal, with carets under the finding.
//!
//! Records may be lines of any length, so only a section of the line is available.

use chatmill_engine::check::Excerpt;
use unicode_width::UnicodeWidthStr;

use crate::terminal::{beginning, ending};

/// Marks text that is left out.
const CUT: &str = "…";

/// The source line without its indentation, and a line of carets under the finding, both of at most `columns` columns; `None` without text.
pub(in crate::commands::check) fn draw(excerpt: &Excerpt, columns: usize) -> Option<[String; 2]> {
    let whole = &excerpt.text;
    let indentation = (whole.len() - whole.trim_start().len()).min(excerpt.start);
    let begins_late = excerpt.begins_late && indentation == 0;
    // Room for a mark at each end.
    let available = columns.saturating_sub(2);
    let before = whole.get(indentation..excerpt.start)?;
    let inside = whole.get(excerpt.start..excerpt.end)?;
    // For an object or a list that fills the line, only the opening bracket is marked.
    let is_large = inside.width() > available / 2 || excerpt.ends_early && excerpt.end == whole.len();
    let end = if is_large && inside.starts_with(['{', '[']) {
        excerpt.start + 1
    } else {
        excerpt.end
    };
    let inside = whole.get(excerpt.start..end)?;
    let after = whole.get(end..)?.trim_end();
    let inside = if after.is_empty() {
        inside.trim_end()
    } else {
        inside
    };
    if before.is_empty() && inside.is_empty() && after.is_empty() {
        return None;
    }

    let shown_inside = beginning(inside, available - before.width().min(available / 3));
    // An empty finding has one caret.
    let rest = available.saturating_sub(shown_inside.width().max(1));
    let is_whole = shown_inside.len() == inside.len();
    let after = if is_whole { after } else { "" };
    let half = after.width().min(rest / 2);
    let shown_before = ending(before, rest - half);
    let shown_after = beginning(after, rest - shown_before.width());
    let is_late = begins_late || shown_before.len() < before.len();
    let is_early = excerpt.ends_early || !is_whole || shown_after.len() < after.len();
    let begin = if is_late { CUT } else { "" };
    let end = if is_early { CUT } else { "" };
    let carets = "^".repeat(shown_inside.width().max(1));
    Some([
        format!("{begin}{shown_before}{shown_inside}{shown_after}{end}"),
        format!("{}{carets}", " ".repeat(begin.width() + shown_before.width())),
    ])
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
            begins_late: false,
            ends_early: false,
        }
    }

    #[test]
    fn carets_stand_under_the_finding() {
        let [line, carets] = draw(&excerpt("   \"a\": 17, ", "17"), 80).unwrap();
        assert_eq!(line, "\"a\": 17,");
        assert_eq!(carets, "     ^^");
    }

    #[test]
    fn wide_characters_take_two_columns() {
        let [_, carets] = draw(&excerpt("\"名前\": \"値\"", "\"値\""), 80).unwrap();
        assert_eq!(carets, format!("{}{}", " ".repeat(8), "^".repeat(4)));
    }

    #[test]
    fn an_empty_span_still_has_a_caret_and_an_empty_line_none() {
        let at_end = Excerpt {
            start: 1,
            end: 1,
            ..excerpt("{", "{")
        };
        assert_eq!(draw(&at_end, 80).unwrap(), ["{".to_owned(), " ^".to_owned()]);
        let blank = Excerpt {
            start: 2,
            end: 2,
            ..excerpt("  ", "")
        };
        assert!(draw(&blank, 80).is_none());
    }

    #[test]
    fn no_line_is_wider_than_it_may_be_and_the_finding_is_always_in_it() {
        let texts = [
            ("short", "short"),
            (&"a".repeat(300), "a"),
            (&format!("{}HERE{}", "b".repeat(300), "c".repeat(300)), "HERE"),
            (&format!("{}値{}", "名".repeat(300), "前".repeat(300)), "値"),
            (
                &format!("{}{}", "d".repeat(30), "e".repeat(300)),
                &"e".repeat(300),
            ),
        ];
        for (text, inside) in texts {
            for columns in [20, 21, 40, 60, 80, 200, 1000] {
                let [line, carets] = draw(&excerpt(text, inside), columns).unwrap();
                assert!(line.width() <= columns, "{columns}: {line}");
                assert!(carets.width() <= columns, "{columns}: {carets}");
                let from = carets.trim_end_matches('^').len();
                let under = beginning(&line, carets.len());
                let under = ending(under, carets.len() - from);
                assert!(
                    inside.starts_with(under) && !under.is_empty(),
                    "{columns}: {under}"
                );
            }
        }
    }

    #[test]
    fn of_an_object_that_fills_the_line_the_bracket_is_marked() {
        let text = format!("\"a\": {{\"b\": \"{}\"}}", "c".repeat(100));
        let object = text.strip_prefix("\"a\": ").unwrap();
        let [line, carets] = draw(&excerpt(&text, object), 40).unwrap();
        assert_eq!(carets, "     ^");
        assert!(line.starts_with("\"a\": {\"b\": \"ccc"), "{line}");
        let [_, carets] = draw(&excerpt("\"a\": {\"b\": 1}", "{\"b\": 1}"), 40).unwrap();
        assert_eq!(carets, "     ^^^^^^^^", "a short one is marked whole");
    }

    #[test]
    fn text_that_is_cut_off_a_line_is_marked_with_an_ellipsis() {
        let text = format!("{}HERE{}", "b".repeat(300), "c".repeat(300));
        let [line, _] = draw(&excerpt(&text, "HERE"), 20).unwrap();
        assert_eq!(line, "…bbbbbbbHEREccccccc…");
        let late = Excerpt {
            begins_late: true,
            ends_early: true,
            ..excerpt("a, b", "b")
        };
        assert_eq!(draw(&late, 80).unwrap(), ["…a, b…", "    ^"]);
        let indented = Excerpt {
            ends_early: true,
            ..excerpt("   b", "b")
        };
        assert_eq!(draw(&indented, 80).unwrap(), ["b…", "^"]);
    }
}
