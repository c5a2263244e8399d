//! Slices picked by index along an axis.

use super::Site;
use super::permute::axis;
use crate::step::{Memory, Step, Wires};
use kernels::elementwise::add_assign;

/// Along an axis of `len` slices with `inner` elements each.
pub(crate) struct Gather {
    len: usize,
    inner: usize,
}

impl Gather {
    pub fn new(op: &ir::ops::gather::Gather, site: &Site) -> Self {
        let shape = &site.inputs[0];
        let axis = axis(op.dim, shape.len());
        Self {
            len: shape[axis],
            inner: shape[axis + 1..].iter().product(),
        }
    }

    /// Calls `f` with the range of a slice of the result and that of the picked slice, `None` where the index is out of
    /// range. A negative index counts from the end.
    fn for_each(&self, indices: &[f32], y_len: usize, mut f: impl FnMut(usize, Option<usize>)) {
        for (at, start) in (0..y_len).step_by(self.inner.max(1)).enumerate() {
            let outer = at / indices.len().max(1);
            let picked = picked(indices[at % indices.len()], self.len);
            let from = picked.map(|index| (outer * self.len + index) * self.inner);
            f(start, from);
        }
    }
}

/// The index as a place in a table of `len` rows.
pub(crate) fn picked(index: f32, len: usize) -> Option<usize> {
    let index = if index < 0.0 {
        index + len as f32
    } else {
        index
    };
    (index >= 0.0 && index < len as f32).then_some(index as usize)
}

impl Step for Gather {
    fn forward(&self, wires: &Wires, memory: &mut Memory) {
        let [x, indices, y] = memory.split([wires.x(0), wires.x(1), wires.y()]);
        self.for_each(indices, y.len(), |to, from| {
            let y = &mut y[to..to + self.inner];
            match from {
                Some(from) => y.copy_from_slice(&x[from..from + self.inner]),
                None => y.fill(f32::NAN),
            }
        });
    }

    fn backward(&self, wires: &Wires, memory: &mut Memory) {
        if let Some(target) = wires.grad_target(0) {
            let [indices, dy, dx] = memory.split([wires.x(1), wires.dy(), target]);
            dx.fill(0.0);
            self.for_each(indices, dy.len(), |to, from| {
                if let Some(from) = from {
                    add_assign(&dy[to..to + self.inner], &mut dx[from..from + self.inner]);
                }
            });
            memory.commit_grad(wires, 0);
        }
        if let Some(target) = wires.grad_target(1) {
            memory.arena[target].fill(0.0);
            memory.commit_grad(wires, 1);
        }
    }
}
