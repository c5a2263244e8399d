//! Convolutions over one or two axes; one axis is a picture of height one.

pub(crate) mod integer;
mod kernel;

use super::activation::mask_by_relu;
use super::batch_norm::NormCoefficients;
use super::coded::Coded;
use super::linear::prepare_bias;
use super::param::{FoldedWeight, pass_gradient};
use super::{Lowered, Site};
use crate::order::Order;
use crate::rounding::Rounding;
use crate::state::State;
use crate::step::{Memory, Step, Wires};
use kernel::{Freedom, Kernel, WeightParts};
use kernels::bounds;
use kernels::conv::ConvShape;
use std::ops::Range;

/// A convolution, with what the planner fused into it.
pub(crate) struct Conv {
    kernel: Kernel,
    out_channels: usize,
    /// As the operator has it: three axes under one axis of space.
    weight_shape: Vec<usize>,
    weight: Range<usize>,
    /// Empty without a bias.
    bias: Range<usize>,
    weight_format: Option<Rounding>,
    bias_format: Option<Rounding>,
    relu: bool,
    /// The relu is cut off here.
    ceiling: f32,
    skips_bias: bool,
    norm: Option<NormCoefficients>,
    folded: Option<FoldedWeight>,
}

/// The step of a convolution over one axis.
pub(crate) fn lower1d(op: &ir::ops::conv::Conv1d, site: &Site) -> Lowered {
    on_codes(shape1d(op, &site.inputs[0]), site).unwrap_or_else(|| conv1d(op, site).into())
}

/// The step of a convolution over two axes.
pub(crate) fn lower2d(op: &ir::ops::conv::Conv2d, site: &Site) -> Lowered {
    on_codes(shape2d(op, &site.inputs[0]), site).unwrap_or_else(|| conv2d(op, site).into())
}

fn on_codes(shape: ConvShape, site: &Site) -> Option<Lowered> {
    let coded = Coded::convolution(shape, site).filter(|_| site.order == Order::Pixels)?;
    Some(Lowered::RoundingStep(Box::new(coded)))
}

pub(crate) fn conv1d(op: &ir::ops::conv::Conv1d, site: &Site) -> Conv {
    Conv::new(shape1d(op, &site.inputs[0]), &op.kernel_size, site)
}

pub(crate) fn conv2d(op: &ir::ops::conv::Conv2d, site: &Site) -> Conv {
    Conv::new(shape2d(op, &site.inputs[0]), &op.kernel_size, site)
}

/// The sizes of a convolution over one axis.
pub(crate) fn shape1d(op: &ir::ops::conv::Conv1d, input: &[usize]) -> ConvShape {
    let one = |[n]: [usize; 1], default: usize| [default, n];
    ConvShape {
        batch: input[0],
        in_channels: op.in_channels,
        out_channels: op.out_channels,
        groups: op.groups,
        input: [1, input[2]],
        kernel: one(op.kernel_size, 1),
        stride: one(op.stride, 1),
        padding: one(op.padding, 0),
        dilation: one(op.dilation, 1),
    }
}

/// The sizes of a convolution over two axes.
pub(crate) fn shape2d(op: &ir::ops::conv::Conv2d, input: &[usize]) -> ConvShape {
    ConvShape {
        batch: input[0],
        in_channels: op.in_channels,
        out_channels: op.out_channels,
        groups: op.groups,
        input: [input[2], input[3]],
        kernel: op.kernel_size,
        stride: op.stride,
        padding: op.padding,
        dilation: op.dilation,
    }
}

impl Conv {
    fn new(shape: ConvShape, kernel: &[usize], site: &Site) -> Self {
        let channels = [shape.out_channels, shape.in_channels / shape.groups];
        let freedom = Freedom {
            order: site.order,
            has_gradients: site.has_gradients,
            any_rounding: site.may_fuse && site.node.formats.is_empty(),
        };
        Self {
            weight_shape: [&channels, kernel].concat(),
            weight: site.param("weight"),
            bias: site.param("bias"),
            weight_format: site.rounding("weight"),
            bias_format: site.rounding("bias"),
            relu: site.fusion.relu,
            ceiling: site.fusion.ceiling(),
            skips_bias: site.fusion.skips_bias || site.folded_norm().is_some(),
            norm: site
                .fusion
                .folded_norm
                .map(|norm| NormCoefficients::of(norm, site.graph(), site.state)),
            folded: FoldedWeight::of(site, shape.out_channels),
            out_channels: shape.out_channels,
            kernel: Kernel::new(shape, freedom),
        }
    }

    /// The convolution with its weight as it is trained.
    pub fn product(self) -> Self {
        Self {
            weight_format: None,
            relu: false,
            folded: None,
            ..self
        }
    }

    /// True when the weights used are others than those trained.
    fn changes_weight(&self) -> bool {
        self.weight_format.is_some() || self.norm.is_some()
    }

