//! The kernel as a Python object.

use std::collections::HashMap;

use arrow_array::RecordBatch;
use ebbtide_formats::reader::Fact;
use ebbtide_kernel::budget::{Budget, Stopped};
use ebbtide_kernel::ids::{FactId, RelationId, RuleId, StreamId, TermId};
use ebbtide_kernel::instant::{Grid, Instant, NEVER};
use ebbtide_kernel::kernel::{self as core, Settings};
use ebbtide_kernel::maintain::Strategy;
use ebbtide_kernel::statements::Refused;
use pyo3::exceptions::{PyKeyError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::bad_line::BadLine;
use crate::builtin::Raised;
use crate::program::{OperatorTuple, RuleTuple, WindowTuple, program, window};
use crate::reader::Reader;
use crate::shown::{Answer, Shown};
use crate::table::{Line, Table, texts};
use crate::triples::{self, Part};
use crate::{BudgetExceeded, SnapshotError, capsule, columns};

/// A fact of a delta: relation, terms, until before (none: it did not hold), until after.
type ChangeTuple = (usize, Vec<String>, Option<i64>, Option<i64>);
/// A step of a proof: relation, terms, until, rule (none: stated), premises.
type ProofTuple = (usize, Vec<String>, i64, Option<usize>, Vec<usize>);
/// A budget that was hit: which, its limit, the rule (none: the input), and the fact at hand.
type ExceededTuple = (&'static str, usize, Option<usize>, Option<(usize, Vec<String>)>);

/// One program, its facts, and the ticks that keep its conclusions true.
#[pyclass(module = "ebbtide._kernel")]
pub struct Kernel {
    pub(crate) core: core::Kernel,
    raised: Raised,
    /// What the last budget that was hit was hit by.
    exceeded: Option<ExceededTuple>,
}

fn some(until: Instant) -> Option<i64> {
    (until != NEVER).then_some(until.0)
}

fn reason(outcome: Result<(), Refused>) -> Option<&'static str> {
    match outcome {
        Ok(()) => None,
        Err(Refused::Late) => Some("late"),
        Err(Refused::Outside) => Some("outside"),
    }
}

impl Kernel {
    fn check_arity(&self, relation: usize, given: usize) -> PyResult<()> {
        let declared = self.core.relation(RelationId::at(relation)).arity();
        if declared == given {
            return Ok(());
        }
        let name = &self.core.program().relations[relation].name;
        Err(PyValueError::new_err(format!("{name} takes {declared} terms, not {given}")))
    }

    fn intern(&mut self, relation: usize, terms: &[String]) -> PyResult<Vec<TermId>> {
        self.check_arity(relation, terms.len())?;
        let dictionary = self.core.dictionary_mut();
        Ok(terms.iter().map(|text| dictionary.intern(text)).collect())
    }

    /// The terms of a record batch, column by column.
    fn intern_columns(
        &mut self,
        batch: &RecordBatch,
        names: &[String],
    ) -> PyResult<Vec<Vec<TermId>>> {
        let dictionary = self.core.dictionary_mut();
        names.iter().map(|name| columns::terms(dictionary, batch, name)).collect()
    }

    /// Evaluate a tick. No Python is needed for it, but by builtins, which see to that themselves.
    pub(crate) fn advance(&mut self, tick: i64) -> PyResult<()> {
        if self.core.tick().is_some_and(|last| last.0 >= tick) {
            return Err(PyValueError::new_err(format!(
                "ticks ascend: {tick} is not after the last"
            )));
        }
        match self.core.advance(Instant(tick)) {
            Ok(()) => Ok(()),
            Err(Stopped::Builtin) => Err(self.failure("a builtin failed")),
            Err(Stopped::Budget(exceeded)) => {
                let rule = exceeded.rule.map(RuleId::index);
                let fact = exceeded.fact.map(|fact| {
                    let terms = self.core.relation(fact.relation).terms(fact.row);
                    let text = |term| self.core.dictionary().text(term).to_owned();
                    (fact.relation.index(), terms.map(text).collect())
                });
                self.exceeded = Some((exceeded.resource, exceeded.limit, rule, fact));
                Err(BudgetExceeded::new_err(exceeded.to_string()))
            }
        }
    }

    /// What a builtin raised; else an error of its own.
    fn failure(&self, otherwise: &'static str) -> PyErr {
        self.raised.take().unwrap_or_else(|| PyRuntimeError::new_err(otherwise))
    }

    pub(crate) fn find(&self, relation: usize, terms: &[String]) -> Option<FactId> {
        let texts: Vec<&str> = terms.iter().map(String::as_str).collect();
        self.core.find(RelationId::at(relation), &texts)
    }
}

#[pymethods]
impl Kernel {
    #[new]
    #[pyo3(signature = (relations, rules, operators, windows, strategy, grid, budget))]
    fn new(
        relations: Vec<(String, usize)>,
        rules: Vec<RuleTuple>,
        operators: Vec<OperatorTuple>,
        windows: Vec<WindowTuple>,
        strategy: &str,
        grid: (i64, i64),
        budget: (Option<usize>, Option<usize>, Option<usize>, bool),
    ) -> PyResult<Self> {
        let strategy = Strategy::named(strategy)
            .ok_or_else(|| PyValueError::new_err(format!("unknown strategy {strategy:?}")))?;
        let (step, origin) = grid;
        if step <= 0 {
            return Err(PyValueError::new_err("the step must be positive"));
        }
        let settings = Settings {
            strategy,
            grid: Grid { step, origin: Instant(origin) },
            windows: windows.into_iter().map(window).collect::<PyResult<_>>()?,
            budget: Budget {
                facts: budget.0,
                bytes: budget.1,
                derivations: budget.2,
                go_on: budget.3,
            },
        };
        let raised = Raised::default();
        let (program, externals) = program(relations, rules, operators, &raised)?;
        let core = core::Kernel::new(program, externals, settings);
        Ok(Self { core, raised, exceeded: None })
    }

    fn add(&mut self, relation: usize, terms: Vec<String>) -> PyResult<()> {
        let terms = self.intern(relation, &terms)?;
        self.core.add(RelationId::at(relation), &terms);
        Ok(())
    }

    fn push(
        &mut self,
        stream: usize,
        relation: usize,
        terms: Vec<String>,
        at: i64,
    ) -> PyResult<Option<&'static str>> {
        let terms = self.intern(relation, &terms)?;
        let (stream, relation) = (StreamId::at(stream), RelationId::at(relation));
        Ok(reason(self.core.push(stream, relation, &terms, Instant(at))))
    }

    fn retract(
        &mut self,
        relation: usize,
        terms: Vec<String>,
        at: i64,
    ) -> PyResult<Option<&'static str>> {
        let terms = self.intern(relation, &terms)?;
        Ok(reason(self.core.retract(RelationId::at(relation), &terms, Instant(at))))
    }

    /// Push record batches; returns the row numbers that came late or are outside the window.
    fn push_arrow(
        &mut self,
        stream: usize,
        relation: usize,
        data: &Bound<'_, PyAny>,
        time: &str,
        names: Vec<String>,
    ) -> PyResult<(Vec<usize>, Vec<usize>)> {
        self.check_arity(relation, names.len())?;
        let (mut late, mut outside, mut first) = (Vec::new(), Vec::new(), 0);
        let (stream, relation) = (StreamId::at(stream), RelationId::at(relation));
        for batch in capsule::import(data)? {
            let batch = batch?;
            let instants = columns::instants(&batch, time)?;
            let terms = self.intern_columns(&batch, &names)?;
            let mut tuple = vec![TermId(0); terms.len()];
            for (row, at) in instants.into_iter().enumerate() {
                for (place, column) in tuple.iter_mut().zip(&terms) {
                    *place = column[row];
                }
                match self.core.push(stream, relation, &tuple, at) {
                    Ok(()) => {}
                    Err(Refused::Late) => late.push(first + row),
                    Err(Refused::Outside) => outside.push(first + row),
                }
            }
            first += batch.num_rows();
        }
        Ok((late, outside))
    }

    /// Add record batches to the background.
    fn add_arrow(
        &mut self,
        relation: usize,
        data: &Bound<'_, PyAny>,
        names: Vec<String>,
    ) -> PyResult<()> {
        self.check_arity(relation, names.len())?;
        for batch in capsule::import(data)? {
            let batch = batch?;
            let terms = self.intern_columns(&batch, &names)?;
            for row in 0..batch.num_rows() {
                let tuple: Vec<TermId> = terms.iter().map(|column| column[row]).collect();
                self.core.add(RelationId::at(relation), &tuple);
            }
        }
        Ok(())
    }

    /// Add up to `limit` facts of a document to the background; how many. None: the end.
    fn add_read(
        &mut self,
        py: Python<'_>,
        relation: usize,
        reader: &mut Reader,
        limit: usize,
    ) -> PyResult<usize> {
        self.check_arity(relation, 3)?;
        let relation = RelationId::at(relation);
        let core = &mut self.core;
        // Subjects and predicates come in runs.
        let mut last = [const { (String::new(), TermId(0)) }; 3];
        let mut add = |fact: Fact<'_>| {
            let dictionary = core.dictionary_mut();
            for ((text, term), found) in last.iter_mut().zip(fact.terms) {
                if text != found {
                    *term = dictionary.intern(found);
                    text.clear();
                    text.push_str(found);
                }
            }
            core.add(relation, &[last[0].1, last[1].1, last[2].1]);
        };
        py.detach(|| reader.each_fact(limit, &mut add)).map_err(BadLine::error)
    }

    #[pyo3(name = "advance")]
    fn advance_detached(&mut self, py: Python<'_>, tick: i64) -> PyResult<()> {
        py.detach(|| self.advance(tick))
    }

    /// What the last `BudgetExceeded` was about: which budget and its limit, the rule (None: the
    /// input) and the fact at hand.
    #[getter]
    fn exceeded(&self) -> Option<ExceededTuple> {
        self.exceeded.clone()
    }

    #[getter]
    fn is_complete(&self) -> bool {
        self.core.is_complete()
    }

    /// Before this no tick after the last one changes anything; None if none ever does.
    #[getter]
    fn quiet_until(&self) -> Option<i64> {
        self.core.quiet_until(&[]).map(|at| at.0)
    }

    /// Whether the last tick changed anything.
    #[getter]
    fn has_changes(&self) -> bool {
        self.core.changes().next().is_some()
    }

    fn __len__(&self) -> usize {
        self.core.len()
    }

    /// What the last tick changed.
    fn changes(&self) -> Vec<ChangeTuple> {
        let tuple = |(change, after): (core::Change, Instant)| {
            let fact = change.fact;
            (fact.relation.index(), texts(&self.core, fact), some(change.before), some(after))
        };
        self.core.changes().map(tuple).collect()
    }

    /// How many facts the last tick brought, renewed and took.
    fn change_counts(&self) -> (usize, usize, usize) {
        let (mut entered, mut renewed, mut left) = (0, 0, 0);
        for (change, after) in self.core.changes() {
            match (change.before == NEVER, after == NEVER) {
                (true, _) => entered += 1,
                (_, true) => left += 1,
                _ => renewed += 1,
            }
        }
        (entered, renewed, left)
    }

    /// What the last tick changed in one relation: diff +1 entered, 0 renewed, -1 left.
    fn changes_arrow(&self, relation: usize) -> PyResult<Table> {
        let id = RelationId::at(relation);
        let changes = self.core.changes().filter(|(change, _)| change.fact.relation == id);
        let line = |(change, after): (core::Change, Instant)| {
            let (until, diff) = match (change.before == NEVER, after == NEVER) {
                (true, _) => (after, 1),
                (_, true) => (change.before, -1),
                _ => (after, 0),
            };
            Line { row: change.fact.row, until, diff }
        };
        Table::of(&self.core, id, &changes.map(line).collect::<Vec<_>>(), true)
    }

    /// The facts of a relation that hold, with `until`.
    fn facts(&self, relation: usize) -> Vec<(Vec<String>, i64)> {
        let id = RelationId::at(relation);
        let rows = self.core.relation(id).live();
        let tuple = |row| {
            let fact = FactId { relation: id, row };
            (texts(&self.core, fact), self.core.until(fact).0)
        };
        rows.map(tuple).collect()
    }

    /// The facts of a relation that end after an instant, as answers, with `until`.
    fn rows<'py>(
        &self,
        py: Python<'py>,
        relation: usize,
        after: i64,
        columns: Vec<Option<usize>>,
        unbound: &str,
    ) -> PyResult<Vec<Answer<'py>>> {
        let shown = Shown::new(&self.core, RelationId::at(relation), columns, unbound);
        let facts = self.core.relation(RelationId::at(relation));
        let rows = facts.live().filter(|row| facts.until(*row).0 > after);
        rows.map(|row| shown.answer(py, row, facts.until(row))).collect()
    }

    /// The facts of a relation that hold and have these terms; None is any.
    fn matching(&self, relation: usize, pattern: Vec<Option<String>>) -> Vec<Vec<String>> {
        let id = RelationId::at(relation);
        let mut wanted = Vec::new();
        for (column, text) in pattern.iter().enumerate() {
            let Some(text) = text else { continue };
            // A term that nobody used is in no fact.
            let Some(term) = self.core.dictionary().lookup(text) else { return Vec::new() };
            wanted.push((column, term));
        }
        let facts = self.core.relation(id);
        let rows = facts
            .live()
            .filter(|row| wanted.iter().all(|(column, term)| facts.term(*row, *column) == *term));
        rows.map(|row| texts(&self.core, FactId { relation: id, row })).collect()
    }

    /// The facts of a relation that the last tick brought (or took), as answers, with `until`.
    ///
    /// `seen` is by how much earlier all of it ends, and two instants: what the tick changed is seen at
    /// the second and was not at the first, or the other way round.
    fn row_changes<'py>(
        &self,
        py: Python<'py>,
        relation: usize,
        came: bool,
        columns: Vec<Option<usize>>,
        unbound: &str,
        seen: (i64, i64, i64),
    ) -> PyResult<Vec<Answer<'py>>> {
        let id = RelationId::at(relation);
        let (by, since, now) = seen;
        let shown = Shown::new(&self.core, id, columns, unbound);
        let changes = self.core.changes().filter(|(change, _)| change.fact.relation == id);
        let told = changes.filter_map(|(change, after)| {
            let (before, after) = (change.before.earlier(by), after.earlier(by));
            let (was, is) = (before > Instant(since), after > Instant(now));
            let (told, until) = if came { (is && !was, after) } else { (was && !is, before) };
            told.then(|| shown.answer(py, change.fact.row, until))
        });
        told.collect()
    }

    /// The facts of a relation that hold, as record batches.
    fn facts_arrow(&self, relation: usize) -> PyResult<Table> {
        let id = RelationId::at(relation);
        let facts = self.core.relation(id);
        let lines: Vec<Line> =
            facts.live().map(|row| Line { row, until: facts.until(row), diff: 1 }).collect();
        Table::of(&self.core, id, &lines, false)
    }

    /// The triples of a relation that RDF can say, in the order of their texts, and how many others
    /// there are: those of `part`, and those with invented terms if `invented`.
    fn triples_arrow(
        &self,
        relation: usize,
        part: &str,
        invented: bool,
    ) -> PyResult<(Table, usize)> {
        self.check_arity(relation, 3)?;
        let id = RelationId::at(relation);
        let (lines, others) = triples::lines(&self.core, id, Part::named(part)?, invented);
        let table = Table::of(&self.core, id, &lines, false)?;
        Ok((table.named(&["s", "p", "o", "until"])?, others))
    }

    fn until(&self, relation: usize, terms: Vec<String>) -> Option<i64> {
        self.find(relation, &terms).map(|fact| self.core.until(fact).0)
    }

    /// Whether a fact that holds is stated for as long as it holds.
    fn is_stated(&self, relation: usize, terms: Vec<String>) -> bool {
        self.find(relation, &terms).is_some_and(|fact| {
            let rows = self.core.relation(fact.relation);
            rows.stated(fact.row) != NEVER
        })
    }

    /// The instants at which a fact that holds entered the count windows that hold it.
    fn counted_at(&self, relation: usize, terms: Vec<String>) -> Vec<i64> {
        let fact = self.find(relation, &terms);
        let instants = fact.map(|fact| self.core.counted_at(fact)).unwrap_or_default();
        instants.into_iter().map(|at| at.0).collect()
    }

    fn why(&mut self, relation: usize, terms: Vec<String>) -> PyResult<Vec<ProofTuple>> {
        let fact = self.find(relation, &terms);
        let fact = fact.ok_or_else(|| PyKeyError::new_err("the fact does not hold"))?;
        let nodes = self.core.why(fact);
        let nodes = nodes.ok_or_else(|| {
            self.failure("the last tick broke off, so not every fact has a proof")
        })?;
        let nodes = nodes.into_iter().map(|node| {
            let rule = node.rule.map(|rule| rule.index());
            let terms = texts(&self.core, node.fact);
            (node.fact.relation.index(), terms, node.until.0, rule, node.premises)
        });
        Ok(nodes.collect())
    }

    /// Take over the statements and arrivals of another kernel whose windows are shorter by `span`.
    fn adopt(&mut self, other: &Self, span: i64) {
        self.core.adopt(&other.core, span);
    }

    /// Say of a relation what the last tick of another kernel changed in one of its relations, or
    /// all that it holds; lifetimes are shorter by `by`.
    fn mirror(&mut self, relation: usize, other: &Self, source: usize, by: i64, whole: bool) {
        let (relation, from) = (RelationId::at(relation), RelationId::at(source));
        if whole {
            self.core.mirror_whole(relation, &other.core, from, by);
        } else {
            self.core.mirror(relation, &other.core, from, by);
        }
    }

    fn snapshot<'py>(&self, py: Python<'py>, fingerprint: &str) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.core.snapshot(fingerprint))
    }

    fn restore(&mut self, snapshot: &[u8], fingerprint: &str) -> PyResult<()> {
        let outcome = self.core.restore(snapshot, fingerprint);
        outcome.map_err(|error| SnapshotError::new_err(error.to_string()))
    }

    #[getter]
    fn tick(&self) -> Option<i64> {
        self.core.tick().map(|tick| tick.0)
    }

    /// The rules as they are joined, and the indexes that the joins need.
    fn explain(&self) -> String {
        self.core.explain()
    }

    /// Totals since the start, and sizes now.
    fn stats(&self) -> HashMap<&'static str, u64> {
        let totals = self.core.totals();
        HashMap::from([
            ("ticks", totals.ticks),
            ("stated", totals.stated),
            ("lookups", totals.lookups),
            ("derivations", totals.derivations),
            ("entered", totals.entered),
            ("left", totals.left),
            ("facts", self.core.len() as u64),
            ("terms", self.core.dictionary().len() as u64),
            ("waiting", self.core.waiting() as u64),
            ("bytes", self.core.bytes() as u64),
        ])
    }
}
