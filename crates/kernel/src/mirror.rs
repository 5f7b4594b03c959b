//! Mirroring: a relation of this kernel holds what a relation of another one does.
//!
//! What the other kernel's tick changed is said here of the same facts, as statements that hold
//! exactly as long, or all `by` less: what windows shorter by that see of what follows without
//! negation. Whoever mirrors must do so after every tick of the other kernel, or take over the whole.

use hashbrown::HashSet;

use crate::arrivals::{Arrival, Says};
use crate::ids::{FactId, RelationId, TermId};
use crate::instant::{Instant, NEVER};
use crate::kernel::Kernel;

impl Kernel {
    /// Say of a relation's facts what the last tick of another kernel changed in one of its own.
    pub fn mirror(&mut self, relation: RelationId, other: &Self, from: RelationId, by: i64) {
        let at = self.mirrored_at(other);
        for (change, until) in other.changes().filter(|(change, _)| change.fact.relation == from) {
            self.mirror_fact(relation, other, change.fact, at, until.earlier(by));
        }
    }

    /// Say of a relation's facts what holds in another kernel's, and that no others do.
    pub fn mirror_whole(&mut self, relation: RelationId, other: &Self, from: RelationId, by: i64) {
        let at = self.mirrored_at(other);
        let mut held: HashSet<FactId> = HashSet::new();
        let rows: Vec<_> = other.relation(from).live().collect();
        for row in rows {
            let fact = FactId { relation: from, row };
            let terms = self.mirror_fact(relation, other, fact, at, other.until(fact).earlier(by));
            held.extend(
                self.relations[relation.index()]
                    .find(&terms[..])
                    .map(|row| FactId { relation, row }),
            );
        }
        let known: Vec<_> = self.relations[relation.index()].rows().collect();
        for row in known {
            if !held.contains(&FactId { relation, row }) {
                let terms: Vec<TermId> = self.relations[relation.index()].terms(row).collect();
                let says = Says::HoldsExactly(NEVER);
                self.enqueue(Arrival { at, relation, says }, &terms);
            }
        }
    }

    /// When what the other kernel holds is said: after the last tick.
    fn mirrored_at(&self, other: &Self) -> Instant {
        let at = other.tick().unwrap_or(NEVER);
        self.tick().map_or(at, |tick| at.max(tick.plus(1)))
    }

    fn mirror_fact(
        &mut self,
        relation: RelationId,
        other: &Self,
        fact: FactId,
        at: Instant,
        until: Instant,
    ) -> Vec<TermId> {
        let terms = other.relation(fact.relation).terms(fact.row);
        let terms: Vec<TermId> =
            terms.map(|term| self.dictionary.intern(other.dictionary().text(term))).collect();
        self.enqueue(Arrival { at, relation, says: Says::HoldsExactly(until) }, &terms);
        terms
    }
}
