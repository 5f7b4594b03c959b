//! Arrow's PyCapsule interface: the only module of the bindings with `unsafe`.
//!
//! The interface passes a C struct through a capsule. Reading it means trusting the capsule's name,
//! which is the whole of the protocol; nothing safer exists between two languages.
#![allow(unsafe_code)]

use arrow_array::RecordBatchReader;
use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

const STREAM: &std::ffi::CStr = c"arrow_array_stream";

/// The record batches of any object that speaks Arrow: pyarrow, polars, pandas, nanoarrow.
pub fn import(data: &Bound<'_, PyAny>) -> PyResult<RecordBatchStreamReader> {
    let method = data.getattr("__arrow_c_stream__").map_err(|_| {
        let kind = data.get_type();
        PyTypeError::new_err(format!("{kind} does not speak Arrow: it has no __arrow_c_stream__"))
    })?;
    let capsule = method.call0()?.cast_into::<PyCapsule>()?;
    let pointer = capsule.pointer_checked(Some(STREAM))?.cast::<FFI_ArrowArrayStream>();
    // SAFETY: a capsule of that name holds a valid ArrowArrayStream by the interface's definition,
    // and taking it leaves a released struct behind, as the interface asks.
    let reader = unsafe { RecordBatchStreamReader::from_raw(pointer.as_ptr()) };
    reader.map_err(|error| PyValueError::new_err(error.to_string()))
}

/// Record batches for any reader that speaks Arrow.
pub fn export<'py>(
    py: Python<'py>,
    reader: Box<dyn RecordBatchReader + Send>,
) -> PyResult<Bound<'py, PyCapsule>> {
    PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(reader), STREAM)
}
