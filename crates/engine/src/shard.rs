//! A shard: the part of a batch that one thread works on at a time, with its own program and memory.

use crate::arena::{ALIGNMENT, Span};
use crate::profile::StepTime;
use crate::state::State;
use crate::step::{Memory, Step, Wires};
use ir::NodeId;
use random::Random;
use std::sync::Arc;

/// A graph compiled for a number of rows: steps in execution order and where everything lies.
pub(crate) struct Program {
    pub rows: usize,
    pub steps: Vec<(Box<dyn Step>, Wires)>,
    /// Per step: the node that it is part of.
    pub nodes: Vec<NodeId>,
    pub arena_len: usize,
    pub prepared_len: usize,
    /// Per placeholder, in order: where its values go.
    pub inputs: Vec<Span>,
    /// Per placeholder: where its gradient is, when the plan computes it.
    pub input_grads: Vec<Option<Span>>,
    /// Per result of the graph: its values and gradient.
    pub outputs: Vec<OutputWire>,
    /// Per observed port, in the order asked for: values and shape.
    pub observed: Vec<(Span, Vec<usize>)>,
}

/// A result of the graph.
#[derive(Clone, Debug)]
pub(crate) struct OutputWire {
    pub value: Span,
    pub grad: Option<Span>,
    pub shape: Vec<usize>,
}

/// Rows of a batch and the memory to run them.
pub(crate) struct Shard {
    pub program: Arc<Program>,
    pub first_row: usize,
    memory: Vec<f32>,
    /// The start of the arena in `memory`, so that buffers lie on cache lines.
    start: usize,
    /// Gradients of the parameters over this shard's rows.
    pub grads: Vec<f32>,
    /// Sum of the losses and number of right answers, of the last loss computed.
    pub loss: (f64, usize),
    /// The times of steps since they were last taken; empty unless they are measured.
    pub times: Vec<StepTime>,
}

impl Shard {
    pub fn new(program: Arc<Program>, first_row: usize, trained_len: usize) -> Self {
        let memory = vec![0.0; program.arena_len + ALIGNMENT];
        let start = memory
            .as_ptr()
            .align_offset(ALIGNMENT * size_of::<f32>())
            .min(ALIGNMENT);
        Self {
            program,
            first_row,
            memory,
            start,
            grads: vec![0.0; trained_len],
            loss: (0.0, 0),
            times: Vec::new(),
        }
    }

    pub fn rows(&self) -> usize {
        self.program.rows
    }

    /// The values at `span`.
    pub fn values(&self, span: &Span) -> &[f32] {
        &self.memory[self.start + span.start..self.start + span.end]
    }

    /// The values at `span`, for writing.
    pub fn values_mut(&mut self, span: &Span) -> &mut [f32] {
        &mut self.memory[self.start + span.start..self.start + span.end]
    }

    /// The values that step `at` has saved.
    pub fn saved(&mut self, at: usize) -> &mut [f32] {
        let span = self.program.steps[at].1.saved.clone();
        self.values_mut(&span)
    }

    /// The gradients of the results, side by side with the values.
    pub fn output_with_grad(&mut self, k: usize) -> Option<(&[f32], &mut [f32])> {
        let wire = &self.program.outputs[k];
        let [value, grad] = self.memory[self.start..]
            .get_disjoint_mut([wire.value.clone(), wire.grad.clone()?])
            .ok()?;
        Some((value, grad))
    }

    /// Runs steps of a segment with this shard's memory.
    pub fn run(&mut self, context: &Context, pass: Pass, steps: impl Iterator<Item = usize>) {
        let mut memory = Memory {
            arena: &mut self.memory[self.start..],
            grads: &mut self.grads,
            state: context.state,
            prepared: context.prepared,
            first_row: self.first_row,
            noise: context.noise,
        };
        for at in steps {
            let (step, wires) = &self.program.steps[at];
            if matches!(pass, Pass::Backward) && !wires.has_backward {
                continue;
            }
            let mut run = || pass.run(step.as_ref(), wires, &mut memory);
            if context.is_timed {
                self.times.push(StepTime::of(at, pass, run));
            } else {
                run();
            }
        }
    }
}

/// The work of a step in one direction.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Pass {
    Forward,
    /// The part of a forward step that follows the reduction over all shards.
    FinishForward,
    Backward,
    /// The part of a backward step that follows the reduction over all shards.
    FinishBackward,
}

impl Pass {
    fn run(self, step: &dyn Step, wires: &Wires, memory: &mut Memory) {
        match self {
            Self::Forward => step.forward(wires, memory),
            Self::FinishForward => {
                if let Some(step) = step.whole_batch() {
                    step.finish_forward(wires, memory);
                }
            }
            Self::Backward => step.backward(wires, memory),
            Self::FinishBackward => {
                if let Some(step) = step.whole_batch() {
                    step.finish_backward(wires, memory);
                }
            }
        }
    }
}

/// The data that all shards share during a pass.
#[derive(Clone, Copy)]
pub(crate) struct Context<'a> {
    pub state: &'a State,
    pub prepared: &'a [f32],
    pub noise: Random,
    /// Times every step.
    pub is_timed: bool,
}
