//! The floor: the facts of a kernel in a bare hash table, for benchmarks.

use std::time::Instant as Clock;

use ebbtide_kernel::ids::{RelationId, TermId};
use ebbtide_kernel::instant::NEVER;
use ebbtide_kernel::key::Packed;
use hashbrown::HashTable;
use pyo3::prelude::*;

use crate::kernel::Kernel;

/// The tuples of one relation and nothing else: no lifetimes, no indexes, no rules.
#[pyclass(module = "ebbtide._kernel")]
pub struct BareTable {
    relation: RelationId,
    /// Tuples of up to three terms, like the ones that are measured: inline, as a bare table would.
    tuples: HashTable<[TermId; 3]>,
}

fn hash(tuple: &[TermId; 3]) -> u64 {
    Packed::of([tuple[0].0, tuple[1].0, tuple[2].0, 0]).hash()
}

fn tuple(terms: impl Iterator<Item = TermId>) -> [TermId; 3] {
    let mut tuple = [TermId(0); 3];
    tuple.iter_mut().zip(terms).for_each(|(place, term)| *place = term);
    tuple
}

#[pymethods]
impl BareTable {
    /// A table of the facts that hold.
    #[new]
    fn new(kernel: PyRef<'_, Kernel>, relation: usize) -> Self {
        let relation = RelationId::at(relation);
        let rows = kernel.core.relation(relation);
        let mut tuples = HashTable::with_capacity(rows.len());
        for row in rows.live() {
            let tuple = tuple(rows.terms(row));
            tuples.insert_unique(hash(&tuple), tuple, hash);
        }
        Self { relation, tuples }
    }

    fn __len__(&self) -> usize {
        self.tuples.len()
    }

    /// Do what the kernel's last tick did to the facts; the nanoseconds it took, the facts inserted.
    fn follow(&mut self, kernel: PyRef<'_, Kernel>) -> (u64, usize) {
        let rows = kernel.core.relation(self.relation);
        let (mut entered, mut left) = (Vec::new(), Vec::new());
        for (change, after) in kernel.core.changes() {
            if change.fact.relation != self.relation {
                continue;
            }
            if change.before == NEVER {
                entered.push(tuple(rows.terms(change.fact.row)));
            } else if after == NEVER {
                left.push(tuple(rows.terms(change.fact.row)));
            }
        }
        let clock = Clock::now();
        for tuple in &left {
            if let Ok(entry) = self.tuples.find_entry(hash(tuple), |other| other == tuple) {
                entry.remove();
            }
        }
        for tuple in &entered {
            self.tuples.entry(hash(tuple), |other| other == tuple, hash).or_insert(*tuple);
        }
        (u64::try_from(clock.elapsed().as_nanos()).unwrap_or(u64::MAX), entered.len())
    }
}