    /// The lengths of the prepared parts: weights as used where they are not those trained, weights as the kernel packs
    /// them, the bias, and the weights with a norm folded into them, before they are rounded.
    fn prepared_lens(&self) -> [usize; 4] {
        let used = if self.changes_weight() {
            self.weight.len()
        } else {
            0
        };
        let folded = self.folded.as_ref().map_or(0, FoldedWeight::prepared_len);
        [used, self.kernel.packed_len(), self.out_channels, folded]
    }

    /// The weights and the bias row to use.
    fn operands<'a>(
        &self,
        wires: &Wires,
        memory: &Memory<'a>,
    ) -> (WeightParts<'a>, Option<&'a [f32]>) {
        let prepared = &memory.prepared[wires.prepared.clone()];
        let [used_len, packed_len, bias_len, _] = self.prepared_lens();
        let (used, rest) = prepared.split_at(used_len);
        let (packed, rest) = rest.split_at(packed_len);
        let bias = &rest[..bias_len];
        let adds_bias = self.norm.is_some() || (!self.bias.is_empty() && !self.skips_bias);
        let used = if self.changes_weight() {
            used
        } else {
            &memory.state.trained[self.weight.clone()]
        };
        (WeightParts { used, packed }, adds_bias.then_some(bias))
    }

    fn weight_backward(&self, wires: &Wires, memory: &mut Memory) {
        if memory.grads.is_empty() {
            return;
        }
        let has_bias = !self.bias.is_empty() && !self.skips_bias;
        let bias = if has_bias { self.bias.clone() } else { 0..0 };
        let [weight_grad, bias_grad] = memory
            .grads
            .get_disjoint_mut([self.weight.clone(), bias])
            .expect("parameters are disjoint");
        let spans = [wires.x(0), wires.dy(), wires.scratch.clone()];
        let [x, dy, scratch] = memory
            .arena
            .get_disjoint_mut(spans)
            .expect("disjoint by plan");
        let bias_grad = has_bias.then_some(&mut *bias_grad);
        self.kernel
            .backward_weight(x, dy, weight_grad, bias_grad, scratch);
        if let Some(rounding) = &self.weight_format {
            let prepared = &memory.prepared[wires.prepared.clone()];
            let [_, _, _, folded_len] = self.prepared_lens();
            let folded = self.folded.as_ref();
            let folded =
                folded.map(|folded| folded.parts(&prepared[prepared.len() - folded_len..]));
            pass_gradient(rounding, &self.weight, &self.weight_shape, folded, memory);
        }
        if let (Some(rounding), true) = (&self.bias_format, has_bias) {
            pass_gradient(rounding, &self.bias, &[self.out_channels], None, memory);
        }
    }
}

impl Step for Conv {
    fn forward(&self, wires: &Wires, memory: &mut Memory) {
        let (weight, bias) = self.operands(wires, memory);
        let [x, y, scratch] = memory.split([wires.x(0), wires.y(), wires.scratch.clone()]);
        let clamp = self.relu.then_some((0.0, self.ceiling));
        if let Some((low, high)) = self.kernel.forward(x, weight, bias, clamp, y, scratch) {
            bounds::clamp(y, low, high);
        }
    }

    fn backward(&self, wires: &Wires, memory: &mut Memory) {
        if self.relu {
            mask_by_relu(wires, memory);
        }
        self.weight_backward(wires, memory);
        let Some(target) = wires.grad_target(0) else {
            return;
        };
        let (weight, _) = self.operands(wires, memory);
        let [dy, dx, scratch] = memory.split([wires.dy(), target, wires.scratch.clone()]);
        self.kernel.backward_data(dy, weight, dx, scratch);
        memory.commit_grad(wires, 0);
    }

    fn scratch_len(&self) -> usize {
        self.kernel.scratch_len()
    }

    fn prepared_len(&self) -> usize {
        self.prepared_lens().iter().sum()
    }

    fn prepare(&self, state: &State, prepared: &mut [f32]) {
        let own = &state.trained[self.weight.clone()];
        let [used_len, packed_len, bias_len, _] = self.prepared_lens();
        let (used, rest) = prepared.split_at_mut(used_len);
        let (packed, rest) = rest.split_at_mut(packed_len);
        let (bias, rest) = rest.split_at_mut(bias_len);
        let folded = self.folded.as_ref();
        let own = folded.map_or(own, |folded| folded.prepare(state, rest));
        match &self.weight_format {
            Some(rounding) => rounding.round(state, own, &self.weight_shape, used),
            None if self.norm.is_some() => used.copy_from_slice(own),
            None => {}
        }
        prepare_bias(self.bias_format.as_ref(), state, &self.bias, bias);
        if let Some(norm) = &self.norm {
            norm.fold_into_rows(state, used, bias);
        }
        let used = if self.changes_weight() { used } else { own };
        self.kernel.pack(used, packed);
    }

    fn is_trained(&self) -> bool {
        true
    }
}
