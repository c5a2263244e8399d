//! Interval arithmetic on codes: which integers an exact computation can reach, so that no sum ever overflows.

use super::error::Refusal;
use format::{FixedPoint, Rounding};

/// The multiples of 2^-frac from `min`·2^-frac to `max`·2^-frac. A range that a value has always fits `i64`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CodeRange {
    pub min: i128,
    pub max: i128,
    pub frac: i32,
}

impl CodeRange {
    /// Everything a format of up to 64 bits can hold.
    pub fn of(format: FixedPoint) -> Self {
        let half = 1_i128
            << format
                .width
                .saturating_sub(u32::from(format.signed))
                .min(64);
        Self {
            min: if format.signed { -half } else { 0 },
            max: half - 1,
            frac: format.frac_width,
        }
    }

    /// The range itself when 64-bit integers hold it.
    pub fn fit(self) -> Result<Self, Refusal> {
        let fits = |code: i128| i64::try_from(code).is_ok();
        if fits(self.min) && fits(self.max) {
            Ok(self)
        } else {
            Err(Refusal::TooWide(self.format().width))
        }
    }

    /// The narrowest format that holds all of it.
    pub fn format(self) -> FixedPoint {
        let magnitude = |code: i128| 128 - (if code < 0 { !code } else { code }).leading_zeros();
        let signed = self.min < 0;
        let bits = magnitude(self.min).max(magnitude(self.max));
        FixedPoint {
            width: (bits + u32::from(signed)).max(1),
            frac_width: self.frac,
            signed,
            rounding: Rounding::NearestEven,
        }
    }

    /// The largest magnitude of a code.
    pub fn magnitude(self) -> i128 {
        self.min.abs().max(self.max.abs())
    }

    /// The same values as codes of a finer step, and the bits by which codes move to the left.
    pub fn with_frac(self, frac: i32) -> Result<(Self, u32), Refusal> {
        let bits = (i64::from(frac) - i64::from(self.frac)).max(0) as u32;
        if self.magnitude() == 0 {
            return Ok((Self { frac, ..self }, bits.min(63)));
        }
        if bits > 63 {
            return Err(Refusal::TooWide(self.format().width.saturating_add(bits)));
        }
        let range = Self {
            min: self.min << bits,
            max: self.max << bits,
            frac,
        };
        Ok((range.fit()?, bits))
    }

    /// Sums of one element of each, which have the same step.
    pub fn plus(self, other: Self) -> Result<Self, Refusal> {
        let range = Self {
            min: self.min + other.min,
            max: self.max + other.max,
            frac: self.frac,
        };
        range.fit()
    }

    /// The range of −x.
    pub fn negated(self) -> Self {
        Self {
            min: -self.max,
            max: -self.min,
            ..self
        }
    }

    /// Products of one element of each.
    pub fn times(self, other: Self) -> Result<Self, Refusal> {
        let corners = [
            self.min * other.min,
            self.min * other.max,
            self.max * other.min,
            self.max * other.max,
        ];
        let range = Self {
            min: corners.into_iter().fold(corners[0], i128::min),
            max: corners.into_iter().fold(corners[0], i128::max),
            frac: product_frac(self.frac, other.frac)?,
        };
        range.fit()
    }

    /// Sums of `n` elements, in any order: partial sums are within the range too.
    pub fn summed(self, n: usize) -> Result<Self, Refusal> {
        let n = n as i128;
        let range = Self {
            min: self.min.min(0) * n,
            max: self.max.max(0) * n,
            frac: self.frac,
        };
        range.fit()
    }

    /// The elements of either, which have the same step.
    pub fn joined(self, other: Self) -> Self {
        Self {
            min: self.min.min(other.min),
            max: self.max.max(other.max),
            ..self
        }
    }

    /// The range with 0 in it.
    pub fn with_zero(self) -> Self {
        Self {
            min: self.min.min(0),
            max: self.max.max(0),
            ..self
        }
    }
}

/// Bits behind the point of a product.
pub(crate) fn product_frac(a: i32, b: i32) -> Result<i32, Refusal> {
    a.checked_add(b).ok_or_else(|| {
        Refusal::NoForm("its result has more than 2^31 bits behind the point".into())
    })
}
