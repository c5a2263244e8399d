//! Small floats with a shared power of two for each block.

use crate::block::BlockSize;
use crate::catalog::{
    EXPONENT_BIAS_WIDTH, EXPONENT_WIDTH, FormatEntry, SKIP_FIRST_DIM, WIDTH, block_size,
};
use crate::error::FormatError;
use crate::field::{FieldValue, Fields};
use crate::formats::minifloat_ieee::{ImplicitOne, MinifloatIeee, read_widths};
use crate::number_format::Coded;
use crate::round::{Float, exp2, floor_log2};
use crate::shared_exponent::{SharedExponent, clamp_exponent, max_exponent};

const ENTRY: FormatEntry = FormatEntry {
    name: "block_minifloat",
    class_suffix: "BlockMinifloat",
    about: "small floats with a shared power of two for each block",
    doc: "\
s = clamp(floor(log2 max|x|) - emax, -2^(B-1), 2^(B-1) - 1)   for each block, B = exponent_bias_width
value = minifloat_ieee(width, exponent_width) of x / 2^s, times 2^s   with emax = 2^(exponent_width-1), its largest exponent

The largest element of a block uses the largest exponent. Differs from MASE, which flushes small weights to zero.

block_minifloat(8, 4, 8, 2) of [0.3, 0.001]: floor(log2 0.3) = -2, emax = 8, s = -10
  0.3    * 2^10 = 307.2 -> 320 = 2^8 * 1.010   code 0_1111_010   0.3125
  0.001  * 2^10 = 1.024 -> 1.0 = 2^0 * 1.000   code 0_0111_000   0.0009765625",
    aliases: &[],
    fields: &[
            WIDTH,
            EXPONENT_WIDTH,
            EXPONENT_BIAS_WIDTH,
            block_size("16"),
            SKIP_FIRST_DIM,
        ],
};

/// Elements of [`MinifloatIeee`] under a shared exponent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockMinifloat {
    /// Bits of an element, 2 to 32.
    pub width: u32,
    /// Bits of an element's exponent, 1 to 8.
    pub exponent_width: u32,
    /// Bits of the shared exponent, 1 to 8.
    pub exponent_bias_width: u32,
    /// The elements that share an exponent.
    pub block_size: BlockSize,
}

impl BlockMinifloat {
    #[inline(always)]
    fn minifloat(&self) -> MinifloatIeee {
        MinifloatIeee::new(self.width, self.exponent_width)
    }
}

impl SharedExponent for BlockMinifloat {
    type Element = Coded<Float, ImplicitOne>;

    const ENTRY: FormatEntry = ENTRY;

    fn read(fields: &Fields<'_>) -> Result<Self, FormatError> {
        let (width, exponent_width) = read_widths(fields, 0)?;
        Ok(Self {
            width,
            exponent_width,
            exponent_bias_width: fields.required("exponent_bias_width", 1..=8)?,
            block_size: fields.blocks(16)?,
        })
    }

    fn element_fields(&self) -> Vec<(&'static str, FieldValue)> {
        vec![
            ("width", self.width.into()),
            ("exponent_width", self.exponent_width.into()),
            ("exponent_bias_width", self.exponent_bias_width.into()),
        ]
    }

    fn block_size(&self) -> &BlockSize {
        &self.block_size
    }

    fn max(&self) -> f64 {
        self.minifloat().max() * exp2(max_exponent(self.exponent_bias_width))
    }

    fn width(&self) -> u32 {
        self.width
    }

    fn exponent_bits(&self) -> u32 {
        self.exponent_bias_width
    }

    #[inline(always)]
    fn exponent_for(&self, abs_max: f32) -> i32 {
        let exponent = floor_log2(f64::from(abs_max)) - self.minifloat().emax();
        clamp_exponent(exponent, self.exponent_bias_width)
    }

    #[inline(always)]
    fn element(&self, exponent: i32) -> Coded<Float, ImplicitOne> {
        let minifloat = self.minifloat();
        minifloat.shifted(exponent, minifloat.max())
    }
}
