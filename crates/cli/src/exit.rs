//! Exit codes, and the error message on stderr. An error becomes an exit code only here.
//!
//! Why: docs/decisions/2026-11-22-exit-codes.md.

use std::env;
use std::error::Error;
use std::fmt;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use chatmill_diag::visible::{is_hidden, visible, visible_lines};
use chatmill_diag::{Advice, Class, Classed};
use chatmill_intake::Failure;

use crate::stderr::{self, Word, line};

/// How the program ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Everything that was asked for is done.
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

    /// `Complete` if the result is fine, else `Failed`.
    pub(crate) const fn complete_if(is_fine: bool) -> Self {
        if is_fine { Self::Complete } else { Self::Failed }
    }

    /// Ends the process at once, whatever its threads are doing.
    pub fn end_now(self) -> ! {
        #[expect(clippy::disallowed_methods, reason = "this is the one place")]
        std::process::exit(i32::from(self.code()))
    }

    /// The exit for an error. `stopped` is the exit for the last signal.
    pub(crate) const fn of(error: &CommandError, stopped: Self) -> Self {
        match error.class {
            Class::Request => Self::WrongRequest,
            Class::Stopped => stopped,
            Class::System | Class::Bug => Self::Incomplete,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

/// The result of a command, or of a part of it.
pub(crate) type Outcome<T> = Result<T, CommandError>;

/// The reason why a command failed: the error of a library, or a fault of the command line itself.
#[derive(Debug)]
pub struct CommandError {
    class: Class,
    /// What failed, where and why, without the next step.
    message: String,
    /// The next step, and fields for programs.
    pub advice: Advice,
    /// Whether the reader of stdout closed it, as `head` does; that is no error.
    pub(crate) is_broken_pipe: bool,
}

impl<E: Classed + 'static> From<E> for CommandError {
    fn from(error: E) -> Self {
        let mut message = String::new();
        let mut is_broken_pipe = false;
        let mut next: Option<&(dyn Error + 'static)> = Some(&error);
        while let Some(cause) = next {
            let text = cause.to_string();
            // A cause that the message already quotes is not repeated.
            if !message.contains(text.trim_end()) {
                if !message.is_empty() {
                    message.push_str(": ");
                }
                message.push_str(text.trim_end());
            }
            let io = cause.downcast_ref::<io::Error>();
            is_broken_pipe |= io.is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe);
            next = cause.source();
        }
        Self {
            class: error.class(),
            message,
            advice: error.advice(),
            is_broken_pipe,
        }
    }
}

impl CommandError {
    fn new(class: Class, message: impl Into<String>) -> Self {
        Self {
            class,
            message: message.into(),
            advice: Advice::default(),
            is_broken_pipe: false,
        }
    }

    /// A request that is refused because of the command line alone; the message names the remedy.
    pub(crate) fn request(message: impl Into<String>) -> Self {
        Self::new(Class::Request, message)
    }

    /// A failure that only a bug of chatmill can explain.
    pub(crate) fn bug(message: impl fmt::Display) -> Self {
        Self::new(Class::Bug, message.to_string())
    }

    /// A refusal of an unknown word, with the nearest known word.
    pub(crate) fn unknown(what: &str, word: &str, nearest: Option<&str>) -> Self {
        let suggestion = nearest
            .map(|near| format!("; did you mean `{}`?", visible(near)))
            .unwrap_or_default();
        Self::request(format!("there is no {what} `{}`{suggestion}", visible(word)))
    }

    /// Adds the next step.
    pub(crate) fn then(mut self, step: impl Into<String>) -> Self {
        self.advice.next_step = Some(step.into());
        self
    }

    /// Adds what the command was doing when the error occurred.
    pub(crate) fn context(mut self, doing: impl fmt::Display) -> Self {
        self.message = format!("{doing}: {}", self.message);
        self
    }

    /// Prints the error on stderr: what failed, where and why, then the next step, if the message does not contain it.
    pub(crate) fn report(&self) {
        let mut stderr = io::stderr().lock();
        // Ignored: a closed stderr has no reader.
        let _ = write!(stderr, "{}", line(Word::Error, &self.message));
        if let Some(step) = &self.advice.next_step {
            let _ = write!(stderr, "{}", line(Word::Help, step));
        }
    }

    /// The text of the error for other programs: what failed, where and why, then the next step.
    pub fn in_words(&self) -> String {
        let step = self.advice.next_step.as_ref();
        let step = step.map(|step| format!("\nhelp: {step}")).unwrap_or_default();
        format!("{self}{step}")
    }
}

impl fmt::Display for CommandError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl Error for CommandError {}

/// Refuses a request: what is wrong with it, and the next step.
pub(crate) fn refuse<T>(message: impl Into<String>, step: impl Into<String>) -> Outcome<T> {
    Err(CommandError::request(message).then(step))
}

/// Prints what clap returns in place of arguments: help, the version, or an error.
pub(crate) fn of_arguments(error: &clap::Error) -> Exit {
    let hides = |argument: std::ffi::OsString| argument.to_string_lossy().contains(is_hidden);
    stderr::choose_from(env::args_os());
    // The message quotes arguments, and colours are escape sequences; so a message that must be escaped has no colours.
    let printed = if error.use_stderr() && stderr::is_json() {
        let text = error.render().to_string();
        let text = text.trim_start_matches("error: ").trim_end();
        write!(io::stderr(), "{}", line(Word::Error, text))
    } else if error.use_stderr() && env::args_os().any(hides) {
        write!(io::stderr(), "{}", visible_lines(&error.render().to_string()))
    } else {
        error.print()
    };
    // Ignored: a closed stream has no reader.
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
        let _ = write!(stderr, "{}", line(Word::Error, &visible(&failure.to_string())));
    }
    Exit::complete_if(failures.is_empty())
}

