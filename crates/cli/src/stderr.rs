//! Messages on stderr: a line that begins with the kind of message; under `--log-format json` one JSON object a line, of the shape
//! that log events have.

use std::ffi::OsString;
use std::sync::atomic::{AtomicBool, Ordering};

use chatmill_diag::visible::{visible_json, visible_lines};
use serde_json::json;

use crate::args::LogFormat;

/// Whether programs read along. The first thing that is done with the arguments sets it.
static IS_JSON: AtomicBool = AtomicBool::new(false);

/// What a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Word {
    /// Why a command does not do what was asked.
    Error,
    /// What is missing or doubtful.
    Warning,
    /// What is worth knowing.
    Note,
    /// The next step.
    Help,
    /// How far the work is.
    Progress,
}

impl Word {
    const fn prefix(self) -> &'static str {
        match self {
            Self::Error => "error: ",
            Self::Warning => "warning: ",
            Self::Note => "note: ",
            Self::Help => "help: ",
            Self::Progress => "",
        }
    }

    const fn level(self) -> &'static str {
        match self {
            Self::Error => "ERROR",
            Self::Warning => "WARN",
            Self::Note | Self::Help | Self::Progress => "INFO",
        }
    }
}

/// Chooses the form for the rest of the process.
pub(crate) fn choose(format: LogFormat) {
    IS_JSON.store(format == LogFormat::Json, Ordering::Relaxed);
}

/// Chooses the form from arguments that could not be understood as a whole.
pub(crate) fn choose_from(arguments: impl Iterator<Item = OsString>) {
    let mut before = OsString::new();
    for argument in arguments {
        if argument == "--log-format=json" || (before == "--log-format" && argument == "json") {
            choose(LogFormat::Json);
        }
        before = argument;
    }
}

/// Whether programs read along.
pub(crate) fn is_json() -> bool {
    IS_JSON.load(Ordering::Relaxed)
}

/// A text as it is written, with the line break at its end. Nothing is hidden in it.
pub(crate) fn line(word: Word, text: &str) -> String {
    form(word, text, is_json())
}

fn form(word: Word, text: &str, is_json: bool) -> String {
    if is_json {
        let event = json!({"level": word.level(), "fields": {"message": format!("{}{text}", word.prefix())}});
        format!("{}\n", visible_json(&event.to_string()))
    } else {
        format!("{}{}\n", word.prefix(), visible_lines(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_text_or_one_json_object() {
        assert_eq!(form(Word::Error, "a\u{1b}b", false), "error: a\\u{1b}b\n");
        let line = form(Word::Warning, "two\nlines", true);
        assert_eq!(line.matches('\n').count(), 1);
        let value: serde_json::Value = serde_json::from_str(&line).unwrap();
        assert_eq!(value["level"], "WARN");
        assert_eq!(value["fields"]["message"], "warning: two\nlines");
        assert_eq!(form(Word::Progress, "mill: 3 B", false), "mill: 3 B\n");
    }
}
