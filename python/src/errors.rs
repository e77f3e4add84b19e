//! Conversion of chatmill's errors to Python exceptions: the classes are in `chatmill/_errors.py`, so that
//! they can be read there.

use std::panic::{AssertUnwindSafe, catch_unwind};

use chatmill_cli::{CommandError, Exit};
use chatmill_engine::tables::TablesError;
use chatmill_engine::{PlanError, ReadError};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

/// Makes an error of a class of `chatmill/_errors.py`.
fn raised(class: &str, message: &str, code: &str, place: Option<&str>) -> PyErr {
    Python::attach(|py| {
        let made = py
            .import("chatmill._errors")
            .and_then(|module| module.getattr(class))
            .and_then(|class| class.call1((message, code, place)));
        match made {
            Ok(error) => PyErr::from_value(error),
            Err(error) => error,
        }
    })
}

/// Makes the exception for a wrong request; repeating it cannot help.
pub(crate) fn request(message: &str, code: &str, place: Option<&str>) -> PyErr {
    raised("RequestError", message, code, place)
}

/// Makes the exception for an operation that was not completed; repeating it may help.
pub(crate) fn incomplete(message: &str, code: &str, place: Option<&str>) -> PyErr {
    raised("IncompleteError", message, code, place)
}

/// Makes the exception for a fault of chatmill itself.
pub(crate) fn internal(message: &str) -> PyErr {
    raised("InternalError", message, "internal", None)
}

/// Makes the exception for an error in a plan.
pub(crate) fn of_plan(error: &PlanError) -> PyErr {
    let (message, place) = (in_words(error), error.place());
    match error {
        PlanError::System(_) => incomplete(&message, error.code(), place.as_deref()),
        _ => request(&message, error.code(), place.as_deref()),
    }
}

/// Makes the exception for tables that ended early.
pub(crate) fn of_tables(error: &TablesError) -> PyErr {
    match error {
        TablesError::Read(ReadError::Plan(error)) => of_plan(error),
        TablesError::Read(ReadError::Stopped) => PyRuntimeError::new_err("stopped"),
        TablesError::WorkerFailed { .. } => internal(&error.to_string()),
        TablesError::Failed(failure) => {
            let place = failure.path.display().to_string();
            incomplete(&failure.to_string(), "system", Some(&place))
        }
        TablesError::Read(_) | TablesError::Dataset(_) => incomplete(&in_words(error), "system", None),
    }
}

/// Makes the exception for a command that failed.
pub(crate) fn of_command(exit: Exit, error: &CommandError) -> PyErr {
    let (message, advice) = (error.in_words(), &error.advice);
    let place = advice.place.as_deref();
    match exit {
        Exit::WrongRequest => request(&message, advice.code.unwrap_or("request"), place),
        _ => incomplete(&message, advice.code.unwrap_or("system"), place),
    }
}

/// Joins the messages of an error and of its causes.
fn in_words(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let said = error.to_string();
        if !text.contains(&said) {
            text = format!("{text}: {said}");
        }
        cause = error.source();
    }
    text
}

/// Runs a function that must not panic, and turns a panic into an error.
pub(crate) fn guarded<T>(work: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
        Err(internal(
            "chatmill failed because of a bug; please report the line on stderr",
        ))
    })
}
