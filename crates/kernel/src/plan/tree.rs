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

use std::sync::Arc;

use crate::guard::Builtin;
use crate::ids::{ConditionId, IndexId, RelationId, RuleId, Slot};
use crate::plan::{Conclusion, Direct, Live, Operand, Template};
use crate::relation::Relation;

/// Conditions that nodes share.
type Shared = Arc<[ConditionId]>;

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
    /// The terms of the known columns.
    pub key: Template,
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
    Derive(RuleId, RelationId, Template),
}

/// A step and what may follow.
#[derive(Debug)]
pub struct Node {
    /// The step.
    pub step: Step,
    /// What follows.
    pub then: Vec<Node>,
    /// Conditions without which nothing below can be derived, each once and in order. They are those of the node above,
    /// or more: where they are the same, they are shared.
    pub needs: Shared,
    /// Whether each of them had a fact once. What sleeps is not walked, and needs no index.
    pub awake: bool,
    /// If all that follows and is awake is one derivation: what that derives.
    pub concludes: Option<Conclusion>,
}

impl Node {
    /// Wake what can derive something, below a node that is awake and needs these, or below none.
    fn wake(&mut self, above: Option<&Shared>, live: &Live, relations: &mut [Relation]) {
        if !self.awake {
            self.awake = above.is_some_and(|above| Arc::ptr_eq(above, &self.needs))
                || self.needs.iter().all(|condition| live.had(*condition));
            if let (true, Step::Match(lookup, _) | Step::Absent(lookup)) = (self.awake, &self.step)
                && let Access::Index(index) = lookup.access
            {
                relations[lookup.relation.index()].keep(index);
            }
        }
        if self.awake {
            let Self { then, needs, .. } = self;
            then.iter_mut().for_each(|next| next.wake(Some(needs), live, relations));
            self.concludes = self.conclusion();
        }
    }

    /// What each fact that is matched derives, if nothing else is to be done with it.
    pub fn conclusion(&self) -> Option<Conclusion> {
        let mut awake = self.then.iter().filter(|next| next.awake);
        let (Some(next), None) = (awake.next(), awake.next()) else { return None };
        match (&self.step, &next.step) {
            (Step::Match(lookup, binds), Step::Derive(rule, relation, head)) => {
                let head = (*rule, *relation, head);
                lookup.repeats.is_empty().then(|| Conclusion::new(binds, head)).flatten()
            }
            _ => None,
        }
    }
}

/// The steps that follow a trigger.
#[derive(Debug, Default)]
pub struct Tree {
    /// The first steps.
    pub roots: Vec<Node>,
    /// The columns of the trigger that fill the first slots.
    columns: Vec<usize>,
    /// What is awake and follows from the trigger and one other fact.
    pub direct: Vec<Direct>,
    /// The positions of the other roots that are awake.
    pub awake: Vec<usize>,
}

impl From<&[usize]> for Tree {
    /// Nothing follows yet from a trigger, of which these columns fill the first slots.
    fn from(columns: &[usize]) -> Self {
        Self { columns: columns.to_vec(), ..Self::default() }
    }
}

impl Tree {
    /// Whether nothing follows.
    pub fn is_empty(&self) -> bool {
        self.roots.is_empty()
    }

    /// Add a rule's steps and what they derive, sharing those that are there already.
    pub fn add(&mut self, steps: Vec<Step>, leaves: Vec<Step>) {
        let mut needs: Vec<ConditionId> = Vec::new();
        needs.extend(steps.iter().filter_map(|step| match step {
            Step::Match(lookup, _) => Some(lookup.condition),
            _ => None,
        }));
        needs.sort_unstable();
        needs.dedup();
        let mut needs = Needed { own: needs.into(), last: None };
        let mut level = &mut self.roots;
        for step in steps {
            level = &mut needs.place(level, step).then;
        }
        for leaf in leaves {
            needs.place(level, leaf);
        }
    }

    /// The conditions that wake something; some may come twice.
    pub fn needs(&self) -> impl Iterator<Item = ConditionId> {
        let mut waiting: Vec<(&Node, bool)> = self.roots.iter().map(|root| (root, true)).collect();
        std::iter::from_fn(move || {
            let (node, is_new) = waiting.pop()?;
            let differs = |next: &Node| !Arc::ptr_eq(&next.needs, &node.needs);
            waiting.extend(node.then.iter().map(|next| (next, differs(next))));
            Some(if is_new { &node.needs[..] } else { &[] })
        })
        .flatten()
        .copied()
    }

    /// Wake what can derive something by now, and keep the indexes it needs.
    pub fn wake(&mut self, live: &Live, relations: &mut [Relation]) {
        self.roots.iter_mut().for_each(|root| root.wake(None, live, relations));
        self.direct.clear();
        self.awake.clear();
        for (position, root) in self.roots.iter().enumerate().filter(|(_, root)| root.awake) {
            match Direct::new(root, &self.columns, relations) {
                Some(direct) => self.direct.push(direct),
                None => self.awake.push(position),
            }
        }
    }
}

/// What a rule needs, on the way through a tree.
struct Needed {
    own: Shared,
    /// What the last node that others have, too, needed before, and what it needs now.
    last: Option<(Shared, Shared)>,
}

impl Needed {
    /// The node of a step, made if there is none.
    fn place<'t>(&mut self, level: &'t mut Vec<Node>, step: Step) -> &'t mut Node {
        let position = level.iter().position(|node| node.step == step);
        let Some(position) = position else {
            let needs = Arc::clone(&self.own);
            // Most steps are followed by one, and a plan may have millions: no room for others beforehand.
            if level.is_empty() {
                level.reserve_exact(1);
            }
            level.push(Node { step, then: Vec::new(), needs, awake: false, concludes: None });
            return level.last_mut().expect("it was just pushed");
        };
        let node = &mut level[position];
        let known = self.last.take().filter(|(before, _)| Arc::ptr_eq(before, &node.needs));
        let (before, now) = known.unwrap_or_else(|| {
            let is_own = |condition: &&ConditionId| self.own.binary_search(condition).is_ok();
            let common: Vec<ConditionId> = node.needs.iter().filter(is_own).copied().collect();
            let now = if common.len() == node.needs.len() {
                Arc::clone(&node.needs)
            } else if common.len() == self.own.len() {
                Arc::clone(&self.own)
            } else {
                common.into()
            };
            (Arc::clone(&node.needs), now)
        });
        node.needs = Arc::clone(&now);
        self.last = Some((before, now));
        node
    }
}
