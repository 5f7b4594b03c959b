//! Narrower windows: a relation's facts as if they ended earlier.
//!
//! A window that is shorter by a span sees every fact end that much earlier, and with them all that
//! follows without negation. So one materialisation for the widest window serves the narrower ones.

use super::Operator;
use crate::ids::{FactId, RelationId, TermId};
use crate::instant::{FOREVER, Instant, NEVER};
use crate::kernel::Kernel;

/// A narrowing at work.
pub(crate) struct Narrowing {
    input: RelationId,
    pub(crate) output: RelationId,
    by: i64,
    stratum: usize,
}

impl Narrowing {
    pub(crate) fn new(operator: &Operator) -> Option<Self> {
        let Operator::Narrow { input, output, by, stratum } = operator else { return None };
        Some(Self { input: *input, output: *output, by: *by, stratum: *stratum })
    }
}

impl Kernel {
    /// State the facts that changed as the narrower windows see them, before a stratum that may
    /// read them.
    pub(crate) fn narrow(&mut self, stratum: usize, tick: Instant, anew: bool) {
        for position in 0..self.narrowings.len() {
            let Narrowing { input, stratum: place, .. } = self.narrowings[position];
            if place != stratum {
                continue;
            }
            if anew {
                let rows: Vec<_> = self.relations[input.index()].live().collect();
                for row in rows {
                    self.narrow_fact(position, FactId { relation: input, row }, tick);
                }
            } else {
                for change in 0..self.changes.len() {
                    let fact = self.changes[change].fact;
                    if fact.relation == input {
                        self.narrow_fact(position, fact, tick);
                    }
                }
            }
        }
    }

    fn narrow_fact(&mut self, position: usize, fact: FactId, tick: Instant) {
        let Narrowing { output, by, stratum, .. } = self.narrowings[position];
        let until = match self.until(fact) {
            FOREVER => FOREVER,
            until if until == NEVER => NEVER,
            until => until.plus(-by),
        };
        let until = if until > tick { until } else { NEVER };
        let terms: Vec<TermId> = self.relations[fact.relation.index()].terms(fact.row).collect();
        if until == NEVER && self.relations[output.index()].find(&terms[..]).is_none() {
            return;
        }
        let narrowed = self.row_for(output, &terms[..]);
        self.restate(narrowed, until, stratum);
    }
}
