//! Relations: rows of terms with their lifetimes, and the hash indexes that the plans need.
//!
//! Shape: a row is one cache line, `until | pending | stated | order | class | words`; its words are the
//! terms, then two links (next, previous) an index; what does not fit is in `spill`. An index is a
//! table from a key to the first row of a doubly linked list of the rows with that key, so adding
//! and removing a row never moves another one and allocates nothing.
//!
//! The life of a row: *arrived* (in the table of all rows, `pending` holds the best lifetime offered
//! so far), *settled* (linked into the indexes, visible to joins, `until` is its lifetime), perhaps
//! *renewed* (a longer `until`), *expired* (`until` is NEVER, no longer linked), and at the end of
//! the tick freed.
//!
//! Invariant: every row in the table has a fact of its own; a row is linked in all indexes or none.

use hashbrown::hash_table::{Entry, HashTable};

use crate::hash::hash_terms;
use crate::ids::{ClassId, IndexId, RowId, TermId};
use crate::instant::{Instant, NEVER};

const INLINE: usize = 7;
const NO_ROW: u32 = u32::MAX;
/// From this many rows on, two megabytes, warming pays.
const LARGE: usize = 1 << 15;
const LINKED: u64 = 1;
const SUSPECT: u64 = 2;
const CHANGED: u64 = 4;
const FLAGS: u64 = 7;
const ORDER_SHIFT: u32 = 3;

#[repr(C, align(64))]
#[derive(Clone)]
struct Row {
    until: Instant,
    pending: Instant,
    stated: Instant,
    /// The order of settling, above the flags.
    order: u64,
    class: ClassId,
    words: [u32; INLINE],
}

const EMPTY: Row = Row {
    until: NEVER,
    pending: NEVER,
    stated: NEVER,
    order: 0,
    class: ClassId(0),
    words: [NO_ROW; INLINE],
};

struct Index {
    columns: Vec<usize>,
    firsts: HashTable<RowId>,
}

/// The rows of one relation.
pub struct Relation {
    arity: usize,
    rows: Vec<Row>,
    spill: Vec<u32>,
    spill_width: usize,
    free: Vec<RowId>,
    table: HashTable<RowId>,
    indexes: Vec<Index>,
    settled: usize,
}

impl Relation {
    /// An empty relation.
    pub fn new(arity: usize) -> Self {
        Self {
            arity,
            rows: Vec::new(),
            spill: Vec::new(),
            spill_width: arity.saturating_sub(INLINE),
            free: Vec::new(),
            table: HashTable::new(),
            indexes: Vec::new(),
            settled: 0,
        }
    }

    /// How many terms a row has.
    pub fn arity(&self) -> usize {
        self.arity
    }

    /// How many facts hold.
    pub fn len(&self) -> usize {
        self.settled
    }

    /// Whether no fact holds.
    pub fn is_empty(&self) -> bool {
        self.settled == 0
    }

    /// An estimate of the memory held.
    pub fn bytes(&self) -> usize {
        let tables = self.table.capacity()
            + self.indexes.iter().map(|index| index.firsts.capacity()).sum::<usize>();
        self.rows.capacity() * size_of::<Row>() + self.spill.capacity() * 4 + tables * 5
    }

    fn word(&self, row: RowId, position: usize) -> u32 {
        if position < INLINE {
            self.rows[row.index()].words[position]
        } else {
            self.spill[row.index() * self.spill_width + position - INLINE]
        }
    }

    fn set_word(&mut self, row: RowId, position: usize, word: u32) {
        if position < INLINE {
            self.rows[row.index()].words[position] = word;
        } else {
            self.spill[row.index() * self.spill_width + position - INLINE] = word;
        }
    }

    /// The term in a column.
    pub fn term(&self, row: RowId, column: usize) -> TermId {
        TermId(self.word(row, column))
    }

