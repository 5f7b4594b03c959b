//! Join trees: the joins that one condition triggers, equal beginnings merged.
//!
//! Shape: a node is one step, then the steps that may follow it; leaves derive heads. Slots are
//! numbered in the order of binding, so equal steps of different rules are equal values.
//!
//! ```text
//! triple(?0, <isIn>, ?1)                      the trigger
//! └ triple(?1, <isIn>, ?2) by columns 0, 1
//!   └ derive triple(?0, <isIn>, ?2)
//! ```

use crate::guard::Builtin;
use crate::ids::{ConditionId, IndexId, RelationId, RuleId, Slot, TermId};

/// A slot or a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    /// What the slot holds.
    Slot(Slot),
    /// A constant.
    Term(TermId),
}

/// How matching rows are found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Access {
    /// Every column is known: look the row up.
    Row,
    /// Follow an index.
    Index(IndexId),
    /// Look at every row.
    Scan,
}

/// Where and how to look for facts of one atom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lookup {
    /// The atom's condition.
    pub condition: ConditionId,
    /// The atom's relation.
    pub relation: RelationId,
    /// How rows are found.
    pub access: Access,
    /// The terms of the known columns, in column order.
    pub key: Vec<Operand>,
    /// Columns that must hold the same term.
    pub repeats: Vec<(usize, usize)>,
}

/// One step of a join.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// For each matching fact, bind these columns and go on.
    Match(Lookup, Vec<(usize, Slot)>),
    /// Go on if no fact matches.
    Absent(Lookup),
    /// Go on if the test holds.
    Test(Builtin, Vec<Operand>),
    /// Bind a slot to a function's result.
    Compute(Builtin, Vec<Operand>, Slot),
    /// Go on if a function's result equals the operand in value.
    Equals(Builtin, Vec<Operand>, Operand),
    /// Go on if a function's result is the very term of the operand.
    Yields(Builtin, Vec<Operand>, Operand),
    /// Derive a head.
    Derive(RuleId, RelationId, Vec<Operand>),
}

/// A step and what may follow.
#[derive(Debug)]
pub struct Node {
    /// The step.
    pub step: Step,
    /// What follows.
    pub then: Vec<Node>,
    /// Conditions without which nothing below can be derived.
    pub needs: Vec<ConditionId>,
}

/// The steps that follow a trigger.
#[derive(Debug, Default)]
pub struct Tree {
    /// The first steps.
    pub roots: Vec<Node>,
}

impl Tree {
    /// Whether nothing follows.
    pub fn is_empty(&self) -> bool {
        self.roots.is_empty()
    }

    /// Add a rule's steps, sharing those that are there already.
    pub fn add(&mut self, steps: Vec<Step>) {
        let mut level = &mut self.roots;
        let mut needs: Vec<ConditionId> = Vec::new();
        needs.extend(steps.iter().filter_map(|step| match step {
            Step::Match(lookup, _) => Some(lookup.condition),
            _ => None,
        }));
        for step in steps {
            let position = level.iter().position(|node| node.step == step);
            let position = position.unwrap_or_else(|| {
                level.push(Node { step, then: Vec::new(), needs: needs.clone() });
                level.len() - 1
            });
            let node = &mut level[position];
            node.needs.retain(|condition| needs.contains(condition));
            level = &mut node.then;
        }
    }
}
