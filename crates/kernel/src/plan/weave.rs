//! Weaving: columns of one tuple become columns of another.
//!
//! Shape: the columns that move, each with where it goes; mostly one or two. Invariant: no column of the new tuple comes
//! from two.

use crate::ids::TermId;
use crate::key::Packed;

/// Where the columns of a packed tuple go in another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Weave {
    moves: Vec<Move>,
}

/// A column goes where `factors` has a one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Move {
    from: usize,
    factors: Packed,
}

impl Weave {
    /// Columns and where they go; none if one of them is not packed.
    pub fn new(columns: impl IntoIterator<Item = (usize, usize)>) -> Option<Self> {
        let go = |(from, to): (usize, usize)| {
            let is_packed = from < Packed::COLUMNS && to < Packed::COLUMNS;
            is_packed.then(|| Move { from, factors: Packed::default().with(to, TermId(1)) })
        };
        let moves: Option<Vec<Move>> = columns.into_iter().map(go).collect();
        moves.map(|moves| Self { moves })
    }

    /// The column that goes to a column.
    pub fn source(&self, to: usize) -> Option<usize> {
        let comes = |one: &&Move| one.factors.term(to) != TermId(0);
        self.moves.iter().find(comes).map(|one| one.from)
    }

    /// Put the columns of a tuple into another, which has nothing there yet.
    #[inline(always)]
    pub fn put(&self, tuple: Packed, into: Packed) -> Packed {
        let put = |into: Packed, one: &Move| into.with_times(one.factors, tuple.term(one.from));
        self.moves.iter().fold(into, put)
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
