//! Records that Python holds, as one input: a record a line, in order, so that the number of a record is that of its row.
//!
//! Columns of Arrow are read without a copy. A list, or another iterable, is copied once.

use std::borrow::Cow;
use std::io::{self, Read};
use std::sync::Arc;

use arrow_array::builder::LargeBinaryBuilder;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use chatmill_intake::{MemoryBytes, MemoryForm, MemoryInput};
use pyo3::exceptions::{PyRecursionError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyDict, PyList, PyString};

use crate::arrow_capsules;

/// The most bytes of a column that is made of single records.
const CHUNK_BYTES: usize = 16 << 20;

/// The bytes of a block of lines.
const BLOCK_BYTES: usize = 256 << 10;

/// Columns of text or bytes, one after the other.
pub(crate) struct Texts {
    chunks: Vec<ArrayRef>,
    bytes: u64,
}

impl Texts {
    /// Takes the texts of `data`: a column of Arrow, or an iterable. `column` selects one of several. `what` is the
    /// expected kind of element, for errors.
    pub(crate) fn of(data: &Bound<'_, PyAny>, column: Option<&str>, what: &'static str) -> PyResult<Self> {
        let chunks = match arrow_capsules::import(data)? {
            Some(arrays) => arrays
                .iter()
                .map(|array| text_column(array, column))
                .collect::<PyResult<_>>()?,
            None => gathered(data, what)?,
        };
        Ok(Self {
            bytes: chunks.iter().map(bytes_of).sum(),
            chunks,
        })
    }

    /// The columns.
    pub(crate) fn chunks(&self) -> &[ArrayRef] {
        &self.chunks
    }

    /// The number of rows.
    pub(crate) fn rows(&self) -> usize {
        self.chunks.iter().map(Array::len).sum()
    }

    /// Returns the texts as an input of records.
    pub(crate) fn into_held(self) -> MemoryInput {
        MemoryInput::new(Arc::new(HeldRecords(Arc::new(self))), MemoryForm::Lines)
    }
}

/// Returns the column of text or bytes in an array: the array itself, or a field of a structure.
fn text_column(array: &ArrayRef, column: Option<&str>) -> PyResult<ArrayRef> {
    let DataType::Struct(fields) = array.data_type() else {
        return if is_text(array.data_type()) {
            Ok(Arc::clone(array))
        } else {
            Err(not_text("the column", array.data_type()))
        };
    };
    let names = || {
        let names: Vec<String> = fields.iter().map(|field| format!("`{}`", field.name())).collect();
        names.join(", ")
    };
    let columns = array.as_struct();
    let found = if let Some(name) = column {
        let missing = || PyValueError::new_err(format!("there is no column `{name}`, only {}", names()));
        columns.column_by_name(name).ok_or_else(missing)?
    } else {
        let mut texts = columns
            .columns()
            .iter()
            .filter(|column| is_text(column.data_type()));
        match (texts.next(), texts.next()) {
            (Some(only), None) => only,
            (None, _) => {
                let message = format!("none of the columns {} is of text or bytes", names());
                return Err(PyTypeError::new_err(message));
            }
            _ => {
                let message = format!("several columns hold text, name one with column=: {}", names());
                return Err(PyValueError::new_err(message));
            }
        }
    };
    if is_text(found.data_type()) {
        Ok(Arc::clone(found))
    } else {
        Err(not_text(
            &format!("the column `{}`", column.unwrap_or_default()),
            found.data_type(),
        ))
    }
}

fn not_text(what: &str, is: &DataType) -> PyErr {
    PyTypeError::new_err(format!("{what} must hold text or bytes, not {is}"))
}

fn is_text(data_type: &DataType) -> bool {
    match data_type {
        DataType::Dictionary(_, values) => is_text(values),
        DataType::Utf8
        | DataType::LargeUtf8
        | DataType::Utf8View
        | DataType::Binary
        | DataType::LargeBinary
        | DataType::BinaryView
        | DataType::Null => true,
        _ => false,
    }
}

