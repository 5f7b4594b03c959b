//! Steps: of the pairs of an equivalence, those that suffice to reach all others.
//!
//! Rules conclude *steps* from the *pairs* of a relation that is symmetric and transitive, like
//! owl:sameAs, and other rules follow equality step by step. A pair whose ends are connected by steps
//! that last as long adds nothing, so it does not pass. Pairs are settled longest lifetime first, so
//! what passes in a tick is a maximum spanning forest (Kruskal), and a clique of n terms has n - 1
//! steps in each direction instead of n * n. Later ticks may add steps that last longer.
//!
//! Data shape: `steps` are the pairs that passed, with their lifetimes, in both orders; `paths` is a
//! forest that says until when two terms are connected by them, in logarithmic time.
//!
//! Invariant: the ends of a settled pair are connected by steps, settled or pending, that last at
//! least as long. What expires takes nothing along that has not expired. When steps are lowered, the
//! pairs that only they connected are looked at again.

use std::cmp::Reverse;

use hashbrown::HashMap;

use crate::ids::{FactId, RelationId, RowId, TermId};
use crate::instant::{Instant, NEVER};
use crate::kernel::Kernel;
use crate::relation::Relation;
use crate::rule::Spanned;

/// Terms that may be kept in `paths` though no step has them, beyond as many again.
const STALE: usize = 64;

/// Who is connected with whom, and until when.
///
/// Every term has at most one link, to a term of higher rank. Terms are connected until `t` if they
/// reach the same top along links that last until `t`. Ranks are as good as random, so the way is
/// short.
#[derive(Default)]
struct Paths(HashMap<TermId, (TermId, Instant)>);

impl Paths {
    fn top(&self, mut term: TermId, until: Instant) -> TermId {
        while let Some((above, lasts)) = self.0.get(&term)
            && *lasts >= until
        {
            term = *above;
        }
        term
    }

    fn connect(&self, one: TermId, other: TermId, until: Instant) -> bool {
        self.top(one, until) == self.top(other, until)
    }

    fn insert(&mut self, mut one: TermId, mut other: TermId, mut until: Instant) {
        loop {
            (one, other) = (self.top(one, until), self.top(other, until));
            if one == other {
                return;
            }
            if rank(one) > rank(other) {
                (one, other) = (other, one);
            }
            // What was above `one` for less long is connected with it through what is above it now.
            let Some((above, lasts)) = self.0.insert(one, (other, until)) else { return };
            (one, other, until) = (other, above, lasts);
        }
    }
}

/// A different number for every term, as good as random.
fn rank(term: TermId) -> u64 {
    const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;
    let mixed = u64::from(term.0).wrapping_mul(FACTOR);
    (mixed ^ (mixed >> 32)).wrapping_mul(FACTOR)
}

/// The steps of one relation of pairs.
pub(crate) struct Steps {
    spanned: Spanned,
    steps: HashMap<TermId, HashMap<TermId, Instant>>,
    paths: Paths,
}

/// A step that was lowered, and until when it lasted.
type Lowered = (TermId, TermId, Instant);

impl Steps {
    pub(crate) fn new(spanned: Spanned) -> Self {
        Self { spanned, steps: HashMap::new(), paths: Paths::default() }
    }

    pub(crate) fn relation(&self) -> RelationId {
        self.spanned.steps
    }

    /// Whether a derived step passes: it connects what was not connected as long, or it has passed.
    pub(crate) fn passes(&mut self, (one, other): (TermId, TermId), until: Instant) -> bool {
        let passed = self.steps.get(&one).and_then(|steps| steps.get(&other));
        if passed.is_some_and(|lasts| *lasts >= until) {
            return true;
        }
        if self.paths.connect(one, other, until) {
            return false;
        }
        self.note(one, other, until);
        true
    }

    fn note(&mut self, one: TermId, other: TermId, until: Instant) {
        for (from, to) in [(one, other), (other, one)] {
            let lasts = self.steps.entry(from).or_default().entry(to).or_insert(until);
            *lasts = until.max(*lasts);
        }
        self.paths.insert(one, other, until);
    }

    pub(crate) fn clear(&mut self) {
        self.steps.clear();
        self.paths.0.clear();
    }

