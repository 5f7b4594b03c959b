//! The agenda: facts to settle, longest lifetime first.
//!
//! A derivation never outlives its body, so what a fact of the current level derives is of that
//! level or a later one. Each fact is therefore settled once, with its longest lifetime (the widest
//! path of graph search).
//!
//! Shape: facts of the current level on a stack; the bucket that is open sorted, and what joins it
//! later in a heap beside it; nearer buckets in an array, unsorted until they are opened; what lies
//! beyond the array in a heap of its own, which comes first.

use std::collections::BinaryHeap;

use crate::ids::FactId;
use crate::instant::{Buckets, FOREVER, Grid, Instant};

/// How many buckets the array may span.
const NEAR: i64 = 1 << 12;

/// A priority queue whose priorities only fall.
pub struct Agenda {
    buckets: Buckets,
    /// The bucket of the tick: nothing on the agenda ends before it.
    base: i64,
    level: Instant,
    now: Vec<FactId>,
    beyond: BinaryHeap<(Instant, FactId)>,
    /// The open bucket, in ascending order of lifetimes.
    open: Vec<(Instant, FactId)>,
    joined: BinaryHeap<(Instant, FactId)>,
    /// How much of the open bucket was not handed out by `upcoming` yet.
    ahead: usize,
    /// The position of the highest bucket that holds anything, open or not.
    top: usize,
    near: Vec<Vec<(Instant, FactId)>>,
}

impl Agenda {
    /// An empty agenda for ticks on a grid.
    pub fn new(grid: Grid) -> Self {
        Self {
            buckets: Buckets::new(grid),
            base: 0,
            level: FOREVER,
            now: Vec::new(),
            beyond: BinaryHeap::new(),
            open: Vec::new(),
            joined: BinaryHeap::new(),
            ahead: 0,
            top: 0,
            near: Vec::new(),
        }
    }

    /// Make ready for a tick. The agenda must be empty.
    pub fn begin(&mut self, tick: Instant) {
        self.base = self.buckets.of(tick);
        self.level = FOREVER;
    }

    /// Put a fact on the agenda with the lifetime it was offered.
    pub fn push(&mut self, until: Instant, fact: FactId) {
        if until == self.level {
            self.now.push(fact);
            return;
        }
        let position = self.buckets.of(until).wrapping_sub(self.base);
        if !(0..NEAR).contains(&position) {
            self.beyond.push((until, fact));
            return;
        }
        let position = position as usize;
        if position >= self.near.len() {
            self.near.resize_with(position + 1, Vec::new);
        }
        if position == self.top && !(self.open.is_empty() && self.joined.is_empty()) {
            self.joined.push((until, fact));
            return;
        }
        if position > self.top {
            self.close();
            self.top = position;
        }
        self.near[position].push((until, fact));
    }

    /// A higher bucket comes first: put the open one back.
    fn close(&mut self) {
        self.near[self.top].append(&mut self.open);
        self.near[self.top].extend(self.joined.drain());
    }

    /// Open the highest bucket that holds anything.
    fn open_next(&mut self) {
        while self.open.is_empty() && self.joined.is_empty() {
            let Some(bucket) = self.near.get_mut(self.top) else { return };
            if !bucket.is_empty() {
                std::mem::swap(&mut self.open, bucket);
                if !self.open.is_sorted_by_key(|(level, _)| *level) {
                    self.open.sort_unstable();
                }
                self.ahead = self.open.len();
            } else if self.top == 0 {
                return;
            } else {
                self.top -= 1;
            }
        }
    }

    fn peek_near(&mut self) -> Option<Instant> {
        self.open_next();
        let open = self.open.last().map(|(level, _)| *level);
        open.max(self.joined.peek().map(|(level, _)| *level))
    }

    fn pop_near(&mut self) -> Option<(Instant, FactId)> {
        self.open_next();
        let open = self.open.last().map(|(level, _)| *level);
        let joined = self.joined.peek().map(|(level, _)| *level);
        if open >= joined { self.open.pop() } else { self.joined.pop() }
    }

    /// The level of the next fact.
    #[inline]
    pub fn next_level(&mut self) -> Option<Instant> {
        if !self.now.is_empty() {
            return Some(self.level);
        }
        let beyond = self.beyond.peek().map(|(level, _)| *level);
        beyond.or_else(|| self.peek_near())
    }

    /// The next fact, and its level. Once empty, the agenda is ready for any level again.
    #[inline]
    pub fn pop(&mut self) -> Option<(Instant, FactId)> {
        if let Some(fact) = self.now.pop() {
            return Some((self.level, fact));
        }
        let next = if self.beyond.is_empty() { self.pop_near() } else { self.beyond.pop() };
        self.level = next.map_or(FOREVER, |(level, _)| level);
        next
    }

    /// The next fact, if it is of the level of the last one and no facts are to be handed out before it.
    #[inline]
    pub fn pop_same(&mut self) -> Option<FactId> {
        if let Some(fact) = self.now.pop() {
            return Some(fact);
        }
        let is_near =
            self.open.len() > self.ahead && self.joined.is_empty() && self.beyond.is_empty();
        match self.open.last() {
            Some((level, fact)) if is_near && *level == self.level => {
                let fact = *fact;
                self.open.pop();
                Some(fact)
            }
            _ => None,
        }
    }

    /// Whether those that `upcoming` handed out were all popped, and there are more.
    #[inline]
    pub fn has_upcoming(&self) -> bool {
        self.open.len() <= self.ahead && !self.open.is_empty()
    }

    /// Some facts that come next, each of them once.
    pub fn upcoming(&mut self, count: usize, into: &mut Vec<FactId>) {
        into.clear();
        let from = self.open.len().saturating_sub(count);
        into.extend(self.open[from..].iter().rev().map(|(_, fact)| *fact));
        self.ahead = from.saturating_sub(1);
    }

    /// Drop everything.
    pub fn clear(&mut self) {
        self.now.clear();
        self.beyond.clear();
        self.open.clear();
        self.joined.clear();
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
    fn only_facts_of_the_level_are_popped_with_it() {
        let mut agenda = Agenda::new(Grid { step: 10, origin: Instant(0) });
        agenda.begin(Instant(0));
        for (until, row) in [(9, 1), (7, 2), (9, 3), (7, 4)] {
            agenda.push(Instant(until), fact(row));
        }
        agenda.next_level();
        agenda.upcoming(4, &mut Vec::new());
        let mut popped = Vec::new();
        while let Some((level, first)) = agenda.pop() {
            popped.push((level.0, first.row.0));
            popped.extend(std::iter::from_fn(|| agenda.pop_same()).map(|one| (level.0, one.row.0)));
        }
        assert_eq!(popped, [(9, 3), (9, 1), (7, 4), (7, 2)]);
        agenda.push(Instant(5), fact(5));
        assert_eq!(agenda.pop_same(), None, "no level is known");
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
