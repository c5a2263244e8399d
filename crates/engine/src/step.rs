//! The parts of a plan: steps, the wires between them, and the memory they work on.

use crate::arena::Span;
use crate::shard::Shard;
use crate::state::State;
use random::Random;

/// One operation of a plan, compiled for the rows of one shard.
///
/// A step owns no memory: its [`Wires`] say where its operands lie, and [`Memory`] holds them. Gradients of inputs are
/// overwritten by the first step that contributes and added to by the later ones; [`Wires::grad_target`] and
/// [`Memory::commit_grad`] hide that.
pub(crate) trait Step: Send + Sync {
    /// Computes the outputs from the inputs.
    fn forward(&self, wires: &Wires, memory: &mut Memory);

    /// Adds to the gradients of inputs and parameters, given those of the outputs.
    fn backward(&self, wires: &Wires, memory: &mut Memory);

    /// Elements of memory kept from the forward to the backward pass.
    fn saved_len(&self) -> usize {
        0
    }

    /// Elements of working memory during a call.
    fn scratch_len(&self) -> usize {
        0
    }

    /// Elements of prepared parameters, such as rounded or transposed weights.
    fn prepared_len(&self) -> usize {
        0
    }

    /// Fills the prepared parameters; called when the parameters have changed.
    fn prepare(&self, _state: &State, _prepared: &mut [f32]) {}

    /// True when the step has parameters to train.
    fn is_trained(&self) -> bool {
        false
    }

    /// The second half of a step whose result depends on the whole batch.
    fn whole_batch(&self) -> Option<&dyn WholeBatch> {
        None
    }
}

/// A step that needs a reduction over all shards in the middle of each pass.
///
/// `Step::forward` leaves what this shard knows in its saved memory; `combine_forward` merges the shards in their
/// order and gives each the result; `finish_forward` goes on. The same holds for the backward pass.
pub(crate) trait WholeBatch {
    /// Merges what the shards have saved for step `at`.
    fn combine_forward(&self, at: usize, shards: &mut [Shard], state: &mut State);

    /// Computes the outputs from the merged knowledge.
    fn finish_forward(&self, wires: &Wires, memory: &mut Memory);

    /// Merges the shards' sums of step `at`; gradients of its parameters go into the first shard's.
    fn combine_backward(&self, at: usize, shards: &mut [Shard], state: &State);

    /// Computes the gradients of the inputs.
    fn finish_backward(&self, wires: &Wires, memory: &mut Memory);
}

/// An operand of a step.
#[derive(Clone, Debug)]
pub(crate) struct Wire {
    /// The span of the values.
    pub value: Span,
    /// The concrete shape.
    pub shape: Vec<usize>,
    /// The span of the gradient, when one is wanted.
    pub grad: Option<GradSlot>,
}

/// The destination of a gradient.
#[derive(Clone, Debug)]
pub(crate) struct GradSlot {
    pub span: Span,
    /// Another step has contributed already: add instead of overwriting.
    pub accumulate: bool,
}

/// Everything a step is connected to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wires {
    pub inputs: Vec<Wire>,
    pub outputs: Vec<Wire>,
    pub saved: Span,
    pub scratch: Span,
    /// A gradient that must be added is computed here first.
    pub spill: Span,
    pub prepared: Span,
    /// True when gradients reach this step.
    pub has_backward: bool,
}

impl Wires {
    /// The span of input `i`.
    pub fn x(&self, i: usize) -> Span {
        self.inputs[i].value.clone()
    }

    /// The span of output 0.
    pub fn y(&self) -> Span {
        self.outputs[0].value.clone()
    }

    /// The span of the gradient of output 0. Only called in a backward pass, where it exists.
    pub fn dy(&self) -> Span {
        self.outputs[0]
            .grad
            .as_ref()
            .map_or(0..0, |slot| slot.span.clone())
    }

    /// The span in which a step overwrites the gradient of input `i`, if one is wanted; [`Memory::commit_grad`] follows.
    pub fn grad_target(&self, i: usize) -> Option<Span> {
        let slot = self.inputs[i].grad.as_ref()?;
        Some(if slot.accumulate {
            self.spilled(i)
        } else {
            slot.span.clone()
        })
    }

    /// The part of the spill for input `i`; every input that must be added has its own.
    fn spilled(&self, i: usize) -> Span {
        let added = |wire: &Wire| match &wire.grad {
            Some(slot) if slot.accumulate => slot.span.len(),
            _ => 0,
        };
        let start = self.spill.start + self.inputs[..i].iter().map(added).sum::<usize>();
        start..start + added(&self.inputs[i])
    }
}

/// Several buffers of an arena at once. The planner never gives a step overlapping buffers.
pub(crate) fn split<const N: usize>(arena: &mut [f32], spans: [Span; N]) -> [&mut [f32]; N] {
    arena
        .get_disjoint_mut(spans)
        .expect("the planner gives a step disjoint buffers inside the arena")
}

/// The memory that a shard's steps work on.
pub(crate) struct Memory<'a> {
    /// Values, gradients, saved and working memory of this shard.
    pub arena: &'a mut [f32],
    /// Gradients of the parameters over this shard's rows, laid out as the parameters.
    pub grads: &'a mut [f32],
    /// The parameters.
    pub state: &'a State,
    /// Prepared parameters of all steps.
    pub prepared: &'a [f32],
    /// The first row of this shard in the batch.
    pub first_row: usize,
    /// Random numbers of this training step.
    pub noise: Random,
}

impl Memory<'_> {
    /// Several buffers at once.
    pub fn split<const N: usize>(&mut self, spans: [Span; N]) -> [&mut [f32]; N] {
        split(self.arena, spans)
    }

    /// Ends the writing of a gradient to [`Wires::grad_target`]: adds it where another step has contributed already.
    pub fn commit_grad(&mut self, wires: &Wires, i: usize) {
        if let Some(GradSlot {
            span,
            accumulate: true,
        }) = &wires.inputs[i].grad
        {
            let [added, gradient] = self.split([wires.spilled(i), span.clone()]);
            kernels::elementwise::add_assign(added, gradient);
        }
    }
}
