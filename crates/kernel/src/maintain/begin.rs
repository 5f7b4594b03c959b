//! How a tick begins: what ends by itself is dropped, what arrived is stated.

use std::cmp::Ordering;

use crate::arrivals::{Arrival, Says};
use crate::counts::Counted;
use crate::ids::{FactId, RelationId, StreamId, TermId};
use crate::instant::{FOREVER, Instant, NEVER};
use crate::kernel::Kernel;
use crate::maintain::{Strategy, TOGETHER};
use crate::operator::Steps;
use crate::plan::UNREAD;
use crate::relation::Relation;

/// Entries of buckets that may be stale before they are swept, beyond one a fact.
const STALE: usize = 4096;

impl Kernel {
    /// Drop the facts that reached their `until`, the statements that left the window, or all.
    pub(crate) fn drop_what_ends(&mut self, tick: Instant, anew: bool) {
        if anew {
            return self.forget_derived(tick);
        }
        for facts in self.endings.take(tick) {
            for some in facts.chunks(TOGETHER) {
                self.warm(some, Relation::warm_rows);
                for fact in some {
                    match self.settings.strategy {
                        Strategy::Expiry => self.expire(*fact, tick),
                        _ => self.lapse(*fact, tick),
                    }
                }
            }
        }
        self.sweep_endings();
    }

