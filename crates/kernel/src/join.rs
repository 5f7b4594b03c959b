//! Joins: walk a tree of steps from a trigger to the heads it derives.
//!
//! The walk itself is the same for every purpose. An `Observer` decides which facts it may see and
//! until when they hold (now, or before the tick), whether negation is asked, and what becomes of a
//! derivation.

use crate::guard::{Builtin, Evaluator, equal};
use crate::ids::{FactId, IndexId, RelationId, RowId, RuleId, Slot, TermId};
use crate::instant::{Instant, NEVER};
use crate::key::{Key, Packed};
use crate::plan::{Access, Conclusion, Direct, Live, Lookup, Node, Operand, Step, Template, Tree};
use crate::recall::Question;
use crate::relation::{Matches, Relation};
use crate::term::Dictionary;

/// What a walk sees, and what becomes of what it finds.
pub trait Observer {
    /// Whether negated atoms are asked. Without them a walk finds too much, never too little.
    const ASKS_NEGATION: bool;

    /// Until when the fact holds for this walk; NEVER if it is not to be seen.
    fn until(&self, relation: &Relation, fact: FactId) -> Instant;

    /// The walk goes on from this fact.
    fn enter(&mut self, _fact: FactId) {}

    /// The walk comes back from the last fact entered.
    fn leave(&mut self) {}

    /// A derivation. Returns whether to look for more.
    fn derive(
        &mut self,
        rule: RuleId,
        relation: RelationId,
        terms: Key<'_>,
        until: Instant,
    ) -> bool;
}

/// What a walk reads. Functions may make terms, hence the dictionary.
pub struct Scene<'a> {
    /// The facts.
    pub relations: &'a [Relation],
    /// Which conditions have facts.
    pub live: &'a Live,
    /// The terms.
    pub dictionary: &'a mut Dictionary,
    /// The guards.
    pub evaluator: &'a mut Evaluator,
    /// Counts the lookups of atoms.
    pub lookups: &'a mut u64,
}

impl Tree {
    /// Ask for the places where a walk will look first, from a trigger with these first terms.
    pub fn warm(&self, relations: &[Relation], first: Packed, slots: &[TermId]) {
        for direct in &self.direct {
            let relation = &relations[direct.relation.index()];
            let key = Key::Packed(direct.key.of(first));
            relation.prefetch_key(direct.index, key);
        }
        for root in &self.awake {
            let node = &self.roots[*root];
            if let Step::Match(lookup, _) = &node.step
                && let Access::Index(index) = &lookup.access
            {
                let relation = &relations[lookup.relation.index()];
                lookup.key.fill(slots, |key| relation.prefetch_key(*index, key));
            }
        }
    }
}

/// What can be seen without slots, guards and terms that are made.
pub struct Sight<'a> {
    /// The facts.
    pub relations: &'a [Relation],
    /// Which conditions have facts.
    pub live: &'a Live,
    /// Counts the lookups of atoms.
    pub lookups: &'a mut u64,
}

impl Sight<'_> {
    /// Derive what follows from a trigger with these first terms and one other fact. Returns whether to look for more.
    #[inline(always)]
    pub fn join_all<O: Observer>(
        mut self,
        all: &[Direct],
        first: Packed,
        until: Instant,
        observer: &mut O,
    ) -> bool {
        for direct in all {
            if !self.join(direct, first, until, observer) {
                return false;
            }
        }
        true
    }

    #[inline(always)]
    fn join<O: Observer>(
        &mut self,
        direct: &Direct,
        first: Packed,
        until: Instant,
        observer: &mut O,
    ) -> bool {
        if O::ASKS_NEGATION && !self.live.has(direct.condition) {
            return true;
        }
        *self.lookups += 1;
        let relation = &self.relations[direct.relation.index()];
        let rows = match direct.hashed {
            Some((hash, from)) => {
                let hash = hash.wrapping_add(u64::from(first.term(from).0));
                relation.matches_hashed(direct.index, hash, || direct.key.of(first))
            }
            None => relation.matches(direct.index, Key::Packed(direct.key.of(first))),
        };
        if rows.is_empty() {
            return true;
        }
        let begun = direct.begun.of(first);
        let found = Found { id: direct.relation, relation, rows };
        conclude(&direct.conclusion, begun, found, until, observer)
    }
}

