//! Columns of lines to columns of facts, for Spark's executors.

use std::sync::Arc;

use arrow_array::builder::{Int32Builder, Int64Builder, StringBuilder};
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, StructArray};
use arrow_buffer::NullBufferBuilder;
use arrow_schema::{DataType, Field, Fields};
use ebbtide_formats::instant;
use ebbtide_formats::label::Labels;
use ebbtide_formats::statement::{Statement, Syntax};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::capsule;
use crate::reader::batch;
use crate::table::Table;

/// Milliseconds, or ISO 8601.
#[pyfunction]
pub fn parse_instant(text: &str) -> PyResult<i64> {
    instant::parse_instant(text).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// The rows to be.
#[derive(Default)]
struct Rows {
    instants: Int64Builder,
    terms: [StringBuilder; 4],
    column: Int32Builder,
    reason: StringBuilder,
    line: StringBuilder,
    is_bad: Vec<bool>,
}

impl Rows {
    fn fact(&mut self, line: &str, statement: &Statement) {
        self.instants.append_option(statement.at);
        for (place, column) in self.terms.iter_mut().enumerate() {
            column.append_option((place < statement.arity()).then(|| statement.term(line, place)));
        }
        self.column.append_null();
        self.reason.append_null();
        self.line.append_null();
        self.is_bad.push(false);
    }

    fn bad(&mut self, line: &str, column: usize, reason: &str) {
        self.instants.append_null();
        self.terms.iter_mut().for_each(StringBuilder::append_null);
        self.column.append_value(i32::try_from(column).unwrap_or(i32::MAX));
        self.reason.append_value(reason);
        self.line.append_value(line);
        self.is_bad.push(true);
    }

    fn error(&mut self) -> ArrayRef {
        let fields = Fields::from(vec![
            Field::new("column", DataType::Int32, true),
            Field::new("reason", DataType::Utf8, true),
            Field::new("line", DataType::Utf8, true),
        ]);
        let arrays: Vec<ArrayRef> = vec![
            Arc::new(self.column.finish()),
            Arc::new(self.reason.finish()),
            Arc::new(self.line.finish()),
        ];
        let mut valid = NullBufferBuilder::new(self.is_bad.len());
        self.is_bad.drain(..).for_each(|is_bad| valid.append(is_bad));
        Arc::new(StructArray::new(fields, arrays, valid.finish()))
    }
}

/// What is read, line by line, and the rows that come of it.
struct Lines {
    syntax: Syntax,
    labels: Labels,
    statement: Statement,
    rows: Rows,
}

impl Lines {
    fn scan(&mut self, value: &str) {
        for line in value.split(['\n', '\r']) {
            match self.statement.scan(line, self.syntax, &self.labels) {
                Ok(true) => self.rows.fact(line, &self.statement),
                Ok(false) => {}
                Err(refusal) => {
                    let column = line[..refusal.position].chars().count() + 1;
                    self.rows.bad(line, column, &refusal.reason);
                }
            }
        }
    }

    fn scan_bytes(&mut self, value: &[u8]) {
        if let Ok(text) = str::from_utf8(value) {
            return self.scan(text);
        }
        for line in value.split(|byte| matches!(byte, b'\n' | b'\r')) {
            match str::from_utf8(line) {
                Ok(text) => self.scan(text),
                Err(error) => {
                    let before = String::from_utf8_lossy(&line[..error.valid_up_to()]);
                    let column = before.chars().count() + 1;
                    self.rows.bad(&String::from_utf8_lossy(line), column, "the line is not UTF-8");
                }
            }
        }
    }
}

fn syntax_named(name: &str) -> PyResult<Syntax> {
    match name {
        "tnt" => Ok(Syntax::Timed),
        "nt" => Ok(Syntax::Triple),
        "nq" => Ok(Syntax::Quad),
        _ => Err(PyValueError::new_err(format!("'{name}' has no lines; tnt, nt and nq have"))),
    }
}

/// The facts of a column of lines, the first of `data`: columns (t,) s, p, o (, g), error.
///
/// A line that is blank or a comment is no row; a bad one has an `error` (column, reason, line) and
/// nothing else. A value may hold several lines, and is a text or bytes.
#[pyfunction]
#[pyo3(signature = (data, format="tnt", scope=None))]
pub fn parse_lines(
    py: Python<'_>,
    data: &Bound<'_, PyAny>,
    format: &str,
    scope: Option<&str>,
) -> PyResult<Table> {
    let syntax = syntax_named(format)?;
    let labels = scope.map_or_else(Labels::kept, Labels::of);
    let batches = capsule::import(data)?.collect::<PyResult<Vec<_>>>()?;
    py.detach(|| {
        let mut lines =
            Lines { syntax, labels, statement: Statement::default(), rows: Rows::default() };
        for batch in &batches {
            let array = batch.column(0);
            match array.data_type() {
                DataType::Utf8 => {
                    array.as_string::<i32>().iter().flatten().for_each(|v| lines.scan(v))
                }
                DataType::LargeUtf8 => {
                    array.as_string::<i64>().iter().flatten().for_each(|v| lines.scan(v));
                }
                DataType::Utf8View => {
                    array.as_string_view().iter().flatten().for_each(|v| lines.scan(v))
                }
                DataType::Binary => {
                    array.as_binary::<i32>().iter().flatten().for_each(|v| lines.scan_bytes(v));
                }
                other => {
                    let kind = format!("lines are strings or bytes, not {other}");
                    return Err(PyTypeError::new_err(kind));
                }
            }
        }
        let mut rows = lines.rows;
        let mut columns: Vec<(&str, ArrayRef, bool)> = Vec::new();
        if syntax == Syntax::Timed {
            columns.push(("t", Arc::new(rows.instants.finish()), true));
        }
        let names =
            if syntax == Syntax::Quad { &["s", "p", "o", "g"][..] } else { &["s", "p", "o"] };
        for (name, column) in names.iter().zip(&mut rows.terms) {
            columns.push((name, Arc::new(column.finish()), true));
        }
        columns.push(("error", rows.error(), true));
        batch(columns).map(Table::single)
    })
}
