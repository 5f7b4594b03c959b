//! How a tick begins: what ends by itself is dropped.

use crate::ids::{FactId, RelationId};
use crate::instant::{FOREVER, Instant, NEVER};
use crate::kernel::{Change, Kernel};
use crate::maintain::Strategy;
use crate::operator::Steps;
use crate::plan::UNREAD;

/// Entries of buckets that may be stale before they are swept, beyond one a fact.
const STALE: usize = 4096;

impl Kernel {
    /// Drop the facts that reached their `until`, the statements that left the window, or all. Facts of
    /// relations that end last are left for `end_last`.
    pub(crate) fn drop_what_ends(&mut self, tick: Instant, anew: bool) {
        if anew {
            return self.forget_derived(tick);
        }
        let due = self.endings.first.take(tick);
        for facts in &due {
            self.each_some(facts, |kernel, some| match kernel.settings.strategy {
                Strategy::Expiry => kernel.expire(some, tick),
                _ => some.iter().for_each(|fact| kernel.lapse(*fact, tick)),
            });
        }
        self.endings.first.give_back(due);
        self.sweep_endings();
    }

    /// End those facts that reached their `until`.
    fn expire(&mut self, facts: &[FactId], tick: Instant) {
        let Self { relations, dictionary, changes, endings, live, body, settings, steps, .. } =
            self;
        for fact in facts {
            let relation = &mut relations[fact.relation.index()];
            let until = relation.until(fact.row);
            if until == NEVER {
                continue;
            }
            if until > tick {
                // Renewed since: its new bucket has it, unless the tick fell beside the grid.
                if settings.grid.bucket(until) == settings.grid.bucket(tick) {
                    endings.first.push(until, *fact);
                }
                continue;
            }
            let ended = relation.expire(fact.row);
            if !ended.is_told {
                changes.push(Change { fact: *fact, before: until });
            }
            live.leave(body, ended.class);
            if let Some(steps) = steps {
                steps.forget(fact.relation, relation, fact.row);
            }
            if ended.is_stated && !self.makes_terms[fact.relation.index()] {
                relation.each_term(fact.row, |term| dictionary.release(term));
            }
        }
    }

    /// A statement left its window: whether the fact still holds is for `lower` to find out.
    fn lapse(&mut self, fact: FactId, tick: Instant) {
        let stated = self.relations[fact.relation.index()].stated(fact.row);
        if stated == NEVER {
            return;
        }
        if stated > tick {
            if self.settings.grid.bucket(stated) == self.settings.grid.bucket(tick) {
                self.endings.push(stated, fact);
            }
            return;
        }
        self.set_stated(fact, NEVER);
        self.suspect_later(fact);
    }

    fn sweep_endings(&mut self) {
        if self.endings.len() <= 2 * self.len() + STALE {
            return;
        }
        self.endings.clear();
        for position in 0..self.relations.len() {
            let relation = RelationId::at(position);
            let rows: Vec<_> = self.relations[position].live().collect();
            for row in rows {
                self.note_end(FactId { relation, row });
            }
        }
    }

    /// Put a fact into the bucket of the instant at which it may end.
    #[inline]
    pub(crate) fn note_end(&mut self, fact: FactId) {
        let relation = &self.relations[fact.relation.index()];
        let ends = match self.settings.strategy {
            Strategy::Expiry => relation.until(fact.row),
            Strategy::Dred => relation.stated(fact.row),
            Strategy::Naive => return,
        };
        if ends != FOREVER && ends != NEVER {
            self.endings.push(ends, fact);
        }
    }

    /// Forget everything that is not stated, and every lifetime.
    fn forget_derived(&mut self, tick: Instant) {
        self.endings.clear();
        self.agenda.clear();
        self.candidates.iter_mut().for_each(Vec::clear);
        self.steps.iter_mut().for_each(Steps::clear);
        for position in 0..self.relations.len() {
            let relation = RelationId::at(position);
            let is_value = self.program.operators.iter().any(|one| one.output() == relation);
            self.relations[position].unlink_all();
            let rows: Vec<_> = self.relations[position].rows().collect();
            for row in rows {
                let fact = FactId { relation, row };
                self.end(fact);
                self.note_change(fact, NEVER);
                let rows = &mut self.relations[position];
                rows.withdraw(row);
                rows.set_suspect(row, false);
                if rows.stated(row) <= tick || is_value {
                    self.set_stated(fact, NEVER);
                }
            }
        }
    }

    /// Offer every stated fact its stated lifetime.
    pub(crate) fn offer_stated(&mut self) {
        for position in 0..self.relations.len() {
            let relation = RelationId::at(position);
            let rows: Vec<_> = self.relations[position].rows().collect();
            for row in rows {
                let fact = FactId { relation, row };
                if self.settings.strategy == Strategy::Dred {
                    self.note_end(fact);
                }
                self.offer_statement(fact, self.relations[position].stated(row));
            }
        }
    }

    /// Offer a stated lifetime. What no rule reads is settled at once: nothing follows from it.
    pub(crate) fn offer_statement(&mut self, fact: FactId, until: Instant) {
        let relation = &mut self.relations[fact.relation.index()];
        if relation.class(fact.row) != UNREAD {
            self.offer(fact, until);
        } else if relation.offer(fact.row, until) {
            self.settle(fact, 0);
        }
    }
}
