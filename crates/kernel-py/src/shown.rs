//! Rows of a relation as a query shows them: some columns, in an order of its own.

use ebbtide_kernel::ids::{RelationId, RowId, TermId};
use ebbtide_kernel::instant::Instant;
use ebbtide_kernel::kernel::Kernel;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};

/// The texts of a row's terms, None where there is none; and until when it holds.
pub type Answer<'py> = (Bound<'py, PyTuple>, i64);

/// What is shown of the rows of a relation.
pub struct Shown<'k> {
    kernel: &'k Kernel,
    relation: RelationId,
    /// A column, or nothing.
    columns: Vec<Option<usize>>,
    /// The term that stands for none.
    unbound: Option<TermId>,
}

impl<'k> Shown<'k> {
    pub fn new(
        kernel: &'k Kernel,
        relation: RelationId,
        columns: Vec<Option<usize>>,
        unbound: &str,
    ) -> Self {
        Self { kernel, relation, columns, unbound: kernel.dictionary().lookup(unbound) }
    }

    /// A row that holds until an instant.
    pub fn answer<'py>(
        &self,
        py: Python<'py>,
        row: RowId,
        until: Instant,
    ) -> PyResult<Answer<'py>> {
        let text = |column: &Option<usize>| {
            let term = self.kernel.relation(self.relation).term(row, (*column)?);
            let is_bound = Some(term) != self.unbound;
            is_bound.then(|| PyString::new(py, self.kernel.dictionary().text(term)))
        };
        Ok((PyTuple::new(py, self.columns.iter().map(text))?, until.0))
    }
}
