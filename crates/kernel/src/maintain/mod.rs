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
use crate::ids::{FactId, RelationId, RowId};
use crate::instant::Instant;
use crate::kernel::Kernel;
use crate::relation::Relation;

/// The rows of one relation among some facts.
#[derive(Clone)]
pub(crate) struct RowsOf<'a> {
    facts: std::slice::Iter<'a, FactId>,
    relation: RelationId,
}

impl Iterator for RowsOf<'_> {
    type Item = RowId;

    fn next(&mut self) -> Option<RowId> {
        let relation = self.relation;
        self.facts.by_ref().find(|fact| fact.relation == relation).map(|fact| fact.row)
    }
}

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

/// From this many facts on their rows are not in the nearest caches.
const FAR: usize = 1 << 12;

impl Kernel {
    /// Warm large relations for work on these facts.
    pub(crate) fn warm<'a>(&self, facts: &'a [FactId], warm: impl Fn(&Relation, RowsOf<'a>)) {
        for (position, relation) in self.relations.iter().enumerate() {
            if relation.is_large() {
                warm(relation, RowsOf { facts: facts.iter(), relation: RelationId::at(position) });
            }
        }
    }

    /// Fetch the rows of some facts, side by side, if they are many and far apart.
    #[inline]
    pub(crate) fn fetch(&self, facts: impl Iterator<Item = FactId>) {
        if self.len() >= FAR {
            let fetch = |fact: FactId| self.relations[fact.relation.index()].order(fact.row);
            std::hint::black_box(facts.map(fetch).fold(0, |all, order| all ^ order));
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
