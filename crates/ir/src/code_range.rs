//! Interval arithmetic on fixed-point codes: which values an exact computation can reach.

use format::{FixedPoint, Format, Integer, Overflow, Rounding};

/// The multiples of 2^-frac from `min`·2^-frac to `max`·2^-frac. Operations are `None` where 128 bits do not suffice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodeRange {
    /// The smallest code.
    pub min: i128,
    /// The largest code.
    pub max: i128,
    /// Bits behind the point.
    pub frac: i32,
}

impl CodeRange {
    /// Everything a format of at most 64 bits can hold.
    pub fn of(format: Integer) -> Self {
        Self::from(FixedPoint::from(format))
    }

    /// Everything a format can hold, with the finest step of all its places; `None` when it is not fixed point.
    pub fn of_format(format: &Format) -> Option<Self> {
        Self::of_places(&format.fixed_points().ok()?)
    }

    /// Everything these can hold, with the finest step of them.
    pub fn of_places(places: &[FixedPoint]) -> Option<Self> {
        let all_zero = || places.first().map(|&place| Self::from(place));
        let ranges = places.iter().filter(|place| !place.is_zero());
        let ranges = ranges.map(|&place| Some(Self::from(place)));
        let joined = |a: Option<Self>, b: Option<Self>| a?.joined(b?);
        ranges.reduce(joined).unwrap_or_else(all_zero)
    }

    /// One code.
    pub fn code(code: i128, frac: i32) -> Self {
        Self {
            min: code,
            max: code,
            frac,
        }
    }

    /// A number as an odd code or 0, when it has at most 24 significant bits and so is the same in f32.
    pub fn number(value: f64) -> Option<Self> {
        if value == 0.0 {
            return Some(Self::code(0, 0));
        }
        let (mut code, mut frac) = (value, 0);
        while code.fract() != 0.0 && frac < 1100 {
            code *= 2.0;
            frac += 1;
        }
        while code % 2.0 == 0.0 {
            code /= 2.0;
            frac -= 1;
        }
        (code.abs() < 16_777_216.0).then_some(Self::code(code as i128, frac))
    }

    /// The largest magnitude of a code.
    pub fn magnitude(self) -> i128 {
        self.min.abs().max(self.max.abs())
    }

    /// The range with 0 in it.
    #[must_use]
    pub fn with_zero(self) -> Self {
        Self {
            min: self.min.min(0),
            max: self.max.max(0),
            ..self
        }
    }

    /// The narrowest format that holds all of it.
    pub fn format(self) -> Integer {
        let magnitude = |code: i128| 128 - (if code < 0 { !code } else { code }).leading_zeros();
        let signed = self.min < 0;
        let bits = magnitude(self.min).max(magnitude(self.max));
        Integer {
            width: (bits + u32::from(signed)).max(1),
            frac_width: self.frac,
            signed,
            rounding: Rounding::NearestEven,
            overflow: Overflow::Saturate,
        }
    }

    /// Sums of one element of each.
    pub fn plus(self, other: Self) -> Option<Self> {
        let (a, b) = self.aligned(other)?;
        Some(Self {
            min: a.min.checked_add(b.min)?,
            max: a.max.checked_add(b.max)?,
            frac: a.frac,
        })
    }

    /// Products of one element of each.
    pub fn times(self, other: Self) -> Option<Self> {
        let product = |a: i128, b: i128| a.checked_mul(b);
        let corners = [
            product(self.min, other.min)?,
            product(self.min, other.max)?,
            product(self.max, other.min)?,
            product(self.max, other.max)?,
        ];
        Some(Self {
            min: corners.into_iter().min()?,
            max: corners.into_iter().max()?,
            frac: self.frac.checked_add(other.frac)?,
        })
    }

    /// Sums of `n` elements.
    pub fn summed(self, n: usize) -> Option<Self> {
        let n = n as i128;
        Some(Self {
            min: self.min.checked_mul(n)?,
            max: self.max.checked_mul(n)?,
            frac: self.frac,
        })
    }

