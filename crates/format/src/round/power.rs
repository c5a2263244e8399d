//! Rounding to powers of two, by the logarithm.

use super::{exp2, floor_log2};

const MAGNITUDE: u32 = 0x7fff_ffff;
const EXPONENT: u32 = 0x7f80_0000;
const SIGN: u32 = 0x8000_0000;
const WIDE_EXPONENT: u64 = 0x7ff0_0000_0000_0000;

/// What carries a mantissa above √2 (first such float: 1.0110101000001001111010₂ · 2^0) into the next exponent.
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

    /// Rounds every element; 0 and NaN stay.
    #[inline(always)]
    pub fn round(self, x: &[f32], y: &mut [f32]) {
        if self.emin >= -126 {
            self.round_narrow(x, y);
        } else {
            self.round_wide(x, y);
        }
    }

    #[inline(always)]
    fn round_narrow(self, x: &[f32], y: &mut [f32]) {
        let (lo, hi) = (exp2(self.emin) as f32, exp2(self.emax) as f32);
        for (y, &x) in y.iter_mut().zip(x) {
            let bits = x.to_bits() & MAGNITUDE;
            let power = f32::from_bits((bits + CARRY) & EXPONENT).clamp(lo, hi);
            let signed = f32::from_bits(power.to_bits() | (x.to_bits() & SIGN));
            *y = if x.abs() > 0.0 { signed } else { x };
        }
    }

    /// The same in f64, in which f32's subnormal numbers are normal.
    #[inline(always)]
    fn round_wide(self, x: &[f32], y: &mut [f32]) {
        let (lo, hi) = (exp2(self.emin), exp2(self.emax));
        for (y, &x) in y.iter_mut().zip(x) {
            let bits = f64::from(x.abs()).to_bits();
            let power = f64::from_bits((bits + WIDE_CARRY) & WIDE_EXPONENT).clamp(lo, hi);
            let signed = f32::from_bits((power as f32).to_bits() | (x.to_bits() & SIGN));
            *y = if x.abs() > 0.0 { signed } else { x };
        }
    }

    /// The smallest and largest float that do not saturate: √2 · 2^emax has no float on it.
    #[inline(always)]
    pub fn pass(self) -> (f32, f32) {
        let last = (std::f64::consts::SQRT_2 * exp2(self.emax)) as f32;
        let last = if rounded_log2(last) > self.emax {
            last.next_down()
        } else {
            last
        };
        (-last, last)
    }
}

/// The whole number nearest to log2 x for x ≥ 0, far below every other for 0.
#[inline(always)]
pub(crate) fn rounded_log2(x: f32) -> i32 {
    if x == 0.0 {
        return floor_log2(0.0);
    }
    floor_log2(f64::from_bits(f64::from(x).to_bits() + WIDE_CARRY))
}
