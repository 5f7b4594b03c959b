//! Expiry buckets: which facts may end at which tick.
//!
//! Shape: from the bucket of an `until` to the facts that had it. A renewed fact stays in its old
//! bucket too; whoever empties a bucket compares with the fact's `until` of now. Stale entries are
//! swept once they outnumber the live facts, so memory follows the facts and not their renewals.

use std::collections::BTreeMap;

use crate::ids::FactId;
use crate::instant::{Grid, Instant};

/// Facts by the tick at which they end.
pub struct Buckets {
    grid: Grid,
    facts: BTreeMap<i64, Vec<FactId>>,
    /// Where the last fact went: neighbours end together.
    open: Option<(i64, Vec<FactId>)>,
    len: usize,
}

impl Buckets {
    /// Empty buckets, cut by the grid of ticks.
    pub fn new(grid: Grid) -> Self {
        Self {
            grid,
            facts: BTreeMap::new(),
            open: None,
            len: 0,
        }
    }

    /// How many entries there are, stale ones included.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Note that the fact may end at `until`.
    pub fn push(&mut self, until: Instant, fact: FactId) {
        let bucket = self.grid.bucket(until);
        self.len += 1;
        match &mut self.open {
            Some((open, facts)) if *open == bucket => facts.push(fact),
            _ => {
                self.close();
                let mut facts = self.facts.remove(&bucket).unwrap_or_default();
                facts.push(fact);
                self.open = Some((bucket, facts));
            }
        }
    }

    fn close(&mut self) {
        if let Some((bucket, facts)) = self.open.take() {
            self.facts.insert(bucket, facts);
        }
    }

    /// Take the buckets that may hold facts which end at or before the tick.
    pub fn take(&mut self, tick: Instant) -> Vec<Vec<FactId>> {
        self.close();
        let later = self
            .facts
            .split_off(&(self.grid.bucket(tick).saturating_add(1)));
        let due = std::mem::replace(&mut self.facts, later);
        self.len -= due.values().map(Vec::len).sum::<usize>();
        due.into_values().collect()
    }

    /// Forget everything.
    pub fn clear(&mut self) {
        self.facts.clear();
        self.open = None;
        self.len = 0;
    }
}
