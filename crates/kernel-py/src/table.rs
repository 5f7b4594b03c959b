//! Facts on their way out, as Arrow record batches.

use std::collections::HashSet;
use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::{ArrayRef, Int8Array, Int32Array, Int64Array, RecordBatch, RecordBatchIterator};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use ebbtide_formats::label::Labels;
use ebbtide_formats::statement::Statement;
use ebbtide_kernel::ids::{FactId, RelationId, RowId};
use ebbtide_kernel::instant::Instant;
use ebbtide_kernel::kernel::Kernel;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::{capsule, columns};

/// Rows per record batch: small enough for 32-bit string offsets, large enough to be cheap.
const ROWS: usize = 65_536;

/// Record batches that any Arrow library can take: `pyarrow.table(table)`.
#[pyclass(frozen, module = "ebbtide._kernel")]
pub struct Table {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
}

/// One row to be: the fact, its `until`, and +1, 0 or -1 for a delta.
pub struct Line {
    pub row: RowId,
    pub until: Instant,
    pub diff: i8,
}

impl Table {
    /// The record batches.
    pub fn batches(&self) -> &[RecordBatch] {
        &self.batches
    }

    /// How many rows there are.
    pub fn count(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    /// A table of one record batch.
    pub fn single(batch: RecordBatch) -> Self {
        Self { schema: batch.schema(), batches: vec![batch] }
    }

    /// Columns `c0`, `c1`, ... of the terms' texts, then `until`, then `diff` for a delta.
    pub fn of(kernel: &Kernel, id: RelationId, lines: &[Line], with_diff: bool) -> PyResult<Self> {
        let relation = kernel.relation(id);
        let names: Vec<String> = (0..relation.arity()).map(|column| format!("c{column}")).collect();
        let mut fields: Vec<Field> =
            names.iter().map(|name| Field::new(name, DataType::Utf8, false)).collect();
        fields.push(Field::new("until", DataType::Int64, false));
        if with_diff {
            fields.push(Field::new("diff", DataType::Int8, false));
        }
        let schema = Arc::new(Schema::new(fields));
        let batch = |lines: &[Line]| -> Result<RecordBatch, ArrowError> {
            let mut arrays: Vec<ArrayRef> = Vec::with_capacity(names.len() + 2);
            for column in 0..relation.arity() {
                let mut texts = StringBuilder::with_capacity(lines.len(), lines.len() * 24);
                for line in lines {
                    texts.append_value(kernel.dictionary().text(relation.term(line.row, column)));
                }
                arrays.push(Arc::new(texts.finish()));
            }
            arrays.push(Arc::new(Int64Array::from_iter_values(lines.iter().map(|l| l.until.0))));
            if with_diff {
                arrays.push(Arc::new(Int8Array::from_iter_values(lines.iter().map(|l| l.diff))));
            }
            RecordBatch::try_new(Arc::clone(&schema), arrays)
        };
        let batches: Result<Vec<_>, _> = lines.chunks(ROWS).map(batch).collect();
        let batches = batches.map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(Self { schema, batches })
    }
}

impl Table {
    fn rows_where(
        &self,
        names: &[String],
        is_wanted: impl Fn(&[Option<&str>]) -> bool,
    ) -> PyResult<Vec<Vec<String>>> {
        let mut rows = Vec::new();
        for batch in &self.batches {
            let columns: PyResult<Vec<_>> =
                names.iter().map(|name| columns::texts(batch, name)).collect();
            let columns = columns?;
            let mut texts = Vec::with_capacity(columns.len());
            for row in 0..batch.num_rows() {
                texts.clear();
                texts.extend(columns.iter().map(|column| column[row]));
                if is_wanted(&texts) {
                    rows.push(texts.iter().map(|text| text.unwrap_or("").to_owned()).collect());
                }
            }
        }
        Ok(rows)
    }