/// Reads a small file that the command line names; `wrong` makes the error if the file or its name is at fault.
pub(crate) fn small_file(
    path: &Path,
    limit: u64,
    wrong: impl FnOnce(io::Error) -> CommandError,
) -> Outcome<String> {
    chatmill_intake::read_small(path, limit).map_err(|error| {
        if chatmill_intake::is_of_the_system(&error) {
            Failure::new("read", path, &error).into()
        } else {
            wrong(error)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use chatmill_dataset::DatasetError;
    use chatmill_engine::{PlanError, ReadError, RunError};
    use std::path::PathBuf;

    fn exit_of(error: impl Into<CommandError>) -> u8 {
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
        assert_eq!(exit_of(RunError::PerspectiveAbsent(String::new())), 2);
        assert_eq!(exit_of(CommandError::request("no")), 2);
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
        assert_eq!(exit_of(RunError::InputChanged(vec!["a".into()])), 3);
        assert_eq!(exit_of(RunError::Unbalanced(vec!["a".into()])), 3);
        assert_eq!(exit_of(RunError::WorkerFailed(1.into())), 3);
        let failure = || Failure::new("read", Path::new("a.json"), &io_error());
        assert_eq!(exit_of(RunError::from(failure())), 3);
        assert_eq!(exit_of(PlanError::System(failure())), 3);
        assert_eq!(exit_of(RunError::Plan(failure().into())), 3);
        assert_eq!(exit_of(ReadError::Plan(failure().into())), 3);
        assert_eq!(exit_of(failure()), 3);
        assert_eq!(exit_of(RunError::Incomplete("r".into())), 3);
        assert_eq!(exit_of(RunError::Threads(9)), 3);
        assert_eq!(exit_of(ReadError::Threads(9)), 3);
        assert_eq!(exit_of(io_error()), 3);
    }

    #[test]
    fn a_stopped_run_exits_as_its_signal_asks() {
        assert_eq!(exit_of(RunError::Stopped { done: 3 }), 143);
        assert_eq!(exit_of(ReadError::Stopped), 143);
        let error = CommandError::from(RunError::Stopped { done: 3 });
        assert_eq!(Exit::of(&error, Exit::Interrupted).code(), 130);
    }

    #[test]
    fn an_error_names_its_causes_once_each() {
        let error = CommandError::from(RunError::Dataset(DatasetError::Io {
            action: "sync",
            path: PathBuf::from("out/x"),
            source: io_error(),
        }));
        assert_eq!(error.to_string(), "cannot sync out/x: the disk says no");
    }

    #[test]
    fn a_closed_pipe_is_recognised_below_a_context() {
        let error = CommandError::from(io::Error::from(io::ErrorKind::BrokenPipe)).context("cannot write");
        assert!(error.is_broken_pipe);
        assert!(!CommandError::from(io_error()).is_broken_pipe);
    }
}
