//! Templates: terms that a walk fills in, constants and slots, as the key of a lookup or the terms of a
//! head.

use crate::ids::{Slot, TermId};
use crate::key::{Key, Packed};

/// A slot or a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    /// What the slot holds.
    Slot(Slot),
    /// A constant.
    Term(TermId),
}

impl Operand {
    /// The term that it stands for.
    #[inline]
    pub fn resolve(&self, slots: &[TermId]) -> TermId {
        match self {
            Self::Slot(slot) => slots[slot.index()],
            Self::Term(term) => *term,
        }
    }
}

/// The terms of some columns of a relation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    /// A term for each of the columns, in their order.
    pub operands: Vec<Operand>,
    /// The same, packed, if the relation's keys are.
    packed: Option<PackedTemplate>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct PackedTemplate {
    constants: Packed,
    variables: Vec<(usize, Slot)>,
}

impl PackedTemplate {
    #[inline]
    fn fill(&self, slots: &[TermId]) -> Packed {
        let mut filled = self.constants;
        for (column, slot) in &self.variables {
            filled = filled.with(*column, slots[slot.index()]);
        }
        filled
    }
}

impl Template {
    /// Operands by column, for a relation of some arity.
    pub fn new(by_column: Vec<(usize, Operand)>, arity: usize) -> Self {
        let mut packed = PackedTemplate { constants: Packed::default(), variables: Vec::new() };
        for (column, operand) in &by_column {
            match operand {
                Operand::Slot(slot) => packed.variables.push((*column, *slot)),
                Operand::Term(term) => packed.constants = packed.constants.with(*column, *term),
            }
        }
        let operands = by_column.into_iter().map(|(_, operand)| operand).collect();
        Self { operands, packed: (arity <= Packed::COLUMNS).then_some(packed) }
    }

    /// Fill in what the slots hold.
    #[inline]
    pub fn fill<R>(&self, slots: &[TermId], then: impl FnOnce(Key<'_>) -> R) -> R {
        match &self.packed {
            Some(packed) => then(Key::Packed(packed.fill(slots))),
            None => self.fill_terms(slots, then),
        }
    }

    #[cold]
    #[inline(never)]
    fn fill_terms<R>(&self, slots: &[TermId], then: impl FnOnce(Key<'_>) -> R) -> R {
        let terms = self.operands.iter().map(|operand| operand.resolve(slots));
        then(Key::Terms(&terms.collect::<Vec<_>>()))
    }
}