impl Scene<'_> {
    /// Walk a tree. `slots` begins with the trigger's terms, `until` is the trigger's.
    pub fn walk<O: Observer>(
        &mut self,
        tree: &Tree,
        slots: &mut [TermId],
        until: Instant,
        observer: &mut O,
    ) {
        let mut walk = Walk { scene: self, slots, observer };
        for root in &tree.awake {
            let node = &tree.roots[*root];
            let live = walk.scene.live;
            let can_fire = node.needs.iter().all(|condition| live.has(*condition));
            if !can_fire && O::ASKS_NEGATION {
                continue;
            }
            // Most walks begin so; another call for each of them would show.
            let go_on = if let Step::Match(lookup, binds) = &node.step
                && let Access::Index(index) = lookup.access
            {
                walk.find_by_index(node, lookup, binds, index, until)
            } else {
                walk.visit(node, until)
            };
            if !go_on {
                return;
            }
        }
    }
}

/// A walk on its way. Its methods return whether to look for more.
struct Walk<'w, 's, O> {
    scene: &'w mut Scene<'s>,
    slots: &'w mut [TermId],
    observer: &'w mut O,
}

impl<O: Observer> Walk<'_, '_, O> {
    #[inline]
    fn visit(&mut self, node: &Node, until: Instant) -> bool {
        // Comparisons apart from other steps, and one after the other, to have less to put away on the way.
        let mut node = node;
        while let Step::Test(builtin, inputs) = &node.step
            && let Some(holds) = self.compares(*builtin, inputs)
        {
            match &node.then[..] {
                _ if !holds => return true,
                [next] if next.awake => node = next,
                _ => return self.descend(node, until),
            }
        }
        match &node.step {
            Step::Derive(rule, relation, terms) => self.derive(*rule, *relation, terms, until),
            _ => self.visit_any(node, until),
        }
    }

    #[inline(never)]
    fn visit_any(&mut self, node: &Node, until: Instant) -> bool {
        match &node.step {
            Step::Match(lookup, binds) => self.find(node, lookup, binds, until),
            Step::Absent(lookup) => {
                let go_on = !O::ASKS_NEGATION || self.is_absent(lookup);
                !go_on || self.descend(node, until)
            }
            Step::Test(Builtin::SameTerm, inputs) => {
                !self.is_same(inputs) || self.descend(node, until)
            }
            Step::Test(Builtin::NotSameTerm, inputs) => {
                self.is_same(inputs) || self.descend(node, until)
            }
            Step::Test(builtin, inputs) => {
                !self.holds(*builtin, inputs) || self.descend(node, until)
            }
            Step::Compute(builtin, inputs, slot) => {
                let Some(result) = self.compute(*builtin, inputs) else { return true };
                self.slots[slot.index()] = self.scene.dictionary.intern(&result);
                self.descend(node, until)
            }
            Step::Equals(builtin, inputs, expected) => {
                let result = self.compute(*builtin, inputs);
                let expected = self.scene.dictionary.text(expected.resolve(self.slots));
                let holds = result.is_some_and(|result| equal(&result, expected));
                !holds || self.descend(node, until)
            }
            Step::Yields(builtin, inputs, expected) => {
                let result = self.compute(*builtin, inputs);
                let expected = self.scene.dictionary.text(expected.resolve(self.slots));
                let holds = result.is_some_and(|result| result == expected);
                !holds || self.descend(node, until)
            }
            Step::Derive(rule, relation, terms) => self.derive(*rule, *relation, terms, until),
        }
    }

