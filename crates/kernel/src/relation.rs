//! Relations: rows of terms with their lifetimes, and the hash indexes that the plans need.
//!
//! Shape: a row is one cache line, `until | pending | stated | order | class | words`; its words are the
//! terms, then two links (next, previous) an index; what does not fit is in `spill`. An index is a
//! table from a key to the first row of a doubly linked list of the rows with that key, so adding
//! and removing a row never moves another one and allocates nothing. An index that a plan names is
//! kept only from the first walk on that may need it: rules that cannot fire cost no index either.
//!
//! The life of a row: *arrived* (in the table of all rows, `pending` holds the best lifetime offered
//! so far), *settled* (linked into the indexes, visible to joins, `until` is its lifetime), perhaps
//! *renewed* (a longer `until`), *expired* (`until` is NEVER, no longer linked), and at the end of
//! the tick freed.
//!
//! Invariant: every row in the table has a fact of its own; a row is linked in all kept indexes or none.

use hashbrown::hash_table::{Entry, HashTable};

use crate::hash::hash_terms;
use crate::ids::{ClassId, IndexId, RowId, TermId};
use crate::instant::{Instant, NEVER};

const INLINE: usize = 7;
const NO_ROW: u32 = u32::MAX;
/// From this many rows on, eight megabytes, warming pays.
const LARGE: usize = 1 << 17;
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

/// The rows alone, so that they can be read while a table over them is changed.
struct Rows {
    arity: usize,
    lines: Vec<Row>,
    spill: Vec<u32>,
    spill_width: usize,
}

impl Rows {
    #[inline]
    fn word(&self, row: RowId, position: usize) -> u32 {
        let line = &self.lines[row.index()];
        match line.words.get(position) {
            Some(word) => *word,
            None => self.spill[row.index() * self.spill_width + position - INLINE],
        }
    }

    #[inline]
    fn set_word(&mut self, row: RowId, position: usize, word: u32) {
        let line = &mut self.lines[row.index()];
        match line.words.get_mut(position) {
            Some(place) => *place = word,
            None => self.spill[row.index() * self.spill_width + position - INLINE] = word,
        }
    }

    fn fill(&mut self, row: RowId, terms: &[TermId]) {
        if row.index() == self.lines.len() {
            self.lines.push(EMPTY);
            self.spill.resize(self.lines.len() * self.spill_width, NO_ROW);
        } else {
            self.lines[row.index()] = EMPTY;
        }
        for (column, term) in terms.iter().enumerate() {
            self.set_word(row, column, term.0);
        }
    }

    /// Make room for this many words a row.
    fn widen(&mut self, words: usize) {
        let width = words.saturating_sub(INLINE);
        if width <= self.spill_width {
            return;
        }
        let mut spill = vec![NO_ROW; self.lines.len() * width];
        if self.spill_width > 0 {
            let rows = spill.chunks_mut(width).zip(self.spill.chunks(self.spill_width));
            rows.for_each(|(wide, narrow)| wide[..narrow.len()].copy_from_slice(narrow));
        }
        self.spill = spill;
        self.spill_width = width;
    }

    #[inline]
    fn hash(&self, row: RowId) -> u64 {
        let line = &self.lines[row.index()];
        match line.words.get(..self.arity) {
            Some(words) => hash_terms(words.iter().map(|word| TermId(*word))),
            None => hash_terms((0..self.arity).map(|column| TermId(self.word(row, column)))),
        }
    }

    #[inline]
    fn holds(&self, row: RowId, terms: &[TermId]) -> bool {
        let line = &self.lines[row.index()];
        match line.words.get(..terms.len()) {
            Some(words) => words.iter().zip(terms).all(|(word, term)| *word == term.0),
            None => terms.iter().enumerate().all(|(at, term)| self.word(row, at) == term.0),
        }
    }

    #[inline]
    fn hash_key(&self, columns: &[usize], row: RowId) -> u64 {
        let line = &self.lines[row.index()];
        hash_terms(columns.iter().map(|column| match line.words.get(*column) {
            Some(word) => TermId(*word),
            None => TermId(self.word(row, *column)),
        }))
    }

    #[inline]
    fn has_key(&self, columns: &[usize], row: RowId, key: &[TermId]) -> bool {
        let line = &self.lines[row.index()];
        columns.iter().zip(key).all(|(column, term)| match line.words.get(*column) {
            Some(word) => *word == term.0,
            None => self.word(row, *column) == term.0,
        })
    }