    /// The terms of a row.
    pub fn terms(&self, row: RowId) -> impl Iterator<Item = TermId> + '_ {
        (0..self.arity).map(move |column| self.term(row, column))
    }

    fn holds(&self, row: RowId, terms: &[TermId]) -> bool {
        terms.iter().enumerate().all(|(column, term)| self.term(row, column) == *term)
    }

    /// The row of a fact, settled or not.
    pub fn find(&self, terms: &[TermId]) -> Option<RowId> {
        let hash = hash_terms(terms.iter().copied());
        self.table.find(hash, |row| self.holds(*row, terms)).copied()
    }

    /// The row of a fact, made if there is none. The flag says whether it was made.
    pub fn find_or_insert(&mut self, terms: &[TermId]) -> (RowId, bool) {
        debug_assert_eq!(terms.len(), self.arity);
        let hash = hash_terms(terms.iter().copied());
        let mut table = std::mem::take(&mut self.table);
        let rehash = |row: &RowId| hash_terms(self.terms(*row));
        let found = match table.entry(hash, |row| self.holds(*row, terms), rehash) {
            Entry::Occupied(entry) => (*entry.get(), false),
            Entry::Vacant(entry) => {
                let row = self.free.last().copied().unwrap_or(RowId::at(self.rows.len()));
                entry.insert(row);
                (row, true)
            }
        };
        self.table = table;
        if found.1 {
            self.fill(found.0, terms);
        }
        found
    }

    fn fill(&mut self, row: RowId, terms: &[TermId]) {
        if row.index() == self.rows.len() {
            self.rows.push(EMPTY);
            self.spill.resize(self.rows.len() * self.spill_width, NO_ROW);
        } else {
            self.free.pop();
            self.rows[row.index()] = EMPTY;
        }
        for (column, term) in terms.iter().enumerate() {
            self.set_word(row, column, term.0);
        }
    }

    /// Forget a row that does not hold and is not stated.
    pub fn remove(&mut self, row: RowId) {
        debug_assert!(self.until(row) == NEVER && self.stated(row) == NEVER);
        self.unlink(row);
        let hash = hash_terms(self.terms(row));
        if let Ok(entry) = self.table.find_entry(hash, |other| *other == row) {
            entry.remove();
            self.free.push(row);
        }
    }

    /// Until when the fact holds; NEVER if it does not.
    pub fn until(&self, row: RowId) -> Instant {
        self.rows[row.index()].until
    }

    /// The best lifetime offered and not yet settled.
    pub fn pending(&self, row: RowId) -> Instant {
        self.rows[row.index()].pending
    }

    /// Until when the fact is stated, derivations aside.
    pub fn stated(&self, row: RowId) -> Instant {
        self.rows[row.index()].stated
    }

    /// The place in the order of settling.
    pub fn order(&self, row: RowId) -> u64 {
        self.rows[row.index()].order >> ORDER_SHIFT
    }

    /// Offer a lifetime; false if the row has one as long.
    pub fn offer(&mut self, row: RowId, until: Instant) -> bool {
        let row = &mut self.rows[row.index()];
        let longer = until > row.until && until > row.pending;
        if longer {
            row.pending = until;
        }
        longer
    }

    /// Say until when the fact is stated.
    pub fn set_stated(&mut self, row: RowId, stated: Instant) {
        self.rows[row.index()].stated = stated;
    }

    /// Make the pending lifetime the fact's own, and the fact visible.
    pub fn settle(&mut self, row: RowId, order: u64) {
        let entry = &mut self.rows[row.index()];
        if entry.until == NEVER {
            self.settled += 1;
        }
        entry.until = entry.pending;
        entry.pending = NEVER;
        entry.order = (order << ORDER_SHIFT) | (entry.order & FLAGS);
        self.link(row);
    }

    /// End the fact's lifetime. It stays linked until `unlink`, for joins over the past.
    pub fn end(&mut self, row: RowId) -> Instant {
        let entry = &mut self.rows[row.index()];
        let until = std::mem::replace(&mut entry.until, NEVER);
        if until != NEVER {
            self.settled -= 1;
        }
        until
    }

    /// Take back an unsettled offer.
    pub fn withdraw(&mut self, row: RowId) {
        self.rows[row.index()].pending = NEVER;
    }

    /// The body conditions that the fact matches.
    pub fn class(&self, row: RowId) -> ClassId {
        self.rows[row.index()].class
    }

    /// Note the body conditions that the fact matches.
    pub fn set_class(&mut self, row: RowId, class: ClassId) {
        self.rows[row.index()].class = class;
    }

    fn set_flag(&mut self, row: RowId, flag: u64, on: bool) -> bool {
        let order = &mut self.rows[row.index()].order;
        let was = *order & flag != 0;
        *order = if on { *order | flag } else { *order & !flag };
        was
    }

    /// Mark the row as one whose support may be lost; returns whether it was.
    pub fn set_suspect(&mut self, row: RowId, on: bool) -> bool {
        self.set_flag(row, SUSPECT, on)
    }

    /// Whether the row's support may be lost.
    pub fn is_suspect(&self, row: RowId) -> bool {
        self.rows[row.index()].order & SUSPECT != 0
    }

    /// Mark the row as changed in this tick; returns whether it was.
    pub fn set_changed(&mut self, row: RowId, on: bool) -> bool {
        self.set_flag(row, CHANGED, on)
    }

    /// The rows that have a fact, settled or not.
    pub fn rows(&self) -> impl Iterator<Item = RowId> + '_ {
        self.table.iter().copied()
    }

    /// The facts that hold.
    pub fn live(&self) -> impl Iterator<Item = RowId> + '_ {
        self.rows().filter(|row| self.until(*row) != NEVER)
    }

    /// About `wanted` facts that hold, spread over the rows: what statistics are made of.
    pub fn sample(&self, wanted: usize) -> impl Iterator<Item = RowId> + '_ {
        let stride = (self.rows.len() / wanted.max(1)).max(1);
        (0..self.rows.len()).step_by(stride).map(RowId::at).filter(|row| self.until(*row) != NEVER)
    }
}

