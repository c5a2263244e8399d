//! Rounding of codes to a fixed point: a shift, a rounding, bounds.

use format::{Overflow, Rounding};

/// `bound(round(x·2^-shift))·2^lift`, bounded to `lo..=hi`; a negative shift multiplies. The results fit `i64`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoundMap {
    /// Bits behind the point that are dropped; added where negative.
    pub shift: i32,
    /// The smallest code of the format.
    pub lo: i64,
    /// The largest code of the format.
    pub hi: i64,
    /// The rounding of codes between two of the format.
    pub rounding: Rounding,
    /// The treatment of codes beyond the format's: bounded, or the same modulo `hi - lo + 1`.
    pub overflow: Overflow,
    /// Bits by which the format's codes move to the left, to the step of the result.
    pub lift: u32,
}

impl RoundMap {
    /// The smallest and largest result for codes between two.
    pub(super) fn ends(&self, min: i128, max: i128) -> (i128, i128) {
        let (lo, hi) = (i128::from(self.lo), i128::from(self.hi));
        // Rounding is monotone: the ends stay the ends, unless one wraps.
        let (min, max) = (self.rounded(min), self.rounded(max));
        let (min, max) = match self.overflow {
            Overflow::Saturate => (min.clamp(lo, hi), max.clamp(lo, hi)),
            Overflow::Wrap if lo <= min && max <= hi => (min, max),
            Overflow::Wrap => (lo, hi),
        };
        (min << self.lift, max << self.lift)
    }

    /// A 64-bit code in steps of the format, before it is bounded.
    fn rounded(&self, code: i128) -> i128 {
        // Beyond these bits nothing changes any more.
        let bits = self.shift.unsigned_abs().min(100);
        if self.shift <= 0 {
            return code << bits.min(64);
        }
        let (half, quotient) = (1_i128 << (bits - 1), code >> bits);
        match self.rounding {
            Rounding::Floor => quotient,
            Rounding::NearestUp => (code + half) >> bits,
            Rounding::NearestEven => (code + half - 1 + (quotient & 1)) >> bits,
        }
    }

    pub(super) fn apply(&self, x: &mut [i64]) {
        let RoundMap { lo, hi, .. } = *self;
        let bits = self.shift.unsigned_abs();
        match (self.overflow, self.shift) {
            // Beyond 64 bits nothing but 0 stays within any bounds.
            (Overflow::Saturate, ..0) => {
                for x in &mut *x {
                    let wide = i128::from(*x) << bits.min(64);
                    *x = wide.clamp(lo.into(), hi.into()) as i64;
                }
            }
            (Overflow::Saturate, _) => {
                round_shifted(x, bits, self.rounding, |code| code.clamp(lo, hi));
            }
            (Overflow::Wrap, ..0) => {
                let shifted = |x: i64| x.checked_shl(bits).unwrap_or(0);
                for x in &mut *x {
                    *x = wrap(shifted(*x), lo, hi);
                }
            }
            (Overflow::Wrap, _) => {
                round_shifted(x, bits, self.rounding, |code| wrap(code, lo, hi));
            }
        }
        if self.lift > 0 {
            for x in x {
                *x <<= self.lift;
            }
        }
    }
}

/// The code from `lo` to `hi`, which are 2^n codes, that is the same modulo 2^n.
fn wrap(code: i64, lo: i64, hi: i64) -> i64 {
    let mask = hi.wrapping_sub(lo);
    (code.wrapping_sub(lo) & mask).wrapping_add(lo)
}

