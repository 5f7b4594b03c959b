//! Runs: what held throughout a span.
//!
//! A run is noted when the tick that began or broke it is over, so what is stated about it depends
//! on earlier instants only.

use std::collections::BTreeMap;

use hashbrown::HashMap;

use super::Operator;
use crate::ids::{FactId, RelationId, TermId};
use crate::instant::{FOREVER, Instant, NEVER};
use crate::kernel::Kernel;

/// The runs of one relation's facts, and which of them are long enough.
pub(crate) struct Runs {
    pub(crate) input: RelationId,
    pub(crate) output: RelationId,
    span: i64,
    start: Option<Instant>,
    /// Since when each fact of the input has held without a break.
    pub(crate) since: HashMap<FactId, Instant>,
    /// The runs that will be long enough, by the first tick at which they are.
    due: BTreeMap<Instant, Vec<(FactId, Instant)>>,
    /// Facts of the output whose run is broken.
    pub(crate) broken: Vec<FactId>,
}

impl Runs {
    pub(crate) fn new(operator: &Operator) -> Option<Self> {
        let Operator::Held { input, output, span, start } = operator else { return None };
        Some(Self {
            input: *input,
            output: *output,
            span: *span,
            start: *start,
            since: HashMap::new(),
            due: BTreeMap::new(),
            broken: Vec::new(),
        })
    }

    /// A fact of the input began to hold.
    pub(crate) fn begin(&mut self, fact: FactId, since: Instant) {
        self.since.insert(fact, since);
        let from_the_start = self.start.is_some_and(|start| since <= start);
        let due = since.plus(if from_the_start { self.span.min(1) } else { self.span });
        self.due.entry(due).or_default().push((fact, since));
    }
}

impl Kernel {
    /// State the runs that are long enough by now, and take back those that broke.
    pub(crate) fn state_runs(&mut self, tick: Instant) {
        for position in 0..self.runs.len() {
            let runs = &mut self.runs[position];
            let broken = std::mem::take(&mut runs.broken);
            let later = runs.due.split_off(&tick.plus(1));
            let due = std::mem::replace(&mut runs.due, later);
            for fact in broken {
                self.restate(fact, NEVER, 0);
            }
            for (fact, since) in due.into_values().flatten() {
                let runs = &self.runs[position];
                if runs.since.get(&fact) != Some(&since) {
                    continue;
                }
                let output = runs.output;
                let terms: Vec<TermId> =
                    self.relations[fact.relation.index()].terms(fact.row).collect();
                let held = self.row_for(output, &terms);
                self.restate(held, FOREVER, 0);
            }
        }
    }

    /// Note which runs a tick that is over began and broke.
    pub(crate) fn note_runs(&mut self, tick: Instant) {
        for position in 0..self.runs.len() {
            for change in 0..self.changes.len() {
                let change = self.changes[change];
                let runs = &mut self.runs[position];
                if change.fact.relation != runs.input {
                    continue;
                }
                let holds = self.relations[runs.input.index()].until(change.fact.row) != NEVER;
                if holds && !runs.since.contains_key(&change.fact) {
                    runs.begin(change.fact, tick);
                } else if !holds && runs.since.remove(&change.fact).is_some() {
                    let terms: Vec<TermId> =
                        self.relations[runs.input.index()].terms(change.fact.row).collect();
                    let output = &self.relations[runs.output.index()];
                    let stated = output.find(&terms).filter(|row| output.stated(*row) != NEVER);
                    runs.broken.extend(stated.map(|row| FactId { relation: runs.output, row }));
                }
            }
        }
    }
}
