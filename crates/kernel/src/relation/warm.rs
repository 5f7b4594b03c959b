//! Warming: what is looked up in a row of lookups that do not wait for each other is fetched from
//! memory side by side; the work that follows then finds it in the cache.

use crate::ids::RowId;
use crate::relation::Relation;
use crate::relation::rows::{FIRST, NO_ROW};

/// From this many rows on, eight megabytes, warming pays.
const LARGE: usize = 1 << 17;

impl Relation {
    /// Whether the relation is too large to be in the cache anyway.
    pub fn is_large(&self) -> bool {
        self.rows.lines.len() >= LARGE
    }

    /// Fetch the neighbours and the places in the indexes of rows that are about to end.
    pub fn warm_rows(&self, rows: impl Iterator<Item = RowId> + Clone) {
        let again = rows.clone();
        let mut fetched = 0;
        for row in rows {
            for (links, _) in self.kept_beside_home() {
                for link in [links, links + 1] {
                    let neighbour = self.rows.word(row, link) & !FIRST;
                    if neighbour != NO_ROW {
                        fetched ^= self.rows.lines[neighbour as usize].order;
                    }
                }
            }
        }
        std::hint::black_box(fetched);
        for row in again {
            for (links, index) in self.kept_beside_home() {
                if self.rows.word(row, links + 1) & FIRST != 0 {
                    index.warm(&self.rows, row);
                }
            }
        }
    }

    /// Fetch the places of rows in the indexes.
    pub fn warm_indexes(&self, rows: impl Iterator<Item = RowId>) {
        for row in rows {
            for (_, index) in self.kept_beside_home() {
                index.warm(&self.rows, row);
            }
        }
    }
}
