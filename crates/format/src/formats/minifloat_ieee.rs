//! Floats of few bits with an implicit leading one and subnormal numbers, without infinities.

use crate::catalog::{EXPONENT_BIAS, EXPONENT_WIDTH, FormatEntry, WIDTH};
use crate::codes::{Scale, with_sign};
use crate::error::FormatError;
use crate::field::{FieldValue, Fields};
use crate::number_format::{Code, Coded, NumberFormat, Point};
use crate::round::{Float, exp2};

const ENTRY: FormatEntry = FormatEntry {
    name: "minifloat_ieee",
    class_suffix: "MinifloatIEEE",
    about: "small floats with an implicit leading one and subnormal numbers",
    doc: "\
value = sign * 2^(e-b) * (1 + M/2^m)  for a stored exponent e > 0,   sign * 2^(1-b) * M/2^m  for e = 0
        with E = exponent_width, b = exponent_bias, m = width - 1 - E

Nearest representable value, ties to an even M, with carry into the exponent. Every code is a number: no infinity and
no NaN, results saturate. Without fraction bits (m = 0) a tie of two powers of two goes to the larger, and one of zero and
the smallest power to zero. Differs from MASE: 1.97 in (8, 4) is 2.0.

minifloat_ieee(8, 4), b = 7, m = 3, largest 480:
  1.97   = 1.97 * 2^0 -> 2.0 = 2^1 * 1.000   code 0_1000_000   2.0
  0.001  = 0.512 * 2^-9 -> 1 * 2^-9          code 0_0000_001   0.001953125
  -1000                                      code 1_1111_111  -480",
    aliases: &[],
    fields: &[WIDTH, EXPONENT_WIDTH, EXPONENT_BIAS],
};

/// Floats with `exponent_width` bits of exponent and the rest, but for the sign, of fraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MinifloatIeee {
    /// Bits of an element, 2 to 32.
    pub width: u32,
    /// Bits of the exponent, 1 to 8.
    pub exponent_width: u32,
    /// The bias, which is subtracted from the stored exponent.
    pub exponent_bias: i32,
}

impl MinifloatIeee {
    /// With the default bias, in the middle of the exponents.
    #[inline(always)]
    pub const fn new(width: u32, exponent_width: u32) -> Self {
        Self {
            width,
            exponent_width,
            exponent_bias: (1 << (exponent_width - 1)) - 1,
        }
    }

    /// The largest exponent.
    #[inline(always)]
    pub(crate) const fn emax(&self) -> i32 {
        (1 << self.exponent_width) - 1 - self.exponent_bias
    }

    #[inline(always)]
    pub(crate) const fn frac_width(&self) -> u32 {
        self.width - 1 - self.exponent_width
    }

    /// The largest value.
    #[inline(always)]
    pub(crate) fn max(&self) -> f64 {
        exp2(self.emax()) * (2.0 - exp2(-(self.frac_width() as i32)))
    }

    /// The rule for elements that are multiplied by 2^shift and go up to `max` before.
    #[inline(always)]
    pub(crate) fn shifted(&self, shift: i32, max: f64) -> Coded<Float, ImplicitOne> {
        let emin = 1 - self.exponent_bias + shift;
        let max = max * exp2(shift);
        Coded {
            rule: Float::new(self.frac_width(), emin, max),
            code: ImplicitOne {
                emin,
                max,
                frac_width: self.frac_width(),
                width: self.width,
            },
        }
    }
}

/// Reads `width` and an `exponent_width` that leaves at least `min_frac` and at most 23 bits between sign and exponent.
pub(crate) fn read_widths(fields: &Fields<'_>, min_frac: u32) -> Result<(u32, u32), FormatError> {
    let width: u32 = fields.required("width", 2..=32)?;
    let exponent_width: u32 = fields.required("exponent_width", 1..=8)?;
    if exponent_width + min_frac >= width {
        let rule = format!("leaves no room for sign and {min_frac} fraction bits in width {width}");
        return Err(fields.bad_value("exponent_width", exponent_width, rule));
    }
    let frac_width = width - 1 - exponent_width;
    if frac_width > 23 {
        let rule = format!("leaves {frac_width} fraction bits in width {width}, a float has 23");
        return Err(fields.bad_value("exponent_width", exponent_width, rule));
    }
    Ok((width, exponent_width))
}

/// The fields of a small float.
pub(crate) fn float_fields(
    width: u32,
    exponent_width: u32,
    exponent_bias: i32,
) -> Vec<(&'static str, FieldValue)> {
    vec![
        ("width", width.into()),
        ("exponent_width", exponent_width.into()),
        ("exponent_bias", exponent_bias.into()),
    ]
}

impl NumberFormat for MinifloatIeee {
    type Element = Coded<Float, ImplicitOne>;

    const ENTRY: FormatEntry = ENTRY;

    fn read(fields: &Fields<'_>) -> Result<Self, FormatError> {
        let (width, exponent_width) = read_widths(fields, 0)?;
        let usual = Self::new(width, exponent_width);
        Ok(Self {
            exponent_bias: fields.exponent_bias(1 << exponent_width, usual.exponent_bias)?,
            ..usual
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
    fn element(&self, _: Scale) -> Coded<Float, ImplicitOne> {
        self.shifted(0, self.max())
    }
}

/// Floats with codes of sign, exponent and fraction, the leading one not stored.
#[derive(Clone, Copy)]
pub(crate) struct ImplicitOne {
    emin: i32,
    max: f64,
    frac_width: u32,
    width: u32,
}

impl Code<Float> for ImplicitOne {
    fn encode(&self, float: &Float, y: f32) -> u64 {
        let (exponent, significand) = float.parts(y);
        let sign = u64::from(y < 0.0) << (self.width - 1);
        // A leading one adds 1 to the stored exponent; a subnormal number has none and leaves it 0.
        sign + (((exponent - self.emin) as u64) << self.frac_width) + significand
    }

    fn decode(&self, _float: &Float, code: u64) -> f32 {
        let (one, sign) = (1 << self.frac_width, 1 << (self.width - 1));
        let (fraction, stored) = (code & (one - 1), (code & (sign - 1)) >> self.frac_width);
        let leading = if stored > 0 { one } else { 0 };
        let exponent = self.emin + stored.saturating_sub(1) as i32;
        let magnitude = (leading + fraction) as f64 * exp2(exponent - self.frac_width as i32);
        let magnitude = match fraction {
            _ if magnitude <= self.max => magnitude as f32,
            0 => f32::INFINITY,
            _ => f32::NAN,
        };
        with_sign(magnitude, code, sign)
    }
}
