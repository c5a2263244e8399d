//! Mean over axes.

use super::Site;
use crate::step::{Memory, Step, Wires};
use kernels::elementwise;
use kernels::permute::{broadcast_zip, sum_axes};

/// Mean over the marked axes.
pub(crate) struct Mean {
    reduced: Vec<bool>,
    /// The result's shape with the reduced axes kept at size one.
    kept: Vec<usize>,
    scale: f32,
}

impl Mean {
    pub fn new(op: &ir::ops::mean::Mean, site: &Site) -> Self {
        let shape = &site.inputs[0];
        let rank = shape.len() as i64;
        let mut reduced = vec![op.dim.is_empty(); shape.len()];
        for &dim in &op.dim {
            reduced[if dim < 0 { dim + rank } else { dim } as usize] = true;
        }
        let kept: Vec<usize> = shape
            .iter()
            .zip(&reduced)
            .map(|(&n, &r)| if r { 1 } else { n })
            .collect();
        let count: usize = shape.iter().product::<usize>() / kept.iter().product::<usize>().max(1);
        Self {
            reduced,
            kept,
            scale: 1.0 / count as f32,
        }
    }
}

impl Step for Mean {
    fn forward(&self, wires: &Wires, memory: &mut Memory) {
        let [x, y] = memory.split([wires.x(0), wires.y()]);
        sum_axes(x, &wires.inputs[0].shape, &self.reduced, y);
        elementwise::scale(y, self.scale);
    }

    fn backward(&self, wires: &Wires, memory: &mut Memory) {
        let Some(target) = wires.grad_target(0) else {
            return;
        };
        let shape = &wires.inputs[0].shape;
        let scale = self.scale;
        let [dy, dx] = memory.split([wires.dy(), target]);
        broadcast_zip(dy, &self.kept, &[scale], &[1], dx, shape, |d, s| d * s);
        memory.commit_grad(wires, 0);
    }
}

/// Means in exact integers, when the number of elements is a power of two: a sum with more bits behind the point.
pub(crate) mod integer {
    use crate::integer::error::Refusal;
    use crate::integer::range::{CodeRange, product_frac, summed};
    use crate::integer::walk::broadcast_indices;
    use crate::integer::{Lowered, Site, Source};
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
        let targets = broadcast_indices(&kept, shape);
        Ok(Lowered::step(Source::Total { targets }, range))
    }

    /// The range of means of `count` elements.
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
}
