//! OCP microscaling floats (MX specification v1.0).

use crate::block::BlockSize;
use crate::catalog::{EXPONENT_WIDTH, FieldEntry, FormatEntry, SKIP_FIRST_DIM, block_size};
use crate::error::FormatError;
use crate::field::{FieldValue, Fields};
use crate::formats::minifloat_ieee::{ImplicitOne, MinifloatIeee};
use crate::number_format::Coded;
use crate::round::{Float, exp2, floor_log2};
use crate::shared_exponent::SharedExponent;

const ENTRY: FormatEntry = FormatEntry {
    name: "mxfp",
    class_suffix: "MXFP",
    about: "OCP microscaling floats: E5M2, E4M3, E3M2, E2M3 or E2M1 with a shared power of two",
    doc: "\
s = clamp(floor(log2 max|x|) - emax, -127, 127)   for each block
value = x / 2^s rounded to the element type, times 2^s

Element types by (exponent_width, frac_width): (5, 2) up to 57344, (4, 3) up to 448, (3, 2) up to 28, (2, 3) up to 7.5,
(2, 1) up to 6. Nearest, ties to even, with carry and subnormal numbers, saturating. The infinities and NaN of the first
two are never made. Differs from MASE, which drops carries. A block is 32 consecutive elements of a row unless
block_size says otherwise.

mxfp(4, 3, 2) of [0.3, 0.001]: floor(log2 0.3) = -2, emax = 8, s = -10
  0.3    * 2^10 = 307.2 -> 320 = 2^8 * 1.010   code 0_1111_010   0.3125
  0.001  * 2^10 = 1.024 -> 1.0 = 2^0 * 1.000   code 0_0111_000   0.0009765625",
    aliases: &[],
    fields: &[
            EXPONENT_WIDTH,
            FieldEntry::required("frac_width", "bits of the fraction"),
            block_size("32"),
            SKIP_FIRST_DIM,
        ],
};

/// The element types: exponent bits and fraction bits.
const TYPES: [(u32, u32); 5] = [(5, 2), (4, 3), (3, 2), (2, 3), (2, 1)];

/// Elements of one of five small float types under a shared power of two.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mxfp {
    /// Bits of an element's exponent.
    pub exponent_width: u32,
    /// Bits of an element's fraction; with the exponent one of E5M2, E4M3, E3M2, E2M3, E2M1.
    pub frac_width: u32,
    /// The elements that share a scale.
    pub block_size: BlockSize,
}

impl Mxfp {
    #[inline(always)]
    fn minifloat(&self) -> MinifloatIeee {
        MinifloatIeee::new(
            1 + self.exponent_width + self.frac_width,
            self.exponent_width,
        )
    }

    /// The largest value of an element: E5M2 keeps an exponent for infinity and NaN, E4M3 one code for NaN.
    #[inline(always)]
    fn element_max(&self) -> f64 {
        match self.exponent_width {
            5 => 57344.0,
            4 => 448.0,
            _ => self.minifloat().max(),
        }
    }
}

impl SharedExponent for Mxfp {
    type Element = Coded<Float, ImplicitOne>;

    const ENTRY: FormatEntry = ENTRY;

    fn read(fields: &Fields<'_>) -> Result<Self, FormatError> {
        let exponent_width = fields.required("exponent_width", 2..=5)?;
        let frac_width = fields.required("frac_width", 1..=3)?;
        if !TYPES.contains(&(exponent_width, frac_width)) {
            let rule = format!(
                "with exponent_width {exponent_width} is none of E5M2, E4M3, E3M2, E2M3, E2M1"
            );
            return Err(fields.bad_value("frac_width", frac_width, rule));
        }
        Ok(Self {
            exponent_width,
            frac_width,
            block_size: fields.blocks(32)?,
        })
    }

    fn element_fields(&self) -> Vec<(&'static str, FieldValue)> {
        vec![
            ("exponent_width", self.exponent_width.into()),
            ("frac_width", self.frac_width.into()),
        ]
    }

    fn block_size(&self) -> &BlockSize {
        &self.block_size
    }

    fn max(&self) -> f64 {
        self.element_max() * exp2(127)
    }

    fn width(&self) -> u32 {
        1 + self.exponent_width + self.frac_width
    }

    fn exponent_bits(&self) -> u32 {
        8
    }

    #[inline(always)]
    fn exponent_for(&self, abs_max: f32) -> i32 {
        let exponent = floor_log2(f64::from(abs_max)) - floor_log2(self.element_max());
        exponent.clamp(-127, 127)
    }

    #[inline(always)]
    fn element(&self, exponent: i32) -> Coded<Float, ImplicitOne> {
        self.minifloat().shifted(exponent, self.element_max())
    }
}
