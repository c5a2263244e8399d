//! Values joined along an axis, with the finest step of them all.

use super::{Lowered, Site, WideKernel};
use crate::integer::error::Refusal;
use crate::integer::range::{CodeRange, Fit, refined};
use crate::ops::permute::axis;

pub(crate) fn lower(op: &ir::ops::cat::Cat, site: &Site) -> Result<Lowered, Refusal> {
    let axis = axis(op.dim, site.outputs[0].len());
    let frac = site
        .operands
        .iter()
        .map(|operand| operand.range.frac)
        .max()
        .unwrap_or(0);
    let mut parts = Vec::with_capacity(site.operands.len());
    let mut all: Option<CodeRange> = None;
    for operand in &site.operands {
        let (range, bits) = refined(operand.range, frac)?;
        all = Some(all.map_or(Ok(range), |all| all.joined(range).fit())?);
        parts.push((operand.shape[axis..].iter().product(), bits));
    }
    let range = all.unwrap_or(site.operands[0].range);
    Ok(Lowered::Kernel(Cat { parts }.into(), range, Vec::new()))
}

/// Per operand, the elements it gives to each piece of the result, and the bits by which they move to the left.
struct Cat {
    parts: Vec<(usize, u32)>,
}

impl WideKernel for Cat {
    fn run(&self, operands: &[Vec<i64>], y: &mut [i64]) {
        let total: usize = self.parts.iter().map(|(run, _)| run).sum();
        for (piece, y) in y.chunks_mut(total.max(1)).enumerate() {
            let mut rest = y;
            for (operand, &(run, bits)) in operands.iter().zip(&self.parts) {
                let (own, later) = rest.split_at_mut(run);
                for (y, x) in own.iter_mut().zip(&operand[piece * run..]) {
                    *y = x << bits;
                }
                rest = later;
            }
        }
    }
}
