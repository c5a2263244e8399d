//! Fully connected layer: one matrix product forward, two backward; rounds its input as it loads it.

use super::activation::mask_by_relu;
use super::batch_norm::NormCoefficients;
use super::coded::Coded;
use super::param::{FoldedWeight, pass_gradient};
use super::{Lowered, Site};
use crate::rounding::{DataRounding, Rounding};
use crate::state::State;
use crate::step::{GradSlot, Memory, Step, Wires};
use kernels::gemm::{Init, gemm, gemm_relu};
use std::ops::Range;

/// The step of a fully connected layer.
pub(crate) fn lower(op: &ir::ops::linear::Linear, site: &Site) -> Lowered {
    if let Some(layer) = Coded::linear(op, site) {
        return Lowered::RoundingStep(Box::new(layer));
    }
    let layer = Linear::new(op, site);
    if site.learns("data_in_0") || layer.folded.is_some() {
        // The gradient of a scale needs that of the rounded input, which the layer does not keep; and so do the statistics
        // of a norm that is folded into it.
        return Lowered::Step(Box::new(Linear {
            data_format: None,
            ..layer
        }));
    }
    Lowered::RoundingStep(Box::new(layer))
}

/// The bias in its format; zeros for a layer without one.
pub(crate) fn prepare_bias(
    rounding: Option<&Rounding>,
    state: &State,
    range: &Range<usize>,
    bias: &mut [f32],
) {
    let own = &state.trained[range.clone()];
    match rounding {
        _ if own.is_empty() => bias.fill(0.0),
        Some(rounding) => rounding.round(state, own, &[own.len()], bias),
        None => bias.copy_from_slice(own),
    }
}

/// Rows rounded at a time: they stay in the first-level cache until the product has read them.
const ROUNDED_ROWS: usize = 64;

/// `y = x·Wᵀ + b`, with what the planner fused into it.
pub(crate) struct Linear {
    rows: usize,
    inputs: usize,
    outputs: usize,
    weight: Range<usize>,
    /// Empty without a bias.
    bias: Range<usize>,
    data_format: Option<DataRounding>,
    weight_format: Option<Rounding>,
    bias_format: Option<Rounding>,
    relu: bool,
    skips_bias: bool,
    norm: Option<NormCoefficients>,
    folded: Option<FoldedWeight>,
}

impl Linear {
    pub fn new(op: &ir::ops::linear::Linear, site: &Site) -> Self {
        Self {
            rows: site.inputs[0].iter().product::<usize>() / op.in_features,
            inputs: op.in_features,
            outputs: op.out_features,
            weight: site.param("weight"),
            bias: site.param("bias"),
            data_format: site.data_rounding(0),
            weight_format: site.rounding("weight"),
            bias_format: site.rounding("bias"),
            relu: site.fusion.relu,
            skips_bias: site.fusion.skips_bias || site.folded_norm().is_some(),
            norm: site
                .fusion
                .folded_norm
                .map(|norm| NormCoefficients::of(norm, site.graph(), site.state)),
            folded: FoldedWeight::of(site, op.out_features),
        }
    }

    /// The layer with its weight as it is trained, of inputs that are rounded already.
    pub fn product(op: &ir::ops::linear::Linear, site: &Site) -> Self {
        Self {
            data_format: None,
            weight_format: None,
            relu: false,
            folded: None,
            ..Self::new(op, site)
        }
    }

    fn weight_len(&self) -> usize {
        self.inputs * self.outputs
    }

    fn rounded_len(&self) -> usize {
        let is_rounded = self.weight_format.is_some();
        if is_rounded { self.weight_len() } else { 0 }
    }

    /// True when a bias row is added: one of its own, or the shift of a folded norm.
    fn adds_bias(&self) -> bool {
        self.norm.is_some() || (!self.bias.is_empty() && !self.skips_bias)
    }

