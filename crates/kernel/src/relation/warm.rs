//! Warming: what work on many rows will look at is asked for ahead of it, all of it side by side, so that the
//! work finds it in the cache.

use crate::ids::{IndexId, RowId};
use crate::key::Key;
use crate::prefetch::prefetch;
use crate::relation::Relation;
use crate::relation::rows::FIRST;

/// From this many rows on they are not in the nearest caches.
const FAR: usize = 1 << 12;
/// From this many rows on, two megabytes, what is around them is not there either, and asking for it pays.
const LARGE: usize = 1 << 15;

impl Relation {
    /// Whether it pays to ask for rows ahead.
    #[inline]
    pub fn is_far(&self) -> bool {
        self.rows.lines.len() >= FAR
    }

    /// Whether it pays to ask for what is around rows ahead, and for places in the indexes.
    #[inline]
    pub fn is_large(&self) -> bool {
        self.rows.lines.len() >= LARGE
    }

    /// Ask for a row.
    #[inline]
    pub fn prefetch(&self, row: RowId) {
        prefetch(&self.rows.lines[row.index()]);
    }

    /// Ask for the neighbours and the places in the indexes of a row that is about to end.
    #[inline]
    pub fn prefetch_around(&self, row: RowId) {
        for index in &self.indexes {
            let Some(links) = index.links else { continue };
            let (follower, leader) = self.rows.pair(row, links);
            // A row that is in no index says anything of neighbours.
            self.rows.lines.get(follower as usize).inspect(|line| prefetch(*line));
            if leader & FIRST == 0 {
                self.rows.lines.get(leader as usize).inspect(|line| prefetch(*line));
            } else {
                index.prefetch(self.rows.hash(&index.columns, row));
            }
        }
    }

    /// Ask for the places of a row in the indexes.
    pub fn prefetch_places(&self, row: RowId) {
        for index in self.indexes.iter().filter(|index| index.links.is_some() && !index.is_home) {
            index.prefetch(self.rows.hash(&index.columns, row));
        }
    }

    /// Ask for the place by which a fact is found.
    #[inline]
    pub fn prefetch_fact<'t>(&self, terms: impl Into<Key<'t>>) {
        let terms = terms.into();
        if let (Some((index, _)), Key::Packed(tuple)) = (self.home(), terms) {
            index.prefetch(index.columns.hash_packed(tuple.masked(index.columns.mask)));
        } else {
            self.table.prefetch(terms);
        }
    }

    /// Ask for the place of a key in an index.
    pub fn prefetch_key(&self, index: IndexId, key: Key<'_>) {
        let index = &self.indexes[index.index()];
        index.prefetch(index.columns.hash(key));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::TermId;

    #[test]
    fn what_is_around_a_row_in_no_index_may_be_asked_for() {
        for arity in 1..12_u32 {
            let mut relation = Relation::new(arity as usize);
            let last = arity as usize - 1;
            relation.set_indexes(vec![vec![0], vec![last]]);
            (0..2).for_each(|index| relation.keep(IndexId::at(index)));
            let terms: Vec<TermId> = (0..arity).map(TermId).collect();
            let (row, _) = relation.find_or_insert(&terms[..]);
            relation.prefetch_around(row);
            relation.prefetch_places(row);
            relation.prefetch_fact(&terms[..]);
            assert_eq!(relation.find(&terms[..]), Some(row));
        }
    }
}
