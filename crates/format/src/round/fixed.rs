//! Rounding to the multiples of a power of two between two bounds.

use super::{Columns, Lane, RoundingRule, clamped, exp2, float_below};

/// Adding and subtracting this rounds a magnitude up to 2^22 to a whole number, ties to even.
pub(super) const MAGIC: f32 = 12_582_912.0; // 1.5 · 2^23

/// From here on every float is a whole number.
const WHOLE: f32 = 8_388_608.0; // 2^23

/// The grid of multiples of 2^-frac between `lo` and `hi` of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fixed {
    frac: i32,
    lo: f64,
    hi: f64,
    floor: bool,
}

impl Fixed {
    /// The grid for `frac` within ±252.
    #[inline(always)]
    pub fn new(frac: i32, lo: f64, hi: f64) -> Self {
        let floor = false;
        Self {
            frac,
            lo,
            hi,
            floor,
        }
    }

    /// The same grid, rounding towards minus infinity.
    #[inline(always)]
    pub fn floor(self, floor: bool) -> Self {
        Self { floor, ..self }
    }

    #[inline(always)]
    fn round_wide(&self, x: &[f32], y: &mut [f32]) {
        let ((lo, hi), up, down) = (self.clamp(), halves(self.frac), halves(-self.frac));
        for (y, &x) in y.iter_mut().zip(x) {
            let code = round_even((x * up.0 * up.1).clamp(lo, hi));
            *y = code * down.0 * down.1;
        }
    }

    #[inline(always)]
    fn round_floor(&self, x: &[f32], y: &mut [f32]) {
        let ((lo, hi), up, down) = (self.clamp(), halves(self.frac), halves(-self.frac));
        for (y, &x) in y.iter_mut().zip(x) {
            let code = round_even((x * up.0 * up.1).clamp(lo, hi));
            // Compared as values: a tiny negative x may have become 0 when it was scaled.
            let above = code * down.0 * down.1 > x;
            let code = if above { code - 1.0 } else { code };
            *y = (if code < lo { lo } else { code }) * down.0 * down.1;
        }
    }

    /// The bounds as floats, within what a float can hold. Where it cannot hold one exactly, its neighbours are so far
    /// apart that all between them rounds to the same float.
    #[inline(always)]
    fn clamp(&self) -> (f32, f32) {
        let (step, steps) = (exp2(-self.frac), exp2(self.frac));
        let max = f64::from(f32::MAX);
        (
            ((self.lo * step).max(-max) * steps) as f32,
            ((self.hi * step).min(max) * steps) as f32,
        )
    }

    /// The float nearest to the multiple nearest to `x`; NaN stays. Exact up to 53 bits of the multiple.
    pub fn round_double(&self, x: f64) -> f32 {
        // Numbers beyond all floats would overflow when they are scaled.
        let scaled = x.clamp(f64::from(f32::MIN), f64::from(f32::MAX)) * exp2(self.frac);
        let whole = if self.floor {
            scaled.floor()
        } else {
            scaled.round_ties_even()
        };
        (whole.clamp(self.lo, self.hi) * exp2(-self.frac)) as f32
    }

    /// The grid's multiple that `y`, which lies on it, is.
    pub fn code(&self, y: f32) -> i128 {
        (f64::from(y) * exp2(self.frac)) as i128
    }

    /// The float nearest to the code's value.
    pub fn value(&self, code: i128) -> f32 {
        let down = halves(-self.frac);
        code as f32 * down.0 * down.1
    }
}

impl RoundingRule for Fixed {
    #[inline(always)]
    fn round(&self, x: &[f32], y: &mut [f32]) {
        if self.floor {
            self.round_floor(x, y);
        } else if let Some(lane) = self.lane() {
            for (y, &x) in y.iter_mut().zip(x) {
                *y = self.round_lane(x, lane);
            }
        } else {
            self.round_wide(x, y);
        }
    }

    /// The factors to whole numbers and back, where these are few and the factors are floats.
    #[inline(always)]
    fn lane(&self) -> Option<Lane> {
        let is_narrow = self.hi <= f64::from(MAGIC / 3.0) && (-100..=126).contains(&self.frac);
        let lane = || [exp2(self.frac) as f32, exp2(-self.frac) as f32];
        (is_narrow && !self.floor).then(lane)
    }

    /// Rounds by the factors of a grid that has these bounds.
    #[inline(always)]
    fn round_lane(&self, x: f32, [up, down]: Lane) -> f32 {
        // The bounds are whole numbers, so clamping first changes nothing and keeps the sum in range.
        ((x * up).clamp(self.lo as f32, self.hi as f32) + MAGIC - MAGIC) * down
    }

    #[inline(always)]
    fn columns(&self) -> Option<Columns> {
        let [up, down] = self.lane()?;
        Some([up, down, self.lo as f32, self.hi as f32])
    }

    #[inline(always)]
    fn round_by([up, down, lo, hi]: Columns, x: f32) -> f32 {
        (clamped(x * up, lo, hi) + MAGIC - MAGIC) * down
    }

    #[inline(always)]
    fn pass(&self) -> (f32, f32) {
        let step = exp2(-self.frac);
        let (lo, hi) = (-self.lo, self.hi);
        if self.floor {
            return (
                -float_below(lo * step, true),
                float_below((hi + 1.0) * step, false),
            );
        }
        // A tie beside an even code rounds to it, beside an odd one it rounds away, out of range. `hi` is 2^k − 1 even
        // where f64 rounds it up; -lo is 2^k or a 2^k − 1 that f64 holds.
        let (lo_is_even, hi_is_even) = (lo as u64 & 1 == 0, hi == 0.0);
        (
            -float_below((lo + 0.5) * step, lo_is_even),
            float_below((hi + 0.5) * step, hi_is_even),
        )
    }
}

/// 2^exponent as a product, for it may be beyond a float's range. The first half never rounds, so the product rounds once.
#[inline(always)]
fn halves(exponent: i32) -> (f32, f32) {
    let half = exponent >> 1;
    (exp2(half) as f32, exp2(exponent - half) as f32)
}

/// The nearest whole number, ties to even, of any float.
#[inline(always)]
pub(crate) fn round_even(v: f32) -> f32 {
    let magnitude = v.abs();
    let whole = (magnitude + WHOLE - WHOLE).copysign(v);
    if magnitude < WHOLE { whole } else { v }
}
