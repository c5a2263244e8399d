//! Number formats: value sets, rounding, saturation and codes.
//!
//! A [`Format`] says which values an array may hold. It rounds arrays to them ([`Format::quantize`]), says where a
//! straight-through gradient ends ([`Format::straight_through`]), and turns rounded arrays into codes and back
//! ([`Format::encode`], [`Format::decode`]). This is the one definition that training, exact integer execution, the
//! cost model and generated hardware share. Pure functions on slices; nothing here knows a graph or a thread.
//!
//! Rounding is to nearest with ties to even unless a format says otherwise, and saturates unless it wraps: infinities are
//! rounded as the largest floats. NaN stays NaN. Results are the f32 nearest to what exact arithmetic gives.
//!
//! [`Format::quantize`] and [`Format::straight_through`] are always inlined into their caller, down to the loops:
//! call them from a function compiled for the instruction set that the loops should use.
#![forbid(unsafe_code)]
#![expect(
    clippy::inline_always,
    reason = "the loops must take the instruction set of the function that calls them"
)]

mod block;
mod catalog;
mod codes;
mod error;
mod field;
mod fit;
mod fixed_point;
mod formats;
mod magnitude;
mod number_format;
mod round;
mod shared_exponent;
mod spec;
mod stored;
mod sweep;

pub use block::{BlockSize, Reach};
pub use catalog::{FieldEntry, FormatEntry};
pub use codes::{Codes, Scale};
pub use error::{FormatError, Problem};
pub use field::FieldValue;
pub use fixed_point::{FixedPoint, NotFixedPoint};
pub use formats::{
    Affine, Binary, Bipolar, BlockFp, BlockLog, BlockMinifloat, Float4, Float8, Float8Kind, Format,
    Granularity, Integer, Log, MinifloatDenorm, MinifloatIeee, Mxfp, Mxint, Overflow, Rounding,
    ScaleInteger, Ternary,
};
pub use number_format::Point;
pub use stored::{Stored, StoredArray};

use formats::with_format;
use number_format::{ArrayFormat, Element, NumberFormat};
use stored::StoredFields;

