//! Relations: rows of terms with their lifetimes, and the hash indexes that the plans need.
//!
//! A table, or an index that has only few rows a key, finds rows by their terms (`home.rs`). An index is a table from a key to the first row of a doubly
//! linked list of the rows with that key, so adding and removing a row never moves another one and
//! allocates nothing. An index that a plan names is kept only from the first walk on that may need it:
//! rules that cannot fire cost no index either.
//!
//! The life of a row: *arrived* (in the table of all rows, `pending` holds the best lifetime offered
//! so far), *settled* (linked into the indexes, visible to joins, `until` is its lifetime), perhaps
//! *renewed* (a longer `until`), *expired* (`until` is NEVER, no longer linked), and at the end of
//! the tick freed.
//!
//! Invariant: every row that is found has a fact of its own; a row is linked in all kept indexes or none, but in the home
//! from its making on.

mod home;
mod outcome;
mod rows;
mod table;
mod warm;

use crate::ids::{ClassId, IndexId, RowId, TermId};
use crate::instant::{Instant, NEVER};
use crate::key::{Key, Packed};
pub use outcome::{Buried, Ended, Landed, Lapse, Settled, Stated};
use rows::{Beginning, FREE, NO_ROW, Row, Rows};
pub use rows::{Cleared, Hashing};
use table::{Gone, Index, Table};

const LINKED: u64 = 1;
const SUSPECT: u64 = 2;
/// The row is in the table.
const TABLED: u64 = 4;
const FLAGS: u64 = 7;
const ORDER_SHIFT: u32 = 3;
/// The bits of an order below these count; these are the stratum.
pub(crate) const STRATUM_SHIFT: u32 = 50;

/// The rows of one relation.
pub struct Relation {
    rows: Rows,
    free: Vec<RowId>,
    /// Rows that are forgotten but still in the table, until `forget_gone`.
    gone: Vec<Gone>,
    /// Whether any row has left the table since then.
    has_left: bool,
    table: Table,
    indexes: Vec<Index>,
    /// The index by which rows are found, if any.
    home: Option<IndexId>,
    /// Column sets that readers beside the plans look up by; their indexes stay.
    asked: Vec<Vec<usize>>,
    settled: usize,
    /// The count of settlings when the tick began. What was settled, made or ended since then has changed.
    since: u64,
}

impl Relation {
    /// An empty relation.
    pub fn new(arity: usize) -> Self {
        Self {
            rows: Rows::new(arity),
            free: Vec::new(),
            gone: Vec::new(),
            has_left: false,
            table: Table::of(arity),
            indexes: Vec::new(),
            home: None,
            asked: Vec::new(),
            settled: 0,
            since: 0,
        }
    }

    /// How many terms a row has.
    #[inline]
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
        let tables = self.table.bytes() + self.indexes.iter().map(Index::bytes).sum::<usize>();
        self.rows.lines.capacity() * size_of::<Row>() + self.rows.spill.capacity() * 4 + tables
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

    /// See each term of a row.
    #[inline]
    pub fn each_term(&self, row: RowId, see: impl FnMut(TermId)) {
        self.rows.each_term(row, see);
    }

    /// See each term of a row that was cleared.
    #[inline(always)]
    pub fn each_term_of(&self, row: RowId, was: Cleared, mut see: impl FnMut(TermId)) {
        if self.rows.arity > Packed::COLUMNS {
            return self.rows.each_term(row, see);
        }
        for column in 0..self.rows.arity {
            see(was.first.term(column));
        }
    }

    /// The terms of a row's first columns as one number. Columns that it does not have are anything.
    #[inline]
    pub fn first_terms(&self, row: RowId) -> Packed {
        self.rows.packed(row)
    }

    /// Until when the fact holds; NEVER if it does not.
    #[inline]
    pub fn until(&self, row: RowId) -> Instant {
        self.rows.lines[row.index()].until
    }

    /// Until when the fact holds, and its first terms as `first_terms` has them.
    #[inline]
    pub fn glance(&self, row: RowId) -> (Instant, Packed) {
        let line = &self.rows.lines[row.index()];
        (line.until, line.packed())
    }

