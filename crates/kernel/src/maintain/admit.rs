//! Admission: what arrived is stated.
//!
//! Most ticks only hear of facts that hold until a known instant; these are stated and offered run by
//! run. Where something counts, goes on or is retracted the order matters: all is stated first, by instant, and
//! then each fact is offered what came out, or loses it.

use std::cmp::Ordering;

use crate::arrivals::{Arrival, Batch, Says};
use crate::counts::Counted;
use crate::ids::{FactId, RelationId, StreamId, TermId};
use crate::instant::{FOREVER, Instant, NEVER};
use crate::kernel::{Change, Kernel};
use crate::key::{Key, Packed};
use crate::maintain::{Strategy, TOGETHER};
use crate::plan::UNREAD;

impl Kernel {
    /// State what arrived for this tick.
    pub(crate) fn admit(&mut self, tick: Instant, anew: bool) {
        let batches = self.arrivals.take(tick);
        let is_plain = |(arrival, _): &(Arrival, usize)| {
            arrival.at <= tick && matches!(arrival.says, Says::HoldsUntil(_))
        };
        let mut terms_done = Vec::new();
        if batches.iter().all(|batch| batch.runs.iter().all(is_plain)) {
            for batch in &batches {
                self.admit_runs(batch, tick, anew, &mut terms_done);
            }
        } else {
            self.admit_in_order(&batches, tick, anew, &mut terms_done);
        }
        // Only now: a term released before its last statement would be idle for nothing.
        terms_done.into_iter().for_each(|term| self.dictionary.release(term));
    }

    /// State facts that hold until a known instant.
    fn admit_runs(
        &mut self,
        batch: &Batch,
        tick: Instant,
        anew: bool,
        terms_done: &mut Vec<TermId>,
    ) {
        let mut rest = &batch.terms[..];
        for (Arrival { relation, says, .. }, count) in &batch.runs {
            let (id, count) = (*relation, *count);
            let relation = &mut self.relations[id.index()];
            let arity = relation.arity();
            let (terms, later) = rest.split_at(count * arity);
            rest = later;
            self.totals.stated += count as u64;
            let Says::HoldsUntil(until) = *says else { continue };
            if until <= tick {
                terms_done.extend_from_slice(terms);
                continue;
            }
            if relation.expected() == 0 {
                relation.reserve(count);
            }
            let is_large = relation.is_large();
            if !anew && self.settles_at_once(id) {
                self.state_and_settle(id, terms, until, terms_done);
                continue;
            }
            for first in (0..count).step_by(TOGETHER) {
                let some = first..count.min(first + TOGETHER);
                let some = some.map(|fact| &terms[fact * arity..(fact + 1) * arity]);
                if is_large {
                    let relation = &self.relations[id.index()];
                    some.clone().for_each(|terms| relation.prefetch_fact(terms));
                }
                for terms in some {
                    if !self.state_and_offer(id, terms, until, anew) {
                        terms_done.extend_from_slice(terms);
                    }
                }
            }
        }
    }

    /// Whether nothing follows from facts of a relation, so that statements need no agenda.
    fn settles_at_once(&self, relation: RelationId) -> bool {
        self.relations[relation.index()].arity() > 0
            && self.settings.strategy == Strategy::Expiry
            && self.counted.is_empty()
            && !self.makes_terms[relation.index()]
            && !self.body.asks(relation)
    }

    /// State facts of a relation and make them hold, their terms one after the other.
    fn state_and_settle(
        &mut self,
        id: RelationId,
        terms: &[TermId],
        until: Instant,
        terms_done: &mut Vec<TermId>,
    ) {
        let known = self.changes.len();
        // Apart by arity, so that it need not be asked again and again.
        let mut state = Stating { kernel: self, id, until, terms_done };
        match state.kernel.relations[id.index()].arity() {
            1 => state.packed::<1>(terms),
            2 => state.packed::<2>(terms),
            3 => state.packed::<3>(terms),
            4 => state.packed::<4>(terms),
            arity => state.each(terms.chunks_exact(arity), Key::Terms),
        }
        let Self { changes, endings, .. } = self;
        if until != FOREVER {
            endings.extend(until, id, changes[known..].iter().map(|change| change.fact));
        }
    }

