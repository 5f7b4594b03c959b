//! Tables over the rows of a relation: rows found by the terms of some columns.
//!
//! Shape: a `Table` has one row a key, found by its hash (`places.rs`). A place of an `Index`, by the hash of a key,
//! holds the first of a chain of rows, each with a key of its own; rows with the same key form a doubly linked list,
//! whose first row is in the chain. A row has two words an index: the next row of its list, then the previous one or,
//! marked by `FIRST`, the row after it in the chain. The hash is linear in one column (see `Columns`), so rows of
//! neighbouring terms have neighbouring places: what comes and goes together is together in memory.
//!
//! Invariant: an index has at least twice as many places as keys.

use crate::ids::RowId;
use crate::key::{Key, Packed};
use crate::places::Places;
use crate::prefetch::prefetch;
use crate::relation::home::SHORT;
use crate::relation::rows::{Columns, FIRST, NO_ROW, Rows};

/// The smallest number of places that an index has once it is not empty.
const FEWEST: usize = 16;

/// The place of a hash, among a power of two of them.
#[inline]
fn place_of(hash: u64, places: usize) -> usize {
    hash as usize & (places - 1)
}

/// A row that is to be taken out of a table.
#[derive(Clone, Copy)]
pub(super) struct Gone {
    pub(super) row: RowId,
    hash: u64,
}

/// Rows by all their terms.
pub(super) struct Table {
    pub(super) columns: Columns,
    places: Places,
}

impl Table {
    pub(super) fn of(arity: usize) -> Self {
        let columns = Columns::new((0..arity).collect(), arity);
        Self { columns, places: Places::default() }
    }

    pub(super) fn bytes(&self) -> usize {
        self.places.bytes()
    }

    /// The hash of a whole tuple: there are no columns to choose.
    #[inline(always)]
    fn hash(tuple: Key<'_>) -> u64 {
        match tuple {
            Key::Packed(packed) => packed.hash_tuple(),
            Key::Terms(terms) => Columns::hash_terms(terms),
        }
    }

    /// The hash of a row with these first words.
    #[inline(always)]
    fn hash_row(&self, rows: &Rows, row: RowId, first: Packed) -> u64 {
        if self.columns.are_packed {
            return first.masked(self.columns.mask).hash_tuple();
        }
        rows.hash(&self.columns, row)
    }

    /// The row with these terms.
    #[inline]
    pub(super) fn find(&self, rows: &Rows, key: Key<'_>) -> Option<RowId> {
        let holds = |row: u32| rows.holds(&self.columns, RowId(row), key);
        self.places.find(Self::hash(key), holds).map(RowId)
    }

    /// The row with these terms, or none, and then `new` was put in.
    #[inline(always)]
    pub(super) fn find_or_insert(
        &mut self,
        rows: &Rows,
        key: Key<'_>,
        new: RowId,
    ) -> Option<RowId> {
        let holds = |row: u32| rows.holds(&self.columns, RowId(row), key);
        self.places.find_or_insert(Self::hash(key), holds, new.0).map(RowId)
    }

    /// Put in a row that is not in.
    pub(super) fn insert_row(&mut self, rows: &Rows, row: RowId) {
        let hash = self.hash_row(rows, row, rows.packed(row));
        self.places.find_or_insert(hash, |_| false, row.0);
    }

    /// Make room for so many rows more.
    pub(super) fn reserve(&mut self, rows: usize) {
        self.places.reserve(rows);
    }

    /// A row that is in, with these first words, on its way out.
    #[inline(always)]
    pub(super) fn gone(&self, rows: &Rows, row: RowId, first: Packed) -> Gone {
        Gone { row, hash: self.hash_row(rows, row, first) }
    }

    /// Take out a row.
    #[inline]
    pub(super) fn remove(&mut self, Gone { row, hash }: Gone) {
        self.places.remove(row.0, hash);
    }

    /// Ask for the place of a key.
    #[inline]
    pub(super) fn prefetch(&self, key: Key<'_>) {
        self.places.warm(std::iter::once(Self::hash(key)));
    }

    /// Ask for the places of some rows.
    #[inline]
    pub(super) fn warm(&self, some: &[Gone]) {
        self.places.warm(some.iter().map(|gone| gone.hash));
    }
}

