//! Runs: what held at every tick of a span, this one included.
//!
//! Shape: since when each fact of the input has held without a break, and the runs that are still
//! too short by the tick at which they will do. A run is stated when it has lasted and taken back
//! when it breaks; a fact that just goes on costs nothing.

use std::collections::BTreeMap;

use hashbrown::HashMap;

use super::Operator;
use crate::ids::{FactId, RelationId, TermId};
use crate::instant::{FOREVER, Instant, NEVER};
use crate::kernel::Kernel;

/// The runs of one relation's facts.
pub(crate) struct Runs {
    input: RelationId,
    pub(crate) output: RelationId,
    span: i64,
    start: Option<Instant>,
    stratum: usize,
    pub(crate) since: HashMap<FactId, Instant>,
    due: BTreeMap<Instant, Vec<(FactId, Instant)>>,
    /// The last tick whose changes were noted.
    noted: Option<Instant>,
}

impl Runs {
    pub(crate) fn new(operator: &Operator) -> Option<Self> {
        let Operator::Always { input, output, span, start, stratum } = operator else {
            return None;
        };
        Some(Self {
            input: *input,
            output: *output,
            span: *span,
            start: *start,
            stratum: *stratum,
            since: HashMap::new(),
            due: BTreeMap::new(),
            noted: None,
        })
    }

    /// A fact of the input began to hold.
    pub(crate) fn begin(&mut self, fact: FactId, since: Instant) {
        self.since.insert(fact, since);
        let from = self.lasts_from(since);
        // What has to have held for ever, and did not from the start, is never due.
        if from == since || self.span != FOREVER.0 {
            self.due.entry(from).or_default().push((fact, since));
        }
    }

    /// The first tick at which a run is long enough.
    fn lasts_from(&self, since: Instant) -> Instant {
        let from_the_start = self.start.is_some_and(|start| since <= start);
        if from_the_start { since } else { since.plus(self.span) }
    }

    /// The first instant at which a run may be long enough that is not yet.
    pub(crate) fn first_due(&self) -> Option<Instant> {
        self.due.keys().next().copied()
    }

    /// The runs that are long enough from a tick up to this one on.
    fn take_due(&mut self, tick: Instant) -> Vec<FactId> {
        let later = self.due.split_off(&tick.plus(1));
        let due = std::mem::replace(&mut self.due, later).into_values().flatten();
        due.filter(|(fact, since)| self.since.get(fact) == Some(since))
            .map(|(fact, _)| fact)
            .collect()
    }

    /// Every run that is long enough.
    fn lasting(&self, tick: Instant) -> Vec<FactId> {
        let lasts = |(_, since): &(&FactId, &Instant)| self.lasts_from(**since) <= tick;
        self.since.iter().filter(lasts).map(|(fact, _)| *fact).collect()
    }
}

impl Kernel {
    /// State the runs that are long enough, and take back those that broke, before a stratum that
    /// may read them.
    pub(crate) fn state_runs(&mut self, stratum: usize, tick: Instant, anew: bool) {
        for position in 0..self.runs.len() {
            if self.runs[position].stratum != stratum {
                continue;
            }
            let broken = self.note_runs(position, tick, anew);
            let mut due = self.runs[position].take_due(tick);
            if anew {
                due = self.runs[position].lasting(tick);
            } else {
                broken.into_iter().for_each(|fact| self.restate_run(position, fact, NEVER));
            }
            due.into_iter().for_each(|fact| self.restate_run(position, fact, FOREVER));
        }
    }

    /// A tick broke off: note which runs it began and broke where it did not come so far.
    pub(crate) fn note_missed_runs(&mut self, tick: Instant) {
        for position in 0..self.runs.len() {
            if self.runs[position].noted != Some(tick) {
                self.note_runs(position, tick, true);
            }
        }
    }

    /// Note the runs that began; the facts whose runs broke.
    fn note_runs(&mut self, position: usize, tick: Instant, anew: bool) -> Vec<FactId> {
        let runs = &mut self.runs[position];
        runs.noted = Some(tick);
        let input = &self.relations[runs.input.index()];
        let mut broken = Vec::new();
        for change in &self.changes {
            if change.fact.relation != runs.input {
                continue;
            }
            let holds = input.until(change.fact.row) != NEVER;
            if holds == (change.before != NEVER) && !anew {
                continue;
            }
            if !holds {
                if runs.since.remove(&change.fact).is_some() {
                    broken.push(change.fact);
                }
            } else if !runs.since.contains_key(&change.fact) {
                runs.begin(change.fact, tick);
            }
        }
        broken
    }

    fn restate_run(&mut self, position: usize, fact: FactId, until: Instant) {
        let Runs { output, stratum, .. } = self.runs[position];
        let terms: Vec<TermId> = self.relations[fact.relation.index()].terms(fact.row).collect();
        if until == NEVER && self.relations[output.index()].find(&terms[..]).is_none() {
            return;
        }
        let held = self.row_for(output, &terms[..]);
        self.restate(held, until, stratum);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::RowId;

    #[test]
    fn a_run_that_can_never_be_long_enough_does_not_wait() {
        let [input, output] = [RelationId(0), RelationId(1)];
        let start = Some(Instant(5));
        let always = Operator::Always { input, output, span: FOREVER.0, start, stratum: 0 };
        let mut runs = Runs::new(&always).expect("it is such an operator");
        for (row, since) in [(0, 5), (1, 6), (2, 7)] {
            runs.begin(FactId { relation: input, row: RowId(row) }, Instant(since));
        }
        assert_eq!(runs.first_due(), Some(Instant(5)));
        assert_eq!(runs.take_due(Instant(9)).len(), 1);
        assert_eq!(runs.first_due(), None);
    }
}
