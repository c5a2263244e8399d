//! Integers with a real scale and a zero point, as ONNX and QONNX define them.

use crate::catalog::{AXIS, FieldEntry, FormatEntry, WIDTH};
use crate::codes::{Scale, mask};
use crate::error::FormatError;
use crate::field::{FieldValue, Fields};
use crate::number_format::{Element, NumberFormat, Point};
use crate::round::{AffineGrid, Direction, exp2};
use crate::stored::Storable;

const ENTRY: FormatEntry = FormatEntry {
    name: "affine",
    class_suffix: "Affine",
    about: "integers with a real scale and a zero point: QDQ and QONNX",
    doc: "\
code  = clip(round(x / scale) + zero_point)       offset = after, as ONNX Runtime computes it
code  = round(clip(x / scale + zero_point))       offset = before, as QONNX computes it
value = (code - zero_point) * scale               every step in f32, in this order

Codes are -2^(w-1) to 2^(w-1) - 1, or 0 to 2^w - 1 with signed = false; narrow leaves out the smallest, without a sign the
largest. rounding is half_even, half_up (ties away from zero), half_down (towards it), up (away from zero), down, floor or
ceil. scale and zero_point may be stored: along axis, in blocks of `block` along it, or element by element.

affine(8, 0.1, 3):
  0.26    0.26 / 0.1 = 2.6   -> 3 + 3 = 6      code 0000_0110  0.3
  -0.25  -0.25 / 0.1 = -2.5  -> -2 + 3 = 1     code 0000_0001  -0.2   (a tie, to even)
  20      20 / 0.1 = 200     -> 203, so 127    code 0111_1111  12.400001   (saturates; in f32)",
    aliases: &[],
    fields: &[
        WIDTH,
        FieldEntry::required("scale", "the step between two codes, or stored"),
        FieldEntry::optional("zero_point", "0", "the code of zero, or stored"),
        FieldEntry::optional("signed", "true", "codes about 0, or from 0 up"),
        FieldEntry::optional("narrow", "false", "without the smallest code, or the largest of codes from 0 up"),
        FieldEntry::optional(
            "rounding",
            "half_even",
            "half_even, half_up, half_down, up, down, floor or ceil",
        ),
        AXIS,
        FieldEntry::optional("block", "0", "elements along the axis that share a stored value; 0 for one value each"),
        FieldEntry::optional("offset", "after", "before or after: when the zero point is added"),
    ],
};

const DIRECTIONS: [(&str, Direction); 7] = [
    ("half_even", Direction::HalfEven),
    ("half_up", Direction::HalfUp),
    ("half_down", Direction::HalfDown),
    ("up", Direction::Up),
    ("down", Direction::Down),
    ("floor", Direction::Floor),
    ("ceil", Direction::Ceil),
];

/// Codes of `width` bits, `scale` apart, with a zero point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Affine {
    /// Bits of a code, 1 to 32.
    pub width: u32,
    /// The step between two codes.
    pub scale: f32,
    /// The code of zero.
    pub zero_point: f32,
    /// True for codes about 0, false for codes from 0 up.
    pub signed: bool,
    /// Leaves out the smallest code, or the largest of codes from 0 up.
    pub narrow: bool,
    direction: Direction,
    /// Adds the zero point before rounding.
    before: bool,
}

impl Affine {
    /// Codes with the zero point 0, rounded to nearest.
    pub const fn new(width: u32, scale: f32, signed: bool) -> Self {
        Self {
            width,
            scale,
            zero_point: 0.0,
            signed,
            narrow: false,
            direction: Direction::HalfEven,
            before: false,
        }
    }

    /// The same format with another step.
    #[must_use]
    pub const fn with_scale(self, scale: f32) -> Self {
        Self { scale, ..self }
    }

    /// The smallest and the largest code.
    #[inline(always)]
    pub fn code_range(&self) -> (f64, f64) {
        let narrow = if self.narrow { 1.0 } else { 0.0 };
        if self.signed {
            let half = exp2(self.width as i32 - 1);
            (-half + narrow, half - 1.0)
        } else {
            (0.0, exp2(self.width as i32) - 1.0 - narrow)
        }
    }

    /// True when rounding is to nearest with ties to even, and the zero point is added after it.
    pub fn rounds_to_nearest(&self) -> bool {
        self.rounds_half_even() && !self.before
    }

    /// True when rounding is to nearest with ties to even, wherever the zero point is added.
    pub fn rounds_half_even(&self) -> bool {
        self.direction == Direction::HalfEven
    }

    fn check_zero_point(&self, value: f64) -> Result<f32, String> {
        let (lo, hi) = self.code_range();
        let zero = value as f32;
        if f64::from(zero) != value {
            return Err("is no 32-bit float".to_owned());
        }
        if !self.before && value.fract() != 0.0 {
            return Err("is not a whole number".to_owned());
        }
        if !(lo..=hi).contains(&value) {
            return Err(format!("is outside {lo} to {hi}"));
        }
        Ok(zero)
    }
}

