//! Coverings: what holds for every time point of a window.
//!
//! The input's first column is a time point; its facts are within the window. The output holds
//! while a tuple has as many time points as the window has. Shape: how many each tuple has. A tuple
//! whose window is complete needs a new time point at every tick, so looking at all complete ones
//! costs no more than the facts that came for them.

use hashbrown::{HashMap, HashSet};

use super::Operator;
use crate::ids::{RelationId, TermId};
use crate::instant::{FOREVER, Instant, NEVER};
use crate::kernel::Kernel;

/// The tuples of one relation, with and without all time points of the window.
pub(crate) struct Covering {
    input: RelationId,
    pub(crate) output: RelationId,
    /// How many time points the window has at most, and how far apart they are.
    width: i64,
    step: i64,
    start: Instant,
    /// Panes of the window's width begin here, and it starts anew with each; none: it slides.
    origin: Option<Instant>,
    stratum: usize,
    points: HashMap<Box<[TermId]>, i64>,
    complete: HashSet<Box<[TermId]>>,
}

impl Covering {
    pub(crate) fn new(operator: &Operator) -> Option<Self> {
        let Operator::AlwaysAt { input, output, width, step, start, origin, stratum } = operator
        else {
            return None;
        };
        Some(Self {
            input: *input,
            output: *output,
            width: *width,
            step: *step,
            start: *start,
            origin: *origin,
            stratum: *stratum,
            points: HashMap::new(),
            complete: HashSet::new(),
        })
    }

    /// How many time points the window has at a tick.
    fn wanted(&self, tick: Instant) -> i64 {
        let since_start = (tick.0 - self.start.0) / self.step + 1;
        let in_window = self.origin.map_or(self.width, |origin| {
            ((tick.0 - origin.0) / self.step).rem_euclid(self.width) + 1
        });
        since_start.min(in_window)
    }

    /// Whether a tuple has every time point: the next tick may want one more of it. No other tuple
    /// gets them all as long as the input stays as it is.
    pub(crate) fn has_complete(&self) -> bool {
        !self.complete.is_empty()
    }

    fn count(&mut self, tuple: Box<[TermId]>, by: i64) {
        let points = self.points.entry(tuple).or_default();
        *points += by;
    }
}

impl Kernel {
    /// State the tuples that have every time point, before a stratum that may read them.
    pub(crate) fn cover(&mut self, stratum: usize, tick: Instant, anew: bool) {
        for position in 0..self.coverings.len() {
            if self.coverings[position].stratum != stratum {
                continue;
            }
            let touched = if anew { self.count_anew(position) } else { self.recount(position) };
            let covering = &self.coverings[position];
            let wanted = covering.wanted(tick);
            let mut verdicts: Vec<(Box<[TermId]>, bool)> = Vec::new();
            for tuple in touched.into_iter().chain(covering.complete.iter().cloned()) {
                let is_complete = covering.points.get(&tuple) == Some(&wanted);
                if is_complete != covering.complete.contains(&tuple) {
                    verdicts.push((tuple, is_complete));
                }
            }
            for (tuple, is_complete) in verdicts {
                let Covering { output, complete, .. } = &mut self.coverings[position];
                let output = *output;
                let is_change = if is_complete {
                    complete.insert(tuple.clone())
                } else {
                    complete.remove(&tuple)
                };
                if is_change {
                    let fact = self.row_for(output, &tuple[..]);
                    self.restate(fact, if is_complete { FOREVER } else { NEVER }, stratum);
                }
            }
        }
    }

    /// Count the time points that came and went; the tuples that have other ones now.
    fn recount(&mut self, position: usize) -> Vec<Box<[TermId]>> {
        let covering = &mut self.coverings[position];
        let relation = &self.relations[covering.input.index()];
        let mut touched = Vec::new();
        for change in &self.changes {
            if change.fact.relation != covering.input {
                continue;
            }
            let holds = relation.until(change.fact.row) != NEVER;
            if holds == (change.before != NEVER) {
                continue;
            }
            let tuple: Box<[TermId]> = relation.terms(change.fact.row).skip(1).collect();
            covering.count(tuple.clone(), if holds { 1 } else { -1 });
            touched.push(tuple);
        }
        for tuple in &touched {
            if covering.points.get(tuple) == Some(&0) {
                covering.points.remove(tuple);
            }
        }
        touched
    }

    /// Forget the counts, and count what holds; all tuples.
    fn count_anew(&mut self, position: usize) -> Vec<Box<[TermId]>> {
        let covering = &mut self.coverings[position];
        covering.points.clear();
        covering.complete.clear();
        let relation = &self.relations[covering.input.index()];
        for row in relation.live() {
            covering.count(relation.terms(row).skip(1).collect(), 1);
        }
        covering.points.keys().cloned().collect()
    }

    /// Find the counts of a restored kernel, and the tuples that are complete.
    pub(crate) fn restore_coverings(&mut self) {
        for position in 0..self.coverings.len() {
            self.count_anew(position);
            let output = self.coverings[position].output;
            let relation = &self.relations[output.index()];
            let complete: HashSet<Box<[TermId]>> =
                relation.live().map(|row| relation.terms(row).collect()).collect();
            self.coverings[position].complete = complete;
        }
    }
}
