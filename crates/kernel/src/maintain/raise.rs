//! Raise: settle what is new or lasts longer, and what follows from it, longest lifetime first.

use crate::budget::{BudgetExceeded, Stopped};
use crate::derivations::{Derivations, Waiting};
use crate::ids::{FactId, RelationId, RuleId};
use crate::instant::{FOREVER, Instant, NEVER};
use crate::join::Observer;
use crate::kernel::{Change, Kernel};
use crate::key::Key;
use crate::maintain::{Strategy, TOGETHER};
use crate::plan::{Plan, UNREAD};
use crate::relation::{Relation, STRATUM_SHIFT};

/// How often, in derivations, the bytes held are compared with their budget.
const BYTES_EVERY: usize = 4096;

/// A fact of a lower stratum precedes those of the strata above, whenever it was settled: it may be
/// lowered and settled again without anything above it changing.
const STRATA: u64 = (1 << 11) - 1;

/// How many derivations wait at most.
const WAITING: usize = 256;

/// Which derivations of a stratum are as long as any that may come: those from this lifetime on, if it is
/// known.
#[derive(Clone, Copy)]
struct Final {
    stratum: usize,
    from: Option<Instant>,
}

/// Sees the facts that hold now, and notes every derivation.
pub(crate) struct Now<'a>(pub(crate) &'a mut Derivations);

impl Observer for Now<'_> {
    const ASKS_NEGATION: bool = true;

    #[inline]
    fn until(&self, relation: &Relation, fact: FactId) -> Instant {
        relation.until(fact.row)
    }

    #[inline(always)]
    fn derive(
        &mut self,
        rule: RuleId,
        relation: RelationId,
        terms: Key<'_>,
        until: Instant,
    ) -> bool {
        self.0.push_new(rule, relation, terms, until);
        true
    }
}

impl Kernel {
    /// Settle a stratum.
    pub(crate) fn raise(&mut self, stratum: usize, anew: bool) -> Result<(), Stopped> {
        self.derivations.remember();
        self.start(stratum, anew)?;
        if stratum > 0 {
            if !anew && self.plan.negates(stratum) {
                self.unblock(stratum)?;
            }
            self.seed(stratum, anew);
        }
        loop {
            let next = self.agenda.next_level();
            // Derivations can wait for company until the agenda comes down below their level.
            let due = next.is_none_or(|level| self.derivations.longest > level);
            if due || self.derivations.waiting.found.len() >= WAITING {
                if next.is_none() && self.derivations.is_empty() {
                    return self.check_size(None);
                }
                let before = self.derived_this_tick;
                // What comes later follows from what is on the agenda, so it lasts no longer.
                self.settle_derivations(Final { stratum, from: Some(next.unwrap_or(NEVER)) })?;
                if before / WAITING != self.derived_this_tick / WAITING {
                    self.replan_if_stale();
                }
                continue;
            }
            self.warm_upcoming(stratum);
            let Some((level, fact)) = self.agenda.pop() else { continue };
            self.settle_and_walk(fact, level, stratum);
            // What follows from facts of a level lasts no longer: others of it can come at once.
            while self.derivations.waiting.found.len() < WAITING
                && let Some(fact) = self.agenda.pop_same()
            {
                self.settle_and_walk(fact, level, stratum);
            }
        }
    }

    /// Settle a fact that comes from the agenda, unless it was there before, and find what follows.
    #[inline]
    fn settle_and_walk(&mut self, fact: FactId, level: Instant, stratum: usize) {
        let relation = &self.relations[fact.relation.index()];
        if relation.pending(fact.row) == level {
            self.settle(fact, stratum);
        } else if relation.until(fact.row) != level {
            return;
        }
        self.walk_body(fact, level, |plan| &plan.rising[stratum], |found, _| Now(found));
    }

    /// Warm the indexes for the facts that come next on the agenda.
    #[inline]
    fn warm_upcoming(&mut self, stratum: usize) {
        if !self.agenda.has_upcoming() {
            return;
        }
        let mut facts = std::mem::take(&mut self.upcoming);
        self.agenda.upcoming(TOGETHER, &mut facts);
        self.warm(&facts, Relation::warm_indexes);
        for fact in &facts {
            if self.relations[fact.relation.index()].is_large() {
                self.warm_body(*fact, stratum);
            }
        }
        self.upcoming = facts;
    }

    /// Rules without positive atoms need no fact to start.
    fn start(&mut self, stratum: usize, anew: bool) -> Result<(), Stopped> {
        if self.plan.starts[stratum].is_empty() || !(anew || self.plan.negates(stratum)) {
            return Ok(());
        }
        self.walk_starts(stratum, Now);
        self.settle_derivations(Final { stratum, from: None })
    }

    /// What lower strata settled in this tick triggers the rules of this one.
    fn seed(&mut self, stratum: usize, anew: bool) {
        let Self { changes, plan, relations, body, agenda, .. } = self;
        let (rises, trees) = (plan.rises(stratum), &plan.rising[stratum]);
        for Change { fact, before } in changes.iter().filter(|one| rises[one.fact.relation.index()])
        {
            let relation = &relations[fact.relation.index()];
            let until = relation.until(fact.row);
            if until == NEVER || !(anew || until > *before) {
                continue;
            }
            let mut conditions = body.class(relation.class(fact.row)).iter();
            if conditions.any(|condition| Plan::tree(trees, *condition).is_some()) {
                agenda.push(until, *fact);
            }
        }
    }

    /// Facts that ceased to hold no longer block rules of this stratum.
    fn unblock(&mut self, stratum: usize) -> Result<(), Stopped> {
        for fact in self.changed_blockers(stratum, |before| before != NEVER) {
            if self.until(fact) != NEVER {
                continue;
            }
            self.walk_body(fact, FOREVER, |plan| &plan.blocking[stratum], |found, _| Now(found));
            self.settle_derivations(Final { stratum, from: None })?;
        }
        Ok(())
    }

