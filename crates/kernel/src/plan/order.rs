//! Join order: a rule and a trigger become a sequence of steps, most selective atom first.
//!
//! Guards and negations are asked as soon as their variables are bound, before the next atom. The costs of the atoms to
//! come are kept in order: a variable that is bound changes those of the atoms that have it, and no others.

use std::collections::BTreeSet;

use crate::ids::{ConditionId, IndexId, RelationId, RuleId, Slot, TermId};
use crate::plan::outline::{Outline, Turns};
use crate::plan::tree::Lookup;
use crate::plan::{
    Access, Condition, Conditions, Operand, Statistics, Step, Template, Tree, Trigger,
};
use crate::rule::{Argument, Atom};

/// The column sets that plans want indexed, by relation.
pub struct Catalog(Vec<Vec<Vec<usize>>>);

impl Catalog {
    fn want(&mut self, relation: RelationId, columns: &[usize]) -> IndexId {
        let wanted = &mut self.0[relation.index()];
        let position = wanted.iter().position(|other| other == columns);
        IndexId::at(position.unwrap_or_else(|| {
            wanted.push(columns.to_vec());
            wanted.len() - 1
        }))
    }

    /// The column sets, by relation.
    pub fn into_columns(self) -> impl Iterator<Item = Vec<Vec<usize>>> {
        self.0.into_iter()
    }
}

/// Turns rules into steps.
pub struct Planner<'a> {
    conditions: &'a Conditions,
    statistics: &'a Statistics,
    /// The indexes wanted so far.
    pub catalog: Catalog,
    /// The most slots a join fills.
    pub slots: usize,
}

impl<'a> Planner<'a> {
    /// A planner for these conditions and facts.
    pub fn new(conditions: &'a Conditions, statistics: &'a Statistics, relations: usize) -> Self {
        let catalog = Catalog(vec![Vec::new(); relations]);
        Self { conditions, statistics, catalog, slots: 0 }
    }

    /// Add the steps of a rule that follow a trigger to the trigger's tree.
    pub fn add(&mut self, tree: &mut Tree, id: RuleId, outline: &Outline<'_>, trigger: Trigger) {
        let mut join = Join::new(self, outline, trigger);
        let steps = join.order();
        let slots = join.filled;
        let heads = match trigger {
            Trigger::Head(position) => &outline.rule.heads[position..=position],
            _ => &outline.rule.heads[..],
        };
        let leaves: Vec<Step> = heads
            .iter()
            .map(|head| {
                let operands = join.operands(&head.arguments).into_iter().enumerate();
                let template = Template::new(operands.collect(), head.arguments.len());
                Step::Derive(id, head.relation, template)
            })
            .collect();
        self.slots = self.slots.max(slots);
        tree.add(steps, leaves);
    }
}

/// One rule on its way to steps.
struct Join<'p, 'a, 'r> {
    planner: &'p mut Planner<'a>,
    outline: &'p Outline<'r>,
    guards: Turns<'p>,
    negations: Turns<'p>,
    /// The atoms to come, by cost; of equals the first in the text comes first.
    atoms: BTreeSet<(Cost, usize)>,
    /// The cost of each atom, as far as it is to come.
    costs: Vec<Cost>,
    /// By variable, where it is bound.
    slots: Vec<Option<Slot>>,
    /// How many slots are filled; some by a trigger's variables that are local to its negation.
    filled: usize,
}

/// What is never negative has its bits in the order of its values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Cost(u64);

impl<'p, 'a, 'r> Join<'p, 'a, 'r> {
    fn new(planner: &'p mut Planner<'a>, outline: &'p Outline<'r>, trigger: Trigger) -> Self {
        let rule = outline.rule;
        let mut join = Self {
            planner,
            outline,
            guards: outline.guards.turns(),
            negations: outline.negations.turns(),
            atoms: BTreeSet::new(),
            costs: vec![Cost::default(); rule.positives.len()],
            slots: vec![None; outline.having.len()],
            filled: 0,
        };
        let (start, taken) = match trigger {
            Trigger::Start => (None, None),
            Trigger::Positive(position) => (Some(&rule.positives[position]), Some(position)),
            Trigger::Negation(position) => (Some(&rule.negations[position]), None),
            Trigger::Head(position) => (Some(&rule.heads[position]), None),
        };
        if let Some(start) = start {
            for column in Condition::of(start).columns {
                join.bind(&start.arguments[column]);
            }
        }
        for position in (0..rule.positives.len()).filter(|position| Some(*position) != taken) {
            join.costs[position] = join.cost(position);
            join.atoms.insert((join.costs[position], position));
        }
        join
    }

    fn order(&mut self) -> Vec<Step> {
        let mut steps = Vec::new();
        loop {
            self.ask(&mut steps);
            let Some((_, position)) = self.atoms.pop_first() else { return steps };
            steps.push(self.find(position));
        }
    }

