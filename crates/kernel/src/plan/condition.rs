//! Conditions: what an atom asks of a single fact.
//!
//! Shape: relation, constants by column that must be there or must not, columns that must be equal or
//! must not. The different variables, in the order of their columns, are slots 0, 1, ... of every tree that the condition
//! triggers.

use hashbrown::{HashMap, HashTable};

use crate::guard::Builtin;
use crate::ids::{ClassId, ConditionId, RelationId, RowId, TermId};
use crate::key::{Packed, hash_number};
use crate::relation::Relation;
use crate::rule::{Argument, Atom, Rule};

/// An atom without the names of its variables.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Condition {
    /// The relation.
    pub relation: RelationId,
    /// The columns that must hold a constant.
    pub constants: Vec<(usize, TermId)>,
    /// Pairs of columns that must hold the same term.
    pub repeats: Vec<(usize, usize)>,
    /// Pairs of columns that must hold different terms.
    pub differences: Vec<(usize, usize)>,
    /// The columns that must not hold a constant.
    pub excluded: Vec<(usize, TermId)>,
    /// The columns of the different variables; the n-th fills slot n.
    pub columns: Vec<usize>,
}

impl Condition {
    /// What an atom asks.
    pub fn of(atom: &Atom<TermId>) -> Self {
        let mut condition = Self {
            relation: atom.relation,
            constants: Vec::new(),
            repeats: Vec::new(),
            differences: Vec::new(),
            excluded: Vec::new(),
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

    /// What a positive atom asks in its rule: what the rule says must differ does so here, too, so
    /// that an equality of a term with itself, say, does not even wake the rules about equality.
    pub fn in_rule(atom: &Atom<TermId>, rule: &Rule<TermId>) -> Self {
        let mut condition = Self::of(atom);
        let differs = [Builtin::NotEqual, Builtin::NotSameTerm];
        for guard in rule.guards.iter().filter(|guard| differs.contains(&guard.builtin)) {
            let place = |variable| {
                let same = |argument: &Argument<TermId>| *argument == Argument::Variable(variable);
                atom.arguments.iter().position(same)
            };
            match guard.arguments[..] {
                [Argument::Variable(one), Argument::Variable(other)] => {
                    condition.differences.extend(place(one).zip(place(other)));
                }
                [Argument::Variable(variable), Argument::Term(term)]
                | [Argument::Term(term), Argument::Variable(variable)] => {
                    condition.excluded.extend(place(variable).map(|column| (column, term)));
                }
                _ => {}
            }
        }
        condition
    }

    /// Whether a fact of the relation, constants aside, matches.
    pub fn holds(&self, relation: &Relation, row: RowId) -> bool {
        let same =
            |(one, other): &(usize, usize)| relation.term(row, *one) == relation.term(row, *other);
        let has = |(column, term): &(usize, TermId)| relation.term(row, *column) == *term;
        self.repeats.iter().all(same)
            && !self.differences.iter().any(same)
            && !self.excluded.iter().any(has)
    }

    /// The columns that it asks something of; some may come twice.
    fn asked(&self) -> impl Iterator<Item = usize> {
        let constants = self.constants.iter().chain(&self.excluded).map(|(column, _)| *column);
        let pairs = self.repeats.iter().chain(&self.differences);
        constants.chain(pairs.flat_map(|(one, other)| [*one, *other]))
    }

    /// Write a fact's terms into the slots.
    #[inline]
    pub fn bind(&self, relation: &Relation, row: RowId, slots: &mut [TermId]) {
        let slots = &mut slots[..self.columns.len()];
        for (slot, column) in slots.iter_mut().zip(&self.columns) {
            *slot = relation.term(row, *column);
        }
    }
}

/// The conditions of one relation that have their constants in the same columns.
struct Shape {
    columns: Vec<usize>,
    /// All bits of the columns, for relations whose terms are packed.
    mask: Packed,
    groups: Vec<Group>,
    /// The positions of the groups by their constants, for shapes with many.
    table: HashTable<usize>,
}

/// Up to this many groups are compared one by one.
const FEW: usize = 8;

/// Conditions with the same constants.
struct Group {
    constants: Vec<TermId>,
    packed: Packed,
    conditions: Vec<ConditionId>,
}

/// The shapes of one relation, and the classes of facts by their signatures.
#[derive(Default)]
struct Shapes {
    all: Vec<Shape>,
    /// By column, the first term above all that some condition asks for there or excludes. Rules came
    /// before facts, so most terms of facts are above it.
    above: [u32; Packed::COLUMNS],
    /// All bits of the columns that some condition asks something of.
    asked: Packed,
    /// The pairs of columns that some condition compares.
    pairs: Vec<(usize, usize)>,
    /// Whether some condition asks for more than the first columns.
    is_wide: bool,
    classes: HashTable<(Signature, ClassId)>,
    /// The class found last: facts of a class often follow each other.
    last: Option<Last>,
}

/// The fact that was classified last: its columns that are asked something of.
#[derive(Clone, Copy)]
struct Last {
    asked: Packed,
    signature: Signature,
    class: ClassId,
}

/// What decides the class of a fact: its first terms, those that no condition knows all alike, and
/// which of the columns that are compared are equal.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Signature {
    terms: Packed,
    equal: u32,
}

impl Signature {
    fn hash(self) -> u64 {
        hash_number(self.terms.hash() ^ u64::from(self.equal))
    }
}

/// Stands for a term that no condition knows.
const UNKNOWN: u32 = u32::MAX;

/// How many signatures are kept; beyond that the table starts anew.
const SIGNATURES: usize = 1 << 14;

impl Shapes {
    /// Note what a condition asks.
    fn widen(&mut self, condition: &Condition) {
        for column in condition.asked() {
            if column >= Packed::COLUMNS {
                self.is_wide = true;
            } else if self.asked.term(column) == TermId(0) {
                self.asked = self.asked.with(column, TermId(u32::MAX));
            }
        }
        for (column, term) in condition.constants.iter().chain(&condition.excluded) {
            if let Some(above) = self.above.get_mut(*column) {
                *above = (*above).max(term.0 + 1);
            }
        }
        for pair in condition.repeats.iter().chain(&condition.differences) {
            if !self.pairs.contains(pair) {
                self.pairs.push(*pair);
            }
        }
    }

