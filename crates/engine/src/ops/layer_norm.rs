//! Layer normalisation over the last axes.

use super::Site;
use super::param::Param;
use crate::state::State;
use crate::step::{Memory, Step, Wires};
use kernels::layer_norm as kernel;

/// Normalises rows of `cols` elements.
pub(crate) struct LayerNorm {
    rows: usize,
    cols: usize,
    eps: f32,
    /// Both empty without an affine map.
    weight: Param,
    bias: Param,
}

impl LayerNorm {
    pub fn new(op: &ir::ops::layer_norm::LayerNorm, site: &Site) -> Self {
        let cols: usize = op.normalized_shape.iter().product();
        let weight = Param::new(site, "weight", 0);
        Self {
            rows: site.inputs[0].iter().product::<usize>() / cols,
            cols,
            eps: op.eps as f32,
            bias: Param::new(site, "bias", weight.prepared_end()),
            weight,
        }
    }

    fn values<'a>(param: &Param, wires: &Wires, memory: &Memory<'a>) -> Option<&'a [f32]> {
        Some(param.values(wires, memory)).filter(|values| !values.is_empty())
    }
}

impl Step for LayerNorm {
    fn forward(&self, wires: &Wires, memory: &mut Memory) {
        let gamma = Self::values(&self.weight, wires, memory);
        let beta = Self::values(&self.bias, wires, memory);
        let [x, y, stats] = memory.split([wires.x(0), wires.y(), wires.saved.clone()]);
        kernel::forward(self.cols, x, gamma, beta, self.eps, y, stats);
    }

    fn backward(&self, wires: &Wires, memory: &mut Memory) {
        let gamma = Self::values(&self.weight, wires, memory);
        // Without a wish for the input's gradient it still has to go somewhere: the working memory.
        let target = wires
            .grad_target(0)
            .unwrap_or_else(|| wires.scratch.clone());
        let ranges = [self.weight.range.clone(), self.bias.range.clone()];
        let has_params = !memory.grads.is_empty() && !self.weight.range.is_empty();
        let (dgamma, dbeta) = if has_params {
            let [dgamma, dbeta] = memory
                .grads
                .get_disjoint_mut(ranges)
                .expect("parameters are disjoint");
            (Some(dgamma), Some(dbeta))
        } else {
            (None, None)
        };
        let spans = [wires.x(0), wires.dy(), wires.saved.clone(), target];
        let [x, dy, stats, dx] = memory
            .arena
            .get_disjoint_mut(spans)
            .expect("disjoint by plan");
        let dx = &mut dx[..self.rows * self.cols];
        kernel::backward(self.cols, x, gamma, dy, stats, dx, dgamma, dbeta);
        self.weight.pass_gradient(memory);
        self.bias.pass_gradient(memory);
        memory.commit_grad(wires, 0);
    }

    fn prepared_len(&self) -> usize {
        self.bias.prepared_end()
    }

    fn prepare(&self, state: &State, prepared: &mut [f32]) {
        self.weight.prepare(state, prepared);
        self.bias.prepare(state, prepared);
    }

    fn saved_len(&self) -> usize {
        2 * self.rows
    }

    fn scratch_len(&self) -> usize {
        self.rows * self.cols
    }

    fn is_trained(&self) -> bool {
        !self.weight.range.is_empty()
    }
}
