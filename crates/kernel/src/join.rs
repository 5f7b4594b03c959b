//! Joins: walk a tree of steps from a trigger to the heads it derives.
//!
//! The walk itself is the same for every purpose. An `Observer` decides which facts it may see and
//! until when they hold (now, or before the tick), whether negation is asked, and what becomes of a
//! derivation.

use crate::guard::{Evaluator, compute, equal};
use crate::ids::{FactId, RelationId, RowId, RuleId, Slot, TermId};
use crate::instant::{Instant, NEVER};
use crate::plan::{Access, Live, Lookup, Node, Operand, Step, Tree};
use crate::relation::Relation;
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
        terms: &[TermId],
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
}

/// Keys up to this long are built on the stack.
const SHORT: usize = 8;

fn resolve(operand: &Operand, slots: &[TermId]) -> TermId {
    match operand {
        Operand::Slot(slot) => slots[slot.index()],
        Operand::Term(term) => *term,
    }
}

fn with_terms<R>(operands: &[Operand], slots: &[TermId], then: impl FnOnce(&[TermId]) -> R) -> R {
    if operands.len() <= SHORT {
        let mut short = [TermId(0); SHORT];
        for (place, operand) in short.iter_mut().zip(operands) {
            *place = resolve(operand, slots);
        }
        return then(&short[..operands.len()]);
    }
    then(&operands.iter().map(|operand| resolve(operand, slots)).collect::<Vec<_>>())
}

impl Tree {
    /// Fetch the places where a walk will look first.
    pub fn warm(&self, relations: &[Relation], slots: &[TermId]) {
        for node in &self.roots {
            if let Step::Match(lookup, _) = &node.step
                && let Access::Index(index) = &lookup.access
            {
                let relation = &relations[lookup.relation.index()];
                let first = with_terms(&lookup.key, slots, |key| relation.first(*index, key));
                std::hint::black_box(first);
            }
        }
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
    ) -> bool {
        for node in &tree.roots {
            let can_fire = node.needs.iter().all(|condition| self.live.has(*condition));
            if (can_fire || !O::ASKS_NEGATION) && !self.visit(node, slots, until, observer) {
                return false;
            }
        }
        true
    }

    fn descend<O: Observer>(
        &mut self,
        nodes: &[Node],
        slots: &mut [TermId],
        until: Instant,
        observer: &mut O,
    ) -> bool {
        nodes.iter().all(|node| self.visit(node, slots, until, observer))
    }

    fn visit<O: Observer>(
        &mut self,
        node: &Node,
        slots: &mut [TermId],
        until: Instant,
        observer: &mut O,
    ) -> bool {
        match &node.step {
            Step::Match(lookup, binds) => {
                let relation = &self.relations[lookup.relation.index()];
                match &lookup.access {
                    Access::Row => with_terms(&lookup.key, slots, |terms| relation.find(terms))
                        .is_none_or(|row| {
                            self.follow(node, lookup, binds, row, slots, until, observer)
                        }),
                    Access::Index(index) => {
                        let mut next =
                            with_terms(&lookup.key, slots, |key| relation.first(*index, key));
                        while let Some(row) = next {
                            if !self.follow(node, lookup, binds, row, slots, until, observer) {
                                return false;
                            }
                            next = relation.next(*index, row);
                        }
                        true
                    }
                    Access::Scan => relation
                        .rows()
                        .all(|row| self.follow(node, lookup, binds, row, slots, until, observer)),
                }
            }
            Step::Absent(lookup) => {
                let go_on = !O::ASKS_NEGATION || self.is_absent(lookup, slots);
                !go_on || self.descend(&node.then, slots, until, observer)
            }
            Step::Test(builtin, inputs) => {
                let Self { dictionary, evaluator, .. } = self;
                let holds =
                    with_texts(inputs, slots, dictionary, |texts| evaluator.test(*builtin, texts));
                !holds || self.descend(&node.then, slots, until, observer)
            }
            Step::Compute(builtin, inputs, slot) => {
                let dictionary = &*self.dictionary;
                let result =
                    with_texts(inputs, slots, dictionary, |texts| compute(*builtin, texts));
                let Some(result) = result else { return true };
                slots[slot.index()] = self.dictionary.intern(&result);
                self.descend(&node.then, slots, until, observer)
            }
            Step::Equals(builtin, inputs, expected) | Step::Yields(builtin, inputs, expected) => {
                let dictionary = &*self.dictionary;
                let result =
                    with_texts(inputs, slots, dictionary, |texts| compute(*builtin, texts));
                let expected = dictionary.text(resolve(expected, slots));
                let holds = result.is_some_and(|result| match &node.step {
                    Step::Yields(..) => result == expected,
                    _ => equal(&result, expected),
                });
                !holds || self.descend(&node.then, slots, until, observer)
            }
            Step::Derive(rule, relation, terms) => {
                with_terms(terms, slots, |terms| observer.derive(*rule, *relation, terms, until))
            }
        }
    }

    #[allow(clippy::too_many_arguments, reason = "the state of the walk, on the stack")]
    fn follow<O: Observer>(
        &mut self,
        node: &Node,
        lookup: &Lookup,
        binds: &[(usize, Slot)],
        row: RowId,
        slots: &mut [TermId],
        until: Instant,
        observer: &mut O,
    ) -> bool {
        let relation = &self.relations[lookup.relation.index()];
        let fact = FactId { relation: lookup.relation, row };
        let lifetime = observer.until(relation, fact);
        if lifetime == NEVER || !repeats_hold(lookup, relation, row) {
            return true;
        }
        for (column, slot) in binds {
            slots[slot.index()] = relation.term(row, *column);
        }
        observer.enter(fact);
        let go_on = self.descend(&node.then, slots, until.min(lifetime), observer);
        observer.leave();
        go_on
    }

    fn is_absent(&self, lookup: &Lookup, slots: &[TermId]) -> bool {
        let relation = &self.relations[lookup.relation.index()];
        let matches =
            |row: RowId| relation.until(row) != NEVER && repeats_hold(lookup, relation, row);
        with_terms(&lookup.key, slots, |key| match &lookup.access {
            Access::Row => !relation.find(key).is_some_and(matches),
            Access::Index(index) => {
                let rows = std::iter::successors(relation.first(*index, key), |row| {
                    relation.next(*index, *row)
                });
                !rows.into_iter().any(matches)
            }
            Access::Scan => !relation.rows().any(matches),
        })
    }
}

fn repeats_hold(lookup: &Lookup, relation: &Relation, row: RowId) -> bool {
    let same =
        |(one, other): &(usize, usize)| relation.term(row, *one) == relation.term(row, *other);
    lookup.repeats.iter().all(same)
}

fn with_texts<R>(
    operands: &[Operand],
    slots: &[TermId],
    dictionary: &Dictionary,
    then: impl FnOnce(&[&str]) -> R,
) -> R {
    let texts = operands.iter().map(|operand| dictionary.text(resolve(operand, slots)));
    then(&texts.collect::<Vec<&str>>())
}
