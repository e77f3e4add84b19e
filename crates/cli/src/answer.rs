//! Runs a command inside another process (the Python package) and returns its output as text. Signals, progress and panics are handled by
//! the caller.

use std::ffi::OsString;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use chatmill_engine::Progress;

use crate::commands::{self, Cli};
use crate::context::Context;
use crate::exit::{CommandError, Exit};
use crate::output;
use crate::progress::Meter;
use crate::signals::Signals;

/// The output of a command, and its exit.
#[derive(Debug)]
pub struct Answer {
    /// How the command ended.
    pub exit: Exit,
    /// The text that the command would have printed.
    pub text: String,
    /// The error, if the command failed.
    pub error: Option<CommandError>,
}

/// Runs the command in `arguments`, which do not include the name of the program.
///
/// Writes nothing to stdout, and to stderr only the inputs that the system could not read. `stop` ends commands that can end early.
pub fn answer(
    arguments: Vec<OsString>,
    listener: Arc<dyn Progress + Send + Sync>,
    stop: Arc<AtomicBool>,
) -> Answer {
    let words = std::iter::once(OsString::from("chatmill")).chain(arguments);
    let cli = match Cli::parse_words(words) {
        Ok(cli) => cli,
        Err(error) if error.use_stderr() => {
            let message = error.render().to_string();
            let mut error = CommandError::request(message.trim_start_matches("error: ").trim_end());
            error.advice.code = Some("arguments");
            return Answer::new(Exit::WrongRequest, String::new(), Some(error));
        }
        // Help, or the version.
        Err(error) => return Answer::new(Exit::Complete, error.render().to_string(), None),
    };
    let meter = Meter::heard(listener);
    let signals = Signals::of(stop);
    let context = Context {
        global: &cli.global,
        meter: &meter,
        signals: &signals,
    };
    let (outcome, text) = output::captured(|| commands::dispatch(cli.command, &context));
    match outcome {
        Ok(exit) => Answer::new(exit, text, None),
        Err(error) => Answer::new(Exit::of(&error, Exit::Interrupted), text, Some(error)),
    }
}

impl Answer {
    fn new(exit: Exit, text: String, error: Option<CommandError>) -> Self {
        Self { exit, text, error }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chatmill_engine::Silent;

    fn ask(words: &[&str]) -> Answer {
        let words = words.iter().map(OsString::from).collect();
        answer(words, Arc::new(Silent), Arc::default())
    }

    #[test]
    fn output_is_returned_as_text() {
        let answer = ask(&["encodings", "--format", "json"]);
        assert_eq!(answer.exit, Exit::Complete);
        assert!(answer.text.contains("o200k_base"), "{}", answer.text);
        assert!(ask(&["--version"]).text.starts_with("chatmill "));
    }

    #[test]
    fn an_error_is_returned_with_its_place() {
        let answer = ask(&["run", "no-such.toml"]);
        assert_eq!(answer.exit, Exit::WrongRequest);
        let error = answer.error.unwrap();
        let words = error.in_words();
        assert!(words.contains("cannot read the pipeline file"), "{words}");
        assert_eq!(error.advice.place.as_deref(), Some("no-such.toml"));
        let answer = ask(&["rnu"]);
        assert_eq!(answer.exit, Exit::WrongRequest);
        assert!(
            answer
                .error
                .unwrap()
                .in_words()
                .contains("unrecognized subcommand")
        );
    }
}
