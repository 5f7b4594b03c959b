//! Instants and lifetimes.
//!
//! An instant counts milliseconds of event time (or plain ticks). `until` is exclusive: a fact holds
//! at t while t < until. Lifetimes form a (max, min) semiring: a derivation holds until the minimum
//! of its body, a fact until the maximum over its derivations. `NEVER` is its zero, `FOREVER` its one.

/// An instant of event time, or the exclusive end of a lifetime.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Instant(pub i64);

/// The `until` of the background.
pub const FOREVER: Instant = Instant(i64::MAX);
/// The `until` of what does not hold.
pub const NEVER: Instant = Instant(i64::MIN);

impl Instant {
    /// The instant `span` later. Never reaches `FOREVER`: only the background does.
    #[must_use]
    pub fn plus(self, span: i64) -> Self {
        Self(self.0.saturating_add(span).min(FOREVER.0 - 1))
    }
}

impl Instant {
    /// The end of a lifetime that is shorter by a span. What holds for ever, or never, still does.
    #[must_use]
    pub fn earlier(self, span: i64) -> Self {
        if self == FOREVER || self == NEVER { self } else { self.plus(-span) }
    }
}

/// Cuts time into buckets of `step`, aligned to `origin`: bucket k is the instants in
/// (origin + (k - 1) * step, origin + k * step], so that a tick on the grid closes whole buckets.
#[derive(Clone, Copy, Debug)]
pub struct Grid {
    /// The distance between ticks.
    pub step: i64,
    /// Some tick.
    pub origin: Instant,
}

impl Grid {
    /// The bucket an instant falls in.
    pub fn bucket(self, at: Instant) -> i64 {
        let since = at.0.saturating_sub(self.origin.0);
        // Plain ticks need no division, which takes its time.
        if self.step == 1 {
            since
        } else {
            since.saturating_add(self.step - 1).div_euclid(self.step)
        }
    }

    /// The first instant of a bucket.
    pub fn start(self, bucket: i64) -> Instant {
        let before = bucket.saturating_sub(1).saturating_mul(self.step);
        Instant(before.saturating_add(self.origin.0).saturating_add(1))
    }
}

/// A grid that remembers the bucket it found last: instants that are asked for one after the other
/// often share it, and a division takes its time.
#[derive(Clone, Copy, Debug)]
pub struct Buckets {
    grid: Grid,
    /// The bucket found last, and its instants: after the first, up to the last.
    last: i64,
    first: i64,
    end: i64,
}

impl Buckets {
    /// The buckets of a grid.
    pub fn new(grid: Grid) -> Self {
        Self { grid, last: 0, first: 0, end: 0 }
    }

    /// The bucket an instant falls in.
    #[inline]
    pub fn of(&mut self, at: Instant) -> i64 {
        if !(self.first < at.0 && at.0 <= self.end) {
            self.find(at);
        }
        self.last
    }

    #[cold]
    fn find(&mut self, at: Instant) {
        let Grid { step, origin } = self.grid;
        self.last = self.grid.bucket(at);
        let end = self.last.checked_mul(step).and_then(|end| end.checked_add(origin.0));
        let first = end.and_then(|end| end.checked_sub(step));
        (self.first, self.end) = first.zip(end).unwrap_or((0, 0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_close_at_ticks() {
        let grid = Grid { step: 10, origin: Instant(3) };
        let buckets: Vec<i64> = [-7, -6, 3, 4, 13, 14].map(|at| grid.bucket(Instant(at))).into();
        assert_eq!(buckets, [-1, 0, 0, 1, 1, 2]);
        assert_eq!([0, 1].map(|bucket| grid.start(bucket)), [Instant(-6), Instant(4)]);
    }

    #[test]
    fn remembered_buckets_are_the_grids() {
        for grid in [Grid { step: 10, origin: Instant(3) }, Grid { step: 1, origin: Instant(-7) }] {
            let mut buckets = Buckets::new(grid);
            let far = [i64::MIN, i64::MIN + 1, i64::MAX - 1, i64::MAX];
            for at in (-40..40).chain(far).chain((-40..40).rev()) {
                assert_eq!(buckets.of(Instant(at)), grid.bucket(Instant(at)), "{at}");
            }
        }
    }

    #[test]
    fn only_the_background_is_forever() {
        assert!(Instant(i64::MAX - 5).plus(1_000) < FOREVER);
    }
}