    #[inline]
    fn descend(&mut self, node: &Node, until: Instant) -> bool {
        node.then.iter().all(|next| match &next.step {
            _ if !next.awake => true,
            // Most walks end here; a call for each of them would show.
            Step::Derive(rule, relation, terms) => self.derive(*rule, *relation, terms, until),
            _ => self.visit(next, until),
        })
    }

    #[inline(always)]
    fn derive(
        &mut self,
        rule: RuleId,
        relation: RelationId,
        terms: &Template,
        until: Instant,
    ) -> bool {
        terms.fill(self.slots, |terms| self.observer.derive(rule, relation, terms, until))
    }

    fn find(
        &mut self,
        node: &Node,
        lookup: &Lookup,
        binds: &[(usize, Slot)],
        until: Instant,
    ) -> bool {
        match &lookup.access {
            Access::Index(index) => self.find_by_index(node, lookup, binds, *index, until),
            Access::Row => self.find_row(node, lookup, binds, until),
            Access::Scan => self.scan(node, lookup, binds, until),
        }
    }

    #[inline(always)]
    fn find_by_index(
        &mut self,
        node: &Node,
        lookup: &Lookup,
        binds: &[(usize, Slot)],
        index: IndexId,
        until: Instant,
    ) -> bool {
        *self.scene.lookups += 1;
        let relation = &self.scene.relations[lookup.relation.index()];
        let mut rows = match lookup.key.packed(self.slots) {
            Some(key) => relation.matches(index, Key::Packed(key)),
            None => lookup.key.fill_terms(self.slots, |key| relation.matches(index, key)),
        };
        match &node.concludes {
            _ if rows.is_empty() => true,
            Some(conclusion) => {
                let begun = conclusion.begin(self.slots);
                let found = Found { id: lookup.relation, relation, rows };
                conclude(conclusion, begun, found, until, self.observer)
            }
            None => rows.all(|row| self.follow(node, lookup, binds, row, until)),
        }
    }

    fn find_row(
        &mut self,
        node: &Node,
        lookup: &Lookup,
        binds: &[(usize, Slot)],
        until: Instant,
    ) -> bool {
        *self.scene.lookups += 1;
        let relation = &self.scene.relations[lookup.relation.index()];
        let row = lookup.key.fill(self.slots, |key| relation.find(key));
        row.is_none_or(|row| self.follow(node, lookup, binds, row, until))
    }

    fn scan(
        &mut self,
        node: &Node,
        lookup: &Lookup,
        binds: &[(usize, Slot)],
        until: Instant,
    ) -> bool {
        *self.scene.lookups += 1;
        let relation = &self.scene.relations[lookup.relation.index()];
        relation.rows().all(|row| self.follow(node, lookup, binds, row, until))
    }

    /// Go on from a row that was found, if it is to be seen.
    #[inline(always)]
    fn follow(
        &mut self,
        node: &Node,
        lookup: &Lookup,
        binds: &[(usize, Slot)],
        row: RowId,
        until: Instant,
    ) -> bool {
        let relation = &self.scene.relations[lookup.relation.index()];
        let fact = FactId { relation: lookup.relation, row };
        let lifetime = self.observer.until(relation, fact);
        if lifetime == NEVER || !repeats_hold(lookup, relation, row) {
            return true;
        }
        for (column, slot) in binds {
            self.slots[slot.index()] = relation.term(row, *column);
        }
        self.observer.enter(fact);
        let go_on = self.descend(node, until.min(lifetime));
        self.observer.leave();
        go_on
    }

    /// Terms are the same when their ids are.
    fn is_same(&self, inputs: &[Operand]) -> bool {
        let mut terms = inputs.iter().map(|input| input.resolve(self.slots));
        terms.next() == terms.next()
    }

