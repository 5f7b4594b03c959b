//! Conditions: what an atom asks of a single fact.
//!
//! Shape: relation, constants by column, columns that must be equal. The distinct variables, in the
//! order of their columns, are slots 0, 1, ... of every tree that the condition triggers.

use hashbrown::{HashMap, HashTable};

use crate::hash::hash_terms;
use crate::ids::{ClassId, ConditionId, RelationId, RowId, Slot, TermId};
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
}

/// The conditions of one relation that have their constants in the same columns.
struct Shape {
    columns: Vec<usize>,
    groups: Vec<Group>,
    /// The positions of the groups by their constants, for shapes with many.
    table: HashTable<usize>,
}

/// Up to this many groups are compared one by one.
const FEW: usize = 8;

/// Conditions with the same constants.
struct Group {
    constants: Vec<TermId>,
    conditions: Vec<ConditionId>,
    /// The class of the facts that match no other group; none if columns must be compared.
    class: Option<ClassId>,
}

/// The distinct conditions of a program, found from a fact through its terms: those with other
/// constants are not even looked at. The set of conditions that a fact matches is its *class*.
#[derive(Default)]
pub struct Conditions {
    all: Vec<Condition>,
    shapes: Vec<Vec<Shape>>,
    classes: Vec<Vec<ConditionId>>,
    class_ids: HashMap<Vec<ConditionId>, ClassId>,
}

impl Conditions {
    /// The distinct conditions of these atoms.
    pub fn of<'a>(atoms: impl IntoIterator<Item = &'a Atom<TermId>>, relations: usize) -> Self {
        let mut conditions = Self::default();
        conditions.shapes.resize_with(relations, Vec::new);
        conditions.class_for(Vec::new());
        for atom in atoms {
            let condition = Condition::of(atom);
            if !conditions.all.contains(&condition) {
                conditions.file(ConditionId::at(conditions.all.len()), &condition);
                conditions.all.push(condition);
            }
        }
        conditions.classify_groups();
        conditions
    }

    fn file(&mut self, id: ConditionId, condition: &Condition) {
        let shapes = &mut self.shapes[condition.relation.index()];
        let columns: Vec<usize> = condition.constants.iter().map(|(column, _)| *column).collect();
        let position = shapes.iter().position(|shape| shape.columns == columns);
        let position = position.unwrap_or_else(|| {
            shapes.push(Shape { columns, groups: Vec::new(), table: HashTable::new() });
            shapes.len() - 1
        });
        let constants: Vec<TermId> = condition.constants.iter().map(|(_, term)| *term).collect();
        let Shape { groups, table, .. } = &mut shapes[position];
        let hash = |constants: &[TermId]| hash_terms(constants.iter().copied());
        let group = *table
            .entry(
                hash(&constants),
                |group| groups[*group].constants == constants,
                |group| hash(&groups[*group].constants),
            )
            .or_insert(groups.len())
            .get();
        if group == groups.len() {
            groups.push(Group { constants, conditions: Vec::new(), class: None });
        }
        groups[group].conditions.push(id);
    }

    fn classify_groups(&mut self) {
        let mut shapes = std::mem::take(&mut self.shapes);
        for group in shapes.iter_mut().flatten().flat_map(|shape| shape.groups.iter_mut()) {
            if group.conditions.iter().all(|id| self.get(*id).repeats.is_empty()) {
                group.class = Some(self.class_for(group.conditions.clone()));
            }
        }
        self.shapes = shapes;
    }

    fn class_for(&mut self, conditions: Vec<ConditionId>) -> ClassId {
        let next = ClassId::at(self.classes.len());
        let id = *self.class_ids.entry(conditions.clone()).or_insert(next);
        if id == next {
            self.classes.push(conditions);
        }
        id
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

    /// The conditions of a class.
    pub fn class(&self, id: ClassId) -> &[ConditionId] {
        &self.classes[id.index()]
    }

    /// The class of a fact.
    pub fn class_of(&mut self, id: RelationId, relation: &Relation, row: RowId) -> ClassId {
        match self.shapes[id.index()].as_slice() {
            [] => return UNREAD,
            [shape] => match shape.group(relation, row) {
                None => return UNREAD,
                Some(Group { class: Some(class), .. }) => return *class,
                Some(_) => {}
            },
            _ => {}
        }
        let mut matching = Vec::new();
        for group in self.shapes[id.index()].iter().filter_map(|s| s.group(relation, row)) {
            let holds = |id: &&ConditionId| self.get(**id).repeats_hold(relation, row);
            matching.extend(group.conditions.iter().filter(holds));
        }
        self.class_for(matching)
    }
}

impl Shape {
    fn group(&self, relation: &Relation, row: RowId) -> Option<&Group> {
        let same = |group: &Group| {
            let mut pairs = self.columns.iter().zip(&group.constants);
            pairs.all(|(column, term)| relation.term(row, *column) == *term)
        };
        if self.groups.len() <= FEW {
            return self.groups.iter().find(|group| same(group));
        }
        let hash = hash_terms(self.columns.iter().map(|column| relation.term(row, *column)));
        self.table.find(hash, |group| same(&self.groups[*group])).map(|group| &self.groups[*group])
    }
}

/// The class of facts that no rule asks for.
pub const UNREAD: ClassId = ClassId(0);

/// Which conditions have facts, so that a rule that cannot fire is not even tried.
///
/// Shape: facts per class; per condition, how many of its classes have facts.
pub struct Live {
    facts: Vec<usize>,
    classes: Vec<usize>,
}

impl Live {
    /// No facts yet.
    pub fn new(conditions: &Conditions) -> Self {
        Self { facts: Vec::new(), classes: vec![0; conditions.len()] }
    }

    /// Whether some fact matches the condition.
    pub fn has(&self, condition: ConditionId) -> bool {
        self.classes[condition.index()] > 0
    }

    /// One more fact of a class.
    pub fn enter(&mut self, conditions: &Conditions, class: ClassId) {
        if class.index() >= self.facts.len() {
            self.facts.resize(class.index() + 1, 0);
        }
        self.facts[class.index()] += 1;
        if self.facts[class.index()] == 1 {
            conditions.class(class).iter().for_each(|id| self.classes[id.index()] += 1);
        }
    }

    /// One fact of a class less.
    pub fn leave(&mut self, conditions: &Conditions, class: ClassId) {
        self.facts[class.index()] -= 1;
        if self.facts[class.index()] == 0 {
            conditions.class(class).iter().for_each(|id| self.classes[id.index()] -= 1);
        }
    }
}
