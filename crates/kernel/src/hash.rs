//! Hashing of small tuples of ids, and of term texts.
//!
//! Ids are dense and adversaries cannot choose them, so a multiplication a word and a folded one at the end
//! are enough;
//! texts come from outside and are hashed by hashbrown's default keyed hasher.

use crate::ids::TermId;

const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;

/// The hash of a tuple of terms.
#[inline]
pub fn hash_terms(terms: impl IntoIterator<Item = TermId>) -> u64 {
    let mix = |state: u64, term: TermId| (state ^ u64::from(term.0)).wrapping_mul(FACTOR);
    let state = terms.into_iter().fold(0x243F_6A88_85A3_08D3, mix);
    // The high bits are the good ones; folding the product brings them down to where tables look.
    let product = u128::from(state) * 0xD6E8_FEB8_6659_FD93_u128;
    (product as u64) ^ ((product >> 64) as u64)
}
