//! Commands of the command line, for the functions of Python with their names, and the command line itself.

use std::ffi::OsString;
use std::sync::{Arc, mpsc};

use chatmill_cli::Answer;
use pyo3::prelude::*;

use crate::errors;
use crate::watch::{self, Watch};

/// Runs a command; returns its exit code and its output.
#[pyfunction]
#[pyo3(signature = (arguments, progress = None))]
pub(crate) fn answer(arguments: Vec<OsString>, progress: Option<Py<PyAny>>) -> PyResult<(u8, String)> {
    let mut watch = Watch::new(progress);
    let (heard, stop) = (Arc::clone(&watch.heard), Arc::clone(&watch.stop));
    let (ready, mut answers) = mpsc::channel::<Answer>();
    let work = move || {
        let answer = chatmill_cli::answer(arguments, heard, stop);
        // The caller waits for it.
        let _ = ready.send(answer);
    };
    let thread = watch::spawn(work)?;
    let answered = match watch.wait(&mut answers) {
        Ok(answered) => answered,
        Err(error) => {
            // The stopped thread is joined first, so that no file is written after the call returned.
            Python::attach(|py| py.detach(|| thread.join().is_ok()));
            return Err(error);
        }
    };
    match answered {
        Some(Answer { exit, text, error }) => match error {
            None => Ok((exit.code(), text)),
            Some(error) => Err(errors::of_command(exit, &error)),
        },
        None => Err(errors::internal("chatmill failed because of a bug")),
    }
}

/// Runs the command line with these words, and returns its exit code. From here on it handles signals itself.
#[pyfunction]
pub(crate) fn program(py: Python<'_>, words: Vec<OsString>) -> u8 {
    py.detach(|| chatmill_cli::program(words).code())
}
