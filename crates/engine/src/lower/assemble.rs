//! Steps, gradients and places put together into a program.

use super::gradients::GradientFlow;
use super::layout::Layout;
use super::schedule::{Schedule, UnplacedStep};
use crate::arena::{ALIGNMENT, Span};
use crate::shard::{OutputWire, Program};
use crate::step::{GradSlot, Wire, Wires};

pub(super) fn assemble(
    schedule: Schedule,
    gradients: &GradientFlow,
    layout: &Layout,
    rows: usize,
) -> Program {
    let wiring = Wiring {
        schedule: &schedule,
        gradients,
        layout,
    };
    let mut prepared_len = 0;
    let mut wires = Vec::with_capacity(schedule.steps.len());
    for (at, step) in schedule.steps.iter().enumerate() {
        let prepared = prepared_len..prepared_len + step.step.prepared_len();
        prepared_len = prepared.end.next_multiple_of(ALIGNMENT);
        wires.push(wiring.wires(at, step, prepared));
    }
    let inputs = schedule.inputs.iter();
    let nodes = schedule.steps.iter().map(|step| step.node).collect();
    Program {
        rows,
        nodes,
        arena_len: layout.len,
        prepared_len,
        prepared: wires.iter().map(|wires| wires.prepared.clone()).collect(),
        inputs: inputs.clone().map(|&slot| wiring.value(slot)).collect(),
        input_grads: inputs.map(|&slot| wiring.grad(slot)).collect(),
        outputs: schedule
            .outputs
            .iter()
            .map(|&slot| wiring.output(slot))
            .collect(),
        observed: schedule
            .observed
            .iter()
            .map(|&slot| (wiring.value(slot), wiring.shape(slot)))
            .collect(),
        steps: schedule
            .steps
            .into_iter()
            .map(|step| step.step)
            .zip(wires)
            .collect(),
    }
}

struct Wiring<'a> {
    schedule: &'a Schedule,
    gradients: &'a GradientFlow,
    layout: &'a Layout,
}

impl Wiring<'_> {
    fn value(&self, slot: usize) -> Span {
        self.layout.values[self.schedule.storage(slot)].clone()
    }

    fn shape(&self, slot: usize) -> Vec<usize> {
        self.schedule.slots[slot].shape.clone()
    }

    /// The span of the gradient of a slot, if any reaches it.
    fn grad(&self, slot: usize) -> Option<Span> {
        let storage = self.schedule.storage(slot);
        self.gradients.reached[storage].then(|| self.layout.grads[storage].clone())
    }

    fn wire(&self, slot: usize, grad: Option<GradSlot>) -> Wire {
        Wire {
            value: self.value(slot),
            shape: self.shape(slot),
            grad,
        }
    }

    fn output(&self, slot: usize) -> OutputWire {
        OutputWire {
            value: self.value(slot),
            grad: self.grad(slot),
            shape: self.shape(slot),
        }
    }

    fn wires(&self, at: usize, step: &UnplacedStep, prepared: Span) -> Wires {
        let flow = &self.gradients.steps[at];
        let inputs = step
            .inputs
            .iter()
            .zip(&flow.inputs)
            .map(|(&slot, contribution)| {
                let to = |accumulate| {
                    Some(GradSlot {
                        span: self.grad(slot)?,
                        accumulate,
                    })
                };
                self.wire(slot, contribution.and_then(to))
            });
        let outputs = step.outputs.iter().map(|&slot| {
            let from = self.grad(slot).map(|span| GradSlot {
                span,
                accumulate: false,
            });
            self.wire(slot, from)
        });
        Wires {
            inputs: inputs.collect(),
            outputs: outputs.collect(),
            saved: self.layout.saved[at].clone(),
            scratch: self.layout.scratch.clone(),
            spill: self.layout.spill.clone(),
            prepared,
            has_backward: flow.active,
        }
    }
}