    /// State a fact and offer it the lifetime. Returns whether the statement took over a use of
    /// its terms.
    #[inline]
    fn state_and_offer(
        &mut self,
        relation: RelationId,
        terms: &[TermId],
        until: Instant,
        anew: bool,
    ) -> bool {
        let (fact, made) = self.row_or_made(relation, terms.into());
        if let Some(class) = made
            && !anew
            && class != UNREAD
            && self.counted.is_empty()
            && self.settings.strategy == Strategy::Expiry
        {
            self.relations[relation.index()].state_first(fact.row, until);
            self.agenda.push(until, fact);
            return !self.makes_terms[relation.index()];
        }
        let is_taken_over = self.take_in_until(fact, until);
        if !anew {
            self.offer_statement(fact, self.relations[relation.index()].stated(fact.row));
        }
        is_taken_over
    }

    /// State all that arrived by instant, and then see what came out for each fact.
    fn admit_in_order(
        &mut self,
        batches: &[Batch],
        tick: Instant,
        anew: bool,
        terms_done: &mut Vec<TermId>,
    ) {
        let mut touched: Vec<(FactId, Instant)> = Vec::new();
        let arities: Vec<usize> = self.relations.iter().map(|relation| relation.arity()).collect();
        for batch in batches {
            let mut due: Vec<(Arrival, &[TermId])> = Vec::with_capacity(batch.len());
            for (arrival, terms) in batch.each(|relation| arities[relation.index()]) {
                if arrival.at <= tick {
                    due.push((arrival, terms));
                } else {
                    self.arrivals.batch(arrival.at).push(arrival, terms);
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
                        relation.prefetch_fact(*terms);
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
                return self.take_in_until(fact, until);
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

    /// State a fact, which a count window may hold, too. Returns as `state`.
    fn take_in_until(&mut self, fact: FactId, until: Instant) -> bool {
        if self.counted.is_empty() {
            return self.state(fact, until);
        }
        match self.counted.get_mut(&fact) {
            Some(counted) => counted.otherwise = counted.otherwise.max(until),
            None => return self.state(fact, until),
        }
        false
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

/// Facts of a relation that are stated until an instant, and made to hold.
struct Stating<'k> {
    kernel: &'k mut Kernel,
    id: RelationId,
    until: Instant,
    terms_done: &'k mut Vec<TermId>,
}

impl Stating<'_> {
    /// State facts of so many terms.
    fn packed<const ARITY: usize>(&mut self, terms: &[TermId]) {
        self.each(terms.as_chunks::<ARITY>().0.iter(), |one| Key::Packed(Packed::from(&one[..])));
    }

    /// State facts, whose keys are made of their terms.
    #[inline(never)]
    fn each<'t, Terms: AsRef<[TermId]> + ?Sized + 't>(
        &mut self,
        facts: impl ExactSizeIterator<Item = &'t Terms> + Clone,
        key: impl Fn(&'t Terms) -> Key<'t>,
    ) {
        let Self { id, until, .. } = *self;
        let Kernel { relations, changes, endings, order, .. } = &mut *self.kernel;
        let relation = &mut relations[id.index()];
        let is_large = relation.is_large();
        changes.reserve(facts.len());
        let mut ahead = facts.clone();
        let mut settled = *order;
        for (number, terms) in facts.enumerate() {
            if is_large && number % TOGETHER == 0 {
                ahead.by_ref().take(TOGETHER).for_each(|terms| relation.prefetch_fact(key(terms)));
            }
            settled += 1;
            let stated = relation.state(key(terms), until, settled);
            let fact = FactId { relation: id, row: stated.row };
            if !stated.is_told {
                changes.push(Change { fact, before: stated.before });
            } else if stated.before < until && until != FOREVER {
                endings.push(until, fact);
            }
            if !stated.is_first {
                self.terms_done.extend_from_slice(terms.as_ref());
            }
        }
        *order = settled;
    }
}