    /// The signature of a fact; none if its first terms do not decide its class.
    #[inline]
    fn signature(&self, first: Packed) -> Option<Signature> {
        if self.is_wide {
            return None;
        }
        let words = first.words();
        let mut terms = [UNKNOWN; Packed::COLUMNS];
        for column in 0..Packed::COLUMNS {
            if words[column] < self.above[column] {
                terms[column] = words[column];
            }
        }
        let equal = self
            .pairs
            .iter()
            .fold(0, |bits, (one, other)| (bits << 1) | u32::from(words[*one] == words[*other]));
        Some(Signature { terms: Packed::of(terms), equal })
    }
}

/// The distinct conditions of a program, found from a fact through its terms: those with other
/// constants are not even looked at. The set of conditions that a fact matches is its *class*.
#[derive(Default)]
pub struct Conditions {
    all: Vec<Condition>,
    ids: HashMap<Condition, ConditionId>,
    shapes: Vec<Shapes>,
    classes: Vec<Vec<ConditionId>>,
    class_ids: HashMap<Vec<ConditionId>, ClassId>,
}

impl Conditions {
    /// These conditions, each once.
    pub fn of(all: impl IntoIterator<Item = Condition>, relations: usize) -> Self {
        let mut conditions = Self::default();
        conditions.shapes.resize_with(relations, Shapes::default);
        conditions.class_for(Vec::new());
        for condition in all {
            let next = ConditionId::at(conditions.all.len());
            if *conditions.ids.entry(condition.clone()).or_insert(next) == next {
                conditions.file(next, &condition);
                conditions.all.push(condition);
            }
        }
        conditions
    }