    fn expire(&mut self, fact: FactId, tick: Instant) {
        let relation = &mut self.relations[fact.relation.index()];
        let until = relation.until(fact.row);
        if until == NEVER {
            return;
        }
        if until > tick {
            // Renewed since: its new bucket has it, unless the tick fell beside the grid.
            if self.settings.grid.bucket(until) == self.settings.grid.bucket(tick) {
                self.endings.push(until, fact);
            }
            return;
        }
        relation.unlink(fact.row);
        let is_stated = relation.stated(fact.row) != NEVER;
        self.end(fact);
        if is_stated {
            self.set_stated(fact, NEVER);
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

    /// State what arrived for this tick.
    pub(crate) fn admit(&mut self, tick: Instant, anew: bool) {
        let mut touched: Vec<(FactId, Instant)> = Vec::new();
        let mut terms_done: Vec<TermId> = Vec::new();
        for batch in self.arrivals.take(tick) {
            let mut from = 0;
            let mut due: Vec<(Arrival, &[TermId])> = Vec::with_capacity(batch.arrivals.len());
            for arrival in &batch.arrivals {
                let arity = self.relations[arrival.relation.index()].arity();
                let terms = &batch.terms[from..from + arity];
                from += arity;
                if arrival.at <= tick {
                    due.push((*arrival, terms));
                } else {
                    self.arrivals.batch(arrival.at).push(*arrival, terms);
                }
            }
            self.reserve(&due);
            if due.iter().any(|(arrival, _)| !matches!(arrival.says, Says::HoldsUntil(_))) {
                due.sort_by(|left, right| self.in_order(left, right));
            }
            for some in due.chunks(TOGETHER) {
                for (arrival, terms) in some {
                    let relation = &self.relations[arrival.relation.index()];
                    if relation.is_large() {
                        std::hint::black_box(relation.find(*terms));
                    }
                }
                for (arrival, terms) in some {
                    self.totals.stated += 1;
                    if !self.take_in(*arrival, terms, tick, &mut touched) {
                        terms_done.extend_from_slice(terms);
                    }
                }
            }
        }
        self.renew_sessions(tick, &mut touched);
        for (fact, before) in touched.into_iter().filter(|_| !anew) {
            let relation = &self.relations[fact.relation.index()];
            let (stated, until) = (relation.stated(fact.row), relation.until(fact.row));
            if stated > tick {
                self.offer_statement(fact, stated);
            }
            if stated < before && before >= until {
                self.suspect_later(fact);
            }
        }
        // Only now: a term released before its last statement would be idle for nothing.
        terms_done.into_iter().for_each(|term| self.dictionary.release(term));
    }

    /// Make room in relations that are empty for what is due.
    fn reserve(&mut self, due: &[(Arrival, &[TermId])]) {
        let mut facts = vec![0; self.relations.len()];
        due.iter().for_each(|(arrival, _)| facts[arrival.relation.index()] += 1);
        for (relation, facts) in self.relations.iter_mut().zip(facts) {
            if relation.expected() == 0 {
                relation.reserve(facts);
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

    /// By instant, statements before retractions; in count windows then by relation and texts, so
    /// that the order of arrival does not matter.
    fn in_order(&self, left: &(Arrival, &[TermId]), right: &(Arrival, &[TermId])) -> Ordering {
        let rank = |arrival: &Arrival| (arrival.at, arrival.says == Says::Retracted);
        let by_time = rank(&left.0).cmp(&rank(&right.0));
        let name = |arrival: &Arrival| &self.program.relations[arrival.relation.index()].name;
        let texts = |terms: &[TermId]| -> Vec<&str> {
            terms.iter().map(|term| self.dictionary.text(*term)).collect()
        };
        by_time
            .then_with(|| name(&left.0).cmp(name(&right.0)))
            .then_with(|| texts(left.1).cmp(&texts(right.1)))
    }

    /// Take in an arrival. Returns whether its uses of its terms passed on to a statement.
    fn take_in(
        &mut self,
        arrival: Arrival,
        terms: &[TermId],
        tick: Instant,
        touched: &mut Vec<(FactId, Instant)>,
    ) -> bool {
        match arrival.says {
            Says::HoldsUntil(until) if until <= tick => {}
            Says::HoldsUntil(until) => {
                let fact = self.row_for(arrival.relation, terms);
                self.touch(fact, touched);
                match self.counted.get_mut(&fact) {
                    Some(counted) => counted.otherwise = counted.otherwise.max(until),
                    None => return self.state(fact, until),
                }
            }
            Says::Continues(stream) => {
                let fact = self.row_for(arrival.relation, terms);
                if let Some(window) = &mut self.session_windows[stream.index()] {
                    window.enter(arrival.at, fact, terms);
                }
            }
            Says::Counts(stream) => {
                let fact = self.row_for(arrival.relation, terms);
                self.count_in(stream, (arrival.at, tick), fact, terms, touched);
            }
            Says::Retracted => {
                let row = self.relations[arrival.relation.index()].find(terms);
                let Some(row) = row else { return false };
                let fact = FactId { relation: arrival.relation, row };
                self.touch(fact, touched);
                if self.counted.remove(&fact).is_some() {
                    for window in self.count_windows.iter_mut().flatten() {
                        window.take_out(fact, terms);
                    }
                }
                for window in self.session_windows.iter_mut().flatten() {
                    window.take_out(fact, terms);
                }
                self.set_stated(fact, NEVER);
            }
            Says::HoldsExactly(until) if until <= tick => {
                if let Some(row) = self.relations[arrival.relation.index()].find(terms) {
                    let fact = FactId { relation: arrival.relation, row };
                    self.touch(fact, touched);
                    self.set_stated(fact, NEVER);
                }
            }
            Says::HoldsExactly(until) => {
                let fact = self.row_for(arrival.relation, terms);
                self.touch(fact, touched);
                self.set_stated(fact, until);
                if self.settings.strategy == Strategy::Dred {
                    self.note_end(fact);
                }
            }
        }
        false
    }

    fn touch(&self, fact: FactId, touched: &mut Vec<(FactId, Instant)>) {
        touched.push((fact, self.relations[fact.relation.index()].stated(fact.row)));
    }

    /// State a fact. Returns whether the statement took over a use of each of its terms.
    fn state(&mut self, fact: FactId, until: Instant) -> bool {
        let relation = &mut self.relations[fact.relation.index()];
        let before = relation.stated(fact.row);
        if until > before {
            relation.set_stated(fact.row, until);
            if self.settings.strategy == Strategy::Dred {
                self.note_end(fact);
            }
        }
        before == NEVER && !self.makes_terms[fact.relation.index()]
    }

    /// State what is in the sessions that went on, until their new ends.
    fn renew_sessions(&mut self, tick: Instant, touched: &mut Vec<(FactId, Instant)>) {
        for position in 0..self.session_windows.len() {
            let Some(window) = &mut self.session_windows[position] else { continue };
            for (fact, until) in window.take_continued(tick) {
                self.touch(fact, touched);
                let stated = self.relations[fact.relation.index()].stated(fact.row);
                if let Some(counted) = self.counted.get_mut(&fact) {
                    counted.otherwise = counted.otherwise.max(until);
                } else if until > stated {
                    self.set_stated(fact, until);
                    if self.settings.strategy == Strategy::Dred {
                        self.note_end(fact);
                    }
                }
            }
        }
    }

    fn count_in(
        &mut self,
        stream: StreamId,
        (at, tick): (Instant, Instant),
        fact: FactId,
        terms: &[TermId],
        touched: &mut Vec<(FactId, Instant)>,
    ) {
        let Some(window) = &mut self.count_windows[stream.index()] else {
            return;
        };
        let (entered, pushed_out) = window.enter(at, fact, terms);
        if entered {
            self.touch(fact, touched);
            let otherwise = self.relations[fact.relation.index()].stated(fact.row);
            let fresh = Counted { entries: 0, otherwise };
            self.counted.entry(fact).or_insert(fresh).entries += 1;
            self.set_stated(fact, FOREVER);
        }
        let Some(old) = pushed_out else { return };
        self.touch(old, touched);
        let Some(counted) = self.counted.get_mut(&old) else {
            return;
        };
        counted.entries -= 1;
        if counted.entries == 0 {
            let otherwise = if counted.otherwise > tick { counted.otherwise } else { NEVER };
            self.counted.remove(&old);
            self.set_stated(old, otherwise);
            if self.settings.strategy == Strategy::Dred {
                self.note_end(old);
            }
        }
    }
}