    #[inline]
    fn same_key(&self, columns: &[usize], one: RowId, other: RowId) -> bool {
        columns.iter().all(|column| self.word(one, *column) == self.word(other, *column))
    }
}

/// A table of the rows by some of their columns.
struct Index {
    columns: Vec<usize>,
    firsts: HashTable<RowId>,
    /// The position of the links among a row's words; none while the index is not kept.
    links: Option<usize>,
}

impl Index {
    fn link(&mut self, rows: &mut Rows, row: RowId, links: usize) {
        let Self { columns, firsts, .. } = self;
        let same = |other: &RowId| rows.same_key(columns, *other, row);
        let rehash = |other: &RowId| rows.hash_key(columns, *other);
        let follower = match firsts.entry(rows.hash_key(columns, row), same, rehash) {
            Entry::Occupied(mut entry) => Some(std::mem::replace(entry.get_mut(), row)),
            Entry::Vacant(entry) => {
                entry.insert(row);
                None
            }
        };
        rows.set_word(row, links, follower.map_or(NO_ROW, |follower| follower.0));
        rows.set_word(row, links + 1, NO_ROW);
        if let Some(follower) = follower {
            rows.set_word(follower, links + 1, row.0);
        }
    }
}

/// The rows of one relation.
pub struct Relation {
    rows: Rows,
    free: Vec<RowId>,
    table: HashTable<RowId>,
    indexes: Vec<Index>,
    /// Column sets that readers beside the plans look up by; their indexes stay.
    asked: Vec<Vec<usize>>,
    settled: usize,
}

impl Relation {
    /// An empty relation.
    pub fn new(arity: usize) -> Self {
        let spill_width = arity.saturating_sub(INLINE);
        Self {
            rows: Rows { arity, lines: Vec::new(), spill: Vec::new(), spill_width },
            free: Vec::new(),
            table: HashTable::new(),
            indexes: Vec::new(),
            asked: Vec::new(),
            settled: 0,
        }
    }

    /// How many terms a row has.
    pub fn arity(&self) -> usize {
        self.rows.arity
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
        self.rows.lines.capacity() * size_of::<Row>() + self.rows.spill.capacity() * 4 + tables * 5
    }

    /// The term in a column.
    #[inline]
    pub fn term(&self, row: RowId, column: usize) -> TermId {
        TermId(self.rows.word(row, column))
    }

