//! How a tick ends: rows whose facts are gone are given back.

use crate::budget::Budget;
use crate::ids::{FactId, RelationId, TermId};
use crate::instant::{Instant, NEVER};
use crate::kernel::{Change, Kernel, Settings};
use crate::maintain::{Strategy, TOGETHER};
use crate::operator::Operator;
use crate::relation::{Lapse, Relation};
use crate::rule::{Program, Rule, Spanned};

/// Which relations are read by joins alone, if at all: these do not see what has reached its `until`, so where facts end by
/// themselves, theirs can do so when the tick is over, unless it matters how many there are meanwhile.
pub(crate) fn ends_last(program: &Program<TermId>, settings: &Settings) -> Vec<bool> {
    let Budget { facts, bytes, .. } = settings.budget;
    let can = settings.strategy == Strategy::Expiry && facts.is_none() && bytes.is_none();
    let is_free = |relation: RelationId| {
        let operates = |one: &Operator| one.input() == relation || one.output() == relation;
        let spans = |one: Spanned| one.pairs == relation || one.steps == relation;
        let negates =
            |rule: &Rule<TermId>| rule.negations.iter().any(|atom| atom.relation == relation);
        !program.spanned.is_some_and(spans)
            && !program.operators.iter().any(operates)
            && !program.rules.iter().any(negates)
    };
    (0..program.relations.len()).map(|position| can && is_free(RelationId::at(position))).collect()
}

impl Kernel {
    /// Give back the rows that ended. Nothing is put into them before the next tick, so what the
    /// tick changed can still be read.
    pub(crate) fn bury(&mut self) {
        let changes = std::mem::take(&mut self.changes);
        let (unsure, sure) = changes.split_at(self.unsure.min(changes.len()));
        for (place, change) in unsure.iter().enumerate() {
            if let Some(Change { fact, .. }) = unsure.get(place + TOGETHER) {
                self.relations[fact.relation.index()].prefetch(fact.row);
            }
            self.bury_if_ended(*change);
        }
        self.totals.entered += sure.iter().filter(|change| change.before == NEVER).count() as u64;
        self.relations.iter_mut().for_each(Relation::forget_gone);
        self.changes = changes;
    }

    #[inline]
    fn bury_if_ended(&mut self, Change { fact, before }: Change) {
        let relation = &mut self.relations[fact.relation.index()];
        let buried = relation.bury(fact.row);
        self.totals.entered += u64::from(buried.holds && before == NEVER);
        self.totals.left += u64::from(!buried.holds && before != NEVER);
        if buried.is_gone && self.makes_terms[fact.relation.index()] {
            relation.each_term(fact.row, |term| self.dictionary.release(term));
        }
    }

    /// End the facts that were left for now and that reached their `until`: by now it is known which of them were
    /// renewed, the others end and are given back at once.
    pub(crate) fn end_last(&mut self, tick: Instant) {
        let due = self.endings.last.take(tick);
        for facts in &due {
            self.each_some(facts, |kernel, some| kernel.end_for_good(some, tick));
        }
        if !due.is_empty() {
            self.relations.iter_mut().for_each(Relation::forget_gone);
        }
        self.endings.last.give_back(due);
    }

    fn end_for_good(&mut self, facts: &[FactId], tick: Instant) {
        for some in facts.chunk_by(|one, other| one.relation == other.relation) {
            self.end_of(some[0].relation, some, tick);
        }
    }

    /// End facts of one relation.
    #[inline(never)]
    fn end_of(&mut self, id: RelationId, facts: &[FactId], tick: Instant) {
        let Self { relations, dictionary, changes, endings, totals, settings, live, body, .. } =
            self;
        let (relation, makes_terms) = (&mut relations[id.index()], self.makes_terms[id.index()]);
        for fact in facts {
            match relation.end_for_good(fact.row, tick) {
                Lapse::Gone { before, is_stated, class, was } => {
                    changes.push(Change { fact: *fact, before });
                    totals.left += 1;
                    live.leave(body, class);
                    if is_stated || makes_terms {
                        relation.each_term_of(fact.row, was, |term| dictionary.release(term));
                    }
                    relation.give_up(fact.row, was);
                }
                Lapse::Over => {}
                // Its new bucket has it, unless the tick fell beside the grid.
                Lapse::Renewed(until) => {
                    if settings.grid.bucket(until) == settings.grid.bucket(tick) {
                        endings.last.push(until, *fact);
                    }
                }
            }
        }
    }
}
