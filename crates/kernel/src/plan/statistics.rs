//! Statistics: how many facts an atom will match, estimated from a sample of the live facts.

use std::cell::RefCell;

use hashbrown::{HashMap, HashSet};

use crate::ids::{RelationId, TermId};
use crate::key::hash_terms;
use crate::plan::Condition;
use crate::relation::Relation;

/// Facts looked at per relation.
const SAMPLE: usize = 1024;
/// What is assumed of relations while there are no facts at all.
const UNKNOWN_SIZE: f64 = 1_000.0;
const UNKNOWN_SELECTIVITY: f64 = 0.1;

/// The relation, its constants by column, and the columns that are known besides.
type Question = (RelationId, Vec<(usize, TermId)>, Vec<usize>);

/// A sample of every relation.
pub struct Statistics {
    samples: Vec<Sample>,
    /// Whether there are facts at all.
    is_known: bool,
    known: RefCell<HashMap<Question, f64>>,
}

struct Sample {
    /// How many facts there are.
    size: usize,
    arity: usize,
    /// The terms of some of them, one fact after the other.
    terms: Vec<TermId>,
}

impl Statistics {
    /// Look at the relations.
    pub fn of(relations: &[Relation]) -> Self {
        let sample = |relation: &Relation| Sample {
            size: relation.expected(),
            arity: relation.arity(),
            terms: relation.sample(SAMPLE).flat_map(|row| relation.terms(row)).collect(),
        };
        let samples: Vec<Sample> = relations.iter().map(sample).collect();
        let is_known = samples.iter().any(|sample| sample.size > 0);
        Self { samples, is_known, known: RefCell::default() }
    }

    /// How many facts match the condition, on average, once these columns are known too.
    pub fn matches(&self, condition: &Condition, bound: &[usize]) -> f64 {
        let key = (condition.relation, condition.constants.clone(), bound.to_vec());
        *self.known.borrow_mut().entry(key).or_insert_with(|| {
            self.samples[condition.relation.index()].matches(condition, bound, self.is_known)
        })
    }
}

impl Sample {
    fn matches(&self, condition: &Condition, bound: &[usize], is_known: bool) -> f64 {
        if self.terms.is_empty() && is_known {
            return 0.0;
        }
        if self.terms.is_empty() {
            let known = condition.constants.len() + bound.len();
            return UNKNOWN_SIZE
                * UNKNOWN_SELECTIVITY.powi(i32::try_from(known).unwrap_or(i32::MAX));
        }
        let agrees = |row: &&[TermId]| {
            condition.constants.iter().all(|(column, term)| row[*column] == *term)
        };
        let rows = self.terms.chunks_exact(self.arity);
        let sampled = rows.len() as f64;
        let matching: Vec<&[TermId]> = rows.filter(agrees).collect();
        // What the sample missed is rare, not absent.
        let found = matching.len().max(1) as f64;
        let total = self.size as f64 * found / sampled;
        if bound.is_empty() || matching.is_empty() {
            return total * if bound.is_empty() { 1.0 } else { UNKNOWN_SELECTIVITY };
        }
        // Keys with the same hash are the same, as far as an estimate goes.
        let key = |row: &&[TermId]| hash_terms(bound.iter().map(|column| row[*column]));
        let keys: HashSet<u64> = matching.iter().map(key).collect();
        let distinct = keys.len() as f64;
        // Mostly new keys in the sample: there are more of them outside it, in proportion.
        let distinct = if distinct > found / 2.0 { distinct * total / found } else { distinct };
        total / distinct
    }
}
