//! Counts tokens of texts that Python holds: one text, a list, or a column of Arrow. `chatmill.Counter` calls it.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;

use arrow_array::ArrayRef;
use chatmill_engine::pipeline;
use chatmill_engine::{Plan, Silent};
use chatmill_token::{Encoding, SharedTokenCounter};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

use crate::columns::Column;
use crate::errors::{self, guarded};
use crate::held::{Texts, row_bytes};
use crate::watch::Watch;

/// Rows that a thread takes at once.
const ROWS: usize = 4096;

/// Counts tokens in one encoding.
#[pyclass(frozen, module = "chatmill")]
pub(crate) struct Counter {
    counts: SharedTokenCounter,
    threads: usize,
}

#[pymethods]
impl Counter {
    #[new]
    #[pyo3(signature = (settings, threads = 0))]
    fn new(py: Python<'_>, settings: Vec<String>, threads: usize) -> PyResult<Self> {
        let loaded = || {
            let counts = SharedTokenCounter::new(encoding(&settings)?);
            counts.with(|_| ());
            Ok(counts)
        };
        Ok(Self {
            counts: py.detach(|| guarded(loaded))?,
            threads: chatmill_engine::threads(threads, &Silent),
        })
    }

    #[getter]
    fn encoding(&self) -> &str {
        self.counts.name()
    }

    /// Tokens of one text.
    fn count_one(&self, text: &Bound<'_, PyAny>) -> PyResult<u64> {
        if let Ok(text) = text.cast::<PyString>() {
            let text = text.to_str()?;
            return guarded(|| Ok(self.counts.with(|count| count(text))));
        }
        let bytes = text.cast::<PyBytes>()?;
        guarded(|| {
            Ok(self
                .counts
                .with(|count| count(&String::from_utf8_lossy(bytes.as_bytes()))))
        })
    }

    /// Tokens of each text.
    #[pyo3(signature = (texts, column = None))]
    fn count_all(&self, texts: &Bound<'_, PyAny>, column: Option<&str>) -> PyResult<Column> {
        let texts = Texts::of(texts, column, "text")?;
        let mut numbers = vec![0_i64; texts.rows()];
        let mut watch = Watch::new(None);
        let (done, mut all_done) = mpsc::channel::<()>();
        guarded(|| {
            thread::scope(|scope| {
                let queue = Arc::new(Mutex::new(Queue::new(&texts, &mut numbers)));
                for _ in 0..self.threads {
                    let (queue, done, stop) = (Arc::clone(&queue), done.clone(), Arc::clone(&watch.stop));
                    scope.spawn(move || {
                        self.counts.with(|count| work_off(&queue, count, &stop));
                        drop(done);
                    });
                }
                drop(done);
                // The threads are waited for in any case.
                watch.wait(&mut all_done).map(drop)
            })
        })?;
        Ok(Column::new(numbers))
    }

    fn __repr__(&self) -> String {
        format!("<chatmill.Counter of {}>", self.counts.name())
    }
}

/// Rows of a column, and where their numbers go.
struct Piece<'a> {
    chunk: &'a ArrayRef,
    first: usize,
    numbers: &'a mut [i64],
}

/// The pieces that are still to be counted.
struct Queue<'a>(Vec<Piece<'a>>);

impl<'a> Queue<'a> {
    fn new(texts: &'a Texts, numbers: &'a mut [i64]) -> Self {
        let mut pieces = Vec::new();
        let mut rest = numbers;
        for chunk in texts.chunks() {
            let (of_chunk, after) = rest.split_at_mut(chunk.len());
            rest = after;
            for (number, numbers) in of_chunk.chunks_mut(ROWS).enumerate() {
                let first = number * ROWS;
                pieces.push(Piece {
                    chunk,
                    first,
                    numbers,
                });
            }
        }
        pieces.reverse();
        Self(pieces)
    }
}

fn work_off(queue: &Mutex<Queue<'_>>, count: &mut dyn FnMut(&str) -> u64, stop: &AtomicBool) {
    loop {
        let next = queue.lock().ok().and_then(|mut queue| queue.0.pop());
        let Some(piece) = next else { return };
        if stop.load(Ordering::Relaxed) {
            return;
        }
        for (row, number) in piece.numbers.iter_mut().enumerate() {
            let bytes = row_bytes(piece.chunk, piece.first + row).unwrap_or_default();
            let tokens = match std::str::from_utf8(bytes) {
                Ok(text) => count(text),
                Err(_) => count(&String::from_utf8_lossy(bytes)),
            };
            *number = i64::try_from(tokens).unwrap_or(i64::MAX);
        }
    }
}

/// Returns the encoding that `count.encodings` names, in the words of a pipeline file.
fn encoding(settings: &[String]) -> PyResult<Encoding> {
    let pipeline = pipeline::parse(LEAST, settings, Path::new("options"));
    let plan = pipeline
        .and_then(Plan::without_inputs)
        .map_err(|error| errors::of_plan(&error))?;
    let encoding = plan.encodings.into_iter().next();
    encoding.ok_or_else(|| errors::request("no encoding is named", "value", Some("count.encodings")))
}

/// The smallest pipeline file.
pub(crate) const LEAST: &str = "name = \"python\"\n[[input]]\npath = \"records\"\n[render]\ndialects = [\"chatml\"]\n[output]\npath = \"nowhere\"\n";
