//! Tables as streams of Arrow batches: made while they are read, or kept.

use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex, MutexGuard};

use arrow_array::ffi::FFI_ArrowSchema;
use arrow_array::{Array, RecordBatch, RecordBatchReader, StructArray};
use arrow_schema::{ArrowError, SchemaRef};
use chatmill_dataset::{MemoryTable, TableBatches, table_schema};
use chatmill_engine::tables::{TablesError, tables};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyTuple};

use crate::arrow_capsules;
use crate::errors::{self, guarded, internal};
use crate::planned::Planned;
use crate::watch::{self, Watch, locked};

/// The number of finished slices that wait for the reader: one, so that the workers need not wait.
const READY: usize = 1;

/// The tables of one slice, the error that ended the work, or `None` at the end. Work that ends without one of these has failed.
type Made = Result<Option<Vec<MemoryTable>>, TablesError>;

/// Work that goes on while its tables are read; dropping it ends the work.
struct Going {
    made: Receiver<Made>,
    watch: Watch,
}

impl Going {
    fn start(planned: &Arc<Planned>, wanted: &[&'static str], watch: Watch) -> PyResult<Self> {
        let (ready, made) = mpsc::sync_channel::<Made>(READY);
        let (planned, wanted) = (Arc::clone(planned), wanted.to_vec());
        let (heard, stop) = (Arc::clone(&watch.heard), Arc::clone(&watch.stop));
        let work = move || {
            let plan = planned.of(&wanted);
            let mut deliver = |tables| ready.send(Ok(Some(tables))).is_ok();
            let ended = tables(plan, &wanted, planned.threads, &*heard, &stop, &mut deliver);
            // A failed send means that no consumer reads on, and needs no report.
            let _ = ready.send(ended.map(|()| None));
        };
        // The end of the thread is noticed by its messages.
        watch::spawn(work)?;
        Ok(Self { made, watch })
    }

    fn next(&mut self) -> PyResult<Option<Vec<MemoryTable>>> {
        match self.watch.wait(&mut self.made)? {
            Some(Ok(tables)) => Ok(tables),
            Some(Err(error)) => Err(errors::of_tables(&error)),
            None => Err(internal("chatmill failed because of a bug")),
        }
    }
}

impl Drop for Going {
    fn drop(&mut self) {
        self.watch.stop.store(true, std::sync::atomic::Ordering::Relaxed);
    }
}

/// The source of rows.
#[derive(Clone)]
enum Rows {
    Made(Arc<Planned>),
    Kept(Vec<MemoryTable>),
}

/// A table: a stream of record batches that can be read more than once.
#[pyclass(frozen, module = "chatmill")]
pub(crate) struct Table {
    name: &'static str,
    schema: SchemaRef,
    rows: Rows,
}

impl Table {
    pub(crate) fn of_work(planned: Arc<Planned>, name: &'static str) -> PyResult<Self> {
        Ok(Self {
            name,
            schema: schema(name, &planned.encodings())?,
            rows: Rows::Made(planned),
        })
    }

    /// Returns a reader for the present thread.
    fn reader(&self, py: Python<'_>) -> Reader {
        Reader {
            schema: Arc::clone(&self.schema),
            name: self.name,
            state: match &self.rows {
                Rows::Made(planned) => State::New(Arc::clone(planned), planned.watch(py)),
                Rows::Kept(tables) => State::Kept(tables.clone().into_iter()),
            },
            open: None,
        }
    }
}

#[pymethods]
impl Table {
    #[getter]
    fn name(&self) -> &str {
        self.name
    }

    #[getter]
    fn column_names(&self) -> Vec<String> {
        let fields = self.schema.fields().iter();
        fields.map(|field| field.name().clone()).collect()
    }

    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyCapsule>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // There is only this type; a consumer casts it.
        let _ = requested_schema;
        arrow_capsules::export_stream(py, Box::new(self.reader(py)))
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        arrow_capsules::export_schema(py, &self.schema)
    }

    fn __iter__(&self, py: Python<'_>) -> Batches {
        Batches(Mutex::new(self.reader(py)))
    }

    fn __repr__(&self) -> String {
        let columns = self.column_names().join(", ");
        format!("<chatmill.Table {}: {columns}>", self.name)
    }
}

fn schema(name: &str, encodings: &[String]) -> PyResult<SchemaRef> {
    table_schema(name, encodings).ok_or_else(|| internal(&format!("the table {name} has no schema")))
}

/// An iterator over the batches of a table.
struct Reader {
    schema: SchemaRef,
    name: &'static str,
    state: State,
    open: Option<TableBatches>,
}

enum State {
    New(Arc<Planned>, Watch),
    Going(Going),
    Kept(std::vec::IntoIter<MemoryTable>),
    Over,
}

impl Reader {
    fn next_batch(&mut self) -> PyResult<Option<RecordBatch>> {
        loop {
            if let Some(batch) = self.open.as_mut().and_then(Iterator::next) {
                return batch.map(Some).map_err(|error| internal(&error.to_string()));
            }
            self.open = None;
            let table = match std::mem::replace(&mut self.state, State::Over) {
                State::New(planned, watch) => {
                    self.state = State::Going(Going::start(&planned, &[self.name], watch)?);
                    continue;
                }
                State::Going(mut going) => {
                    let mut tables = going.next()?.into_iter().flatten();
                    let Some(table) = tables.find(|table| table.name() == self.name) else {
                        return Ok(None);
                    };
                    self.state = State::Going(going);
                    table
                }
                State::Kept(mut tables) => {
                    let Some(table) = tables.next() else {
                        return Ok(None);
                    };
                    self.state = State::Kept(tables);
                    table
                }
                State::Over => return Ok(None),
            };
            self.open = Some(table.into_batches());
        }
    }

