//! Lower: end or shorten what lost its support, and nothing else.
//!
//! Support is lost when a statement is retracted, pushed out of a count window or (under `Dred`)
//! leaves its time window, when a fact of the body was lowered, and when a blocker appears. Facts
//! that merely reached their `until` take nothing with them that has not reached its own.
//!
//! A candidate keeps its lifetime if it is stated for as long, or has a derivation as long from
//! facts that precede it and are not suspect themselves. Since *precedes* is well-founded, such a
//! fact does not rest on itself. Otherwise it becomes a suspect, and what followed from it become
//! candidates. Suspects then end, and are derived again from what is left. `Dred` makes every
//! candidate a suspect: that is the classical algorithm, kept for comparison.

use hashbrown::HashMap;

use crate::derivations::Derivations;
use crate::ids::{FactId, RelationId, RowId, RuleId};
use crate::instant::{FOREVER, Instant, NEVER};
use crate::join::Observer;
use crate::kernel::Kernel;
use crate::key::Key;
use crate::maintain::Strategy;
use crate::maintain::raise::Now;
use crate::plan::{Plan, Tree};
use crate::relation::Relation;

/// Sees what held before the tick, at its longest, blockers aside: too much rather than too little.
struct Before<'a> {
    prior: &'a HashMap<FactId, Instant>,
    found: &'a mut Derivations,
}

impl Observer for Before<'_> {
    const ASKS_NEGATION: bool = false;

    fn until(&self, relation: &Relation, fact: FactId) -> Instant {
        let until = relation.until(fact.row);
        if self.prior.is_empty() {
            return until;
        }
        self.prior.get(&fact).copied().unwrap_or(NEVER).max(until)
    }

    fn derive(
        &mut self,
        rule: RuleId,
        relation: RelationId,
        terms: Key<'_>,
        until: Instant,
    ) -> bool {
        self.found.push(rule, relation, terms, until);
        true
    }
}

/// Looks for one derivation of a fact from facts that precede it, and remembers its body.
pub(crate) struct Support {
    until: Instant,
    order: u64,
    trail: Vec<FactId>,
    pub(crate) found: Option<(RuleId, Vec<FactId>)>,
}

impl Support {
    pub(crate) fn for_row(relation: &Relation, row: RowId) -> Self {
        let (until, order) = (relation.until(row), relation.order(row));
        Self { until, order, trail: Vec::new(), found: None }
    }
}

impl Observer for Support {
    const ASKS_NEGATION: bool = true;

    fn until(&self, relation: &Relation, fact: FactId) -> Instant {
        let until = relation.until(fact.row);
        let precedes =
            until > self.until || (until == self.until && relation.order(fact.row) < self.order);
        if precedes && !relation.is_suspect(fact.row) { until } else { NEVER }
    }

    fn enter(&mut self, fact: FactId) {
        self.trail.push(fact);
    }

    fn leave(&mut self) {
        self.trail.pop();
    }

    fn derive(&mut self, rule: RuleId, _: RelationId, _: Key<'_>, _: Instant) -> bool {
        self.found = Some((rule, self.trail.clone()));
        false
    }
}

impl Kernel {
    /// Note a fact whose support must be looked at in the stratum that can restore it.
    pub(crate) fn suspect_later(&mut self, fact: FactId) {
        let relation = &self.relations[fact.relation.index()];
        let class = self.head.class_of(fact.relation, relation, fact.row);
        let strata =
            self.head.class(class).iter().map(|condition| self.producers[condition.index()]);
        let stratum = strata.max().unwrap_or(0);
        self.candidates[stratum].push(fact);
    }

    /// Lower what lost its support in a stratum, and offer what can be derived again.
    pub(crate) fn lower(&mut self, stratum: usize, tick: Instant) {
        self.derivations.forget();
        for position in 0..self.lowered.len() {
            let fact = self.lowered[position];
            if self.until(fact) < self.prior[&fact] {
                self.suspect_consequences(stratum, fact);
            }
        }
        if self.plan.negates(stratum) {
            self.suspect_blocked(stratum);
        }
        if self.candidates[stratum].is_empty() {
            return;
        }
        if !self.plans_heads {
            self.plans_heads = true;
            self.replan();
        }
        let mut suspects = Vec::new();
        while let Some(fact) = self.candidates[stratum].pop() {
            if self.is_supported(fact) {
                continue;
            }
            self.relations[fact.relation.index()].set_suspect(fact.row, true);
            suspects.push(fact);
            self.suspect_consequences(stratum, fact);
        }
        for fact in &suspects {
            let before = self.end(*fact);
            self.prior.insert(*fact, before);
            self.relations[fact.relation.index()].set_suspect(fact.row, false);
        }
        for fact in &suspects {
            self.derive_again(*fact, tick);
        }
        self.step_elsewhere(&suspects);
        self.lowered.extend(suspects);
    }

    /// Whether a candidate needs no lowering: it does not hold, is a suspect already, or is
    /// supported as it is.
    fn is_supported(&mut self, fact: FactId) -> bool {
        let relation = &self.relations[fact.relation.index()];
        let until = relation.until(fact.row);
        if until == NEVER || relation.is_suspect(fact.row) || relation.stated(fact.row) >= until {
            return true;
        }
        self.settings.strategy != Strategy::Dred && self.support(fact).is_some()
    }

    /// A derivation of a fact, as long as the fact lasts, from facts that precede it.
    pub(crate) fn support(&mut self, fact: FactId) -> Option<(RuleId, Vec<FactId>)> {
        let support = Support::for_row(&self.relations[fact.relation.index()], fact.row);
        self.walk_heads(fact, |_| support).found
    }

    fn derive_again(&mut self, fact: FactId, tick: Instant) {
        let stated = self.relations[fact.relation.index()].stated(fact.row);
        if stated > tick {
            self.offer(fact, stated);
        }
        self.walk_heads(fact, |found| Now { found, tick });
        let waiting = self.derivations.take();
        for derivation in &waiting.found {
            self.offer(fact, derivation.until);
        }
        self.derivations.clear(waiting);
    }

    /// What followed from a fact, as long as it could have carried it, is a candidate.
    fn suspect_consequences(&mut self, stratum: usize, fact: FactId) {
        let until = self.prior.get(&fact).copied().unwrap_or(NEVER).max(self.until(fact));
        self.suspect_from(fact, until, |plan| &plan.rising[stratum]);
    }

    /// What followed while a fact was absent is a candidate now that it is there.
    fn suspect_blocked(&mut self, stratum: usize) {
        for fact in self.changed_blockers(stratum, |before| before == NEVER) {
            if self.until(fact) != NEVER {
                self.suspect_from(fact, FOREVER, |plan| &plan.blocking[stratum]);
            }
        }
    }

    fn suspect_from(&mut self, fact: FactId, until: Instant, trees: impl Fn(&Plan) -> &[Tree]) {
        self.walk_body(fact, until, trees, |found, prior| Before { prior, found });
        let waiting = self.derivations.take();
        for derivation in &waiting.found {
            let (relation, carried) = (derivation.relation, derivation.until);
            let rows = &self.relations[relation.index()];
            let row = rows.find(waiting.terms(derivation, rows.arity()));
            let Some(row) = row else { continue };
            let fact = FactId { relation, row };
            let until = self.until(fact);
            let carried_it = carried >= until || self.settings.strategy == Strategy::Dred;
            if until != NEVER && carried_it && !self.relations[relation.index()].is_suspect(row) {
                self.suspect_later(fact);
            }
        }
        self.derivations.clear(waiting);
    }
}
