//! The agenda: facts to settle, longest lifetime first.
//!
//! A derivation never outlives its body, so what a fact of the current level derives is of that
//! level or a later one. Each fact is therefore settled once, with its longest lifetime (the widest
//! path of graph search).
//!
//! Shape: facts of the current level on a stack; those of the bucket that is open in a heap; nearer
//! buckets in an array, unsorted until they are opened; what lies beyond the array in a heap of its
//! own, which comes first.

use std::collections::BinaryHeap;

use crate::ids::FactId;
use crate::instant::{FOREVER, Grid, Instant};

/// How many buckets the array may span.
const NEAR: i64 = 1 << 12;

/// A priority queue whose priorities only fall.
pub struct Agenda {
    grid: Grid,
    /// The bucket of the tick: nothing on the agenda ends before it.
    base: i64,
    level: Instant,
    now: Vec<FactId>,
    beyond: BinaryHeap<(Instant, FactId)>,
    open: BinaryHeap<(Instant, FactId)>,
    /// The position of the open bucket; buckets above it are empty.
    top: usize,
    near: Vec<Vec<(Instant, FactId)>>,
    opened: Vec<FactId>,
}

impl Agenda {
    /// An empty agenda for ticks on a grid.
    pub fn new(grid: Grid) -> Self {
        Self {
            grid,
            base: 0,
            level: FOREVER,
            now: Vec::new(),
            beyond: BinaryHeap::new(),
            open: BinaryHeap::new(),
            top: 0,
            near: Vec::new(),
            opened: Vec::new(),
        }
    }

    /// Make ready for a tick. The agenda must be empty.
    pub fn begin(&mut self, tick: Instant) {
        self.base = self.grid.bucket(tick);
        self.level = FOREVER;
    }

    /// Put a fact on the agenda with the lifetime it was offered.
    pub fn push(&mut self, until: Instant, fact: FactId) {
        if until == self.level {
            self.now.push(fact);
            return;
        }
        let ahead = self.grid.bucket(until).wrapping_sub(self.base);
        if !(0..NEAR).contains(&ahead) {
            self.beyond.push((until, fact));
            return;
        }
        let ahead = ahead as usize;
        if ahead == self.top {
            self.open.push((until, fact));
            return;
        }
        if ahead > self.top {
            // Before the first pop the highest bucket is not known yet.
            self.close();
            self.top = ahead;
        }
        if ahead >= self.near.len() {
            self.near.resize_with(ahead + 1, Vec::new);
        }
        self.near[ahead].push((until, fact));
    }

    fn close(&mut self) {
        if !self.open.is_empty() {
            if self.top >= self.near.len() {
                self.near.resize_with(self.top + 1, Vec::new);
            }
            self.near[self.top].extend(self.open.drain());
        }
    }

    /// The level of the next fact.
    pub fn next_level(&mut self) -> Option<Instant> {
        if !self.now.is_empty() {
            return Some(self.level);
        }
        let next = self.beyond.peek().copied().or_else(|| {
            self.open_next();
            self.open.peek().copied()
        });
        next.map(|(level, _)| level)
    }

    /// The next fact, and its level. Once empty, the agenda is ready for any level again.
    pub fn pop(&mut self) -> Option<(Instant, FactId)> {
        if let Some(fact) = self.now.pop() {
            return Some((self.level, fact));
        }
        let next = self.beyond.pop().or_else(|| {
            self.open_next();
            self.open.pop()
        });
        self.level = next.map_or(FOREVER, |(level, _)| level);
        next
    }

    /// Open the highest bucket that holds anything.
    fn open_next(&mut self) {
        loop {
            if let Some(bucket) = self.near.get_mut(self.top)
                && !bucket.is_empty()
            {
                self.opened.extend(bucket.iter().map(|(_, fact)| *fact));
                self.open.extend(bucket.drain(..));
            }
            if !self.open.is_empty() || self.top == 0 {
                return;
            }
            self.top -= 1;
        }
    }

    /// The facts of buckets that were opened since it was last asked. Give the vector back.
    pub fn take_opened(&mut self) -> Vec<FactId> {
        std::mem::take(&mut self.opened)
    }

    /// Give back the vector, for its memory.
    pub fn give_opened(&mut self, mut opened: Vec<FactId>) {
        opened.clear();
        self.opened = opened;
    }

    /// Drop everything.
    pub fn clear(&mut self) {
        self.now.clear();
        self.beyond.clear();
        self.open.clear();
        self.near.iter_mut().for_each(Vec::clear);
        self.top = 0;
        self.level = FOREVER;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{RelationId, RowId};

    fn fact(row: u32) -> FactId {
        FactId { relation: RelationId(0), row: RowId(row) }
    }

    #[test]
    fn longest_lifetime_first() {
        let mut agenda = Agenda::new(Grid { step: 2, origin: Instant(0) });
        agenda.begin(Instant(4));
        agenda.push(Instant(5), fact(1));
        agenda.push(FOREVER, fact(2));
        agenda.push(Instant(9), fact(3));
        assert_eq!(agenda.pop(), Some((FOREVER, fact(2))));
        assert_eq!(agenda.pop(), Some((Instant(9), fact(3))));
        agenda.push(Instant(9), fact(4));
        agenda.push(Instant(7), fact(5));
        agenda.push(Instant(8), fact(6));
        let rest: Vec<_> = std::iter::from_fn(|| agenda.pop()).map(|(level, _)| level.0).collect();
        assert_eq!(rest, [9, 8, 7, 5]);
    }

    #[test]
    fn far_lifetimes_come_first() {
        let mut agenda = Agenda::new(Grid { step: 1, origin: Instant(0) });
        agenda.begin(Instant(0));
        for until in [3, 1_000_000, 7, 2_000_000, 4_095, 4_096] {
            agenda.push(Instant(until), fact(0));
        }
        let levels: Vec<_> =
            std::iter::from_fn(|| agenda.pop()).map(|(level, _)| level.0).collect();
        assert_eq!(levels, [2_000_000, 1_000_000, 4_096, 4_095, 7, 3]);
    }
}
