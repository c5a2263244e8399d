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

    /// Ranges of a few small codes with steps from 2 to 1/2.
    fn small_ranges() -> Vec<CodeRange> {
        let mut ranges = Vec::new();
        for frac in -1..=1 {
            for min in -3..=3 {
                ranges.extend((min..=3).map(|max| CodeRange { min, max, frac }));
            }
        }
        ranges
    }

    /// The numbers of a range.
    fn values(range: CodeRange) -> Vec<f64> {
        let step = 2_f64.powi(-range.frac);
        (range.min..=range.max)
            .map(|code| code as f64 * step)
            .collect()
    }

    fn ends(values: &[f64]) -> (f64, f64) {
        let min = values.iter().copied().fold(f64::INFINITY, f64::min);
        (
            min,
            values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        )
    }

    fn assert_spans(found: Option<CodeRange>, expected: &[f64], what: &str) {
        let found = found.unwrap_or_else(|| panic!("{what}: no range"));
        let all = values(found);
        assert_eq!((all[0], all[all.len() - 1]), ends(expected), "{what}");
    }

    /// Every operation against the same one on all numbers of small ranges.
    #[test]
    fn ranges_span_what_their_numbers_give() {
        let ranges = small_ranges();
        for &a in &ranges {
            let own = values(a);
            let of_each = |f: fn(f64) -> f64| own.iter().map(|&x| f(x)).collect::<Vec<_>>();
            assert_spans(a.negated(), &of_each(|x| -x), "negated");
            assert_spans(a.summed(3), &of_each(|x| 3.0 * x), "summed");
            assert_spans(a.mean_of(4), &own, "mean");
            assert_eq!(a.mean_of(3), None);
            assert_spans(
                Some(a.with_zero()),
                &[&own[..], &[0.0]].concat(),
                "with zero",
            );
            assert_eq!(a.magnitude(), a.min.abs().max(a.max.abs()));
            assert_spans(a.with_frac(3), &own, "finer");
            for &b in &ranges {
                let other = values(b);
                let of_pairs = |f: fn(f64, f64) -> f64| {
                    let pairs = own
                        .iter()
                        .flat_map(|&x| other.iter().map(move |&y| f(x, y)));
                    pairs.collect::<Vec<_>>()
                };
                assert_spans(a.plus(b), &of_pairs(|x, y| x + y), "plus");
                assert_spans(a.times(b), &of_pairs(|x, y| x * y), "times");
                assert_spans(a.joined(b), &[&own[..], &other].concat(), "joined");
            }
        }
    }

    /// The format holds both ends, one with a bit less does not, and only negative codes need a sign.
    #[test]
    fn the_format_of_a_range_is_the_narrowest() {
        let holds = |format: Integer, range: CodeRange| {
            let all = CodeRange::of(format);
            all.min <= range.min && range.max <= all.max
        };
        for min in -9..=9 {
            for max in min..=9 {
                let range = CodeRange { min, max, frac: 2 };
                let format = range.format();
                assert!(holds(format, range) && format.frac_width == 2, "{range:?}");
                assert_eq!(format.signed, min < 0);
                let width = format.width - 1;
                assert!(
                    width == 0 || !holds(Integer { width, ..format }, range),
                    "{range:?}"
                );
            }
        }
    }

    #[test]
    fn numbers_have_the_digits_of_an_f32() {
        let of = |value| CodeRange::number(value).map(|range| (range.min, range.frac));
        assert_eq!(of(16_777_215.0), Some((16_777_215, 0)));
        assert_eq!(of(16_777_216.0), Some((1, -24)));
        assert_eq!(of(-16_777_217.0), None);
        assert_eq!(of(16_777_218.0), Some((8_388_609, -1)));
        // The smallest f64 is 2^-1074.
        assert_eq!(of(5e-324), Some((1, 1074)));
        let is_power = |value| CodeRange::number(value).map(CodeRange::is_power_of_two);
        assert_eq!(is_power(-0.25), Some(true));
        assert_eq!(is_power(0.75), Some(false));
        assert!(
            !CodeRange {
                min: 1,
                max: 2,
                frac: 0
            }
            .is_power_of_two()
        );
    }

    #[test]
    fn codes_beyond_128_bits_are_none() {
        let one = CodeRange::code(1, 0);
        assert_eq!(one.with_frac(126), Some(CodeRange::code(1 << 126, 126)));
        assert_eq!(one.with_frac(127), None);
        assert_eq!(one.with_frac(-1), None);
        assert_eq!(
            CodeRange::code(0, 0).with_frac(500),
            Some(CodeRange::code(0, 500))
        );
        assert_eq!(CodeRange::code(i128::MAX, 0).plus(one), None);
        assert_eq!(CodeRange::code(i128::MAX, 0).summed(2), None);
        assert_eq!(CodeRange::code(i128::MIN, 0).negated(), None);
    }
}
