//! Axes in another order, and plain copies.

use super::Site;
use crate::step::{Memory, Step, Wires};

/// Result axis `i` is input axis `axes[i]`.
pub(crate) struct Permute {
    axes: Vec<usize>,
    inverse: Vec<usize>,
}

impl Permute {
    fn new(axes: Vec<usize>) -> Self {
        let mut inverse = vec![0; axes.len()];
        for (to, &from) in axes.iter().enumerate() {
            inverse[from] = to;
        }
        Self { axes, inverse }
    }
}

pub(crate) fn transpose(op: &ir::ops::permute::Transpose, site: &Site) -> Permute {
    let rank = site.inputs[0].len();
    let mut axes: Vec<usize> = (0..rank).collect();
    axes.swap(axis(op.dim0, rank), axis(op.dim1, rank));
    Permute::new(axes)
}

pub(crate) fn permute(op: &ir::ops::permute::Permute, site: &Site) -> Permute {
    let rank = site.inputs[0].len();
    Permute::new(op.dims.iter().map(|&dim| axis(dim, rank)).collect())
}

/// An axis as an index; the verifier has checked its range.
pub(crate) fn axis(dim: i64, rank: usize) -> usize {
    if dim < 0 {
        (dim + rank as i64) as usize
    } else {
        dim as usize
    }
}

impl Step for Permute {
    fn forward(&self, wires: &Wires, memory: &mut Memory) {
        let [x, y] = memory.split([wires.x(0), wires.y()]);
        kernels::permute::permute(x, &wires.inputs[0].shape, &self.axes, y);
    }

    fn backward(&self, wires: &Wires, memory: &mut Memory) {
        let Some(target) = wires.grad_target(0) else {
            return;
        };
        let [dy, dx] = memory.split([wires.dy(), target]);
        kernels::permute::permute(dy, &wires.outputs[0].shape, &self.inverse, dx);
        memory.commit_grad(wires, 0);
    }
}

/// The same values in a second place.
pub(crate) struct Copy;

impl Step for Copy {
    fn forward(&self, wires: &Wires, memory: &mut Memory) {
        let [x, y] = memory.split([wires.x(0), wires.y()]);
        y.copy_from_slice(x);
    }

    fn backward(&self, wires: &Wires, memory: &mut Memory) {
        let Some(target) = wires.grad_target(0) else {
            return;
        };
        let [dy, dx] = memory.split([wires.dy(), target]);
        dx.copy_from_slice(dy);
        memory.commit_grad(wires, 0);
    }
}

/// Elements moved about in exact integers.
pub(crate) mod integer {
    use crate::integer::walk::{box_indices, strides};
    use crate::integer::{Lowered, Site, Source};
    use crate::ops::permute::axis;

    pub(crate) fn transpose(op: &ir::ops::permute::Transpose, site: &Site) -> Lowered {
        let rank = site.operands[0].shape.len();
        let mut axes: Vec<usize> = (0..rank).collect();
        axes.swap(axis(op.dim0, rank), axis(op.dim1, rank));
        with_axes(&axes, site)
    }

    pub(crate) fn permute(op: &ir::ops::permute::Permute, site: &Site) -> Lowered {
        let rank = site.operands[0].shape.len();
        let axes: Vec<usize> = op.dims.iter().map(|&dim| axis(dim, rank)).collect();
        with_axes(&axes, site)
    }

    /// Result axis `i` is operand axis `axes[i]`.
    fn with_axes(axes: &[usize], site: &Site) -> Lowered {
        let strides = strides(&site.operands[0].shape);
        let steps: Vec<usize> = axes.iter().map(|&axis| strides[axis]).collect();
        gather(box_indices(0, &site.outputs[0], &steps), site)
    }

    /// Elements of the operand by index.
    pub(crate) fn gather(indices: Vec<usize>, site: &Site) -> Lowered {
        Lowered::step(Source::Gather(indices), site.operands[0].range)
    }
}
