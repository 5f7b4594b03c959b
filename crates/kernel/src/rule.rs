//! The program as the kernel takes it: relations, and rules with their strata.
//!
//! `T` is what stands for a term: its text when a program is handed over, its id once it is loaded.
//! Variables are numbered within their rule. The kernel trusts that the program was checked: every
//! variable that needs a binding has one, arities agree, strata respect negation.

use crate::guard::Builtin;
use crate::ids::RelationId;
use crate::operator::Operator;

/// A term or a variable of the rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Argument<T> {
    /// The rule's variable of that number.
    Variable(u32),
    /// A constant.
    Term(T),
}

/// A pattern over one relation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Atom<T> {
    /// The relation.
    pub relation: RelationId,
    /// One argument a column.
    pub arguments: Vec<Argument<T>>,
}

/// A builtin applied to arguments; the last one of a function is its result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guard<T> {
    /// What is asked or computed.
    pub builtin: Builtin,
    /// The arguments.
    pub arguments: Vec<Argument<T>>,
}

/// Heads hold while every part of the body does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule<T> {
    /// The user's name for it.
    pub name: String,
    /// Negated atoms are derived in lower strata only.
    pub stratum: usize,
    /// What follows.
    pub heads: Vec<Atom<T>>,
    /// Atoms that must match facts.
    pub positives: Vec<Atom<T>>,
    /// Atoms that must match nothing.
    pub negations: Vec<Atom<T>>,
    /// Tests and functions.
    pub guards: Vec<Guard<T>>,
}

/// A relation's name and arity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declaration {
    /// The name.
    pub name: String,
    /// How many terms a fact has.
    pub arity: usize,
}

/// A relation whose rules make it symmetric and transitive, and the relation of its steps, which one
/// of the rules concludes from it: of these only those are kept that the others do not connect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spanned {
    /// The relation of all pairs; the first and the last term of a fact are a pair.
    pub pairs: RelationId,
    /// The relation of steps, of the same arity.
    pub steps: RelationId,
}

/// Relations, rules and operators.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Program<T> {
    /// The relations, by `RelationId`.
    pub relations: Vec<Declaration>,
    /// The rules, by `RuleId`.
    pub rules: Vec<Rule<T>>,
    /// What is stated because of a relation.
    pub operators: Vec<Operator>,
    /// The relation of which only a spanning forest is followed.
    pub spanned: Option<Spanned>,
}

impl<T> Atom<T> {
    fn map<U>(self, term: &mut impl FnMut(T) -> U) -> Atom<U> {
        Atom { relation: self.relation, arguments: map_all(self.arguments, term) }
    }

    /// The variables, in the order of their columns, repetitions included.
    pub fn variables(&self) -> impl Iterator<Item = u32> + '_ {
        variables(&self.arguments)
    }
}

impl<T> Guard<T> {
    /// The arguments that must be known before the guard is asked.
    pub fn inputs(&self) -> &[Argument<T>] {
        let results = usize::from(self.builtin.is_function());
        &self.arguments[..self.arguments.len() - results]
    }

    /// The result of a function.
    pub fn result(&self) -> Option<&Argument<T>> {
        if self.builtin.is_function() { self.arguments.last() } else { None }
    }
}

impl<T> Rule<T> {
    /// Whether a head may hold a term that no fact of the body has.
    pub fn computes(&self) -> bool {
        self.guards.iter().any(|guard| guard.builtin.makes_terms())
    }

    /// The variables that a positive atom or a function binds; others are local to a negation.
    pub fn bindable(&self) -> Vec<u32> {
        let results = self.guards.iter().filter_map(|guard| match guard.result() {
            Some(Argument::Variable(variable)) => Some(*variable),
            _ => None,
        });
        self.positives.iter().flat_map(Atom::variables).chain(results).collect()
    }
}

impl<T> Program<T> {
    /// Statements are settled in stratum 0. A rule that negates and an operator read what was settled
    /// below them, so they need a stratum above, even where no rule derives what they read.
    pub(crate) fn lift(&mut self) {
        let negates = |rule: &Rule<T>| rule.stratum == 0 && !rule.negations.is_empty();
        if self.rules.iter().any(negates)
            || self.operators.iter().any(|operator| operator.stratum() == 0)
        {
            self.rules.iter_mut().for_each(|rule| rule.stratum += 1);
            self.operators.iter_mut().for_each(Operator::lift);
        }
    }

    /// The same program with other terms.
    pub fn map<U>(self, mut term: impl FnMut(T) -> U) -> Program<U> {
        let term = &mut term;
        let mut rules = Vec::with_capacity(self.rules.len());
        for rule in self.rules {
            let mut atoms = |atoms: Vec<Atom<T>>| -> Vec<Atom<U>> {
                atoms.into_iter().map(|atom| atom.map(term)).collect()
            };
            let (heads, positives) = (atoms(rule.heads), atoms(rule.positives));
            let negations = atoms(rule.negations);
            let guards = rule.guards.into_iter().map(|guard| Guard {
                builtin: guard.builtin,
                arguments: map_all(guard.arguments, term),
            });
            let guards = guards.collect();
            rules.push(Rule {
                name: rule.name,
                stratum: rule.stratum,
                heads,
                positives,
                negations,
                guards,
            });
        }
        Program {
            relations: self.relations,
            rules,
            operators: self.operators,
            spanned: self.spanned,
        }
    }
}

fn map_all<T, U>(arguments: Vec<Argument<T>>, term: &mut impl FnMut(T) -> U) -> Vec<Argument<U>> {
    let map = |argument| match argument {
        Argument::Variable(variable) => Argument::Variable(variable),
        Argument::Term(old) => Argument::Term(term(old)),
    };
    arguments.into_iter().map(map).collect()
}

fn variables<T>(arguments: &[Argument<T>]) -> impl Iterator<Item = u32> + '_ {
    arguments.iter().filter_map(|argument| match argument {
        Argument::Variable(variable) => Some(*variable),
        Argument::Term(_) => None,
    })
}