    /// Guards and negations whose variables are bound.
    fn ask(&mut self, steps: &mut Vec<Step>) {
        while let Some(position) = self.guards.next() {
            let guard = &self.outline.rule.guards[position];
            let inputs = self.operands(guard.inputs());
            let step = match guard.result() {
                None => Step::Test(guard.builtin, inputs),
                Some(result @ Argument::Variable(variable)) if self.outline.defines[position] => {
                    let step = match self.slot(*variable) {
                        Some(slot) => Step::Yields(guard.builtin, inputs, Operand::Slot(slot)),
                        None => Step::Compute(guard.builtin, inputs, self.bind(result)),
                    };
                    self.guards.meet(self.slots.len() + *variable as usize);
                    step
                }
                Some(result) => Step::Equals(guard.builtin, inputs, self.operand(result)),
            };
            steps.push(step);
        }
        while let Some(position) = self.negations.next() {
            let atom = &self.outline.rule.negations[position];
            let condition = Condition::of(atom);
            let id = self.planner.conditions.id(&condition);
            steps.push(Step::Absent(self.lookup(atom, id, condition.repeats)));
        }
    }

    /// Fill the next slot with a variable, which is not bound yet.
    fn bind(&mut self, argument: &Argument<TermId>) -> Slot {
        let slot = Slot::at(self.filled);
        self.filled += 1;
        if let Argument::Variable(variable) = *argument
            && self.outline.is_bindable[variable as usize]
        {
            let variable = variable as usize;
            self.slots[variable] = Some(slot);
            self.guards.meet(variable);
            self.negations.meet(variable);
            for position in &self.outline.having[variable] {
                if self.atoms.remove(&(self.costs[*position], *position)) {
                    self.costs[*position] = self.cost(*position);
                    self.atoms.insert((self.costs[*position], *position));
                }
            }
        }
        slot
    }

    fn slot(&self, variable: u32) -> Option<Slot> {
        self.slots[variable as usize]
    }

    fn operand(&self, argument: &Argument<TermId>) -> Operand {
        match argument {
            Argument::Term(term) => Operand::Term(*term),
            Argument::Variable(variable) => {
                Operand::Slot(self.slot(*variable).expect("a checked rule binds its variables"))
            }
        }
    }

    fn operands(&self, arguments: &[Argument<TermId>]) -> Vec<Operand> {
        arguments.iter().map(|argument| self.operand(argument)).collect()
    }

    fn bound_columns(&self, atom: &Atom<TermId>) -> Vec<usize> {
        let is_bound = |(column, argument): (usize, &Argument<TermId>)| match argument {
            Argument::Variable(variable) => self.slot(*variable).map(|_| column),
            Argument::Term(_) => None,
        };
        atom.arguments.iter().enumerate().filter_map(is_bound).collect()
    }

    fn cost(&self, position: usize) -> Cost {
        let atom = &self.outline.rule.positives[position];
        let condition = &self.outline.alone[position];
        let bound = self.bound_columns(atom);
        if bound.len() + condition.constants.len() == atom.arguments.len() {
            return Cost::default();
        }
        Cost(self.planner.statistics.matches(condition, &bound).to_bits())
    }

    fn lookup(
        &mut self,
        atom: &Atom<TermId>,
        condition: ConditionId,
        repeats: Vec<(usize, usize)>,
    ) -> Lookup {
        let known = |(column, argument): (usize, &Argument<TermId>)| match argument {
            Argument::Term(term) => Some((column, Operand::Term(*term))),
            Argument::Variable(variable) => {
                self.slot(*variable).map(|slot| (column, Operand::Slot(slot)))
            }
        };
        let known: Vec<(usize, Operand)> =
            atom.arguments.iter().enumerate().filter_map(known).collect();
        let columns: Vec<usize> = known.iter().map(|(column, _)| *column).collect();
        let access = if columns.len() == atom.arguments.len() {
            Access::Row
        } else if columns.is_empty() {
            Access::Scan
        } else {
            Access::Index(self.planner.catalog.want(atom.relation, &columns))
        };
        let key = Template::new(known, atom.arguments.len());
        Lookup { condition, relation: atom.relation, access, key, repeats }
    }

    fn find(&mut self, position: usize) -> Step {
        let atom = &self.outline.rule.positives[position];
        let repeats = self.outline.alone[position].repeats.clone();
        let lookup = self.lookup(atom, self.outline.positives[position], repeats);
        let mut binds = Vec::new();
        for (column, argument) in atom.arguments.iter().enumerate() {
            if let Argument::Variable(variable) = argument
                && self.slot(*variable).is_none()
            {
                binds.push((column, self.bind(argument)));
            }
        }
        Step::Match(lookup, binds)
    }
}
