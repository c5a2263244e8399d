//! Two's-complement fixed point.

use std::ops::RangeInclusive;

use crate::catalog::{AXIS, FieldEntry, FormatEntry, WIDTH};
use crate::codes::{Scale, mask};
use crate::error::FormatError;
use crate::field::{FieldValue, Fields};
use crate::number_format::{Code, Coded, NumberFormat, Point};
use crate::round::{Fixed, exp2};
use crate::stored::Storable;

const ENTRY: FormatEntry = FormatEntry {
    name: "integer",
    class_suffix: "Integer",
    about: "two's-complement fixed point: multiples of 2^-frac_width",
    doc: "\
value = clamp(rne(x * 2^f), -2^(w-1), 2^(w-1) - 1) / 2^f   with w = width, f = frac_width
unsigned: clamp(rne(x * 2^f), 0, 2^w - 1) / 2^f

Multiples of 2^-f, rounded to nearest with ties to even; rounding = nearest_up rounds ties up, floor(x * 2^f + 1/2), and
rounding = floor always down. Beyond its ends a value saturates; with overflow = wrap it loses its upper bits instead, as a
register of w bits does, and its gradient is 0 as where it saturates. f may be negative or above w.
width and frac_width may be stored, along axis or element by element; an element of width 0 is 0.

integer(8, 4), steps of 0.0625 from -8 to 7.9375:
  1.97     1.97 * 16 = 31.52  -> 32 = 0010_0000   2.0
  0.03125  0.03125 * 16 = 0.5 ->  0 = 0000_0000   0.0     (a tie, to even)
  8        8 * 16 = 128       -> 127 = 0111_1111  7.9375  (saturates)
integer(8, 4, rounding = nearest_up, overflow = wrap):
  0.03125  0.03125 * 16 = 0.5 ->  1 = 0000_0001   0.0625  (a tie, up)
  8        8 * 16 = 128       -> -128 = 1000_0000 -8.0    (wraps)",
    aliases: &["fixed"],
    fields: &[
            WIDTH,
            FieldEntry::optional("frac_width", "width // 2", "bits behind the point").shown(),
            FieldEntry::optional("signed", "true", "two's complement, or from 0 up"),
            FieldEntry::optional("rounding", "nearest_even", "nearest_even, nearest_up or floor"),
            FieldEntry::optional("floor", "false", "true is the same as rounding = floor"),
            AXIS,
            FieldEntry::optional("overflow", "saturate", "saturate or wrap"),
        ],
};

/// The steps a float can hold: its smallest number, and the distance of its largest ones.
const FRAC_WIDTHS: RangeInclusive<i64> = -104..=149;

/// The widths that an element may have where they are stored.
const WIDTHS: RangeInclusive<i64> = 0..=64;

/// Bits of unsigned codes that may wrap: a small negative number becomes one of as many bits, and a float must hold it.
const MAX_UNSIGNED_WRAP: u32 = f32::MANTISSA_DIGITS;

/// Multiples of 2^-frac_width in `width` bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Integer {
    /// Bits of an element, 1 to 64; 0 where stored widths leave nothing of an element.
    pub width: u32,
    /// Bits behind the point; may be negative or exceed the width.
    pub frac_width: i32,
    /// True for codes in two's complement, false for codes from 0 up.
    pub signed: bool,
    /// The rounding of values between two codes.
    pub rounding: Rounding,
    /// The treatment of values beyond the last codes.
    pub overflow: Overflow,
}

/// The rounding of a value between two codes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rounding {
    /// To the nearest code, ties to the even one.
    #[default]
    NearestEven,
    /// To the nearest code, ties to the larger one: ⌊x + ½⌋.
    NearestUp,
    /// To the code below.
    Floor,
}

/// The treatment of a value beyond the last codes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Overflow {
    /// It becomes the last code.
    #[default]
    Saturate,
    /// It loses the bits above the width: the code that is the same modulo 2^width.
    Wrap,
}

/// The words for roundings.
const ROUNDINGS: [(&str, Rounding); 3] = [
    ("nearest_even", Rounding::NearestEven),
    ("nearest_up", Rounding::NearestUp),
    ("floor", Rounding::Floor),
];

/// The words for overflows.
const OVERFLOWS: [(&str, Overflow); 2] =
    [("saturate", Overflow::Saturate), ("wrap", Overflow::Wrap)];

impl Integer {
    /// Signed, rounding to nearest even, saturating.
    pub const fn new(width: u32, frac_width: i32) -> Self {
        Self {
            width,
            frac_width,
            signed: true,
            rounding: Rounding::NearestEven,
            overflow: Overflow::Saturate,
        }
    }

    /// The smallest and largest code; the f64 nearest to it beyond 53 bits.
    #[inline(always)]
    fn code_range(&self) -> (f64, f64) {
        if self.width == 0 {
            (0.0, 0.0)
        } else if self.signed {
            let half = exp2(self.width as i32 - 1);
            (-half, half - 1.0)
        } else {
            (0.0, exp2(self.width as i32) - 1.0)
        }
    }
}

