//! Exit codes and the error message on stderr: the one place where an error becomes a number.
//!
//! Why: docs/decisions/2026-11-22-exit-codes.md.

use std::env;
use std::error::Error;
use std::fmt;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use chatmill_dataset::DatasetError;
use chatmill_diag::Class;
use chatmill_diag::visible::{is_hidden, visible, visible_lines};
use chatmill_engine::{PlanError, ReadError, RunError};
use chatmill_export::ExportError;
use chatmill_intake::Failure;

use crate::output::harmless;
use crate::stderr::{self, Word, line};

/// How the program ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// All that was asked is done.
    Complete,
    /// Done, but the result failed: by findings, a threshold, a condition or a certification.
    Failed,
    /// The request is wrong; repeating it cannot help.
    WrongRequest,
    /// Not done; repeating it may help.
    Incomplete,
    /// Stopped by SIGINT; the same command resumes.
    Interrupted,
    /// Stopped by SIGTERM; the same command resumes.
    Terminated,
    /// Stopped by SIGHUP; the same command resumes.
    HungUp,
}

impl Exit {
    /// The number that the shell sees.
    pub const fn code(self) -> u8 {
        match self {
            Self::Complete => 0,
            Self::Failed => 1,
            Self::WrongRequest => 2,
            Self::Incomplete => 3,
            Self::Interrupted => 130,
            Self::Terminated => 143,
            Self::HungUp => 129,
        }
    }

    /// Complete, or failed where the result is not fine.
    pub(crate) const fn complete_if(is_fine: bool) -> Self {
        if is_fine { Self::Complete } else { Self::Failed }
    }

    /// Ends the process, whatever its threads are doing.
    pub fn end_now(self) -> ! {
        #[expect(clippy::disallowed_methods, reason = "this is the one place")]
        std::process::exit(i32::from(self.code()))
    }

    /// The exit of an error. `stopped` is the exit that the last signal asked for.
    pub fn of(error: &anyhow::Error, stopped: Self) -> Self {
        match error.chain().find_map(class) {
            Some(Class::Request) => Self::WrongRequest,
            Some(Class::Stopped) => stopped,
            Some(Class::System | Class::Bug) | None => Self::Incomplete,
        }
    }
}

/// The class of an error that has one; all others are the system's.
fn class(error: &(dyn Error + 'static)) -> Option<Class> {
    let of_run = || Some(error.downcast_ref::<RunError>()?.class());
    let of_read = || Some(error.downcast_ref::<ReadError>()?.class());
    let of_plan = || Some(error.downcast_ref::<PlanError>()?.class());
    let of_export = || Some(error.downcast_ref::<ExportError>()?.class());
    let of_dataset = || Some(error.downcast_ref::<DatasetError>()?.class());
    let of_request = error.is::<WrongRequest>().then_some(Class::Request);
    of_request
        .or_else(of_run)
        .or_else(of_read)
        .or_else(of_plan)
        .or_else(of_export)
        .or_else(of_dataset)
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

/// A request that no library call has to refuse: the command line itself shows that it is wrong.
#[derive(Debug)]
pub(crate) struct WrongRequest {
    message: String,
    step: Option<String>,
}

impl WrongRequest {
    /// A refusal that names its own remedy.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            step: None,
        }
    }

    /// A refusal of a word that names nothing, with the nearest word that does.
    pub(crate) fn unknown(what: &str, word: &str, nearest: Option<&str>) -> Self {
        let suggestion = nearest
            .map(|near| format!("; did you mean `{}`?", visible(near)))
            .unwrap_or_default();
        Self::new(format!("there is no {what} `{}`{suggestion}", visible(word)))
    }

    /// Adds the next step.
    pub(crate) fn then(mut self, step: impl Into<String>) -> Self {
        self.step = Some(step.into());
        self
    }
}

/// Refuses a request: what is wrong with it, and the next step.
pub(crate) fn refuse<T, E: From<WrongRequest>>(
    message: impl Into<String>,
    step: impl Into<String>,
) -> Result<T, E> {
    Err(WrongRequest::new(message).then(step).into())
}

impl fmt::Display for WrongRequest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl Error for WrongRequest {}

/// Whether the reader of our output closed it, as `head` does, which is no error.
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