    /// The terms of a row.
    pub fn terms(&self, row: RowId) -> impl Iterator<Item = TermId> + '_ {
        (0..self.rows.arity).map(move |column| self.term(row, column))
    }

    /// The row of a fact, settled or not.
    pub fn find(&self, terms: &[TermId]) -> Option<RowId> {
        let hash = hash_terms(terms.iter().copied());
        self.table.find(hash, |row| self.rows.holds(*row, terms)).copied()
    }

    /// The row of a fact, made if there is none. The flag says whether it was made.
    pub fn find_or_insert(&mut self, terms: &[TermId]) -> (RowId, bool) {
        debug_assert_eq!(terms.len(), self.rows.arity);
        let Self { rows, table, free, .. } = self;
        let hash = hash_terms(terms.iter().copied());
        match table.entry(hash, |row| rows.holds(*row, terms), |row| rows.hash(*row)) {
            Entry::Occupied(entry) => (*entry.get(), false),
            Entry::Vacant(entry) => {
                let row = free.pop().unwrap_or_else(|| RowId::at(rows.lines.len()));
                entry.insert(row);
                rows.fill(row, terms);
                (row, true)
            }
        }
    }

    /// Forget a row that does not hold and is not stated.
    pub fn remove(&mut self, row: RowId) {
        debug_assert!(self.until(row) == NEVER && self.stated(row) == NEVER);
        self.unlink(row);
        let hash = self.rows.hash(row);
        if let Ok(entry) = self.table.find_entry(hash, |other| *other == row) {
            entry.remove();
            self.free.push(row);
        }
    }

    /// Until when the fact holds; NEVER if it does not.
    #[inline]
    pub fn until(&self, row: RowId) -> Instant {
        self.rows.lines[row.index()].until
    }

    /// The best lifetime offered and not yet settled.
    pub fn pending(&self, row: RowId) -> Instant {
        self.rows.lines[row.index()].pending
    }

    /// Until when the fact is stated, derivations aside.
    pub fn stated(&self, row: RowId) -> Instant {
        self.rows.lines[row.index()].stated
    }

    /// The place in the order of settling.
    pub fn order(&self, row: RowId) -> u64 {
        self.rows.lines[row.index()].order >> ORDER_SHIFT
    }

    /// Offer a lifetime; false if the row has one as long.
    pub fn offer(&mut self, row: RowId, until: Instant) -> bool {
        let row = &mut self.rows.lines[row.index()];
        let longer = until > row.until && until > row.pending;
        if longer {
            row.pending = until;
        }
        longer
    }

    /// Say until when the fact is stated.
    pub fn set_stated(&mut self, row: RowId, stated: Instant) {
        self.rows.lines[row.index()].stated = stated;
    }

    /// Make the pending lifetime the fact's own, and the fact visible.
    pub fn settle(&mut self, row: RowId, order: u64) {
        let entry = &mut self.rows.lines[row.index()];
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
        let entry = &mut self.rows.lines[row.index()];
        let until = std::mem::replace(&mut entry.until, NEVER);
        if until != NEVER {
            self.settled -= 1;
        }
        until
    }

    /// Take back an unsettled offer.
    pub fn withdraw(&mut self, row: RowId) {
        self.rows.lines[row.index()].pending = NEVER;
    }

    /// The body conditions that the fact matches.
    pub fn class(&self, row: RowId) -> ClassId {
        self.rows.lines[row.index()].class
    }

    /// Note the body conditions that the fact matches.
    pub fn set_class(&mut self, row: RowId, class: ClassId) {
        self.rows.lines[row.index()].class = class;
    }

    fn set_flag(&mut self, row: RowId, flag: u64, on: bool) -> bool {
        let order = &mut self.rows.lines[row.index()].order;
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
        self.rows.lines[row.index()].order & SUSPECT != 0
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

    /// How many facts hold or are about to.
    pub fn expected(&self) -> usize {
        self.table.len()
    }

    /// About `wanted` facts that hold or are about to, spread over the rows: what statistics are
    /// made of.
    pub fn sample(&self, wanted: usize) -> impl Iterator<Item = RowId> + '_ {
        let stride = (self.rows.lines.len() / wanted.max(1)).max(1);
        let rows = (0..self.rows.lines.len()).step_by(stride);
        rows.map(RowId::at).filter(|row| {
            let line = &self.rows.lines[row.index()];
            line.until != NEVER || line.pending != NEVER || line.stated != NEVER
        })
    }
}

/// Warming: what is looked up in a row of lookups that do not wait for each other is fetched from
/// memory side by side; the work that follows then finds it in the cache.
impl Relation {
    /// Whether the relation is too large to be in the cache anyway.
    pub fn is_large(&self) -> bool {
        self.rows.lines.len() >= LARGE
    }

    /// Fetch rows that are about to end, and their neighbours and places in the indexes.
    pub fn warm_rows(&self, rows: impl Iterator<Item = RowId> + Clone) {
        let again = rows.clone();
        let mut fetched = 0;
        for row in rows.clone() {
            fetched ^= self.rows.lines[row.index()].order;
        }
        for row in rows {
            for (links, ..) in self.kept() {
                for link in [links, links + 1] {
                    let neighbour = self.rows.word(row, link);
                    if neighbour != NO_ROW {
                        fetched ^= self.rows.lines[neighbour as usize].order;
                    }
                }
            }
        }
        std::hint::black_box(fetched);
        for row in again {
            for (links, columns, firsts) in self.kept() {
                if self.rows.word(row, links + 1) == NO_ROW {
                    let hash = self.rows.hash_key(columns, row);
                    std::hint::black_box(firsts.find(hash, |other| *other == row));
                }
            }
        }
    }

    /// Fetch the places of rows in the table of all rows.
    pub fn warm_table(&self, rows: impl Iterator<Item = RowId>) {
        for row in rows {
            let hash = self.rows.hash(row);
            std::hint::black_box(self.table.find(hash, |other| *other == row));
        }
    }

    /// Fetch the places of rows in the indexes.
    pub fn warm_indexes(&self, rows: impl Iterator<Item = RowId>) {
        for row in rows {
            for (_, columns, firsts) in self.kept() {
                let same = |other: &RowId| self.rows.same_key(columns, *other, row);
                std::hint::black_box(firsts.find(self.rows.hash_key(columns, row), same));
            }
        }
    }
}