    /// The facts that changed, of relations that may block rules of a stratum, if they held until a certain
    /// instant before.
    pub(crate) fn changed_blockers(
        &self,
        stratum: usize,
        held: impl Fn(Instant) -> bool,
    ) -> Vec<FactId> {
        let blocks = self.plan.blocks(stratum);
        let blockers = self.changes.iter().filter(|one| blocks[one.fact.relation.index()]);
        blockers.filter(|one| held(one.before)).map(|one| one.fact).collect()
    }

    #[inline(always)]
    pub(crate) fn settle(&mut self, fact: FactId, stratum: usize) {
        self.order += 1;
        let order = ((stratum as u64).min(STRATA) << STRATUM_SHIFT) | self.order;
        let settled = self.relations[fact.relation.index()].settle(fact.row, order);
        if !settled.is_told {
            self.changes.push(Change { fact, before: settled.before });
        }
        if settled.before == NEVER {
            self.live.enter(&self.body, settled.class);
        }
        if self.settings.strategy == Strategy::Expiry && settled.until != FOREVER {
            self.endings.push(settled.until, fact);
        }
    }

    /// Offer the lifetimes of the derivations that were found to their heads. Heads that no rule reads
    /// are settled at once if nothing longer can come for them.
    fn settle_derivations(&mut self, Final { stratum, from }: Final) -> Result<(), Stopped> {
        if self.evaluator.has_failed() {
            return Err(Stopped::Builtin);
        }
        let waiting = self.derivations.take();
        self.warm_heads(&waiting);
        let mut outcome = Ok(());
        for derivation in &waiting.found {
            let (relation, until) = (derivation.relation, derivation.until);
            let arity = self.relations[relation.index()].arity();
            let terms = waiting.terms(derivation, arity);
            if let Some(steps) = &mut self.steps
                && relation == steps.relation()
                && !steps.passes((terms.term(0), terms.term(arity - 1)), until)
            {
                self.totals.derivations += 1;
                self.derived_this_tick += 1;
                continue;
            }
            let (fact, made) = self.row_or_made(relation, terms);
            let rows = &mut self.relations[relation.index()];
            let (class, is_longer) = match made {
                Some(class) => {
                    rows.offer_first(fact.row, until);
                    (class, true)
                }
                None => (rows.class(fact.row), rows.offer(fact.row, until)),
            };
            if is_longer && class == UNREAD && from.is_some_and(|from| until >= from) {
                self.settle(fact, stratum);
            } else if is_longer {
                self.agenda.push(until, fact);
            }
            self.totals.derivations += 1;
            self.derived_this_tick += 1;
            outcome = self.check_work(derivation.rule, fact);
            if outcome.is_err() {
                break;
            }
        }
        let repeated = std::mem::take(&mut self.derivations.repeated);
        self.totals.derivations += repeated;
        self.derived_this_tick += repeated as usize;
        self.derivations.clear(waiting);
        outcome
    }

    #[inline]
    fn warm_heads(&self, waiting: &Waiting) {
        if waiting.found.len() == 1 {
            return;
        }
        for derivation in &waiting.found {
            let relation = &self.relations[derivation.relation.index()];
            if relation.is_large() {
                let terms = waiting.terms(derivation, relation.arity());
                std::hint::black_box(relation.find(terms));
            }
        }
    }

    /// Offer a fact a lifetime; a longer one than it has puts it on the agenda.
    #[inline]
    pub(crate) fn offer(&mut self, fact: FactId, until: Instant) {
        if self.relations[fact.relation.index()].offer(fact.row, until) {
            self.agenda.push(until, fact);
        }
    }

    #[inline]
    fn check_work(&self, rule: RuleId, fact: FactId) -> Result<(), Stopped> {
        let budget = &self.settings.budget;
        if budget.derivations.is_some_and(|limit| self.derived_this_tick > limit) {
            return Err(self.exceeded("derivations", budget.derivations, Some((rule, fact))));
        }
        if self.derived_this_tick.is_multiple_of(BYTES_EVERY) || budget.facts.is_some() {
            return self.check_size(Some((rule, fact)));
        }
        Ok(())
    }

    /// Compare what is held with the budget.
    pub(crate) fn check_size(&self, at: Option<(RuleId, FactId)>) -> Result<(), Stopped> {
        let budget = &self.settings.budget;
        if budget.facts.is_some_and(|limit| self.len() > limit) {
            return Err(self.exceeded("facts", budget.facts, at));
        }
        if budget.bytes.is_some_and(|limit| self.bytes() > limit) {
            return Err(self.exceeded("bytes", budget.bytes, at));
        }
        Ok(())
    }

    fn exceeded(
        &self,
        resource: &'static str,
        limit: Option<usize>,
        at: Option<(RuleId, FactId)>,
    ) -> Stopped {
        let last = self.changes.last().map(|change| change.fact);
        let (rule, fact) = (at.map(|(rule, _)| rule), at.map(|(_, fact)| fact).or(last));
        let by = rule.map_or("the input".into(), |rule| {
            format!("rule {}", self.program.rules[rule.index()].name)
        });
        let at = fact.map_or(String::new(), |fact| {
            let relation = &self.relations[fact.relation.index()];
            format!(", at {}", self.show(fact.relation, relation.terms(fact.row)))
        });
        let (limit, place) = (limit.unwrap_or_default(), format!("by {by}{at}"));
        Stopped::Budget(BudgetExceeded { resource, limit, rule, fact, place })
    }
}
