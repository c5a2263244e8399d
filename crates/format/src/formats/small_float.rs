//! The 8-bit and 4-bit floats of the standards: OCP's E4M3, E5M2 and E2M1, and the variants without a negative zero.

use crate::catalog::{FieldEntry, FormatEntry};
use crate::codes::Scale;
use crate::error::FormatError;
use crate::field::{FieldValue, Fields};
use crate::formats::minifloat_ieee::{ImplicitOne, MinifloatIeee};
use crate::number_format::{Coded, Element, NumberFormat, Point};
use crate::round::{Float, RoundingRule};

const FLOAT8: FormatEntry = FormatEntry {
    name: "float8",
    class_suffix: "Float8",
    about: "8-bit floats of the standards: E4M3 and E5M2, with or without a negative zero",
    doc: "\
kind       bias  largest  infinity  NaN
e4m3fn        7      448  none      S.1111.111
e5m2         15    57344  S.11111.00  S.11111.01 to 11
e4m3fnuz      8      240  none      1.0000.000, and no negative zero
e5m2fnuz     16    57344  none      1.00000.00, and no negative zero

Nearest, ties to an even fraction, with carry and subnormal numbers. What is too large, infinities too, becomes the
largest value; with saturate = false it becomes infinity, or NaN where there is none.

float8(e4m3fn):
  0.3    = 1.2 * 2^-2   -> 1.25 * 2^-2   code 0_0101_010   0.3125
  1000                                   code 0_1111_110   448
  -0.001 = -0.512 * 2^-9 -> -1 * 2^-9    code 1_0000_001  -0.001953125",
    aliases: &[],
    fields: &[
        FieldEntry::optional("kind", "e4m3fn", "e4m3fn, e5m2, e4m3fnuz or e5m2fnuz").shown(),
        SATURATE,
    ],
};

const FLOAT4: FormatEntry = FormatEntry {
    name: "float4",
    class_suffix: "Float4",
    about: "4-bit floats of the standard: E2M1",
    doc: "\
value = one of 0, 0.5, 1, 1.5, 2, 3, 4, 6 with a sign

Nearest, ties to an even fraction. There is no infinity and no NaN; what is too large becomes 6.

float4(e2m1):
  1.2    code 0_01_0   1.0
  2.5    code 0_10_0   2.0   (a tie, to even)
  -100   code 1_11_1  -6.0",
    aliases: &[],
    fields: &[FieldEntry::optional("kind", "e2m1", "e2m1").shown()],
};

const SATURATE: FieldEntry = FieldEntry::optional(
    "saturate",
    "true",
    "whether what is too large becomes the largest value",
);

/// An 8-bit float.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Float8 {
    /// The variant.
    pub kind: Float8Kind,
    /// Makes what is too large the largest value, and not infinity or NaN.
    pub saturate: bool,
}

/// The variants of 8-bit floats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Float8Kind {
    /// OCP's E4M3: no infinity.
    E4m3fn,
    /// OCP's E5M2: as IEEE 754 has it.
    E5m2,
    /// E4M3 with one NaN in place of the negative zero.
    E4m3fnuz,
    /// E5M2 with one NaN in place of the negative zero.
    E5m2fnuz,
}

const KINDS: [&str; 4] = ["e4m3fn", "e5m2", "e4m3fnuz", "e5m2fnuz"];

impl Float8 {
    fn minifloat(self) -> (MinifloatIeee, f64) {
        let float = |exponent_width, exponent_bias| MinifloatIeee {
            width: 8,
            exponent_width,
            exponent_bias,
        };
        match self.kind {
            Float8Kind::E4m3fn => (float(4, 7), 448.0),
            Float8Kind::E5m2 => (float(5, 15), 57344.0),
            Float8Kind::E4m3fnuz => (float(4, 8), 240.0),
            Float8Kind::E5m2fnuz => (float(5, 16), 57344.0),
        }
    }

    fn has_negative_zero(self) -> bool {
        matches!(self.kind, Float8Kind::E4m3fn | Float8Kind::E5m2)
    }
}

impl NumberFormat for Float8 {
    type Element = SmallFloat;

    const ENTRY: FormatEntry = FLOAT8;

