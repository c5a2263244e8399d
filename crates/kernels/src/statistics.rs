//! Statistics of a block of values: its extremes, its sums without any rounding, and the values between two bounds.
//!
//! A sum of `f32` values, of their magnitudes or of their squares is exact here. Adding a large constant to a value and
//! subtracting it again cuts the value at a fixed bit; the upper pieces of all values of a block are multiples of one
//! unit, and few enough that `f64` adds them in any order without rounding. What is left below is cut again, and the
//! little that may still be left after the last cut is handed on value by value. (After Rump, Ogita and Oishi, "Accurate
//! floating-point summation", 2008, where the constants come from the largest value as they do here.)

use crate::isa::versions;

/// Most values of a block: what the exact sums count on, and small enough for the first cache.
pub const BLOCK: usize = 4096;

/// Bits between the bound of a block's terms and its constant: as many as [`BLOCK`] terms can grow by.
const HEADROOM: i32 = BLOCK.ilog2() as i32;
/// Bits that a cut takes off: the remainder is at most half of the last bit of the constant.
const CUT: i32 = 53 - HEADROOM;
/// Two vectors of the widest level.
const LANES: usize = 16;

/// The ends of a block, by value and by magnitude.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Extremes {
    /// The smallest value.
    pub min: f32,
    /// The largest value.
    pub max: f32,
    /// The smallest magnitude.
    pub min_magnitude: f32,
    /// The largest magnitude; not finite if a value is not.
    pub max_magnitude: f32,
}

impl Extremes {
    /// Those of no values.
    pub const NONE: Self = Self {
        min: f32::INFINITY,
        max: f32::NEG_INFINITY,
        min_magnitude: f32::INFINITY,
        max_magnitude: 0.0,
    };

    /// Those of both; finite values only.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        Self {
            min: self.min.min(other.min),
            max: self.max.max(other.max),
            min_magnitude: self.min_magnitude.min(other.min_magnitude),
            max_magnitude: self.max_magnitude.max(other.max_magnitude),
        }
    }
}

/// The terms of a sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Term {
    /// The values.
    Value,
    /// Their magnitudes.
    Magnitude,
    /// Their squares.
    Square,
}

/// Calls `add` with numbers whose sum, without rounding, is the sum of the terms of a block.
///
/// # Panics
/// If there are more than [`BLOCK`] values or `max_magnitude` is not finite.
pub fn exact_sum(values: &[f32], max_magnitude: f32, term: Term, add: impl FnMut(f64)) {
    assert!(
        values.len() <= BLOCK && max_magnitude.is_finite(),
        "exact_sum: {} values up to {max_magnitude}",
        values.len()
    );
    // Every magnitude is below two to this.
    let bound = (max_magnitude.to_bits() >> 23) as i32 - 126;
    match term {
        Term::Value => {
            let constants = constants(bound);
            carry_cuts(values, constants, sum_values(values, constants), |x| x, add);
        }
        Term::Magnitude => {
            let constants = constants(bound);
            carry_cuts(
                values,
                constants,
                sum_magnitudes(values, constants),
                f64::abs,
                add,
            );
        }
        Term::Square => {
            let constants = constants(2 * bound);
            carry_cuts(
                values,
                constants,
                sum_squares(values, constants),
                |x| x * x,
                add,
            );
        }
    }
}

/// The position of a block's values around two bounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Not above the lower bound.
    pub up_to_lower: usize,
    /// Less than the upper bound.
    pub below_upper: usize,
}

