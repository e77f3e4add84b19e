//! A command in the process of somebody else: its words come back as text, and signals, progress and panics are the caller's.

use std::ffi::OsString;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use chatmill_engine::{PlanError, Progress};
use clap::Parser;

use crate::commands::{self, Cli};
use crate::context::Context;
use crate::exit::{self, Exit};
use crate::output;
use crate::progress::Meter;
use crate::signals::Signals;

/// What a command said, and how it ended.
#[derive(Debug)]
pub struct Answer {
    /// How it ended.
    pub exit: Exit,
    /// What it would have printed.
    pub text: String,
    /// Why it did not do what was asked, if it did not.
    pub fault: Option<Fault>,
}

/// Why a command did not do what was asked.
#[derive(Debug)]
pub struct Fault {
    /// What is wrong, with its causes and the next step.
    pub message: String,
    /// A word for the kind of error, where the request is at fault and the engine says so.
    pub code: Option<&'static str>,
    /// The key or the path that is at fault, where one is.
    pub place: Option<String>,
}

/// Does what `arguments` ask for, without the name of the program.
///
/// Writes nothing to stdout, and to stderr only which inputs the system did not let anybody read. `stop` ends what can be ended early.
pub fn answer(
    arguments: Vec<OsString>,
    listener: Arc<dyn Progress + Send + Sync>,
    stop: Arc<AtomicBool>,
) -> Answer {
    let words = std::iter::once(OsString::from("chatmill")).chain(arguments);
    let cli = match Cli::try_parse_from(words) {
        Ok(cli) => cli,
        Err(said) if said.use_stderr() => {
            let message = said.render().to_string();
            let fault = Fault {
                message: message.trim_start_matches("error: ").trim_end().to_owned(),
                code: Some("arguments"),
                place: None,
            };
            return Answer::new(Exit::WrongRequest, String::new(), Some(fault));
        }
        // Help, or the version.
        Err(said) => return Answer::new(Exit::Complete, said.render().to_string(), None),
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
        Err(error) => {
            let plan = exit::plan_error(&error);
            let fault = Fault {
                code: plan.map(PlanError::code),
                place: plan.and_then(PlanError::place),
                message: exit::in_words(&error),
            };
            Answer::new(Exit::of(&error, Exit::Interrupted), text, Some(fault))
        }
    }
}

impl Answer {
    fn new(exit: Exit, text: String, fault: Option<Fault>) -> Self {
        Self { exit, text, fault }
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
    fn what_would_be_printed_comes_back_as_text() {
        let said = ask(&["encodings", "--format", "json"]);
        assert_eq!(said.exit, Exit::Complete);
        assert!(said.text.contains("o200k_base"), "{}", said.text);
        assert!(ask(&["--version"]).text.starts_with("chatmill "));
    }

    #[test]
    fn what_is_wrong_comes_back_with_its_place() {
        let said = ask(&["run", "no-such.toml"]);
        assert_eq!(said.exit, Exit::WrongRequest);
        let fault = said.fault.unwrap();
        assert!(
            fault.message.contains("cannot read the pipeline file"),
            "{}",
            fault.message
        );
        assert_eq!(fault.place.as_deref(), Some("no-such.toml"));
        let said = ask(&["rnu"]);
        assert_eq!(said.exit, Exit::WrongRequest);
        assert!(said.fault.unwrap().message.contains("unrecognized subcommand"));
    }
}
