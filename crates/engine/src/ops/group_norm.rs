//! Normalisation of groups of channels: that of rows, and then a line for each channel.

use super::Site;
use super::param::Param;
use crate::arena::Span;
use crate::state::State;
use crate::step::{Memory, Step, Wires};
use kernels::layer_norm as kernel;

/// Normalises rows of `cols` elements, each a group of channels of `space` elements.
pub(crate) struct GroupNorm {
    rows: usize,
    cols: usize,
    channels: usize,
    space: usize,
    eps: f32,
    /// Both empty without γ and β.
    weight: Param,
    bias: Param,
}

impl GroupNorm {
    pub fn new(groups: usize, eps: f64, site: &Site) -> Self {
        let shape = &site.inputs[0];
        let (channels, space) = (shape[1], shape[2..].iter().product::<usize>());
        let weight = Param::new(site, "weight", 0);
        Self {
            rows: shape[0] * groups,
            cols: channels / groups * space,
            channels,
            space,
            eps: eps as f32,
            bias: Param::new(site, "bias", weight.prepared_end()),
            weight,
        }
    }

    fn scratch(&self, wires: &Wires) -> Span {
        wires.scratch.start..wires.scratch.start + self.rows * self.cols
    }

    /// Calls `f` with the number of each channel and its elements.
    fn for_channels<'a>(&self, x: &'a mut [f32], mut f: impl FnMut(usize, &'a mut [f32])) {
        for (at, x) in x.chunks_exact_mut(self.space.max(1)).enumerate() {
            f(at % self.channels, x);
        }
    }

    /// The gradients of γ and β, which the working memory must be free for.
    fn weight_backward(&self, wires: &Wires, memory: &mut Memory) {
        let spans = [wires.x(0), wires.saved.clone(), self.scratch(wires)];
        let [x, stats, normal] = memory.split(spans);
        let rows = x.chunks_exact(self.cols).zip(stats.chunks_exact(2));
        for ((x, stats), normal) in rows.zip(normal.chunks_exact_mut(self.cols)) {
            for (x, normal) in x.iter().zip(normal) {
                *normal = (x - stats[0]) * stats[1];
            }
        }
        let ranges = [self.weight.range.clone(), self.bias.range.clone()];
        let Ok([dw, db]) = memory.grads.get_disjoint_mut(ranges) else {
            return;
        };
        dw.fill(0.0);
        db.fill(0.0);
        let (normal, dy) = (
            &memory.arena[self.scratch(wires)],
            &memory.arena[wires.dy()],
        );
        let pairs = normal
            .chunks_exact(self.space)
            .zip(dy.chunks_exact(self.space));
        for (at, (normal, dy)) in pairs.enumerate() {
            let channel = at % self.channels;
            dw[channel] += normal.iter().zip(dy).map(|(n, dy)| n * dy).sum::<f32>();
            db[channel] += dy.iter().sum::<f32>();
        }
        self.weight.pass_gradient(memory);
        self.bias.pass_gradient(memory);
    }
}

impl Step for GroupNorm {
    fn forward(&self, wires: &Wires, memory: &mut Memory) {
        let weight = self.weight.values(wires, memory);
        let bias = self.bias.values(wires, memory);
        let [x, y, stats] = memory.split([wires.x(0), wires.y(), wires.saved.clone()]);
        kernel::forward(self.cols, x, None, None, self.eps, y, stats);
        if !weight.is_empty() {
            self.for_channels(y, |c, y| {
                for y in y {
                    *y = *y * weight[c] + bias[c];
                }
            });
        }
    }

    fn backward(&self, wires: &Wires, memory: &mut Memory) {
        let weight = self.weight.values(wires, memory);
        if self.is_trained() && !memory.grads.is_empty() {
            self.weight_backward(wires, memory);
        }
        let Some(target) = wires.grad_target(0) else {
            return;
        };
        let spans = [
            wires.x(0),
            wires.dy(),
            wires.saved.clone(),
            target,
            self.scratch(wires),
        ];
        let [x, dy, stats, dx, scaled] = memory.split(spans);
        scaled.copy_from_slice(dy);
        if !weight.is_empty() {
            self.for_channels(scaled, |c, dy| kernels::elementwise::scale(dy, weight[c]));
        }
        kernel::backward(self.cols, x, None, scaled, stats, dx, None, None);
        memory.commit_grad(wires, 0);
    }

    fn saved_len(&self) -> usize {
        2 * self.rows
    }

    fn scratch_len(&self) -> usize {
        self.rows * self.cols
    }

    fn prepared_len(&self) -> usize {
        self.bias.prepared_end()
    }

    fn prepare(&self, state: &State, prepared: &mut [f32]) {
        self.weight.prepare(state, prepared);
        self.bias.prepare(state, prepared);
    }

    fn is_trained(&self) -> bool {
        !self.weight.range.is_empty()
    }
}