    fn file(&mut self, id: ConditionId, condition: &Condition) {
        self.shapes[condition.relation.index()].widen(condition);
        let shapes = &mut self.shapes[condition.relation.index()].all;
        let columns: Vec<usize> = condition.constants.iter().map(|(column, _)| *column).collect();
        let position = shapes.iter().position(|shape| shape.columns == columns);
        let position = position.unwrap_or_else(|| {
            let (groups, table) = (Vec::new(), HashTable::new());
            let mask = pack(columns.iter().map(|column| (*column, TermId(u32::MAX))));
            shapes.push(Shape { columns, mask, groups, table });
            shapes.len() - 1
        });
        let constants: Vec<TermId> = condition.constants.iter().map(|(_, term)| *term).collect();
        let packed = pack(condition.constants.iter().copied());
        let Shape { groups, table, .. } = &mut shapes[position];
        let same = |group: &usize| groups[*group].constants == constants;
        let rehash = |group: &usize| groups[*group].packed.hash();
        let group = *table.entry(packed.hash(), same, rehash).or_insert(groups.len()).get();
        if group == groups.len() {
            groups.push(Group { constants, packed, conditions: Vec::new() });
        }
        groups[group].conditions.push(id);
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

    /// The id of a condition of the program.
    ///
    /// # Panics
    /// When the condition is not of the program.
    pub fn id(&self, condition: &Condition) -> ConditionId {
        self.ids[condition]
    }

    /// Whether any of them is about a relation.
    pub fn asks(&self, relation: RelationId) -> bool {
        !self.shapes[relation.index()].all.is_empty()
    }

    /// The conditions of a class.
    #[inline]
    pub fn class(&self, id: ClassId) -> &[ConditionId] {
        &self.classes[id.index()]
    }

    /// The class of a fact.
    pub fn class_of(&mut self, id: RelationId, relation: &Relation, row: RowId) -> ClassId {
        self.class_of_terms(id, relation.first_terms(row), relation, row)
    }

    /// The class of a fact whose first terms are at hand.
    #[inline(always)]
    pub fn class_of_terms(
        &mut self,
        id: RelationId,
        first: Packed,
        relation: &Relation,
        row: RowId,
    ) -> ClassId {
        let shapes = &self.shapes[id.index()];
        match shapes.last {
            Some(last) if first.masked(shapes.asked) == last.asked => last.class,
            _ => self.class_anew(id, first, relation, row),
        }
    }

    /// The class of a fact that differs from the last one in something that is asked.
    #[inline(never)]
    fn class_anew(
        &mut self,
        id: RelationId,
        first: Packed,
        relation: &Relation,
        row: RowId,
    ) -> ClassId {
        let shapes = &mut self.shapes[id.index()];
        let Some(signature) = shapes.signature(first) else {
            return self.find_class(id, first, relation, row);
        };
        match &shapes.last {
            Some(last) if last.signature == signature => last.class,
            _ => self.class_by(signature, id, first, relation, row),
        }
    }

    /// The class of a fact with a signature other than the last one's.
    fn class_by(
        &mut self,
        signature: Signature,
        id: RelationId,
        first: Packed,
        relation: &Relation,
        row: RowId,
    ) -> ClassId {
        let shapes = &self.shapes[id.index()];
        let same = |(other, _): &(Signature, ClassId)| *other == signature;
        let class = match shapes.classes.find(signature.hash(), same) {
            Some((_, class)) => *class,
            None => {
                let class = self.find_class(id, first, relation, row);
                let classes = &mut self.shapes[id.index()].classes;
                if classes.len() >= SIGNATURES {
                    classes.clear();
                }
                let rehash = |(signature, _): &(Signature, ClassId)| signature.hash();
                classes.insert_unique(signature.hash(), (signature, class), rehash);
                class
            }
        };
        let shapes = &mut self.shapes[id.index()];
        shapes.last = Some(Last { asked: first.masked(shapes.asked), signature, class });
        class
    }

    #[cold]
    fn find_class(
        &mut self,
        id: RelationId,
        first: Packed,
        relation: &Relation,
        row: RowId,
    ) -> ClassId {
        let mut matching = Vec::new();
        for shape in &self.shapes[id.index()].all {
            let Some(group) = shape.group(first, relation, row) else { continue };
            let holds = |id: &&ConditionId| self.get(**id).holds(relation, row);
            matching.extend(shape.groups[group].conditions.iter().filter(holds));
        }
        self.class_for(matching)
    }
}

impl Shape {
    fn group(&self, first: Packed, relation: &Relation, row: RowId) -> Option<usize> {
        let asked = first.masked(self.mask);
        let same = |group: &Group| {
            group.packed == asked && (self.is_packed() || self.holds(group, relation, row))
        };
        if self.groups.len() <= FEW {
            return self.groups.iter().position(same);
        }
        self.table.find(asked.hash(), |group| same(&self.groups[*group])).copied()
    }

