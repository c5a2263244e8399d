//! Block floating point: sign and magnitude for each element, one exponent for a block.

use crate::block::BlockSize;
use crate::catalog::{
    EXPONENT_BIAS, EXPONENT_WIDTH, FormatEntry, SKIP_FIRST_DIM, WIDTH, block_size,
};
use crate::codes::with_sign;
use crate::error::FormatError;
use crate::field::{FieldValue, Fields};
use crate::number_format::{Code, Coded};
use crate::round::{Fixed, exp2, floor_log2};
use crate::shared_exponent::SharedExponent;

const ENTRY: FormatEntry = FormatEntry {
    name: "block_fp",
    class_suffix: "BlockFP",
    about: "integers with a shared power of two for each block",
    doc: "\
e = clamp(floor(log2 max|x|) + 1, -b, 2^E - 1 - b)   for each block, E = exponent_width, b = exponent_bias
value = sign * min(rne(|x| / 2^e * 2^m), 2^m - 1) * 2^(e-m)   with m = width - 1

The code is the sign and the magnitude in m bits. An all-zero block stays zero.

block_fp(8, 8, block_size = 3) of [1.5, -0.3, 0.001]: max = 1.5, e = 1, m = 7, steps of 2^-6
   1.5    96        code 0_1100000   1.5
  -0.3    19.2 -> 19  code 1_0010011  -0.296875
   0.001  0.064 -> 0  code 0_0000000   0.0",
    aliases: &[],
    fields: &[
            WIDTH,
            EXPONENT_WIDTH,
            EXPONENT_BIAS,
            block_size("16"),
            SKIP_FIRST_DIM,
        ],
};

/// Magnitudes of `width` − 1 bits under a shared exponent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockFp {
    /// Bits of an element, 2 to 32.
    pub width: u32,
    /// Bits of the shared exponent, 1 to 8.
    pub exponent_width: u32,
    /// The bias, which is subtracted from the stored exponent.
    pub exponent_bias: i32,
    /// The elements that share an exponent.
    pub block_size: BlockSize,
}

impl BlockFp {
    #[inline(always)]
    fn emax(&self) -> i32 {
        (1 << self.exponent_width) - 1 - self.exponent_bias
    }
}

impl SharedExponent for BlockFp {
    type Element = Coded<Fixed, SignMagnitude>;

    const ENTRY: FormatEntry = ENTRY;

    fn read(fields: &Fields<'_>) -> Result<Self, FormatError> {
        let exponent_width = fields.required("exponent_width", 1..=8)?;
        let default = (1 << (exponent_width - 1)) - 1;
        Ok(Self {
            width: fields.required("width", 2..=32)?,
            exponent_width,
            exponent_bias: fields.exponent_bias(1 << exponent_width, default)?,
            block_size: fields.blocks(16)?,
        })
    }

    fn element_fields(&self) -> Vec<(&'static str, FieldValue)> {
        vec![
            ("width", self.width.into()),
            ("exponent_width", self.exponent_width.into()),
            ("exponent_bias", self.exponent_bias.into()),
        ]
    }

    fn block_size(&self) -> &BlockSize {
        &self.block_size
    }

    fn max(&self) -> f64 {
        (1.0 - exp2(1 - self.width as i32)) * exp2(self.emax())
    }

    fn width(&self) -> u32 {
        self.width
    }

    fn exponent_bits(&self) -> u32 {
        self.exponent_width
    }

    #[inline(always)]
    fn exponent_for(&self, abs_max: f32) -> i32 {
        let exponent = floor_log2(f64::from(abs_max)) + 1;
        // No float needs less than 2^-148, whatever the bias allows.
        let min = (-self.exponent_bias).max(-148);
        exponent.max(min).min(self.emax())
    }

    #[inline(always)]
    fn element(&self, exponent: i32) -> Coded<Fixed, SignMagnitude> {
        let bits = self.width as i32 - 1;
        let largest = exp2(bits) - 1.0;
        Coded {
            rule: Fixed::new(bits - exponent, -largest, largest),
            code: SignMagnitude { width: self.width },
        }
    }
}

/// A fixed-point grid with codes of sign and magnitude.
#[derive(Clone, Copy)]
pub(crate) struct SignMagnitude {
    width: u32,
}

impl Code<Fixed> for SignMagnitude {
    fn encode(&self, grid: &Fixed, y: f32) -> u64 {
        let sign = 1 << (self.width - 1);
        // The largest magnitude may have been rounded up to a float beyond it.
        let magnitude = (grid.code(y.abs()) as u64).min(sign - 1);
        if y < 0.0 { sign | magnitude } else { magnitude }
    }

    fn decode(&self, grid: &Fixed, code: u64) -> f32 {
        let sign = 1 << (self.width - 1);
        let magnitude = grid.value(i128::from(code & (sign - 1)));
        with_sign(magnitude, code, sign)
    }
}
