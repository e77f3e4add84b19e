//! The data to read or render: a plan over files or over Python objects, whose tables can be requested any
//! number of times.

use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use chatmill_dataset::TABLES;
use chatmill_engine::Plan;
use chatmill_engine::pipeline::{self, Pipeline};
use chatmill_intake::{Input, MemoryForm, MemoryInput};
use pyo3::prelude::*;

use crate::count::LEAST;
use crate::errors::{self, guarded};
use crate::held::{RECORD, Texts};
use crate::planned::Planned;
use crate::table::{Parts, Table};

/// Files, bytes or records, with the plan for them.
#[pyclass(frozen, module = "chatmill")]
pub(crate) struct Work {
    planned: Arc<Planned>,
    held: Option<MemoryInput>,
}

#[pymethods]
impl Work {
    /// Plans the work over the files that `settings` name.
    #[staticmethod]
    #[pyo3(signature = (settings, base, threads = 0, progress = None))]
    fn of_paths(
        py: Python<'_>,
        settings: Vec<String>,
        base: &str,
        threads: usize,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        Self::new(py, &settings, base, None, threads, progress)
    }

    /// Plans the work over the content of one file.
    #[staticmethod]
    #[pyo3(signature = (settings, base, content, threads = 0, progress = None))]
    fn of_bytes(
        py: Python<'_>,
        settings: Vec<String>,
        base: &str,
        content: &[u8],
        threads: usize,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let held = MemoryInput::new(Arc::new(Bytes::copy_from_slice(content)), MemoryForm::File);
        Self::new(py, &settings, base, Some(held), threads, progress)
    }

    /// Plans the work over records, one a row.
    #[staticmethod]
    #[pyo3(signature = (settings, base, records, column = None, threads = 0, progress = None))]
    fn of_records(
        py: Python<'_>,
        settings: Vec<String>,
        base: &str,
        records: &Bound<'_, PyAny>,
        column: Option<&str>,
        threads: usize,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let held = Texts::of(records, column, RECORD)?.into_held();
        Self::new(py, &settings, base, Some(held), threads, progress)
    }

    /// Plans work with other settings over the same data.
    #[pyo3(signature = (settings, base, threads = 0, progress = None))]
    fn again(
        &self,
        py: Python<'_>,
        settings: Vec<String>,
        base: &str,
        threads: usize,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        Self::new(py, &settings, base, self.held.clone(), threads, progress)
    }

    /// Returns a table, which is made anew each time it is read.
    fn table(&self, name: &str) -> PyResult<Table> {
        Table::of_work(Arc::clone(&self.planned), table(name)?)
    }

    /// Returns several tables, slice by slice, in one reading.
    fn parts(&self, py: Python<'_>, names: Vec<String>) -> PyResult<Parts> {
        let wanted = names.iter().map(|name| table(name)).collect::<PyResult<_>>()?;
        Ok(Parts::new(py, Arc::clone(&self.planned), wanted))
    }

    /// The names of the inputs.
    #[getter]
    fn inputs(&self) -> Vec<String> {
        let inputs = self.planned.whole.inputs.iter();
        inputs.map(|planned| planned.name().into_owned()).collect()
    }

    /// The number of stored bytes.
    #[getter]
    fn bytes(&self) -> u64 {
        self.planned.whole.input_bytes()
    }

    /// The dialects of the renderings.
    #[getter]
    fn dialects(&self) -> Vec<String> {
        let targets = self.planned.whole.targets.iter();
        targets.map(|target| target.id().to_owned()).collect()
    }

    /// The encodings of the token counts.
    #[getter]
    fn encodings(&self) -> Vec<String> {
        self.planned.encodings()
    }
}

impl Work {
    fn new(
        py: Python<'_>,
        settings: &[String],
        base: &str,
        held: Option<MemoryInput>,
        threads: usize,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let (whole, reading) = py.detach(|| {
            guarded(|| {
                let pipeline = pipeline(settings, held.is_some())?;
                let input = held.as_ref().map(|held| Input::in_memory("data", held.clone()));
                let whole = Plan::for_tables(pipeline, Path::new(base), input.as_ref());
                let whole = whole.map_err(|error| errors::of_plan(&error))?;
                let mut reading = whole.clone();
                reading.targets.clear();
                Ok((whole, reading))
            })
        })?;
        Ok(Self {
            planned: Arc::new(Planned {
                whole,
                reading,
                threads,
                progress,
            }),
            held,
        })
    }
}

/// Parses the pipeline of the settings; keys that only a run can use are refused.
fn pipeline(settings: &[String], is_held: bool) -> PyResult<Pipeline> {
    let pipeline = pipeline::parse(LEAST, settings, Path::new("options"));
    let pipeline = pipeline.map_err(|error| errors::of_plan(&error))?;
    if pipeline.dedup.is_on() {
        let message = "dedup: only a run compares conversations: write a pipeline file and use chatmill.run";
        return Err(errors::request(message, "value", Some("dedup")));
    }
    if is_held && pipeline.input.len() != 1 {
        let message = "input: what is in memory is one input";
        return Err(errors::request(message, "value", Some("input")));
    }
    Ok(pipeline)
}

/// Finds a table by its name.
fn table(name: &str) -> PyResult<&'static str> {
    let known = TABLES.iter().copied().find(|table| *table == name);
    known.ok_or_else(|| {
        let message = format!("there is no table `{name}`; there are {}", TABLES.join(", "));
        errors::request(&message, "unknown-word", Some("table"))
    })
}
