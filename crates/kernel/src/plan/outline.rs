//! Outlines: what all the joins of a rule have in common, worked out once for all that may start them.
//!
//! Shape: conditions by atom, and by variable what is waiting for it. A rule of n atoms has n joins of n steps, so a step
//! must not cost a look at the whole rule: each variable that is bound calls those up that it is the last for.

use std::collections::BTreeSet;

use crate::ids::{ConditionId, TermId};
use crate::plan::{Condition, Conditions};
use crate::rule::{Argument, Atom, Guard, Rule};

/// What the joins of one rule share.
pub struct Outline<'r> {
    /// The rule.
    pub rule: &'r Rule<TermId>,
    /// The conditions of its positive atoms, in the rule.
    pub positives: Vec<ConditionId>,
    /// What each positive atom asks by itself.
    pub alone: Vec<Condition>,
    /// The positive atoms that have a variable.
    pub having: Vec<Vec<usize>>,
    /// Whether a variable is bound by an atom or a function; others are local to a negation.
    pub is_bindable: Vec<bool>,
    /// Whether a guard is a function that binds its result.
    pub defines: Vec<bool>,
    /// What guards need: a variable that is bound, or, the numbers after those, that is computed.
    pub guards: Needs,
    /// The variables that negations need.
    pub negations: Needs,
}

impl<'r> Outline<'r> {
    /// Of a rule of the program whose conditions these are.
    pub fn new(rule: &'r Rule<TermId>, conditions: &Conditions) -> Self {
        let count = variable_count(rule);
        let mut having = vec![Vec::new(); count];
        for (position, atom) in rule.positives.iter().enumerate() {
            for variable in atom.variables() {
                let atoms: &mut Vec<usize> = &mut having[variable as usize];
                if atoms.last() != Some(&position) {
                    atoms.push(position);
                }
            }
        }
        let mut is_bindable = vec![false; count];
        rule.bindable().into_iter().for_each(|variable| is_bindable[variable as usize] = true);
        let in_atoms = |variable: usize| !having[variable].is_empty();
        let defines = definers(rule, count, in_atoms);
        let needs = rule.guards.iter().zip(&defines).map(|(guard, defines)| {
            let result = guard.result().and_then(variable);
            let result = result.filter(|_| !defines);
            let result = result.map(|it| if in_atoms(it) { it } else { count + it });
            inputs(guard).chain(result).collect()
        });
        let guards = Needs::new(needs, 2 * count);
        let shared = |atom: &Atom<TermId>| {
            let variables = atom.variables().map(|variable| variable as usize);
            variables.filter(|variable| is_bindable[*variable]).collect()
        };
        let negations = Needs::new(rule.negations.iter().map(shared), count);
        let in_rule = |atom| conditions.id(&Condition::in_rule(atom, rule));
        Self {
            rule,
            positives: rule.positives.iter().map(in_rule).collect(),
            alone: rule.positives.iter().map(Condition::of).collect(),
            having,
            is_bindable,
            defines,
            guards,
            negations,
        }
    }
}

/// The functions that bind their result, when every atom is matched first and then the guards are
/// asked in the order of the text. Any other function must equal a result that is bound. Fixing this
/// beforehand keeps what a rule derives independent of the join order.
fn definers(rule: &Rule<TermId>, count: usize, in_atoms: impl Fn(usize) -> bool) -> Vec<bool> {
    let mut is_bound: Vec<bool> = (0..count).map(in_atoms).collect();
    let needs = Needs::new(rule.guards.iter().map(|guard| inputs(guard).collect()), count);
    let mut turns = needs.turns();
    (0..count).filter(|variable| is_bound[*variable]).for_each(|variable| turns.meet(variable));
    let mut defines = vec![false; rule.guards.len()];
    while let Some(guard) = turns.next() {
        if let Some(result) = rule.guards[guard].result().and_then(variable)
            && !std::mem::replace(&mut is_bound[result], true)
        {
            defines[guard] = true;
            turns.meet(result);
        }
    }
    defines
}

fn variable_count(rule: &Rule<TermId>) -> usize {
    let atoms = rule.heads.iter().chain(&rule.positives).chain(&rule.negations);
    let of_atoms = atoms.flat_map(Atom::variables).map(|variable| variable as usize);
    let of_guards =
        rule.guards.iter().flat_map(|guard| guard.arguments.iter().filter_map(variable));
    of_atoms.chain(of_guards).max().map_or(0, |last| last + 1)
}

fn variable(argument: &Argument<TermId>) -> Option<usize> {
    match argument {
        Argument::Variable(variable) => Some(*variable as usize),
        Argument::Term(_) => None,
    }
}

fn inputs(guard: &Guard<TermId>) -> impl Iterator<Item = usize> {
    guard.inputs().iter().filter_map(variable)
}

/// What each of some things needs before it has its turn.
pub struct Needs {
    /// By need, those that have it.
    waiters: Vec<Vec<usize>>,
    /// How many different needs each has.
    counts: Vec<usize>,
}

impl Needs {
    fn new(of: impl Iterator<Item = Vec<usize>>, needs: usize) -> Self {
        let mut waiters = vec![Vec::new(); needs];
        let count = |(thing, mut needs): (usize, Vec<usize>)| {
            needs.sort_unstable();
            needs.dedup();
            needs.iter().for_each(|need| waiters[*need].push(thing));
            needs.len()
        };
        let counts = of.enumerate().map(count).collect();
        Self { waiters, counts }
    }

    /// The turns when nothing is met yet.
    pub fn turns(&self) -> Turns<'_> {
        let is_ready = |thing: &usize| self.counts[*thing] == 0;
        let ready = (0..self.counts.len()).filter(is_ready).collect();
        Turns { waiters: &self.waiters, missing: self.counts.clone(), ready }
    }
}

/// Things have their turns when all that they need is met, in their order as far as there is a choice.
pub struct Turns<'n> {
    waiters: &'n [Vec<usize>],
    missing: Vec<usize>,
    ready: BTreeSet<usize>,
}

impl Turns<'_> {
    /// Meet a need, which can be done once.
    pub fn meet(&mut self, need: usize) {
        for thing in &self.waiters[need] {
            self.missing[*thing] -= 1;
            if self.missing[*thing] == 0 {
                self.ready.insert(*thing);
            }
        }
    }

    /// The next that is ready.
    pub fn next(&mut self) -> Option<usize> {
        self.ready.pop_first()
    }
}
