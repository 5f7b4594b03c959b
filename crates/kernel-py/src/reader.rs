//! A document on its way in: rows of texts, record batches, or straight into the kernel.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::builder::{Int32Builder, Int64Builder, StringBuilder};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use ebbtide_formats::format::Format;
use ebbtide_formats::input::Input;
use ebbtide_formats::reader::{self as core, Fact, Graphs, Options, Step};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString, PyTuple};

use crate::bad_line::BadLine;
use crate::table::Table;

/// A file's path, or a document itself.
#[derive(FromPyObject)]
pub enum SourceTuple {
    Path(PathBuf),
    Bytes(Vec<u8>),
}

/// The facts of one document, a chunk at a time.
///
/// Something wrong is raised once everything before it was handed out, unless the reader is lenient:
/// then it goes on, where the format allows it, and keeps what was wrong for `take_bad`.
#[pyclass(module = "ebbtide._kernel")]
pub struct Reader {
    core: core::Reader,
    timed: bool,
    graphs: bool,
    lines: bool,
    lenient: bool,
    bad: Vec<BadLine>,
    /// To be raised at the next call.
    fatal: Option<BadLine>,
    ended: bool,
}

/// What a chunk is made of.
pub enum Item<'a> {
    Fact(Fact<'a>),
    /// Only from a lenient reader.
    Bad(BadLine),
}

impl Reader {
    /// Hand up to `limit` facts to `take`, and what is wrong among them if the reader is lenient; how
    /// many facts there were. No fact: the end.
    ///
    /// # Errors
    /// When something is wrong, once all the facts before it were handed out.
    pub fn each(
        &mut self,
        limit: usize,
        take: &mut impl FnMut(Item<'_>),
    ) -> Result<usize, BadLine> {
        let mut count = 0;
        while count < limit && !self.ended {
            match self.core.advance() {
                Step::Fact => {
                    take(Item::Fact(self.core.fact()));
                    count += 1;
                }
                Step::Bad(bad) if self.lenient => take(Item::Bad(BadLine(bad))),
                Step::Bad(bad) => {
                    self.ended = true;
                    if count == 0 {
                        return Err(BadLine(bad));
                    }
                    self.fatal = Some(BadLine(bad));
                }
                Step::End => self.ended = true,
            }
        }
        match self.fatal.take_if(|_| count == 0) {
            Some(bad) => Err(bad),
            None => Ok(count),
        }
    }

    /// As `each`, with what is wrong put aside for `take_bad`.
    pub fn each_fact(
        &mut self,
        limit: usize,
        take: &mut impl FnMut(Fact<'_>),
    ) -> Result<usize, BadLine> {
        let mut bad = Vec::new();
        let count = self.each(limit, &mut |item| match item {
            Item::Fact(fact) => take(fact),
            Item::Bad(line) => bad.push(line),
        });
        self.bad.append(&mut bad);
        count
    }
}

#[pymethods]
impl Reader {
    #[new]
    #[pyo3(signature = (
        source, name, *, format=None, base=None, graph=None, scope=None, timed=false,
        dated_by=None, graphs=false, lines=false, lenient=false,
    ))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn new(
        source: SourceTuple,
        name: &str,
        format: Option<&str>,
        base: Option<String>,
        graph: Option<String>,
        scope: Option<String>,
        timed: bool,
        dated_by: Option<String>,
        graphs: bool,
        lines: bool,
        lenient: bool,
    ) -> PyResult<Self> {
        let options = Options {
            format: format.map(format_named).transpose()?,
            base,
            graphs: match graph {
                None => Graphs::All,
                Some(name) if name.is_empty() => Graphs::Default,
                Some(name) => Graphs::Named(name),
            },
            scope,
            timed,
            dated_by,
            lines,
        };
        let input = match source {
            SourceTuple::Path(path) => Input::Path(path),
            SourceTuple::Bytes(bytes) => Input::Bytes(bytes),
        };
        let core = core::Reader::open(input, name, options).map_err(|bad| BadLine(bad).error())?;
        Ok(Self { core, timed, graphs, lines, lenient, bad: Vec::new(), fatal: None, ended: false })
    }

