//! Facts on their way into a document.

use std::collections::BTreeMap;

use ebbtide_formats::writer as core;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::columns;
use crate::reader::format_named;
use crate::table::Table;

/// A document of facts, handed out as bytes while it is written.
#[pyclass(module = "ebbtide._kernel")]
pub struct Writer {
    core: Option<core::Writer>,
}

fn wrong(error: core::Unwritable) -> PyErr {
    PyValueError::new_err(error.to_string())
}

#[pymethods]
impl Writer {
    #[new]
    fn new(format: &str, prefixes: BTreeMap<String, String>) -> PyResult<Self> {
        let core = core::Writer::new(format_named(format)?, &prefixes).map_err(wrong)?;
        Ok(Self { core: Some(core) })
    }

    /// Write the columns s, p and o of a table, all in one graph or in none; the bytes so far.
    fn write<'py>(
        &mut self,
        py: Python<'py>,
        table: PyRef<'_, Table>,
        graph: Option<&str>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let core = self.open()?;
        let table = &*table;
        let bytes = py.detach(|| {
            for batch in table.batches() {
                let [s, p, o] = ["s", "p", "o"].map(|name| columns::texts(batch, name));
                for ((s, p), o) in s?.into_iter().zip(p?).zip(o?) {
                    let terms = [s, p, o].map(Option::unwrap_or_default);
                    core.write(terms, graph).map_err(wrong)?;
                }
            }
            Ok::<_, PyErr>(core.take())
        })?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// End the document; its last bytes.
    fn finish<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        self.open()?;
        let core = self.core.take();
        let bytes = core.map_or(Ok(Vec::new()), core::Writer::finish).map_err(wrong)?;
        Ok(PyBytes::new(py, &bytes))
    }
}

impl Writer {
    fn open(&mut self) -> PyResult<&mut core::Writer> {
        self.core.as_mut().ok_or_else(|| PyValueError::new_err("the document is finished"))
    }
}