    /// Prepared memory: the transposed weight, the rounded weight if there is one, the bias row, the folded weight.
    fn parts<'a>(&self, prepared: &'a [f32]) -> (&'a [f32], &'a [f32], &'a [f32]) {
        let (transposed, rest) = prepared.split_at(self.weight_len());
        let (rounded, rest) = rest.split_at(self.rounded_len());
        (transposed, rounded, &rest[..self.outputs])
    }

    /// The folded weight and its factors.
    fn folded<'a>(&self, prepared: &'a [f32]) -> Option<(&'a [f32], &'a [f32])> {
        let folded = self.folded.as_ref()?;
        Some(folded.parts(&prepared[prepared.len() - folded.prepared_len()..]))
    }

    /// Calls `work` with the first row, the number of rows and the (rounded) input of every piece.
    fn for_each_piece(
        &self,
        state: &State,
        x: &[f32],
        scratch: &mut [f32],
        mut work: impl FnMut(usize, usize, &[f32]),
    ) {
        let Some(format) = &self.data_format else {
            return work(0, self.rows, x);
        };
        let step = self.piece_rows();
        for (piece, x) in x.chunks(step * self.inputs).enumerate() {
            let rounded = &mut scratch[..x.len()];
            if step < self.rows {
                // A piece has no shape that matters: its elements are rounded alone.
                format.rounding.round(state, x, &[x.len()], rounded);
            } else {
                format.round(state, x, rounded);
            }
            work(piece * step, x.len() / self.inputs, rounded);
        }
    }

    fn piece_rows(&self) -> usize {
        match &self.data_format {
            Some(format) if format.rounding.rounds_alone() => ROUNDED_ROWS.min(self.rows),
            _ => self.rows,
        }
    }

    fn weight_backward(&self, wires: &Wires, memory: &mut Memory) {
        let Some(weight_grad) = memory.grads.get_mut(self.weight.clone()) else {
            return;
        };
        let (k, n) = (self.inputs, self.outputs);
        let spans = [wires.x(0), wires.dy(), wires.scratch.clone()];
        let [x, dy, scratch] = memory
            .arena
            .get_disjoint_mut(spans)
            .expect("disjoint by plan");
        self.for_each_piece(memory.state, x, scratch, |first, rows, x| {
            let dy = &dy[first * n..(first + rows) * n];
            let init = if first == 0 {
                Init::Zero
            } else {
                Init::Accumulate
            };
            gemm(n, rows, k, dy, 1, n, x, k, weight_grad, k, init);
        });
        if let Some(rounding) = &self.weight_format {
            let folded = self.folded(&memory.prepared[wires.prepared.clone()]);
            pass_gradient(rounding, &self.weight, &[n, k], folded, memory);
        }
        if self.bias.is_empty() || self.skips_bias {
            return;
        }
        let bias_grad = &mut memory.grads[self.bias.clone()];
        kernels::elementwise::col_sums(n, &memory.arena[wires.dy()], bias_grad);
        if let Some(rounding) = &self.bias_format {
            pass_gradient(rounding, &self.bias, &[n], None, memory);
        }
    }

    fn input_backward(&self, wires: &Wires, memory: &mut Memory) {
        let (m, k, n) = (self.rows, self.inputs, self.outputs);
        let (_, rounded, _) = self.parts(&memory.prepared[wires.prepared.clone()]);
        let weight = if self.weight_format.is_some() {
            rounded
        } else {
            &memory.state.trained[self.weight.clone()]
        };
        let Some(GradSlot { span, accumulate }) = &wires.inputs[0].grad else {
            return;
        };
        let Some(format) = &self.data_format else {
            let [dy, dx] = memory.split([wires.dy(), span.clone()]);
            let init = if *accumulate {
                Init::Accumulate
            } else {
                Init::Zero
            };
            return gemm(m, n, k, dy, n, 1, weight, k, dx, k, init);
        };
        let Some(target) = wires.grad_target(0) else {
            return;
        };
        let state = memory.state;
        let [x, dy, dx] = memory.split([wires.x(0), wires.dy(), target]);
        gemm(m, n, k, dy, n, 1, weight, k, dx, k, Init::Zero);
        format.backward(state, x, dx, None);
        memory.commit_grad(wires, 0);
    }
}

