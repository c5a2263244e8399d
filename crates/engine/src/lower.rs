//! From a verified graph to a program: one step per node or fused group, rounding steps where ports have formats,
//! gradients wired backwards, and a place in the arena for every buffer.

use crate::EngineError;
use crate::arena::{Lifetime, Span, place};
use crate::fuse::{Fusion, fuse};
use crate::ops::{self, Lowered, Site};
use crate::plan::PlanOptions;
use crate::shard::{OutputWire, Program};
use crate::state::State;
use crate::step::{GradSlot, Step, Wire, Wires};
use ir::{DType, Node, NodeId, Op, Value, Verified};
use std::collections::HashMap;

/// Compiles the graph for `rows` rows out of a batch of `batch` rows.
pub(crate) fn lower(
    verified: &Verified,
    options: &PlanOptions,
    state: &State,
    rows: usize,
) -> Result<Program, EngineError> {
    let mut lowering = Lowering {
        verified,
        options,
        state,
        rows,
        fusions: fuse(verified, options),
        slots: Vec::new(),
        storages: Vec::new(),
        drafts: Vec::new(),
        values: HashMap::new(),
        inputs: Vec::new(),
        outputs: Vec::new(),
    };
    for (id, node) in verified.graph().iter() {
        lowering.node(id, node)?;
    }
    Ok(lowering.finish())
}

/// A value inside the program. Several slots may share one storage: a reshape is only a new shape.
#[derive(Clone, Debug)]
struct Slot {
    shape: Vec<usize>,
    storage: usize,
}

/// A buffer with room for a value, and for its gradient when it needs one.
#[derive(Clone, Debug)]
struct Storage {
    len: usize,
    needs_grad: bool,
    /// The step that makes it; none for inputs.
    made_by: Option<usize>,
}

/// A step whose operands have no place in memory yet.
struct Draft {
    step: Box<dyn Step>,
    inputs: Vec<usize>,
    outputs: Vec<usize>,
}

struct Lowering<'a> {
    verified: &'a Verified<'a>,
    options: &'a PlanOptions,
    state: &'a State,
    rows: usize,
    fusions: Vec<Fusion>,
    slots: Vec<Slot>,
    storages: Vec<Storage>,
    drafts: Vec<Draft>,
    values: HashMap<Value, usize>,
    inputs: Vec<usize>,
    outputs: Vec<usize>,
}