impl NumberFormat for Integer {
    type Element = Coded<Fixed, TwosComplement>;

    const ENTRY: FormatEntry = ENTRY;

    fn read(fields: &Fields<'_>) -> Result<Self, FormatError> {
        fields.no_layout()?;
        let width = fields.required("width", 1..=64)?;
        let frac_width = fields.int("frac_width", FRAC_WIDTHS)?;
        let rounding = fields.choice("rounding", &ROUNDINGS.map(|(word, _)| word))?;
        let (_, rounding) = ROUNDINGS[rounding];
        let is_floor = fields.flag("floor", rounding == Rounding::Floor)?;
        let overflow = fields.choice("overflow", &OVERFLOWS.map(|(word, _)| word))?;
        let signed = fields.flag("signed", true)?;
        let overflow = OVERFLOWS[overflow].1;
        if overflow == Overflow::Wrap && !signed && width > MAX_UNSIGNED_WRAP {
            let rule = format!("needs signed codes, or at most {MAX_UNSIGNED_WRAP} bits");
            return Err(fields.bad_value("overflow", "wrap", rule));
        }
        Ok(Self {
            width,
            frac_width: frac_width.unwrap_or((width / 2) as i32),
            signed,
            rounding: match rounding {
                _ if is_floor => Rounding::Floor,
                Rounding::Floor => Rounding::NearestEven,
                nearest => nearest,
            },
            overflow,
        })
    }

    fn fields(&self) -> Vec<(&'static str, FieldValue)> {
        let rounding = match self.rounding {
            Rounding::NearestEven => "nearest_even",
            Rounding::NearestUp => "nearest_up",
            Rounding::Floor => "floor",
        };
        let overflow = match self.overflow {
            Overflow::Saturate => "saturate",
            Overflow::Wrap => "wrap",
        };
        vec![
            ("width", self.width.into()),
            ("frac_width", self.frac_width.into()),
            ("signed", self.signed.into()),
            ("rounding", rounding.into()),
            ("axis", FieldValue::not_given()),
            ("overflow", overflow.into()),
        ]
    }

    fn precision(&self) -> Vec<FieldValue> {
        vec![self.width.into(), self.frac_width.into()]
    }

    fn range(&self) -> (f64, f64) {
        let ((lo, hi), step) = (self.code_range(), exp2(-self.frac_width));
        (lo * step, hi * step)
    }

    fn point(&self) -> Point {
        Point::Field("frac_width")
    }

    fn width(&self) -> u32 {
        self.width
    }

    #[inline(always)]
    fn element(&self, _: Scale) -> Coded<Fixed, TwosComplement> {
        let (lo, hi) = self.code_range();
        Coded {
            rule: Fixed::new(self.frac_width, lo, hi).with(self.rounding, self.overflow),
            code: TwosComplement {
                width: self.width,
                signed: self.signed,
            },
        }
    }
}

impl Storable for Integer {
    const STORABLE: &'static [(&'static str, FieldValue)] = &[
        ("width", FieldValue::Int(8)),
        ("frac_width", FieldValue::Int(0)),
    ];

    fn stored_bits(_: &str) -> u32 {
        0
    }

    fn with_value(mut self, field: &str, value: f32) -> Result<Self, String> {
        let range = if field == "width" {
            WIDTHS
        } else {
            FRAC_WIDTHS
        };
        if value.fract() != 0.0 || !range.contains(&(value as i64)) {
            let (first, last) = (range.start(), range.end());
            return Err(format!("is no whole number from {first} to {last}"));
        }
        let wraps_unsigned = self.overflow == Overflow::Wrap && !self.signed;
        if field == "width" && wraps_unsigned && value as u32 > MAX_UNSIGNED_WRAP {
            let rule =
                format!("is more than the {MAX_UNSIGNED_WRAP} bits of unsigned codes that wrap");
            return Err(rule);
        }
        if field == "width" {
            self.width = value as u32;
        } else {
            self.frac_width = value as i32;
        }
        Ok(self)
    }
}

/// A fixed-point grid with two's-complement codes, or plain binary ones.
#[derive(Clone, Copy)]
pub(crate) struct TwosComplement {
    pub width: u32,
    pub signed: bool,
}

impl Code<Fixed> for TwosComplement {
    fn encode(&self, grid: &Fixed, y: f32) -> u64 {
        if self.width == 0 {
            return 0;
        }
        // The largest code may have been rounded up to a float beyond it.
        let largest = (1i128 << (self.width - u32::from(self.signed))) - 1;
        grid.code(y).min(largest) as u64 & mask(self.width)
    }

    fn decode(&self, grid: &Fixed, code: u64) -> f32 {
        let negative = self.signed && self.width > 0 && code >> (self.width - 1) == 1;
        let wrap = if negative { 1i128 << self.width } else { 0 };
        grid.value(i128::from(code) - wrap)
    }
}
