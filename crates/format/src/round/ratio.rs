//! Rounding to multiples of `max / codes`, a step that no float need hold: the quotient is never rounded before it is used.
//!
//! The code of `x` is the whole number nearest to `x·codes / max`, ties to even, and its value the float nearest to
//! `code·max / codes`, both of the exact quotient. With up to [`NARROW`] codes the product is exact in an `f64`, and its
//! quotient is farther from every tie than it can be rounded, or is that tie. With more codes integers decide.

use super::{RoundingRule, exp2};

/// Adding and subtracting this rounds an f64 up to 2^51 to a whole number, ties to even.
const MAGIC: f64 = 6_755_399_441_055_744.0; // 1.5 · 2^52

/// A quotient of a 24-bit number times fewer codes than this by a 24-bit number differs from each number with a half by
/// more than 2^-53 of itself; one of a code times a 24-bit number by the codes differs so from the middle of two floats.
const NARROW: f64 = 134_217_728.0; // 2^27

/// The multiples of `max / codes` from `-max` to `max`.
#[derive(Clone, Copy)]
pub(crate) struct RatioGrid {
    /// The largest magnitude, a positive float.
    pub max: f64,
    /// The code of the largest magnitude, a whole number below 2^31.
    pub codes: f64,
}

impl RatioGrid {
    /// The code of a float; NaN stays.
    #[inline(always)]
    pub fn code(&self, x: f32) -> f64 {
        let nearest = self.narrow_code(x);
        if self.codes < NARROW || nearest.is_nan() || x.is_infinite() {
            return nearest;
        }
        self.exact_code(x, nearest)
    }

    /// The float nearest to the value of a code; NaN stays.
    #[inline(always)]
    pub fn value(&self, code: f64) -> f32 {
        if self.codes < NARROW || code == 0.0 || code.is_nan() {
            return self.narrow_value(code);
        }
        self.exact_value(code)
    }

    #[inline(always)]
    fn narrow_code(&self, x: f32) -> f64 {
        // Only infinity is beyond the largest code.
        let quotient = (f64::from(x) * self.codes / self.max).clamp(-self.codes, self.codes);
        quotient + MAGIC - MAGIC
    }

    #[inline(always)]
    fn narrow_value(&self, code: f64) -> f32 {
        (code * self.max / self.codes) as f32
    }

    /// The code of a finite float, which is `nearest` or next to it.
    fn exact_code(&self, x: f32, nearest: f64) -> f64 {
        let ((x, x_exponent), (max, max_exponent)) = (parts(f64::from(x)), parts(self.max));
        let shift = max_exponent - x_exponent;
        // Far below half a step.
        if x == 0 || shift > 40 {
            return 0.0_f64.copysign(nearest);
        }
        let max = max << shift;
        let (twice, mut code) = (2 * x * self.codes as i128, nearest.abs() as i128);
        // The middle of two codes belongs to the even one.
        let is_below = |code: i128| {
            let middle = (2 * code - 1) * max;
            twice < middle || (twice == middle && code % 2 == 1)
        };
        while is_below(code) {
            code -= 1;
        }
        while !is_below(code + 1) {
            code += 1;
        }
        (code as f64).copysign(nearest)
    }

    /// The value of a code that is not 0.
    fn exact_value(&self, code: f64) -> f32 {
        let (max, exponent) = parts(self.max);
        let (product, codes) = (code.abs() as i128 * max, self.codes as i128);
        // 52 bits of the quotient; the last is set, so that nothing looks like a tie. Where there is no rest, the quotient is a
        // multiple of the last bit of the maximum, for the codes are odd, and rounding takes that bit away again.
        let shift = 52 - product.ilog2() as i32 + codes.ilog2() as i32;
        let shifted = product << shift;
        let quotient = (shifted / codes) | 1;
        let value = quotient as f64 * exp2(exponent) / exp2(shift);
        value.copysign(code) as f32
    }
}

/// The magnitude of a float: its mantissa, of 24 bits unless it is 0, and the exponent of the last of them.
fn parts(x: f64) -> (i128, i32) {
    let bits = x.abs().to_bits();
    if bits == 0 {
        return (0, 0);
    }
    let mantissa = (bits & ((1 << 52) - 1)) | (1 << 52);
    (
        i128::from(mantissa >> 29),
        (bits >> 52) as i32 - 1023 - 52 + 29,
    )
}

impl RoundingRule for RatioGrid {
    #[inline(always)]
    fn round(&self, x: &[f32], y: &mut [f32]) {
        if self.codes < NARROW {
            for (y, &x) in y.iter_mut().zip(x) {
                *y = self.narrow_value(self.narrow_code(x));
            }
        } else {
            for (y, &x) in y.iter_mut().zip(x) {
                *y = self.value(self.code(x));
            }
        }
    }
}
