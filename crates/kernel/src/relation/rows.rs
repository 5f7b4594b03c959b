//! The rows of a relation, and what is asked of some of their columns.
//!
//! Shape: a row is one cache line, `until | pending | stated | order | class | words`; its words are the
//! terms, then two links (next, previous) an index; what does not fit is in `spill`.
//!
//! Where keys are packed, that of a row is its first words, those of other columns masked.

use crate::ids::{ClassId, RowId, TermId};
use crate::instant::{Instant, NEVER};
use crate::key::{Key, Packed, hash_terms};
use crate::relation::LINKED;

pub(super) const INLINE: usize = 7;
/// No row is called so.
pub(super) const NO_ROW: u32 = crate::places::NOTHING;
/// Marks a word that goes on in a chain, not in a list.
pub(super) const FIRST: u32 = 1 << 31;
/// The class of rows that have no fact.
pub(super) const FREE: ClassId = ClassId(u32::MAX);

#[repr(C, align(64))]
#[derive(Clone)]
pub(super) struct Row {
    pub(super) until: Instant,
    pub(super) pending: Instant,
    pub(super) stated: Instant,
    /// The order of settling, above the flags.
    pub(super) order: u64,
    pub(super) class: ClassId,
    words: [u32; INLINE],
}

impl Row {
    /// The first words.
    #[inline]
    pub(super) fn packed(&self) -> Packed {
        let [one, two, three, four, ..] = self.words;
        Packed::of([one, two, three, four])
    }

    /// Hold nothing any more. Its words can still be read.
    #[inline(always)]
    pub(super) fn clear(&mut self) -> Cleared {
        let was = Cleared { order: self.order, first: self.packed() };
        (self.until, self.stated, self.class) = (NEVER, NEVER, FREE);
        self.order &= !LINKED;
        was
    }
}

/// What a row was that holds nothing any more.
#[derive(Clone, Copy)]
pub struct Cleared {
    /// With the flags.
    pub(super) order: u64,
    /// Its first words.
    pub(super) first: Packed,
}

const EMPTY: Row = Row {
    until: NEVER,
    pending: NEVER,
    stated: NEVER,
    order: 0,
    class: ClassId(0),
    words: [NO_ROW; INLINE],
};

/// What a row begins with.
#[derive(Clone, Copy)]
pub(super) struct Beginning {
    pub(super) until: Instant,
    pub(super) stated: Instant,
    /// With the flags.
    pub(super) order: u64,
}

/// The rows alone, so that they can be read while a table over them is changed.
pub(super) struct Rows {
    pub(super) arity: usize,
    pub(super) lines: Vec<Row>,
    pub(super) spill: Vec<u32>,
    spill_width: usize,
}

impl Rows {
    pub(super) fn new(arity: usize) -> Self {
        let spill_width = arity.saturating_sub(INLINE);
        Self { arity, lines: Vec::new(), spill: Vec::new(), spill_width }
    }

    #[inline]
    pub(super) fn word(&self, row: RowId, position: usize) -> u32 {
        let line = &self.lines[row.index()];
        match line.words.get(position) {
            Some(word) => *word,
            None => self.spilled(row, position),
        }
    }

    #[cold]
    #[inline(never)]
    fn spilled(&self, row: RowId, position: usize) -> u32 {
        self.spill[row.index() * self.spill_width + position - INLINE]
    }

    /// See each term of a row.
    #[inline]
    pub(super) fn each_term(&self, row: RowId, mut see: impl FnMut(TermId)) {
        let words = &self.lines[row.index()].words;
        for word in &words[..self.arity.min(INLINE)] {
            see(TermId(*word));
        }
        for column in INLINE..self.arity {
            see(TermId(self.spilled(row, column)));
        }
    }

    #[inline]
    pub(super) fn set_word(&mut self, row: RowId, position: usize, word: u32) {
        let line = &mut self.lines[row.index()];
        match line.words.get_mut(position) {
            Some(place) => *place = word,
            None => self.set_spilled(row, position, word),
        }
    }

    #[cold]
    #[inline(never)]
    fn set_spilled(&mut self, row: RowId, position: usize, word: u32) {
        self.spill[row.index() * self.spill_width + position - INLINE] = word;
    }

    /// The two words from a position on: the links of an index.
    #[inline]
    pub(super) fn pair(&self, row: RowId, position: usize) -> (u32, u32) {
        let line = &self.lines[row.index()];
        match line.words.get(position..position + 2) {
            Some(pair) => (pair[0], pair[1]),
            None => (self.word(row, position), self.word(row, position + 1)),
        }
    }

    #[inline]
    pub(super) fn set_pair(&mut self, row: RowId, position: usize, pair: (u32, u32)) {
        let line = &mut self.lines[row.index()];
        match line.words.get_mut(position..position + 2) {
            Some(place) => (place[0], place[1]) = pair,
            None => {
                self.set_word(row, position, pair.0);
                self.set_word(row, position + 1, pair.1);
            }
        }
    }

    /// The row that comes after all others.
    pub(super) fn next(&self) -> RowId {
        let row = RowId::at(self.lines.len());
        assert!(row.0 < NO_ROW, "more than 2^31 rows");
        row
    }

