//! Derivations on their way from the walks that find them to the heads that they are offered to.
//!
//! Shape: flat; the terms of all heads, one after the other. Some that were offered not long ago are
//! remembered, so that what rules find again and again is not offered again.

use crate::hash::hash_terms;
use crate::ids::{RelationId, RuleId, TermId};
use crate::instant::{Instant, NEVER};

/// Derivations that walks found, flat.
pub(crate) struct Derivations {
    pub(crate) heads: Vec<(RuleId, RelationId, Instant)>,
    pub(crate) terms: Vec<TermId>,
    /// The longest lifetime among them.
    pub(crate) longest: Instant,
    /// Some that were offered since the stratum began, filed by their hashes.
    recent: Vec<Recent>,
    stratum: u64,
    /// Whether what was offered stays offered, so that it need not be again.
    remembers: bool,
    /// How many of these were found again.
    pub(crate) repeated: u64,
}

/// A derivation that was offered to its head not long ago.
#[derive(Clone, Copy)]
struct Recent {
    stratum: u64,
    until: Instant,
    relation: RelationId,
    terms: [TermId; REMEMBERED],
}

/// Heads up to this long are remembered, and about this many of them.
const REMEMBERED: usize = 3;
const RECENT: usize = 1 << 9;

impl Default for Derivations {
    fn default() -> Self {
        Self {
            heads: Vec::new(),
            terms: Vec::new(),
            longest: NEVER,
            recent: Vec::new(),
            stratum: 0,
            remembers: false,
            repeated: 0,
        }
    }
}

impl Derivations {
    pub(crate) fn push(
        &mut self,
        rule: RuleId,
        relation: RelationId,
        terms: &[TermId],
        until: Instant,
    ) {
        self.heads.push((rule, relation, until));
        self.terms.extend_from_slice(terms);
        self.longest = self.longest.max(until);
    }

    /// Whether none was found, not even again.
    pub(crate) fn is_empty(&self) -> bool {
        self.heads.is_empty() && self.repeated == 0
    }

    /// As `push`, unless it says nothing new: rules that match single facts, such as one that says
    /// of each predicate that it is one, find the same few heads again and again.
    pub(crate) fn push_new(
        &mut self,
        rule: RuleId,
        relation: RelationId,
        terms: &[TermId],
        until: Instant,
    ) {
        if self.remembers && terms.len() <= REMEMBERED {
            let place = hash_terms(terms.iter().copied()) as usize % RECENT;
            let last = &mut self.recent[place];
            if last.stratum == self.stratum
                && last.until >= until
                && last.relation == relation
                && last.terms[..terms.len()] == *terms
            {
                self.repeated += 1;
                return;
            }
            *last = Recent { stratum: self.stratum, until, relation, terms: last.terms };
            last.terms[..terms.len()].copy_from_slice(terms);
        }
        self.push(rule, relation, terms, until);
    }

    /// From now on, until `forget`, what was offered stays offered.
    pub(crate) fn remember(&mut self) {
        self.stratum += 1;
        self.remembers = true;
        let nothing = Recent {
            stratum: 0,
            until: NEVER,
            relation: RelationId::at(0),
            terms: [TermId(0); REMEMBERED],
        };
        self.recent.resize(RECENT, nothing);
    }

    /// What was offered may be taken back.
    pub(crate) fn forget(&mut self) {
        self.remembers = false;
    }

    pub(crate) fn clear(&mut self) {
        self.heads.clear();
        self.terms.clear();
        self.longest = NEVER;
    }
}
