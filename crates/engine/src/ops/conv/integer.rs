//! Convolutions in exact integers.

use super::{shape1d, shape2d};
use crate::integer::error::Refusal;
use crate::integer::{Lowered, Rows, Site};
use crate::ops::linear::integer::product;
use ir::ops::conv::{Conv1d, Conv2d};
use kernels::conv::ConvShape;

pub(crate) fn lower1d(op: &Conv1d, site: &Site) -> Result<Lowered, Refusal> {
    lower(shape1d(op, &site.operands[0].shape), op.bias, site)
}

pub(crate) fn lower2d(op: &Conv2d, site: &Site) -> Result<Lowered, Refusal> {
    lower(shape2d(op, &site.operands[0].shape), op.bias, site)
}

fn lower(shape: ConvShape, has_bias: bool, site: &Site) -> Result<Lowered, Refusal> {
    let taps = shape.in_channels / shape.groups * shape.kernel[0] * shape.kernel[1];
    let [height, width] = shape.output();
    product(
        Rows::Windows(shape),
        shape.groups,
        [taps, shape.out_channels / shape.groups],
        has_bias,
        height * width,
        site,
    )
}