/// From a key to the rows that have it.
pub(super) struct Index {
    pub(super) columns: Columns,
    /// The first row of each place.
    places: Vec<u32>,
    pub(super) keys: usize,
    /// The position of the links among a row's words; none while the index is not kept.
    pub(super) links: Option<usize>,
    /// Whether rows are found by it.
    pub(super) is_home: bool,
}

/// What came of the search for a row in the home.
#[derive(Clone, Copy)]
pub(super) enum Sought {
    /// It is there.
    Found(RowId),
    /// No row has its key; the place where one would be.
    Nowhere(usize),
    /// Its list does not have it, and this is the last of it.
    NotAmong(RowId),
    /// Its list is long, and it is not among the first; this is the last of these.
    Beyond(RowId),
}

impl Index {
    pub(super) fn by(positions: Vec<usize>, arity: usize) -> Self {
        let columns = Columns::new(positions, arity);
        Self { columns, places: vec![NO_ROW], keys: 0, links: None, is_home: false }
    }

    pub(super) fn bytes(&self) -> usize {
        self.places.len() * size_of::<u32>()
    }

    #[inline]
    fn place(&self, rows: &Rows, row: RowId) -> usize {
        place_of(rows.hash(&self.columns, row), self.places.len())
    }

    /// The first row with this key, or NO_ROW.
    #[inline(always)]
    pub(super) fn first(&self, rows: &Rows, key: Key<'_>, links: usize) -> u32 {
        self.first_from(rows, self.at_place(self.columns.hash(key)), key, links)
    }

    /// The first row at the place of a hash, or NO_ROW.
    #[inline(always)]
    pub(super) fn at_place(&self, hash: u64) -> u32 {
        self.places[place_of(hash, self.places.len())]
    }

    /// The first row with this key in the rest of the chain of its place, or NO_ROW.
    #[inline(always)]
    pub(super) fn first_from(&self, rows: &Rows, row: u32, key: Key<'_>, links: usize) -> u32 {
        let mut row = row;
        while row != NO_ROW && !rows.holds(&self.columns, RowId(row), key) {
            row = rows.word(RowId(row), links + 1) & !FIRST;
        }
        row
    }

    /// Look for a tuple among the first rows of its list; `all` has all bits of its columns.
    #[inline(always)]
    pub(super) fn seek(&self, rows: &Rows, tuple: Packed, all: Packed, links: usize) -> Sought {
        let key = tuple.masked(self.columns.mask);
        let place = place_of(self.columns.hash_packed(key), self.places.len());
        let mut row = self.places[place];
        loop {
            if row == NO_ROW {
                return Sought::Nowhere(place);
            }
            let found = rows.packed(RowId(row));
            if found.masked(all) == tuple {
                return Sought::Found(RowId(row));
            }
            if found.masked(self.columns.mask) == key {
                break;
            }
            row = rows.word(RowId(row), links + 1) & !FIRST;
        }
        for _ in 1..SHORT {
            let next = rows.word(RowId(row), links);
            if next == NO_ROW {
                return Sought::NotAmong(RowId(row));
            }
            row = next;
            if rows.packed(RowId(row)).masked(all) == tuple {
                return Sought::Found(RowId(row));
            }
        }
        Sought::Beyond(RowId(row))
    }

    /// Put a row where it was not found, after those that were looked at.
    #[inline(always)]
    pub(super) fn seat(&mut self, rows: &mut Rows, row: RowId, sought: Sought, links: usize) {
        match sought {
            Sought::Nowhere(place) => {
                let first = std::mem::replace(&mut self.places[place], row.0);
                self.keys += 1;
                rows.set_pair(row, links, (NO_ROW, first | FIRST));
            }
            Sought::NotAmong(last) | Sought::Beyond(last) => {
                let next = rows.word(last, links);
                rows.set_pair(row, links, (next, last.0));
                rows.set_word(last, links, row.0);
                if next != NO_ROW {
                    rows.set_word(RowId(next), links + 1, row.0);
                }
            }
            Sought::Found(_) => {}
        }
    }

