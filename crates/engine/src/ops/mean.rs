//! Mean over axes.

use super::Site;
use crate::step::{Memory, Step, Wires};
use kernels::maps;
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
        maps::scale(y, self.scale);
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
