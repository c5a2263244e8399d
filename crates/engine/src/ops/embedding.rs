//! Look-up of rows by index; indices are checked when they enter the plan, and one that was computed and is out of range
//! gives NaN.

use super::Site;
use super::gather::picked;
use super::param::Param;
use crate::state::State;
use crate::step::{Memory, Step, Wires};
use std::ops::Range;

/// Row `i` of the weight for every index `i`.
pub(crate) struct Embedding {
    dim: usize,
    weight: Param,
}

impl Embedding {
    pub fn new(op: &ir::ops::embedding::Embedding, site: &Site) -> Self {
        Self {
            dim: op.embedding_dim,
            weight: Param::new(site, "weight", 0),
        }
    }
}

impl Embedding {
    /// The elements of a row in a table of `len` elements.
    fn row(&self, index: f32, len: usize) -> Option<Range<usize>> {
        let start = picked(index, len / self.dim)? * self.dim;
        Some(start..start + self.dim)
    }
}

impl Step for Embedding {
    fn forward(&self, wires: &Wires, memory: &mut Memory) {
        let weight = self.weight.values(wires, memory);
        let [x, y] = memory.split([wires.x(0), wires.y()]);
        for (&index, y) in x.iter().zip(y.chunks_exact_mut(self.dim)) {
            match self.row(index, weight.len()) {
                Some(row) => y.copy_from_slice(&weight[row]),
                None => y.fill(f32::NAN),
            }
        }
    }

    fn backward(&self, wires: &Wires, memory: &mut Memory) {
        let Some(grad) = memory.grads.get_mut(self.weight.range.clone()) else {
            return;
        };
        grad.fill(0.0);
        let (x, dy) = (&memory.arena[wires.x(0)], &memory.arena[wires.dy()]);
        for (&index, dy) in x.iter().zip(dy.chunks_exact(self.dim)) {
            if let Some(row) = self.row(index, grad.len()) {
                kernels::elementwise::add_assign(dy, &mut grad[row]);
            }
        }
        self.weight.pass_gradient(memory);
    }

    fn prepared_len(&self) -> usize {
        self.weight.prepared_end()
    }

    fn prepare(&self, state: &State, prepared: &mut [f32]) {
        self.weight.prepare(state, prepared);
    }

    fn is_trained(&self) -> bool {
        true
    }
}
