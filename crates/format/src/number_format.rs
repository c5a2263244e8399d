//! The contract of a format, and what follows from it for arrays: rounding, gradients, codes.

use crate::block::{Block, Blocks, Sharing};
use crate::catalog::FormatEntry;
use crate::codes::{Codes, Scale};
use crate::error::FormatError;
use crate::field::{FieldValue, Fields};
use crate::round::RoundingRule;
use crate::sweep::{self, Mask, Round};

/// A number format. Everything else is derived from these.
pub(crate) trait NumberFormat: Sized {
    /// The rule and the codes of the elements of one block.
    type Element: Element;

    /// Names and texts.
    const ENTRY: FormatEntry;

    /// The format with the given fields.
    fn read(fields: &Fields<'_>) -> Result<Self, FormatError>;
    /// All fields in positional order.
    fn fields(&self) -> Vec<(&'static str, FieldValue)>;
    /// The precision list of the metadata: the values of all fields unless a format shows fewer.
    fn precision(&self) -> Vec<FieldValue> {
        self.fields().into_iter().map(|(_, value)| value).collect()
    }
    /// The smallest and the largest value, with the largest scale.
    fn range(&self) -> (f64, f64);

    /// The field that moves the point, if there is one.
    fn point(&self) -> Point;

    /// Bits of an element, without its part of a shared scale.
    fn width(&self) -> u32;
    /// Bits of a code, which may have a flag beside the width.
    fn code_width(&self) -> u32 {
        self.width()
    }
    /// The elements that share a scale.
    fn sharing(&self) -> Sharing<'_> {
        Sharing::Nobody
    }
    /// Bits of a shared scale.
    fn scale_bits(&self) -> u32 {
        0
    }
    /// The scale of 1.
    fn unit_scale(&self) -> Scale {
        Scale::One
    }
    /// The codes that mean something, for a format of up to 8 bits.
    fn codes(&self) -> Vec<u64> {
        (0..1 << self.code_width()).collect()
    }

    /// The scale that fits elements up to this magnitude.
    #[inline(always)]
    fn scale_for(&self, _abs_max: f32) -> Scale {
        Scale::One
    }
    /// The scale that fits a block, for a format that asks for more than its largest magnitude.
    #[inline(always)]
    fn fit(&self, block: &mut Block<'_>) -> Scale {
        self.scale_for(block.abs_max())
    }
    /// The rule for elements with this scale.
    fn element(&self, scale: Scale) -> Self::Element;
}

/// Operations of a format on arrays. Every [`NumberFormat`] does it in the same way; formats with stored fields in theirs.
pub(crate) trait ArrayFormat {
    fn entry(&self) -> &'static FormatEntry;
    fn fields(&self) -> Vec<(&'static str, FieldValue)>;
    fn precision(&self) -> Vec<FieldValue>;
    fn bits(&self, shape: &[usize]) -> f64;
    fn range(&self) -> (f64, f64);
    fn point(&self) -> Point;
    fn quantize(&self, x: &[f32], shape: &[usize], y: &mut [f32]);
    fn straight_through(&self, x: &[f32], shape: &[usize], grad: &mut [f32]);
    fn encode(&self, x: &[f32], shape: &[usize]) -> Codes;
    fn decode(&self, codes: &Codes, shape: &[usize]) -> Vec<f32>;
    fn values(&self) -> Option<Vec<(u64, f32)>>;
    fn is_blocked(&self) -> bool;
    fn rounds_alone(&self) -> bool;
    fn block_extent(&self, shape: &[usize], axis: usize) -> usize;
    fn keeps_rows_apart(&self, shape: &[usize]) -> bool;
    fn scale_ceiling(&self, abs_max: f32) -> f32;
}

impl<F: NumberFormat> ArrayFormat for F {
    fn entry(&self) -> &'static FormatEntry {
        const { &F::ENTRY }
    }

    fn fields(&self) -> Vec<(&'static str, FieldValue)> {
        NumberFormat::fields(self)
    }

    fn precision(&self) -> Vec<FieldValue> {
        NumberFormat::precision(self)
    }

    fn bits(&self, shape: &[usize]) -> f64 {
        bits(self, shape)
    }

    fn range(&self) -> (f64, f64) {
        NumberFormat::range(self)
    }

    fn point(&self) -> Point {
        NumberFormat::point(self)
    }

    #[inline(always)]
    fn quantize(&self, x: &[f32], shape: &[usize], y: &mut [f32]) {
        check_lengths(shape, x.len(), y.len());
        sweep::over_blocks::<F, Round>(self, x, shape, y);
    }

    #[inline(always)]
    fn straight_through(&self, x: &[f32], shape: &[usize], grad: &mut [f32]) {
        check_lengths(shape, x.len(), grad.len());
        sweep::over_blocks::<F, Mask>(self, x, shape, grad);
    }

    fn encode(&self, x: &[f32], shape: &[usize]) -> Codes {
        encode(self, x, shape)
    }

    fn decode(&self, codes: &Codes, shape: &[usize]) -> Vec<f32> {
        decode(self, codes, shape)
    }

    fn values(&self) -> Option<Vec<(u64, f32)>> {
        values(self)
    }

    fn is_blocked(&self) -> bool {
        matches!(self.sharing(), Sharing::Blocks(_))
    }

    fn rounds_alone(&self) -> bool {
        matches!(self.sharing(), Sharing::Nobody)
    }

    fn block_extent(&self, shape: &[usize], axis: usize) -> usize {
        self.sharing().extent(shape, axis)
    }

    fn keeps_rows_apart(&self, shape: &[usize]) -> bool {
        self.sharing().keeps_rows_apart(shape)
    }

