//! Intervals of integers.

use super::builder::requant;
use crate::width::Width;
use serde::{Deserialize, Serialize};

/// All integers from `lo` to `hi`. Sums that leave 64 bits stay at their ends: such a cell is refused as too wide.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Interval {
    /// The smallest.
    pub lo: i64,
    /// The largest.
    pub hi: i64,
}

impl Interval {
    /// The interval of one value.
    pub const fn point(value: i64) -> Self {
        Self {
            lo: value,
            hi: value,
        }
    }

    /// The interval between wide ends.
    pub fn wide(lo: i128, hi: i128) -> Self {
        Self {
            lo: saturated(lo),
            hi: saturated(hi),
        }
    }

    /// The only value.
    pub fn single(self) -> Option<i64> {
        (self.lo == self.hi).then_some(self.lo)
    }

    /// The narrowest word.
    pub fn width(self) -> Width {
        Width::of(self.lo, self.hi)
    }

    /// True when a value lies in it.
    pub const fn contains(self, value: i64) -> bool {
        self.lo <= value && value <= self.hi
    }

    /// True when another interval lies in it.
    pub const fn holds(self, other: Self) -> bool {
        self.lo <= other.lo && other.hi <= self.hi
    }

    /// The values that lie in both, or those of `self` if there are none.
    #[must_use]
    pub fn intersect(self, other: Self) -> Self {
        let (lo, hi) = (self.lo.max(other.lo), self.hi.min(other.hi));
        if lo <= hi { Self { lo, hi } } else { self }
    }

    /// The smallest interval that holds both.
    #[must_use]
    pub fn hull(self, other: Self) -> Self {
        Self {
            lo: self.lo.min(other.lo),
            hi: self.hi.max(other.hi),
        }
    }

    /// Sums.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        let sum = |a: i64, b: i64| i128::from(a) + i128::from(b);
        Self::wide(sum(self.lo, other.lo), sum(self.hi, other.hi))
    }

    /// Negated values.
    #[must_use]
    pub fn negated(self) -> Self {
        Self::wide(-i128::from(self.hi), -i128::from(self.lo))
    }

    /// Values times 2^bits.
    #[must_use]
    pub fn shifted(self, bits: u32) -> Self {
        let shift = |x: i64| i128::from(x) << bits.min(63);
        Self::wide(shift(self.lo), shift(self.hi))
    }

    /// Values times a constant.
    #[must_use]
    pub fn scaled(self, factor: i64) -> Self {
        let ends = [self.lo, self.hi].map(|x| i128::from(x) * i128::from(factor));
        Self::wide(ends[0].min(ends[1]), ends[0].max(ends[1]))
    }

    /// Products.
    #[must_use]
    pub fn times(self, other: Self) -> Self {
        self.scaled(other.lo).hull(self.scaled(other.hi))
    }

    /// `⌊x·2^-shift⌋`, ties cleared to even where asked.
    #[must_use]
    pub fn requantized(self, shift: i32, tie_to_even: bool) -> Self {
        self.map(|x| requant(x, shift, tie_to_even, None))
    }

    /// Images under a map that never decreases.
    #[must_use]
    pub fn map(self, map: impl Fn(i64) -> i64) -> Self {
        Self {
            lo: map(self.lo),
            hi: map(self.hi),
        }
    }
}

fn saturated(x: i128) -> i64 {
    x.clamp(i64::MIN.into(), i64::MAX.into()) as i64
}