    /// Whether a comparison of two whole numbers holds, if it is one: the dictionary knows them.
    #[inline(always)]
    fn compares(&self, builtin: Builtin, inputs: &[Operand]) -> Option<bool> {
        let [left, right] = inputs else { return None };
        let left = self.scene.dictionary.whole_number(left.resolve(self.slots))?;
        let right = self.scene.dictionary.whole_number(right.resolve(self.slots))?;
        builtin.holds_for(left, right)
    }

    /// Whether a test holds that compares no whole numbers. Most ask for the kind of a term, which the
    /// dictionary knows, too. What others than the kernel answer is remembered.
    fn holds(&mut self, builtin: Builtin, inputs: &[Operand]) -> bool {
        let Scene { dictionary, evaluator, .. } = &mut *self.scene;
        if let [term] = inputs
            && let Some(holds) = builtin.holds_of(dictionary.kind(term.resolve(self.slots)))
        {
            return holds;
        }
        let terms = inputs.iter().map(|input| input.resolve(self.slots));
        let question = builtin.external().and_then(|id| Question::of(id, terms));
        if let Some(known) = question.and_then(|question| evaluator.recall(question)) {
            return known;
        }
        let holds =
            with_texts(inputs, self.slots, dictionary, |texts| evaluator.test(builtin, texts));
        if let Some(question) = question {
            evaluator.remember(question, holds);
        }
        holds
    }

    fn compute(&mut self, builtin: Builtin, inputs: &[Operand]) -> Option<String> {
        let Scene { dictionary, evaluator, .. } = &mut *self.scene;
        with_texts(inputs, self.slots, dictionary, |texts| evaluator.compute(builtin, texts))
    }

    fn is_absent(&self, lookup: &Lookup) -> bool {
        let relation = &self.scene.relations[lookup.relation.index()];
        let matches =
            |row: RowId| relation.until(row) != NEVER && repeats_hold(lookup, relation, row);
        lookup.key.fill(self.slots, |key| match &lookup.access {
            Access::Row => !relation.find(key).is_some_and(matches),
            Access::Index(index) => !relation.matches(*index, key).any(matches),
            Access::Scan => !relation.rows().any(matches),
        })
    }
}

/// Rows that were found.
struct Found<'a> {
    id: RelationId,
    relation: &'a Relation,
    rows: Matches<'a>,
}

/// Derive what each of the rows that is to be seen concludes. Returns whether to look for more.
#[inline(always)]
fn conclude<O: Observer>(
    conclusion: &Conclusion,
    begun: Packed,
    Found { id, relation, rows }: Found<'_>,
    until: Instant,
    observer: &mut O,
) -> bool {
    for row in rows {
        let fact = FactId { relation: id, row };
        let lifetime = observer.until(relation, fact);
        if lifetime == NEVER {
            continue;
        }
        let head = Key::Packed(conclusion.end(begun, relation.first_terms(row)));
        let until = until.min(lifetime);
        observer.enter(fact);
        let go_on = observer.derive(conclusion.rule, conclusion.relation, head, until);
        observer.leave();
        if !go_on {
            return false;
        }
    }
    true
}

#[inline]
fn repeats_hold(lookup: &Lookup, relation: &Relation, row: RowId) -> bool {
    let same =
        |(one, other): &(usize, usize)| relation.term(row, *one) == relation.term(row, *other);
    lookup.repeats.iter().all(same)
}

/// The texts of so many operands need no memory of their own.
const FEW: usize = 4;

fn with_texts<R>(
    operands: &[Operand],
    slots: &[TermId],
    dictionary: &Dictionary,
    then: impl FnOnce(&[&str]) -> R,
) -> R {
    let texts = operands.iter().map(|operand| dictionary.text(operand.resolve(slots)));
    if operands.len() > FEW {
        return then(&texts.collect::<Vec<&str>>());
    }
    let mut few = [""; FEW];
    for (place, text) in few.iter_mut().zip(texts) {
        *place = text;
    }
    then(&few[..operands.len()])
}
