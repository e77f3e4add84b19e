//! Writes texts in Markdown so that no reader takes them for markup, HTML or links: `CommonMark`, GitHub's Markdown and others in use.
//!
//! Characters with a meaning are escaped, and line breaks are kept. Arguments and results of tools are in a fence that is longer than any
//! run of backticks in it. Mail addresses are an exception: readers that link them do so despite any escape.

use std::borrow::Cow;
use std::fmt::Write as _;

use chatmill_diag::markdown::plain;
use chatmill_diag::visible::{is_hidden, visible, visible_lines};

/// Whether a text has characters that are written as escapes.
pub(crate) fn has_hidden(text: &str) -> bool {
    let is_hidden = |sign| is_hidden(sign) && !matches!(sign, '\n' | '\t');
    without_returns(text).contains(is_hidden)
}

/// Whether a text has blanks that Markdown does not show: tabs, or blanks at the beginning of a line.
pub(crate) fn has_blanks(text: &str) -> bool {
    text.contains('\t')
        || text
            .lines()
            .any(|line| line.starts_with(' ') && !line.trim().is_empty())
}

/// Returns a text as paragraphs that keep its lines.
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

/// Returns a text on one line.
pub(crate) fn line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    escaped(&words.join(" "))
}

/// Returns a text as a fenced code block.
pub(crate) fn fenced(text: &str, language: &str) -> String {
    let text = without_returns(text);
    let text = visible_lines(&text);
    let longest = text.split(|sign| sign != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    // A line break at the end of the text is kept: the one before the fence is added to it.
    let end = if text.is_empty() { "" } else { "\n" };
    format!("{fence}{language}\n{text}{end}{fence}")
}

/// Returns a name for use in HTML: all characters except letters, digits and a few others become references.
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

/// Returns a text with `\n` instead of `\r\n`.
fn without_returns(text: &str) -> Cow<'_, str> {
    if text.contains("\r\n") {
        text.replace("\r\n", "\n").into()
    } else {
        text.into()
    }
}

/// Returns a line with everything escaped that could be markup.
fn escaped(line: &str) -> String {
    let mut safe = plain(line);
    for (sign, escape) in [
        // Some readers turn bare addresses into links.
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
    // At the beginning of a line these would be a list, an underlined title or a definition.
    let digits = safe.len() - safe.trim_start_matches(|sign: char| sign.is_ascii_digit()).len();
    let behind = safe.split_at(digits).1;
    if digits > 0 && behind.starts_with(['.', ')']) {
        safe.insert(digits, '\\');
    } else if safe.starts_with(['+', '-', '=', ':']) {
        safe.insert(0, '\\');
    }
    safe
}