    /// A step ended, in its time or before.
    fn remove(&mut self, one: TermId, other: TermId) {
        for (from, to) in [(one, other), (other, one)] {
            if let Some(steps) = self.steps.get_mut(&from) {
                steps.remove(&to);
                if steps.is_empty() {
                    self.steps.remove(&from);
                }
            }
        }
        if self.paths.0.len() > 2 * self.steps.len() + STALE {
            let terms: Vec<TermId> = self.paths.0.keys().copied().collect();
            self.find_paths_again(&terms);
        }
    }

    fn find_paths_again(&mut self, terms: &[TermId]) {
        for term in terms {
            self.paths.0.remove(term);
        }
        for one in terms {
            for (other, until) in self.steps.get(one).into_iter().flatten() {
                self.paths.insert(*one, *other, *until);
            }
        }
    }

    /// The pairs of terms that some lowered steps, which were removed, may have been needed for.
    fn cut(&mut self, lowered: &[Lowered]) -> Vec<(TermId, TermId)> {
        let members = self.members(lowered);
        let places: HashMap<TermId, usize> =
            members.iter().enumerate().map(|(place, term)| (*term, place)).collect();
        let left = members.iter().flat_map(|one| {
            self.steps.get(one).into_iter().flatten().map(|(other, until)| (*one, *other, *until))
        });
        let left = left.map(|step| (step, false));
        let mut steps: Vec<(Lowered, bool)> =
            left.chain(lowered.iter().map(|step| (*step, true))).collect();
        steps.sort_unstable_by_key(|((_, _, until), gone)| (Reverse(*until), *gone));
        // As it was, and without what is gone of the forest that spanned it.
        let (mut before, mut now) = (Groups::of(members.len()), Groups::of(members.len()));
        for ((one, other, _), gone) in steps {
            let (one, other) = (places[&one], places[&other]);
            if before.join(one, other) && !gone {
                now.join(one, other);
            }
        }
        self.find_paths_again(&members);
        crossing(&members, &mut before, &mut now)
    }

    /// All terms that were connected with the ends of some steps.
    fn members(&self, lowered: &[Lowered]) -> Vec<TermId> {
        let mut found: HashMap<TermId, ()> = HashMap::new();
        let mut members: Vec<TermId> = Vec::new();
        for (one, other, _) in lowered {
            for end in [*one, *other] {
                let mut waiting = vec![end];
                while let Some(term) = waiting.pop() {
                    if found.insert(term, ()).is_none() {
                        members.push(term);
                        waiting.extend(self.steps.get(&term).into_iter().flat_map(HashMap::keys));
                    }
                }
            }
        }
        members
    }
}

/// The pairs that were in one group before and are not now, but for those within the largest part.
fn crossing(members: &[TermId], before: &mut Groups, now: &mut Groups) -> Vec<(TermId, TermId)> {
    let mut groups: HashMap<usize, HashMap<usize, Vec<TermId>>> = HashMap::new();
    for (place, term) in members.iter().enumerate() {
        let parts = groups.entry(before.top(place)).or_default();
        parts.entry(now.top(place)).or_default().push(*term);
    }
    let mut pairs = Vec::new();
    for parts in groups.into_values() {
        let mut parts: Vec<Vec<TermId>> = parts.into_values().collect();
        parts.sort_unstable_by_key(|part| Reverse(part.len()));
        for (number, part) in parts.iter().enumerate() {
            let others = parts[..number].iter().flatten();
            pairs.extend(part.iter().flat_map(|one| others.clone().map(|other| (*one, *other))));
        }
    }
    pairs
}

/// Groups of numbers that can be joined.
struct Groups(Vec<usize>);

impl Groups {
    fn of(count: usize) -> Self {
        Self((0..count).collect())
    }

    fn top(&mut self, mut member: usize) -> usize {
        while self.0[member] != member {
            self.0[member] = self.0[self.0[member]];
            member = self.0[member];
        }
        member
    }

    fn join(&mut self, one: usize, other: usize) -> bool {
        let (one, other) = (self.top(one), self.top(other));
        self.0[one] = other;
        one != other
    }
}

/// The first and the last term of a pair; those between say what it is a pair of.
fn ends(terms: &[TermId]) -> (TermId, TermId) {
    (terms[0], terms[terms.len() - 1])
}

