//! A SPARQL query as a Python object, asked of the facts of kernels.

use ebbtide_kernel::ids::RelationId;
use ebbtide_kernel::instant::Instant;
use ebbtide_sparql::dataset::{Dataset, View};
use ebbtide_sparql::query::{Answers, Instants, Query, add_instants};
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::kernel::Kernel;
use crate::sparql::refused;

/// A relation of a kernel, as it is after an instant.
type ViewTuple = (Py<Kernel>, usize, i64);

/// A query that is ready to be asked.
#[pyclass(module = "ebbtide._kernel", frozen)]
pub struct SparqlQuery {
    query: Query,
}

#[pymethods]
impl SparqlQuery {
    #[new]
    fn new(text: &str) -> PyResult<Self> {
        Ok(Self { query: Query::parse(text).map_err(refused)? })
    }

    /// Ask the graphs and tables: solutions as (variables, rows), a truth, or triples.
    ///
    /// `dated` are the ranges of the windows of the first graphs, if their triples are to have
    /// instants.
    #[pyo3(signature = (graphs, tables, now, dated=Vec::new()))]
    fn answers<'py>(
        &self,
        py: Python<'py>,
        graphs: Vec<(Option<String>, ViewTuple)>,
        tables: Vec<(String, ViewTuple)>,
        now: &str,
        dated: Vec<Option<i64>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let views =
            || graphs.iter().map(|(_, view)| view).chain(tables.iter().map(|(_, view)| view));
        loop {
            let kernels: Vec<PyRef<'_, Kernel>> =
                views().map(|(kernel, ..)| kernel.borrow(py)).collect();
            let seen = views().zip(&kernels).map(|((_, relation, after), kernel)| View {
                kernel: &kernel.core,
                relation: RelationId::at(*relation),
                after: Instant(*after),
            });
            let seen: Vec<View<'_>> = seen.collect();
            let (first, rest) = seen.split_at(graphs.len());
            let named = graphs.iter().zip(first).map(|((name, _), view)| (name.as_deref(), *view));
            let aside = tables.iter().zip(rest).map(|((name, _), view)| (name.as_str(), *view));
            let dataset = Dataset::new(named.collect(), aside.collect());
            let mut happened = Instants::new();
            for (view, range) in first.iter().zip(&dated) {
                if let Some(range) = range {
                    add_instants(&mut happened, *view, *range);
                }
            }
            let answers = self.query.answers(&dataset, now, happened);
            let missed = dataset.missed();
            drop(dataset);
            drop(seen);
            drop(kernels);
            if missed.is_empty() {
                return match answers.map_err(PyValueError::new_err)? {
                    Answers::Solutions(variables, rows) => (variables, rows).into_bound_py_any(py),
                    Answers::Truth(truth) => truth.into_bound_py_any(py),
                    Answers::Triples(triples) => {
                        let triples = triples.into_iter().map(Vec::from).collect::<Vec<_>>();
                        triples.into_bound_py_any(py)
                    }
                };
            }
            for (place, columns) in missed {
                if let Some((kernel, relation, _)) = views().nth(place) {
                    kernel.borrow_mut(py).core.ask_index(RelationId::at(*relation), columns);
                }
            }
        }
    }
}