    /// Whether the first terms of a fact say all that is asked.
    fn is_packed(&self) -> bool {
        self.columns.last().is_none_or(|last| *last < Packed::COLUMNS)
    }

    #[cold]
    fn holds(&self, group: &Group, relation: &Relation, row: RowId) -> bool {
        let mut pairs = self.columns.iter().zip(&group.constants);
        pairs.all(|(column, term)| relation.term(row, *column) == *term)
    }
}

/// What is asked of the first columns.
fn pack(terms: impl Iterator<Item = (usize, TermId)>) -> Packed {
    let first = terms.filter(|(column, _)| *column < Packed::COLUMNS);
    first.fold(Packed::default(), |packed, (column, term)| packed.with(column, term))
}

/// The class of facts that no rule asks for.
pub const UNREAD: ClassId = ClassId(0);

/// Which conditions have facts, so that a rule that cannot fire is not even tried.
///
/// Shape: facts per class; per condition, how many of its classes have facts, and whether any ever
/// had. Joins over the past may need what lives no more, so what was woken stays awake.
pub struct Live {
    facts: Vec<usize>,
    classes: Vec<usize>,
    had: Vec<bool>,
    /// The conditions that had their first fact since somebody last looked.
    pub woken: Vec<ConditionId>,
}

impl Live {
    /// No facts yet.
    pub fn new(conditions: &Conditions) -> Self {
        let (classes, had) = (vec![0; conditions.len()], vec![false; conditions.len()]);
        Self { facts: Vec::new(), classes, had, woken: Vec::new() }
    }

    /// Whether some fact matches the condition.
    pub fn has(&self, condition: ConditionId) -> bool {
        self.classes[condition.index()] > 0
    }

    /// Whether some fact ever matched the condition.
    pub fn had(&self, condition: ConditionId) -> bool {
        self.had[condition.index()]
    }

    /// One more fact of a class.
    #[inline]
    pub fn enter(&mut self, conditions: &Conditions, class: ClassId) {
        if class == UNREAD {
            return;
        }
        if class.index() >= self.facts.len() {
            self.facts.resize(class.index() + 1, 0);
        }
        self.facts[class.index()] += 1;
        if self.facts[class.index()] == 1 {
            self.enter_first(conditions, class);
        }
    }

    #[cold]
    fn enter_first(&mut self, conditions: &Conditions, class: ClassId) {
        for id in conditions.class(class) {
            self.classes[id.index()] += 1;
            if !std::mem::replace(&mut self.had[id.index()], true) {
                self.woken.push(*id);
            }
        }
    }

    /// One fact of a class less.
    #[inline]
    pub fn leave(&mut self, conditions: &Conditions, class: ClassId) {
        if class == UNREAD {
            return;
        }
        self.facts[class.index()] -= 1;
        if self.facts[class.index()] == 0 {
            conditions.class(class).iter().for_each(|id| self.classes[id.index()] -= 1);
        }
    }
}
