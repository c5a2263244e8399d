//! Fully connected layer.

use super::batch_norm::{affine, moved};
use super::{Kernel, Lowered, Param, Site};
use crate::integer::error::Refusal;
use crate::integer::layer::Layer;
use crate::integer::range::{CodeRange, product_frac};
use crate::integer::rows::Rows;
use crate::integer::stage::Stage;
use crate::integer::weights::Weights;

pub(crate) fn lower(op: &ir::ops::linear::Linear, site: &Site) -> Result<Lowered, Refusal> {
    let x = &site.operands[0];
    let rows = Rows::Dense {
        count: x.shape.iter().product::<usize>() / op.in_features,
    };
    product(rows, 1, [op.in_features, op.out_features], op.bias, 1, site)
}

/// A product of rows with the node's weights, `groups` times k×n of them, and its bias, whose channels have `inner`
/// elements of the result each.
pub(crate) fn product(
    rows: Rows,
    groups: usize,
    [k, n]: [usize; 2],
    has_bias: bool,
    inner: usize,
    site: &Site,
) -> Result<Lowered, Refusal> {
    let weight = site.param("weight")?;
    let x = site.operands[0].range;
    let x = if rows.has_padding() { x.with_zero() } else { x };
    let frac = product_frac(x.frac, weight.frac)?;
    let (start, stages) = match has_bias.then(|| site.param("bias")).transpose()? {
        None => (vec![0; groups * n], Vec::new()),
        Some(bias) if bias.frac <= frac => (moved(&bias.codes, bias.frac, frac)?, Vec::new()),
        // A bias finer than the products is added after them.
        Some(bias) => (vec![0; groups * n], vec![finer_bias(frac, &bias, inner)?]),
    };
    let weights = Weights {
        groups,
        k,
        n,
        codes: weight.codes,
        start,
    };
    let range = weights.range(x)?;
    let layer = Layer::new(rows, weights, inner);
    Ok(Lowered::Kernel(
        Kernel::Layer(Box::new(layer)),
        CodeRange { frac, ..range },
        stages,
    ))
}

fn finer_bias(frac: i32, bias: &Param, inner: usize) -> Result<Stage, Refusal> {
    let ones = Param {
        codes: vec![1; bias.codes.len()],
        frac: 0,
    };
    affine(frac, &ones, bias, inner)
}