impl Format {
    /// The name in configs.
    pub fn name(&self) -> &'static str {
        self.entry().name
    }

    /// All fields with their values, in positional order.
    pub fn fields(&self) -> Vec<(&'static str, FieldValue)> {
        with_format!(self, format => ArrayFormat::fields(format))
    }

    /// The list that metadata shows as the precision.
    pub fn precision(&self) -> Vec<FieldValue> {
        with_format!(self, format => ArrayFormat::precision(format))
    }

    /// Bits per element of an array of this shape, the blocks' shared scales spread over their elements.
    pub fn bits(&self, shape: &[usize]) -> f64 {
        with_format!(self, format => ArrayFormat::bits(format, shape))
    }

    /// The smallest and the largest value, with the largest scale that a block can have.
    pub fn range(&self) -> (f64, f64) {
        with_format!(self, format => ArrayFormat::range(format))
    }

    /// Writes the nearest values of the format to `y`.
    ///
    /// # Panics
    /// If `x` or `y` does not have as many elements as the shape.
    #[inline(always)]
    pub fn quantize(&self, x: &[f32], shape: &[usize], y: &mut [f32]) {
        with_format!(self, format => ArrayFormat::quantize(format, x, shape, y));
    }

    /// Writes the values of the format nearest to doubles to `y`, where it is fixed point, which rounds them once. False,
    /// and nothing is done, for any other format.
    ///
    /// # Panics
    /// If `y` does not have as many elements as the shape.
    pub fn round_doubles(&self, x: impl Fn(usize) -> f64, shape: &[usize], y: &mut [f32]) -> bool {
        number_format::check_lengths(shape, y.len(), y.len());
        match self {
            Self::Integer(format) => {
                let grid = format.element(Scale::One).rule();
                for (at, y) in y.iter_mut().enumerate() {
                    *y = grid.round_double(x(at));
                }
            }
            Self::StoredInteger(stored) => stored::for_each_place(stored, shape, |at, format| {
                y[at] = stored::rule_of(format).round_double(x(at));
            }),
            _ => return false,
        }
        true
    }

    /// Zeroes the gradient where rounding `x` saturates, that is, would go beyond the largest or smallest code.
    ///
    /// # Panics
    /// If `x` or `grad` does not have as many elements as the shape.
    #[inline(always)]
    pub fn straight_through(&self, x: &[f32], shape: &[usize], grad: &mut [f32]) {
        with_format!(self, format => ArrayFormat::straight_through(format, x, shape, grad));
    }

    /// Zeroes the gradient where rounding `x` saturates, and returns the gradient of the logarithm of the step between two
    /// codes: rounding is passed straight through. Nothing is done to a format without one step for all.
    ///
    /// # Panics
    /// If `x` and `grad` are not of the same length.
    #[inline(always)]
    pub fn scale_gradient(&self, x: &[f32], grad: &mut [f32]) -> Option<f32> {
        number_format::check_lengths(&[x.len()], x.len(), grad.len());
        match self {
            Self::Integer(format) => {
                let rule = format.element(Scale::One).rule();
                Some(round::scale_gradient(&rule, x, grad))
            }
            Self::Affine(format) => {
                let rule = format.element(Scale::One).rule();
                Some(round::scale_gradient(&rule, x, grad))
            }
            _ => None,
        }
    }

    /// The codes of the rounded array. NaN has no code and becomes 0.
    ///
    /// # Panics
    /// If `x` does not have as many elements as the shape.
    pub fn encode(&self, x: &[f32], shape: &[usize]) -> Codes {
        with_format!(self, format => ArrayFormat::encode(format, x, shape))
    }

    /// The values of codes that this format made for an array of this shape.
    ///
    /// # Panics
    /// If there are not as many codes as the shape has elements.
    pub fn decode(&self, codes: &Codes, shape: &[usize]) -> Vec<f32> {
        with_format!(self, format => ArrayFormat::decode(format, codes, shape))
    }

    /// The code of one element.
    ///
    /// # Panics
    /// If there is no such element.
    pub fn code_bits(&self, codes: &Codes, index: usize) -> u64 {
        codes.get(index)
    }

    /// All codes with their values, under a scale of 1, of a format with up to 8 bits per element.
    pub fn values(&self) -> Option<Vec<(u64, f32)>> {
        with_format!(self, format => ArrayFormat::values(format))
    }

    /// True when elements share a power of two block by block.
    pub fn is_blocked(&self) -> bool {
        with_format!(self, format => format.is_blocked())
    }

    /// True when every element is rounded by itself, so that an array can be rounded in any pieces.
    pub fn rounds_alone(&self) -> bool {
        with_format!(self, format => format.rounds_alone())
    }

    /// The number of elements along each axis of an array that share a scale; 1 where they stand alone.
    pub fn block_extents(&self, shape: &[usize]) -> Vec<usize> {
        let extent = |axis| with_format!(self, format => format.block_extent(shape, axis));
        (0..shape.len()).map(extent).collect()
    }

    /// The largest magnitude that elements of a block may have without another scale than that of `abs_max`, for formats
    /// whose scales follow the largest magnitude.
    pub fn scale_ceiling(&self, abs_max: f32) -> f32 {
        with_format!(self, format => ArrayFormat::scale_ceiling(format, abs_max))
    }

    /// The point of the format.
    pub fn point(&self) -> Point {
        with_format!(self, format => ArrayFormat::point(format))
    }

    /// The format with another value for one of its fields; none when it has no such field, or does not take the value.
    #[must_use]
    pub fn with_field(&self, field: &str, value: FieldValue) -> Option<Self> {
        let own = self.fields().into_iter();
        let mut fields: Vec<(String, FieldValue)> =
            own.map(|(name, value)| (name.to_owned(), value)).collect();
        let (_, changed) = fields.iter_mut().find(|(name, _)| name == field)?;
        *changed = value;
        let bare = Self::from_fields(self.name(), &fields).ok()?;
        let arrays = self.stored_fields().into_iter();
        let given = arrays.filter_map(|(name, array)| Some((name, array?.clone())));
        // A field that is stored no longer has no use for its array.
        let kept = given.filter(|(name, _)| bare.stored_fields().iter().any(|(n, _)| n == name));
        let kept: Vec<_> = kept.collect();
        kept.into_iter()
            .try_fold(bare, |format, (name, array)| {
                format.with_stored(name, array)
            })
            .ok()
    }

    /// The fields that are stored, with their values as far as they are there.
    pub fn stored_fields(&self) -> Vec<(&'static str, Option<&StoredArray>)> {
        match self {
            Self::StoredInteger(stored) => stored.arrays(),
            Self::StoredAffine(stored) => stored.arrays(),
            Self::StoredBipolar(stored) => stored.arrays(),
            _ => Vec::new(),
        }
    }

    /// The format with the values of one of its stored fields; the reason why it cannot have them.
    pub fn with_stored(&self, field: &str, array: StoredArray) -> Result<Self, String> {
        match self {
            Self::StoredInteger(stored) => Ok(stored.with_array(field, array)?.into()),
            Self::StoredAffine(stored) => Ok(stored.with_array(field, array)?.into()),
            Self::StoredBipolar(stored) => Ok(stored.with_array(field, array)?.into()),
            _ => Err(format!("the format does not store {field}")),
        }
    }

    /// The format as its text has it: without the values of its stored fields.
    #[must_use]
    pub fn without_stored(&self) -> Self {
        match self {
            Self::StoredInteger(stored) => stored.without_arrays().into(),
            Self::StoredAffine(stored) => stored.without_arrays().into(),
            Self::StoredBipolar(stored) => stored.without_arrays().into(),
            other => other.clone(),
        }
    }

    /// The format of every element of an array of this shape, where stored fields make them differ.
    pub fn of_elements(&self, shape: &[usize]) -> Option<Vec<Self>> {
        match self {
            Self::StoredInteger(stored) => Some(stored.of_elements(shape)),
            Self::StoredAffine(stored) => Some(stored.of_elements(shape)),
            Self::StoredBipolar(stored) => Some(stored.of_elements(shape)),
            _ => None,
        }
    }

    /// The place, among those of the stored fields, of every element of an array of this shape; nothing if there are none,
    /// or the array has not the axis along which they lie.
    pub fn stored_places(&self, shape: &[usize]) -> Option<Vec<usize>> {
        match self {
            Self::StoredInteger(stored) => stored.places_of(shape),
            Self::StoredAffine(stored) => stored.places_of(shape),
            Self::StoredBipolar(stored) => stored.places_of(shape),
            _ => None,
        }
    }

    /// The shape of the stored fields for an array of this shape; nothing if it has not the axis along which they lie.
    pub fn stored_shape(&self, shape: &[usize]) -> Option<Vec<usize>> {
        match self {
            Self::StoredInteger(stored) => stored.array_shape(shape),
            Self::StoredAffine(stored) => stored.array_shape(shape),
            Self::StoredBipolar(stored) => stored.array_shape(shape),
            _ => None,
        }
    }

    /// True when zero stays zero when it is rounded.
    pub fn has_zero(&self) -> bool {
        match self {
            Self::Binary(binary) => !binary.bipolar,
            Self::Bipolar(_) | Self::StoredBipolar(_) => false,
            // QONNX allows a zero point between two codes.
            Self::Affine(affine) => affine.zero_point.fract() == 0.0,
            Self::StoredAffine(stored) => {
                let zero_points = stored.formats().iter().map(|format| format.zero_point);
                zero_points.into_iter().all(|zero| zero.fract() == 0.0)
            }
            _ => true,
        }
    }

    /// The format whose scales never span two rows of axis 0 of an array with several axes.
    #[must_use]
    pub fn within_rows(&self) -> Self {
        match self {
            Self::ScaleInteger(format) => Self::ScaleInteger(format.within_rows()),
            // A field of the formats with blocks alone.
            other => other
                .with_field("skip_first_dim", FieldValue::Bool(true))
                .unwrap_or_else(|| other.clone()),
        }
    }

    /// True when no scale is shared by two rows of axis 0 of an array of this shape, so that rows can be rounded apart.
    pub fn keeps_rows_apart(&self, shape: &[usize]) -> bool {
        with_format!(self, format => format.keeps_rows_apart(shape))
    }
}
