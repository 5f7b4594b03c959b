//! Plans: how rules are joined.
//!
//! A *condition* is an atom's pattern of constants and repetitions, shared by all the rules that ask
//! it. A fact that matches a condition triggers the condition's *tree*: the joins of all those rules,
//! with equal beginnings merged, so that what rules share is evaluated once. Join order is chosen
//! from statistics, the most selective atom first, and the order decides which indexes exist.

mod conclusion;
mod condition;
mod order;
mod outline;
mod statistics;
mod template;
mod tree;
mod weave;

pub use conclusion::{Conclusion, Direct, Woven};
pub use condition::{Condition, Conditions, Live, UNREAD};
pub use order::{Catalog, Planner};
pub use statistics::Statistics;
pub use template::{Operand, Template};
pub use tree::{Access, Lookup, Node, Step, Tree};
pub use weave::Weave;

use crate::ids::{ConditionId, RuleId, TermId};
use crate::plan::outline::Outline;
use crate::relation::Relation;
use crate::rule::Program;

/// What starts a rule's join.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trigger {
    /// Nothing: a rule without positive atoms.
    Start,
    /// A fact for the positive atom at this position.
    Positive(usize),
    /// A fact for the negated atom at this position.
    Negation(usize),
    /// A fact for the head at this position, whose derivations are sought.
    Head(usize),
}

/// All the trees of a program.
pub struct Plan {
    /// Per stratum and body condition: the rules with a positive atom of that condition.
    pub rising: Vec<Vec<Tree>>,
    /// Per stratum and body condition: the rules with a negated atom of that condition.
    pub blocking: Vec<Vec<Tree>>,
    /// Per stratum: the rules without positive atoms.
    pub starts: Vec<Tree>,
    /// Per head condition: the rules that may derive such a fact. Empty until retraction needs them.
    pub deriving: Vec<Tree>,
    /// Per stratum and relation: whether its facts trigger any of the rising trees.
    rises: Vec<Vec<bool>>,
    /// Per stratum and relation: whether its facts trigger any of the blocking trees.
    blocks: Vec<Vec<bool>>,
    /// How many slots the deepest join fills.
    pub slots: usize,
    /// Per body condition: the trees that its first fact may wake.
    waiting: Vec<Vec<Place>>,
    /// The sizes of the relations when the plan was made.
    sizes: Vec<usize>,
}

/// Where a tree is in a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Rising(usize, usize),
    Blocking(usize, usize),
    Start(usize),
    Deriving(usize),
}

impl Place {
    /// The body condition whose facts start the tree's walks.
    fn trigger(self) -> Option<ConditionId> {
        match self {
            Self::Rising(_, condition) | Self::Blocking(_, condition) => {
                Some(ConditionId::at(condition))
            }
            Self::Start(_) | Self::Deriving(_) => None,
        }
    }
}

/// Relations smaller than this never make a plan stale.
const SMALL: usize = 256;

impl Plan {
    /// Plan every rule for the facts there are now, and keep the indexes that the plan needs by now.
    pub fn new(
        program: &Program<TermId>,
        body: &Conditions,
        head: &Conditions,
        relations: &mut [Relation],
        live: &Live,
        with_deriving: bool,
    ) -> Self {
        let of_rules = program.rules.iter().map(|rule| rule.stratum + 1);
        let of_operators = program.operators.iter().map(|operator| operator.stratum() + 1);
        let strata = of_rules.chain(of_operators).max().unwrap_or(1);
        let trees = |conditions: &Conditions| -> Vec<Tree> {
            let ids = (0..conditions.len()).map(ConditionId::at);
            ids.map(|id| Tree::from(&conditions.get(id).columns[..])).collect()
        };
        let mut plan = Self {
            rising: (0..strata).map(|_| trees(body)).collect(),
            blocking: (0..strata).map(|_| trees(body)).collect(),
            starts: (0..strata).map(|_| Tree::default()).collect(),
            deriving: trees(head),
            rises: Vec::new(),
            blocks: Vec::new(),
            slots: 0,
            waiting: vec![Vec::new(); body.len()],
            sizes: relations.iter().map(Relation::expected).collect(),
        };
        let statistics = Statistics::of(relations);
        let mut planner = Planner::new(body, &statistics, relations.len());
        for (position, rule) in program.rules.iter().enumerate() {
            let id = RuleId::at(position);
            let stratum = rule.stratum;
            let outline = Outline::new(rule, body);
            for (atom, condition) in outline.positives.iter().enumerate() {
                let tree = &mut plan.rising[stratum][condition.index()];
                planner.add(tree, id, &outline, Trigger::Positive(atom));
            }
            for atom in 0..rule.negations.len() {
                let condition = body.id(&Condition::of(&rule.negations[atom]));
                let tree = &mut plan.blocking[stratum][condition.index()];
                planner.add(tree, id, &outline, Trigger::Negation(atom));
            }
            if rule.positives.is_empty() {
                planner.add(&mut plan.starts[stratum], id, &outline, Trigger::Start);
            }
            if with_deriving {
                for atom in 0..rule.heads.len() {
                    let condition = head.id(&Condition::of(&rule.heads[atom]));
                    let tree = &mut plan.deriving[condition.index()];
                    planner.add(tree, id, &outline, Trigger::Head(atom));
                }
            }
        }
        plan.slots = planner.slots;
        let triggers = |strata: &[Vec<Tree>]| {
            let of_stratum = |trees: &Vec<Tree>| {
                let mut triggers = vec![false; relations.len()];
                for (condition, tree) in trees.iter().enumerate() {
                    let relation = body.get(ConditionId::at(condition)).relation;
                    triggers[relation.index()] |= !tree.is_empty();
                }
                triggers
            };
            strata.iter().map(of_stratum).collect()
        };
        (plan.rises, plan.blocks) = (triggers(&plan.rising), triggers(&plan.blocking));
        for (relation, columns) in relations.iter_mut().zip(planner.catalog.into_columns()) {
            relation.set_indexes(columns);
        }
        for place in plan.places() {
            plan.wake_tree(place, live, relations);
            let needs: Vec<ConditionId> = plan.tree_at(place).needs().collect();
            for condition in needs.into_iter().chain(place.trigger()) {
                let waiting = &mut plan.waiting[condition.index()];
                if waiting.last() != Some(&place) {
                    waiting.push(place);
                }
            }
        }
        plan
    }

