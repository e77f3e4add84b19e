//! Untrusted text inside Markdown and YAML that this program writes: it is displayed and never interpreted.

use crate::visible::{visible, visible_json};

/// A text on one line without markup: for headings, paragraphs and cells of tables.
pub fn plain(text: &str) -> String {
    let shown = visible(text);
    let mut safe = String::with_capacity(shown.len());
    for character in shown.chars() {
        match character {
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '&' => safe.push_str("&amp;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '#' | '|' | '!' | '~' | '$' => {
                safe.extend(['\\', character]);
            }
            other => safe.push(other),
        }
    }
    safe
}

/// A text as code on one line. Not for a cell of a table: there no escape of a bar is safe after a backslash.
pub fn code(text: &str) -> String {
    let shown = visible(text);
    // Code ends at the next run of backticks with the length of its first run.
    let longest = shown.split(|sign| sign != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let is_bordered = shown.starts_with(['`', ' ']) || shown.ends_with(['`', ' ']) || shown.is_empty();
    let pad = if is_bordered { " " } else { "" };
    format!("{fence}{pad}{shown}{pad}{fence}")
}

/// A text on one line: as prose if no character needs an escape, else as code, so that a terminal shows it as written.
pub fn clause(text: &str) -> String {
    let prose = plain(text);
    if prose == text { prose } else { code(text) }
}

/// A text as a scalar of YAML in double quotes: JSON strings are YAML.
pub fn scalar(text: &str) -> String {
    let json = serde_json::Value::from(text).to_string();
    // Characters that JSON allows and a YAML file does not.
    visible_json(&json)
        .replace('\u{feff}', "\\ufeff")
        .replace('\u{fffe}', "\\ufffe")
        .replace('\u{ffff}', "\\uffff")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_text_is_no_markup() {
        assert_eq!(plain("<b>*x*\n[y](z)"), "&lt;b&gt;\\*x\\*\\\\n\\[y\\](z)");
        assert_eq!(
            plain("a|b ~c~ $d$ \u{1b}\u{202e}"),
            "a\\|b \\~c\\~ \\$d\\$ \\\\u{1b}\\\\u{202e}"
        );
        assert_eq!(plain("openai-chat@document"), "openai-chat@document");
    }

    #[test]
    fn code_does_not_end_early() {
        assert_eq!(code("messages"), "`messages`");
        assert_eq!(code("a`b``c"), "```a`b``c```");
        assert_eq!(code("`"), "`` ` ``");
        assert_eq!(code("a\n"), "`a\\n`");
    }

    #[test]
    fn a_scalar_is_one_line_of_yaml() {
        assert_eq!(scalar("a: \"b\"\n- c"), "\"a: \\\"b\\\"\\n- c\"");
        assert_eq!(
            scalar("\u{7f}\u{9b}\u{202e}\u{2028}\u{feff}"),
            "\"\\u007f\\u009b\\u202e\\u2028\\ufeff\""
        );
    }
}
