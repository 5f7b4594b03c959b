//! Arrow's PyCapsule interface: the only module of the bindings with `unsafe`.
//!
//! The interface passes a C struct through a capsule. Reading it means trusting the capsule's name,
//! which is the whole of the protocol; nothing safer exists between two languages.
#![allow(unsafe_code)]

use arrow_array::cast::AsArray;
use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use arrow_array::{
    Array, GenericStringArray, OffsetSizeTrait, RecordBatch, RecordBatchReader,
    downcast_dictionary_array,
};
use arrow_schema::{DataType, SchemaRef};
use pyo3::exceptions::{PyTypeError, PyUnicodeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

const STREAM: &std::ffi::CStr = c"arrow_array_stream";

/// The record batches of any object that speaks Arrow: pyarrow, polars, pandas, nanoarrow.
pub fn import(data: &Bound<'_, PyAny>) -> PyResult<Batches> {
    let method = data.getattr("__arrow_c_stream__").map_err(|_| {
        let kind = data.get_type();
        PyTypeError::new_err(format!("{kind} does not speak Arrow: it has no __arrow_c_stream__"))
    })?;
    let capsule = method.call0()?.cast_into::<PyCapsule>()?;
    let pointer = capsule.pointer_checked(Some(STREAM))?.cast::<FFI_ArrowArrayStream>();
    // SAFETY: a capsule of that name holds a valid ArrowArrayStream by the interface's definition,
    // and taking it leaves a released struct behind, as the interface asks.
    let reader = unsafe { RecordBatchStreamReader::from_raw(pointer.as_ptr()) };
    reader.map(Batches).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// Record batches whose texts are texts.
///
/// The interface says that they are; Spark hands on the bytes of a file as they are.
pub struct Batches(RecordBatchStreamReader);

impl Batches {
    /// What the batches have in common.
    pub fn schema(&self) -> SchemaRef {
        self.0.schema()
    }
}

impl Iterator for Batches {
    type Item = PyResult<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        let batch = self.0.next()?.map_err(|error| PyValueError::new_err(error.to_string()));
        Some(batch.and_then(|batch| {
            for (column, field) in batch.columns().iter().zip(batch.schema_ref().fields()) {
                if let Some(row) = no_text(column) {
                    return Err(PyUnicodeError::new_err(format!(
                        "column {:?} has bytes that are not UTF-8 in row {row}",
                        field.name()
                    )));
                }
            }
            Ok(batch)
        }))
    }
}

/// The first place of a column of texts that holds none.
fn no_text(array: &dyn Array) -> Option<usize> {
    match array.data_type() {
        DataType::Utf8 => no_text_side_by_side(array.as_string::<i32>()),
        DataType::LargeUtf8 => no_text_side_by_side(array.as_string::<i64>()),
        DataType::Utf8View => {
            let bytes = array.as_string_view().clone().to_binary_view();
            bytes.iter().position(|text| is_no_text(text.unwrap_or_default()))
        }
        DataType::Dictionary(_, _) => downcast_dictionary_array!(
            array => {
                // All values are read, also one that no row has.
                let value = no_text(array.values().as_ref())?;
                array.keys_iter().position(|key| key == Some(value)).or(Some(value))
            },
            _other => None
        ),
        _ => None,
    }
}

fn no_text_side_by_side<O: OffsetSizeTrait>(array: &GenericStringArray<O>) -> Option<usize> {
    let (ends, bytes) = (array.value_offsets(), array.value_data());
    // Most texts are, and that is seen at a glance.
    if bytes[ends[0].as_usize()..ends[array.len()].as_usize()].is_ascii() {
        return None;
    }
    let text = |row: usize| &bytes[ends[row].as_usize()..ends[row + 1].as_usize()];
    (0..array.len()).find(|row| array.is_valid(*row) && is_no_text(text(*row)))
}

fn is_no_text(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_err()
}

/// Record batches for any reader that speaks Arrow.
pub fn export<'py>(
    py: Python<'py>,
    reader: Box<dyn RecordBatchReader + Send>,
) -> PyResult<Bound<'py, PyCapsule>> {
    PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(reader), STREAM)
}
