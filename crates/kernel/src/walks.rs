//! Walks: from a fact at hand to the trees of the plan, and through them.

use hashbrown::HashMap;

use crate::derivations::Derivations;
use crate::ids::{ClassId, FactId};
use crate::instant::{FOREVER, Instant};
use crate::join::{Observer, Scene, Sight};
use crate::kernel::Kernel;
use crate::key::Packed;
use crate::plan::{Plan, Tree};

/// What a walk reads of the kernel, beside the plan and the slots that are borrowed with it.
macro_rules! scene {
    ($kernel:ident) => {
        Scene {
            relations: &$kernel.relations,
            live: &$kernel.live,
            dictionary: &mut $kernel.dictionary,
            evaluator: &mut $kernel.evaluator,
            lookups: &mut $kernel.totals.lookups,
        }
    };
}

/// What of it can be seen without slots, guards and terms that are made: most walks need no more.
macro_rules! sight {
    ($kernel:ident) => {
        Sight {
            relations: &$kernel.relations,
            live: &$kernel.live,
            lookups: &mut $kernel.totals.lookups,
        }
    };
}

impl Kernel {
    /// Walk the trees that a fact triggers through its body conditions.
    pub(crate) fn walk_body<'k, O: Observer>(
        &'k mut self,
        fact: FactId,
        until: Instant,
        trees: impl Fn(&Plan) -> &[Tree],
        observer: impl FnOnce(&'k mut Derivations, &'k HashMap<FactId, Instant>) -> O,
    ) {
        let relation = &self.relations[fact.relation.index()];
        let known = (relation.class(fact.row), relation.first_terms(fact.row));
        self.walk_known(fact, known, until, trees, observer);
    }

    /// As `walk_body`, of a fact whose class and first terms are at hand.
    #[inline(always)]
    pub(crate) fn walk_known<'k, O: Observer>(
        &'k mut self,
        fact: FactId,
        (class, first): (ClassId, Packed),
        until: Instant,
        trees: impl Fn(&Plan) -> &[Tree],
        observer: impl FnOnce(&'k mut Derivations, &'k HashMap<FactId, Instant>) -> O,
    ) {
        self.wake();
        let mut observer = observer(&mut self.derivations, &self.prior);
        for condition in self.body.class(class) {
            let Some(tree) = Plan::tree(trees(&self.plan), *condition) else { continue };
            let goes_on = sight!(self).join_all(&tree.direct, first, until, &mut observer);
            if goes_on && !tree.awake.is_empty() {
                let relation = &self.relations[fact.relation.index()];
                self.body.get(*condition).bind(relation, fact.row, &mut self.slots);
                scene!(self).walk(tree, &mut self.slots, until, &mut observer);
            }
        }
    }

    /// Warm the first lookups of the trees that a fact triggers.
    pub(crate) fn warm_body(&mut self, fact: FactId, stratum: usize) {
        self.wake();
        let relation = &self.relations[fact.relation.index()];
        for condition in self.body.class(relation.class(fact.row)) {
            if let Some(tree) = Plan::tree(&self.plan.rising[stratum], *condition) {
                self.body.get(*condition).bind(relation, fact.row, &mut self.slots);
                tree.warm(&self.relations, relation.first_terms(fact.row), &self.slots);
            }
        }
    }

    /// Walk the trees of the rules that may derive a fact.
    pub(crate) fn walk_heads<'k, O: Observer>(
        &'k mut self,
        fact: FactId,
        observer: impl FnOnce(&'k mut Derivations) -> O,
    ) -> O {
        self.wake();
        let mut observer = observer(&mut self.derivations);
        let relation = &self.relations[fact.relation.index()];
        let class = self.head.class_of(fact.relation, relation, fact.row);
        let first = relation.first_terms(fact.row);
        for condition in self.head.class(class) {
            let Some(tree) = Plan::tree(&self.plan.deriving, *condition) else { continue };
            let goes_on = sight!(self).join_all(&tree.direct, first, FOREVER, &mut observer);
            if goes_on && !tree.awake.is_empty() {
                self.head.get(*condition).bind(relation, fact.row, &mut self.slots);
                scene!(self).walk(tree, &mut self.slots, FOREVER, &mut observer);
            }
        }
        observer
    }

    /// Walk the trees of the rules without positive atoms.
    pub(crate) fn walk_starts<'k, O: Observer>(
        &'k mut self,
        stratum: usize,
        observer: impl FnOnce(&'k mut Derivations) -> O,
    ) {
        self.wake();
        let mut observer = observer(&mut self.derivations);
        let mut scene = scene!(self);
        scene.walk(&self.plan.starts[stratum], &mut self.slots, FOREVER, &mut observer);
    }
}