    /// Means of `n` elements, which are exact when `n` is a power of two.
    pub fn mean_of(self, n: usize) -> Option<Self> {
        let sum = self.summed(n)?;
        let bits = n.is_power_of_two().then(|| n.ilog2() as i32)?;
        Some(Self {
            frac: sum.frac.checked_add(bits)?,
            ..sum
        })
    }

    /// The range of −x.
    pub fn negated(self) -> Option<Self> {
        Some(Self {
            min: self.max.checked_neg()?,
            max: self.min.checked_neg()?,
            ..self
        })
    }

    /// The elements of either.
    pub fn joined(self, other: Self) -> Option<Self> {
        let (a, b) = self.aligned(other)?;
        Some(Self {
            min: a.min.min(b.min),
            max: a.max.max(b.max),
            frac: a.frac,
        })
    }

    /// max(x, low), for a bound that is itself a multiple of 2^-frac.
    pub fn clamp_below(self, low: f64) -> Option<Self> {
        let low = self.code_of(low)?;
        Some(Self {
            min: self.min.max(low),
            max: self.max.max(low),
            ..self
        })
    }

    /// min(x, high), for a bound that is itself a multiple of 2^-frac.
    pub fn clamp_above(self, high: f64) -> Option<Self> {
        let high = self.code_of(high)?;
        Some(Self {
            min: self.min.min(high),
            max: self.max.min(high),
            ..self
        })
    }

    /// True for one number that is a power of two or its negative.
    pub fn is_power_of_two(self) -> bool {
        self.min == self.max && self.min.unsigned_abs().is_power_of_two()
    }

    fn code_of(self, value: f64) -> Option<i128> {
        Some(Self::number(value)?.with_frac(self.frac)?.min)
    }

    /// Both with the finer of the two steps.
    fn aligned(self, other: Self) -> Option<(Self, Self)> {
        let frac = self.frac.max(other.frac);
        Some((self.with_frac(frac)?, other.with_frac(frac)?))
    }

    /// The same values as codes of a finer step. Zero alone is a multiple of every step, a coarser one too.
    pub fn with_frac(self, frac: i32) -> Option<Self> {
        if self.magnitude() == 0 {
            return Some(Self { frac, ..self });
        }
        let bits = u32::try_from(i64::from(frac) - i64::from(self.frac)).ok()?;
        Some(Self {
            min: shifted(self.min, bits)?,
            max: shifted(self.max, bits)?,
            frac,
        })
    }
}

impl From<FixedPoint> for CodeRange {
    fn from(point: FixedPoint) -> Self {
        Self {
            min: point.min,
            max: point.max,
            frac: point.frac_width,
        }
    }
}

fn shifted(code: i128, bits: u32) -> Option<i128> {
    match bits {
        _ if code == 0 => Some(0),
        0..127 => code.checked_mul(1 << bits),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_odd_codes() {
        let of = |value| CodeRange::number(value).map(|range| (range.min, range.frac));
        assert_eq!(of(6.0), Some((3, -1)));
        assert_eq!(of(-0.375), Some((-3, 3)));
        assert_eq!(of(0.0), Some((0, 0)));
        assert_eq!(of(0.1), None);
    }

    #[test]
    fn bounds_are_multiples_of_the_step() {
        let range = |frac| CodeRange {
            min: -8,
            max: 7,
            frac,
        };
        let ends = |range: Option<CodeRange>| range.map(|range| (range.min, range.max));
        // Zero is a multiple of any step, 6 of 2 but not of 4.
        assert_eq!(ends(range(-2).clamp_below(0.0)), Some((0, 7)));
        assert_eq!(ends(range(-1).clamp_above(6.0)), Some((-8, 3)));
        assert_eq!(ends(range(-2).clamp_above(6.0)), None);
    }
}
