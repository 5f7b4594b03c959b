//! Endings: facts by the tick at which they may end.
//!
//! Shape: two calendars. Facts of most relations end before anything else happens in a tick; those of
//! relations that nothing reads end last, when it is known which of them were renewed.
//!
//! A renewed fact stays in its old bucket, too; whoever empties a bucket compares with what holds now.

use crate::calendar::Calendar;
use crate::ids::{FactId, RelationId};
use crate::instant::{Grid, Instant};

/// Facts by their ends.
pub struct Endings {
    /// Those that end first in a tick.
    pub(crate) first: Calendar<FactId>,
    /// Those that end last.
    pub(crate) last: Calendar<FactId>,
    /// By relation.
    ends_last: Vec<bool>,
}

impl Endings {
    /// Nothing yet, for these relations.
    pub(crate) fn new(grid: Grid, ends_last: Vec<bool>) -> Self {
        Self { first: Calendar::new(grid), last: Calendar::new(grid), ends_last }
    }

    #[inline]
    fn of(&mut self, relation: RelationId) -> &mut Calendar<FactId> {
        if self.ends_last[relation.index()] { &mut self.last } else { &mut self.first }
    }

    /// A fact may end at an instant.
    #[inline(always)]
    pub(crate) fn push(&mut self, until: Instant, fact: FactId) {
        self.of(fact.relation).push(until, fact);
    }

    /// Facts of one relation may end at an instant.
    pub(crate) fn extend(
        &mut self,
        until: Instant,
        relation: RelationId,
        facts: impl ExactSizeIterator<Item = FactId>,
    ) {
        self.of(relation).extend(until, facts);
    }

    /// How many there are, stale ones included.
    pub(crate) fn len(&self) -> usize {
        self.first.len() + self.last.len()
    }

    /// The first bucket that has any fact of interest.
    pub(crate) fn first_bucket(&self, interests: impl Fn(&FactId) -> bool) -> Option<i64> {
        self.first.first(&interests).into_iter().chain(self.last.first(&interests)).min()
    }

    /// Forget all.
    pub(crate) fn clear(&mut self) {
        self.first.clear();
        self.last.clear();
    }
}