/// Prints the error on stderr: what failed, where and why, then the next step where the error does not name one.
pub(crate) fn report(error: &anyhow::Error) {
    let mut stderr = io::stderr().lock();
    // A closed stderr has no reader.
    let _ = write!(stderr, "{}", line(Word::Error, &chain(error)));
    if let Some(step) = next_step(error) {
        let _ = write!(stderr, "{}", line(Word::Help, step));
    }
}

/// Prints the output of clap instead of arguments: help, the version, or an error.
pub(crate) fn of_arguments(error: &clap::Error) -> Exit {
    let hides = |argument: std::ffi::OsString| argument.to_string_lossy().contains(is_hidden);
    stderr::choose_from(env::args_os());
    // The message quotes arguments. Colours are escape sequences, so a message that has to be escaped has none.
    let printed = if error.use_stderr() && stderr::is_json() {
        let text = error.render().to_string();
        let text = text.trim_start_matches("error: ").trim_end();
        write!(io::stderr(), "{}", line(Word::Error, text))
    } else if error.use_stderr() && env::args_os().any(hides) {
        write!(io::stderr(), "{}", visible_lines(&error.render().to_string()))
    } else {
        error.print()
    };
    // A closed stream has no reader.
    drop(printed);
    if error.use_stderr() {
        Exit::WrongRequest
    } else {
        Exit::Complete
    }
}

/// Prints on stderr the inputs that the system could not read, and returns the exit code for them.
pub(crate) fn report_failures(failures: &[Failure]) -> Exit {
    let mut stderr = io::stderr().lock();
    for failure in failures {
        let _ = write!(stderr, "{}", line(Word::Error, &harmless(&failure.to_string())));
    }
    Exit::complete_if(failures.is_empty())
}

/// The text of a small file that the command line names; `wrong` makes the error where the file or its name is at fault.
pub(crate) fn small_file(
    path: &Path,
    limit: u64,
    wrong: impl FnOnce(io::Error) -> WrongRequest,
) -> anyhow::Result<String> {
    chatmill_intake::read_small(path, limit).map_err(|error| {
        if chatmill_intake::is_of_the_system(&error) {
            Failure::new("read", path, &error).into()
        } else {
            wrong(error).into()
        }
    })
}

/// The error and its causes; a cause that its effect already quotes is not repeated.
fn chain(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in error.chain() {
        let message = cause.to_string();
        if !text.contains(message.trim_end()) {
            if !text.is_empty() {
                text.push_str(": ");
            }
            text.push_str(message.trim_end());
        }
    }
    text
}

/// What is wrong with the request, where that is the error.
pub(crate) fn plan_error(error: &anyhow::Error) -> Option<&PlanError> {
    let mut causes = error.chain();
    causes.find_map(|cause| match cause.downcast_ref::<RunError>() {
        Some(RunError::Plan(plan)) => Some(plan),
        _ => match cause.downcast_ref::<ReadError>() {
            Some(ReadError::Plan(plan)) => Some(plan),
            _ => cause.downcast_ref::<PlanError>(),
        },
    })
}

/// The text of an error for programs: what failed, where and why, then the next step.
pub(crate) fn in_words(error: &anyhow::Error) -> String {
    let step = next_step(error).map(|step| format!("\nhelp: {step}"));
    format!("{}{}", chain(error), step.unwrap_or_default())
}

