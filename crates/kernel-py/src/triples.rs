//! Which facts go out as RDF, and in which order.

use ebbtide_kernel::ids::{RelationId, RowId, TermId};
use ebbtide_kernel::instant::NEVER;
use ebbtide_kernel::invent::is_invented;
use ebbtide_kernel::kernel::Kernel;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::table::Line;

/// Which facts.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Part {
    All,
    Stated,
    Inferred,
}

impl Part {
    /// The part of that name.
    pub fn named(name: &str) -> PyResult<Self> {
        match name {
            "all" => Ok(Self::All),
            "stated" => Ok(Self::Stated),
            "inferred" => Ok(Self::Inferred),
            _ => Err(PyValueError::new_err(format!("there is no part {name:?} of the facts"))),
        }
    }
}

/// What matters about each term: its place among the texts, and where RDF lets it stand.
struct Terms {
    rank: Vec<u32>,
    kind: Vec<Kind>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Iri,
    Blank,
    Literal,
    Invented,
}

impl Terms {
    fn of(kernel: &Kernel) -> Self {
        let mut entries: Vec<(&str, TermId)> =
            kernel.dictionary().entries().map(|(term, text, _)| (text, term)).collect();
        entries.sort_unstable();
        let size = entries.iter().map(|(_, term)| term.index() + 1).max().unwrap_or(0);
        let mut terms = Self { rank: vec![0; size], kind: vec![Kind::Literal; size] };
        for ((text, term), rank) in entries.into_iter().zip(0..) {
            terms.rank[term.index()] = rank;
            terms.kind[term.index()] = match text.as_bytes().first() {
                Some(b'<') => Kind::Iri,
                _ if is_invented(text) => Kind::Invented,
                Some(b'_') => Kind::Blank,
                _ => Kind::Literal,
            };
        }
        terms
    }
}

/// The triples of a part that RDF can say, sorted by the texts of their terms, and how many it
/// cannot: those with a literal for a subject, or with anything but an IRI for a predicate.
pub fn lines(kernel: &Kernel, id: RelationId, part: Part, invented: bool) -> (Vec<Line>, usize) {
    let terms = Terms::of(kernel);
    let relation = kernel.relation(id);
    let term = |row: RowId, column: usize| relation.term(row, column).index();
    let kind = |row: RowId, column: usize| terms.kind[term(row, column)];
    let mut others = 0;
    let mut lines: Vec<Line> = Vec::new();
    for row in relation.live() {
        let is_stated = relation.stated(row) != NEVER;
        if part != Part::All && is_stated != (part == Part::Stated) {
            continue;
        }
        if !invented && (0..3).any(|column| kind(row, column) == Kind::Invented) {
            continue;
        }
        let is_literal = kernel.dictionary().text(relation.term(row, 0)).starts_with('"');
        if is_literal || kind(row, 1) != Kind::Iri {
            others += 1;
            continue;
        }
        lines.push(Line { row, until: relation.until(row), diff: 1 });
    }
    let key = |line: &Line| [0, 1, 2].map(|column| terms.rank[term(line.row, column)]);
    lines.sort_by_cached_key(key);
    (lines, others)
}