impl Steps {
    /// Forget a step that ended, if that fact is one.
    pub(crate) fn forget(&mut self, id: RelationId, relation: &Relation, row: RowId) {
        if id == self.relation() {
            let terms: Vec<TermId> = relation.terms(row).collect();
            let (one, other) = ends(&terms);
            self.remove(one, other);
        }
    }
}

impl Kernel {
    /// Some facts were lowered. If there are steps among them, look again at the pairs that only
    /// they connected, when their lifetime's turn comes.
    pub(crate) fn step_elsewhere(&mut self, lowered: &[FactId]) {
        let Some(steps) = &mut self.steps else { return };
        let rows = &self.relations[steps.spanned.steps.index()];
        let gone = lowered.iter().filter(|fact| fact.relation == steps.spanned.steps);
        let gone: Vec<(Vec<TermId>, FactId)> =
            gone.map(|fact| (rows.terms(fact.row).collect(), *fact)).collect();
        let Some((like, _)) = gone.first() else { return };
        let mut terms = like.clone();
        let cut = gone.iter().map(|(terms, fact)| {
            let (one, other) = ends(terms);
            (one, other, self.prior[fact])
        });
        let pairs = steps.cut(&cut.collect::<Vec<_>>());
        for (terms, fact) in &gone {
            let pending = rows.pending(fact.row);
            if pending != NEVER {
                let (one, other) = ends(terms);
                steps.note(one, other, pending);
            }
        }
        let relation = steps.spanned.pairs;
        let rows = &self.relations[relation.index()];
        let last = terms.len() - 1;
        for (one, other) in pairs {
            for (from, to) in [(one, other), (other, one)] {
                (terms[0], terms[last]) = (from, to);
                let Some(row) = rows.find(&terms[..]) else { continue };
                if rows.until(row) != NEVER {
                    self.agenda.push(rows.until(row), FactId { relation, row });
                }
            }
        }
    }

    /// Find out again which steps there are, after a snapshot was loaded.
    pub(crate) fn restore_steps(&mut self) {
        let Some(steps) = &mut self.steps else { return };
        let rows = &self.relations[steps.relation().index()];
        for row in rows.live() {
            let terms: Vec<TermId> = rows.terms(row).collect();
            let (one, other) = ends(&terms);
            steps.note(one, other, rows.until(row));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers as good as random.
    struct Dice(u64);

    impl Dice {
        fn roll(&mut self, sides: u64) -> u64 {
            self.0 = self
                .0
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) % sides
        }
    }

    fn widest(edges: &[(u32, u32, i64)], terms: usize, until: i64) -> Groups {
        let mut groups = Groups::of(terms);
        for (one, other, lasts) in edges {
            if *lasts >= until {
                groups.join(*one as usize, *other as usize);
            }
        }
        groups
    }

    #[test]
    fn paths_are_the_widest_in_whatever_order_edges_come() {
        let mut dice = Dice(7);
        for _ in 0..200 {
            let (mut paths, mut edges) = (Paths::default(), Vec::new());
            for _ in 0..30 {
                let (one, other) = (dice.roll(12) as u32, dice.roll(12) as u32);
                let lasts = dice.roll(8) as i64;
                edges.push((one, other, lasts));
                paths.insert(TermId(one), TermId(other), Instant(lasts));
                for until in 0..8 {
                    let mut expected = widest(&edges, 12, until);
                    for (one, other) in
                        (0..12).flat_map(|one| (0..one).map(move |other| (one, other)))
                    {
                        let found = paths.connect(TermId(one), TermId(other), Instant(until));
                        let same = expected.top(one as usize) == expected.top(other as usize);
                        assert_eq!(found, same);
                    }
                }
            }
        }
    }

    #[test]
    fn a_clique_passes_one_step_less_than_it_has_terms() {
        let spanned = Spanned { pairs: RelationId(0), steps: RelationId(1) };
        let mut steps = Steps::new(spanned);
        let all = (0..20).flat_map(|one| (0..20).map(move |other| (TermId(one), TermId(other))));
        let passed =
            all.filter(|(one, other)| one < other && steps.passes((*one, *other), Instant(5)));
        assert_eq!(passed.count(), 19);
    }
}