impl Step for Linear {
    fn forward(&self, wires: &Wires, memory: &mut Memory) {
        let (k, n) = (self.inputs, self.outputs);
        let (weight, _, bias) = self.parts(&memory.prepared[wires.prepared.clone()]);
        let state = memory.state;
        let [x, y, scratch] = memory.split([wires.x(0), wires.y(), wires.scratch.clone()]);
        self.for_each_piece(state, x, scratch, |first, rows, x| {
            let init = if self.adds_bias() {
                Init::Bias(bias)
            } else {
                Init::Zero
            };
            let y = &mut y[first * n..(first + rows) * n];
            if self.relu {
                gemm_relu(rows, k, n, x, weight, y, init);
            } else {
                gemm(rows, k, n, x, k, 1, weight, n, y, n, init);
            }
        });
    }

    fn backward(&self, wires: &Wires, memory: &mut Memory) {
        if self.relu {
            mask_by_relu(wires, memory);
        }
        self.weight_backward(wires, memory);
        self.input_backward(wires, memory);
    }

    fn scratch_len(&self) -> usize {
        if self.data_format.is_some() {
            self.piece_rows() * self.inputs
        } else {
            0
        }
    }

    fn prepared_len(&self) -> usize {
        let folded = self.folded.as_ref().map_or(0, FoldedWeight::prepared_len);
        self.weight_len() + self.rounded_len() + self.outputs + folded
    }

    fn prepare(&self, state: &State, prepared: &mut [f32]) {
        let (k, n) = (self.inputs, self.outputs);
        let own = &state.trained[self.weight.clone()];
        let (transposed, rest) = prepared.split_at_mut(self.weight_len());
        let (rounded, rest) = rest.split_at_mut(self.rounded_len());
        let (bias, rest) = rest.split_at_mut(n);
        let folded = self.folded.as_ref();
        let weight = folded.map_or(own, |folded| folded.prepare(state, rest));
        let used = match &self.weight_format {
            Some(format) => {
                format.round(state, weight, &[n, k], rounded);
                rounded
            }
            None => weight,
        };
        kernels::gemm::transpose(n, k, used, k, transposed, n);
        prepare_bias(self.bias_format.as_ref(), state, &self.bias, bias);
        if let Some(norm) = &self.norm {
            norm.fold_into_columns(state, transposed, bias);
        }
    }

    fn is_trained(&self) -> bool {
        true
    }
}

/// The layer in exact integers.
pub(crate) mod integer {
    use crate::integer::error::Refusal;
    use crate::integer::range::{CodeRange, product_frac};
    use crate::integer::{Lowered, Param, Rows, Site, Source, Stage, Weights};
    use crate::ops::batch_norm::integer::{affine, moved};

    pub(crate) fn lower(op: &ir::ops::linear::Linear, site: &Site) -> Result<Lowered, Refusal> {
        let x = &site.operands[0];
        let rows = Rows::Dense {
            count: x.shape.iter().product::<usize>() / op.in_features,
        };
        product(rows, 1, [op.in_features, op.out_features], op.bias, 1, site)
    }

    /// A product of rows with the node's weights, `groups` times k×n of them, and its bias, whose channels have `inner`
    /// elements of the result each.
    pub(crate) fn product(
        rows: Rows,
        groups: usize,
        [k, n]: [usize; 2],
        has_bias: bool,
        inner: usize,
        site: &Site,
    ) -> Result<Lowered, Refusal> {
        let weight = site.param("weight")?;
        let x = site.operands[0].range;
        let x = if rows.has_padding() { x.with_zero() } else { x };
        let frac = product_frac(x.frac, weight.frac)?;
        let (start, stages) = match has_bias.then(|| site.param("bias")).transpose()? {
            None => (vec![0; groups * n], Vec::new()),
            Some(bias) if bias.frac <= frac => (moved(&bias.codes, bias.frac, frac)?, Vec::new()),
            // A bias finer than the products is added after them.
            Some(bias) => (vec![0; groups * n], vec![finer_bias(frac, &bias, inner)?]),
        };
        let weights = Weights {
            groups,
            k,
            n,
            codes: weight.codes,
            start,
        };
        let range = weights.range(x)?;
        let source = Source::Layer { rows, weights };
        let range = CodeRange { frac, ..range };
        Ok(Lowered::Step(Box::new(source), range, stages))
    }

    fn finer_bias(frac: i32, bias: &Param, inner: usize) -> Result<Stage, Refusal> {
        let ones = Param {
            codes: vec![1; bias.codes.len()],
            frac: 0,
        };
        affine(frac, &ones, bias, inner)
    }
}
