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

#[cfg(test)]
mod tests {
    use super::*;

    /// All intervals between small ends.
    fn intervals() -> impl Iterator<Item = Interval> {
        (-4..=4).flat_map(|lo| (lo..=4).map(move |hi| Interval { lo, hi }))
    }

    /// The interval of all values that pairs of values give.
    fn images(a: Interval, b: Interval, of: impl Fn(i64, i64) -> i64) -> Interval {
        let pairs = (a.lo..=a.hi).flat_map(|x| (b.lo..=b.hi).map(move |y| (x, y)));
        let values: Vec<i64> = pairs.map(|(x, y)| of(x, y)).collect();
        let ends = [values.iter().min(), values.iter().max()];
        let [lo, hi] = ends.map(|end| end.copied().unwrap_or(0));
        Interval { lo, hi }
    }

    #[test]
    fn an_interval_of_results_is_that_of_all_values() {
        for a in intervals() {
            assert_eq!(a.negated(), images(a, a, |x, _| -x));
            assert_eq!(a.shifted(3), images(a, a, |x, _| x * 8));
            assert_eq!(a.scaled(-5), images(a, a, |x, _| x * -5));
            assert_eq!(a.single(), (a.lo == a.hi).then_some(a.lo));
            for value in -6..=6 {
                assert_eq!(a.contains(value), (a.lo..=a.hi).any(|x| x == value));
            }
            for b in intervals() {
                assert_eq!(a.plus(b), images(a, b, |x, y| x + y));
                assert_eq!(a.times(b), images(a, b, |x, y| x * y));
                assert_eq!(a.holds(b), (b.lo..=b.hi).all(|y| a.contains(y)));
                let both: Vec<i64> = (a.lo..=a.hi).filter(|&x| b.contains(x)).collect();
                let shared = match both[..] {
                    [] => a,
                    [lo, .., hi] => Interval { lo, hi },
                    [only] => Interval::point(only),
                };
                assert_eq!(a.intersect(b), shared);
                let hull = a.hull(b);
                assert!(hull.holds(a) && hull.holds(b));
                assert!([a.lo, b.lo].contains(&hull.lo) && [a.hi, b.hi].contains(&hull.hi));
            }
        }
    }

    #[test]
    fn sums_that_leave_64_bits_stay_at_their_ends() {
        let all = Interval {
            lo: i64::MIN,
            hi: i64::MAX,
        };
        assert_eq!(all.plus(all), all);
        assert_eq!(
            all.negated(),
            Interval {
                lo: -i64::MAX,
                hi: i64::MAX
            }
        );
        assert_eq!(Interval::point(1).shifted(63), Interval::point(i64::MAX));
        assert_eq!(Interval::point(-1).shifted(200), Interval::point(i64::MIN));
    }
}
