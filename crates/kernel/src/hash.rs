//! Hashing of small tuples of ids, and of term texts.
//!
//! Ids are dense and adversaries cannot choose them, so one folded multiplication a word is enough;
//! texts come from outside and are hashed by hashbrown's default keyed hasher.

use crate::ids::TermId;

const MULTIPLIER: u64 = 0x9E37_79B9_7F4A_7C15;

/// The hash of a tuple of terms.
pub fn hash_terms(terms: impl IntoIterator<Item = TermId>) -> u64 {
    let mut state = 0x243F_6A88_85A3_08D3_u64;
    for term in terms {
        state = fold(state ^ u64::from(term.0), MULTIPLIER);
    }
    fold(state, 0xD6E8_FEB8_6659_FD93)
}

fn fold(left: u64, right: u64) -> u64 {
    let product = u128::from(left) * u128::from(right);
    (product as u64) ^ ((product >> 64) as u64)
}
