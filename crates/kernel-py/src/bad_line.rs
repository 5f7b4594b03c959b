//! What is wrong in a document, and where.

use ebbtide_formats::place;
use pyo3::prelude::*;

use crate::FormatError;

/// A line, or a place in a document, that is no fact: where, why, and the line itself if there is
/// one. Lines and columns count from 1.
#[pyclass(frozen, eq, module = "ebbtide._kernel")]
#[derive(Clone, PartialEq, Eq)]
pub struct BadLine(pub place::BadLine);

impl BadLine {
    /// As an exception.
    pub fn error(self) -> PyErr {
        FormatError::new_err((self,))
    }
}

#[pymethods]
impl BadLine {
    #[getter]
    fn source(&self) -> &str {
        &self.0.source
    }

    #[getter]
    fn line(&self) -> u64 {
        self.0.line
    }

    #[getter]
    fn column(&self) -> u64 {
        self.0.column
    }

    #[getter]
    fn reason(&self) -> &str {
        &self.0.reason
    }

    #[getter]
    fn text(&self) -> &str {
        &self.0.text
    }

    /// The same after that many lines that were read before.
    fn after(&self, lines: u64) -> Self {
        Self(place::BadLine { line: self.0.line + lines, ..self.0.clone() })
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn __repr__(&self) -> String {
        format!("<BadLine {}>", self.0)
    }
}

/// `FormatError.bad`: what it was raised with.
pub fn property(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    py.eval(c"property(lambda self: self.args[0])", None, None)
}
