//! Rounding to floats with few fraction bits, a smallest exponent (below it the grid is even) and a largest value.

use super::{Lane, RoundingRule, exp2, float_below, floor_log2};

const EXPONENT: u32 = 0x7f80_0000;
const SIGN: u32 = 0x8000_0000;
const WIDE_EXPONENT: u64 = 0x7ff0_0000_0000_0000;

/// The exponent of the smallest normal float.
const MIN_EXPONENT: i32 = -126;

/// Floats 1.f · 2^e with `frac` fraction bits and e ≥ `emin`, the subnormal ones below, none beyond `max`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Float {
    frac: i32,
    emin: i32,
    max: f64,
}

impl Float {
    /// The rule for at most 23 fraction bits; values that no f32 holds are left out of the set.
    #[inline(always)]
    pub fn new(frac: u32, emin: i32, max: f64) -> Self {
        let frac = frac as i32;
        let largest = f64::from(f32::MAX);
        let max = if max > largest {
            let step = exp2(emin.max(127) - frac);
            (largest / step).trunc() * step
        } else {
            max
        };
        Self { frac, emin, max }
    }

    /// The same in f64, for exponents at the ends of f32's range.
    #[inline(always)]
    fn round_wide(&self, x: &[f32], y: &mut [f32]) {
        let (min, gain) = (exp2(self.emin), exp2(52 - self.frac));
        for (y, &x) in y.iter_mut().zip(x) {
            let magnitude = f64::from(x.abs());
            let clamped = if magnitude > self.max {
                self.max
            } else {
                magnitude
            };
            let binade = f64::from_bits(clamped.to_bits() & WIDE_EXPONENT);
            let magic = (if binade > min { binade } else { min }) * gain;
            let rounded = (clamped + magic - magic) as f32;
            *y = f32::from_bits(rounded.to_bits() | (x.to_bits() & SIGN));
        }
    }

    /// A value of the set as exponent and whole number of 2^(exponent − frac).
    pub fn parts(&self, y: f32) -> (i32, u64) {
        let magnitude = f64::from(y.abs());
        let exponent = floor_log2(magnitude).max(self.emin);
        (exponent, (magnitude * exp2(self.frac - exponent)) as u64)
    }
}

impl RoundingRule for Float {
    #[inline(always)]
    fn round(&self, x: &[f32], y: &mut [f32]) {
        if let Some(lane) = self.lane() {
            for (y, &x) in y.iter_mut().zip(x) {
                *y = self.round_lane(x, lane);
            }
        } else {
            self.round_wide(x, y);
        }
    }

    /// The largest value and the smallest binade, where f32 can do every step.
    #[inline(always)]
    fn lane(&self) -> Option<Lane> {
        let largest_magic = floor_log2(self.max).max(self.emin) + 23 - self.frac;
        let is_narrow = self.frac <= 22 && self.emin >= MIN_EXPONENT && largest_magic <= 127;
        is_narrow.then(|| [self.max as f32, exp2(self.emin) as f32])
    }

    /// Rounds by the ends of a set that has as many fraction bits: adding and subtracting 2^23 steps of the grid around
    /// x rounds to it.
    #[inline(always)]
    fn round_lane(&self, x: f32, [max, min]: Lane) -> f32 {
        let gain = exp2(23 - self.frac) as f32;
        let magnitude = x.abs();
        let clamped = if magnitude > max { max } else { magnitude };
        let binade = f32::from_bits(clamped.to_bits() & EXPONENT);
        let magic = (if binade > min { binade } else { min }) * gain;
        let rounded = clamped + magic - magic;
        f32::from_bits(rounded.to_bits() | (x.to_bits() & SIGN))
    }

    #[inline(always)]
    fn pass(&self) -> (f32, f32) {
        let step = exp2(floor_log2(self.max).max(self.emin) - self.frac);
        let odd = (self.max / step) as i64 & 1 == 1;
        let last = float_below(self.max + 0.5 * step, !odd);
        (-last, last)
    }
}