    fn read(fields: &Fields<'_>) -> Result<Self, FormatError> {
        let kind = match fields.choice("kind", &KINDS)? {
            0 => Float8Kind::E4m3fn,
            1 => Float8Kind::E5m2,
            2 => Float8Kind::E4m3fnuz,
            _ => Float8Kind::E5m2fnuz,
        };
        let saturate = fields.flag("saturate", true)?;
        Ok(Self { kind, saturate })
    }

    fn fields(&self) -> Vec<(&'static str, FieldValue)> {
        vec![
            ("kind", KINDS[self.kind as usize].into()),
            ("saturate", self.saturate.into()),
        ]
    }

    fn range(&self) -> (f64, f64) {
        let (_, max) = self.minifloat();
        match (self.saturate, self.kind) {
            (false, Float8Kind::E5m2) => (f64::NEG_INFINITY, f64::INFINITY),
            _ => (-max, max),
        }
    }

    fn point(&self) -> Point {
        Point::Fixed
    }

    fn width(&self) -> u32 {
        8
    }

    #[inline(always)]
    fn element(&self, _: Scale) -> SmallFloat {
        let (float, max) = self.minifloat();
        let beyond = match (self.saturate, self.kind) {
            (true, _) => None,
            (false, Float8Kind::E5m2) => Some(f32::INFINITY),
            (false, _) => Some(f32::NAN),
        };
        SmallFloat {
            coded: float.shifted(0, max),
            beyond,
            nan: match self.kind {
                Float8Kind::E4m3fn | Float8Kind::E5m2 => 0x7f,
                Float8Kind::E4m3fnuz | Float8Kind::E5m2fnuz => 0x80,
            },
            has_negative_zero: self.has_negative_zero(),
        }
    }
}

/// A 4-bit float.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Float4;

impl NumberFormat for Float4 {
    type Element = Coded<Float, ImplicitOne>;

    const ENTRY: FormatEntry = FLOAT4;

    fn read(fields: &Fields<'_>) -> Result<Self, FormatError> {
        fields.choice("kind", &["e2m1"])?;
        Ok(Self)
    }

    fn fields(&self) -> Vec<(&'static str, FieldValue)> {
        vec![("kind", "e2m1".into())]
    }

    fn range(&self) -> (f64, f64) {
        (-6.0, 6.0)
    }

    fn point(&self) -> Point {
        Point::Fixed
    }

    fn width(&self) -> u32 {
        4
    }

    #[inline(always)]
    fn element(&self, _: Scale) -> Coded<Float, ImplicitOne> {
        MinifloatIeee::new(4, 2).shifted(0, 6.0)
    }
}

/// Floats with what a standard says of numbers that are too large, of NaN and of the negative zero.
#[derive(Clone, Copy)]
pub(crate) struct SmallFloat {
    coded: Coded<Float, ImplicitOne>,
    /// The value of what is too large; nothing when it saturates.
    beyond: Option<f32>,
    nan: u64,
    has_negative_zero: bool,
}

impl RoundingRule for SmallFloat {
    #[inline(always)]
    fn round(&self, x: &[f32], y: &mut [f32]) {
        self.coded.rule.round(x, y);
        let (_, last) = self.coded.rule.pass();
        if let Some(beyond) = self.beyond {
            for (y, &x) in y.iter_mut().zip(x) {
                *y = if x.abs() > last {
                    beyond.copysign(x)
                } else {
                    *y
                };
            }
        }
        if !self.has_negative_zero {
            // Adding 0 makes a negative zero positive and changes nothing else.
            for y in y.iter_mut() {
                *y += 0.0;
            }
        }
    }

    #[inline(always)]
    fn pass(&self) -> (f32, f32) {
        self.coded.rule.pass()
    }
}

impl Element for SmallFloat {
    type Rule = Self;

    #[inline(always)]
    fn rule(&self) -> Self {
        *self
    }

    fn encode(&self, y: f32) -> u64 {
        if y.is_infinite() {
            return if y < 0.0 { 0xfc } else { 0x7c };
        }
        self.coded.encode(y)
    }

    fn nan(&self) -> u64 {
        self.nan
    }

    fn decode(&self, code: u64) -> f32 {
        if code == self.nan {
            return f32::NAN;
        }
        self.coded.decode(code)
    }
}
