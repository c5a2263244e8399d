//! Maps of each element after it was computed: rounding to a format, an affine map, a clamp.
//!
//! A stage is exact integer arithmetic on codes. Any number of them follow a kernel in the same pass over memory.

use super::error::Refusal;
use super::range::{CodeRange, Fit};
use format::Rounding;
use std::ops::Range;

/// One map of codes to codes.
#[derive(Clone, Debug, PartialEq)]
pub enum Stage {
    /// The rounding `maps[c]`, where element `i` has the channel `c = ⌊i/inner⌋ mod channels`.
    Round {
        /// The map of every channel.
        maps: Vec<RoundMap>,
        /// Elements of a channel that follow each other.
        inner: usize,
        /// Bits behind the point of the result.
        frac: i32,
    },
    /// `x·scale[c] + offset[c]` with such channels.
    Affine {
        /// The factor of every channel.
        scale: Vec<i64>,
        /// The number added to the product.
        offset: Vec<i64>,
        /// Elements of a channel that follow each other.
        inner: usize,
        /// Bits behind the point of the result.
        frac: i32,
    },
    /// `min(max(x, lo), hi)`.
    Clamp {
        /// The smallest result.
        lo: i64,
        /// The largest result.
        hi: i64,
    },
}

/// `clamp(round(x·2^-shift), lo, hi)·2^lift`; a negative shift multiplies. The results fit `i64`.
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
    /// Bits by which the format's codes move to the left, to the step of the result.
    pub lift: u32,
}

impl Stage {
    /// The number of channels, and the elements of each that follow each other.
    pub fn channels(&self) -> (usize, usize) {
        match self {
            Self::Round { maps, inner, .. } => (maps.len(), *inner),
            Self::Affine { scale, inner, .. } => (scale.len(), *inner),
            Self::Clamp { .. } => (1, 1),
        }
    }

    /// The stage of some of its channels, for elements that have them one by one.
    pub(crate) fn columns(&self, own: Range<usize>) -> Self {
        match self {
            Self::Round { maps, frac, .. } => Self::Round {
                maps: maps[own].to_vec(),
                inner: 1,
                frac: *frac,
            },
            Self::Affine {
                scale,
                offset,
                frac,
                ..
            } => Self::Affine {
                scale: scale[own.clone()].to_vec(),
                offset: offset[own].to_vec(),
                inner: 1,
                frac: *frac,
            },
            Self::Clamp { .. } => self.clone(),
        }
    }

    /// The stage for pixels of channels of a value whose planes it was made for, if it has one map for each channel or for all.
    pub(crate) fn in_pixels(&self, (channels, plane): (usize, usize)) -> Option<Self> {
        match self.channels() {
            (1, _) => Some(self.clone()),
            own if own == (channels, plane) => Some(self.columns(0..channels)),
            _ => None,
        }
    }

    /// True when a larger code never becomes a smaller one of the same channel.
    pub(crate) fn is_monotone(&self) -> bool {
        !matches!(self, Self::Affine { .. })
    }

    /// The range of the stage's results for operands in a range.
    pub(crate) fn range(&self, x: CodeRange) -> Result<CodeRange, Refusal> {
        match self {
            // Monotone: the ends stay the ends.
            Self::Round { maps, frac, .. } => {
                let ranges = maps.iter().map(|map| CodeRange {
                    min: map.one(x.min),
                    max: map.one(x.max),
                    frac: *frac,
                });
                let wider = |a: Option<CodeRange>, b| a.map_or(Some(b), |a| a.joined(b));
                ranges.fold(None, wider).fit()
            }
            Self::Clamp { lo, hi } => Ok(CodeRange {
                min: x.min.clamp((*lo).into(), (*hi).into()),
                max: x.max.clamp((*lo).into(), (*hi).into()),
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

    /// Applies the stage to elements `start..` of a value.
    pub(crate) fn apply(&self, start: usize, x: &mut [i64]) {
        match self {
            Self::Round { maps, inner, .. } => match maps.as_slice() {
                [map] => map.apply(x),
                maps => {
                    let channels = runs(start, x.len(), *inner, maps.len());
                    channels.for_each(|(run, c)| maps[c].apply(&mut x[run]));
                }
            },
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

/// The runs of `len` elements from `start` on that have one channel each.
fn runs(
    start: usize,
    len: usize,
    inner: usize,
    channels: usize,
) -> impl Iterator<Item = (Range<usize>, usize)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let (first, own) = (at, start + at);
        at = len.min(first + inner - own % inner);
        (first < len).then_some((first..at, own / inner % channels))
    })
}

impl RoundMap {
    /// The result for one code.
    fn one(&self, code: i128) -> i128 {
        let mut code = [code as i64];
        self.apply(&mut code);
        i128::from(code[0])
    }

    fn apply(&self, x: &mut [i64]) {
        let is_floor = self.rounding == Rounding::Floor;
        round_all(x, self.shift, self.lo, self.hi, is_floor);
        if self.lift > 0 {
            for x in x {
                *x <<= self.lift;
            }
        }
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
        let map = RoundMap {
            shift,
            lo: i64::MIN,
            hi: i64::MAX,
            rounding: if floor {
                Rounding::Floor
            } else {
                Rounding::NearestEven
            },
            lift: 0,
        };
        map.one(x.into()) as i64
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
    fn every_channel_has_its_own_step_and_bounds() {
        let map = |shift: i32, hi: i64, lift: u32| RoundMap {
            shift,
            lo: -hi - 1,
            hi,
            rounding: Rounding::NearestEven,
            lift,
        };
        let stage = Stage::Round {
            maps: vec![map(4, 127, 2), map(2, 7, 0), map(3, 0, 1)],
            inner: 2,
            frac: 6,
        };
        let all = [2032_i64, 2039, 27, -99, 4, 12, -2049, 25, 2, -7];
        let expected = [508, 508, 7, -8, 0, 0, -512, 8, 0, -2];
        for start in 0..all.len() {
            let mut own = all[start..].to_vec();
            stage.apply(start, &mut own);
            assert_eq!(own, expected[start..], "from {start}");
        }
        let range = CodeRange {
            min: -30,
            max: 20,
            frac: 8,
        };
        let expected = CodeRange {
            min: -8,
            max: 5,
            frac: 6,
        };
        assert_eq!(stage.range(range), Ok(expected));
        let own = stage.columns(1..2);
        assert_eq!(own.channels(), (1, 1));
    }
}
