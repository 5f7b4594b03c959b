//! Builtins that the kernel does not know: SPARQL expressions, and functions written in Python.
//!
//! A Python function takes the terms as texts and returns a bool, or a text or None. What it raises stops
//! the tick, and is raised by whoever asked for the tick.

use std::sync::{Arc, Mutex, PoisonError};

use ebbtide_kernel::external::{External, Failed};
use ebbtide_sparql::expression::Expression;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// What the builtins of one kernel raised first.
#[derive(Clone, Default)]
pub struct Raised(Arc<Mutex<Option<PyErr>>>);

impl Raised {
    /// Take what was raised, if anything was.
    pub fn take(&self) -> Option<PyErr> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn keep(&self, error: PyErr) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }
}

/// A Python function in a guard.
pub struct PythonBuiltin {
    pub name: String,
    pub function: Py<PyAny>,
    pub raised: Raised,
}

impl PythonBuiltin {
    fn call<T: for<'a, 'py> FromPyObject<'a, 'py, Error = PyErr>>(
        &self,
        terms: &[&str],
    ) -> Result<T, Failed> {
        Python::attach(|py| {
            let terms = PyTuple::new(py, terms)?;
            self.function.bind(py).call1(terms)?.extract()
        })
        .map_err(|error| {
            self.raised.keep(error);
            Failed
        })
    }
}

impl External for PythonBuiltin {
    fn name(&self) -> &str {
        &self.name
    }

    fn test(&self, terms: &[&str]) -> Result<bool, Failed> {
        self.call(terms)
    }

    fn compute(&self, terms: &[&str]) -> Result<Option<String>, Failed> {
        self.call(terms)
    }
}

/// A SPARQL expression in a guard. It never fails: an error of SPARQL does not hold.
pub struct SparqlBuiltin {
    pub name: String,
    pub expression: Expression,
}

impl External for SparqlBuiltin {
    fn name(&self) -> &str {
        &self.name
    }

    fn test(&self, terms: &[&str]) -> Result<bool, Failed> {
        Ok(self.expression.holds(terms))
    }

    fn compute(&self, terms: &[&str]) -> Result<Option<String>, Failed> {
        Ok(self.expression.value(terms))
    }
}
