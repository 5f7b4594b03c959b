//! Count windows: the last n facts of a stream, or of each group.
//!
//! Shape: per group, the entries (instant, fact) in order; per fact, how many entries it has and
//! until when it is stated besides. Facts come in order, so entering is at the back and leaving at
//! the front. A fact counted anywhere is stated FOREVER: it leaves when it is pushed out.

use std::collections::VecDeque;

use hashbrown::HashMap;

use crate::ids::{FactId, TermId};
use crate::instant::Instant;

/// A fact in count windows.
#[derive(Clone, Copy, Debug)]
pub struct Counted {
    /// How many entries it has.
    pub entries: usize,
    /// Until when it is stated by other windows.
    pub otherwise: Instant,
}

/// The terms at some positions, as far as there are any: which group a fact is in.
pub fn group_key(group: &[usize], terms: &[TermId]) -> Vec<Option<TermId>> {
    group.iter().map(|position| terms.get(*position).copied()).collect()
}

/// The entries of one count window.
pub struct CountWindow {
    /// How many entries a group keeps.
    pub size: usize,
    /// The argument positions that make the group.
    pub group: Vec<usize>,
    /// The entries, by group. Invariant: no group is empty.
    pub groups: HashMap<Vec<Option<TermId>>, VecDeque<(Instant, FactId)>>,
}

impl CountWindow {
    /// An empty window.
    pub fn new(size: usize, group: Vec<usize>) -> Self {
        Self { size, group, groups: HashMap::new() }
    }

    /// The group of a fact with these terms.
    pub fn key(&self, terms: &[TermId]) -> Vec<Option<TermId>> {
        group_key(&self.group, terms)
    }

    /// Enter a fact; a repetition at the same instant does not count. Returns whether it entered,
    /// and the fact it pushed out.
    pub fn enter(&mut self, at: Instant, fact: FactId, terms: &[TermId]) -> (bool, Option<FactId>) {
        let entries = self.groups.entry(self.key(terms)).or_default();
        let mut same_instant = entries.iter().rev().take_while(|(other, _)| *other == at);
        if same_instant.any(|(_, other)| *other == fact) {
            return (false, None);
        }
        entries.push_back((at, fact));
        let pushed_out = if entries.len() > self.size {
            entries.pop_front().map(|(_, fact)| fact)
        } else {
            None
        };
        (true, pushed_out)
    }

    /// The instants at which a fact that it holds entered.
    pub fn instants_of(&self, fact: FactId, terms: &[TermId]) -> impl Iterator<Item = Instant> {
        let entries = self.groups.get(&self.key(terms)).into_iter().flatten();
        entries.filter(move |(_, other)| *other == fact).map(|(at, _)| *at)
    }

    /// Take out every entry of a fact. Returns how many there were.
    pub fn take_out(&mut self, fact: FactId, terms: &[TermId]) -> usize {
        let key = self.key(terms);
        let Some(entries) = self.groups.get_mut(&key) else {
            return 0;
        };
        let before = entries.len();
        entries.retain(|(_, other)| *other != fact);
        let taken = before - entries.len();
        if entries.is_empty() {
            self.groups.remove(&key);
        }
        taken
    }
}
