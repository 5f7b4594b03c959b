//! Adopting: a kernel of another program takes over what was stated to this one.
//!
//! Relations are matched by name and arity; what the new program does not know is left behind, and
//! so is what operators state. Conclusions are not taken over: the next tick derives them, and that
//! tick may be the one the other kernel evaluated last. If the windows are longer, all by the same
//! span, so are the lifetimes of what was stated.

use hashbrown::HashSet;

use crate::arrivals::{Arrival, Says};
use crate::counts::Counted;
use crate::ids::{FactId, RelationId, TermId};
use crate::instant::{FOREVER, Instant, NEVER};
use crate::kernel::Kernel;
use crate::sessions::Session;

/// What each term of the other kernel is called here, as far as it is known.
#[derive(Default)]
struct Names(Vec<Option<TermId>>);

impl Names {
    fn of(&mut self, kernel: &mut Kernel, other: &Kernel, term: TermId) -> TermId {
        if term.index() >= self.0.len() {
            self.0.resize(term.index() + 1, None);
        }
        let known = &mut self.0[term.index()];
        *known.get_or_insert_with(|| kernel.dictionary.intern(other.dictionary.text(term)))
    }
}

impl Kernel {
    /// Take over the statements and arrivals of another kernel with the same windows, or with
    /// windows that are shorter by `span`. The kernel must be fresh.
    pub fn adopt(&mut self, other: &Self, span: i64) {
        self.dictionary.reserve(other.dictionary.len());
        let longer = |until: Instant| if until == FOREVER { until } else { until.plus(span) };
        let mut names = Names::default();
        let relations: Vec<Option<RelationId>> = (0..other.relations.len())
            .map(|position| self.counterpart(other, RelationId::at(position)))
            .collect();
        for (position, relation) in other.relations.iter().enumerate() {
            let Some(now) = relations[position] else { continue };
            for row in relation.rows() {
                let fact = FactId { relation: RelationId::at(position), row };
                let stated = other
                    .counted
                    .get(&fact)
                    .map_or(relation.stated(row), |counted| counted.otherwise);
                if stated != NEVER {
                    let fact = self.counterpart_fact(other, now, fact, &mut names);
                    self.set_stated(fact, longer(stated));
                }
            }
        }
        self.adopt_counts(other, &relations, &mut names);
        self.adopt_sessions(other, &relations, &mut names);
        // No tick changed these rows.
        self.changes.clear();
        let mut terms_here: Vec<TermId> = Vec::new();
        for batch in other.arrivals.batches() {
            for (arrival, terms) in batch.each(|relation| other.relations[relation.index()].arity())
            {
                let Some(relation) = relations[arrival.relation.index()] else { continue };
                terms_here.clear();
                terms_here.extend(terms.iter().map(|term| names.of(self, other, *term)));
                let says = match arrival.says {
                    Says::HoldsUntil(until) => Says::HoldsUntil(longer(until)),
                    Says::HoldsExactly(until) => Says::HoldsExactly(longer(until)),
                    says => says,
                };
                self.enqueue(Arrival { relation, says, ..arrival }, &terms_here);
            }
        }
    }

    fn adopt_counts(&mut self, other: &Self, relations: &[Option<RelationId>], names: &mut Names) {
        for (position, window) in other.count_windows.iter().enumerate() {
            let entries = window.iter().flat_map(|window| window.groups.values().flatten());
            let mut entries: Vec<_> = entries.copied().collect();
            entries.sort_by_key(|(at, _)| *at);
            for (at, fact) in entries {
                let Some(now) = relations[fact.relation.index()] else { continue };
                let fact = self.counterpart_fact(other, now, fact, names);
                let terms = self.terms_of(fact);
                let otherwise = self.relations[now.index()].stated(fact.row);
                let fresh = Counted { entries: 0, otherwise };
                if let Some(window) = &mut self.count_windows[position] {
                    window.enter(at, fact, &terms);
                    self.counted.entry(fact).or_insert(fresh).entries += 1;
                    self.set_stated(fact, FOREVER);
                }
            }
        }
    }

    fn adopt_sessions(
        &mut self,
        other: &Self,
        relations: &[Option<RelationId>],
        names: &mut Names,
    ) {
        for (position, window) in other.session_windows.iter().enumerate() {
            for session in window.iter().flat_map(|window| window.going_on(other.tick)) {
                let known = |fact: &FactId| Some((relations[fact.relation.index()]?, *fact));
                let facts: HashSet<FactId> = session
                    .facts
                    .iter()
                    .filter_map(known)
                    .map(|(now, fact)| self.counterpart_fact(other, now, fact, names))
                    .collect();
                let Some(terms) = facts.iter().next().map(|fact| self.terms_of(*fact)) else {
                    continue;
                };
                if let Some(window) = &mut self.session_windows[position] {
                    window.resume(Session::of(session.latest, facts), &terms);
                }
            }
        }
    }

    fn counterpart(&self, other: &Self, relation: RelationId) -> Option<RelationId> {
        let declared = &other.program.relations[relation.index()];
        let position = self.program.relations.iter().position(|each| each == declared)?;
        let found = RelationId::at(position);
        let stated_by_operator = |kernel: &Self, id| {
            kernel.program.operators.iter().any(|operator| operator.output() == id)
        };
        let by_operator = stated_by_operator(self, found) || stated_by_operator(other, relation);
        (!by_operator).then_some(found)
    }

    fn counterpart_fact(
        &mut self,
        other: &Self,
        relation: RelationId,
        fact: FactId,
        names: &mut Names,
    ) -> FactId {
        let terms: Vec<TermId> = other.relations[fact.relation.index()]
            .terms(fact.row)
            .map(|term| names.of(self, other, term))
            .collect();
        self.row_for(relation, &terms[..])
    }
}