    /// The table with other names for its columns.
    pub fn named(self, names: &[&str]) -> PyResult<Self> {
        let old = self.schema.fields().iter();
        let fields: Vec<Field> =
            old.zip(names).map(|(field, name)| field.as_ref().clone().with_name(*name)).collect();
        let schema = Arc::new(Schema::new(fields));
        let batches: Result<Vec<_>, _> = self
            .batches
            .into_iter()
            .map(|batch| RecordBatch::try_new(Arc::clone(&schema), batch.columns().to_vec()))
            .collect();
        let batches = batches.map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(Self { schema, batches })
    }
}

/// The texts of a fact's terms.
pub fn texts(kernel: &Kernel, fact: FactId) -> Vec<String> {
    let relation = kernel.relation(fact.relation);
    relation.terms(fact.row).map(|term| kernel.dictionary().text(term).to_owned()).collect()
}

#[pymethods]
impl Table {
    /// The record batches of any object that speaks Arrow, which may be readable once only.
    #[new]
    fn new(data: &Bound<'_, PyAny>) -> PyResult<Self> {
        let reader = capsule::import(data)?;
        let schema = reader.schema();
        Ok(Self { schema, batches: reader.collect::<PyResult<_>>()? })
    }

    /// The rows of some columns of texts.
    fn rows(&self, columns: Vec<String>) -> PyResult<Vec<Vec<String>>> {
        self.rows_where(&columns, |_| true)
    }

    /// The rows, of some columns of texts, in which one of these columns has one of some texts.
    fn rows_with(
        &self,
        columns: Vec<String>,
        column: usize,
        texts: HashSet<String>,
    ) -> PyResult<Vec<Vec<String>>> {
        self.rows_where(&columns, |row| row[column].is_some_and(|text| texts.contains(text)))
    }

    /// A column `shard`: for each text of a column one of so many shards, the same everywhere and for ever.
    fn shards(&self, column: &str, shards: u32) -> PyResult<Self> {
        if shards == 0 {
            return Err(PyValueError::new_err("there are no shards"));
        }
        let schema = Arc::new(Schema::new(vec![Field::new("shard", DataType::Int32, false)]));
        let of_text = |text: Option<&str>| {
            (crc32fast::hash(text.unwrap_or_default().as_bytes()) % shards) as i32
        };
        let batch = |batch: &RecordBatch| {
            let numbers = columns::texts(batch, column)?.into_iter().map(of_text);
            let array: ArrayRef = Arc::new(Int32Array::from_iter_values(numbers));
            RecordBatch::try_new(Arc::clone(&schema), vec![array])
                .map_err(|error| PyValueError::new_err(error.to_string()))
        };
        let batches = self.batches.iter().map(batch).collect::<PyResult<_>>()?;
        Ok(Self { schema, batches })
    }

    /// Where columns of texts have one that is not the canonical text of a term: row and column.
    fn odd(&self, columns: Vec<String>) -> PyResult<Vec<(usize, usize)>> {
        let (mut found, mut first) = (Vec::new(), 0);
        let (mut scanned, labels) = (Statement::default(), Labels::kept());
        for batch in &self.batches {
            for (column, name) in columns.iter().enumerate() {
                let mut last = "";
                for (row, text) in columns::texts(batch, name)?.into_iter().enumerate() {
                    let text = text.unwrap_or("");
                    // The same text often comes again at once; no term has an empty one.
                    if text == last && !text.is_empty() {
                        continue;
                    }
                    if scanned.scan_term(text, &labels) == Some(text) {
                        last = text;
                    } else {
                        found.push((first + row, column));
                    }
                }
            }
            first += batch.num_rows();
        }
        Ok(found)
    }

    fn __len__(&self) -> usize {
        self.count()
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // The interface lets a producer ignore the request.
        drop(requested_schema);
        let batches = self.batches.clone().into_iter().map(Ok);
        capsule::export(py, Box::new(RecordBatchIterator::new(batches, Arc::clone(&self.schema))))
    }
}
