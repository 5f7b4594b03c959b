//! What a kernel is told: facts that are stated, for ever or on a stream, and that are taken back.
//!
//! All of it waits among the arrivals for its tick. What a tick has passed already is refused, and so is what no window
//! will ever see.

use crate::arrivals::{Arrival, Says};
use crate::ids::{RelationId, StreamId, TermId};
use crate::instant::{FOREVER, Instant, NEVER};
use crate::kernel::Kernel;
use crate::window::Window;

/// Why an arrival was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// It happens at or before the last tick.
    Late,
    /// Its window will never see it.
    Outside,
}

impl Kernel {
    /// State a background fact; it holds from the next tick on.
    pub fn add(&mut self, relation: RelationId, terms: &[TermId]) {
        // As if it happened right after the last tick: a retraction before that is not about it.
        let at = self.tick.map_or(NEVER, |tick| tick.plus(1));
        self.enqueue(Arrival { at, relation, says: Says::HoldsUntil(FOREVER) }, terms);
    }

    /// State a fact that happens at an instant on a stream.
    ///
    /// # Errors
    /// When a tick that should have seen it is over, or its window will never see it.
    pub fn push(
        &mut self,
        stream: StreamId,
        relation: RelationId,
        terms: &[TermId],
        at: Instant,
    ) -> Result<(), Refused> {
        self.push_together(stream, relation, 1, terms, at)
    }

    /// State so many facts of a relation that happen together, their terms one after the other.
    ///
    /// # Errors
    /// As `push`.
    pub fn push_together(
        &mut self,
        stream: StreamId,
        relation: RelationId,
        count: usize,
        terms: &[TermId],
        at: Instant,
    ) -> Result<(), Refused> {
        debug_assert_eq!(terms.len(), count * self.relations[relation.index()].arity());
        if self.is_late(at) {
            return Err(Refused::Late);
        }
        let window = &self.settings.windows[stream.index()];
        let until = window.until(at).ok_or(Refused::Outside)?;
        let says = match window {
            Window::Count { .. } => Says::Counts(stream),
            Window::Session { .. } => Says::Continues(stream),
            _ => Says::HoldsUntil(until),
        };
        self.dictionary.retain_all(terms);
        self.arrivals.batch(at).extend(Arrival { at, relation, says }, count, terms);
        Ok(())
    }

    /// Take back every statement of a fact made at or before an instant.
    ///
    /// # Errors
    /// When a tick that should have seen it is over.
    pub fn retract(
        &mut self,
        relation: RelationId,
        terms: &[TermId],
        at: Instant,
    ) -> Result<(), Refused> {
        if self.is_late(at) {
            return Err(Refused::Late);
        }
        self.enqueue(Arrival { at, relation, says: Says::Retracted }, terms);
        Ok(())
    }

    fn is_late(&self, at: Instant) -> bool {
        self.tick.is_some_and(|tick| at <= tick)
    }

    pub(crate) fn enqueue(&mut self, arrival: Arrival, terms: &[TermId]) {
        self.dictionary.retain_all(terms);
        self.arrivals.batch(arrival.at).push(arrival, terms);
    }
}
