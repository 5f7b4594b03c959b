//! An exact sum of doubles: order does not matter, and what was added can be taken out.
//!
//! Shape: a number of 2,240 bits that counts units of 2^-1074, the smallest double, in limbs of 32
//! bits that carry now and then. Rounded once, to the nearest double, ties to even.

const LIMBS: usize = 70;
/// A limb takes this many additions before it must carry.
const ADDITIONS: u32 = 1 << 29;
const MANTISSA: u64 = (1 << 52) - 1;

/// A sum of doubles.
#[derive(Clone, Debug)]
pub struct Exact {
    limbs: Box<[i64; LIMBS]>,
    additions: u32,
    /// How many of each were added: NaN, infinity, minus infinity.
    special: [i64; 3],
}

impl Default for Exact {
    fn default() -> Self {
        Self { limbs: Box::new([0; LIMBS]), additions: 0, special: [0; 3] }
    }
}

impl Exact {
    /// Add a double, or take it out.
    pub fn add(&mut self, number: f64, sign: i64) {
        if !number.is_finite() {
            let kind = if number.is_nan() { 0 } else { 1 + usize::from(number < 0.0) };
            self.special[kind] += sign;
            return;
        }
        if self.additions == ADDITIONS {
            self.carry();
        }
        self.additions += 1;
        let bits = number.to_bits();
        let exponent = (bits >> 52) & 0x7FF;
        let mantissa = (bits & MANTISSA) | u64::from(exponent > 0) << 52;
        let position = exponent.max(1) as usize - 1;
        let sign = if number < 0.0 { -sign } else { sign };
        let mut wide = u128::from(mantissa) << (position % 32);
        for limb in &mut self.limbs[position / 32..] {
            if wide == 0 {
                break;
            }
            *limb += sign * i64::from(wide as u32);
            wide >>= 32;
        }
    }

    /// Bring every limb but the last into 0..2^32.
    fn carry(&mut self) {
        let mut carried = 0;
        let (last, limbs) = self.limbs.split_last_mut().expect("there are limbs");
        for limb in limbs {
            let sum = *limb + carried;
            *limb = sum & 0xFFFF_FFFF;
            carried = sum >> 32;
        }
        *last += carried;
        self.additions = 0;
    }

    /// The sum, rounded.
    pub fn round(&self) -> f64 {
        let [nans, infinities, negative_infinities] = self.special;
        if nans > 0 || (infinities > 0 && negative_infinities > 0) {
            return f64::NAN;
        }
        if infinities > 0 {
            return f64::INFINITY;
        }
        if negative_infinities > 0 {
            return f64::NEG_INFINITY;
        }
        let mut sum = self.clone();
        sum.carry();
        if sum.limbs[LIMBS - 1] < 0 {
            sum.limbs.iter_mut().for_each(|limb| *limb = -*limb);
            sum.carry();
            return -sum.magnitude();
        }
        sum.magnitude()
    }

    /// The double nearest to limbs that are not negative and do not overlap.
    fn magnitude(&self) -> f64 {
        let bit = |position: usize| (self.limbs[position / 32] >> (position % 32)) & 1 == 1;
        let Some(top) = self.limbs.iter().rposition(|limb| *limb != 0) else { return 0.0 };
        let top = top * 32 + 63 - self.limbs[top].leading_zeros() as usize;
        let from = top.saturating_sub(52);
        let mut bits =
            (from..=top).rev().fold(0_u64, |bits, position| bits << 1 | u64::from(bit(position)));
        if from > 0 && bit(from - 1) {
            let beyond = (0..from - 1).any(bit);
            bits += u64::from(beyond || bits & 1 == 1);
        }
        // Doubles are numbered in their order, so a mantissa that rounds up to the next power of
        // two carries into the exponent as it should.
        let bits = ((from as u64) << 52) + bits;
        f64::from_bits(bits.min(f64::INFINITY.to_bits()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(numbers: &[f64]) -> f64 {
        let mut sum = Exact::default();
        numbers.iter().for_each(|number| sum.add(*number, 1));
        sum.round()
    }

    #[test]
    fn sums_are_exact() {
        assert_eq!(sum(&[1e308, 1.0, -1e308]), 1.0);
        assert_eq!(sum(&[0.1; 10]), 1.0);
        assert_eq!(sum(&[5e-324, 5e-324]), 1e-323);
        assert_eq!(sum(&[-0.5, 0.25]), -0.25);
        assert_eq!(sum(&[9_007_199_254_740_993.0, 1.0]), 9_007_199_254_740_992.0);
        assert_eq!(sum(&[f64::MAX, f64::MAX]), f64::INFINITY);
        assert!(sum(&[f64::INFINITY, f64::NEG_INFINITY]).is_nan());
        for number in [1.5, -3.7e-300, 2.2e-308, 4.9e-324, f64::MAX, 0.0] {
            assert_eq!(sum(&[number]), number);
        }
    }

    #[test]
    fn what_was_added_can_be_taken_out() {
        let mut sum = Exact::default();
        for number in [1e300, -7.25, f64::INFINITY, 1e-300] {
            sum.add(number, 1);
        }
        for number in [1e300, f64::INFINITY, 1e-300] {
            sum.add(number, -1);
        }
        assert_eq!(sum.round(), -7.25);
    }
}