/// Indexes.
impl Relation {
    /// The column sets of the indexes, by `IndexId`, and whether each is kept.
    pub fn indexed(&self) -> impl Iterator<Item = (&[usize], bool)> {
        self.indexes.iter().map(|index| (index.columns.as_slice(), index.links.is_some()))
    }

    /// The indexes that are kept: where their links are, their columns and first rows.
    fn kept<'a>(&'a self) -> impl Iterator<Item = (usize, &'a [usize], &'a HashTable<RowId>)> {
        let kept = |index: &'a Index| Some((index.links?, index.columns.as_slice(), &index.firsts));
        self.indexes.iter().filter_map(kept)
    }

    /// Name the column sets that plans may ask for. Indexes that were kept on them stay, others go.
    pub fn set_indexes(&mut self, mut wanted: Vec<Vec<usize>>) {
        for columns in &self.asked {
            if !wanted.contains(columns) {
                wanted.push(columns.clone());
            }
        }
        let mut before = std::mem::take(&mut self.indexes);
        let index =
            |columns: Vec<usize>| match before.iter().position(|index| index.columns == columns) {
                Some(position) => before.swap_remove(position),
                None => Index { columns, firsts: HashTable::new(), links: None },
            };
        self.indexes = wanted.into_iter().map(index).collect();
    }

    /// Keep an index on some columns, whatever the plans name.
    pub fn ask(&mut self, columns: Vec<usize>) {
        let named = self.indexes.iter().position(|index| index.columns == columns);
        let position = named.unwrap_or_else(|| {
            let columns = columns.clone();
            self.indexes.push(Index { columns, firsts: HashTable::new(), links: None });
            self.indexes.len() - 1
        });
        self.keep(IndexId::at(position));
        if !self.asked.contains(&columns) {
            self.asked.push(columns);
        }
    }

    /// Keep an index from now on.
    pub fn keep(&mut self, id: IndexId) {
        if self.indexes[id.index()].links.is_some() {
            return;
        }
        let is_free = |links: &usize| self.kept().all(|(taken, ..)| taken != *links);
        let links = (0..).map(|place| self.rows.arity + 2 * place).find(is_free);
        let links = links.expect("there is always a free place");
        self.rows.widen(links + 2);
        let Self { rows, indexes, .. } = self;
        indexes[id.index()].links = Some(links);
        for row in (0..rows.lines.len()).map(RowId::at) {
            if rows.lines[row.index()].order & LINKED != 0 {
                indexes[id.index()].link(rows, row, links);
            }
        }
    }

    /// Take every row out of every index.
    pub fn unlink_all(&mut self) {
        for index in &mut self.indexes {
            index.firsts.clear();
        }
        for row in &mut self.rows.lines {
            row.order &= !LINKED;
        }
    }

    fn link(&mut self, row: RowId) {
        if self.set_flag(row, LINKED, true) {
            return;
        }
        let Self { rows, indexes, .. } = self;
        for index in indexes {
            if let Some(links) = index.links {
                index.link(rows, row, links);
            }
        }
    }

    /// Take the row out of every index.
    pub fn unlink(&mut self, row: RowId) {
        if !self.set_flag(row, LINKED, false) {
            return;
        }
        let Self { rows, indexes, .. } = self;
        for Index { columns, firsts, links } in indexes {
            let Some(next) = *links else { continue };
            let (follower, leader) = (rows.word(row, next), rows.word(row, next + 1));
            if follower != NO_ROW {
                rows.set_word(RowId(follower), next + 1, leader);
            }
            if leader != NO_ROW {
                rows.set_word(RowId(leader), next, follower);
            } else if let Ok(mut entry) =
                firsts.find_entry(rows.hash_key(columns, row), |other| *other == row)
            {
                if follower == NO_ROW {
                    entry.remove();
                } else {
                    *entry.get_mut() = RowId(follower);
                }
            }
        }
    }

    /// The first row of an index with this key; none while the index is not kept.
    pub fn first(&self, index: IndexId, key: &[TermId]) -> Option<RowId> {
        let Index { columns, firsts, .. } = &self.indexes[index.index()];
        let hash = hash_terms(key.iter().copied());
        firsts.find(hash, |row| self.rows.has_key(columns, *row, key)).copied()
    }

    /// The row after `row` with the same key.
    pub fn next(&self, index: IndexId, row: RowId) -> Option<RowId> {
        let links = self.indexes[index.index()].links?;
        let next = self.rows.word(row, links);
        (next != NO_ROW).then_some(RowId(next))
    }
}
