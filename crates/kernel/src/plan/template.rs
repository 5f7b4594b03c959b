//! Templates: terms that a walk fills in, constants and slots, as the key of a lookup or the terms of a
//! head.

use crate::ids::{Slot, TermId};
use crate::key::{Key, Packed};
use crate::plan::{Weave, Woven};

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
    variables: Vec<Variable>,
}

/// A slot whose term comes into a column: times these two it is where it belongs in a packed tuple.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Variable {
    slot: Slot,
    factors: Packed,
}

impl PackedTemplate {
    #[inline]
    fn fill(&self, slots: &[TermId]) -> Packed {
        let mut filled = self.constants;
        for Variable { slot, factors } in &self.variables {
            filled = filled.with_times(*factors, slots[slot.index()]);
        }
        filled
    }
}

impl Template {
    /// Operands by column, for a relation of some arity.
    pub fn new(by_column: Vec<(usize, Operand)>, arity: usize) -> Self {
        let variables = Vec::with_capacity(by_column.len());
        let mut packed = PackedTemplate { constants: Packed::default(), variables };
        for (column, operand) in &by_column {
            match operand {
                Operand::Slot(_) if *column >= Packed::COLUMNS => {}
                Operand::Slot(slot) => {
                    let factors = Packed::default().with(*column, TermId(1));
                    packed.variables.push(Variable { slot: *slot, factors });
                }
                Operand::Term(term) => packed.constants = packed.constants.with(*column, *term),
            }
        }
        let operands = by_column.into_iter().map(|(_, operand)| operand).collect();
        Self { operands, packed: (arity <= Packed::COLUMNS).then_some(packed) }
    }

    /// What the slots hold filled in, if the relation's keys are packed.
    #[inline(always)]
    pub fn packed(&self, slots: &[TermId]) -> Option<Packed> {
        self.packed.as_ref().map(|packed| packed.fill(slots))
    }

    /// The same, filled in from a packed tuple, whose columns here fill the first slots; none if other slots are
    /// asked for, or some column is not packed.
    pub fn woven(&self, columns: &[usize]) -> Option<Woven> {
        let PackedTemplate { constants, variables } = self.packed.as_ref()?;
        let moves = variables.iter().map(|Variable { slot, factors }| {
            let to = factors.words().iter().position(|factor| *factor == 1)?;
            Some((*columns.get(slot.index())?, to))
        });
        let columns = Weave::new(moves.collect::<Option<Vec<_>>>()?)?;
        Some(Woven { constants: *constants, columns })
    }

    /// Fill in what the slots hold.
    #[inline(always)]
    pub fn fill<R>(&self, slots: &[TermId], then: impl FnOnce(Key<'_>) -> R) -> R {
        match self.packed(slots) {
            Some(packed) => then(Key::Packed(packed)),
            None => self.fill_terms(slots, then),
        }
    }

    /// As `fill`, for a relation whose keys are not packed.
    #[cold]
    #[inline(never)]
    pub fn fill_terms<R>(&self, slots: &[TermId], then: impl FnOnce(Key<'_>) -> R) -> R {
        let terms = self.operands.iter().map(|operand| operand.resolve(slots));
        then(Key::Terms(&terms.collect::<Vec<_>>()))
    }
}
