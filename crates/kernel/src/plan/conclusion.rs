//! Conclusions: where a match is the last that a rule asks, each fact that it finds derives a head at once.
//!
//! Shape: the terms of the head that are known before, and for the others the columns of the fact that they are taken from.
//! A *direct* conclusion is one that follows from a fact at hand and one other: it also says where that is looked up.
//! Invariant: the columns of facts, keys and heads are packed, so no slot needs to be filled in between.

use crate::ids::{ConditionId, IndexId, RelationId, RuleId, Slot, TermId};
use crate::key::Packed;
use crate::plan::{Access, Node, Operand, Step, Template, Weave};
use crate::relation::{Hashing, Relation};

/// What a fact that is matched derives.
#[derive(Debug)]
pub struct Conclusion {
    /// The rule that says so.
    pub rule: RuleId,
    /// The relation of the head.
    pub relation: RelationId,
    known: Template,
    /// Columns of the fact go to columns of the head.
    taken: Weave,
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
        let taken = Weave::new(taken)?;
        let fits = arity <= Packed::COLUMNS;
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
        self.taken.put(fact, begun)
    }
}

/// A packed tuple made of constants and columns of another one.
#[derive(Debug)]
pub struct Woven {
    pub(super) constants: Packed,
    pub(super) columns: Weave,
}

impl Woven {
    /// The tuple made of another.
    #[inline(always)]
    pub fn of(&self, tuple: Packed) -> Packed {
        self.columns.put(tuple, self.constants)
    }

    /// As a key that is hashed so: the hash, but for a column of the other tuple that is to be added; none if more of
    /// it takes part.
    fn hashed(&self, Hashing { mixed, linear }: Hashing) -> Option<(u64, usize)> {
        let is_mixed = |column: &usize| mixed.term(*column) != TermId(0);
        let mut mixed_columns = (0..Packed::COLUMNS).filter(is_mixed);
        let are_constant = mixed_columns.all(|column| self.columns.source(column).is_none());
        let from = self.columns.source(linear)?;
        are_constant.then(|| (self.constants.masked(mixed).hash(), from))
    }
}

/// What follows from a fact at hand and one that is looked up.
#[derive(Debug)]
pub struct Direct {
    /// The condition of the other fact.
    pub condition: ConditionId,
    /// Where the other fact is.
    pub relation: RelationId,
    /// The index it is found by.
    pub index: IndexId,
    /// The key, of the fact at hand.
    pub key: Woven,
    /// Its hash, but for a column of the fact at hand that is to be added, if that is all.
    pub hashed: Option<(u64, usize)>,
    /// What of the head is known of the fact at hand.
    pub begun: Woven,
    /// The head.
    pub conclusion: Conclusion,
}

impl Direct {
    /// Of the first step after a fact whose columns fill the first slots; none if more is to be done.
    pub fn new(node: &Node, columns: &[usize], relations: &[Relation]) -> Option<Self> {
        let Step::Match(lookup, _) = &node.step else { return None };
        let Access::Index(index) = lookup.access else { return None };
        let conclusion = node.conclusion()?;
        let key = lookup.key.woven(columns)?;
        Some(Self {
            condition: lookup.condition,
            relation: lookup.relation,
            index,
            hashed: key.hashed(relations[lookup.relation.index()].hashing(index)),
            key,
            begun: conclusion.known.woven(columns)?,
            conclusion,
        })
    }
}
