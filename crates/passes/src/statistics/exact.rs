//! Sums of floats without rounding: wide integers in units of the least value there is.
//!
//! Adding is associative here, so a statistic is the same to the last bit however its values were cut into batches and
//! threads, and nothing cancels in a variance: `n·Σx² − (Σx)²` is computed in integers.

/// Bits of the unit of sums of `f32` values: the least of them is 2^-149.
const VALUE_UNIT: i32 = 149;

/// A sum of `f32` values: 277 bits for one, 63 for their number, one for the sign.
pub(super) type Sum = Exact<6, VALUE_UNIT>;
/// A sum of squares of `f32` values.
pub(super) type SquareSum = Exact<10, { 2 * VALUE_UNIT }>;

/// A number in units of `2^-UNIT`, two's complement, least limb first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Exact<const LIMBS: usize, const UNIT: i32>([u64; LIMBS]);

impl<const LIMBS: usize, const UNIT: i32> Exact<LIMBS, UNIT> {
    pub const ZERO: Self = Self([0; LIMBS]);

    /// Adds a finite multiple of the unit.
    pub fn add(&mut self, value: f64) {
        let bits = value.to_bits();
        let exponent = ((bits >> 52) & 0x7ff) as i32;
        if exponent == 0 {
            // Zero: what is subnormal in f64 is far below the unit.
            return;
        }
        let mantissa = (bits & ((1 << 52) - 1)) | (1 << 52);
        let place = exponent - 1075 + UNIT;
        let (mantissa, place) = match u32::try_from(place) {
            Ok(place) => (mantissa, place),
            // The bits that leave are zero, as the value is a multiple of the unit.
            Err(_) => (mantissa >> place.unsigned_abs(), 0),
        };
        let wide = u128::from(mantissa) << (place % 64);
        let pieces = [wide as u64, (wide >> 64) as u64];
        let first = (place / 64) as usize;
        if bits >> 63 == 0 {
            self.carry(first, pieces, u64::overflowing_add);
        } else {
            self.carry(first, pieces, u64::overflowing_sub);
        }
    }

    /// Adds another sum.
    pub fn merge(&mut self, other: &Self) {
        let mut carry = false;
        for (limb, &more) in self.0.iter_mut().zip(&other.0) {
            let (sum, first) = limb.overflowing_add(more);
            let (sum, second) = sum.overflowing_add(u64::from(carry));
            *limb = sum;
            carry = first | second;
        }
    }

    /// The nearest `f64`.
    pub fn to_f64(self) -> f64 {
        let magnitude = to_f64(&self.magnitude(), UNIT);
        if self.is_negative() {
            -magnitude
        } else {
            magnitude
        }
    }

    fn is_negative(&self) -> bool {
        self.0[LIMBS - 1] >> 63 == 1
    }

    fn magnitude(&self) -> [u64; LIMBS] {
        if self.is_negative() {
            self.negated().0
        } else {
            self.0
        }
    }

    fn negated(&self) -> Self {
        let mut one = Self::ZERO;
        one.0[0] = 1;
        one.merge(&Self(self.0.map(|limb| !limb)));
        one
    }

    /// Adds or subtracts two limbs from limb `first` on, and carries.
    fn carry(&mut self, first: usize, pieces: [u64; 2], step: fn(u64, u64) -> (u64, bool)) {
        let mut carry = false;
        for (k, limb) in self.0.iter_mut().skip(first).enumerate() {
            let piece = pieces.get(k).copied().unwrap_or(0);
            if k >= pieces.len() && !carry {
                return;
            }
            let (sum, one) = step(*limb, piece);
            let (sum, two) = step(sum, u64::from(carry));
            *limb = sum;
            carry = one || two;
        }
    }
}

/// `(count · square − total²) / (count · (count − 1))`, rounded only in the division; NaN of fewer than two values.
pub(super) fn variance(total: &Sum, square: &SquareSum, count: u64) -> f64 {
    if count < 2 {
        return f64::NAN;
    }
    let mut spread = [0; 12];
    add_product(&mut spread, &square.magnitude(), &[count]);
    let total = total.magnitude();
    let mut product = [0; 12];
    add_product(&mut product, &total, &total);
    subtract(&mut spread, &product);
    let count = count as f64;
    to_f64(&spread, 2 * VALUE_UNIT) / (count * (count - 1.0))
}