    /// The best lifetime offered and not yet settled.
    #[inline]
    pub fn pending(&self, row: RowId) -> Instant {
        self.rows.lines[row.index()].pending
    }

    /// Until when the fact is stated, derivations aside.
    #[inline]
    pub fn stated(&self, row: RowId) -> Instant {
        self.rows.lines[row.index()].stated
    }

    /// The place in the order of settling.
    #[inline]
    pub fn order(&self, row: RowId) -> u64 {
        self.rows.lines[row.index()].order >> ORDER_SHIFT
    }

    /// Offer a lifetime; false if the row has one as long.
    #[inline]
    pub fn offer(&mut self, row: RowId, until: Instant) -> bool {
        let row = &mut self.rows.lines[row.index()];
        let longer = until > row.until && until > row.pending;
        if longer {
            row.pending = until;
        }
        longer
    }

    /// Offer a lifetime to a row that was just made.
    #[inline]
    pub fn offer_first(&mut self, row: RowId, until: Instant) {
        self.rows.lines[row.index()].pending = until;
    }

    /// State a fact whose row was just made, and offer it the lifetime.
    #[inline]
    pub fn state_first(&mut self, row: RowId, until: Instant) {
        let entry = &mut self.rows.lines[row.index()];
        (entry.stated, entry.pending) = (until, until);
    }

    /// Say until when the fact is stated.
    pub fn set_stated(&mut self, row: RowId, stated: Instant) {
        self.rows.lines[row.index()].stated = stated;
    }

    /// Make the pending lifetime the fact's own, and the fact visible. The row is marked as changed.
    #[inline]
    pub fn settle(&mut self, row: RowId, order: u64) -> Settled {
        let entry = &mut self.rows.lines[row.index()];
        let settled = Settled {
            before: entry.until,
            until: entry.pending,
            is_told: is_later(entry.order, self.since),
            class: entry.class,
        };
        self.settled += usize::from(entry.until == NEVER);
        let flags = entry.order & FLAGS;
        entry.until = entry.pending;
        entry.pending = NEVER;
        entry.order = (order << ORDER_SHIFT) | flags | LINKED;
        if flags & LINKED == 0 {
            self.link(row);
        }
        settled
    }

    /// Offer a fact a lifetime that nothing will outdo, and if it has none as long, make that its own. As `settle` then.
    #[inline(always)]
    pub fn land(&mut self, terms: Key<'_>, until: Instant, order: u64) -> Landed {
        let beginning = Beginning { until, stated: NEVER, order: (order << ORDER_SHIFT) | LINKED };
        let (row, is_made) = self.find_or_make(terms, beginning);
        if is_made {
            self.settled += 1;
            self.link(row);
            let (before, class) = (NEVER, FREE);
            return Landed { row, before, is_longer: true, is_made, is_told: false, class };
        }
        let entry = &mut self.rows.lines[row.index()];
        let (before, class) = (entry.until, entry.class);
        let is_longer = until > before && until > entry.pending;
        let is_told = is_later(entry.order, self.since);
        if is_longer {
            entry.pending = until;
            self.settle(row, order);
        }
        Landed { row, before, is_longer, is_made, is_told, class }
    }

    /// State a fact from which nothing follows, and make it hold as long.
    #[inline(always)]
    pub fn state(&mut self, terms: Key<'_>, until: Instant, order: u64) -> Stated {
        let beginning = Beginning { until, stated: until, order: (order << ORDER_SHIFT) | LINKED };
        let (row, is_made) = self.find_or_make(terms, beginning);
        if is_made {
            self.settled += 1;
            self.link(row);
            return Stated { row, before: NEVER, is_told: false, is_first: true };
        }
        let entry = &mut self.rows.lines[row.index()];
        let (before, is_first) = (entry.until, entry.stated == NEVER);
        entry.stated = entry.stated.max(until);
        if until <= before {
            return Stated { row, before, is_told: true, is_first };
        }
        let flags = entry.order & FLAGS;
        let is_told = is_later(entry.order, self.since);
        entry.until = until;
        entry.order = (order << ORDER_SHIFT) | flags | LINKED;
        self.settled += usize::from(before == NEVER);
        if flags & LINKED == 0 {
            self.link(row);
        }
        Stated { row, before, is_told, is_first }
    }

