//! Signed powers of two.

use crate::catalog::{FieldEntry, FormatEntry, WIDTH};
use crate::codes::{Scale, with_sign};
use crate::error::FormatError;
use crate::field::{FieldValue, Fields};
use crate::number_format::{Code, Coded, NumberFormat, Point};
use crate::round::{Power, exp2, rounded_log2};

const ENTRY: FormatEntry = FormatEntry {
    name: "log",
    class_suffix: "Log",
    about: "signed powers of two, and zero",
    doc: "\
value = sign * 2^e,  e = clamp(rne(log2|x|), -b, 2^(w-1) - 1 - b)   with w = width, b = exponent_bias; 0 stays 0

The code is the sign and e + b in w - 1 bits. All of these mean a power, so zero has a flag above them, which the width
does not count. Differs from MASE: zero stays zero.

log(8), b = 63, powers from 2^-63 to 2^64:
  1.97  log2 = 0.98  -> e = 1   code 0_1000000   2.0
  -0.3  log2 = -1.74 -> e = -2  code 1_0111101  -0.25",
    aliases: &[],
    fields: &[
            WIDTH,
            FieldEntry::optional(
                "exponent_bias",
                "2^(width-2) - 1",
                "what is subtracted from the stored exponent",
            ),
        ],
};

/// ±2^e with e in `width` − 1 bits, and 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Log {
    /// Bits of an element, 2 to 16.
    pub width: u32,
    /// The bias, which is subtracted from the stored exponent.
    pub exponent_bias: i32,
}

impl Log {
    /// The bias that a width has by default, 2^(width−2) − 1.
    #[inline(always)]
    pub const fn default_bias(width: u32) -> i32 {
        (1 << (width - 2)) - 1
    }

    /// The largest exponent.
    #[inline(always)]
    pub(crate) const fn emax(self) -> i32 {
        (1 << (self.width - 1)) - 1 - self.exponent_bias
    }

    /// The rule for elements that are multiplied by 2^shift.
    #[inline(always)]
    pub(crate) fn shifted(self, shift: i32) -> Coded<Power, SignedPower> {
        let emin = shift - self.exponent_bias;
        Coded {
            rule: Power::new(emin, shift + self.emax()),
            code: SignedPower {
                emin,
                width: self.width,
            },
        }
    }

    /// All codes: the powers and zero.
    pub(crate) fn all_codes(self) -> Vec<u64> {
        (0..=1 << self.width).collect()
    }
}

impl NumberFormat for Log {
    type Element = Coded<Power, SignedPower>;

    const ENTRY: FormatEntry = ENTRY;

    fn read(fields: &Fields<'_>) -> Result<Self, FormatError> {
        let width = fields.required("width", 2..=16)?;
        let n_exponents = 1 << (width - 1);
        Ok(Self {
            width,
            exponent_bias: fields.exponent_bias(n_exponents, Self::default_bias(width))?,
        })
    }

    fn fields(&self) -> Vec<(&'static str, FieldValue)> {
        vec![
            ("width", self.width.into()),
            ("exponent_bias", self.exponent_bias.into()),
        ]
    }

    fn range(&self) -> (f64, f64) {
        let largest = exp2(self.emax().min(1023));
        (-largest, largest)
    }

    fn point(&self) -> Point {
        Point::Field("exponent_bias")
    }

    fn width(&self) -> u32 {
        self.width
    }

    fn code_width(&self) -> u32 {
        self.width + 1
    }

    fn codes(&self) -> Vec<u64> {
        self.all_codes()
    }

    #[inline(always)]
    fn element(&self, _: Scale) -> Coded<Power, SignedPower> {
        self.shifted(0)
    }
}

/// Powers of two with codes of zero flag, sign and exponent.
#[derive(Clone, Copy)]
pub(crate) struct SignedPower {
    emin: i32,
    width: u32,
}

impl Code<Power> for SignedPower {
    fn encode(&self, _power: &Power, y: f32) -> u64 {
        if y == 0.0 {
            return 1 << self.width;
        }
        let sign = u64::from(y.is_sign_negative()) << (self.width - 1);
        sign | (rounded_log2(y.abs()) - self.emin) as u64
    }

    fn decode(&self, _power: &Power, code: u64) -> f32 {
        if code >> self.width == 1 {
            return 0.0;
        }
        let sign = 1 << (self.width - 1);
        let exponent = (code & (sign - 1)) as i32 + self.emin;
        let magnitude = exp2(exponent.clamp(-1022, 1023)) as f32;
        with_sign(magnitude, code, sign)
    }
}