/// A scale that a float can hold and be divided by.
pub(super) fn check_scale(value: f64) -> Result<f32, String> {
    let scale = value as f32;
    if scale.is_finite() && scale >= f32::MIN_POSITIVE {
        Ok(scale)
    } else {
        Err("is not a positive, normal 32-bit float".to_owned())
    }
}

/// The shortest number that reads back as this float.
pub(super) fn shortest(value: f32) -> FieldValue {
    let text = format!("{value:?}");
    FieldValue::Float(text.parse().unwrap_or(f64::from(value)))
}

impl NumberFormat for Affine {
    type Element = AffineCodes;

    const ENTRY: FormatEntry = ENTRY;

    fn read(fields: &Fields<'_>) -> Result<Self, FormatError> {
        fields.no_layout()?;
        let width: u32 = fields.required("width", 1..=32)?;
        let scale = fields.required_number("scale")?;
        let words = DIRECTIONS.map(|(word, _)| word);
        let mut format = Self {
            width,
            scale: check_scale(scale).map_err(|rule| fields.bad_value("scale", scale, rule))?,
            zero_point: 0.0,
            signed: fields.flag("signed", true)?,
            narrow: fields.flag("narrow", false)?,
            direction: DIRECTIONS[fields.choice("rounding", &words)?].1,
            before: fields.choice("offset", &["after", "before"])? == 1,
        };
        if format.narrow && width == 1 {
            return Err(fields.bad_value("narrow", true, "leaves one code of width 1"));
        }
        if let Some(zero) = fields.number("zero_point")? {
            format.zero_point = format
                .check_zero_point(zero)
                .map_err(|rule| fields.bad_value("zero_point", zero, rule))?;
        }
        Ok(format)
    }

    fn fields(&self) -> Vec<(&'static str, FieldValue)> {
        let rounding = DIRECTIONS.iter().find(|(_, d)| *d == self.direction);
        let zero = if self.zero_point.fract() == 0.0 {
            FieldValue::Int(self.zero_point as i64)
        } else {
            shortest(self.zero_point)
        };
        vec![
            ("width", self.width.into()),
            ("scale", shortest(self.scale)),
            ("zero_point", zero),
            ("signed", self.signed.into()),
            ("narrow", self.narrow.into()),
            ("rounding", rounding.map_or("", |(word, _)| word).into()),
            ("axis", FieldValue::not_given()),
            ("block", FieldValue::Int(0)),
            (
                "offset",
                if self.before { "before" } else { "after" }.into(),
            ),
        ]
    }

    fn precision(&self) -> Vec<FieldValue> {
        let fields = NumberFormat::fields(self);
        fields.into_iter().take(3).map(|(_, value)| value).collect()
    }

    fn range(&self) -> (f64, f64) {
        let grid = self.element(Scale::One).grid;
        (grid.value(grid.lo).into(), grid.value(grid.hi).into())
    }

    fn point(&self) -> Point {
        Point::Factor("scale")
    }

    fn width(&self) -> u32 {
        self.width
    }

    fn codes(&self) -> Vec<u64> {
        let (lo, hi) = self.code_range();
        let codes = (lo as i64)..=(hi as i64);
        codes.map(|code| code as u64 & mask(self.width)).collect()
    }

    #[inline(always)]
    fn element(&self, _: Scale) -> AffineCodes {
        let (lo, hi) = self.code_range();
        AffineCodes {
            grid: AffineGrid {
                scale: self.scale,
                zero: self.zero_point,
                lo: lo as f32,
                hi: hi as f32,
                direction: self.direction,
                before: self.before,
            },
            width: self.width,
            signed: self.signed,
        }
    }
}

impl Storable for Affine {
    const STORABLE: &'static [(&'static str, FieldValue)] = &[
        ("scale", FieldValue::Float(1.0)),
        ("zero_point", FieldValue::Int(0)),
    ];

    fn stored_bits(field: &str) -> u32 {
        if field == "scale" { 32 } else { 0 }
    }

    fn with_value(mut self, field: &str, value: f32) -> Result<Self, String> {
        if field == "scale" {
            self.scale = check_scale(value.into())?;
        } else {
            self.zero_point = self.check_zero_point(value.into())?;
        }
        Ok(self)
    }
}

/// A grid with codes of so many bits.
#[derive(Clone, Copy)]
pub(crate) struct AffineCodes {
    pub grid: AffineGrid,
    width: u32,
    signed: bool,
}

impl Element for AffineCodes {
    type Rule = AffineGrid;

    #[inline(always)]
    fn rule(&self) -> AffineGrid {
        self.grid
    }

    fn encode(&self, y: f32) -> u64 {
        // In 32 bits the largest code is a float beyond it.
        let largest = (1i64 << (self.width - u32::from(self.signed))) - 1;
        (self.grid.code(y) as i64).min(largest) as u64 & mask(self.width)
    }

    fn decode(&self, code: u64) -> f32 {
        let negative = self.signed && code >> (self.width - 1) == 1;
        let wrap = if negative { 1i64 << self.width } else { 0 };
        self.grid.value((code as i64 - wrap) as f32)
    }
}
