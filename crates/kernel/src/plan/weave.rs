//! Weaving: columns of one tuple become columns of another, by masks instead of a step a column.
//!
//! Shape: by how many columns they move on, those that do, as they stand in the new tuple. Invariant: no column of the
//! new tuple comes from two.

use crate::ids::TermId;
use crate::key::Packed;

/// Where the columns of a packed tuple go in another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Weave {
    moved: [Packed; Packed::COLUMNS],
}

impl Weave {
    /// Columns and where they go; none if one of them is not packed.
    pub fn new(columns: impl IntoIterator<Item = (usize, usize)>) -> Option<Self> {
        let mut weave = Self::default();
        for (from, to) in columns {
            if from >= Packed::COLUMNS || to >= Packed::COLUMNS {
                return None;
            }
            let moved = &mut weave.moved[(Packed::COLUMNS + to - from) % Packed::COLUMNS];
            *moved = moved.with(to, TermId(u32::MAX));
        }
        Some(weave)
    }

    /// The column that goes to a column.
    pub fn source(&self, to: usize) -> Option<usize> {
        let comes = |by: &usize| self.moved[*by].term(to) != TermId(0);
        let by = (0..Packed::COLUMNS).find(comes)?;
        Some((Packed::COLUMNS + to - by) % Packed::COLUMNS)
    }

    /// Put the columns of a tuple into another, which has nothing there yet.
    #[inline(always)]
    pub fn put(&self, tuple: Packed, into: Packed) -> Packed {
        let by_one = tuple.moved_by_one();
        let [none, one, two, three] = self.moved;
        let near = tuple.masked(none).or(by_one.masked(one));
        let far = tuple.moved_by_two().masked(two).or(by_one.moved_by_two().masked(three));
        into.or(near.or(far))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_go_where_they_belong() {
        let tuple = Packed::of([1, 2, 3, 4]);
        let begun = Packed::of([0, 9, 0, 0]);
        for from in 0..4 {
            for to in [0, 2, 3] {
                let mut expected = begun.words();
                expected[to] = tuple.words()[from];
                let weave = Weave::new([(from, to)]).unwrap();
                assert_eq!(weave.put(tuple, begun).words(), expected, "{from} to {to}");
            }
        }
        let all = Weave::new([(0, 3), (3, 0), (0, 2)]).unwrap();
        assert_eq!(all.put(tuple, begun).words(), [4, 9, 1, 1]);
        assert_eq!([0, 1, 2, 3].map(|to| all.source(to)), [Some(3), None, Some(0), Some(0)]);
        assert_eq!(Weave::new([(4, 0)]), None);
    }
}
