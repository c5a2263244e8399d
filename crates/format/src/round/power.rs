//! Rounding to powers of two, by the logarithm.

use super::{Lane, RoundingRule, exp2, floor_log2};

const MAGNITUDE: u32 = 0x7fff_ffff;
const EXPONENT: u32 = 0x7f80_0000;
const SIGN: u32 = 0x8000_0000;
const TWO_23: f32 = 8_388_608.0;

/// The summand that carries a mantissa above √2 (first such float: 1.0110101000001001111010₂ · 2^0) into the exponent.
const CARRY: u32 = 0x0080_0000 - 0x0035_04f4;
const WIDE_CARRY: u64 = (CARRY as u64) << 29;

/// The powers ±2^e with `emin` ≤ e ≤ `emax`, and 0.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Power {
    emin: i32,
    emax: i32,
}

impl Power {
    /// The rule; powers that no f32 holds are left out of the set.
    #[inline(always)]
    pub fn new(emin: i32, emax: i32) -> Self {
        Self {
            emin: emin.clamp(-149, 127),
            emax: emax.clamp(-149, 127),
        }
    }
}

impl RoundingRule for Power {
    /// 0 and NaN stay.
    #[inline(always)]
    fn round(&self, x: &[f32], y: &mut [f32]) {
        let lane = [power(self.emin), power(self.emax)];
        for (y, &x) in y.iter_mut().zip(x) {
            *y = self.round_lane(x, lane);
        }
    }

    /// The smallest and the largest power.
    #[inline(always)]
    fn lane(&self) -> Option<Lane> {
        Some([power(self.emin), power(self.emax)])
    }

    /// Rounds by the smallest and the largest power.
    #[inline(always)]
    fn round_lane(&self, x: f32, [lo, hi]: Lane) -> f32 {
        // Subnormal numbers are made normal first, for all others the factors are 1.
        let is_tiny = x.abs() < f32::MIN_POSITIVE;
        let (up, down) = if is_tiny {
            (TWO_23, 1.0 / TWO_23)
        } else {
            (1.0, 1.0)
        };
        let bits = (x * up).to_bits() & MAGNITUDE;
        let power = f32::from_bits((bits + CARRY) & EXPONENT) * down;
        let signed = f32::from_bits(power.clamp(lo, hi).to_bits() | (x.to_bits() & SIGN));
        if x.abs() > 0.0 { signed } else { x }
    }

    /// √2 · 2^emax has no float on it.
    #[inline(always)]
    fn pass(&self) -> (f32, f32) {
        let last = (std::f64::consts::SQRT_2 * exp2(self.emax)) as f32;
        let last = if rounded_log2(last) > self.emax {
            last.next_down()
        } else {
            last
        };
        (-last, last)
    }
}

/// 2^exponent, which a float must have. A conversion from f64 would be slow where the result is subnormal.
#[inline(always)]
fn power(exponent: i32) -> f32 {
    f32::from_bits(if exponent < -126 {
        1 << (exponent + 149)
    } else {
        ((exponent + 127) as u32) << 23
    })
}

/// The whole number nearest to log2 x for x ≥ 0, far below every other for 0.
#[inline(always)]
pub(crate) fn rounded_log2(x: f32) -> i32 {
    if x == 0.0 {
        return floor_log2(0.0);
    }
    floor_log2(f64::from_bits(f64::from(x).to_bits() + WIDE_CARRY))
}