impl Lowering<'_> {
    fn node(&mut self, id: NodeId, node: &Node) -> Result<(), EngineError> {
        match &node.op {
            Op::Placeholder(_) => {
                let differentiable = self.verified.ty(id.into()).dtype == DType::F32;
                let shape = self.shapes(id, node)?.remove(0);
                let slot =
                    self.new_slot(shape, self.options.gradients.inputs && differentiable, None);
                self.inputs.push(slot);
                self.define(id, node, vec![slot]);
            }
            Op::Output(_) => {
                let slots = node.inputs.iter().map(|value| self.values[value]).collect();
                self.outputs = self.without_duplicates(slots);
            }
            _ => self.operator(id, node)?,
        }
        Ok(())
    }

    fn operator(&mut self, id: NodeId, node: &Node) -> Result<(), EngineError> {
        if let Some(maker) = self.fusions[id.index()].made_by {
            let slot = self.values[&Value::from(maker)];
            self.define(id, node, vec![slot]);
            return Ok(());
        }
        let output_shapes = self.shapes(id, node)?;
        let mut inputs: Vec<usize> = node.inputs.iter().map(|value| self.values[value]).collect();
        let site = Site {
            id,
            node,
            graph: self.verified.graph(),
            state: self.state,
            inputs: inputs
                .iter()
                .map(|&slot| self.slots[slot].shape.clone())
                .collect(),
            outputs: output_shapes.clone(),
            mode: self.options.mode,
            fusion: &self.fusions[id.index()],
            batch: self.options.rows,
            rows: self.rows,
        };
        let lowered = ops::lower(&site)?;
        let rounds_itself = matches!(&lowered, Lowered::RoundingStep(_));
        if !rounds_itself {
            inputs = self.round_inputs(node, &inputs);
        }
        let step = match lowered {
            Lowered::SameElements => {
                let storage = self.slots[inputs[0]].storage;
                let shape = output_shapes[0].clone();
                self.slots.push(Slot { shape, storage });
                self.define(id, node, vec![self.slots.len() - 1]);
                return Ok(());
            }
            Lowered::Step(step) | Lowered::RoundingStep(step) => step,
        };
        let inputs = self.without_duplicates(inputs);
        let outputs = self.emit(step, inputs, output_shapes);
        self.define(id, node, outputs);
        Ok(())
    }

    /// Puts a rounding step before every data input that has a format.
    fn round_inputs(&mut self, node: &Node, inputs: &[usize]) -> Vec<usize> {
        let ports = node.data_ports();
        let rounded = inputs
            .iter()
            .zip(ports)
            .map(|(&slot, port)| match node.formats.get(&port) {
                Some(format) => self.round(format, slot),
                None => slot,
            });
        rounded.collect()
    }

    fn round(&mut self, format: &format::Format, slot: usize) -> usize {
        let shape = self.slots[slot].shape.clone();
        let step = ops::quantize::Quantize {
            format: format.clone(),
            shape: shape.clone(),
        };
        self.emit(Box::new(step), vec![slot], vec![shape])[0]
    }

    /// A step gets each buffer once: a second reading of the same one goes through a copy.
    fn without_duplicates(&mut self, inputs: Vec<usize>) -> Vec<usize> {
        let mut distinct: Vec<usize> = Vec::with_capacity(inputs.len());
        for slot in inputs {
            let storage = self.slots[slot].storage;
            let seen = distinct
                .iter()
                .any(|&other| self.slots[other].storage == storage);
            let slot = if seen {
                let shape = self.slots[slot].shape.clone();
                self.emit(Box::new(ops::permute::Copy), vec![slot], vec![shape])[0]
            } else {
                slot
            };
            distinct.push(slot);
        }
        distinct
    }

    fn emit(
        &mut self,
        step: Box<dyn Step>,
        inputs: Vec<usize>,
        shapes: Vec<Vec<usize>>,
    ) -> Vec<usize> {
        let from_inputs = inputs
            .iter()
            .any(|&slot| self.storages[self.slots[slot].storage].needs_grad);
        let needs_grad = self.options.gradients.any() && (from_inputs || step.is_trained());
        let made_by = Some(self.drafts.len());
        let outputs: Vec<usize> = shapes
            .into_iter()
            .map(|shape| self.new_slot(shape, needs_grad, made_by))
            .collect();
        self.drafts.push(Draft {
            step,
            inputs,
            outputs: outputs.clone(),
        });
        outputs
    }

    /// Makes `slots` the results of a node, rounded where the node's results have formats.
    fn define(&mut self, id: NodeId, node: &Node, slots: Vec<usize>) {
        for (output, mut slot) in slots.into_iter().enumerate() {
            if let Some(format) = node.formats.get(&format!("data_out_{output}")) {
                slot = self.round(format, slot);
            }
            let value = Value {
                node: id,
                output: output as u16,
            };
            self.values.insert(value, slot);
        }
    }

    fn new_slot(&mut self, shape: Vec<usize>, needs_grad: bool, made_by: Option<usize>) -> usize {
        let len = shape.iter().product();
        self.storages.push(Storage {
            len,
            needs_grad,
            made_by,
        });
        self.slots.push(Slot {
            shape,
            storage: self.storages.len() - 1,
        });
        self.slots.len() - 1
    }

    fn shapes(&self, id: NodeId, node: &Node) -> Result<Vec<Vec<usize>>, EngineError> {
        let too_large = || EngineError::TooLarge {
            node: node.name.clone(),
            rows: self.options.rows,
        };
        let bound = self
            .verified
            .outputs(id)
            .iter()
            .map(|ty| ty.shape.bind(self.rows));
        bound.collect::<Option<_>>().ok_or_else(too_large)
    }

    fn finish(self) -> Program {
        let gradients = self.wire_gradients();
        let layout = self.lay_out(&gradients);
        let n = self.drafts.len();
        let mut prepared_len = 0;
        let wire = |slot: usize, grad: Option<GradSlot>| Wire {
            value: layout.values[self.slots[slot].storage].clone(),
            shape: self.slots[slot].shape.clone(),
            grad,
        };
        let grad_span = |slot: usize| layout.grads[self.slots[slot].storage].clone();
        let mut wires = Vec::with_capacity(n);
        for (at, draft) in self.drafts.iter().enumerate() {
            let flow = &gradients.steps[at];
            let prepared = prepared_len..prepared_len + draft.step.prepared_len();
            prepared_len = prepared.end.next_multiple_of(crate::arena::ALIGNMENT);
            let inputs = draft
                .inputs
                .iter()
                .zip(&flow.inputs)
                .map(|(&slot, contribution)| {
                    let grad = contribution.map(|accumulate| GradSlot {
                        span: grad_span(slot),
                        accumulate,
                    });
                    wire(slot, grad)
                });
            let outputs = draft.outputs.iter().map(|&slot| {
                let reached = gradients.reached[self.slots[slot].storage];
                wire(
                    slot,
                    reached.then(|| GradSlot {
                        span: grad_span(slot),
                        accumulate: false,
                    }),
                )
            });
            wires.push(Wires {
                inputs: inputs.collect(),
                outputs: outputs.collect(),
                saved: layout.saved[at].clone(),
                scratch: layout.scratch.clone(),
                spill: layout.spill.clone(),
                prepared,
                has_backward: flow.active,
            });
        }
        let output = |&slot: &usize| OutputWire {
            value: layout.values[self.slots[slot].storage].clone(),
            grad: gradients.reached[self.slots[slot].storage].then(|| grad_span(slot)),
            shape: self.slots[slot].shape.clone(),
        };
        let observed = self.observed_slots();
        Program {
            rows: self.rows,
            arena_len: layout.len,
            prepared_len,
            input_grads: self
                .inputs
                .iter()
                .map(|&slot| gradients.reached[self.slots[slot].storage].then(|| grad_span(slot)))
                .collect(),
            inputs: self
                .inputs
                .iter()
                .map(|&slot| layout.values[self.slots[slot].storage].clone())
                .collect(),
            outputs: self.outputs.iter().map(output).collect(),
            observed: observed
                .iter()
                .map(|&slot| (wire(slot, None).value, self.slots[slot].shape.clone()))
                .collect(),
            steps: self
                .drafts
                .into_iter()
                .map(|draft| draft.step)
                .zip(wires)
                .collect(),
        }
    }

    fn observed_slots(&self) -> Vec<usize> {
        let graph = self.verified.graph();
        let ports = self.options.observe.iter();
        ports
            .filter_map(|port| self.values.get(&port.value(graph)?).copied())
            .collect()
    }

    /// Walks the steps backwards from the results: which steps gradients reach, and who writes first.
    fn wire_gradients(&self) -> GradientFlow {
        let mut reached = vec![false; self.storages.len()];
        if self.options.gradients.any() {
            for &slot in &self.outputs {
                let storage = self.slots[slot].storage;
                reached[storage] = self.storages[storage].needs_grad;
            }
        }
        let mut steps: Vec<StepFlow> = Vec::with_capacity(self.drafts.len());
        for draft in self.drafts.iter().rev() {
            let active = draft
                .outputs
                .iter()
                .any(|&slot| reached[self.slots[slot].storage]);
            let inputs = draft.inputs.iter().map(|&slot| {
                let storage = self.slots[slot].storage;
                let wanted = active && self.storages[storage].needs_grad;
                wanted.then(|| std::mem::replace(&mut reached[storage], true))
            });
            let inputs = inputs.collect();
            steps.push(StepFlow { active, inputs });
        }
        steps.reverse();
        GradientFlow { reached, steps }
    }

    /// Times: step i runs forward at i and backward at 2n − 1 − i; `end` is after everything.
    fn lay_out(&self, gradients: &GradientFlow) -> Layout {
        let n = self.drafts.len();
        let end = 2 * n;
        let backward_at = |at: usize| 2 * n - 1 - at;
        let storages = self.storages.len();
        let mut values: Vec<Lifetime> = self
            .storages
            .iter()
            .map(|s| alive(s.len, s.made_by.unwrap_or(0)))
            .collect();
        let mut grads: Vec<Lifetime> = (0..storages)
            .map(|s| {
                let len = if gradients.reached[s] {
                    self.storages[s].len
                } else {
                    0
                };
                Lifetime {
                    len,
                    first: n,
                    last: self.storages[s].made_by.map_or(end, backward_at),
                }
            })
            .collect();
        let mut saved = Vec::with_capacity(n);
        for (at, draft) in self.drafts.iter().enumerate() {
            let active = gradients.steps[at].active;
            let until = if active { backward_at(at) } else { at };
            saved.push(Lifetime {
                len: draft.step.saved_len(),
                first: at,
                last: until,
            });
            for &slot in draft.inputs.iter().chain(&draft.outputs) {
                let value = &mut values[self.slots[slot].storage];
                value.last = value.last.max(until);
            }
        }
        self.start_gradients_late(gradients, &mut grads);
        for slot in self.outputs.iter().copied().chain(self.observed_slots()) {
            values[self.slots[slot].storage].last = end;
        }
        let all: Vec<Lifetime> = values.iter().chain(&grads).chain(&saved).copied().collect();
        let (mut spans, len) = place(&all);
        let saved = spans.split_off(2 * storages);
        let grads = spans.split_off(storages);
        let (scratch_len, spill_len) = self.working_memory(gradients);
        let scratch = len..len + scratch_len;
        let spill_start = scratch.end.next_multiple_of(crate::arena::ALIGNMENT);
        let spill = spill_start..spill_start + spill_len;
        Layout {
            values: spans,
            grads,
            saved,
            len: spill.end,
            scratch,
            spill,
        }
    }

    /// A gradient exists from its first contribution; that of a result from the start of the backward pass.
    fn start_gradients_late(&self, gradients: &GradientFlow, grads: &mut [Lifetime]) {
        let n = self.drafts.len();
        let is_result = |storage: usize| {
            self.outputs
                .iter()
                .any(|&slot| self.slots[slot].storage == storage)
        };
        for (at, draft) in self.drafts.iter().enumerate() {
            for (&slot, contribution) in draft.inputs.iter().zip(&gradients.steps[at].inputs) {
                let storage = self.slots[slot].storage;
                if *contribution == Some(false) && !is_result(storage) {
                    grads[storage].first = 2 * n - 1 - at;
                }
            }
        }
    }

    /// The largest working memory of any step, and the most that a step has to add to other gradients.
    fn working_memory(&self, gradients: &GradientFlow) -> (usize, usize) {
        let scratch = self.drafts.iter().map(|draft| draft.step.scratch_len());
        let spill = self
            .drafts
            .iter()
            .zip(&gradients.steps)
            .map(|(draft, flow)| {
                let added = draft.inputs.iter().zip(&flow.inputs);
                let added = added.filter(|(_, contribution)| **contribution == Some(true));
                let lengths = added.map(|(&slot, _)| self.storages[self.slots[slot].storage].len);
                lengths.sum::<usize>()
            });
        (scratch.max().unwrap_or(0), spill.max().unwrap_or(0))
    }
}

fn alive(len: usize, first: usize) -> Lifetime {
    Lifetime {
        len,
        first,
        last: first,
    }
}

/// Where gradients flow.
struct GradientFlow {
    /// Per storage: it has a gradient.
    reached: Vec<bool>,
    steps: Vec<StepFlow>,
}

/// Per step: whether it runs backward, and per input whether a gradient is written (`Some(false)`) or added to.
struct StepFlow {
    active: bool,
    inputs: Vec<Option<bool>>,
}

/// Where everything lies.
struct Layout {
    values: Vec<Span>,
    grads: Vec<Span>,
    saved: Vec<Span>,
    len: usize,
    scratch: Span,
    spill: Span,
}
