//! Softmax and its logarithm along one axis.

use super::Site;
use crate::step::{Memory, Step, Wires};
use kernels::gemm::transpose;
use kernels::softmax as kernel;

/// Softmax over an axis of `size`, with `inner` elements between two of its entries.
pub(crate) struct Softmax {
    size: usize,
    inner: usize,
    is_log: bool,
}

impl Softmax {
    pub fn new(dim: i64, is_log: bool, site: &Site) -> Self {
        let shape = &site.inputs[0];
        let axis = if dim < 0 {
            dim + shape.len() as i64
        } else {
            dim
        } as usize;
        Self {
            size: shape[axis],
            inner: shape[axis + 1..].iter().product(),
            is_log,
        }
    }

    fn rows(&self, x: &[f32], y: &mut [f32]) {
        if self.is_log {
            kernel::log_softmax(self.size, x, y);
        } else {
            kernel::softmax(self.size, x, y);
        }
    }

    fn rows_backward(&self, y: &[f32], dy: &[f32], dx: &mut [f32]) {
        if self.is_log {
            kernel::log_softmax_backward(self.size, y, dy, dx);
        } else {
            kernel::softmax_backward(self.size, y, dy, dx);
        }
    }

    fn block(&self) -> usize {
        self.size * self.inner
    }
}

impl Step for Softmax {
    fn forward(&self, wires: &Wires, memory: &mut Memory) {
        let [x, y, scratch] = memory.split([wires.x(0), wires.y(), wires.scratch.clone()]);
        if self.inner == 1 {
            return self.rows(x, y);
        }
        // The axis is brought to the end, one block at a time, and back.
        let (size, inner, block) = (self.size, self.inner, self.block());
        let (turned, rest) = scratch.split_at_mut(block);
        let result = &mut rest[..block];
        for (x, y) in x.chunks(block).zip(y.chunks_mut(block)) {
            transpose(size, inner, x, inner, turned, size);
            self.rows(turned, result);
            transpose(inner, size, result, size, y, inner);
        }
    }

    fn backward(&self, wires: &Wires, memory: &mut Memory) {
        let Some(target) = wires.grad_target(0) else {
            return;
        };
        let [y, dy, dx, scratch] =
            memory.split([wires.y(), wires.dy(), target, wires.scratch.clone()]);
        if self.inner == 1 {
            self.rows_backward(y, dy, dx);
        } else {
            let (size, inner, block) = (self.size, self.inner, self.block());
            let (turned, rest) = scratch.split_at_mut(block);
            let (turned_grad, rest) = rest.split_at_mut(block);
            let result = &mut rest[..block];
            for ((y, dy), dx) in y
                .chunks(block)
                .zip(dy.chunks(block))
                .zip(dx.chunks_mut(block))
            {
                transpose(size, inner, y, inner, turned, size);
                transpose(size, inner, dy, inner, turned_grad, size);
                self.rows_backward(turned, turned_grad, result);
                transpose(inner, size, result, size, dx, inner);
            }
        }
        memory.commit_grad(wires, 0);
    }

    fn scratch_len(&self) -> usize {
        if self.inner == 1 { 0 } else { 3 * self.block() }
    }
}
