//! The floor: the facts of a kernel, and the texts of its input, in bare hash tables, for benchmarks.

use std::time::Instant as Clock;

use ebbtide_kernel::ids::{RelationId, TermId};
use ebbtide_kernel::instant::NEVER;
use ebbtide_kernel::key::Packed;
use hashbrown::{HashMap, HashTable};
use pyo3::prelude::*;

use crate::kernel::Kernel;
use crate::{capsule, columns};

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

/// The different texts of some record batches, each with a number.
#[pyclass(module = "ebbtide._kernel")]
#[derive(Default)]
pub struct BareTexts {
    numbers: HashMap<String, u32>,
    /// Those that came with the last batches.
    last: Vec<String>,
}

#[pymethods]
impl BareTexts {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Take in the texts of columns, once each, in place of those before; the nanoseconds it took.
    /// Columns of numbers are left out.
    fn follow(&mut self, data: &Bound<'_, PyAny>, columns: Vec<String>) -> PyResult<u64> {
        let mut nanoseconds = 0;
        let mut came = Vec::new();
        for batch in capsule::import(data)? {
            let batch = batch?;
            for name in &columns {
                let texts = columns::different_texts(&batch, name)?;
                let clock = Clock::now();
                for text in texts.into_iter().flatten() {
                    let number = self.numbers.len() as u32;
                    self.numbers.entry_ref(text).or_insert(number);
                }
                nanoseconds += clock.elapsed().as_nanos();
                came.extend(
                    columns::different_texts(&batch, name)?
                        .into_iter()
                        .flatten()
                        .map(str::to_owned),
                );
            }
        }
        let gone = std::mem::replace(&mut self.last, came);
        let stay: hashbrown::HashSet<&str> = self.last.iter().map(String::as_str).collect();
        let gone: Vec<String> =
            gone.into_iter().filter(|text| !stay.contains(text.as_str())).collect();
        let clock = Clock::now();
        for text in &gone {
            self.numbers.remove(text);
        }
        nanoseconds += clock.elapsed().as_nanos();
        Ok(u64::try_from(nanoseconds).unwrap_or(u64::MAX))
    }
}
