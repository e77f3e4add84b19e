//! Texts in Markdown that no reader takes for markup, HTML or links, in `CommonMark`, GitHub's Markdown and what else is in use.
//!
//! Signs with a meaning are escaped, and line breaks are kept. What a tool got or said is in a fence that is longer than any run of
//! backticks in it. Addresses of mail are the exception: readers that link them do so behind any escape.

use std::borrow::Cow;
use std::fmt::Write as _;

use chatmill_diag::markdown::plain;
use chatmill_diag::visible::{is_hidden, visible, visible_lines};

/// Whether a text has characters that are written as escapes.
pub(crate) fn has_hidden(text: &str) -> bool {
    let is_hidden = |sign| is_hidden(sign) && !matches!(sign, '\n' | '\t');
    without_returns(text).contains(is_hidden)
}

/// Whether a text has blanks that Markdown does not show: in front of a line, or tabulators.
pub(crate) fn has_blanks(text: &str) -> bool {
    text.contains('\t')
        || text
            .lines()
            .any(|line| line.starts_with(' ') && !line.trim().is_empty())
}

/// A text as paragraphs with its own lines.
pub(crate) fn paragraphs(text: &str) -> String {
    let text = without_returns(text).replace('\t', "    ");
    let mut out = String::with_capacity(text.len() + text.len() / 8);
    let mut lines = text.split('\n').peekable();
    while let Some(line) = lines.next() {
        let words = line.trim_start_matches(' ');
        let blanks = if words.is_empty() { " " } else { "\u{a0}" };
        out.push_str(&blanks.repeat(line.len() - words.len()));
        out.push_str(&escaped(words));
        if let Some(next) = lines.peek() {
            let is_paragraph = words.is_empty() || next.trim_matches(' ').is_empty();
            out.push_str(if is_paragraph { "\n" } else { "\\\n" });
        }
    }
    out
}

/// A text on one line.
pub(crate) fn line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    escaped(&words.join(" "))
}

/// A text between fences.
pub(crate) fn fenced(text: &str, language: &str) -> String {
    let text = without_returns(text);
    let text = visible_lines(&text);
    let longest = text.split(|sign| sign != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    // A line break at the end of a text is not that of the fence.
    let end = if text.is_empty() { "" } else { "\n" };
    format!("{fence}{language}\n{text}{end}{fence}")
}

/// A name between HTML tags: everything but letters, digits and a few signs as a reference.
pub(crate) fn html(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut out = String::new();
    for sign in visible(&words.join(" ")).chars() {
        if sign.is_alphanumeric() || matches!(sign, ' ' | '_' | '-' | '.') {
            out.push(sign);
        } else {
            // Writing to a string cannot fail.
            let _ = write!(out, "&#{};", u32::from(sign));
        }
    }
    out
}

/// A text with `\n` alone at the ends of its lines.
fn without_returns(text: &str) -> Cow<'_, str> {
    if text.contains("\r\n") {
        text.replace("\r\n", "\n").into()
    } else {
        text.into()
    }
}

/// A line in which nothing is markup.
fn escaped(line: &str) -> String {
    let mut safe = plain(line);
    for (sign, escape) in [
        // Bare addresses are links for some.
        ("://", "\\://"),
        ("w.", "w\\."),
        ("W.", "W\\."),
        ("{", "\\{"),
        ("^", "\\^"),
    ] {
        if safe.contains(sign) {
            safe = safe.replace(sign, escape);
        }
    }
    // A list, a line below a title, a definition.
    let digits = safe.len() - safe.trim_start_matches(|sign: char| sign.is_ascii_digit()).len();
    let behind = safe.split_at(digits).1;
    if digits > 0 && behind.starts_with(['.', ')']) {
        safe.insert(digits, '\\');
    } else if safe.starts_with(['+', '-', '=', ':']) {
        safe.insert(0, '\\');
    }
    safe
}