    /// Have room for one more key.
    #[inline(always)]
    pub(super) fn make_room(&mut self, rows: &mut Rows, links: usize) {
        if 2 * self.keys >= self.places.len() {
            self.grow(rows, links);
        }
    }

    /// Put a row in front of those with its key.
    #[inline(always)]
    pub(super) fn link(&mut self, rows: &mut Rows, row: RowId, links: usize) {
        self.make_room(rows, links);
        if !self.columns.are_packed {
            return self.link_by_words(rows, row, links);
        }
        let mask = self.columns.mask;
        let key = rows.packed(row).masked(mask);
        let place = place_of(self.columns.hash_packed(key), self.places.len());
        let is_same = |rows: &Rows, other: RowId| rows.packed(other).masked(mask) == key;
        Self::link_at(&mut self.places[place], &mut self.keys, rows, (row, links), is_same);
    }

    #[cold]
    fn link_by_words(&mut self, rows: &mut Rows, row: RowId, links: usize) {
        let place = self.place(rows, row);
        let is_same = |rows: &Rows, other: RowId| rows.same_words(&self.columns, other, row);
        Self::link_at(&mut self.places[place], &mut self.keys, rows, (row, links), is_same);
    }

    #[inline(always)]
    fn link_at(
        place: &mut u32,
        keys: &mut usize,
        rows: &mut Rows,
        (row, links): (RowId, usize),
        is_same: impl Fn(&Rows, RowId) -> bool,
    ) {
        let start = *place;
        let (mut other, mut before) = (start, NO_ROW);
        while other != NO_ROW && !is_same(rows, RowId(other)) {
            before = other;
            other = rows.word(RowId(other), links + 1) & !FIRST;
        }
        if other == NO_ROW {
            *keys += 1;
            *place = row.0;
            rows.set_pair(row, links, (NO_ROW, start | FIRST));
            return;
        }
        let after = rows.word(RowId(other), links + 1);
        rows.set_pair(row, links, (other, after));
        rows.set_word(RowId(other), links + 1, row.0);
        Self::replace(place, rows, before, row.0, links);
    }

    /// Let another row, or none, follow `before` in the chain of a place; or come first there.
    #[inline(always)]
    fn replace(place: &mut u32, rows: &mut Rows, before: u32, row: u32, links: usize) {
        if before == NO_ROW {
            *place = row;
        } else {
            rows.set_word(RowId(before), links + 1, row | FIRST);
        }
    }

    /// Take a row out.
    #[inline(always)]
    pub(super) fn unlink(&mut self, rows: &mut Rows, row: RowId, links: usize) {
        let (follower, leader) = rows.pair(row, links);
        if follower != NO_ROW {
            // It goes on with the previous row, or in the chain.
            rows.set_word(RowId(follower), links + 1, leader);
        }
        if leader & FIRST == 0 {
            rows.set_word(RowId(leader), links, follower);
            return;
        }
        let place = self.place(rows, row);
        let place = &mut self.places[place];
        let (mut other, mut before) = (*place, NO_ROW);
        while other != row.0 {
            before = other;
            other = rows.word(RowId(other), links + 1) & !FIRST;
        }
        let instead = if follower == NO_ROW { leader & !FIRST } else { follower };
        self.keys -= usize::from(follower == NO_ROW);
        Self::replace(place, rows, before, instead, links);
    }

    #[cold]
    fn grow(&mut self, rows: &mut Rows, links: usize) {
        let places = (2 * self.places.len()).max(FEWEST);
        for mut row in std::mem::replace(&mut self.places, vec![NO_ROW; places]) {
            while row != NO_ROW {
                let after = rows.word(RowId(row), links + 1) & !FIRST;
                let place = self.place(rows, RowId(row));
                let first = std::mem::replace(&mut self.places[place], row);
                rows.set_word(RowId(row), links + 1, first | FIRST);
                row = after;
            }
        }
    }

    /// Forget every row.
    pub(super) fn clear(&mut self) {
        self.places.fill(NO_ROW);
        self.keys = 0;
    }

    /// Ask for the place of a hash.
    #[inline]
    pub(super) fn prefetch(&self, hash: u64) {
        prefetch(&self.places[place_of(hash, self.places.len())]);
    }
}
