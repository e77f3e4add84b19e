//! A column of numbers, as Arrow and as a list.

use arrow_array::ffi::FFI_ArrowSchema;
use arrow_array::{Array, Int64Array};
use arrow_schema::{DataType, Field};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};

use crate::arrow_capsules;
use crate::errors::internal;

/// A column of numbers.
#[pyclass(frozen, module = "chatmill")]
pub(crate) struct Column {
    numbers: Int64Array,
}

impl Column {
    pub(crate) fn new(numbers: Vec<i64>) -> Self {
        Self {
            numbers: numbers.into(),
        }
    }

    fn schema() -> PyResult<FFI_ArrowSchema> {
        let field = Field::new("tokens", DataType::Int64, false);
        FFI_ArrowSchema::try_from(&field).map_err(|error| internal(&error.to_string()))
    }
}

#[pymethods]
impl Column {
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyCapsule>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        // There is only this type; a consumer casts it.
        let _ = requested_schema;
        arrow_capsules::export_array(py, &self.numbers.to_data(), Self::schema()?)
    }

    fn __len__(&self) -> usize {
        self.numbers.len()
    }

    fn to_list(&self) -> Vec<i64> {
        self.numbers.values().to_vec()
    }

    fn sum(&self) -> i64 {
        self.numbers.values().iter().sum()
    }

    fn __repr__(&self) -> String {
        format!("<chatmill.Column of {} numbers>", self.numbers.len())
    }
}