/// Rounds after dropping bits, and bounds.
fn round_shifted(x: &mut [i64], bits: u32, rounding: Rounding, bound: impl Fn(i64) -> i64) {
    match (bits, rounding) {
        (0, _) => {
            for x in x {
                *x = bound(*x);
            }
        }
        (1..64, Rounding::Floor) => {
            for x in x {
                *x = bound(*x >> bits);
            }
        }
        (1..64, Rounding::NearestUp) => {
            for x in x {
                // The last bit that is dropped is a half.
                *x = bound((*x >> bits) + (*x >> (bits - 1) & 1));
            }
        }
        (1..64, Rounding::NearestEven) => {
            let (mask, half) = ((1_u64 << bits) - 1, 1_u64 << (bits - 1));
            for x in x {
                // Up when the rest is above a half, or a half under an odd quotient.
                let (quotient, rest) = (*x >> bits, *x as u64 & mask);
                let up = rest + (quotient as u64 & 1) > half;
                *x = bound(quotient + i64::from(up));
            }
        }
        // Magnitudes of at most a half are left.
        (_, Rounding::Floor) => {
            for x in x {
                *x = bound(if *x < 0 { -1 } else { 0 });
            }
        }
        (_, Rounding::NearestUp | Rounding::NearestEven) => x.fill(bound(0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round(x: i64, shift: i32, rounding: Rounding) -> i64 {
        let map = RoundMap {
            shift,
            lo: i64::MIN,
            hi: i64::MAX,
            rounding,
            overflow: Overflow::Saturate,
            lift: 0,
        };
        let mut code = [x];
        map.apply(&mut code);
        let ends = map.ends(x.into(), x.into());
        assert_eq!(ends, (code[0].into(), code[0].into()), "{x} / 2^{shift}");
        code[0]
    }

    #[test]
    fn ties_go_to_even_or_up_and_floor_goes_down() {
        let cases = [
            // x, shift, nearest even, nearest up, floor
            (24, 4, 2, 2, 1),
            (8, 4, 0, 1, 0),
            (-8, 4, 0, 0, -1),
            (-24, 4, -2, -1, -2),
            (-25, 4, -2, -2, -2),
            (25, 4, 2, 2, 1),
            (9, 4, 1, 1, 0),
            (i64::MAX, 63, 1, 1, 0),
            (1 << 62, 63, 0, 1, 0),
            (i64::MIN, 63, -1, -1, -1),
            (i64::MIN, 64, 0, 0, -1),
            (i64::MAX, 64, 0, 0, 0),
            (i64::MIN, 127, 0, 0, -1),
            (3, -2, 12, 12, 12),
            (3, -70, i64::MAX, i64::MAX, i64::MAX),
            (-3, -70, i64::MIN, i64::MIN, i64::MIN),
            (0, -127, 0, 0, 0),
        ];
        for (x, shift, even, up, down) in cases {
            assert_eq!(
                round(x, shift, Rounding::NearestEven),
                even,
                "{x} / 2^{shift}"
            );
            assert_eq!(
                round(x, shift, Rounding::NearestUp),
                up,
                "{x} / 2^{shift}, up"
            );
            assert_eq!(
                round(x, shift, Rounding::Floor),
                down,
                "{x} / 2^{shift}, down"
            );
        }
    }

    #[test]
    fn codes_that_wrap_lose_their_upper_bits() {
        for (x, shift, [lo, hi], expected) in [
            (127, 0, [-128, 127], 127),
            (128, 0, [-128, 127], -128),
            (-129, 0, [-128, 127], 127),
            (255, 1, [-128, 127], -128),
            (-1, 0, [0, 255], 255),
            (256, 0, [0, 255], 0),
            (3, -6, [-128, 127], -64),
            (1, -63, [i64::MIN, i64::MAX], i64::MIN),
            (1, -64, [i64::MIN, i64::MAX], 0),
            (5, 0, [0, 0], 0),
        ] {
            let map = RoundMap {
                shift,
                lo,
                hi,
                rounding: Rounding::NearestUp,
                overflow: Overflow::Wrap,
                lift: 0,
            };
            let mut codes = [x];
            map.apply(&mut codes);
            assert_eq!(codes, [expected], "{x} / 2^{shift} in {lo} to {hi}");
        }
    }
}
