//! A timeline: time points one after the other, and what each of them says, as record batches.
//!
//! A LARS program reads its input in several relations, some of them with the time point as a
//! column, and it reads the time points themselves (`ebbtide.languages.lars.lower`). Here both are
//! fed without a Python object a fact or a tick, and many ticks are answered in one batch.

use std::collections::VecDeque;

use ebbtide_kernel::ids::{RelationId, StreamId, TermId};
use ebbtide_kernel::instant::Instant;
use ebbtide_kernel::kernel::Kernel as Core;
use ebbtide_kernel::statements::Refused;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::answers::{Answers, Codes, Held, How, Output};
use crate::kernel::Kernel;
use crate::table::Table;
use crate::{capsule, columns};

/// What stands in a column of a relation: a column of the input, -1 for the time point, or a term.
#[derive(FromPyObject)]
pub enum PlaceTuple {
    Column(i64),
    Term(String),
}

/// A stream, a relation on it, and what stands in its columns.
type RouteTuple = (usize, usize, Vec<PlaceTuple>);

#[derive(Clone, Copy)]
enum Place {
    Column(usize),
    Time,
    Term(TermId),
}

/// A relation of time points.
struct Clock {
    stream: StreamId,
    relation: RelationId,
    kind: Kind,
    /// How far back it says the time points that were left out.
    reach: i64,
}

/// Which time points a clock says at a tick.
enum Kind {
    /// The tick.
    Point,
    /// The one before it, and the tick.
    Link,
    /// The first one of a window that reaches back so far.
    First(i64),
    /// The first one of the pane, panes being so wide and beginning at multiples of that.
    Pane(i64),
}

/// A tick, and how many settlings of facts there had been before and after it.
type Settlings = (i64, u64, u64);

/// Time points from `start` on, `step` apart; the clocks that say them, and the relations that
/// answer.
#[pyclass(module = "ebbtide._kernel")]
pub struct Timeline {
    start: i64,
    step: i64,
    next: i64,
    clocks: Vec<Clock>,
    /// The relations of the clocks.
    said: Vec<RelationId>,
    outputs: Vec<Output>,
    /// A relation that holds something while there is no answer.
    outside: Option<RelationId>,
    /// The rules that a new time point may set off, each by the relations that it needs besides.
    wakes: Vec<Vec<RelationId>>,
    /// Whether the last tick of the kernel was evaluated here, so that its changes can be read.
    evaluated: bool,
    /// Whether it changed anything that is said of the present alone; none while nobody has looked.
    was_present: Option<bool>,
    /// How long a tick is remembered: as long as the widest pane, if there are any.
    memory: i64,
    /// The ticks that are remembered.
    ticks: VecDeque<Settlings>,
    /// What the outputs held before the next time point, if that is known.
    held: Option<(i64, Vec<Option<Held>>)>,
    /// Used again by each answer.
    codes: Codes,
}

impl Timeline {
    /// The time point that an instant belongs to: the first at or after it.
    fn point(&self, at: i64) -> i64 {
        let into = (at - self.start).rem_euclid(self.step);
        if into == 0 { at } else { at - into + self.step }
    }

    /// Say a time point, and those before it that were left out as far as it matters.
    fn tell_time(&self, core: &mut Core, tick: i64) {
        let first_left_out = core.tick().map_or(self.start, |last| last.0 + self.step);
        for clock in &self.clocks {
            let mut point = self.point(first_left_out.max(tick.saturating_sub(clock.reach)));
            while point <= tick {
                self.tell_point(core, clock, point);
                point += self.step;
            }
        }
    }

    fn tell_point(&self, core: &mut Core, clock: &Clock, tick: i64) {
        let now = time_term(core, tick);
        let first = |first: i64| first.max(self.start);
        let terms: Vec<TermId> = match clock.kind {
            Kind::Point => vec![now],
            Kind::Link if tick == self.start => return,
            Kind::Link => vec![time_term(core, tick - self.step), now],
            Kind::First(back) => vec![time_term(core, first(tick - back))],
            Kind::Pane(width) => {
                vec![time_term(core, first(self.point(tick - tick.rem_euclid(width))))]
            }
        };
        // A clock is never late: its tick is still to come.
        let told = core.push(clock.stream, clock.relation, &terms, Instant(tick));
        debug_assert!(told.is_ok());
    }

    /// The first time point from the next one on at which anything may change.
    fn first_change(&mut self, core: &Core) -> i64 {
        let quiet = core.quiet_until(&self.said).map_or(i64::MAX, |at| at.0);
        if !self.evaluated || quiet <= self.next {
            return self.next;
        }
        let holds = |relation: &RelationId| !core.relation(*relation).is_empty();
        let is_awake = self.wakes.iter().any(|needed| needed.iter().all(holds));
        if is_awake || !self.is_answered(core) || self.was_present(core) {
            return self.next;
        }
        if quiet == i64::MAX { quiet } else { self.point(quiet) }
    }

