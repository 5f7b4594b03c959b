//! How rows are found by all their terms, made and forgotten.
//!
//! Shape: at first all rows are in a table. Where facts come and go, and an index has lists that are short, that index is
//! the relation's *home*: every row is in it from its making on, settled or not, and is found in its list. Only rows that
//! come to a list when it is long are in the table, too.
//!
//! Invariant: a row is in the table, or it is one of the first `SHORT` of its list in the home. Rows are put in behind
//! those, and others only leave, so that a row never comes further back.

use crate::ids::{IndexId, RowId};
use crate::instant::{Instant, NEVER};
use crate::key::{Key, Packed};
use crate::relation::rows::{Beginning, Cleared};
use crate::relation::table::{Index, Sought};
use crate::relation::{Buried, LINKED, Lapse, Relation, TABLED, changed};

/// How many rows of a list are looked at.
pub(super) const SHORT: usize = 16;
/// An index becomes the home if it has no more rows a key than this, on average.
const FEW: usize = 6;
/// It is the home no longer if it has more than this.
const MANY: usize = 12;
/// How many places are looked for at once.
const TOGETHER: usize = 32;
/// From this many rows on their places are not in the nearest caches.
const FAR: usize = 1 << 12;

impl Relation {
    /// The row of a fact, settled or not.
    #[inline]
    pub fn find<'t>(&self, terms: impl Into<Key<'t>>) -> Option<RowId> {
        let terms = terms.into();
        if let (Some((index, links)), Key::Packed(tuple)) = (self.home(), terms) {
            match index.seek(&self.rows, tuple, self.table.columns.mask, links) {
                Sought::Found(row) => return Some(row),
                Sought::Beyond(_) => {}
                Sought::Nowhere(_) | Sought::NotAmong(_) => return None,
            }
        }
        self.table.find(&self.rows, terms)
    }

    #[inline]
    pub(super) fn home(&self) -> Option<(&Index, usize)> {
        let index = &self.indexes[self.home?.index()];
        Some((index, index.links?))
    }

    /// The row of a fact, made if there is none, and then marked as changed. The flag says whether it
    /// was made.
    #[inline]
    pub fn find_or_insert<'t>(&mut self, terms: impl Into<Key<'t>>) -> (RowId, bool) {
        let order = changed(0, self.since);
        self.find_or_make(terms.into(), Beginning { until: NEVER, stated: NEVER, order })
    }

    #[inline(always)]
    pub(super) fn find_or_make(&mut self, terms: Key<'_>, beginning: Beginning) -> (RowId, bool) {
        if let Some(home) = self.home
            && let Key::Packed(tuple) = terms
        {
            return self.find_or_make_at_home(home, tuple, beginning);
        }
        let Self { rows, table, free, .. } = self;
        let new = free.last().copied().unwrap_or_else(|| rows.next());
        if let Some(row) = table.find_or_insert(rows, terms, new) {
            return (row, false);
        }
        free.pop();
        rows.fill(new, terms, Beginning { order: beginning.order | TABLED, ..beginning });
        (new, true)
    }

    #[inline(always)]
    fn find_or_make_at_home(
        &mut self,
        home: IndexId,
        tuple: Packed,
        mut beginning: Beginning,
    ) -> (RowId, bool) {
        let Self { rows, table, free, indexes, .. } = self;
        let index = &mut indexes[home.index()];
        let links = index.links.expect("a home is kept");
        index.make_room(rows, links);
        let sought = index.seek(rows, tuple, table.columns.mask, links);
        if let Sought::Found(row) = sought {
            return (row, false);
        }
        let new = free.last().copied().unwrap_or_else(|| rows.next());
        let terms = Key::Packed(tuple);
        if let Sought::Beyond(_) = sought {
            if let Some(row) = table.find_or_insert(rows, terms, new) {
                return (row, false);
            }
            beginning.order |= TABLED;
        }
        free.pop();
        rows.fill(new, terms, beginning);
        index.seat(rows, new, sought, links);
        (new, true)
    }

    /// Make room for so many facts more.
    pub fn reserve(&mut self, facts: usize) {
        self.rows.lines.reserve(facts);
        if self.home.is_none() {
            self.table.reserve(facts);
        }
    }

    /// How many facts hold or are about to.
    pub fn expected(&self) -> usize {
        self.rows.lines.len() - self.free.len()
    }

    /// The tick is over: a row is to be forgotten if its fact neither holds nor is stated.
    #[inline]
    pub fn bury(&mut self, row: RowId) -> Buried {
        let line = &mut self.rows.lines[row.index()];
        let holds = line.until != NEVER;
        let is_gone = !holds && line.stated == NEVER;
        if is_gone {
            let was = line.clear();
            self.give_up(row, was);
        }
        Buried { holds, is_gone }
    }

    /// End a fact that has reached its `until` at a tick. The row of one that is gone must be given up.
    #[inline(always)]
    pub fn end_for_good(&mut self, row: RowId, tick: Instant) -> Lapse {
        let line = &mut self.rows.lines[row.index()];
        let (before, is_stated, class) = (line.until, line.stated != NEVER, line.class);
        if before > tick {
            return Lapse::Renewed(before);
        }
        if before == NEVER {
            return Lapse::Over;
        }
        self.settled -= 1;
        Lapse::Gone { before, is_stated, class, was: line.clear() }
    }

    /// Let a row that was cleared be forgotten.
    #[inline(always)]
    pub fn give_up(&mut self, row: RowId, was: Cleared) {
        if !self.indexes.is_empty() {
            self.leave_indexes(row, was.order & LINKED != 0);
        }
        let Self { rows, table, gone, free, has_left, .. } = self;
        if was.order & TABLED == 0 {
            return free.push(row);
        }
        *has_left = true;
        let one = table.gone(rows, row, was.first);
        if rows.lines.len() >= FAR {
            return gone.push(one);
        }
        table.remove(one);
        free.push(row);
    }

    /// Take a row that was cleared out of every index.
    #[inline(never)]
    fn leave_indexes(&mut self, row: RowId, was_linked: bool) {
        if was_linked {
            self.take_out(row);
        }
        let Self { rows, indexes, home, .. } = self;
        if let Some(home) = *home
            && let index = &mut indexes[home.index()]
            && let Some(links) = index.links
        {
            index.unlink(rows, row, links);
        }
    }

    /// Forget the rows that were buried. Those that are far are looked for in the table apart from the rows, many at once.
    pub fn forget_gone(&mut self) {
        let has_left = std::mem::take(&mut self.has_left);
        for some in self.gone.chunks(TOGETHER) {
            self.table.warm(some);
            for gone in some {
                self.table.remove(*gone);
                self.free.push(gone.row);
            }
        }
        self.gone.clear();
        match self.home() {
            Some((index, _)) if self.settled > MANY * index.keys => self.leave_home(),
            None if has_left => self.find_home(),
            _ => {}
        }
    }

    /// Let the index with the shortest lists be the home, if they are short. All rows are in the table.
    fn find_home(&mut self) {
        let kept = self.indexes.iter().enumerate().filter(|(_, index)| index.links.is_some());
        let Some((position, best)) = kept.max_by_key(|(_, index)| index.keys) else { return };
        if !best.columns.are_packed || self.settled > FEW * best.keys {
            return;
        }
        let rows: Vec<RowId> = self.unlinked().collect();
        let index = &mut self.indexes[position];
        index.is_home = true;
        self.home = Some(IndexId::at(position));
        if let Some(links) = index.links {
            rows.into_iter().for_each(|row| index.link(&mut self.rows, row, links));
        }
    }

    fn unlinked(&self) -> impl Iterator<Item = RowId> {
        self.rows().filter(|row| self.rows.lines[row.index()].order & LINKED == 0)
    }

    /// Have no home any more: put every row into the table.
    #[cold]
    pub(super) fn leave_home(&mut self) {
        let Some(home) = self.home.take() else { return };
        let rows: Vec<RowId> = self.unlinked().collect();
        let index = &mut self.indexes[home.index()];
        index.is_home = false;
        if let Some(links) = index.links {
            rows.into_iter().for_each(|row| index.unlink(&mut self.rows, row, links));
        }
        let all: Vec<RowId> = self.rows().collect();
        for row in all {
            if !self.set_flag(row, TABLED, true) {
                self.table.insert_row(&self.rows, row);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::TermId;
    use crate::instant::Instant;

    fn terms(subject: u32, object: u32) -> [TermId; 3] {
        [TermId(subject), TermId(7), TermId(object)]
    }

    fn settle(relation: &mut Relation, (subject, object): (u32, u32), order: u64) {
        let (row, made) = relation.find_or_insert(&terms(subject, object)[..]);
        assert!(made && !relation.find_or_insert(&terms(subject, object)[..]).1);
        relation.offer(row, Instant(9));
        relation.settle(row, order);
    }

    fn forget(relation: &mut Relation, (subject, object): (u32, u32)) {
        let row = relation.find(&terms(subject, object)[..]).expect("it is there");
        relation.expire(row);
        assert!(relation.bury(row).is_gone);
        relation.forget_gone();
    }

    /// Twenty subjects with an object each, and one more fact that came and went.
    fn at_home() -> Relation {
        let mut relation = Relation::new(3);
        relation.set_indexes(vec![vec![1, 2], vec![0, 1]]);
        (0..2).for_each(|index| relation.keep(IndexId::at(index)));
        (0..21).for_each(|subject| settle(&mut relation, (subject, 0), 1));
        assert_eq!(relation.home, None, "nothing left yet");
        forget(&mut relation, (20, 0));
        assert_eq!(relation.home, Some(IndexId(1)), "by subjects the lists are short");
        relation
    }

    #[test]
    fn what_comes_to_a_long_list_is_in_the_table() {
        let mut relation = at_home();
        let objects = 0..3 * SHORT as u32;
        objects.clone().skip(1).for_each(|object| settle(&mut relation, (3, object), 2));
        let is_tabled = |relation: &Relation, object: &u32| {
            let row = relation.find(&terms(3, *object)[..]).expect("it is there");
            relation.rows.lines[row.index()].order & TABLED != 0
        };
        let mut tabled: Vec<u32> = objects.clone().collect();
        tabled.retain(|object| is_tabled(&relation, object));
        // The first was made before there was a home.
        let expected: Vec<u32> = [0].into_iter().chain(SHORT as u32..3 * SHORT as u32).collect();
        assert_eq!(tabled, expected);
        for object in objects.clone().step_by(2) {
            forget(&mut relation, (3, object));
        }
        for object in objects {
            let is_there = relation.find(&terms(3, object)[..]).is_some();
            assert_eq!(is_there, object % 2 == 1, "{object}");
        }
    }

    #[test]
    fn rows_are_found_when_the_home_is_left() {
        let mut relation = at_home();
        let (pending, _) = relation.find_or_insert(&terms(0, 5)[..]);
        relation.set_indexes(vec![vec![1, 2]]);
        assert_eq!(relation.home, None);
        assert_eq!(relation.find(&terms(0, 5)[..]), Some(pending));
        (0..20).for_each(|subject| assert!(relation.find(&terms(subject, 0)[..]).is_some()));
        assert_eq!(relation.expected(), 21);
    }

    #[test]
    fn a_home_with_long_lists_is_left() {
        let mut relation = at_home();
        (1..400).for_each(|object| settle(&mut relation, (3, object), 2));
        forget(&mut relation, (3, 7));
        assert_eq!(relation.home, None, "419 facts, 20 keys; by objects it is 419 and 400");
        forget(&mut relation, (3, 8));
        assert_eq!(relation.home, Some(IndexId(0)));
        (9..400).for_each(|object| assert!(relation.find(&terms(3, object)[..]).is_some()));
    }
}
