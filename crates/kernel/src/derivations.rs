//! Derivations on their way from the walks that find them to the heads that they are offered to.
//!
//! Shape: flat; terms that cannot be packed stand aside, one head after the other. Some that were offered not long ago are
//! remembered, so that what rules find again and again is not offered again.

use crate::ids::{RelationId, RuleId, TermId};
use crate::instant::{Instant, NEVER};
use crate::key::{Key, Packed};

/// A rule derived a fact of a relation.
#[derive(Clone, Copy)]
pub(crate) struct Derivation {
    pub(crate) until: Instant,
    /// Terms that cannot be packed are aside: where they begin, and how many they are.
    terms: Packed,
    pub(crate) rule: RuleId,
    pub(crate) relation: RelationId,
}

/// Derivations that wait to be offered.
#[derive(Default)]
pub(crate) struct Waiting {
    pub(crate) found: Vec<Derivation>,
    aside: Vec<TermId>,
}

impl Waiting {
    #[cold]
    fn put_aside(&mut self, terms: &[TermId]) -> Packed {
        let place = Packed::of([self.aside.len() as u32, terms.len() as u32, 0, 0]);
        self.aside.extend_from_slice(terms);
        place
    }

    /// The terms of a derivation's head, whose relation has so many columns.
    #[inline]
    pub(crate) fn terms(&self, derivation: &Derivation, arity: usize) -> Key<'_> {
        if arity <= Packed::COLUMNS {
            return Key::Packed(derivation.terms);
        }
        let [from, count, ..] = derivation.terms.words();
        Key::Terms(&self.aside[from as usize..][..count as usize])
    }

    /// The terms of the head of the derivation that was just taken from the end; those that are aside come into `wide`.
    #[inline(always)]
    pub(crate) fn take_terms<'t>(
        &mut self,
        last: &Derivation,
        arity: usize,
        wide: &'t mut Vec<TermId>,
    ) -> Key<'t> {
        if arity > Packed::COLUMNS {
            self.take_from_aside(last, wide);
            return Key::Terms(wide);
        }
        Key::Packed(last.terms)
    }

    #[cold]
    fn take_from_aside(&mut self, last: &Derivation, wide: &mut Vec<TermId>) {
        wide.clear();
        wide.extend(self.aside.drain(last.terms.words()[0] as usize..));
    }

    fn clear(&mut self) {
        self.found.clear();
        self.aside.clear();
    }
}

/// Derivations that walks found, flat.
#[derive(Default)]
pub(crate) struct Derivations {
    pub(crate) waiting: Waiting,
    /// Some that were offered since the stratum began, filed by their hashes.
    recent: Vec<Recent>,
    stratum: u32,
    /// Whether what was offered stays offered, so that it need not be again.
    remembers: bool,
    worth: Worth,
    /// How many of these were found again.
    pub(crate) repeated: u64,
}

/// A derivation that was offered to its head not long ago.
#[derive(Clone, Copy)]
struct Recent {
    until: Instant,
    terms: Packed,
    relation: RelationId,
    stratum: u32,
}

/// Whether remembering pays: how often it was asked and how often something was found again, and for how
/// many strata nobody asks, because that was seldom.
#[derive(Default)]
struct Worth {
    asked: u64,
    again: u64,
    rests: u32,
}

impl Worth {
    /// Whether to remember in the next stratum.
    fn is_given(&mut self) -> bool {
        if self.asked >= ENOUGH {
            let pays = SELDOM * self.again >= self.asked;
            *self = Self { rests: if pays { 0 } else { RESTS }, ..Self::default() };
        }
        let pays = self.rests == 0;
        self.rests = self.rests.saturating_sub(1);
        pays
    }
}

/// After so many questions we know whether remembering pays.
const ENOUGH: u64 = 1 << 10;
/// One in so many is seldom.
const SELDOM: u64 = 16;
/// For so many strata nobody asks then.
const RESTS: u32 = 15;

/// About this many are remembered.
const RECENT: usize = 1 << 9;

impl Derivations {
    #[inline(always)]
    pub(crate) fn push(
        &mut self,
        rule: RuleId,
        relation: RelationId,
        terms: Key<'_>,
        until: Instant,
    ) {
        let terms = match terms {
            Key::Packed(packed) => packed,
            Key::Terms(terms) => self.waiting.put_aside(terms),
        };
        self.waiting.found.push(Derivation { until, terms, rule, relation });
    }

    /// How many wait.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.waiting.found.len()
    }

    /// As `push`, unless it says nothing new: rules that match single facts, such as one that says
    /// of each predicate that it is one, find the same few heads again and again.
    #[inline(always)]
    pub(crate) fn push_new(
        &mut self,
        rule: RuleId,
        relation: RelationId,
        terms: Key<'_>,
        until: Instant,
    ) {
        let is_known = match terms {
            Key::Packed(terms) if self.remembers => self.knows(relation, terms, until),
            _ => false,
        };
        if !is_known {
            self.push(rule, relation, terms, until);
        }
    }

    /// Whether a derivation was found not long ago. If not, it is remembered.
    #[inline(never)]
    fn knows(&mut self, relation: RelationId, terms: Packed, until: Instant) -> bool {
        self.worth.asked += 1;
        let last = &mut self.recent[terms.hash() as usize % RECENT];
        if last.stratum == self.stratum
            && last.until >= until
            && last.relation == relation
            && last.terms == terms
        {
            self.repeated += 1;
            self.worth.again += 1;
            return true;
        }
        *last = Recent { stratum: self.stratum, until, relation, terms };
        false
    }

    /// From now on, until `forget`, what was offered stays offered.
    pub(crate) fn remember(&mut self) {
        if !self.worth.is_given() {
            return self.forget();
        }
        self.stratum = self.stratum.wrapping_add(1);
        if self.stratum == 0 {
            self.recent.clear();
        }
        self.remembers = true;
        let nothing = Recent {
            stratum: 0,
            until: NEVER,
            relation: RelationId::at(0),
            terms: Packed::default(),
        };
        self.recent.resize(RECENT, nothing);
    }

    /// What was offered may be taken back.
    pub(crate) fn forget(&mut self) {
        self.remembers = false;
    }

    /// Take those that wait; `clear` is given them back.
    #[inline]
    pub(crate) fn take(&mut self) -> Waiting {
        std::mem::take(&mut self.waiting)
    }

    /// None wait any more. Their memory is used again.
    #[inline]
    pub(crate) fn clear(&mut self, waiting: Waiting) {
        self.waiting = waiting;
        self.waiting.clear();
    }
}
