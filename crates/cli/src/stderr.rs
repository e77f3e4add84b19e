//! Messages on stderr: lines that begin with the kind of message, or, under `--log-format json`, one JSON object per line with the fields
//! of log events.

use std::ffi::OsString;
use std::sync::atomic::{AtomicBool, Ordering};

use chatmill_diag::visible::{visible_json, visible_lines};
use serde_json::json;

use crate::args::LogFormat;

/// Whether messages are JSON. It is set before anything else is done with the arguments.
static IS_JSON: AtomicBool = AtomicBool::new(false);

/// The kind of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Word {
    /// Why a command fails.
    Error,
    /// Something is missing or doubtful.
    Warning,
    /// Information.
    Note,
    /// The next step.
    Help,
    /// The progress of the work.
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

/// Chooses the format for the rest of the process.
pub(crate) fn choose(format: LogFormat) {
    IS_JSON.store(format == LogFormat::Json, Ordering::Relaxed);
}

/// Chooses the format from arguments that clap refused.
pub(crate) fn choose_from(arguments: impl Iterator<Item = OsString>) {
    let mut before = OsString::new();
    for argument in arguments {
        if argument == "--log-format=json" || (before == "--log-format" && argument == "json") {
            choose(LogFormat::Json);
        }
        before = argument;
    }
}

/// Whether messages are JSON.
pub(crate) fn is_json() -> bool {
    IS_JSON.load(Ordering::Relaxed)
}

/// A message with its line break; hidden characters are escaped.
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
