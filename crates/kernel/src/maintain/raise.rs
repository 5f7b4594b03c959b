//! Raise: settle what is new or lasts longer, and what follows from it, longest lifetime first.

use crate::budget::{BudgetExceeded, Stopped};
use crate::derivations::{Derivation, Derivations};
use crate::ids::{ClassId, FactId, RelationId, RuleId};
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

/// What is settled: a stratum, and in it facts that last so long, if that is known. Nothing that is still to be settled lasts
/// longer.
#[derive(Clone, Copy)]
struct Level {
    stratum: usize,
    until: Option<Instant>,
}

/// Sees the facts that hold at a tick, and notes every derivation. What has reached its `until` may still be there.
pub(crate) struct Now<'a> {
    pub(crate) found: &'a mut Derivations,
    pub(crate) tick: Instant,
}

impl Observer for Now<'_> {
    const ASKS_NEGATION: bool = true;

    #[inline]
    fn until(&self, relation: &Relation, fact: FactId) -> Instant {
        let until = relation.until(fact.row);
        if until > self.tick { until } else { NEVER }
    }

    #[inline(always)]
    fn derive(
        &mut self,
        rule: RuleId,
        relation: RelationId,
        terms: Key<'_>,
        until: Instant,
    ) -> bool {
        self.found.push_new(rule, relation, terms, until);
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
            self.warm_upcoming(stratum);
            let Some((until, fact)) = self.agenda.pop() else { return self.check_size(None) };
            self.settle_and_walk(fact, until, stratum);
            // What follows from facts of a level lasts no longer: others of it can come at once.
            while self.derivations.len() < WAITING
                && let Some(fact) = self.agenda.pop_same()
            {
                self.settle_and_walk(fact, until, stratum);
            }
            let before = self.derived_this_tick;
            self.settle_derivations(Level { stratum, until: Some(until) })?;
            if before / WAITING != self.derived_this_tick / WAITING {
                self.replan_if_stale();
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
        let tick = self.present();
        let now = |found, _: &_| Now { found, tick };
        self.walk_body(fact, level, |plan| &plan.rising[stratum], now);
    }

    /// Warm the indexes for the facts that come next on the agenda.
    #[inline]
    fn warm_upcoming(&mut self, stratum: usize) {
        if !self.agenda.has_upcoming() {
            return;
        }
        let mut facts = std::mem::take(&mut self.upcoming);
        self.agenda.upcoming(TOGETHER, &mut facts);
        for fact in &facts {
            let relation = &self.relations[fact.relation.index()];
            if relation.is_large() {
                relation.prefetch_places(fact.row);
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
        let tick = self.present();
        self.walk_starts(stratum, |found| Now { found, tick });
        self.settle_derivations(Level { stratum, until: None })
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
        let tick = self.present();
        for fact in self.changed_blockers(stratum, |before| before != NEVER) {
            if self.until(fact) != NEVER {
                continue;
            }
            let now = |found, _: &_| Now { found, tick };
            self.walk_body(fact, FOREVER, |plan| &plan.blocking[stratum], now);
            self.settle_derivations(Level { stratum, until: None })?;
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
        let order = self.next_order(stratum);
        let settled = self.relations[fact.relation.index()].settle(fact.row, order);
        if !settled.is_told {
            self.changes.push(Change { fact, before: settled.before });
        }
        self.note_settled(fact, settled.class, settled.before, settled.until);
    }

    /// The place of what is settled next in the order of settling.
    #[inline(always)]
    fn next_order(&mut self, stratum: usize) -> u64 {
        self.order += 1;
        ((stratum as u64).min(STRATA) << STRATUM_SHIFT) | self.order
    }

    /// A fact of a class was settled: keep count of its conditions, and file when it ends.
    #[inline(always)]
    fn note_settled(&mut self, fact: FactId, class: ClassId, before: Instant, until: Instant) {
        if before == NEVER {
            self.live.enter(&self.body, class);
        }
        if self.settings.strategy == Strategy::Expiry && until != FOREVER {
            self.endings.push(until, fact);
        }
    }

    /// Offer the lifetimes of the derivations that were found to their heads. A head of the level at hand is settled at once,
    /// and what follows from it is found and settled in turn; others wait on the agenda, unless no rule reads them and nothing longer can
    /// come for them.
    fn settle_derivations(&mut self, level: Level) -> Result<(), Stopped> {
        if self.evaluator.has_failed() {
            return Err(Stopped::Builtin);
        }
        self.warm_heads(0);
        let mut wide = std::mem::take(&mut self.wide);
        let mut outcome = Ok(());
        while let Some(derivation) = self.derivations.waiting.found.pop() {
            let Derivation { relation, until, rule, .. } = derivation;
            let arity = self.relations[relation.index()].arity();
            let terms = self.derivations.waiting.take_terms(&derivation, arity, &mut wide);
            self.totals.derivations += 1;
            self.derived_this_tick += 1;
            if let Some(steps) = &mut self.steps
                && relation == steps.relation()
                && !steps.passes((terms.term(0), terms.term(arity - 1)), until)
            {
                continue;
            }
            let fact = if level.until == Some(until) {
                self.settle_at_once(relation, terms, until, level.stratum)
            } else {
                self.offer_derived(relation, terms, until, level)
            };
            if self.must_check_work() {
                outcome = self.check_work(rule, fact);
                if outcome.is_err() {
                    break;
                }
            }
        }
        self.wide = wide;
        let repeated = std::mem::take(&mut self.derivations.repeated);
        self.totals.derivations += repeated;
        self.derived_this_tick += repeated as usize;
        outcome
    }

    /// Settle a derived fact of the level at hand, unless it holds as long, and find what follows.
    #[inline(always)]
    fn settle_at_once(
        &mut self,
        relation: RelationId,
        terms: Key<'_>,
        until: Instant,
        stratum: usize,
    ) -> FactId {
        let order = self.next_order(stratum);
        let landed = self.relations[relation.index()].land(terms, until, order);
        let fact = FactId { relation, row: landed.row };
        if !landed.is_longer {
            return fact;
        }
        let class = if landed.is_made {
            self.welcome(fact, terms)
        } else {
            if !landed.is_told {
                self.changes.push(Change { fact, before: landed.before });
            }
            landed.class
        };
        self.note_settled(fact, class, landed.before, until);
        if class != UNREAD {
            let first = match terms {
                Key::Packed(first) => first,
                Key::Terms(_) => self.relations[relation.index()].first_terms(fact.row),
            };
            let (tick, known) = (self.present(), self.derivations.len());
            let now = |found, _: &_| Now { found, tick };
            self.walk_known(fact, (class, first), until, |plan| &plan.rising[stratum], now);
            self.warm_heads(known);
        }
        fact
    }

    /// Offer a derived fact a lifetime that is shorter than the level at hand.
    #[inline(never)]
    fn offer_derived(
        &mut self,
        relation: RelationId,
        terms: Key<'_>,
        until: Instant,
        level: Level,
    ) -> FactId {
        let (fact, made) = self.row_or_made(relation, terms);
        let rows = &mut self.relations[relation.index()];
        let (class, is_longer) = match made {
            Some(class) => {
                rows.offer_first(fact.row, until);
                (class, true)
            }
            None => (rows.class(fact.row), rows.offer(fact.row, until)),
        };
        if !is_longer {
            return fact;
        }
        // What comes later follows from what is on the agenda, so it lasts no longer.
        let is_last = level.until.is_some()
            && class == UNREAD
            && self.agenda.next_level().is_none_or(|next| until >= next);
        if is_last {
            self.settle(fact, level.stratum);
        } else {
            self.agenda.push(until, fact);
        }
        fact
    }

    /// Fetch the places of the heads of derivations that were found after the first so many.
    #[inline(always)]
    fn warm_heads(&self, known: usize) {
        if self.derivations.len() >= known + 2 {
            self.warm_some_heads(known);
        }
    }

    #[inline(never)]
    fn warm_some_heads(&self, known: usize) {
        let waiting = &self.derivations.waiting;
        for derivation in &waiting.found[known..] {
            let relation = &self.relations[derivation.relation.index()];
            if relation.is_large() {
                relation.prefetch_fact(waiting.terms(derivation, relation.arity()));
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

    /// Whether to compare with the budget after a derivation.
    #[inline]
    fn must_check_work(&self) -> bool {
        let budget = &self.settings.budget;
        budget.derivations.is_some()
            || budget.facts.is_some()
            || self.derived_this_tick.is_multiple_of(BYTES_EVERY)
    }

    #[inline(never)]
    fn check_work(&self, rule: RuleId, fact: FactId) -> Result<(), Stopped> {
        let budget = &self.settings.budget;
        if budget.derivations.is_some_and(|limit| self.derived_this_tick > limit) {
            return Err(self.exceeded("derivations", budget.derivations, Some((rule, fact))));
        }
        self.check_size(Some((rule, fact)))
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
