//! Keys: tuples of terms, as they are looked up and hashed; and the hashing of term texts.
//!
//! Shape: up to four terms are packed into one number, so that they are compared, masked and hashed at
//! once; longer tuples are slices. Ids are dense and adversaries cannot choose them, so one folded
//! multiplication is enough for a packed tuple, and one multiplication a term for others. Texts come
//! from outside and are hashed by hashbrown's default keyed hasher.

use crate::ids::TermId;

const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;
const LOW: u64 = 0x243F_6A88_85A3_08D3;
const HIGH: u64 = 0xD6E8_FEB8_6659_FD93;

/// A product's high bits are the good ones; folding brings them down to where tables look.
#[inline]
fn fold(one: u64, other: u64) -> u64 {
    let product = u128::from(one) * u128::from(other);
    (product as u64) ^ ((product >> 64) as u64)
}

/// The hash of a number.
#[inline]
pub fn hash_number(number: u64) -> u64 {
    fold(number ^ LOW, HIGH)
}

/// The hash of a tuple of terms of any length.
#[inline]
pub fn hash_terms(terms: impl IntoIterator<Item = TermId>) -> u64 {
    let mix = |state: u64, term: TermId| (state ^ u64::from(term.0)).wrapping_mul(FACTOR);
    fold(terms.into_iter().fold(LOW, mix), HIGH)
}

/// Up to four terms as one number, by column; columns that are not there are zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Packed {
    low: u64,
    high: u64,
}

impl Packed {
    /// How many columns there are.
    pub const COLUMNS: usize = 4;

    /// These words, one a column.
    #[inline]
    pub fn of(words: [u32; Self::COLUMNS]) -> Self {
        let pair = |low: u32, high: u32| u64::from(low) | (u64::from(high) << 32);
        Self { low: pair(words[0], words[1]), high: pair(words[2], words[3]) }
    }

    /// The words, one a column.
    #[inline]
    pub fn words(self) -> [u32; Self::COLUMNS] {
        let Self { low, high } = self;
        [low as u32, (low >> 32) as u32, high as u32, (high >> 32) as u32]
    }

    /// With a term in a column that was not there.
    #[inline]
    #[must_use]
    pub fn with(self, column: usize, term: TermId) -> Self {
        let word = u64::from(term.0) << (32 * (column & 1));
        let (low, high) = if column < 2 { (word, 0) } else { (0, word) };
        Self { low: self.low | low, high: self.high | high }
    }

    /// With a term in the column where `factors` has a one, and nothing was.
    #[inline]
    #[must_use]
    pub fn with_times(self, factors: Self, term: TermId) -> Self {
        let word = u64::from(term.0);
        Self { low: self.low | (word * factors.low), high: self.high | (word * factors.high) }
    }

    /// The term in a column.
    #[inline]
    pub fn term(self, column: usize) -> TermId {
        let half = if column < 2 { self.low } else { self.high };
        TermId((half >> (32 * (column & 1))) as u32)
    }

    /// The columns that the mask has all bits of.
    #[inline]
    #[must_use]
    pub fn masked(self, mask: Self) -> Self {
        Self { low: self.low & mask.low, high: self.high & mask.high }
    }

    /// The hash.
    #[inline]
    pub fn hash(self) -> u64 {
        fold(self.low ^ LOW, self.high ^ HIGH)
    }

    /// The hash of a whole tuple, linear in its first column: that of the others, and this one as it is.
    #[inline]
    pub fn hash_tuple(self) -> u64 {
        let first = self.low & u64::from(u32::MAX);
        Self { low: self.low ^ first, high: self.high }.hash().wrapping_add(first)
    }
}

/// What is looked up in a relation: the terms of some columns, or of all.
#[derive(Clone, Copy, Debug)]
pub enum Key<'t> {
    /// In relations of up to four columns: the terms by column.
    Packed(Packed),
    /// In wider ones: the terms in the order of the columns.
    Terms(&'t [TermId]),
}

impl Key<'_> {
    /// The term in a column of a whole tuple.
    #[inline]
    pub fn term(self, column: usize) -> TermId {
        match self {
            Self::Packed(packed) => packed.term(column),
            Self::Terms(terms) => terms[column],
        }
    }
}

impl<'t> From<&'t [TermId]> for Key<'t> {
    /// The key of a whole tuple.
    #[inline]
    fn from(terms: &'t [TermId]) -> Self {
        if terms.len() > Packed::COLUMNS {
            return Self::Terms(terms);
        }
        Self::Packed(Packed::from(terms))
    }
}

impl From<&[TermId]> for Packed {
    /// These terms, of which there are no more than columns.
    #[inline(always)]
    fn from(terms: &[TermId]) -> Self {
        let columns = terms.iter().enumerate();
        columns.fold(Self::default(), |packed, (column, term)| packed.with(column, *term))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_come_out_as_they_went_in() {
        let packed = Packed::default().with(2, TermId(7)).with(0, TermId(u32::MAX));
        assert_eq!(packed, Packed::of([u32::MAX, 0, 7, 0]));
        assert_eq!(packed.words(), [u32::MAX, 0, 7, 0]);
        assert_eq!(packed.masked(Packed::of([0, 0, u32::MAX, 0])).words(), [0, 0, 7, 0]);
    }

    #[test]
    fn tuples_that_differ_in_the_first_column_have_neighbouring_hashes() {
        let tuple = |first: u32| Packed::of([first, 3, 5, 0]);
        assert_eq!(tuple(8).hash_tuple(), tuple(7).hash_tuple().wrapping_add(1));
        assert_ne!(tuple(7).hash_tuple(), Packed::of([7, 3, 6, 0]).hash_tuple());
    }

    #[test]
    fn dense_ids_fall_into_different_places() {
        // Trees of facts with ids from a few ranges: a good hash collides about as often as chance.
        const PLACES: usize = 1 << 16;
        let mut taken = vec![false; PLACES];
        for subject in 0..200 {
            for object in 0..160 {
                let packed = Packed::of([1_000 + subject, 3, 5_000 + object, 0]);
                taken[packed.hash() as usize % PLACES] = true;
            }
        }
        let found = taken.iter().filter(|taken| **taken).count() as f64;
        let chance = PLACES as f64 * (1.0 - (-32_000.0 / PLACES as f64).exp());
        assert!(found > 0.97 * chance, "{found} places of {chance} expected");
    }
}
