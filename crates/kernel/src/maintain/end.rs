//! How a tick ends: rows whose facts are gone are given back.

use crate::instant::NEVER;
use crate::kernel::{Change, Kernel};
use crate::maintain::TOGETHER;
use crate::relation::Relation;

impl Kernel {
    /// Give back the rows that ended. Nothing is put into them before the next tick, so what the
    /// tick changed can still be read.
    pub(crate) fn bury(&mut self) {
        let changes = std::mem::take(&mut self.changes);
        for some in changes.chunks(TOGETHER) {
            self.fetch(some.iter().map(|change| change.fact));
            for change in some {
                self.bury_if_ended(*change);
            }
        }
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
            relation.terms(fact.row).for_each(|term| self.dictionary.release(term));
        }
    }
}
