//! Maps of each element after it was computed: rounding to a format, an affine map, a clamp, a table.
//!
//! A stage is exact integer arithmetic on codes. Any number of them follow a kernel in the same pass over memory.

use super::error::Refusal;
use super::range::{CodeRange, Fit};
use super::round_map::RoundMap;
use format::Overflow;
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
    /// `maps[c][x − first]` with such channels. Every code that the operand can have is in the table.
    Table {
        /// The code of the first entry.
        first: i64,
        /// The results of every channel.
        maps: Vec<Vec<i64>>,
        /// Elements of a channel that follow each other.
        inner: usize,
        /// Bits behind the point of the result.
        frac: i32,
    },
}

impl Stage {
    /// The number of channels, and the elements of each that follow each other.
    pub fn channels(&self) -> (usize, usize) {
        match self {
            Self::Round { maps, inner, .. } => (maps.len(), *inner),
            Self::Affine { scale, inner, .. } => (scale.len(), *inner),
            Self::Clamp { .. } => (1, 1),
            Self::Table { maps, inner, .. } => (maps.len(), *inner),
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
            Self::Table {
                first, maps, frac, ..
            } => Self::Table {
                first: *first,
                maps: maps[own].to_vec(),
                inner: 1,
                frac: *frac,
            },
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
        match self {
            Self::Round { maps, .. } => maps.iter().all(|map| map.overflow == Overflow::Saturate),
            Self::Clamp { .. } => true,
            Self::Affine { .. } => false,
            Self::Table { maps, .. } => maps.iter().all(|map| map.is_sorted()),
        }
    }

    /// The range of the stage's results for operands in a range.
    pub(crate) fn range(&self, x: CodeRange) -> Result<CodeRange, Refusal> {
        match self {
            Self::Round { maps, frac, .. } => {
                let ranges = maps.iter().map(|map| {
                    let (min, max) = map.ends(x.min, x.max);
                    CodeRange {
                        min,
                        max,
                        frac: *frac,
                    }
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
            Self::Table {
                first, maps, frac, ..
            } => table_range(x, *first, maps, *frac).fit(),
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
            Self::Table {
                first, maps, inner, ..
            } => {
                for (run, c) in runs(start, x.len(), *inner, maps.len()) {
                    let map = &maps[c];
                    x[run]
                        .iter_mut()
                        .for_each(|x| *x = map[(*x - first) as usize]);
                }
            }
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

/// The range of the entries that codes of a range reach; nothing where they are beyond the table.
fn table_range(x: CodeRange, first: i64, maps: &[Vec<i64>], frac: i32) -> Option<CodeRange> {
    let entry = |code: i128| usize::try_from(code - i128::from(first)).ok();
    let (from, to) = (entry(x.min)?, entry(x.max)?);
    let reached: Vec<&[i64]> = maps
        .iter()
        .map(|map| map.get(from..=to))
        .collect::<Option<_>>()?;
    let codes = || reached.iter().copied().flatten().copied();
    Some(CodeRange {
        min: codes().min()?.into(),
        max: codes().max()?.into(),
        frac,
    })
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

#[cfg(test)]
mod tests {
    use super::*;
    use format::Rounding;

    #[test]
    fn every_channel_has_its_own_step_and_bounds() {
        let map = |shift: i32, hi: i64, lift: u32| RoundMap {
            shift,
            lo: -hi - 1,
            hi,
            rounding: Rounding::NearestEven,
            overflow: Overflow::Saturate,
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
        // One map for each channel of these planes, or one for all channels of any.
        assert_eq!(stage.in_pixels((3, 2)), Some(stage.columns(0..3)));
        assert_eq!(stage.in_pixels((3, 4)), None);
        assert_eq!(stage.in_pixels((6, 2)), None);
        assert_eq!(own.in_pixels((5, 7)), Some(own));
    }
}