fn next_step(error: &anyhow::Error) -> Option<&str> {
    if let Some(wrong) = error.downcast_ref::<WrongRequest>() {
        return wrong.step.as_deref();
    }
    match plan_error(error)? {
        PlanError::Unreadable { .. } => {
            Some("give the path of a pipeline file, for example pipelines/demo.toml")
        }
        PlanError::Pipeline { .. } => {
            Some("`chatmill schema pipeline` prints every key that a pipeline file may have")
        }
        PlanError::Override { .. } => Some("write for example --set limits.max_reject_ratio=0.01"),
        PlanError::UnknownWord { what: "dialect", .. } => Some("`chatmill dialects` lists them"),
        PlanError::UnknownWord { what: "source", .. } => Some("`chatmill sources` lists them"),
        PlanError::UnknownWord { what: "encoding", .. } => Some("`chatmill encodings` lists them"),
        PlanError::UnreadableVocabulary { .. } => {
            Some("paths start at the pipeline file's folder; limits.vocabulary bounds the file")
        }
        PlanError::Encoding { .. } => Some(
            "a rank file has a token in base64, a space and a rank on each line; `chatmill encodings` lists the tokenizer file of each model",
        ),
        PlanError::OnlyOwn { .. } => Some("name other files, or write the dataset elsewhere with --out"),
        PlanError::UnknownWord { .. }
        | PlanError::Value { .. }
        | PlanError::Input(_)
        | PlanError::System(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    fn exit_of(error: impl Into<anyhow::Error>) -> u8 {
        Exit::of(&error.into(), Exit::Terminated).code()
    }

    fn io_error() -> io::Error {
        io::Error::other("the disk says no")
    }

    #[test]
    fn a_wrong_request_exits_2() {
        assert_eq!(exit_of(PlanError::Override { text: "x".into() }), 2);
        assert_eq!(
            exit_of(RunError::Plan(PlanError::Override { text: "x".into() })),
            2
        );
        assert_eq!(
            exit_of(ReadError::Plan(PlanError::Override { text: "x".into() })),
            2
        );
        assert_eq!(exit_of(RunError::PerspectiveAbsent), 2);
        assert_eq!(exit_of(WrongRequest::new("no")), 2);
        let path = PathBuf::from("out");
        for error in [
            DatasetError::WrongPath {
                path: path.clone(),
                reason: "r".into(),
            },
            DatasetError::Occupied {
                path: path.clone(),
                reason: "r".into(),
            },
            DatasetError::NoExchange {
                path: path.clone(),
                source: io_error(),
            },
            DatasetError::Format {
                path: path.clone(),
                format: 1,
                read: 7,
                version: "0".into(),
            },
            DatasetError::AbsentTable {
                path,
                table: "messages".into(),
            },
        ] {
            assert_eq!(exit_of(RunError::Dataset(error)), 2);
        }
    }

    #[test]
    fn what_repeating_may_help_exits_3() {
        let path = PathBuf::from("out");
        for error in [
            DatasetError::Locked { path: path.clone() },
            DatasetError::NoSpace {
                path: path.clone(),
                source: io_error(),
            },
            DatasetError::Io {
                action: "sync",
                path: path.clone(),
                source: io_error(),
            },
            DatasetError::Corrupt {
                path,
                reason: "r".into(),
            },
            DatasetError::Row {
                table: "findings",
                reason: "r".into(),
            },
        ] {
            assert_eq!(exit_of(RunError::Dataset(error)), 3);
        }
        assert_eq!(
            exit_of(RunError::InputChanged {
                names: vec!["a".into()]
            }),
            3
        );
        assert_eq!(
            exit_of(RunError::Unbalanced {
                mismatches: vec!["a".into()]
            }),
            3
        );
        assert_eq!(exit_of(RunError::WorkerFailed { slice: 1.into() }), 3);
        let failure = || Failure::new("read", Path::new("a.json"), &io_error());
        assert_eq!(exit_of(RunError::from(failure())), 3);
        assert_eq!(exit_of(PlanError::System(failure())), 3);
        assert_eq!(exit_of(RunError::Plan(failure().into())), 3);
        assert_eq!(exit_of(ReadError::Plan(failure().into())), 3);
        assert_eq!(exit_of(failure()), 3);
        assert_eq!(exit_of(RunError::Incomplete { reason: "r".into() }), 3);
        assert_eq!(exit_of(RunError::Threads { threads: 9 }), 3);
        assert_eq!(exit_of(ReadError::Threads(9)), 3);
        assert_eq!(exit_of(io_error()), 3);
    }

    #[test]
    fn a_stopped_run_exits_as_its_signal_asks() {
        assert_eq!(exit_of(RunError::Stopped { done: 3 }), 143);
        assert_eq!(exit_of(ReadError::Stopped), 143);
        let error = anyhow::Error::from(RunError::Stopped { done: 3 });
        assert_eq!(Exit::of(&error, Exit::Interrupted).code(), 130);
    }

    #[test]
    fn an_error_names_its_causes_once_each() {
        let error = anyhow::Error::from(RunError::Dataset(DatasetError::Io {
            action: "sync",
            path: PathBuf::from("out/x"),
            source: io_error(),
        }));
        assert_eq!(chain(&error), "cannot sync out/x: the disk says no");
    }

    #[test]
    fn a_closed_pipe_is_recognised_below_a_context() {
        let error = anyhow::Error::from(io::Error::from(io::ErrorKind::BrokenPipe)).context("cannot write");
        assert!(is_broken_pipe(&error));
        assert!(!is_broken_pipe(&anyhow::Error::from(io_error())));
    }
}
