//! A calendar: things by the tick bucket they belong to.
//!
//! Shape: near buckets in a ring that begins with the bucket of the last tick, so that putting a
//! thing in is one array access; the rest, far ahead or behind, in a tree. The bucket that the last thing
//! went to is open: it is taken out of its place, since the next one often goes there, too.

use std::collections::{BTreeMap, VecDeque};

use crate::instant::{Buckets, Grid, Instant};

/// How many buckets the ring may span.
const NEAR: i64 = 1 << 14;

/// Things by bucket.
pub struct Calendar<T> {
    buckets: Buckets,
    /// The bucket of the ring's front.
    front: Option<i64>,
    near: VecDeque<Vec<T>>,
    far: BTreeMap<i64, Vec<T>>,
    open: Option<(i64, Vec<T>)>,
    /// Empty buckets, whose memory is used again.
    spare: Vec<Vec<T>>,
    len: usize,
}

/// How many empty buckets are kept.
const SPARE: usize = 4;

impl<T> Calendar<T> {
    /// Nothing yet.
    pub fn new(grid: Grid) -> Self {
        let buckets = Buckets::new(grid);
        let (near, far, spare) = (VecDeque::new(), BTreeMap::new(), Vec::new());
        Self { buckets, front: None, near, far, open: None, spare, len: 0 }
    }

    /// How many things there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The first bucket that has anything of interest.
    pub fn first(&self, interests: impl Fn(&T) -> bool) -> Option<i64> {
        let near = self.near.iter().position(|things| things.iter().any(&interests));
        let near = near.zip(self.front).map(|(ahead, front)| front + ahead as i64);
        let mut far = self.far.iter().filter(|(_, things)| things.iter().any(&interests));
        let far = far.next().map(|(bucket, _)| *bucket);
        let open = self.open.iter().filter(|(_, things)| things.iter().any(&interests));
        near.into_iter().chain(far).chain(open.map(|(bucket, _)| *bucket)).min()
    }

    /// Put a thing into the bucket of an instant.
    #[inline(always)]
    pub fn push(&mut self, at: Instant, thing: T) {
        self.len += 1;
        self.bucket(at).push(thing);
    }

    /// Put some things into the bucket of an instant.
    pub fn extend(&mut self, at: Instant, things: impl ExactSizeIterator<Item = T>) {
        self.len += things.len();
        self.bucket(at).extend(things);
    }

    /// The bucket of an instant, which is the open one from now on.
    #[inline(always)]
    fn bucket(&mut self, at: Instant) -> &mut Vec<T> {
        let bucket = self.buckets.of(at);
        if self.open.as_ref().is_none_or(|(open, _)| *open != bucket) {
            self.close();
            let things = std::mem::take(self.place(bucket));
            self.open = Some((bucket, things));
        }
        &mut self.open.get_or_insert_default().1
    }

    /// Put the open bucket back.
    #[inline(never)]
    fn close(&mut self) {
        if let Some((bucket, things)) = self.open.take() {
            *self.place(bucket) = things;
        }
    }

    /// The place of a bucket that is not open.
    #[inline(never)]
    fn place(&mut self, bucket: i64) -> &mut Vec<T> {
        match self.front.map(|front| bucket.wrapping_sub(front)) {
            Some(ahead @ 0..NEAR) => {
                let ahead = ahead as usize;
                if ahead >= self.near.len() {
                    self.near.resize_with(ahead, Vec::new);
                    self.near.push_back(self.spare.pop().unwrap_or_default());
                }
                &mut self.near[ahead]
            }
            _ => self.far.entry(bucket).or_default(),
        }
    }

    /// Take everything in the buckets up to that of the tick; the ring then begins there.
    pub fn take(&mut self, tick: Instant) -> Vec<Vec<T>> {
        self.close();
        let last = self.buckets.of(tick);
        let mut due = Vec::new();
        while let Some(first) = self.far.first_entry()
            && *first.key() <= last
        {
            due.push(first.remove());
        }
        if let Some(front) = self.front {
            let passed = usize::try_from(last - front + 1).unwrap_or(0).min(self.near.len());
            due.extend(self.near.drain(..passed));
        }
        if self.near.is_empty() || self.front.is_some_and(|front| front <= last) {
            self.front = Some(last + 1);
        }
        self.len -= due.iter().map(Vec::len).sum::<usize>();
        due
    }

    /// Use the memory of what was taken again.
    pub fn give_back(&mut self, taken: Vec<Vec<T>>) {
        for mut bucket in taken.into_iter().take(SPARE.saturating_sub(self.spare.len())) {
            bucket.clear();
            self.spare.push(bucket);
        }
    }

    /// Forget everything.
    pub fn clear(&mut self) {
        self.open = None;
        self.near.clear();
        self.far.clear();
        self.len = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_due_comes_out_once() {
        let mut calendar = Calendar::new(Grid { step: 10, origin: Instant(0) });
        for at in [5, 25, 1_000_000, -40] {
            calendar.push(Instant(at), at);
        }
        let mut due =
            |tick| -> Vec<i64> { calendar.take(Instant(tick)).into_iter().flatten().collect() };
        assert_eq!(due(10), [-40, 5]);
        assert_eq!(calendar.first(|_| true), Some(3), "25 is after 20, and up to 30");
        assert_eq!(calendar.first(|at| at % 2 == 0), Some(100_000));
        let mut due =
            |tick| -> Vec<i64> { calendar.take(Instant(tick)).into_iter().flatten().collect() };
        assert_eq!(due(20), [0_i64; 0]);
        calendar.push(Instant(21), 21);
        let mut due =
            |tick| -> Vec<i64> { calendar.take(Instant(tick)).into_iter().flatten().collect() };
        assert_eq!(due(30), [25, 21]);
        assert_eq!(due(2_000_000), [1_000_000]);
        assert!(calendar.is_empty());
        assert_eq!(calendar.first(|_| true), None);
    }
}