    fn scale_ceiling(&self, abs_max: f32) -> f32 {
        scale_ceiling(self, abs_max)
    }
}

/// The point of a format: what halves or doubles all of its values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Point {
    /// A step of this field.
    Field(&'static str),
    /// A factor of two in this field.
    Factor(&'static str),
    /// The stored fields, place by place.
    Stored,
    /// The data: scales follow them.
    FollowsData,
    /// Nothing.
    Fixed,
}

/// The rounding rule and the codes of elements that share a scale.
pub(crate) trait Element: Copy {
    /// The kind of rule.
    type Rule: RoundingRule;

    /// The rule by which elements are rounded.
    fn rule(&self) -> Self::Rule;
    /// The code of `y`, a rounded value that is not NaN.
    fn encode(&self, y: f32) -> u64;
    /// The code of NaN; that of 0 where there is none.
    fn nan(&self) -> u64 {
        self.encode(0.0)
    }
    /// The value of a code.
    fn decode(&self, code: u64) -> f32;

    /// The code of any rounded value.
    fn encode_any(&self, y: f32) -> u64 {
        if y.is_nan() {
            self.nan()
        } else {
            self.encode(y)
        }
    }
}

/// The codes of values that a rule rounds.
pub(crate) trait Code<R>: Copy {
    /// The code of `y`, a rounded value that is not NaN.
    fn encode(&self, rule: &R, y: f32) -> u64;
    /// The value of a code.
    fn decode(&self, rule: &R, code: u64) -> f32;
}

/// Elements of a rule with codes of their own.
#[derive(Clone, Copy)]
pub(crate) struct Coded<R, C> {
    pub rule: R,
    pub code: C,
}

impl<R: RoundingRule, C: Code<R>> Element for Coded<R, C> {
    type Rule = R;

    #[inline(always)]
    fn rule(&self) -> R {
        self.rule
    }

    fn encode(&self, y: f32) -> u64 {
        self.code.encode(&self.rule, y)
    }

    fn decode(&self, code: u64) -> f32 {
        self.code.decode(&self.rule, code)
    }
}

/// The codes of the rounded array.
fn encode<F: NumberFormat>(format: &F, x: &[f32], shape: &[usize]) -> Codes {
    let mut y = vec![0.0; x.len()];
    format.quantize(x, shape, &mut y);
    let mut codes = Codes::zeroed(format.code_width(), x.len());
    if x.is_empty() {
        return codes;
    }
    let sharing = format.sharing();
    let alone = matches!(sharing, Sharing::Nobody);
    // Without a scale to share, the whole array may as well be one block.
    let mut blocks = Blocks::new(shape, if alone { Sharing::Tensor } else { sharing });
    while blocks.next_block() {
        let scale = if alone {
            Scale::One
        } else {
            let runs = &mut blocks;
            format.fit(&mut Block { x, runs })
        };
        let element = format.element(scale);
        codes.shared.extend((!alone).then_some(scale));
        while let Some(run) = blocks.next_run() {
            for index in run {
                codes.set(index, element.encode_any(y[index]));
            }
        }
    }
    codes
}

/// The values of encoded elements.
fn decode<F: NumberFormat>(format: &F, codes: &Codes, shape: &[usize]) -> Vec<f32> {
    check_lengths(shape, codes.len, codes.len);
    let mut y = vec![0.0; codes.len];
    if y.is_empty() {
        return y;
    }
    let sharing = format.sharing();
    let alone = matches!(sharing, Sharing::Nobody);
    let mut blocks = Blocks::new(shape, if alone { Sharing::Tensor } else { sharing });
    let mut scales = codes.shared.iter().copied();
    while blocks.next_block() {
        let element = format.element(scales.next().unwrap_or(format.unit_scale()));
        while let Some(run) = blocks.next_run() {
            for index in run {
                y[index] = element.decode(codes.get(index));
            }
        }
    }
    y
}

/// All codes with their values, for a format of up to 8 bits.
fn values<F: NumberFormat>(format: &F) -> Option<Vec<(u64, f32)>> {
    if format.width() > 8 {
        return None;
    }
    let element = format.element(format.unit_scale());
    let pair = |code: u64| (code, element.decode(code));
    Some(format.codes().into_iter().map(pair).collect())
}

/// The largest magnitude for which a block has the same scale as for `abs_max`; scales never shrink with the magnitude.
fn scale_ceiling<F: NumberFormat>(format: &F, abs_max: f32) -> f32 {
    // An all-zero block stays zero.
    if abs_max == 0.0 {
        return 0.0;
    }
    let scale = format.scale_for(abs_max);
    let (mut same, mut above) = (abs_max.to_bits(), f32::INFINITY.to_bits());
    while above - same > 1 {
        let middle = same + (above - same) / 2;
        if format.scale_for(f32::from_bits(middle)) == scale {
            same = middle;
        } else {
            above = middle;
        }
    }
    f32::from_bits(same)
}

/// Bits of an element with its part of the shared scales.
fn bits<F: NumberFormat>(format: &F, shape: &[usize]) -> f64 {
    let n_elements: usize = shape.iter().product();
    let width = f64::from(format.width());
    if n_elements == 0 || format.scale_bits() == 0 {
        return width;
    }
    let n_blocks = format.sharing().n_blocks(shape) as f64;
    width + f64::from(format.scale_bits()) * n_blocks / n_elements as f64
}

/// Holds the lengths of two arrays against a shape.
#[inline(always)]
pub(crate) fn check_lengths(shape: &[usize], from: usize, to: usize) {
    let n_elements: usize = shape.iter().product();
    assert!(
        from == n_elements && to == n_elements,
        "shape {shape:?} has {n_elements} elements, the arrays have {from} and {to}"
    );
}