    fn places(&self) -> Vec<Place> {
        let mut places = Vec::new();
        for stratum in 0..self.starts.len() {
            places.push(Place::Start(stratum));
            places.extend((0..self.rising[stratum].len()).map(|at| Place::Rising(stratum, at)));
            places.extend((0..self.blocking[stratum].len()).map(|at| Place::Blocking(stratum, at)));
        }
        places.extend((0..self.deriving.len()).map(Place::Deriving));
        places.retain(|place| !self.tree_in(*place).is_empty());
        places
    }

    fn tree_in(&self, place: Place) -> &Tree {
        match place {
            Place::Rising(stratum, condition) => &self.rising[stratum][condition],
            Place::Blocking(stratum, condition) => &self.blocking[stratum][condition],
            Place::Start(stratum) => &self.starts[stratum],
            Place::Deriving(condition) => &self.deriving[condition],
        }
    }

    fn tree_at(&mut self, place: Place) -> &mut Tree {
        match place {
            Place::Rising(stratum, condition) => &mut self.rising[stratum][condition],
            Place::Blocking(stratum, condition) => &mut self.blocking[stratum][condition],
            Place::Start(stratum) => &mut self.starts[stratum],
            Place::Deriving(condition) => &mut self.deriving[condition],
        }
    }

    /// Wake the trees that waited for the conditions that had their first fact.
    pub fn wake(&mut self, live: &mut Live, relations: &mut [Relation]) {
        for condition in std::mem::take(&mut live.woken) {
            for place in std::mem::take(&mut self.waiting[condition.index()]) {
                self.wake_tree(place, live, relations);
            }
        }
    }

    fn wake_tree(&mut self, place: Place, live: &Live, relations: &mut [Relation]) {
        if place.trigger().is_none_or(|condition| live.had(condition)) {
            self.tree_at(place).wake(live, relations);
        }
    }

    /// Whether some relation has grown or shrunk so much that another order may be better.
    pub fn is_stale(&self, relations: &[Relation]) -> bool {
        self.sizes.iter().zip(relations).any(|(planned, relation)| {
            let (planned, now) = ((*planned).max(SMALL), relation.expected().max(SMALL));
            now > 8 * planned || planned > 8 * now
        })
    }

    /// By relation, whether its facts may trigger rules of a stratum.
    #[inline]
    pub fn rises(&self, stratum: usize) -> &[bool] {
        &self.rises[stratum]
    }

    /// By relation, whether its facts may block rules of a stratum.
    #[inline]
    pub fn blocks(&self, stratum: usize) -> &[bool] {
        &self.blocks[stratum]
    }

    /// Whether the rules in a stratum negate anything.
    pub fn negates(&self, stratum: usize) -> bool {
        self.blocks[stratum].contains(&true)
    }

    /// The tree of a condition in one of the tables above.
    pub fn tree(trees: &[Tree], condition: ConditionId) -> Option<&Tree> {
        trees.get(condition.index()).filter(|tree| !tree.is_empty())
    }
}
