//! Conclusions: where a match is the last that a rule asks, each fact that it finds derives a head at once.
//!
//! Shape: the terms of the head that are known before, and for the others the columns of the fact that they are taken from.
//! Invariant: the fact's columns and the head's are packed, so no slot needs to be filled in between.

use crate::ids::{RelationId, RuleId, Slot, TermId};
use crate::key::Packed;
use crate::plan::{Operand, Template};

/// What a fact that is matched derives.
#[derive(Debug)]
pub struct Conclusion {
    /// The rule that says so.
    pub rule: RuleId,
    /// The relation of the head.
    pub relation: RelationId,
    known: Template,
    /// Columns of the fact, and the columns of the head that they go to.
    taken: Vec<(usize, usize)>,
}

impl Conclusion {
    /// Of a match that binds some columns, and a head; none if they do not fit.
    pub fn new(
        binds: &[(usize, Slot)],
        (rule, relation, head): (RuleId, RelationId, &Template),
    ) -> Option<Self> {
        let arity = head.operands.len();
        let mut taken = Vec::new();
        let mut known = Vec::new();
        for (column, operand) in head.operands.iter().enumerate() {
            let bound = |(_, slot): &&(usize, Slot)| *operand == Operand::Slot(*slot);
            match binds.iter().find(bound) {
                Some((from, _)) => taken.push((*from, column)),
                None => known.push((column, *operand)),
            }
        }
        let fits =
            arity <= Packed::COLUMNS && taken.iter().all(|(from, _)| *from < Packed::COLUMNS);
        fits.then(|| Self { rule, relation, known: Template::new(known, arity), taken })
    }

    /// The head as far as it is known before the match.
    #[inline]
    pub fn begin(&self, slots: &[TermId]) -> Packed {
        self.known.packed(slots).unwrap_or_default()
    }

    /// The head that a fact with these first terms derives.
    #[inline]
    pub fn end(&self, begun: Packed, fact: Packed) -> Packed {
        let put = |head: Packed, (from, to): &(usize, usize)| head.with(*to, fact.term(*from));
        self.taken.iter().fold(begun, put)
    }
}
