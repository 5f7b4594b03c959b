//! Lines of LARS streams as columns.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int32Array, Int64Array, RecordBatch, StringArray};
use ebbtide_formats::atoms::Atoms;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::table::Table;

/// The plain atoms of a text in columns line, t, p and o, and the numbers of the lines that are not
/// plain; those with a term of more than so many bytes are not.
#[pyfunction]
pub fn read_atoms(text: &str, longest_term: usize) -> PyResult<(Table, Vec<i32>)> {
    let Atoms { lines, instants, predicates, terms, others } = Atoms::read(text, longest_term);
    let columns: [(&str, ArrayRef); 4] = [
        ("line", Arc::new(Int32Array::from(lines))),
        ("t", Arc::new(Int64Array::from(instants))),
        ("p", Arc::new(StringArray::from(predicates))),
        ("o", Arc::new(StringArray::from(terms))),
    ];
    let nullable = columns.map(|(name, array)| (name, array, true));
    let batch = RecordBatch::try_from_iter_with_nullable(nullable);
    let batch = batch.map_err(|error| PyValueError::new_err(error.to_string()))?;
    Ok((Table::single(batch), others))
}