    /// The next facts as tuples of texts: (t,) s, p, o (, g); from a lenient reader, with what is
    /// wrong among them. Empty at the end.
    fn rows<'py>(&mut self, py: Python<'py>, limit: usize) -> PyResult<Bound<'py, PyList>> {
        let rows = PyList::empty(py);
        let (timed, graphs) = (self.timed, self.graphs);
        let mut outcome = Ok(());
        let mut predicate: Option<(String, Bound<'py, PyString>)> = None;
        self.each(limit, &mut |item| {
            if outcome.is_err() {
                return;
            }
            let fact = match item {
                Item::Fact(fact) => fact,
                Item::Bad(bad) => return outcome = rows.append(bad),
            };
            let mut row: Vec<Bound<'py, PyAny>> = Vec::with_capacity(5);
            if timed && let Ok(at) = fact.at.unwrap_or(0).into_pyobject(py) {
                row.push(at.into_any());
            }
            for (place, text) in fact.terms.into_iter().enumerate() {
                // Predicates come in runs, so their strings are shared.
                let known = predicate.as_ref().filter(|(known, _)| place == 1 && known == text);
                let string = known.map(|(_, string)| string.clone());
                let string = string.unwrap_or_else(|| PyString::new(py, text));
                if place == 1 {
                    predicate = Some((text.to_owned(), string.clone()));
                }
                row.push(string.into_any());
            }
            if graphs {
                let name = fact.graph.map(|graph| PyString::new(py, graph).into_any());
                row.push(name.unwrap_or_else(|| py.None().into_bound(py)));
            }
            outcome = PyTuple::new(py, row).and_then(|row| rows.append(row));
        })
        .map_err(BadLine::error)?;
        outcome.map(|()| rows)
    }

    /// The next facts as a record batch: columns (t,) s, p, o (, g) (, line). Empty at the end.
    fn table(&mut self, py: Python<'_>, limit: usize) -> PyResult<Table> {
        py.detach(|| {
            let mut instants = Int64Builder::new();
            let mut texts: [StringBuilder; 3] = Default::default();
            let mut names = StringBuilder::new();
            let mut numbers = Int32Builder::new();
            let (timed, graphs, lines) = (self.timed, self.graphs, self.lines);
            self.each_fact(limit, &mut |fact| {
                if timed {
                    instants.append_option(fact.at);
                }
                for (column, text) in texts.iter_mut().zip(fact.terms) {
                    column.append_value(text);
                }
                if graphs {
                    names.append_option(fact.graph);
                }
                if lines {
                    numbers.append_option(fact.line.and_then(|line| i32::try_from(line).ok()));
                }
            })
            .map_err(BadLine::error)?;
            let mut columns: Vec<(&str, ArrayRef, bool)> = Vec::new();
            if timed {
                columns.push(("t", Arc::new(instants.finish()), false));
            }
            for (name, mut column) in ["s", "p", "o"].into_iter().zip(texts) {
                columns.push((name, Arc::new(column.finish()), false));
            }
            if graphs {
                columns.push(("g", Arc::new(names.finish()), true));
            }
            if lines {
                columns.push(("line", Arc::new(numbers.finish()), true));
            }
            batch(columns).map(Table::single)
        })
    }

    /// What was wrong in the tables since the last call.
    fn take_bad(&mut self) -> Vec<BadLine> {
        std::mem::take(&mut self.bad)
    }

    /// The prefixes that the document declared, by name, as far as it was read.
    #[getter]
    fn prefixes(&self) -> BTreeMap<String, String> {
        self.core.prefixes()
    }

    /// How many bytes of the input were taken, and how many there are.
    #[getter]
    fn progress(&self) -> (u64, u64) {
        (self.core.progress().taken(), self.core.progress().size())
    }
}

/// The format that a user means.
pub fn format_named(name: &str) -> PyResult<Format> {
    Format::named(name).ok_or_else(|| {
        let names: Vec<&str> = Format::names().collect();
        let names = names.join(", ");
        PyValueError::new_err(format!("there is no format '{name}'; there are {names}"))
    })
}

/// A record batch of named columns, each perhaps with nulls.
pub fn batch(columns: Vec<(&str, ArrayRef, bool)>) -> PyResult<RecordBatch> {
    let field = |(name, array, nullable): &(&str, ArrayRef, bool)| {
        let kind: DataType = array.data_type().clone();
        Field::new(*name, kind, *nullable)
    };
    let fields: Vec<Field> = columns.iter().map(field).collect();
    let arrays = columns.into_iter().map(|(_, array, _)| array).collect();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays)
        .map_err(|error| PyValueError::new_err(error.to_string()))
}