    /// End a fact that holds, with its statements.
    #[inline]
    pub fn expire(&mut self, row: RowId) -> Ended {
        let entry = &mut self.rows.lines[row.index()];
        let flags = entry.order & FLAGS;
        let ended = Ended {
            is_told: is_later(entry.order, self.since),
            is_stated: entry.stated != NEVER,
            class: entry.class,
        };
        entry.until = NEVER;
        entry.stated = NEVER;
        entry.order = changed(flags & !LINKED, self.since);
        self.settled -= 1;
        if flags & LINKED != 0 {
            self.take_out(row);
        }
        ended
    }

    /// End the fact's lifetime. It stays linked until `unlink`, for joins over the past.
    #[inline]
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
    #[inline]
    pub fn class(&self, row: RowId) -> ClassId {
        self.rows.lines[row.index()].class
    }

    /// Note the body conditions that the fact matches.
    #[inline]
    pub fn set_class(&mut self, row: RowId, class: ClassId) {
        self.rows.lines[row.index()].class = class;
    }

    #[inline]
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
    #[inline]
    pub fn is_suspect(&self, row: RowId) -> bool {
        self.rows.lines[row.index()].order & SUSPECT != 0
    }

    /// Mark the row as changed in this tick; returns whether it was. Its place in the order is lost, which is the end of
    /// what holds.
    #[inline]
    pub fn set_changed(&mut self, row: RowId) -> bool {
        let order = &mut self.rows.lines[row.index()].order;
        let was = is_later(*order, self.since);
        *order = changed(*order & FLAGS, self.since);
        was
    }

    /// A tick begins, after so many settlings: no row has changed yet.
    pub fn begin(&mut self, since: u64) {
        self.since = since;
    }

    /// The rows that have a fact, settled or not.
    pub fn rows(&self) -> impl Iterator<Item = RowId> + '_ {
        let lines = self.rows.lines.iter().enumerate();
        lines.filter(|(_, line)| line.class != FREE).map(|(position, _)| RowId::at(position))
    }

    /// The facts that hold.
    pub fn live(&self) -> impl Iterator<Item = RowId> + '_ {
        self.rows().filter(|row| self.until(*row) != NEVER)
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

/// Whether what a row says of its order came after a count of settlings.
#[inline]
fn is_later(order: u64, since: u64) -> bool {
    (order >> ORDER_SHIFT) & ((1 << STRATUM_SHIFT) - 1) > since
}

/// What a row with these flags says of its order that changed after a count of settlings.
#[inline]
fn changed(flags: u64, since: u64) -> u64 {
    ((since + 1) << ORDER_SHIFT) | flags
}

/// Indexes.
impl Relation {
    /// The column sets of the indexes, by `IndexId`, and whether each is kept.
    pub fn indexed(&self) -> impl Iterator<Item = (&[usize], bool)> {
        self.indexes.iter().map(|index| (&index.columns.positions[..], index.links.is_some()))
    }

    /// Name the column sets that plans may ask for. Indexes that were kept on them stay, others go.
    pub fn set_indexes(&mut self, mut wanted: Vec<Vec<usize>>) {
        for columns in &self.asked {
            if !wanted.contains(columns) {
                wanted.push(columns.clone());
            }
        }
        if let Some(home) = self.home
            && !wanted.contains(&self.indexes[home.index()].columns.positions)
        {
            self.leave_home();
        }
        let arity = self.rows.arity;
        let mut before = std::mem::take(&mut self.indexes);
        let index = |columns: Vec<usize>| match before
            .iter()
            .position(|index| index.columns.positions == columns)
        {
            Some(position) => before.swap_remove(position),
            None => Index::by(columns, arity),
        };
        self.indexes = wanted.into_iter().map(index).collect();
        let home = self.indexes.iter().position(|index| index.is_home);
        self.home = home.map(IndexId::at);
    }

