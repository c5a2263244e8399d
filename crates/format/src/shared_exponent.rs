//! Formats whose blocks share a power of two: the part that they have in common.

use crate::block::{BlockSize, Sharing};
use crate::catalog::FormatEntry;
use crate::codes::Scale;
use crate::error::FormatError;
use crate::field::{FieldValue, Fields};
use crate::number_format::{Element, NumberFormat, Point};

/// A format of blocks with a shared exponent. Values are symmetric about 0.
pub(crate) trait SharedExponent: Sized {
    /// The rule and the codes of the elements of one block.
    type Element: Element;

    /// Names and texts.
    const ENTRY: FormatEntry;

    /// The format with the given fields.
    fn read(fields: &Fields<'_>) -> Result<Self, FormatError>;
    /// The fields in front of those of the blocks, in positional order.
    fn element_fields(&self) -> Vec<(&'static str, FieldValue)>;
    /// The blocks.
    fn block_size(&self) -> &BlockSize;
    /// The largest value, with the largest exponent.
    fn max(&self) -> f64;
    /// Bits of an element.
    fn width(&self) -> u32;
    /// Bits of a shared exponent.
    fn exponent_bits(&self) -> u32;
    /// The exponent that fits elements up to this magnitude.
    fn exponent_for(&self, abs_max: f32) -> i32;
    /// The rule for elements with this exponent.
    fn element(&self, exponent: i32) -> Self::Element;

    /// Bits of a code, which may have a flag beside the width.
    fn code_width(&self) -> u32 {
        self.width()
    }
    /// The codes that mean something, for a format of up to 8 bits.
    fn codes(&self) -> Vec<u64> {
        (0..1 << self.code_width()).collect()
    }
}

impl<F: SharedExponent> NumberFormat for F {
    type Element = F::Element;

    const ENTRY: FormatEntry = F::ENTRY;

    fn read(fields: &Fields<'_>) -> Result<Self, FormatError> {
        F::read(fields)
    }

    fn fields(&self) -> Vec<(&'static str, FieldValue)> {
        let BlockSize {
            reach,
            skip_first_dim,
        } = self.block_size();
        let mut fields = self.element_fields();
        fields.push(("block_size", reach.into()));
        fields.push(("skip_first_dim", (*skip_first_dim).into()));
        fields
    }

    /// All but `skip_first_dim`.
    fn precision(&self) -> Vec<FieldValue> {
        let own = self.element_fields().into_iter().map(|(_, value)| value);
        own.chain([(&self.block_size().reach).into()]).collect()
    }

    fn range(&self) -> (f64, f64) {
        (-self.max(), self.max())
    }

    fn point(&self) -> Point {
        Point::FollowsData
    }

    fn width(&self) -> u32 {
        F::width(self)
    }

    fn code_width(&self) -> u32 {
        F::code_width(self)
    }

    #[inline(always)]
    fn sharing(&self) -> Sharing<'_> {
        Sharing::Blocks(self.block_size())
    }

    fn scale_bits(&self) -> u32 {
        self.exponent_bits()
    }

    fn unit_scale(&self) -> Scale {
        Scale::Exponent(0)
    }

    fn codes(&self) -> Vec<u64> {
        F::codes(self)
    }

    #[inline(always)]
    fn scale_for(&self, abs_max: f32) -> Scale {
        Scale::Exponent(self.exponent_for(abs_max))
    }

    #[inline(always)]
    fn element(&self, scale: Scale) -> F::Element {
        F::element(self, scale.exponent())
    }
}

/// The exponent nearest to a wanted one that two's complement of so many bits holds.
#[inline(always)]
pub(crate) fn clamp_exponent(exponent: i32, bits: u32) -> i32 {
    let half = 1 << (bits - 1);
    exponent.clamp(-half, half - 1)
}

/// The largest exponent that two's complement of so many bits holds.
pub(crate) fn max_exponent(bits: u32) -> i32 {
    (1 << (bits - 1)) - 1
}
