//! Errors in settings files: the message of the TOML reader, with only a short quotation from the file.

/// The number of characters of a line that an error shows.
const SHOWN: usize = 100;

/// The number of lines that are searched for a setting, to decide whether a text is a settings file.
const LOOKED_AT: usize = 1_000;

/// The error of a TOML reader, with the quoted line cut around its mark. Nothing is quoted from a text without any setting, because it is
/// most likely a chat.
pub fn settings_error(text: &str, error: &str) -> String {
    let error = error.trim_end();
    if !has_settings(text) {
        let (place, quoted) = error.split_once('\n').unwrap_or((error, ""));
        let (_, reason) = quoted.rsplit_once('\n').unwrap_or(("", quoted));
        let place = place.strip_prefix("TOML parse error at ").unwrap_or(place);
        return format!("not a settings file (TOML): {place}: {}", clipped(reason, 0));
    }
    let is_quoted = |line: &str| line.contains(" | ");
    let is_long = error
        .lines()
        .any(|line| is_quoted(line) && line.chars().count() > SHOWN);
    let caret = error
        .lines()
        .find(|line| line.trim_start().starts_with("| ") && line.trim_end().ends_with('^'));
    let mark = caret.and_then(|line| line.find('^')).filter(|_| is_long);
    let from = mark.map_or(0, |mark| mark.saturating_sub(SHOWN / 2));
    let lines = error.lines().map(|line| {
        if is_quoted(line) || Some(line) == caret {
            clipped(line, from)
        } else {
            line.to_owned()
        }
    });
    lines.collect::<Vec<String>>().join("\n")
}

/// Whether any line of a text looks like a setting.
pub fn has_settings(text: &str) -> bool {
    text.lines().take(LOOKED_AT).any(is_setting)
}

/// Whether a line is a key with a value, or the head of a table.
fn is_setting(line: &str) -> bool {
    let line = line.trim();
    let is_key = |key: &str| {
        let is_sign = |sign: char| sign.is_ascii_alphanumeric() || "_-.".contains(sign);
        !key.is_empty() && key.chars().all(is_sign)
    };
    // A head without a closing bracket counts.
    let head = line.strip_prefix('[').and_then(|rest| rest.split(']').next());
    let head = head.map(|key| key.trim_start_matches('['));
    head.is_some_and(is_key) || line.split_once('=').is_some_and(|(key, _)| is_key(key.trim()))
}

/// The first [`SHOWN`] characters of a line from a position on, with marks of the cuts.
fn clipped(line: &str, from: usize) -> String {
    let shown: String = line.chars().skip(from).take(SHOWN).collect();
    let after = if line.chars().count() > from + SHOWN {
        "…"
    } else {
        ""
    };
    format!("{}{shown}{after}", if from > 0 { "…" } else { "" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_without_settings_is_not_quoted() {
        let error = "TOML parse error at line 1, column 1\n  |\n1 | {\"messages\": \"secret\"}\n  | ^\ninvalid key, expected key\n";
        for text in [
            "{\"messages\": \"secret\"}",
            "[{\"a\": 1}]",
            "name,text\nAda,secret",
            "<html>",
            "",
        ] {
            assert_eq!(
                settings_error(text, error),
                "not a settings file (TOML): line 1, column 1: invalid key, expected key"
            );
        }
    }

    #[test]
    fn a_long_line_is_cut_around_its_mark() {
        let line = format!("name = \"{}\" x", "a".repeat(400));
        let error = format!(
            "TOML parse error at line 1, column 411\n  |\n1 | {line}\n  | {}^\nexpected newline",
            " ".repeat(410)
        );
        let shown = settings_error(&line, &error);
        let lines: Vec<&str> = shown.lines().collect();
        assert!(
            lines.iter().all(|line| line.chars().count() <= SHOWN + 2),
            "{shown}"
        );
        let mark = lines[3].chars().position(|sign| sign == '^').unwrap();
        assert_eq!(lines[2].chars().nth(mark), Some('x'), "{shown}");
    }

    #[test]
    fn a_short_error_stays_as_it_is() {
        let error = "TOML parse error at line 2, column 1\n  |\n2 | x\n  | ^\nexpected `=`";
        assert_eq!(settings_error("[input]\nx", error), error);
        assert_eq!(settings_error("a-b.c = 1", error), error);
    }
}
