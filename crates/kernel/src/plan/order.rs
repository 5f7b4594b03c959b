//! Join order: a rule and a trigger become a sequence of steps, most selective atom first.
//!
//! Guards and negations are asked as soon as their variables are bound, before the next atom.

use crate::ids::{IndexId, RelationId, RuleId, Slot, TermId};
use crate::plan::tree::Lookup;
use crate::plan::{
    Access, Condition, Conditions, Operand, Statistics, Step, Template, Tree, Trigger,
};
use crate::rule::{Argument, Atom, Guard, Rule};

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
    pub fn add(&mut self, tree: &mut Tree, id: RuleId, rule: &Rule<TermId>, trigger: Trigger) {
        let mut join = Join::new(self, rule, trigger);
        let steps = join.order();
        let slots = join.bound.len();
        let heads = match trigger {
            Trigger::Head(position) => &rule.heads[position..=position],
            _ => &rule.heads[..],
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
        for leaf in leaves {
            let mut path = steps.clone();
            path.push(leaf);
            tree.add(path);
        }
    }
}

/// One rule on its way to steps.
struct Join<'p, 'a, 'r> {
    planner: &'p mut Planner<'a>,
    rule: &'r Rule<TermId>,
    bindable: Vec<u32>,
    atoms: Vec<&'r Atom<TermId>>,
    negations: Vec<&'r Atom<TermId>>,
    guards: Vec<&'r Guard<TermId>>,
    from_atoms: Vec<u32>,
    definers: Vec<&'r Guard<TermId>>,
    /// The variables whose defining function was asked.
    computed: Vec<u32>,
    /// The variable in each slot; none for a trigger's variable that is local to its negation.
    bound: Vec<Option<u32>>,
}

impl<'p, 'a, 'r> Join<'p, 'a, 'r> {
    fn new(planner: &'p mut Planner<'a>, rule: &'r Rule<TermId>, trigger: Trigger) -> Self {
        let mut join = Self {
            planner,
            rule,
            bindable: rule.bindable(),
            atoms: rule.positives.iter().collect(),
            negations: rule.negations.iter().collect(),
            guards: rule.guards.iter().collect(),
            definers: definers(rule),
            from_atoms: rule.positives.iter().flat_map(Atom::variables).collect(),
            computed: Vec::new(),
            bound: Vec::new(),
        };
        let start = match trigger {
            Trigger::Start => return join,
            Trigger::Positive(position) => join.atoms.remove(position),
            Trigger::Negation(position) => join.negations[position],
            Trigger::Head(position) => &rule.heads[position],
        };
        for column in Condition::of(start).columns {
            if let Argument::Variable(variable) = start.arguments[column] {
                join.bound.push(join.bindable.contains(&variable).then_some(variable));
            }
        }
        join
    }

    fn order(&mut self) -> Vec<Step> {
        let mut steps = Vec::new();
        loop {
            self.ask(&mut steps);
            if self.atoms.is_empty() {
                return steps;
            }
            let costs = self.atoms.iter().map(|atom| self.cost(atom)).enumerate();
            let best = costs.min_by(|left, right| left.1.total_cmp(&right.1));
            let atom = self.atoms.remove(best.map_or(0, |(position, _)| position));
            let step = self.find(atom);
            steps.push(step);
        }
    }

