//! Quiet time: how long a kernel stays as it is if nobody says anything more.

use crate::ids::RelationId;
use crate::instant::Instant;
use crate::kernel::Kernel;
use crate::operator::{Covering, Runs};

impl Kernel {
    /// An instant before which no tick after the last one changes anything; none if none ever does.
    /// The bucket that it is in may turn out to hold nothing of interest.
    ///
    /// Facts of the relations `beside` may end before: whatever rests on them ends by itself.
    pub fn quiet_until(&self, beside: &[RelationId]) -> Option<Instant> {
        let next = self.tick().map(|tick| tick.plus(1));
        if self.broken || self.coverings.iter().any(Covering::has_complete) {
            return next;
        }
        let ending = self.endings.first_bucket(|fact| !beside.contains(&fact.relation));
        let first = ending.into_iter().chain(self.arrivals.first()).min();
        let first = first.map(|bucket| self.settings.grid.start(bucket));
        let lasting = self.runs.iter().filter_map(Runs::first_due);
        let first = first.into_iter().chain(lasting).min();
        first.max(first.and(next))
    }
}
