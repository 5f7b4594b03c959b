//! Arrivals: what was pushed and awaits its tick.
//!
//! Shape: by tick, a batch of arrivals and their terms, flat. An arrival happens at an instant and
//! states a fact (until a known instant, in a count window or in a session) or retracts one. Arrivals
//! that say the same of other terms, one after the other, are a run, which is noted once.

use std::collections::BTreeMap;

use crate::ids::{RelationId, StreamId, TermId};
use crate::instant::{Buckets, Grid, Instant};

/// What an arrival says about its fact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Says {
    /// It holds until then.
    HoldsUntil(Instant),
    /// It is the newest of a count window.
    Counts(StreamId),
    /// It is the latest of a session.
    Continues(StreamId),
    /// Every statement made so far is taken back.
    Retracted,
    /// It holds until then, whatever was said so far.
    HoldsExactly(Instant),
}

/// A fact said at an instant. Its terms are the next `arity` ones of the batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// When it happens.
    pub at: Instant,
    /// The fact's relation.
    pub relation: RelationId,
    /// What is said.
    pub says: Says,
}

/// Arrivals in the order they came, with all their terms.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    /// What is said, and of how many facts.
    pub runs: Vec<(Arrival, usize)>,
    /// Their terms, one after the other.
    pub terms: Vec<TermId>,
}

impl Batch {
    /// Add one.
    pub fn push(&mut self, arrival: Arrival, terms: &[TermId]) {
        self.extend(arrival, 1, terms);
    }

    /// Add so many that say the same of other terms.
    pub fn extend(&mut self, arrival: Arrival, count: usize, terms: &[TermId]) {
        match self.runs.last_mut() {
            Some((same, so_far)) if *same == arrival => *so_far += count,
            _ => self.runs.push((arrival, count)),
        }
        self.terms.extend_from_slice(terms);
    }

    /// The arrivals one by one, each with its terms, given the relations' arities.
    pub fn each<'a>(
        &'a self,
        arity: impl Fn(RelationId) -> usize + 'a,
    ) -> impl Iterator<Item = (Arrival, &'a [TermId])> + 'a {
        let mut from = 0;
        let all =
            self.runs.iter().flat_map(|(arrival, count)| std::iter::repeat_n(arrival, *count));
        all.map(move |arrival| {
            let terms = &self.terms[from..from + arity(arrival.relation)];
            from += terms.len();
            (*arrival, terms)
        })
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.runs.iter().map(|(_, count)| count).sum()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }
}

/// Batches by the tick that admits them.
pub struct Arrivals {
    buckets: Buckets,
    batches: BTreeMap<i64, Batch>,
    /// The batch that the last arrival went to, apart: the next one often goes there too.
    open: Option<(i64, Batch)>,
}

impl Arrivals {
    /// Nothing yet.
    pub fn new(grid: Grid) -> Self {
        Self { buckets: Buckets::new(grid), batches: BTreeMap::new(), open: None }
    }

    /// The batch that an arrival at this instant belongs to.
    pub fn batch(&mut self, at: Instant) -> &mut Batch {
        let bucket = self.buckets.of(at);
        if self.open.as_ref().is_none_or(|(open, _)| *open != bucket) {
            self.close();
        }
        let Self { batches, open, .. } = self;
        &mut open.get_or_insert_with(|| (bucket, batches.remove(&bucket).unwrap_or_default())).1
    }

    fn close(&mut self) {
        if let Some((bucket, batch)) = self.open.take() {
            self.batches.insert(bucket, batch);
        }
    }

    /// Take the batches of all ticks up to this one. What happens after it must be put back.
    pub fn take(&mut self, tick: Instant) -> Vec<Batch> {
        self.close();
        let last = self.buckets.of(tick);
        let mut due = Vec::new();
        while let Some(first) = self.batches.first_entry()
            && *first.key() <= last
        {
            due.push(first.remove());
        }
        due
    }

    /// The first bucket for which anything waits.
    pub fn first(&self) -> Option<i64> {
        let open = self.open.iter().map(|(bucket, _)| bucket);
        open.chain(self.batches.keys().next()).min().copied()
    }

    /// Everything that waits.
    pub fn batches(&self) -> impl Iterator<Item = &Batch> {
        self.batches.values().chain(self.open.iter().map(|(_, batch)| batch))
    }

    /// How many arrivals wait.
    pub fn len(&self) -> usize {
        self.batches().map(Batch::len).sum()
    }

    /// Whether none waits.
    pub fn is_empty(&self) -> bool {
        self.batches().all(Batch::is_empty)
    }
}