    /// Let a row have these terms, and begin so.
    #[inline(always)]
    pub(super) fn fill(&mut self, row: RowId, terms: Key<'_>, beginning: Beginning) {
        let packed = match terms {
            Key::Packed(packed) => packed,
            Key::Terms(_) => Packed::default(),
        };
        let Beginning { until, stated, order } = beginning;
        if row.index() == self.lines.len() {
            self.append();
        }
        let line = &mut self.lines[row.index()];
        (line.until, line.pending, line.stated, line.order) = (until, NEVER, stated, order);
        line.class = ClassId(0);
        // Words after the terms are links, which are written before they are read.
        line.words[..Packed::COLUMNS].copy_from_slice(&packed.words());
        if let Key::Terms(terms) = terms {
            self.fill_words(row, terms);
        }
    }

    #[cold]
    fn fill_words(&mut self, row: RowId, terms: &[TermId]) {
        for (column, term) in terms.iter().enumerate() {
            self.set_word(row, column, term.0);
        }
    }

    #[inline(never)]
    fn append(&mut self) {
        self.lines.push(EMPTY);
        self.spill.resize(self.lines.len() * self.spill_width, NO_ROW);
    }

    /// Make room for this many words a row.
    pub(super) fn widen(&mut self, words: usize) {
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
    pub(super) fn packed(&self, row: RowId) -> Packed {
        self.lines[row.index()].packed()
    }

    /// The hash of a row's key.
    #[inline]
    pub(super) fn hash(&self, columns: &Columns, row: RowId) -> u64 {
        if columns.are_packed {
            return columns.hash_packed(self.packed(row).masked(columns.mask));
        }
        self.hash_words(columns, row)
    }

    #[cold]
    fn hash_words(&self, columns: &Columns, row: RowId) -> u64 {
        hash_terms(columns.positions.iter().map(|at| TermId(self.word(row, *at))))
    }

    /// Whether a row has this key.
    #[inline]
    pub(super) fn holds(&self, columns: &Columns, row: RowId, key: Key<'_>) -> bool {
        match key {
            Key::Packed(packed) => self.packed(row).masked(columns.mask) == packed,
            Key::Terms(terms) => self.holds_terms(columns, row, terms),
        }
    }

    #[cold]
    fn holds_terms(&self, columns: &Columns, row: RowId, terms: &[TermId]) -> bool {
        let mut pairs = columns.positions.iter().zip(terms);
        pairs.all(|(position, term)| self.word(row, *position) == term.0)
    }

    /// Whether two rows have the same key.
    #[cold]
    pub(super) fn same_words(&self, columns: &Columns, one: RowId, other: RowId) -> bool {
        let mut positions = columns.positions.iter();
        positions.all(|position| self.word(one, *position) == self.word(other, *position))
    }
}

/// The columns of a key.
///
/// The hash of a packed key is the sum of the hash of all columns but one, and of that one as it is:
/// dense ids make dense places. That one is the first column of the relation or, if it is not in the key,
/// the key's last: subjects and objects come and go together more often than predicates do.
pub(super) struct Columns {
    pub(super) positions: Vec<usize>,
    pub(super) are_packed: bool,
    /// All bits of the columns.
    pub(super) mask: Packed,
    pub(super) hashing: Hashing,
}

/// How packed keys are hashed.
#[derive(Clone, Copy, Debug)]
pub struct Hashing {
    /// All bits of the columns that are mixed.
    pub mixed: Packed,
    /// The column that is added as it is.
    pub linear: usize,
}

impl Columns {
    /// Some columns of a relation.
    pub(super) fn new(positions: Vec<usize>, arity: usize) -> Self {
        let are_packed = arity <= Packed::COLUMNS;
        let last = positions.last().copied().unwrap_or_default();
        let linear = if positions.contains(&0) { 0 } else { last };
        let packed = positions.iter().filter(|_| are_packed);
        let all = |mask: Packed, column: &usize| mask.with(*column, TermId(u32::MAX));
        let mask = packed.clone().fold(Packed::default(), all);
        let mixed = packed.filter(|column| **column != linear).fold(Packed::default(), all);
        Self { positions, are_packed, mask, hashing: Hashing { mixed, linear } }
    }

    /// The key with these terms, one a column.
    pub(super) fn key<'t>(&self, terms: &'t [TermId]) -> Key<'t> {
        if !self.are_packed {
            return Key::Terms(terms);
        }
        let columns = self.positions.iter().zip(terms);
        let put = |packed: Packed, (column, term): (&usize, &TermId)| packed.with(*column, *term);
        Key::Packed(columns.fold(Packed::default(), put))
    }

    /// The hash of a key.
    #[inline]
    pub(super) fn hash(&self, key: Key<'_>) -> u64 {
        match key {
            Key::Packed(packed) => self.hash_packed(packed),
            Key::Terms(terms) => Self::hash_terms(terms),
        }
    }

    #[cold]
    pub(super) fn hash_terms(terms: &[TermId]) -> u64 {
        hash_terms(terms.iter().copied())
    }

    #[inline]
    pub(super) fn hash_packed(&self, key: Packed) -> u64 {
        let Hashing { mixed, linear } = self.hashing;
        let linear = u64::from(key.term(linear).0);
        key.masked(mixed).hash().wrapping_add(linear)
    }
}
