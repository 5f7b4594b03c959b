//! Maintenance: from one tick's materialisation to the next.
//!
//! The strategies differ in how a tick begins, and in what they do about facts that leave:
//!
//! - `Expiry`: facts that reached their `until` are dropped by inspection; nothing else follows.
//! - `Dred`: statements that left the window are deletions like any other: their consequences are
//!   deleted too, and what has another derivation is derived again.
//! - `Naive`: everything derived is forgotten and derived from the statements.
//!
//! All of them settle, join and retract with the same code.

mod admit;
mod begin;
mod end;
mod lower;
mod raise;

pub(crate) use end::ends_last;

use crate::budget::Stopped;
use crate::ids::FactId;
use crate::instant::Instant;
use crate::kernel::Kernel;
use crate::relation::Relation;

/// How a materialisation is maintained. All give the same result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// By expiration times.
    Expiry,
    /// Delete and rederive.
    Dred,
    /// Recompute.
    Naive,
}

impl Strategy {
    /// The strategy of that name.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "expiry" => Some(Self::Expiry),
            "dred" => Some(Self::Dred),
            "naive" => Some(Self::Naive),
            _ => None,
        }
    }
}

/// How many facts are warmed together: enough to hide memory, few enough for the first cache.
pub(crate) const TOGETHER: usize = 32;

impl Kernel {
    /// Work on facts, some at a time, whose rows and what is around them are asked for ahead.
    #[inline]
    pub(crate) fn each_some(
        &mut self,
        facts: &[FactId],
        mut work: impl FnMut(&mut Self, &[FactId]),
    ) {
        let is_far = self.relations.iter().any(Relation::is_far);
        for (number, some) in facts.chunks(TOGETHER).enumerate() {
            if is_far {
                self.prefetch_ahead(&facts[number * TOGETHER + some.len()..]);
            }
            work(self, some);
        }
    }

    /// Ask for what is around the next few facts, whose rows were asked for before, and for the rows after them.
    #[inline(never)]
    fn prefetch_ahead(&self, facts: &[FactId]) {
        let relation = |fact: &FactId| &self.relations[fact.relation.index()];
        let (next, later) = facts.split_at(facts.len().min(TOGETHER));
        for fact in next.iter().filter(|fact| relation(fact).is_large()) {
            relation(fact).prefetch_around(fact.row);
        }
        for fact in later.iter().take(TOGETHER).filter(|fact| relation(fact).is_far()) {
            relation(fact).prefetch(fact.row);
        }
    }

    /// Evaluate a tick, stratum by stratum.
    pub(crate) fn maintain(&mut self, tick: Instant) -> Result<(), Stopped> {
        let anew = self.broken || self.settings.strategy == Strategy::Naive;
        self.drop_what_ends(tick, anew);
        self.unsure = if anew { usize::MAX } else { self.changes.len() };
        self.admit(tick, anew);
        if anew {
            self.offer_stated();
        }
        self.replan_if_stale();
        for stratum in 0..self.plan.starts.len() {
            self.aggregate(stratum, anew);
            self.state_runs(stratum, tick, anew);
            self.cover(stratum, tick, anew);
            if !anew {
                self.lower(stratum, tick);
            }
            self.raise(stratum, anew)?;
        }
        Ok(())
    }
}
