//! Transposed convolutions: the gradient of a convolution is their forward pass, and the other way round.

use super::Site;
use super::param::Param;
use crate::state::State;
use crate::step::{Memory, Step, Wires};
use ir::ops::conv_transpose::ConvTranspose as Op;
use kernels::conv::{ConvShape, conv_backward_data, conv_backward_weight, conv_forward};

/// A transposed convolution, as the convolution that it is the gradient of.
pub(crate) struct ConvTranspose {
    adjoint: ConvShape,
    weight: Param,
    /// Empty without a bias.
    bias: Param,
}

impl ConvTranspose {
    pub fn new<const K: usize>(op: &Op<K>, site: &Site) -> Self {
        let (input, output) = (&site.inputs[0], &site.outputs[0]);
        let weight = Param::new(site, "weight", 0);
        let adjoint = ConvShape {
            batch: input[0],
            in_channels: op.out_channels,
            out_channels: op.in_channels,
            groups: op.groups,
            input: plane(&output[2..], 1),
            kernel: plane(&op.kernel_size, 1),
            stride: plane(&op.stride, 1),
            padding: plane(&op.padding, 0),
            dilation: plane(&op.dilation, 1),
        };
        Self {
            adjoint,
            bias: Param::new(site, "bias", weight.prepared_end()),
            weight,
        }
    }

    /// Elements of a channel of the result.
    fn space(&self) -> usize {
        self.adjoint.input.iter().product()
    }

    fn weight_backward(&self, wires: &Wires, memory: &mut Memory) {
        let ranges = [self.weight.range.clone(), self.bias.range.clone()];
        let Ok([dw, db]) = memory.grads.get_disjoint_mut(ranges) else {
            return;
        };
        let spans = [wires.x(0), wires.dy(), wires.scratch.clone()];
        let [x, dy, scratch] = memory
            .arena
            .get_disjoint_mut(spans)
            .expect("disjoint by plan");
        conv_backward_weight(&self.adjoint, dy, x, dw, None, scratch);
        db.fill(0.0);
        if !db.is_empty() {
            for (at, dy) in dy.chunks_exact(self.space()).enumerate() {
                db[at % self.adjoint.in_channels] += dy.iter().sum::<f32>();
            }
        }
        self.weight.pass_gradient(memory);
        self.bias.pass_gradient(memory);
    }
}

/// One or two sizes as two.
fn plane(sizes: &[usize], missing: usize) -> [usize; 2] {
    match sizes {
        [height, width] => [*height, *width],
        sizes => [missing, sizes.first().copied().unwrap_or(missing)],
    }
}

impl Step for ConvTranspose {
    fn forward(&self, wires: &Wires, memory: &mut Memory) {
        let weight = self.weight.values(wires, memory);
        let bias = self.bias.values(wires, memory);
        let [x, y, scratch] = memory.split([wires.x(0), wires.y(), wires.scratch.clone()]);
        conv_backward_data(&self.adjoint, x, weight, y, scratch);
        if !bias.is_empty() {
            for (at, y) in y.chunks_exact_mut(self.space()).enumerate() {
                let bias = bias[at % self.adjoint.in_channels];
                for y in y {
                    *y += bias;
                }
            }
        }
    }

    fn backward(&self, wires: &Wires, memory: &mut Memory) {
        if !memory.grads.is_empty() {
            self.weight_backward(wires, memory);
        }
        let Some(target) = wires.grad_target(0) else {
            return;
        };
        let weight = self.weight.values(wires, memory);
        let [dy, dx, scratch] = memory.split([wires.dy(), target, wires.scratch.clone()]);
        conv_forward(&self.adjoint, dy, weight, None, dx, scratch);
        memory.commit_grad(wires, 0);
    }

    fn scratch_len(&self) -> usize {
        self.adjoint.scratch_len()
    }

    fn prepared_len(&self) -> usize {
        self.bias.prepared_end()
    }

    fn prepare(&self, state: &State, prepared: &mut [f32]) {
        self.weight.prepare(state, prepared);
        self.bias.prepare(state, prepared);
    }

    fn is_trained(&self) -> bool {
        true
    }
}
