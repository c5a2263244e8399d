//! Signed powers of two with a shared power of two for each block.

use crate::block::BlockSize;
use crate::catalog::{EXPONENT_BIAS_WIDTH, FormatEntry, SKIP_FIRST_DIM, WIDTH, block_size};
use crate::error::FormatError;
use crate::field::{FieldValue, Fields};
use crate::formats::log::{Log, SignedPower};
use crate::number_format::Coded;
use crate::round::{Power, exp2, rounded_log2};
use crate::shared_exponent::{SharedExponent, clamp_exponent, max_exponent};

const ENTRY: FormatEntry = FormatEntry {
    name: "block_log",
    class_suffix: "BlockLog",
    about: "signed powers of two with a shared power of two for each block",
    doc: "\
s = clamp(rne(log2 max|x|) - emax, -2^(B-1), 2^(B-1) - 1)   for each block, B = exponent_bias_width
value = log(width) of x / 2^s, times 2^s   with emax = 2^(width-2), its largest exponent

The code is that of log, with its flag for zero.

block_log(8, 8, 2) of [0.3, -0.001]: rne(log2 0.3) = -2, emax = 64, s = -66
   0.3    2^-2 = 2^64 * 2^s    code 0_1111111   0.25
  -0.001  2^-10 = 2^56 * 2^s   code 1_1110111  -0.0009765625",
    aliases: &[],
    fields: &[WIDTH, EXPONENT_BIAS_WIDTH, block_size("16"), SKIP_FIRST_DIM],
};

/// Elements of [`Log`] under a shared exponent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockLog {
    /// Bits of an element, 2 to 16.
    pub width: u32,
    /// Bits of the shared exponent, 1 to 8.
    pub exponent_bias_width: u32,
    /// The elements that share an exponent.
    pub block_size: BlockSize,
}

impl BlockLog {
    #[inline(always)]
    fn log(&self) -> Log {
        Log {
            width: self.width,
            exponent_bias: Log::default_bias(self.width),
        }
    }
}

impl SharedExponent for BlockLog {
    type Element = Coded<Power, SignedPower>;

    const ENTRY: FormatEntry = ENTRY;

    fn read(fields: &Fields<'_>) -> Result<Self, FormatError> {
        Ok(Self {
            width: fields.required("width", 2..=16)?,
            exponent_bias_width: fields.required("exponent_bias_width", 1..=8)?,
            block_size: fields.blocks(16)?,
        })
    }

    fn element_fields(&self) -> Vec<(&'static str, FieldValue)> {
        vec![
            ("width", self.width.into()),
            ("exponent_bias_width", self.exponent_bias_width.into()),
        ]
    }

    fn block_size(&self) -> &BlockSize {
        &self.block_size
    }

    fn max(&self) -> f64 {
        exp2((self.log().emax() + max_exponent(self.exponent_bias_width)).min(1023))
    }

    fn width(&self) -> u32 {
        self.width
    }

    fn code_width(&self) -> u32 {
        self.width + 1
    }

    fn exponent_bits(&self) -> u32 {
        self.exponent_bias_width
    }

    fn codes(&self) -> Vec<u64> {
        self.log().all_codes()
    }

    #[inline(always)]
    fn exponent_for(&self, abs_max: f32) -> i32 {
        let exponent = rounded_log2(abs_max) - self.log().emax();
        clamp_exponent(exponent, self.exponent_bias_width)
    }

    #[inline(always)]
    fn element(&self, exponent: i32) -> Coded<Power, SignedPower> {
        self.log().shifted(exponent)
    }
}