    /// Whether the last tick changed what a relation with the time point in front says of the present: the next time point
    /// does not say it. The changes are looked at once, however many time points are left out.
    fn was_present(&mut self, core: &Core) -> bool {
        let Self { outputs, was_present, .. } = self;
        let is_stamped =
            |id: RelationId| outputs.iter().any(|one| one.stamped && one.relation == id);
        *was_present.get_or_insert_with(|| core.touched().any(|(id, ..)| is_stamped(id)))
    }
}

/// A time point as a term.
fn time_term(core: &mut Core, point: i64) -> TermId {
    columns::integer(core.dictionary_mut(), point)
}

#[pymethods]
impl Timeline {
    #[new]
    fn new(
        start: i64,
        step: i64,
        clocks: Vec<(usize, usize, String, i64, i64)>,
        outputs: Vec<(usize, bool)>,
        outside: Option<usize>,
        wakes: Vec<Vec<usize>>,
        memory: i64,
    ) -> PyResult<Self> {
        let clock = |(stream, relation, kind, back, reach): (usize, usize, String, i64, i64)| {
            let kind = match kind.as_str() {
                "point" => Kind::Point,
                "link" => Kind::Link,
                "first" => Kind::First(back),
                "pane" => Kind::Pane(back + step),
                _ => return Err(PyValueError::new_err(format!("unknown clock {kind}"))),
            };
            let (stream, relation) = (StreamId::at(stream), RelationId::at(relation));
            Ok(Clock { stream, relation, kind, reach })
        };
        let clocks: Vec<Clock> = clocks.into_iter().map(clock).collect::<PyResult<_>>()?;
        Ok(Self {
            start,
            step,
            next: start,
            said: clocks.iter().map(|clock| clock.relation).collect(),
            clocks,
            outputs: outputs
                .into_iter()
                .map(|(relation, stamped)| {
                    let relation = RelationId::at(relation);
                    Output { relation, stamped, rows: 0 }
                })
                .collect(),
            outside: outside.map(RelationId::at),
            wakes: wakes
                .into_iter()
                .map(|needed| needed.into_iter().map(RelationId::at).collect())
                .collect(),
            evaluated: false,
            was_present: None,
            memory,
            ticks: VecDeque::new(),
            held: None,
            codes: Codes::default(),
        })
    }

    /// The next time point to be evaluated.
    #[getter]
    fn next(&self) -> i64 {
        self.next
    }

    /// Go on at a time point, with the ticks that were remembered.
    fn resume(&mut self, next: i64, ticks: Vec<Settlings>) {
        self.next = next;
        self.ticks = ticks.into();
        self.evaluated = false;
    }

    /// Leave out the time points up to one that say what the one before them says; the next one.
    fn leap(&mut self, kernel: &Kernel, to: i64) -> i64 {
        let change = self.first_change(&kernel.core);
        if change > self.next {
            self.next = change.min(self.point(to.saturating_add(1)));
        }
        self.next
    }

    /// The ticks that are remembered.
    #[getter]
    fn ticks(&self) -> Vec<Settlings> {
        self.ticks.iter().copied().collect()
    }

    /// The tick that a fact entered a pane with, as far as ticks are remembered.
    fn entered_at(&self, kernel: &Kernel, relation: usize, terms: Vec<String>) -> Option<i64> {
        let fact = kernel.find(relation, &terms)?;
        let settling = kernel.core.settling(fact);
        let position = self.ticks.partition_point(|(_, _, to)| *to < settling);
        let (tick, from, _) = self.ticks.get(position)?;
        (settling > *from).then_some(*tick)
    }

    /// State record batches in several relations; the numbers of the rows that came late, and the
    /// last instant.
    fn feed(
        &self,
        kernel: &mut Kernel,
        data: &Bound<'_, PyAny>,
        time: &str,
        names: Vec<String>,
        routes: Vec<RouteTuple>,
    ) -> PyResult<(Vec<usize>, Option<i64>)> {
        let core = &mut kernel.core;
        let mut kept = Vec::new();
        let routes: Vec<(StreamId, RelationId, Vec<Place>)> = routes
            .into_iter()
            .map(|(stream, relation, places)| {
                let place = |place| match place {
                    PlaceTuple::Column(column) => {
                        usize::try_from(column).map_or(Place::Time, Place::Column)
                    }
                    PlaceTuple::Term(text) => {
                        let term = core.dictionary_mut().intern(&text);
                        core.dictionary_mut().retain(term);
                        kept.push(term);
                        Place::Term(term)
                    }
                };
                let places = places.into_iter().map(place).collect();
                (StreamId::at(stream), RelationId::at(relation), places)
            })
            .collect();
        let (mut rows, mut late, mut last) = (0, Vec::new(), None);
        let mut tuples = Vec::new();
        for batch in capsule::import(data)? {
            let batch = batch?;
            let instants = columns::instants(&batch, time)?;
            let terms: Vec<Vec<TermId>> = names
                .iter()
                .map(|name| columns::values(core.dictionary_mut(), &batch, name))
                .collect::<PyResult<_>>()?;
            let mut first = 0;
            for run in instants.chunk_by(|one, other| one == other) {
                let run_rows = first..first + run.len();
                first = run_rows.end;
                last = last.max(Some(run[0].0));
                let at = Instant(self.point(run[0].0));
                if at.0 < self.next {
                    late.extend(run_rows.map(|row| rows + row));
                    continue;
                }
                let mut point = None;
                for (stream, relation, places) in &routes {
                    tuples.clear();
                    tuples.resize(run.len() * places.len(), TermId(0));
                    for (position, place) in places.iter().enumerate() {
                        let facts = tuples.chunks_exact_mut(places.len());
                        let same = match place {
                            Place::Column(column) => {
                                let terms = &terms[*column][run_rows.clone()];
                                facts.zip(terms).for_each(|(fact, term)| fact[position] = *term);
                                continue;
                            }
                            Place::Time => *point.get_or_insert_with(|| time_term(core, at.0)),
                            Place::Term(term) => *term,
                        };
                        facts.for_each(|fact| fact[position] = same);
                    }
                    // It is not late: its time point is still to come.
                    let told = core.push_together(*stream, *relation, run.len(), &tuples, at);
                    debug_assert!(told != Err(Refused::Late));
                }
            }
            rows += batch.num_rows();
        }
        kept.into_iter().for_each(|term| core.dictionary_mut().release(term));
        Ok((late, last))
    }

