//! A shard: the part of a batch that one thread works on at a time, with its own program, and memory of its own or shared
//! with others.

use crate::arena::Span;
use crate::profile::StepTime;
use crate::state::State;
use crate::step::{Memory, Step, Wires};
use crate::working_memory::{Arena, SharedArenas};
use ir::NodeId;
use random::Random;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A graph compiled for a number of rows: steps in execution order and where everything lies.
pub(crate) struct Program {
    pub rows: usize,
    pub steps: Vec<(Box<dyn Step>, Wires)>,
    /// Per step: the node that it is part of.
    pub nodes: Vec<NodeId>,
    pub arena_len: usize,
    pub prepared_len: usize,
    /// Per step: its prepared parameters.
    pub prepared: Vec<Span>,
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
    memory: ShardMemory,
    /// Gradients of the parameters over this shard's rows.
    pub grads: Vec<f32>,
    /// Sum of the losses and number of right answers, of the last loss computed.
    pub loss: (f64, usize),
    /// The times of steps since they were last taken; empty unless they are measured.
    pub times: Vec<StepTime>,
}

/// The memory that a shard runs in.
enum ShardMemory {
    /// An arena that keeps all values.
    Own(Arena),
    /// Inputs and results, one after the other; the arena between them is borrowed.
    Shared {
        kept: Vec<f32>,
        arenas: SharedArenas,
    },
}

impl Program {
    /// The places of the inputs and then of the results in the memory of a shard that shares its arena.
    fn kept(&self) -> impl Iterator<Item = (Span, &Span)> {
        let results = self.outputs.iter().map(|wire| &wire.value);
        self.inputs.iter().chain(results).scan(0, |start, span| {
            let first = *start;
            *start += span.len();
            Some((first..*start, span))
        })
    }

    /// Elements that a shard that shares its arena keeps.
    pub fn kept_len(&self) -> usize {
        self.kept().last().map_or(0, |(place, _)| place.end)
    }
}

impl Shard {
    pub fn new(program: Arc<Program>, first_row: usize, trained_len: usize) -> Self {
        let memory = ShardMemory::Own(Arena::new(program.arena_len));
        Self {
            program,
            first_row,
            memory,
            grads: vec![0.0; trained_len],
            loss: (0.0, 0),
            times: Vec::new(),
        }
    }

    /// A shard of a forward pass whose values between inputs and results nobody reads afterwards.
    pub fn sharing(program: Arc<Program>, first_row: usize, arenas: SharedArenas) -> Self {
        let kept = vec![0.0; program.kept_len()];
        Self {
            program,
            first_row,
            memory: ShardMemory::Shared { kept, arenas },
            grads: Vec::new(),
            loss: (0.0, 0),
            times: Vec::new(),
        }
    }

    pub fn rows(&self) -> usize {
        self.program.rows
    }

    /// The place of an input or result, and the memory it lies in.
    fn place(&self, at: usize, span: &Span) -> Span {
        match &self.memory {
            ShardMemory::Own(_) => span.clone(),
            ShardMemory::Shared { .. } => {
                let mut kept = self.program.kept();
                kept.nth(at).map_or(0..0, |(place, _)| place)
            }
        }
    }

    /// The values of placeholder `k`, for writing.
    pub fn input_mut(&mut self, k: usize) -> &mut [f32] {
        let place = self.place(k, &self.program.inputs[k]);
        &mut self.memory.all_mut()[place]
    }

    /// The values of result `k`.
    pub fn output(&self, k: usize) -> &[f32] {
        let program = &self.program;
        let place = self.place(program.inputs.len() + k, &program.outputs[k].value);
        &self.memory.all()[place]
    }

    /// The values at `span`, of a shard with an arena of its own.
    pub fn values(&self, span: &Span) -> &[f32] {
        &self.memory.all()[span.clone()]
    }

    /// The same for writing.
    pub fn values_mut(&mut self, span: &Span) -> &mut [f32] {
        &mut self.memory.all_mut()[span.clone()]
    }

    /// The values that step `at` has saved.
    pub fn saved(&mut self, at: usize) -> &mut [f32] {
        let span = self.program.steps[at].1.saved.clone();
        self.values_mut(&span)
    }

    /// The gradients of the results, side by side with the values.
    pub fn output_with_grad(&mut self, k: usize) -> Option<(&[f32], &mut [f32])> {
        let wire = &self.program.outputs[k];
        let [value, grad] = self
            .memory
            .all_mut()
            .get_disjoint_mut([wire.value.clone(), wire.grad.clone()?])
            .ok()?;
        Some((value, grad))
    }

    /// Runs steps of a segment with this shard's memory.
    pub fn run(&mut self, context: &Context, pass: Pass, steps: impl Iterator<Item = usize>) {
        match &mut self.memory {
            ShardMemory::Own(arena) => {
                let memory = memory(arena.all_mut(), &mut self.grads, self.first_row, context);
                run(&self.program, &mut self.times, memory, context, pass, steps);
            }
            ShardMemory::Shared { kept, arenas } => {
                let program = &self.program;
                let mut steps = steps.peekable();
                if steps.peek().is_none() {
                    return;
                }
                arenas.borrow(program.arena_len, |arena| {
                    for (place, span) in program.kept().take(program.inputs.len()) {
                        arena[span.clone()].copy_from_slice(&kept[place]);
                    }
                    let memory = memory(arena, &mut self.grads, self.first_row, context);
                    run(program, &mut self.times, memory, context, pass, steps);
                    for (place, span) in program.kept().skip(program.inputs.len()) {
                        kept[place].copy_from_slice(&arena[span.clone()]);
                    }
                });
            }
        }
    }
}

impl ShardMemory {
    /// The arena, or what is kept of it.
    fn all(&self) -> &[f32] {
        match self {
            Self::Own(arena) => arena.all(),
            Self::Shared { kept, .. } => kept,
        }
    }

    fn all_mut(&mut self) -> &mut [f32] {
        match self {
            Self::Own(arena) => arena.all_mut(),
            Self::Shared { kept, .. } => kept,
        }
    }
}

fn memory<'a>(
    arena: &'a mut [f32],
    grads: &'a mut [f32],
    first_row: usize,
    context: &Context<'a>,
) -> Memory<'a> {
    Memory {
        arena,
        grads,
        state: context.state,
        prepared: context.prepared,
        first_row,
        noise: context.noise,
    }
}

fn run(
    program: &Program,
    times: &mut Vec<StepTime>,
    mut memory: Memory,
    context: &Context,
    pass: Pass,
    steps: impl Iterator<Item = usize>,
) {
    for at in steps {
        if context.is_stopped() {
            return;
        }
        let (step, wires) = &program.steps[at];
        if matches!(pass, Pass::Backward) && !wires.has_backward {
            continue;
        }
        let mut run = || pass.run(step.as_ref(), wires, &mut memory);
        if context.is_timed {
            times.push(StepTime::of(at, pass, run));
        } else {
            run();
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
    /// The flag that ends the pass before its next step.
    pub stop: Option<&'a AtomicBool>,
}

impl Context<'_> {
    /// True when the pass is to end.
    pub fn is_stopped(&self) -> bool {
        self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed))
    }
}