/// Warming: what is looked up in a row of lookups that do not wait for each other is fetched from
/// memory side by side; the work that follows then finds it in the cache.
impl Relation {
    /// Whether the relation is too large to be in the cache anyway.
    pub fn is_large(&self) -> bool {
        self.rows.len() >= LARGE
    }

    /// Fetch rows that are about to end, and their neighbours in the indexes.
    pub fn warm_rows(&self, rows: impl Iterator<Item = RowId> + Clone) {
        let mut fetched = 0;
        for row in rows.clone() {
            fetched ^= self.rows[row.index()].order;
        }
        for row in rows {
            for link in self.arity..self.arity + 2 * self.indexes.len() {
                let neighbour = self.word(row, link);
                if neighbour != NO_ROW {
                    fetched ^= self.rows[neighbour as usize].order;
                }
            }
        }
        std::hint::black_box(fetched);
    }

    /// Fetch the places of rows in the table of all rows.
    pub fn warm_table(&self, rows: impl Iterator<Item = RowId>) {
        for row in rows {
            let hash = hash_terms(self.terms(row));
            std::hint::black_box(self.table.find(hash, |other| *other == row));
        }
    }

    /// Fetch the places of rows in the indexes.
    pub fn warm_indexes(&self, rows: impl Iterator<Item = RowId>) {
        for row in rows {
            for index in 0..self.indexes.len() {
                let hash = hash_terms(self.key(index, row));
                let same = |other: &RowId| self.key(index, *other).eq(self.key(index, row));
                std::hint::black_box(self.indexes[index].firsts.find(hash, same));
            }
        }
    }
}

/// Indexes.
impl Relation {
    /// The index on exactly these columns.
    pub fn index_on(&self, columns: &[usize]) -> Option<IndexId> {
        self.indexes.iter().position(|index| index.columns == columns).map(IndexId::at)
    }

    /// The column sets that are indexed.
    pub fn indexed(&self) -> impl Iterator<Item = &[usize]> {
        self.indexes.iter().map(|index| index.columns.as_slice())
    }

