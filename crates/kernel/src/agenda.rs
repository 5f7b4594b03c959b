//! The agenda: facts to settle, longest lifetime first.
//!
//! A derivation never outlives its body, so what a fact of the current level derives is of that
//! level or a later one. Each fact is therefore settled once, with its longest lifetime (the widest
//! path of graph search).

use std::collections::BinaryHeap;

use crate::ids::FactId;
use crate::instant::{FOREVER, Instant};

/// A priority queue whose priorities only fall.
pub struct Agenda {
    level: Instant,
    now: Vec<FactId>,
    later: BinaryHeap<(Instant, FactId)>,
}

impl Default for Agenda {
    fn default() -> Self {
        Self {
            level: FOREVER,
            now: Vec::new(),
            later: BinaryHeap::new(),
        }
    }
}

impl Agenda {
    /// Put a fact on the agenda with the lifetime it was offered.
    pub fn push(&mut self, until: Instant, fact: FactId) {
        if until == self.level {
            self.now.push(fact);
        } else {
            self.later.push((until, fact));
        }
    }

    /// The next fact, and its level. Once empty, the agenda is ready for any level again.
    pub fn pop(&mut self) -> Option<(Instant, FactId)> {
        if let Some(fact) = self.now.pop() {
            return Some((self.level, fact));
        }
        let next = self.later.pop();
        self.level = next.map_or(FOREVER, |(level, _)| level);
        next
    }

    /// Drop everything.
    pub fn clear(&mut self) {
        self.now.clear();
        self.later.clear();
        self.level = FOREVER;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{RelationId, RowId};

    #[test]
    fn longest_lifetime_first() {
        let fact = |row| FactId {
            relation: RelationId(0),
            row: RowId(row),
        };
        let mut agenda = Agenda::default();
        agenda.push(Instant(5), fact(1));
        agenda.push(FOREVER, fact(2));
        agenda.push(Instant(9), fact(3));
        assert_eq!(agenda.pop(), Some((FOREVER, fact(2))));
        assert_eq!(agenda.pop(), Some((Instant(9), fact(3))));
        agenda.push(Instant(9), fact(4));
        agenda.push(Instant(7), fact(5));
        let rest: Vec<_> = std::iter::from_fn(|| agenda.pop())
            .map(|(level, _)| level.0)
            .collect();
        assert_eq!(rest, [9, 7, 5]);
    }
}
