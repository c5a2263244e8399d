//! Maps of each element after it was computed: rounding to a format, an affine map, a clamp.
//!
//! A stage is exact integer arithmetic on codes. Any number of them follow a kernel in the same pass over memory.

use super::error::Refusal;
use super::range::{CodeRange, Fit, range_of};
use format::{Integer, Rounding};

/// One map of codes to codes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Stage {
    /// `clamp(round(x·2^-shift), lo, hi)`; a negative shift multiplies.
    Round {
        shift: i32,
        lo: i64,
        hi: i64,
        floor: bool,
        /// Bits behind the point of the result.
        frac: i32,
    },
    /// `x·scale[c] + offset[c]`, where element `i` has the channel `c = ⌊i/inner⌋ mod channels`.
    Affine {
        scale: Vec<i64>,
        offset: Vec<i64>,
        inner: usize,
        /// Bits behind the point of the result.
        frac: i32,
    },
    /// `min(max(x, lo), hi)`.
    Clamp { lo: i64, hi: i64 },
}

impl Stage {
    /// Rounding from codes with `frac` bits behind the point to a format whose codes fit `i64`.
    pub fn round(frac: i32, format: Integer) -> Self {
        let range = range_of(format);
        let shift = i64::from(frac) - i64::from(format.frac_width);
        Self::Round {
            shift: shift.clamp(-127, 127) as i32,
            lo: range.min as i64,
            hi: range.max as i64,
            floor: format.rounding == Rounding::Floor,
            frac: format.frac_width,
        }
    }

    /// The range of the stage's results for operands in a range.
    pub fn range(&self, x: CodeRange) -> Result<CodeRange, Refusal> {
        match self {
            // Monotone: the ends stay the ends.
            Self::Round { frac, .. } => Ok(CodeRange {
                min: self.one(x.min),
                max: self.one(x.max),
                frac: *frac,
            }),
            Self::Clamp { .. } => Ok(CodeRange {
                min: self.one(x.min),
                max: self.one(x.max),
                ..x
            }),
            Self::Affine {
                scale,
                offset,
                frac,
                ..
            } => affine_range(x, scale, offset, *frac),
        }
    }

    /// The result for one code of a monotone stage.
    fn one(&self, code: i128) -> i128 {
        let mut code = [code as i64];
        self.apply(0, &mut code);
        i128::from(code[0])
    }

    /// Applies the stage to elements `start..` of a value.
    pub fn apply(&self, start: usize, x: &mut [i64]) {
        match self {
            Self::Round {
                shift,
                lo,
                hi,
                floor,
                ..
            } => round_all(x, *shift, *lo, *hi, *floor),
            Self::Clamp { lo, hi } => {
                for x in x {
                    *x = (*x).clamp(*lo, *hi);
                }
            }
            Self::Affine {
                scale,
                offset,
                inner,
                ..
            } => affine(x, scale, offset, *inner, start),
        }
    }
}

fn affine_range(
    x: CodeRange,
    scale: &[i64],
    offset: &[i64],
    frac: i32,
) -> Result<CodeRange, Refusal> {
    let mut all: Option<CodeRange> = None;
    for (&scale, &offset) in scale.iter().zip(offset) {
        // The scale is in steps of the result, and so is the offset.
        let product = x.times(CodeRange::code(scale.into(), 0)).fit()?;
        let offset = CodeRange::code(offset.into(), frac);
        let sum = CodeRange { frac, ..product }.plus(offset).fit()?;
        all = Some(all.map_or(Ok(sum), |all| all.joined(sum).fit())?);
    }
    Ok(all.unwrap_or(x))
}

fn affine(x: &mut [i64], scale: &[i64], offset: &[i64], inner: usize, start: usize) {
    if let ([scale], [offset]) = (scale, offset) {
        for x in x {
            *x = *x * scale + offset;
        }
        return;
    }
    for (i, x) in x.iter_mut().enumerate() {
        let c = (start + i) / inner % scale.len();
        *x = *x * scale[c] + offset[c];
    }
}

fn round_all(x: &mut [i64], shift: i32, lo: i64, hi: i64, floor: bool) {
    let bits = shift.unsigned_abs().min(64);
    match shift {
        // Beyond 64 bits nothing but 0 stays within any bounds.
        ..0 => {
            for x in x {
                *x = (i128::from(*x) << bits).clamp(lo.into(), hi.into()) as i64;
            }
        }
        0 => {
            for x in x {
                *x = (*x).clamp(lo, hi);
            }
        }
        1..64 if floor => {
            for x in x {
                *x = (*x >> bits).clamp(lo, hi);
            }
        }
        1..64 => {
            let (mask, half) = ((1_u64 << bits) - 1, 1_u64 << (bits - 1));
            for x in x {
                // Up when the rest is above a half, or a half under an odd quotient.
                let (quotient, rest) = (*x >> bits, *x as u64 & mask);
                let up = rest + (quotient as u64 & 1) > half;
                *x = (quotient + i64::from(up)).clamp(lo, hi);
            }
        }
        // Magnitudes of at most a half are left.
        _ => {
            for x in x {
                *x = (if floor && *x < 0 { -1 } else { 0 }).clamp(lo, hi);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round(x: i64, shift: i32, floor: bool) -> i64 {
        let stage = Stage::Round {
            shift,
            lo: i64::MIN,
            hi: i64::MAX,
            floor,
            frac: 0,
        };
        stage.one(x.into()) as i64
    }

    #[test]
    fn ties_go_to_even_and_floor_goes_down() {
        let cases = [
            // x, shift, nearest, floor
            (24, 4, 2, 1),
            (8, 4, 0, 0),
            (-8, 4, 0, -1),
            (-24, 4, -2, -2),
            (-25, 4, -2, -2),
            (25, 4, 2, 1),
            (9, 4, 1, 0),
            (i64::MAX, 63, 1, 0),
            (1 << 62, 63, 0, 0),
            (i64::MIN, 63, -1, -1),
            (i64::MIN, 64, 0, -1),
            (i64::MAX, 64, 0, 0),
            (i64::MIN, 127, 0, -1),
            (3, -2, 12, 12),
            (3, -70, i64::MAX, i64::MAX),
            (-3, -70, i64::MIN, i64::MIN),
            (0, -127, 0, 0),
        ];
        for (x, shift, nearest, down) in cases {
            assert_eq!(round(x, shift, false), nearest, "{x} / 2^{shift}");
            assert_eq!(round(x, shift, true), down, "{x} / 2^{shift}, down");
        }
    }

    #[test]
    fn results_saturate_at_the_format() {
        let signed = Integer::new(8, 4);
        let unsigned = Integer {
            signed: false,
            ..signed
        };
        for (format, x, expected) in [
            (signed, 2032, 127),
            (signed, 2039, 127),
            (signed, 2040, 127),
            (signed, -2049, -128),
            (signed, -99999, -128),
            (unsigned, -1, 0),
            (unsigned, 4080, 255),
            (unsigned, 5000, 255),
        ] {
            assert_eq!(Stage::round(8, format).one(x), expected, "{x}");
        }
    }
}
