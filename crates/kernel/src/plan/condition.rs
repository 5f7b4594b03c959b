//! Conditions: what an atom asks of a single fact.
//!
//! Shape: relation, constants by column, columns that must be equal. The distinct variables, in the
//! order of their columns, are slots 0, 1, ... of every tree that the condition triggers.

use hashbrown::HashTable;

use crate::hash::hash_terms;
use crate::ids::{ConditionId, RelationId, RowId, Slot, TermId};
use crate::relation::Relation;
use crate::rule::{Argument, Atom};

/// An atom without the names of its variables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// The relation.
    pub relation: RelationId,
    /// The columns that must hold a constant.
    pub constants: Vec<(usize, TermId)>,
    /// Pairs of columns that must hold the same term.
    pub repeats: Vec<(usize, usize)>,
    /// The columns of the distinct variables; the n-th fills slot n.
    pub columns: Vec<usize>,
}

impl Condition {
    /// What an atom asks.
    pub fn of(atom: &Atom<TermId>) -> Self {
        let mut condition = Self {
            relation: atom.relation,
            constants: Vec::new(),
            repeats: Vec::new(),
            columns: Vec::new(),
        };
        let mut seen: Vec<(u32, usize)> = Vec::new();
        for (column, argument) in atom.arguments.iter().enumerate() {
            match argument {
                Argument::Term(term) => condition.constants.push((column, *term)),
                Argument::Variable(variable) => match seen.iter().find(|(v, _)| v == variable) {
                    Some((_, first)) => condition.repeats.push((*first, column)),
                    None => {
                        seen.push((*variable, column));
                        condition.columns.push(column);
                    }
                },
            }
        }
        condition
    }

    /// Whether a fact of the relation, constants aside, matches.
    pub fn repeats_hold(&self, relation: &Relation, row: RowId) -> bool {
        self.repeats
            .iter()
            .all(|(one, other)| relation.term(row, *one) == relation.term(row, *other))
    }

    /// Write a fact's terms into the slots.
    pub fn bind(&self, relation: &Relation, row: RowId, slots: &mut [TermId]) {
        for (slot, column) in self.columns.iter().enumerate() {
            slots[Slot::at(slot).index()] = relation.term(row, *column);
        }
    }

    fn constant_columns(&self) -> Vec<usize> {
        self.constants.iter().map(|(column, _)| *column).collect()
    }
}

/// The conditions of one relation that have their constants in the same columns.
struct Shape {
    columns: Vec<usize>,
    conditions: HashTable<(Vec<TermId>, Vec<ConditionId>)>,
}

/// The distinct conditions of a program, found from a fact through its terms: those with other
/// constants are not even looked at.
#[derive(Default)]
pub struct Conditions {
    all: Vec<Condition>,
    shapes: Vec<Vec<Shape>>,
}

impl Conditions {
    /// The distinct conditions of these atoms.
    pub fn of<'a>(atoms: impl IntoIterator<Item = &'a Atom<TermId>>, relations: usize) -> Self {
        let mut conditions = Self::default();
        conditions.shapes.resize_with(relations, Vec::new);
        for atom in atoms {
            let condition = Condition::of(atom);
            if !conditions.all.contains(&condition) {
                conditions.file(ConditionId::at(conditions.all.len()), &condition);
                conditions.all.push(condition);
            }
        }
        conditions
    }

    fn file(&mut self, id: ConditionId, condition: &Condition) {
        let shapes = &mut self.shapes[condition.relation.index()];
        let columns = condition.constant_columns();
        let position = shapes.iter().position(|shape| shape.columns == columns);
        let position = position.unwrap_or_else(|| {
            shapes.push(Shape {
                columns,
                conditions: HashTable::new(),
            });
            shapes.len() - 1
        });
        let key: Vec<TermId> = condition.constants.iter().map(|(_, term)| *term).collect();
        let hash = hash_terms(key.iter().copied());
        shapes[position]
            .conditions
            .entry(
                hash,
                |(other, _)| *other == key,
                |(other, _)| hash_terms(other.iter().copied()),
            )
            .or_insert_with(|| (key.clone(), Vec::new()))
            .get_mut()
            .1
            .push(id);
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// One of them.
    pub fn get(&self, id: ConditionId) -> &Condition {
        &self.all[id.index()]
    }

    /// The condition of an atom of the program.
    ///
    /// # Panics
    /// When the atom is not of the program.
    pub fn id(&self, atom: &Atom<TermId>) -> ConditionId {
        let condition = Condition::of(atom);
        let position = self.all.iter().position(|other| *other == condition);
        ConditionId::at(position.expect("an atom of the program"))
    }

    /// The conditions that a fact matches.
    pub fn matching(
        &self,
        id: RelationId,
        relation: &Relation,
        row: RowId,
        into: &mut Vec<ConditionId>,
    ) {
        into.clear();
        for shape in &self.shapes[id.index()] {
            let key = || {
                shape
                    .columns
                    .iter()
                    .map(|column| relation.term(row, *column))
            };
            let same = |(other, _): &(Vec<TermId>, _)| key().eq(other.iter().copied());
            let Some((_, found)) = shape.conditions.find(hash_terms(key()), same) else {
                continue;
            };
            into.extend(
                found
                    .iter()
                    .filter(|id| self.get(**id).repeats_hold(relation, row)),
            );
        }
    }
}