versions! {
    /// The ends of any number of values; [`Extremes::NONE`] of none.
    pub fn extremes(values: &[f32]) -> Extremes {
        let mut min = [f32::INFINITY; LANES];
        let mut max = [f32::NEG_INFINITY; LANES];
        let mut min_magnitude = [f32::INFINITY.to_bits(); LANES];
        let mut max_magnitude = [0_u32; LANES];
        for_lanes(values, #[inline(always)] |lane: usize, x: f32| {
            // As bits, magnitudes are ordered like numbers, with NaN above all.
            let magnitude = x.to_bits() & 0x7fff_ffff;
            min[lane] = if x < min[lane] { x } else { min[lane] };
            max[lane] = if x > max[lane] { x } else { max[lane] };
            min_magnitude[lane] = min_magnitude[lane].min(magnitude);
            max_magnitude[lane] = max_magnitude[lane].max(magnitude);
        });
        Extremes {
            min: min.into_iter().fold(f32::INFINITY, f32::min),
            max: max.into_iter().fold(f32::NEG_INFINITY, f32::max),
            min_magnitude: f32::from_bits(min_magnitude.into_iter().fold(f32::INFINITY.to_bits(), u32::min)),
            max_magnitude: f32::from_bits(max_magnitude.into_iter().fold(0, u32::max)),
        }
    }

    /// Counts the values of a block around two bounds, and keeps those between.
    pub fn keep_between(block: &[f32], lower: f32, upper: f32, kept: &mut Vec<f32>) -> Counts {
        let mut up_to_lower = [0_u32; LANES];
        let mut below_upper = [0_u32; LANES];
        let (chunks, tail) = block.as_chunks::<LANES>();
        for chunk in chunks {
            let mut any = [0; LANES];
            for (lane, &x) in chunk.iter().enumerate() {
                up_to_lower[lane] += u32::from(x <= lower);
                below_upper[lane] += u32::from(x < upper);
                any[lane] = u32::from(x > lower && x < upper);
            }
            // Few values are between, and a chunk without one is left behind by one test.
            if any.into_iter().fold(0, |a, b| a | b) != 0 {
                kept.extend(chunk.iter().filter(|&&x| x > lower && x < upper));
            }
        }
        for (lane, &x) in tail.iter().enumerate() {
            up_to_lower[lane] += u32::from(x <= lower);
            below_upper[lane] += u32::from(x < upper);
            if x > lower && x < upper {
                kept.push(x);
            }
        }
        let sum = |lanes: [u32; LANES]| lanes.into_iter().map(|count| count as usize).sum();
        Counts {
            up_to_lower: sum(up_to_lower),
            below_upper: sum(below_upper),
        }
    }

    fn sum_values(values: &[f32], constants: [f64; 2]) -> ([f64; 2], bool) {
        cut_and_sum(values, constants, #[inline(always)] |x| x)
    }

    fn sum_magnitudes(values: &[f32], constants: [f64; 2]) -> ([f64; 2], bool) {
        cut_and_sum(values, constants, f64::abs)
    }

    fn sum_squares(values: &[f32], constants: [f64; 3]) -> ([f64; 3], bool) {
        cut_and_sum(values, constants, #[inline(always)] |x| x * x)
    }
}

/// Adds the sums of the pieces, and the rests of single values after the last cut.
fn carry_cuts<const CUTS: usize>(
    values: &[f32],
    constants: [f64; CUTS],
    (sums, is_complete): ([f64; CUTS], bool),
    term: impl Fn(f64) -> f64,
    mut add: impl FnMut(f64),
) {
    sums.into_iter().for_each(&mut add);
    if !is_complete {
        for &x in values {
            let rest = constants.iter().fold(term(f64::from(x)), |rest, constant| {
                rest - ((rest + constant) - constant)
            });
            if rest != 0.0 {
                add(rest);
            }
        }
    }
}

/// The constants that cut terms below two to the `bound`: in the middle of a binade, so that adding never leaves it.
fn constants<const CUTS: usize>(bound: i32) -> [f64; CUTS] {
    std::array::from_fn(|cut| {
        let exponent = bound + HEADROOM - CUT * cut as i32;
        f64::from_bits(((exponent + 1023) as u64) << 52) * 1.5
    })
}

/// Calls `f` with every value and its lane.
#[inline(always)]
fn for_lanes(values: &[f32], mut f: impl FnMut(usize, f32)) {
    let (chunks, tail) = values.as_chunks::<LANES>();
    for chunk in chunks {
        for (lane, &x) in chunk.iter().enumerate() {
            f(lane, x);
        }
    }
    for (lane, &x) in tail.iter().enumerate() {
        f(lane, x);
    }
}

/// The sums of the pieces of every cut, and true when nothing is left.
#[inline(always)]
fn cut_and_sum<const CUTS: usize>(
    values: &[f32],
    constants: [f64; CUTS],
    term: impl Fn(f64) -> f64,
) -> ([f64; CUTS], bool) {
    let mut sums = [[0.0; LANES]; CUTS];
    let mut left = [0_u64; LANES];
    for_lanes(
        values,
        #[inline(always)]
        |lane: usize, x: f32| {
            let mut rest = term(f64::from(x));
            for (sums, constant) in sums.iter_mut().zip(constants) {
                let piece = (rest + constant) - constant;
                sums[lane] += piece;
                rest -= piece;
            }
            left[lane] |= rest.to_bits() << 1;
        },
    );
    let left = left.into_iter().fold(0, |a, b| a | b);
    (sums.map(|lanes| lanes.into_iter().sum()), left == 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::testing::on_every_isa;
    use crate::testing::{SIZES, noise};

    /// The sum in units of 2^-48, with the values made to fit.
    fn in_units(values: &[f32], term: Term) -> i128 {
        let unit = |x: f32| (f64::from(x) * 2_f64.powi(24)) as i128;
        let of = |x: f32| match term {
            Term::Value => unit(x) << 24,
            Term::Magnitude => unit(x).abs() << 24,
            Term::Square => unit(x) * unit(x),
        };
        values.iter().map(|&x| of(x)).sum()
    }

    fn exact(values: &[f32], term: Term) -> (i128, usize) {
        let (mut total, mut parts) = (0, 0);
        exact_sum(values, extremes(values).max_magnitude, term, |part| {
            total += (part * 2_f64.powi(48)) as i128;
            parts += 1;
        });
        (total, parts)
    }

    /// Multiples of 2^-24 below `2^scale`.
    fn grid(n: usize, scale: i32) -> Vec<f32> {
        let round = |x: f32| (x * 2_f32.powi(scale + 24)).round() / 2_f32.powi(24);
        noise(n, 7).into_iter().map(round).collect()
    }

    #[test]
    fn sums_are_exact_at_every_level() {
        on_every_isa(|isa| {
            for n in SIZES.into_iter().chain([BLOCK - 1, BLOCK]) {
                let mut values = grid(n, 6);
                values.extend(grid(BLOCK - n, -10));
                for term in [Term::Value, Term::Magnitude, Term::Square] {
                    let (total, parts) = exact(&values, term);
                    assert_eq!(total, in_units(&values, term), "{isa:?} {n} {term:?}");
                    assert!(parts <= 3, "{isa:?} {n} {term:?}: {parts} parts");
                }
            }
        });
    }

    #[test]
    fn what_the_cuts_leave_is_handed_on() {
        let (large, small) = (2_f32.powi(60), 2_f32.powi(-60));
        let parts = |term| {
            let mut parts = Vec::new();
            exact_sum(&[large, small, -large], large, term, |part| {
                parts.push(part);
            });
            parts.retain(|&part| part != 0.0);
            parts
        };
        assert_eq!(parts(Term::Value), [2_f64.powi(-60)]);
        assert_eq!(parts(Term::Magnitude), [2_f64.powi(61), 2_f64.powi(-60)]);
        assert_eq!(parts(Term::Square), [2_f64.powi(121), 2_f64.powi(-120)]);
    }

    /// Two equal rests, in neighbouring lanes or in the same one, are two.
    #[test]
    fn rests_do_not_cancel() {
        for (first, second) in [(1, 2), (1, LANES + 1), (LANES, 2 * LANES)] {
            let mut values = vec![0.0; 2 * LANES + 1];
            (values[0], values[first], values[second]) = (2_f32.powi(60), 0.5, 0.5);
            let mut sum = 0;
            exact_sum(&values, values[0], Term::Value, |part| {
                sum += (part * 2.0) as i128;
            });
            assert_eq!(sum, (1 << 61) + 2, "{first} {second}");
        }
    }

    #[test]
    fn extremes_are_those_of_a_plain_loop() {
        on_every_isa(|isa| {
            for n in SIZES {
                let values = noise(n, 3);
                let found = extremes(&values);
                let fold = |f: fn(f32, f32) -> f32, start: f32, of: fn(f32) -> f32| {
                    values.iter().map(|&x| of(x)).fold(start, f)
                };
                let wanted = Extremes {
                    min: fold(f32::min, f32::INFINITY, |x| x),
                    max: fold(f32::max, f32::NEG_INFINITY, |x| x),
                    min_magnitude: fold(f32::min, f32::INFINITY, f32::abs),
                    max_magnitude: fold(f32::max, 0.0, f32::abs),
                };
                assert_eq!(found, wanted, "{isa:?} {n}");
            }
        });
    }

    #[test]
    fn a_value_that_is_not_finite_shows_in_the_largest_magnitude() {
        for bad in [f32::NAN, -f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            for at in [0, 5, 40, 99] {
                let mut values = noise(100, 1);
                values[at] = bad;
                assert!(
                    !extremes(&values).max_magnitude.is_finite(),
                    "{bad} at {at}"
                );
            }
        }
    }

    #[test]
    fn counts_are_those_of_a_plain_loop() {
        on_every_isa(|isa| {
            for n in SIZES {
                let values = grid(n, -20);
                for (lower, upper) in [(0.0, values.last().map_or(1.0, |x| x.abs())), (0.0, 0.0)] {
                    let mut kept = Vec::new();
                    let counts = keep_between(&values, lower, upper, &mut kept);
                    let is_between = |x: &f32| *x > lower && *x < upper;
                    let wanted: Vec<f32> = values.iter().copied().filter(is_between).collect();
                    let count = |f: &dyn Fn(f32) -> bool| values.iter().filter(|x| f(**x)).count();
                    assert_eq!(kept, wanted, "{isa:?} {n}");
                    assert_eq!(counts.up_to_lower, count(&|x| x <= lower), "{isa:?} {n}");
                    assert_eq!(counts.below_upper, count(&|x| x < upper), "{isa:?} {n}");
                }
            }
        });
    }
}