/// `sum += a · b`.
fn add_product(sum: &mut [u64; 12], a: &[u64], b: &[u64]) {
    for (i, &x) in a.iter().enumerate() {
        let mut carry = 0;
        for (k, slot) in sum.iter_mut().enumerate().skip(i) {
            let y = b.get(k - i).copied().unwrap_or(0);
            let wide = u128::from(x) * u128::from(y) + u128::from(*slot) + carry;
            *slot = wide as u64;
            carry = wide >> 64;
        }
    }
}

/// `a -= b`, which is not larger.
fn subtract(a: &mut [u64; 12], b: &[u64; 12]) {
    let mut borrow = false;
    for (x, &y) in a.iter_mut().zip(b) {
        let (difference, first) = x.overflowing_sub(y);
        let (difference, second) = difference.overflowing_sub(u64::from(borrow));
        *x = difference;
        borrow = first | second;
    }
}

/// The `f64` nearest to `limbs · 2^-unit`.
fn to_f64(limbs: &[u64], unit: i32) -> f64 {
    let Some(top) = limbs.iter().rposition(|&limb| limb != 0) else {
        return 0.0;
    };
    let below = |k: usize| top.checked_sub(k).map_or(0, |at| limbs[at]);
    let shift = limbs[top].leading_zeros();
    let two = (u128::from(limbs[top]) << 64) | u128::from(below(1));
    let two = two << shift;
    let lost = two as u64 != 0 || limbs[..top.saturating_sub(1)].iter().any(|&l| l != 0);
    // The top 64 bits, the last of which also stands for all that follow: rounding to 53 needs no more.
    let head = (two >> 64) as u64 | u64::from(lost);
    let exponent = 64 * top as i32 - shift as i32 - unit;
    head as f64 * 2_f64.powi(exponent)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(values: &[f64]) -> Sum {
        let mut sum = Sum::ZERO;
        for &value in values {
            sum.add(value);
        }
        sum
    }

    #[test]
    fn any_order_and_any_cut_gives_the_same_limbs() {
        let values = [
            1e30,
            -3.5,
            2_f64.powi(-149),
            f64::from(f32::MAX),
            -1e30,
            7.25,
        ];
        let mut backward = values;
        backward.reverse();
        let (mut a, b) = (sum(&values[..2]), sum(&values[2..]));
        a.merge(&b);
        assert_eq!(a, sum(&values));
        assert_eq!(sum(&backward), sum(&values));
    }

    #[test]
    fn nothing_is_lost() {
        let tiny = 2_f64.powi(-149);
        assert_eq!(sum(&[1e38, tiny, -1e38]).to_f64(), tiny);
        assert_eq!(sum(&[-1e38, -tiny, 1e38]).to_f64(), -tiny);
        assert_eq!(sum(&[2.5, -2.5]).to_f64(), 0.0);
        for value in [1.0, -1.5, 3.75e-20, -1e38, 0.1_f32.into()] {
            assert_eq!(sum(&[value]).to_f64(), value);
        }
    }

    #[test]
    fn rounding_is_to_nearest_even() {
        let ulp = 2_f64.powi(-52);
        assert_eq!(sum(&[1.0, ulp / 2.0]).to_f64(), 1.0);
        assert_eq!(sum(&[1.0, ulp / 2.0, 2_f64.powi(-149)]).to_f64(), 1.0 + ulp);
        assert_eq!(sum(&[1.0 + ulp, ulp / 2.0]).to_f64(), 1.0 + 2.0 * ulp);
    }

    #[test]
    fn a_variance_does_not_cancel() {
        let of = |values: &[f64]| {
            let mut square = SquareSum::ZERO;
            for x in values {
                square.add(x * x);
            }
            variance(&sum(values), &square, values.len() as u64)
        };
        assert_eq!(of(&[1e8, 1e8 + 8.0]), 32.0);
        assert_eq!(of(&[-3.0, -3.0, -3.0]), 0.0);
        assert_eq!(of(&[-1.0, 1.0]), 2.0);
        assert!(of(&[1.0]).is_nan());
        let largest = f64::from(f32::MAX);
        assert_eq!(of(&[largest, -largest]), 2.0 * largest * largest);
    }
}