    /// Returns the next batch; `None` after the last one and after an error.
    fn step(&mut self) -> PyResult<Option<RecordBatch>> {
        let next = guarded(|| self.next_batch());
        if !matches!(next, Ok(Some(_))) {
            self.state = State::Over;
        }
        next
    }
}

impl Iterator for Reader {
    type Item = Result<RecordBatch, ArrowError>;

    /// Returns the next batch for consumers that are not written in Python. They cannot receive a Python exception:
    /// they get an error, and Ctrl-C is raised again once control returns to Python.
    fn next(&mut self) -> Option<Self::Item> {
        let error = match self.step() {
            Ok(batch) => return batch.map(Ok),
            Err(error) => error,
        };
        let message = Python::attach(|py| {
            if error.is_instance_of::<PyKeyboardInterrupt>(py) {
                let module = py.import("_thread");
                // Without the module the interpreter is shutting down.
                let _ = module.and_then(|module| module.call_method0("interrupt_main"));
                return "interrupted".to_owned();
            }
            error.value(py).to_string()
        });
        // A C string cannot hold a NUL.
        Some(Err(ArrowError::ExternalError(
            message.replace('\0', "\u{fffd}").into(),
        )))
    }
}

impl RecordBatchReader for Reader {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}

/// The Python iterator over the batches of a table.
#[pyclass(frozen, module = "chatmill")]
pub(crate) struct Batches(Mutex<Reader>);

#[pymethods]
impl Batches {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Batch>> {
        let next = py.detach(|| locked(&self.0).step());
        Ok(next?.map(Batch))
    }
}

/// Rows of a table.
#[pyclass(frozen, module = "chatmill")]
pub(crate) struct Batch(RecordBatch);

#[pymethods]
impl Batch {
    #[getter]
    fn num_rows(&self) -> usize {
        self.0.num_rows()
    }

    #[getter]
    fn column_names(&self) -> Vec<String> {
        let schema = self.0.schema();
        schema.fields().iter().map(|field| field.name().clone()).collect()
    }

    fn __len__(&self) -> usize {
        self.0.num_rows()
    }

    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyCapsule>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let _ = requested_schema;
        let schema = FFI_ArrowSchema::try_from(self.0.schema().as_ref());
        let schema = schema.map_err(|error| internal(&error.to_string()))?;
        let rows = StructArray::from(self.0.clone());
        arrow_capsules::export_array(py, &rows.to_data(), schema)
    }

    fn __repr__(&self) -> String {
        let columns = self.column_names().join(", ");
        format!("<chatmill.Batch of {} rows: {columns}>", self.0.num_rows())
    }
}

/// The Python iterator over the slices of the work: several tables in one reading.
#[pyclass(frozen, module = "chatmill")]
pub(crate) struct Parts(Mutex<PartsState>);

struct PartsState {
    planned: Arc<Planned>,
    wanted: Vec<&'static str>,
    /// The watch until the work starts; then the work, until it is over.
    watch: Option<Watch>,
    going: Option<Going>,
}

impl Parts {
    pub(crate) fn new(py: Python<'_>, planned: Arc<Planned>, wanted: Vec<&'static str>) -> Self {
        Self(Mutex::new(PartsState {
            watch: Some(planned.watch(py)),
            planned,
            wanted,
            going: None,
        }))
    }

    fn state(&self) -> MutexGuard<'_, PartsState> {
        locked(&self.0)
    }
}

impl PartsState {
    fn next(&mut self) -> PyResult<Option<Vec<MemoryTable>>> {
        if let Some(watch) = self.watch.take() {
            self.going = Some(Going::start(&self.planned, &self.wanted, watch)?);
        }
        let Some(going) = &mut self.going else {
            return Ok(None);
        };
        let next = guarded(|| going.next());
        if !matches!(next, Ok(Some(_))) {
            self.going = None;
        }
        next
    }

    fn all(&mut self) -> PyResult<Vec<Vec<MemoryTable>>> {
        let mut all = Vec::new();
        while let Some(made) = self.next()? {
            all.push(made);
        }
        Ok(all)
    }

    fn tables_of<'py>(&self, py: Python<'py>, made: &[Vec<MemoryTable>]) -> PyResult<Bound<'py, PyDict>> {
        let encodings = self.planned.encodings();
        let tables = PyDict::new(py);
        for name in &self.wanted {
            let all = made.iter().flatten();
            let kept = all.filter(|table| table.name() == *name).cloned().collect();
            let table = Table {
                name,
                schema: schema(name, &encodings)?,
                rows: Rows::Kept(kept),
            };
            tables.set_item(*name, Bound::new(py, table)?)?;
        }
        Ok(tables)
    }
}

#[pymethods]
impl Parts {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        match py.detach(|| self.state().next())? {
            Some(made) => self.state().tables_of(py, &[made]).map(Some),
            None => Ok(None),
        }
    }

    /// All remaining rows, in memory.
    fn collect<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let all = py.detach(|| self.state().all())?;
        self.state().tables_of(py, &all)
    }
}
