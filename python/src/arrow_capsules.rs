//! Arrow data in and out of Python by its C interfaces, as the [PyCapsule protocol] passes them: the one file with `unsafe` in it.
//!
//! [PyCapsule protocol]: https://arrow.apache.org/docs/format/CDataInterface/PyCapsuleInterface.html
#![expect(unsafe_code, reason = "a capsule holds a pointer")]

use std::ffi::CStr;
use std::ptr::NonNull;

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi};
use arrow_array::ffi_stream::{ArrayStreamReader, FFI_ArrowArrayStream};
use arrow_array::{ArrayRef, RecordBatchReader, make_array};
use arrow_data::ArrayData;
use arrow_schema::{ArrowError, Schema};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};

use crate::errors;

const SCHEMA: &CStr = c"arrow_schema";
const ARRAY: &CStr = c"arrow_array";
const STREAM: &CStr = c"arrow_array_stream";

/// Returns the arrays of an object with the Arrow protocol; `None` for any other. They are not copied, and all
/// batches of a stream are read.
pub(crate) fn import(data: &Bound<'_, PyAny>) -> PyResult<Option<Vec<ArrayRef>>> {
    if data.hasattr("__arrow_c_stream__")? {
        let stream = take_stream(&data.call_method0("__arrow_c_stream__")?)?;
        // Python code may produce the stream, and then needs the interpreter.
        return data.py().detach(|| arrays_of(stream)).map(Some);
    }
    if data.hasattr("__arrow_c_array__")? {
        let pair = data.call_method0("__arrow_c_array__")?;
        let pair = pair.cast::<PyTuple>()?;
        let array = take_array(&pair.get_item(0)?, &pair.get_item(1)?)?;
        return Ok(Some(vec![array]));
    }
    Ok(None)
}

fn arrays_of(stream: FFI_ArrowArrayStream) -> PyResult<Vec<ArrayRef>> {
    let reader = ArrayStreamReader::try_new(stream).map_err(|error| unreadable(&error))?;
    // The producer of the batches has failed: that is no wrong type, and another attempt may succeed.
    let ended = |error: ArrowError| errors::incomplete(&told(&error), "stream", None);
    reader.collect::<Result<_, _>>().map_err(ended)
}

fn unreadable(error: &ArrowError) -> PyErr {
    PyTypeError::new_err(told(error))
}

fn told(error: &ArrowError) -> String {
    format!("the Arrow data cannot be read: {error}")
}

fn take_stream(capsule: &Bound<'_, PyAny>) -> PyResult<FFI_ArrowArrayStream> {
    let pointer: NonNull<FFI_ArrowArrayStream> = pointer(capsule, STREAM)?.cast();
    // SAFETY: by its name the capsule holds an initialised stream; what is moved out is marked as released there.
    Ok(unsafe { FFI_ArrowArrayStream::from_raw(pointer.as_ptr()) })
}

fn take_array(schema: &Bound<'_, PyAny>, array: &Bound<'_, PyAny>) -> PyResult<ArrayRef> {
    let schema: NonNull<FFI_ArrowSchema> = pointer(schema, SCHEMA)?.cast();
    let array: NonNull<FFI_ArrowArray> = pointer(array, ARRAY)?.cast();
    // SAFETY: by their names the capsules hold an initialised array and its schema; the array is moved out and marked as released
    // there, the schema is only looked at.
    let data: Result<ArrayData, ArrowError> = unsafe {
        let array = FFI_ArrowArray::from_raw(array.as_ptr());
        from_ffi(array, schema.as_ref())
    };
    Ok(make_array(data.map_err(|error| unreadable(&error))?))
}

fn pointer(capsule: &Bound<'_, PyAny>, name: &'static CStr) -> PyResult<NonNull<std::ffi::c_void>> {
    capsule.cast::<PyCapsule>()?.pointer_checked(Some(name))
}

/// Wraps a stream of batches in a capsule, which releases the stream unless a consumer has moved it out.
pub(crate) fn export_stream(
    py: Python<'_>,
    reader: Box<dyn RecordBatchReader + Send>,
) -> PyResult<Bound<'_, PyCapsule>> {
    PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(reader), STREAM)
}

/// Wraps an array in a pair of capsules, that of its schema first.
pub(crate) fn export_array<'py>(
    py: Python<'py>,
    data: &ArrayData,
    schema: FFI_ArrowSchema,
) -> PyResult<Bound<'py, PyTuple>> {
    let schema = PyCapsule::new_with_value(py, schema, SCHEMA)?;
    let array = PyCapsule::new_with_value(py, FFI_ArrowArray::new(data), ARRAY)?;
    PyTuple::new(py, [schema, array])
}

/// Wraps a schema in a capsule.
pub(crate) fn export_schema<'py>(py: Python<'py>, schema: &Schema) -> PyResult<Bound<'py, PyCapsule>> {
    let schema = FFI_ArrowSchema::try_from(schema).map_err(|error| errors::internal(&error.to_string()))?;
    PyCapsule::new_with_value(py, schema, SCHEMA)
}
