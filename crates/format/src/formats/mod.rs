//! The number formats, one file each, and their table.
//!
//! A new format is one file, its `mod` line and its line in the table.

use crate::catalog::{FormatEntry, formats};
use crate::error::FormatError;
use crate::field::Fields;
use crate::number_format::{ArrayFormat, NumberFormat};
use crate::stored::{Stored, StoredFields, is_stored};

mod affine;
mod binary;
mod bipolar;
mod block_fp;
mod block_log;
mod block_minifloat;
pub(crate) mod integer;
pub(crate) mod log;
mod minifloat_denorm;
pub(crate) mod minifloat_ieee;
mod mxfp;
mod mxint;
mod scale_integer;
mod small_float;
mod ternary;

pub use affine::Affine;
pub use binary::Binary;
pub use bipolar::Bipolar;
pub use block_fp::BlockFp;
pub use block_log::BlockLog;
pub use block_minifloat::BlockMinifloat;
pub use integer::{Integer, Overflow, Rounding};
pub use log::Log;
pub use minifloat_denorm::MinifloatDenorm;
pub use minifloat_ieee::MinifloatIeee;
pub use mxfp::Mxfp;
pub use mxint::Mxint;
pub use scale_integer::{Granularity, ScaleInteger};
pub use small_float::{Float4, Float8, Float8Kind};
pub use ternary::Ternary;

formats! {
    // whole numbers
    /// Two's-complement fixed point.
    Integer(integer),
    /// Symmetric integers with a real scale.
    ScaleInteger(scale_integer),
    /// Integers with a real scale and a zero point.
    Affine(affine),
    /// One bit.
    Binary(binary),
    /// Plus or minus a scale.
    Bipolar(bipolar),
    /// −1, 0 and 1.
    Ternary(ternary),
    // an exponent for each element
    /// Signed powers of two.
    Log(log),
    /// Floats with an implicit leading one.
    MinifloatIeee(minifloat_ieee),
    /// Floats without an implicit leading one.
    MinifloatDenorm(minifloat_denorm),
    /// The 8-bit floats of the standards.
    Float8(small_float),
    /// The 4-bit floats of the standard.
    Float4(small_float),
    // an exponent for each block
    /// Integers with a shared exponent.
    BlockFp(block_fp),
    /// Floats with a shared exponent.
    BlockMinifloat(block_minifloat),
    /// Powers of two with a shared exponent.
    BlockLog(block_log),
    /// OCP microscaling integers.
    Mxint(mxint),
    /// OCP microscaling floats.
    Mxfp(mxfp),
    ;
    /// Fixed point with stored widths.
    StoredInteger(integer::Integer),
    /// Integers with stored scales.
    StoredAffine(affine::Affine),
    /// One bit with stored scales.
    StoredBipolar(bipolar::Bipolar),
}
