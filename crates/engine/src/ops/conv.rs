//! Convolutions over one or two axes; one axis is a picture of height one.

use super::Site;
use super::activation::{mask_by_relu, relu_in_place};
use super::batch_norm::NormCoefficients;
use super::linear::prepare_bias;
use super::param::{FoldedWeight, pass_gradient};
use crate::rounding::Rounding;
use crate::state::State;
use crate::step::{Memory, Step, Wires};
use kernels::conv::{ConvShape, conv_backward_data, conv_backward_weight, conv_forward};
use std::ops::Range;

/// A convolution, with what the planner fused into it.
pub(crate) struct Conv {
    shape: ConvShape,
    /// As the operator has it: three axes under one axis of space.
    weight_shape: Vec<usize>,
    weight: Range<usize>,
    /// Empty without a bias.
    bias: Range<usize>,
    weight_format: Option<Rounding>,
    bias_format: Option<Rounding>,
    relu: bool,
    skips_bias: bool,
    norm: Option<NormCoefficients>,
    folded: Option<FoldedWeight>,
}

pub(crate) fn conv1d(op: &ir::ops::conv::Conv1d, site: &Site) -> Conv {
    let one = |[n]: [usize; 1], default: usize| [default, n];
    let shape = ConvShape {
        batch: site.inputs[0][0],
        in_channels: op.in_channels,
        out_channels: op.out_channels,
        groups: op.groups,
        input: [1, site.inputs[0][2]],
        kernel: one(op.kernel_size, 1),
        stride: one(op.stride, 1),
        padding: one(op.padding, 0),
        dilation: one(op.dilation, 1),
    };
    Conv::new(shape, &op.kernel_size, site)
}

pub(crate) fn conv2d(op: &ir::ops::conv::Conv2d, site: &Site) -> Conv {
    let shape = ConvShape {
        batch: site.inputs[0][0],
        in_channels: op.in_channels,
        out_channels: op.out_channels,
        groups: op.groups,
        input: [site.inputs[0][2], site.inputs[0][3]],
        kernel: op.kernel_size,
        stride: op.stride,
        padding: op.padding,
        dilation: op.dilation,
    };
    Conv::new(shape, &op.kernel_size, site)
}

impl Conv {
    fn new(shape: ConvShape, kernel: &[usize], site: &Site) -> Self {
        let channels = [shape.out_channels, shape.in_channels / shape.groups];
        Self {
            weight_shape: [&channels, kernel].concat(),
            weight: site.param("weight"),
            bias: site.param("bias"),
            weight_format: site.rounding("weight"),
            bias_format: site.rounding("bias"),
            relu: site.fusion.relu,
            skips_bias: site.fusion.skips_bias || site.folded_norm().is_some(),
            norm: site
                .fusion
                .folded_norm
                .map(|norm| NormCoefficients::of(norm, site.graph(), site.state)),
            folded: FoldedWeight::of(site, shape.out_channels),
            shape,
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

    fn changed_len(&self) -> usize {
        if self.changes_weight() {
            self.weight.len()
        } else {
            0
        }
    }

    /// The weights and the bias row to use.
    fn operands<'a>(&self, wires: &Wires, memory: &Memory<'a>) -> (&'a [f32], Option<&'a [f32]>) {
        let prepared = &memory.prepared[wires.prepared.clone()];
        let (weight, bias) = prepared.split_at(self.changed_len());
        let bias = &bias[..self.shape.out_channels];
        let adds_bias = self.norm.is_some() || (!self.bias.is_empty() && !self.skips_bias);
        let weight = if self.changes_weight() {
            weight
        } else {
            &memory.state.trained[self.weight.clone()]
        };
        (weight, adds_bias.then_some(bias))
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
        conv_backward_weight(
            &self.shape,
            x,
            dy,
            weight_grad,
            has_bias.then_some(&mut *bias_grad),
            scratch,
        );
        if let Some(rounding) = &self.weight_format {
            let prepared = &memory.prepared[wires.prepared.clone()];
            let after_bias = self.changed_len() + self.shape.out_channels;
            let folded = self.folded.as_ref();
            let folded = folded.map(|folded| folded.parts(&prepared[after_bias..]));
            pass_gradient(rounding, &self.weight, &self.weight_shape, folded, memory);
        }
        if let (Some(rounding), true) = (&self.bias_format, has_bias) {
            let shape = [self.shape.out_channels];
            pass_gradient(rounding, &self.bias, &shape, None, memory);
        }
    }
}

impl Step for Conv {
    fn forward(&self, wires: &Wires, memory: &mut Memory) {
        let (weight, bias) = self.operands(wires, memory);
        let [x, y, scratch] = memory.split([wires.x(0), wires.y(), wires.scratch.clone()]);
        conv_forward(&self.shape, x, weight, bias, y, scratch);
        if self.relu {
            relu_in_place(y);
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
        conv_backward_data(&self.shape, dy, weight, dx, scratch);
        memory.commit_grad(wires, 0);
    }

    fn scratch_len(&self) -> usize {
        self.shape.scratch_len()
    }

    fn prepared_len(&self) -> usize {
        let folded = self.folded.as_ref().map_or(0, FoldedWeight::prepared_len);
        self.changed_len() + self.shape.out_channels + folded
    }

    fn prepare(&self, state: &State, prepared: &mut [f32]) {
        let own = &state.trained[self.weight.clone()];
        let (weight, rest) = prepared.split_at_mut(self.changed_len());
        let (bias, rest) = rest.split_at_mut(self.shape.out_channels);
        let own = match &self.folded {
            Some(folded) => {
                folded.prepare(state, rest);
                folded.parts(rest).0
            }
            None => own,
        };
        match &self.weight_format {
            Some(rounding) => rounding.round(state, own, &self.weight_shape, weight),
            None if self.norm.is_some() => weight.copy_from_slice(own),
            None => {}
        }
        prepare_bias(self.bias_format.as_ref(), state, &self.bias, bias);
        if let Some(norm) = &self.norm {
            norm.fold_into_rows(state, weight, bias);
        }
    }

    fn is_trained(&self) -> bool {
        true
    }
}

/// Convolutions in exact integers.
pub(crate) mod integer {
    use crate::integer::error::Refusal;
    use crate::integer::rows::{Rows, Windows};
    use crate::integer::{Lowered, Site};
    use crate::ops::linear::integer::product;
    use crate::ops::pool::integer::taps;
    use ir::ops::conv::Conv;

    pub(crate) fn lower<const K: usize>(op: &Conv<K>, site: &Site) -> Result<Lowered, Refusal> {
        let (input, output) = (&site.operands[0].shape, &site.outputs[0]);
        let window = op.window();
        let axis = |k: usize| taps(&window, k, input[2 + k], output[2 + k]);
        let [rows, columns] = match K {
            1 => [vec![vec![Some(0)]], axis(0)],
            _ => [axis(0), axis(1)],
        };
        let inner = rows.len() * columns.len();
        let windows = Windows {
            images: input[0],
            channels: op.in_channels,
            groups: op.groups,
            plane: input[2..].iter().product(),
            width: input[1 + K],
            rows,
            columns,
        };
        let taps = op.group_channels() * op.kernel_size.iter().product::<usize>();
        let columns = op.out_channels / op.groups;
        product(
            Rows::Windows(windows),
            op.groups,
            [taps, columns],
            op.bias,
            inner,
            site,
        )
    }
}