/// Returns the bytes of a row; `None` where it is null.
pub(crate) fn row_bytes(chunk: &ArrayRef, row: usize) -> Option<&[u8]> {
    if row >= chunk.len() || chunk.is_null(row) {
        return None;
    }
    match chunk.data_type() {
        DataType::Utf8 => Some(chunk.as_string::<i32>().value(row).as_bytes()),
        DataType::LargeUtf8 => Some(chunk.as_string::<i64>().value(row).as_bytes()),
        DataType::Utf8View => Some(chunk.as_string_view().value(row).as_bytes()),
        DataType::Binary => Some(chunk.as_binary::<i32>().value(row)),
        DataType::LargeBinary => Some(chunk.as_binary::<i64>().value(row)),
        DataType::BinaryView => Some(chunk.as_binary_view().value(row)),
        DataType::Dictionary(..) => {
            let dictionary = chunk.as_any_dictionary();
            let key = dictionary.keys().slice(row, 1);
            let index = key_of(&key)?;
            row_bytes(dictionary.values(), index)
        }
        _ => None,
    }
}

/// Returns the only value of an array of integers.
fn key_of(key: &ArrayRef) -> Option<usize> {
    use arrow_array::types::{
        Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
    };
    macro_rules! of {
        ($($name:ident: $kind:ty),+) => {
            match key.data_type() {
                $(DataType::$name => usize::try_from(key.as_primitive::<$kind>().value(0)).ok(),)+
                _ => None,
            }
        };
    }
    of!(
        Int8: Int8Type, Int16: Int16Type, Int32: Int32Type, Int64: Int64Type,
        UInt8: UInt8Type, UInt16: UInt16Type, UInt32: UInt32Type, UInt64: UInt64Type
    )
}

/// Returns the bytes of a column with the ends of its lines; for a dictionary, those of the values of all rows.
fn bytes_of(chunk: &ArrayRef) -> u64 {
    let rows = chunk.len() as u64;
    let values = match chunk.data_type() {
        DataType::Utf8 => span(chunk.as_string::<i32>().value_offsets()),
        DataType::LargeUtf8 => span(chunk.as_string::<i64>().value_offsets()),
        DataType::Binary => span(chunk.as_binary::<i32>().value_offsets()),
        DataType::LargeBinary => span(chunk.as_binary::<i64>().value_offsets()),
        DataType::Utf8View => chunk.as_string_view().lengths().map(u64::from).sum(),
        DataType::BinaryView => chunk.as_binary_view().lengths().map(u64::from).sum(),
        _ => (0..chunk.len())
            .filter_map(|row| row_bytes(chunk, row))
            .map(|bytes| bytes.len() as u64)
            .sum(),
    };
    values + rows
}

fn span<T: Copy + Into<i64>>(offsets: &[T]) -> u64 {
    let ends = offsets.first().copied().zip(offsets.last().copied());
    ends.map_or(0, |(first, last)| (last.into() - first.into()).unsigned_abs())
}

/// Iterates over a Python object, and collects its elements.
fn gathered(data: &Bound<'_, PyAny>, what: &'static str) -> PyResult<Vec<ArrayRef>> {
    let mut chunks: Vec<ArrayRef> = Vec::new();
    let mut builder = LargeBinaryBuilder::new();
    let mut held = 0;
    // A dict would give its keys, and an object that only has `__getitem__` would raise its own errors.
    if data.is_instance_of::<PyDict>() || !data.hasattr("__iter__")? {
        let kind = data.get_type();
        let message = format!("{what}s must be text, bytes, an Arrow column or a list of them, not {kind}");
        return Err(PyTypeError::new_err(message));
    }
    for (row, item) in data.try_iter()?.enumerate() {
        // An exception of the iterator is passed on.
        let item = item?;
        let bytes = if let Ok(text) = item.cast::<PyString>() {
            Some(bytes_of_text(text, what, row)?)
        } else if let Ok(bytes) = item.cast::<PyBytes>() {
            Some(Cow::Borrowed(bytes.as_bytes()))
        } else if let Ok(bytes) = item.cast::<PyByteArray>() {
            Some(Cow::Owned(bytes.to_vec()))
        } else if what == RECORD && item.is_none() {
            None
        } else if what == RECORD && (item.is_instance_of::<PyDict>() || item.is_instance_of::<PyList>()) {
            Some(Cow::Owned(as_json(&item, row)?.into_bytes()))
        } else {
            let kind = item.get_type();
            let may = if what == RECORD {
                "text, bytes, a dict or None"
            } else {
                "text"
            };
            let message = format!("{what} {row} must be {may}, not {kind}");
            return Err(PyTypeError::new_err(message));
        };
        held += bytes.as_deref().map_or(0, <[u8]>::len);
        builder.append_option(bytes);
        if held >= CHUNK_BYTES {
            chunks.push(Arc::new(builder.finish()));
            held = 0;
        }
    }
    chunks.push(Arc::new(builder.finish()));
    Ok(chunks)
}