    /// Guards and negations whose variables are bound.
    fn ask(&mut self, steps: &mut Vec<Step>) {
        while let Some(position) = self.guards.iter().position(|guard| self.is_ready(guard)) {
            let guard = self.guards.remove(position);
            let inputs = self.operands(guard.inputs());
            let step = match guard.result() {
                None => Step::Test(guard.builtin, inputs),
                Some(Argument::Variable(variable)) if self.defines(guard) => {
                    self.computed.push(*variable);
                    match self.slot(*variable) {
                        Some(slot) => Step::Yields(guard.builtin, inputs, Operand::Slot(slot)),
                        None => {
                            self.bound.push(Some(*variable));
                            let slot = Slot::at(self.bound.len() - 1);
                            Step::Compute(guard.builtin, inputs, slot)
                        }
                    }
                }
                Some(result) => Step::Equals(guard.builtin, inputs, self.operand(result)),
            };
            steps.push(step);
        }
        let pending = std::mem::take(&mut self.negations);
        for atom in pending {
            let mut shared = atom.variables().filter(|variable| self.bindable.contains(variable));
            if shared.all(|variable| self.bound.contains(&Some(variable))) {
                let lookup = self.lookup(atom, Condition::of(atom));
                steps.push(Step::Absent(lookup));
            } else {
                self.negations.push(atom);
            }
        }
    }

    fn defines(&self, guard: &Guard<TermId>) -> bool {
        self.definers.iter().any(|definer| std::ptr::eq(*definer, guard))
    }

    fn is_ready(&self, guard: &Guard<TermId>) -> bool {
        let result_is_ready = match guard.result() {
            Some(Argument::Variable(variable)) if !self.defines(guard) => {
                let from_function = !self.from_atoms.contains(variable);
                let defined = !from_function || self.computed.contains(variable);
                defined && self.slot(*variable).is_some()
            }
            _ => true,
        };
        result_is_ready && self.knows(guard.inputs())
    }

    fn knows(&self, arguments: &[Argument<TermId>]) -> bool {
        arguments.iter().all(|argument| match argument {
            Argument::Term(_) => true,
            Argument::Variable(variable) => self.bound.contains(&Some(*variable)),
        })
    }

    fn slot(&self, variable: u32) -> Option<Slot> {
        self.bound.iter().position(|bound| *bound == Some(variable)).map(Slot::at)
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

    fn cost(&self, atom: &Atom<TermId>) -> f64 {
        let bound = self.bound_columns(atom);
        let condition = Condition::of(atom);
        if bound.len() + condition.constants.len() == atom.arguments.len() {
            return 0.0;
        }
        self.planner.statistics.matches(&condition, &bound)
    }

    fn lookup(&mut self, atom: &Atom<TermId>, condition: Condition) -> Lookup {
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
        Lookup {
            condition: self.planner.conditions.id(&condition),
            relation: atom.relation,
            access,
            key: Template::new(known, atom.arguments.len()),
            repeats: condition.repeats,
        }
    }

    fn find(&mut self, atom: &Atom<TermId>) -> Step {
        let lookup = self.lookup(atom, Condition::in_rule(atom, self.rule));
        let mut binds = Vec::new();
        for (column, argument) in atom.arguments.iter().enumerate() {
            if let Argument::Variable(variable) = argument
                && self.slot(*variable).is_none()
            {
                self.bound.push(Some(*variable));
                binds.push((column, Slot::at(self.bound.len() - 1)));
            }
        }
        Step::Match(lookup, binds)
    }
}

/// The functions that bind their result, when every atom is matched first and then the guards are
/// asked in the order of the text. Any other function must equal a result that is bound. Fixing this
/// beforehand keeps what a rule derives independent of the join order.
fn definers(rule: &Rule<TermId>) -> Vec<&Guard<TermId>> {
    let mut bound: Vec<u32> = rule.positives.iter().flat_map(Atom::variables).collect();
    let mut waiting: Vec<&Guard<TermId>> = rule.guards.iter().collect();
    let mut definers = Vec::new();
    let is_bound = |argument: &Argument<TermId>, bound: &[u32]| match argument {
        Argument::Term(_) => true,
        Argument::Variable(variable) => bound.contains(variable),
    };
    while let Some(position) =
        waiting.iter().position(|guard| guard.inputs().iter().all(|input| is_bound(input, &bound)))
    {
        let guard = waiting.remove(position);
        if let Some(Argument::Variable(variable)) = guard.result()
            && !bound.contains(variable)
        {
            bound.push(*variable);
            definers.push(guard);
        }
    }
    definers
}
