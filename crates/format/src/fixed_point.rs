//! Formats as fixed point, the one arithmetic that exact integer execution knows: the multiples of a power of two between
//! two bounds, of every place where fields are stored.

use std::fmt;

use crate::formats::{Affine, Format, Integer, Overflow, Rounding};

/// The multiples of 2^-frac_width from `min` to `max` of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FixedPoint {
    /// Bits behind the point.
    pub frac_width: i32,
    /// The smallest multiple.
    pub min: i128,
    /// The largest multiple.
    pub max: i128,
    /// The rounding of values between two multiples.
    pub rounding: Rounding,
    /// The treatment of values beyond the last multiples.
    pub overflow: Overflow,
}

/// The reason why a format is no fixed point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NotFixedPoint {
    /// Its values are no multiples of a step.
    Kind,
    /// A scale that is no power of two.
    Scale(f32),
    /// A rounding that is not to nearest with ties to even.
    Rounding,
    /// A zero point that is added before rounding, which moves the ties.
    Offset,
    /// Codes that are rounded to floats on their way.
    Width(u32),
    /// Stored fields without values.
    Missing,
}

impl fmt::Display for NotFixedPoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kind => {
                write!(
                    f,
                    "which is not fixed point; give it one that is, for example integer(8, 4)"
                )
            }
            Self::Scale(scale) => write!(
                f,
                "whose scale {scale:?} is no power of two; learn power-of-two scales, or take one, for example {:?}",
                nearest_power(*scale)
            ),
            Self::Rounding => write!(
                f,
                "whose rounding has no exact integer form; take half_even"
            ),
            Self::Offset => write!(
                f,
                "whose zero point is added before rounding; take offset = after, or the zero point 0"
            ),
            Self::Width(width) => write!(
                f,
                "whose codes of {width} bits are rounded to floats; take at most 24 bits"
            ),
            Self::Missing => write!(f, "whose stored fields have no values; give it some"),
        }
    }
}

/// The power of two that is nearest by its exponent.
fn nearest_power(scale: f32) -> f32 {
    f64::from(scale).log2().round().clamp(-126.0, 127.0).exp2() as f32
}

impl From<Integer> for FixedPoint {
    fn from(format: Integer) -> Self {
        // A stored width may be 0, which leaves nothing but 0.
        let bits = format.width.saturating_sub(format.signed.into());
        let limit = 1_i128 << bits;
        let is_signed = format.signed && format.width > 0;
        Self {
            frac_width: format.frac_width,
            min: if is_signed { -limit } else { 0 },
            max: limit - 1,
            rounding: format.rounding,
            overflow: format.overflow,
        }
    }
}

impl TryFrom<Affine> for FixedPoint {
    type Error = NotFixedPoint;

    fn try_from(format: Affine) -> Result<Self, NotFixedPoint> {
        let is_power = format.scale.to_bits().trailing_zeros() >= f32::MANTISSA_DIGITS - 1;
        if !is_power {
            return Err(NotFixedPoint::Scale(format.scale));
        }
        if !format.rounds_half_even() {
            return Err(NotFixedPoint::Rounding);
        }
        if format.zero_point != 0.0 && !format.rounds_to_nearest() {
            return Err(NotFixedPoint::Offset);
        }
        if format.width > f32::MANTISSA_DIGITS {
            return Err(NotFixedPoint::Width(format.width));
        }
        let (lo, hi) = format.code_range();
        let zero = f64::from(format.zero_point);
        Ok(Self {
            frac_width: -f64::from(format.scale).log2() as i32,
            min: (lo - zero) as i128,
            max: (hi - zero) as i128,
            rounding: Rounding::NearestEven,
            overflow: Overflow::Saturate,
        })
    }
}

impl FixedPoint {
    /// True when 0 is its only value, which is a multiple of every step.
    pub fn is_zero(&self) -> bool {
        (self.min, self.max) == (0, 0)
    }
}

impl Format {
    /// The format as plain fixed point in two's complement; `None` for all others.
    pub fn fixed_point(&self) -> Option<Integer> {
        match self {
            Self::Integer(integer) => Some(*integer),
            _ => None,
        }
    }

    /// The fixed point of every place of the stored fields, one for all elements where nothing is stored; the reason why
    /// it is none.
    pub fn fixed_points(&self) -> Result<Vec<FixedPoint>, NotFixedPoint> {
        let points = match self {
            Self::Integer(integer) => vec![(*integer).into()],
            Self::Affine(affine) => vec![(*affine).try_into()?],
            Self::StoredInteger(stored) => stored.formats().iter().map(|&f| f.into()).collect(),
            Self::StoredAffine(stored) => {
                let formats = stored.formats().iter();
                formats.map(|&f| f.try_into()).collect::<Result<_, _>>()?
            }
            _ => return Err(NotFixedPoint::Kind),
        };
        if points.is_empty() {
            return Err(NotFixedPoint::Missing);
        }
        Ok(points)
    }
}
