//! OCP microscaling integers (MX specification v1.0).

use crate::block::BlockSize;
use crate::catalog::{FormatEntry, SKIP_FIRST_DIM, WIDTH, block_size};
use crate::error::FormatError;
use crate::field::{FieldValue, Fields};
use crate::formats::integer::TwosComplement;
use crate::number_format::Coded;
use crate::round::{Fixed, exp2, floor_log2};
use crate::shared_exponent::SharedExponent;

const ENTRY: FormatEntry = FormatEntry {
    name: "mxint",
    class_suffix: "MXInt",
    about: "OCP microscaling integers: two's complement with a shared power of two",
    doc: "\
s = clamp(floor(log2 max|x|), -127, 127)   for each block
value = clamp(rne(x / 2^s * 2^(w-2)), -(2^(w-1) - 1), 2^(w-1) - 1) / 2^(w-2) * 2^s   with w = width

Two's complement with two bits before the point, under a scale of 8 bits. An all-zero block stays zero.
A block is 32 consecutive elements of a row unless block_size says otherwise.

mxint(8, 2) of [1.5, -0.3]: floor(log2 1.5) = 0, s = 0, steps of 2^-6
   1.5   96           code 0110_0000   1.5
  -0.3  -19.2 -> -19  code 1110_1101  -0.296875",
    aliases: &[],
    fields: &[WIDTH, block_size("32"), SKIP_FIRST_DIM],
};

/// Two's-complement elements below 2 under a shared power of two.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mxint {
    /// Bits of an element, 2 to 32.
    pub width: u32,
    /// The elements that share a scale.
    pub block_size: BlockSize,
}

impl SharedExponent for Mxint {
    type Element = Coded<Fixed, TwosComplement>;

    const ENTRY: FormatEntry = ENTRY;

    fn read(fields: &Fields<'_>) -> Result<Self, FormatError> {
        Ok(Self {
            width: fields.required("width", 2..=32)?,
            block_size: fields.blocks(32)?,
        })
    }

    fn element_fields(&self) -> Vec<(&'static str, FieldValue)> {
        vec![("width", self.width.into())]
    }

    fn block_size(&self) -> &BlockSize {
        &self.block_size
    }

    fn max(&self) -> f64 {
        (2.0 - exp2(2 - self.width as i32)) * exp2(127)
    }

    fn width(&self) -> u32 {
        self.width
    }

    fn exponent_bits(&self) -> u32 {
        8
    }

    #[inline(always)]
    fn exponent_for(&self, abs_max: f32) -> i32 {
        let exponent = floor_log2(f64::from(abs_max));
        exponent.clamp(-127, 127)
    }

    #[inline(always)]
    fn element(&self, exponent: i32) -> Coded<Fixed, TwosComplement> {
        let width = self.width as i32;
        let largest = exp2(width - 1) - 1.0;
        Coded {
            rule: Fixed::new(width - 2 - exponent, -largest, largest),
            code: TwosComplement {
                width: self.width,
                signed: true,
            },
        }
    }
}