    /// Evaluate the next time point.
    #[pyo3(name = "tick")]
    fn tick_detached(&mut self, py: Python<'_>, kernel: &mut Kernel) -> PyResult<i64> {
        py.detach(|| self.tick(kernel))
    }

    /// Evaluate the time points up to one. For each output relation a table with the column t and
    /// the terms: the facts that hold at each time point, or with the column diff those that came
    /// and went. Then the time points that have no answer, and those whose answer is incomplete.
    fn play(
        &mut self,
        py: Python<'_>,
        kernel: &mut Kernel,
        to: i64,
        full: bool,
    ) -> PyResult<(Vec<Table>, Vec<i64>, Vec<i64>)> {
        let how = How {
            full,
            mirrored: full || self.outside.is_some(),
            answered: self.is_answered(&kernel.core),
            last: self.next - self.step,
        };
        let held = self.held.take().filter(|(next, _)| *next == self.next).map(|(_, held)| held);
        let codes = std::mem::take(&mut self.codes);
        let mut answers = Answers::new(&mut kernel.core, &self.outputs, how, held, codes);
        let outcome = py.detach(|| self.play_into(kernel, to, &mut answers));
        let is_known = outcome.is_ok();
        let tables = outcome.and_then(|(without, incomplete)| {
            let tables = answers.tables(&kernel.core);
            let tables = tables.map_err(|error| PyValueError::new_err(error.to_string()))?;
            for (output, table) in self.outputs.iter_mut().zip(&tables) {
                output.rows = table.count() + table.count() / 8;
            }
            Ok((tables, without, incomplete))
        });
        let (held, codes) = answers.release(&mut kernel.core);
        // All is told. The next batch finds places for its terms where the last one's were.
        kernel.core.sweep();
        self.held = is_known.then_some((self.next, held));
        self.codes = codes;
        tables
    }
}

impl Timeline {
    /// Remember a tick in which facts were settled, and forget those that no pane reaches.
    fn remember(&mut self, tick: i64, from: u64, to: u64) {
        if from < to {
            self.ticks.push_back((tick, from, to));
        }
        while self.ticks.front().is_some_and(|(old, ..)| *old <= tick - self.memory) {
            self.ticks.pop_front();
        }
    }

    /// Whether the last time point has an answer.
    fn is_answered(&self, core: &Core) -> bool {
        self.outside.is_none_or(|relation| core.relation(relation).is_empty())
    }

    /// Evaluate the next time point.
    fn tick(&mut self, kernel: &mut Kernel) -> PyResult<i64> {
        let tick = self.next;
        self.tell_time(&mut kernel.core, tick);
        // A time point that breaks off, at a budget, is over all the same.
        self.next = tick + self.step;
        self.evaluated = true;
        self.was_present = None;
        let (from, anew) = (kernel.core.settlings(), kernel.core.begins_anew());
        kernel.advance(tick)?;
        if self.memory > 0 && !anew {
            self.remember(tick, from, kernel.core.settlings());
        }
        Ok(tick)
    }

    /// Evaluate the time points up to one; those that have no answer, or an incomplete one.
    fn play_into(
        &mut self,
        kernel: &mut Kernel,
        to: i64,
        answers: &mut Answers,
    ) -> PyResult<(Vec<i64>, Vec<i64>)> {
        let (mut without, mut incomplete) = (Vec::new(), Vec::new());
        while self.next <= to {
            let first_left_out = self.next;
            if self.leap(kernel, to) > first_left_out {
                answers.note_again((first_left_out..self.next).step_by(self.step as usize));
                continue;
            }
            let tick = self.tick(kernel)?;
            let is_answered = self.is_answered(&kernel.core);
            answers.note(&kernel.core, tick, is_answered);
            if !is_answered {
                without.push(tick);
            }
            if !kernel.core.is_complete() {
                incomplete.push(tick);
            }
        }
        Ok((without, incomplete))
    }
}