    /// Keep an index on each of these column sets and on no other.
    pub fn set_indexes(&mut self, wanted: Vec<Vec<usize>>) {
        if self.indexed().eq(wanted.iter().map(Vec::as_slice)) {
            return;
        }
        self.indexes =
            wanted.into_iter().map(|columns| Index { columns, firsts: HashTable::new() }).collect();
        let width = (self.arity + 2 * self.indexes.len()).saturating_sub(INLINE);
        let mut spill = vec![NO_ROW; self.rows.len() * width];
        for row in 0..self.rows.len() {
            for word in 0..self.arity.saturating_sub(INLINE) {
                spill[row * width + word] = self.spill[row * self.spill_width + word];
            }
        }
        self.spill = spill;
        self.spill_width = width;
        for row in (0..self.rows.len()).map(RowId::at) {
            if self.set_flag(row, LINKED, false) {
                self.link(row);
            }
        }
    }

    /// Take every row out of every index.
    pub fn unlink_all(&mut self) {
        for index in &mut self.indexes {
            index.firsts.clear();
        }
        for row in &mut self.rows {
            row.order &= !LINKED;
        }
    }

    fn next_word(&self, index: usize) -> usize {
        self.arity + 2 * index
    }

    fn key(&self, index: usize, row: RowId) -> impl Iterator<Item = TermId> + '_ {
        self.indexes[index].columns.iter().map(move |column| self.term(row, *column))
    }

    fn link(&mut self, row: RowId) {
        if self.set_flag(row, LINKED, true) {
            return;
        }
        for index in 0..self.indexes.len() {
            let next = self.next_word(index);
            let hash = hash_terms(self.key(index, row));
            let mut firsts = std::mem::take(&mut self.indexes[index].firsts);
            let same = |other: &RowId| self.key(index, *other).eq(self.key(index, row));
            let rehash = |other: &RowId| hash_terms(self.key(index, *other));
            let follower = match firsts.entry(hash, same, rehash) {
                Entry::Occupied(mut entry) => Some(std::mem::replace(entry.get_mut(), row)),
                Entry::Vacant(entry) => {
                    entry.insert(row);
                    None
                }
            };
            self.indexes[index].firsts = firsts;
            self.set_word(row, next, follower.map_or(NO_ROW, |follower| follower.0));
            self.set_word(row, next + 1, NO_ROW);
            if let Some(follower) = follower {
                self.set_word(follower, next + 1, row.0);
            }
        }
    }

    /// Take the row out of every index.
    pub fn unlink(&mut self, row: RowId) {
        if !self.set_flag(row, LINKED, false) {
            return;
        }
        for index in 0..self.indexes.len() {
            let next = self.next_word(index);
            let (follower, leader) = (self.word(row, next), self.word(row, next + 1));
            if follower != NO_ROW {
                self.set_word(RowId(follower), next + 1, leader);
            }
            if leader != NO_ROW {
                self.set_word(RowId(leader), next, follower);
                continue;
            }
            let hash = hash_terms(self.key(index, row));
            if let Ok(mut entry) =
                self.indexes[index].firsts.find_entry(hash, |other| *other == row)
            {
                if follower == NO_ROW {
                    entry.remove();
                } else {
                    *entry.get_mut() = RowId(follower);
                }
            }
        }
    }

    /// The first row of an index with this key.
    pub fn first(&self, index: IndexId, key: &[TermId]) -> Option<RowId> {
        let hash = hash_terms(key.iter().copied());
        let same = |row: &RowId| self.key(index.index(), *row).eq(key.iter().copied());
        self.indexes[index.index()].firsts.find(hash, same).copied()
    }

    /// The row after `row` with the same key.
    pub fn next(&self, index: IndexId, row: RowId) -> Option<RowId> {
        let next = self.word(row, self.next_word(index.index()));
        (next != NO_ROW).then_some(RowId(next))
    }
}
