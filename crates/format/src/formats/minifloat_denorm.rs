//! Floats of few bits without an implicit leading one.

use crate::catalog::{EXPONENT_BIAS, EXPONENT_WIDTH, FormatEntry, WIDTH};
use crate::codes::{Scale, with_sign};
use crate::error::FormatError;
use crate::field::{FieldValue, Fields};
use crate::formats::minifloat_ieee::{float_fields, read_widths};
use crate::number_format::{Code, Coded, NumberFormat, Point};
use crate::round::{Float, exp2};

const ENTRY: FormatEntry = FormatEntry {
    name: "minifloat_denorm",
    class_suffix: "MinifloatDenorm",
    about: "small floats without an implicit leading one",
    doc: "\
value = sign * 2^(e-b) * M/2^m,  M < 2^m   with E = exponent_width, b = exponent_bias, m = width - 1 - E

Nearest representable value, ties to an even M, saturating. Several codes can mean one value; encoding takes the
smallest exponent that holds it, which keeps the most bits. Differs from MASE: 1.0 is exact.

minifloat_denorm(8, 4), b = 7, m = 3, largest 224:
  1.0   = 2^1 * 4/8                 code 0_1000_100   1.0
  1.97  = 2^1 * 7.88/8 -> 2^2 * 4/8 code 0_1001_100   2.0
  0.3   = 2^-1 * 4.8/8 -> 5/8       code 0_0110_101   0.3125",
    aliases: &[],
    fields: &[WIDTH, EXPONENT_WIDTH, EXPONENT_BIAS],
};

/// Floats whose fraction, stored whole, is below 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MinifloatDenorm {
    /// Bits of an element, 3 to 32.
    pub width: u32,
    /// Bits of the exponent, 1 to 8.
    pub exponent_width: u32,
    /// The bias, which is subtracted from the stored exponent.
    pub exponent_bias: i32,
}

impl MinifloatDenorm {
    #[inline(always)]
    fn frac_width(&self) -> u32 {
        self.width - 1 - self.exponent_width
    }

    #[inline(always)]
    fn max(&self) -> f64 {
        let emax = (1 << self.exponent_width) - 1 - self.exponent_bias;
        exp2(emax) * (1.0 - exp2(-(self.frac_width() as i32)))
    }
}

impl NumberFormat for MinifloatDenorm {
    type Element = Coded<Float, ExplicitOne>;

    const ENTRY: FormatEntry = ENTRY;

    fn read(fields: &Fields<'_>) -> Result<Self, FormatError> {
        let (width, exponent_width) = read_widths(fields, 1)?;
        let default = (1 << (exponent_width - 1)) - 1;
        Ok(Self {
            width,
            exponent_width,
            exponent_bias: fields.exponent_bias(1 << exponent_width, default)?,
        })
    }

    fn fields(&self) -> Vec<(&'static str, FieldValue)> {
        float_fields(self.width, self.exponent_width, self.exponent_bias)
    }

    fn range(&self) -> (f64, f64) {
        (-self.max(), self.max())
    }

    fn point(&self) -> Point {
        Point::Field("exponent_bias")
    }

    fn width(&self) -> u32 {
        self.width
    }

    #[inline(always)]
    fn element(&self, _: Scale) -> Coded<Float, ExplicitOne> {
        // M/2^m with its leading bit set is 2^-1 times a float with one fraction bit less.
        let emin = -self.exponent_bias - 1;
        Coded {
            rule: Float::new(self.frac_width() - 1, emin, self.max()),
            code: ExplicitOne {
                emin,
                frac_width: self.frac_width(),
                width: self.width,
            },
        }
    }
}

/// Floats with codes of sign, exponent and fraction, the leading one stored.
#[derive(Clone, Copy)]
pub(crate) struct ExplicitOne {
    emin: i32,
    frac_width: u32,
    width: u32,
}

impl Code<Float> for ExplicitOne {
    fn encode(&self, float: &Float, y: f32) -> u64 {
        let (exponent, significand) = float.parts(y);
        let sign = u64::from(y < 0.0) << (self.width - 1);
        sign | ((exponent - self.emin) as u64) << self.frac_width | significand
    }

    fn decode(&self, _float: &Float, code: u64) -> f32 {
        let (one, sign) = (1 << self.frac_width, 1 << (self.width - 1));
        let (fraction, stored) = (code & (one - 1), (code & (sign - 1)) >> self.frac_width);
        let exponent = self.emin + 1 + stored as i32 - self.frac_width as i32;
        let magnitude = (fraction as f64 * exp2(exponent)) as f32;
        with_sign(magnitude, code, sign)
    }
}
