//! The Python face of the kernel: `ebbtide._kernel`.
//!
//! Thin: one file per exposed noun, typed by `python/ebbtide/_kernel.pyi`. Relations, streams and
//! rules go by their positions here; the Python side has the names.

mod answers;
mod atoms;
mod bad_line;
mod bare;
mod builtin;
mod capsule;
mod columns;
mod kernel;
mod lines;
mod program;
mod query;
mod reader;
mod shown;
mod sparql;
mod table;
mod timeline;
mod triples;
mod writer;

use pyo3::prelude::*;

/// Terms come and go by the million, and tables are large: this allocator is about a fifth faster at
/// both than the system's (docs/decisions.md).
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

pyo3::create_exception!(
    _kernel,
    BudgetExceeded,
    pyo3::exceptions::PyRuntimeError,
    "A budget was hit."
);
pyo3::create_exception!(
    _kernel,
    SnapshotError,
    pyo3::exceptions::PyValueError,
    "Not a snapshot of this program."
);
pyo3::create_exception!(
    _kernel,
    SparqlSyntaxError,
    pyo3::exceptions::PyValueError,
    "Not SPARQL: the parser's message, and the line and column it looked at, if it tells."
);

pyo3::create_exception!(
    _kernel,
    FormatError,
    pyo3::exceptions::PyValueError,
    "A bad line, raised."
);

#[pymodule]
fn _kernel(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<kernel::Kernel>()?;
    module.add_class::<query::SparqlQuery>()?;
    module.add_class::<table::Table>()?;
    module.add_class::<timeline::Timeline>()?;
    module.add_function(wrap_pyfunction!(atoms::read_atoms, module)?)?;
    module.add_class::<bare::BareTable>()?;
    module.add_class::<bare::BareTexts>()?;
    module.add_class::<bad_line::BadLine>()?;
    module.add_class::<reader::Reader>()?;
    module.add_class::<writer::Writer>()?;
    module.add_function(wrap_pyfunction!(lines::parse_lines, module)?)?;
    module.add_function(wrap_pyfunction!(lines::parse_instant, module)?)?;
    module.add("MAX_LINE", ebbtide_formats::lines::MAX_LINE)?;
    let format_error = module.py().get_type::<FormatError>();
    format_error.setattr("bad", bad_line::property(module.py())?)?;
    module.add("FormatError", format_error)?;
    module.add("BudgetExceeded", module.py().get_type::<BudgetExceeded>())?;
    module.add("SnapshotError", module.py().get_type::<SnapshotError>())?;
    module.add("SparqlSyntaxError", module.py().get_type::<SparqlSyntaxError>())?;
    module.add_function(wrap_pyfunction!(sparql::sparql_query, module)?)?;
    module.add_function(wrap_pyfunction!(sparql::sparql_update, module)?)?;
    module.add_function(wrap_pyfunction!(sparql::sparql_holds, module)?)?;
    module.add_function(wrap_pyfunction!(sparql::sparql_value, module)?)?;
    Ok(())
}
