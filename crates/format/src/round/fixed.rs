//! Rounding to the multiples of a power of two between two bounds.

use std::ops::RangeInclusive;

use super::{ColumnRule, Columns, Lane, RoundingRule, clamped, exp2, float_below};
use crate::formats::{Overflow, Rounding};

/// Adding and subtracting this rounds a magnitude up to 2^22 to a whole number, ties to even.
pub(super) const MAGIC: f32 = 12_582_912.0; // 1.5 · 2^23

/// From here on every float is a whole number.
const WHOLE: f32 = 8_388_608.0; // 2^23

/// The same for doubles.
const WHOLE_DOUBLE: f64 = 4_503_599_627_370_496.0; // 2^52

/// Bits behind the point for which both factors of a lane are normal floats.
const LANE_FRACS: RangeInclusive<i32> = -100..=126;

/// The grid of multiples of 2^-frac between `lo` and `hi` of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fixed {
    frac: i32,
    lo: f64,
    hi: f64,
    rounding: Rounding,
    overflow: Overflow,
}

impl Fixed {
    /// The grid for `frac` within ±252.
    #[inline(always)]
    pub fn new(frac: i32, lo: f64, hi: f64) -> Self {
        Self {
            frac,
            lo,
            hi,
            rounding: Rounding::NearestEven,
            overflow: Overflow::Saturate,
        }
    }

    /// The same grid with another rounding, and another treatment of what lies beyond its ends.
    #[inline(always)]
    pub fn with(self, rounding: Rounding, overflow: Overflow) -> Self {
        Self {
            rounding,
            overflow,
            ..self
        }
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

    #[inline(always)]
    fn round_up_ties(&self, x: &[f32], y: &mut [f32]) {
        let ((lo, hi), up, down) = (self.clamp(), halves(self.frac), halves(-self.frac));
        for (y, &x) in y.iter_mut().zip(x) {
            let scaled = (x * up.0 * up.1).clamp(lo, hi);
            let code = round_even(scaled);
            let code = if scaled - code == 0.5 {
                code + 1.0
            } else {
                code
            };
            *y = code * down.0 * down.1;
        }
    }

    #[inline(always)]
    fn round_wrapping(&self, x: &[f32], y: &mut [f32]) {
        for (y, &x) in y.iter_mut().zip(x) {
            *y = self.round_double(x.into());
        }
    }

    /// The whole number that a multiple becomes by losing its bits above the grid's. Exact: a float has 24 bits, and unsigned
    /// grids that wrap have no more.
    #[inline(always)]
    fn wrapped(&self, whole: f64) -> f64 {
        let span = self.hi - self.lo + 1.0;
        if self.lo < 0.0 {
            let near = whole - round_even_double(whole / span) * span;
            if 2.0 * near >= span {
                near - span
            } else {
                near
            }
        } else {
            whole - floor_double(whole / span) * span
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
        let near = round_even_double(scaled);
        let whole = match self.rounding {
            Rounding::NearestUp if scaled - near == 0.5 => near + 1.0,
            Rounding::NearestUp | Rounding::NearestEven => near,
            Rounding::Floor => floor_double(scaled),
        };
        let code = match self.overflow {
            Overflow::Saturate => whole.clamp(self.lo, self.hi),
            Overflow::Wrap => self.wrapped(whole),
        };
        (code * exp2(-self.frac)) as f32
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
        match (self.overflow, self.rounding) {
            (Overflow::Wrap, _) => self.round_wrapping(x, y),
            (Overflow::Saturate, Rounding::Floor) => self.round_floor(x, y),
            (Overflow::Saturate, Rounding::NearestUp) => self.round_up_ties(x, y),
            (Overflow::Saturate, Rounding::NearestEven) => match self.lane() {
                Some(lane) => {
                    for (y, &x) in y.iter_mut().zip(x) {
                        *y = self.round_lane(x, lane);
                    }
                }
                None => self.round_wide(x, y),
            },
        }
    }

    /// The factors to whole numbers and back, where these are few and the factors are floats.
    #[inline(always)]
    fn lane(&self) -> Option<Lane> {
        let is_narrow = self.hi <= f64::from(MAGIC / 3.0) && LANE_FRACS.contains(&self.frac);
        let lane = || [exp2(self.frac) as f32, exp2(-self.frac) as f32];
        let is_usual =
            self.rounding == Rounding::NearestEven && self.overflow == Overflow::Saturate;
        (is_narrow && is_usual).then(lane)
    }

    /// Rounds by the factors of a grid that has these bounds.
    #[inline(always)]
    fn round_lane(&self, x: f32, [up, down]: Lane) -> f32 {
        // The bounds are whole numbers, so clamping first changes nothing and keeps the sum in range.
        ((x * up).clamp(self.lo as f32, self.hi as f32) + MAGIC - MAGIC) * down
    }

    /// A value that wraps has jumped to another, whose slope says nothing: it passes no more than one that saturates.
    #[inline(always)]
    fn pass(&self) -> (f32, f32) {
        let step = exp2(-self.frac);
        let (lo, hi) = (-self.lo, self.hi);
        // The distance below the lowest code and above the highest that still rounds to them, each with the tie or not. A tie
        // beside an even code rounds to it, beside an odd one it rounds away, out of range. `hi` is 2^k − 1 even where f64
        // rounds it up; -lo is 2^k or a 2^k − 1 that f64 holds.
        let ((below, with_lowest), (above, with_highest)) = match self.rounding {
            Rounding::NearestEven => ((0.5, lo as u64 & 1 == 0), (0.5, hi == 0.0)),
            Rounding::NearestUp => ((0.5, true), (0.5, false)),
            Rounding::Floor => ((0.0, true), (1.0, false)),
        };
        (
            -float_below((lo + below) * step, with_lowest),
            float_below((hi + above) * step, with_highest),
        )
    }
}

impl ColumnRule for Fixed {
    #[inline(always)]
    fn columns(&self) -> Option<Columns> {
        let [up, down] = self.lane()?;
        Some([up, down, self.lo as f32, self.hi as f32])
    }

    #[inline(always)]
    fn round_by([up, down, lo, hi]: Columns, x: f32) -> f32 {
        (clamped(x * up, lo, hi) + MAGIC - MAGIC) * down
    }
}

/// 2^exponent as a product, for it may be beyond a float's range. The first half never rounds, so the product rounds once.
#[inline(always)]
fn halves(exponent: i32) -> (f32, f32) {
    let half = exponent >> 1;
    (exp2(half) as f32, exp2(exponent - half) as f32)
}

/// The nearest whole number, ties to even, of any double.
#[inline(always)]
fn round_even_double(v: f64) -> f64 {
    let magnitude = v.abs();
    let whole = (magnitude + WHOLE_DOUBLE - WHOLE_DOUBLE).copysign(v);
    if magnitude < WHOLE_DOUBLE { whole } else { v }
}

/// The whole number at or below any double.
#[inline(always)]
fn floor_double(v: f64) -> f64 {
    let whole = round_even_double(v);
    if whole > v { whole - 1.0 } else { whole }
}

/// The nearest whole number, ties to even, of any float.
#[inline(always)]
pub(crate) fn round_even(v: f32) -> f32 {
    let magnitude = v.abs();
    let whole = (magnitude + WHOLE - WHOLE).copysign(v);
    if magnitude < WHOLE { whole } else { v }
}
