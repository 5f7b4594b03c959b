//! Quiet time: how long a kernel stays as it is if nobody says anything more.

use crate::instant::Instant;
use crate::kernel::Kernel;
use crate::operator::Operator;

impl Kernel {
    /// An instant before which no tick after the last one changes anything; none if none ever does.
    /// The bucket that it is in may turn out to hold nothing of interest.
    pub fn quiet_until(&self) -> Option<Instant> {
        let next = self.tick().map(|tick| tick.plus(1));
        let keeps_time = |operator: &Operator| !matches!(operator, Operator::Aggregate { .. });
        if self.broken || self.program.operators.iter().any(keeps_time) {
            return next;
        }
        let first = self.endings.first_bucket().into_iter().chain(self.arrivals.first()).min();
        first.map(|bucket| self.settings.grid.start(bucket)).max(first.and(next))
    }
}