    /// Keep an index on some columns, whatever the plans name.
    pub fn ask(&mut self, columns: Vec<usize>) {
        let named = self.indexes.iter().position(|index| index.columns.positions == columns);
        let position = named.unwrap_or_else(|| {
            self.indexes.push(Index::by(columns.clone(), self.rows.arity));
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
        let is_free = |links: &usize| self.indexes.iter().all(|index| index.links != Some(*links));
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

    /// Take every row out of every index but the home.
    pub fn unlink_all(&mut self) {
        self.indexes.iter_mut().filter(|index| !index.is_home).for_each(Index::clear);
        for row in &mut self.rows.lines {
            row.order &= !LINKED;
        }
    }

    /// Put a row that is marked as linked into every index but the home.
    #[inline]
    fn link(&mut self, row: RowId) {
        if !self.indexes.is_empty() {
            self.put_in(row);
        }
    }

    #[inline(never)]
    fn put_in(&mut self, row: RowId) {
        let Self { rows, indexes, .. } = self;
        for index in indexes {
            if let Some(links) = index.links
                && !index.is_home
            {
                index.link(rows, row, links);
            }
        }
    }

    /// Take the row out of every index but the home.
    #[inline]
    pub fn unlink(&mut self, row: RowId) {
        if self.set_flag(row, LINKED, false) {
            self.take_out(row);
        }
    }

    /// Take a row that is not marked as linked any more out of every index but the home.
    #[inline(always)]
    fn take_out(&mut self, row: RowId) {
        if !self.indexes.is_empty() {
            self.take_out_of_indexes(row);
        }
    }

    #[inline(never)]
    fn take_out_of_indexes(&mut self, row: RowId) {
        let Self { rows, indexes, .. } = self;
        for index in indexes {
            if let Some(links) = index.links
                && !index.is_home
            {
                index.unlink(rows, row, links);
            }
        }
    }

    /// The key of an index with these terms, one a column.
    pub fn key<'t>(&self, index: IndexId, terms: &'t [TermId]) -> Key<'t> {
        self.indexes[index.index()].columns.key(terms)
    }

    /// How an index whose keys are packed hashes them.
    pub fn hashing(&self, index: IndexId) -> Hashing {
        self.indexes[index.index()].columns.hashing
    }

    /// As `matches`, of a packed key whose hash is known. If there is nothing nobody asks for the key.
    #[inline(always)]
    pub fn matches_hashed(
        &self,
        index: IndexId,
        hash: u64,
        key: impl FnOnce() -> Packed,
    ) -> Matches<'_> {
        let index = &self.indexes[index.index()];
        let links = index.links.unwrap_or_default();
        let next = match index.at_place(hash) {
            NO_ROW => NO_ROW,
            first => index.first_from(&self.rows, first, Key::Packed(key()), links),
        };
        Matches { rows: &self.rows, links, next }
    }

    /// The rows of an index with this key; none while the index is not kept.
    #[inline(always)]
    pub fn matches(&self, index: IndexId, key: Key<'_>) -> Matches<'_> {
        let index = &self.indexes[index.index()];
        let first = index.links.map(|links| (links, index.first(&self.rows, key, links)));
        let (links, next) = first.unwrap_or((0, NO_ROW));
        Matches { rows: &self.rows, links, next }
    }
}

/// The rows of an index with the same key.
pub struct Matches<'a> {
    rows: &'a Rows,
    links: usize,
    next: u32,
}

impl Matches<'_> {
    /// Whether none is left.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.next == NO_ROW
    }
}

impl Iterator for Matches<'_> {
    type Item = RowId;

    #[inline]
    fn next(&mut self) -> Option<RowId> {
        if self.next == NO_ROW {
            return None;
        }
        let row = RowId(self.next);
        self.next = self.rows.word(row, self.links);
        Some(row)
    }
}
