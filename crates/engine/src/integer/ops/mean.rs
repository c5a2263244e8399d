//! Means over axes, exact when the number of elements is a power of two: a sum with more bits behind the point.

use super::{Lowered, Site, WideKernel};
use crate::integer::error::Refusal;
use crate::integer::range::{CodeRange, product_frac, summed};
use crate::integer::walk::broadcast_indices;
use ir::Shape;

pub(crate) fn lower(op: &ir::ops::mean::Mean, site: &Site) -> Result<Lowered, Refusal> {
    let shape = &site.operands[0].shape;
    let reduced = op.reduced(&Shape::of(shape)).unwrap_or_default();
    let kept: Vec<usize> = shape
        .iter()
        .zip(&reduced)
        .map(|(&n, &r)| if r { 1 } else { n })
        .collect();
    let counts = shape
        .iter()
        .zip(&kept)
        .map(|(&n, &k)| if n == k { 1 } else { n });
    let range = mean_range(site.operands[0].range, counts.product())?;
    let kernel = Sum {
        targets: broadcast_indices(&kept, shape),
    };
    Ok(Lowered::Kernel(kernel.into(), range, Vec::new()))
}

/// What means of `count` elements range over.
pub(crate) fn mean_range(x: CodeRange, count: usize) -> Result<CodeRange, Refusal> {
    if !count.is_power_of_two() {
        let why = format!("a mean of {count} elements is not exact; only powers of two are");
        return Err(Refusal::NoForm(why));
    }
    let sum = summed(x, count)?;
    Ok(CodeRange {
        frac: product_frac(sum.frac, count.ilog2() as i32)?,
        ..sum
    })
}

/// Adds every element to the element of the result that it belongs to.
struct Sum {
    targets: Vec<usize>,
}

impl WideKernel for Sum {
    fn run(&self, operands: &[Vec<i64>], y: &mut [i64]) {
        y.fill(0);
        for (&x, &target) in operands[0].iter().zip(&self.targets) {
            y[target] += x;
        }
    }
}