/// Returns the bytes of a text. A lone surrogate has none in UTF-8: a record with one is a bad record, which is rejected when it is read.
fn bytes_of_text<'a>(text: &'a Bound<'_, PyString>, what: &str, row: usize) -> PyResult<Cow<'a, [u8]>> {
    match text.to_str() {
        Ok(text) => Ok(Cow::Borrowed(text.as_bytes())),
        Err(_) if what == RECORD => {
            let bytes = text.call_method1("encode", ("utf-8", "surrogatepass"))?;
            Ok(Cow::Owned(bytes.cast::<PyBytes>()?.as_bytes().to_vec()))
        }
        Err(error) => {
            let message = format!("{what} {row} is no valid Unicode: {}", error.value(text.py()));
            Err(PyValueError::new_err(message))
        }
    }
}

/// Writes a record of Python as JSON.
fn as_json(record: &Bound<'_, PyAny>, row: usize) -> PyResult<String> {
    let py = record.py();
    let written = py.import("json")?.call_method1("dumps", (record,));
    let written = written.map_err(|error| {
        // Other exceptions, such as Ctrl-C, are not about the record.
        let is_of_record = error.is_instance_of::<PyTypeError>(py)
            || error.is_instance_of::<PyValueError>(py)
            || error.is_instance_of::<PyRecursionError>(py);
        if !is_of_record {
            return error;
        }
        let told = PyTypeError::new_err(format!(
            "{RECORD} {row} cannot be written as JSON: {}",
            error.value(py)
        ));
        told.set_cause(py, Some(error));
        told
    })?;
    Ok(written.cast::<PyString>()?.to_str()?.to_owned())
}

/// The name of an element in errors about records.
pub(crate) const RECORD: &str = "record";

/// The texts as an input of lines.
struct HeldRecords(Arc<Texts>);

impl MemoryBytes for HeldRecords {
    fn open(&self) -> Box<dyn Read + Send> {
        Box::new(Lines {
            texts: Arc::clone(&self.0),
            chunk: 0,
            row: 0,
            block: Vec::with_capacity(BLOCK_BYTES),
            at: 0,
        })
    }

    fn length(&self) -> u64 {
        self.0.bytes
    }
}

/// Reads texts as lines.
struct Lines {
    texts: Arc<Texts>,
    chunk: usize,
    row: usize,
    /// Lines that are ready, and how far they were read.
    block: Vec<u8>,
    at: usize,
}

impl Lines {
    fn fill(&mut self) {
        self.block.clear();
        self.at = 0;
        while let Some(chunk) = self.texts.chunks().get(self.chunk) {
            if self.row == chunk.len() {
                self.chunk += 1;
                self.row = 0;
                continue;
            }
            push_line(row_bytes(chunk, self.row), &mut self.block);
            self.row += 1;
            if self.block.len() >= BLOCK_BYTES {
                break;
            }
        }
    }
}

/// Adds a record as a line. Its line breaks are white space of JSON and become spaces. A null or blank record becomes a JSON value that is
/// no conversation, because a blank line is no record, and the numbers of all later records would differ from those of their rows.
fn push_line(record: Option<&[u8]>, block: &mut Vec<u8>) {
    let Some(record) = record else {
        block.extend_from_slice(b"null\n");
        return;
    };
    if record.iter().all(u8::is_ascii_whitespace) {
        block.extend_from_slice(b"\"\"\n");
        return;
    }
    let record = record.trim_ascii_start();
    let start = block.len();
    block.extend_from_slice(record);
    if record.contains(&b'\n')
        && let Some(written) = block.get_mut(start..)
    {
        for byte in written.iter_mut().filter(|byte| **byte == b'\n') {
            *byte = b'\r';
        }
    }
    block.push(b'\n');
}

impl Read for Lines {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.at == self.block.len() {
            self.fill();
        }
        let ready = self.block.split_at(self.at).1;
        let count = ready.len().min(buffer.len());
        if let (Some(to), Some(from)) = (buffer.get_mut(..count), ready.get(..count)) {
            to.copy_from_slice(from);
        }
        self.at += count;
        Ok(count)
    }
}
