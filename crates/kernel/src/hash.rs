//! Hashing of small tuples of ids, and of term texts.
//!
//! Ids are dense and adversaries cannot choose them, so one folded multiplication a word is enough;
//! texts come from outside and are hashed by hashbrown's default keyed hasher.

use crate::ids::TermId;

/// Odd numbers without a pattern, one a position: the products are summed, so they do not wait for
/// each other.
const FACTORS: [u64; 8] = [
    0x9E37_79B9_7F4A_7C15,
    0xD6E8_FEB8_6659_FD93,
    0xC2B2_AE3D_27D4_EB4F,
    0x1656_67B1_9E37_79F9,
    0x85EB_CA77_C2B2_AE63,
    0x27D4_EB2F_1656_67C5,
    0xA076_1D64_78BD_642F,
    0xE703_7ED1_A0B4_28DB,
];

/// The hash of a tuple of terms.
pub fn hash_terms(terms: impl IntoIterator<Item = TermId>) -> u64 {
    let mut sum = 0x243F_6A88_85A3_08D3_u64;
    for (position, term) in terms.into_iter().enumerate() {
        let factor = FACTORS[position % FACTORS.len()];
        // From the ninth term on factors come again: turning tells the rounds apart.
        let factor = factor.rotate_left((position / FACTORS.len()) as u32);
        sum = sum.wrapping_add(u64::from(term.0).wrapping_mul(factor));
    }
    let product = u128::from(sum) * 0xD6E8_FEB8_6659_FD93_u128;
    (product as u64) ^ ((product >> 64) as u64)
}
