//! Steps, gradients and places put together into a program.

use super::gradients::GradientFlow;
use super::layout::Layout;
use super::outline::{Draft, Outline};
use crate::arena::{ALIGNMENT, Span};
use crate::shard::{OutputWire, Program};
use crate::step::{GradSlot, Wire, Wires};

pub(super) fn assemble(
    outline: Outline,
    gradients: &GradientFlow,
    layout: &Layout,
    rows: usize,
) -> Program {
    let wiring = Wiring {
        outline: &outline,
        gradients,
        layout,
    };
    let mut prepared_len = 0;
    let mut wires = Vec::with_capacity(outline.drafts.len());
    for (at, draft) in outline.drafts.iter().enumerate() {
        let prepared = prepared_len..prepared_len + draft.step.prepared_len();
        prepared_len = prepared.end.next_multiple_of(ALIGNMENT);
        wires.push(wiring.wires(at, draft, prepared));
    }
    let inputs = outline.inputs.iter();
    Program {
        rows,
        arena_len: layout.len,
        prepared_len,
        inputs: inputs.clone().map(|&slot| wiring.value(slot)).collect(),
        input_grads: inputs.map(|&slot| wiring.grad(slot)).collect(),
        outputs: outline
            .outputs
            .iter()
            .map(|&slot| wiring.output(slot))
            .collect(),
        observed: outline
            .observed
            .iter()
            .map(|&slot| (wiring.value(slot), wiring.shape(slot)))
            .collect(),
        steps: outline
            .drafts
            .into_iter()
            .map(|draft| draft.step)
            .zip(wires)
            .collect(),
    }
}

struct Wiring<'a> {
    outline: &'a Outline,
    gradients: &'a GradientFlow,
    layout: &'a Layout,
}

impl Wiring<'_> {
    fn value(&self, slot: usize) -> Span {
        self.layout.values[self.outline.storage(slot)].clone()
    }

    fn shape(&self, slot: usize) -> Vec<usize> {
        self.outline.slots[slot].shape.clone()
    }

    /// Where the gradient of a slot lies, if any reaches it.
    fn grad(&self, slot: usize) -> Option<Span> {
        let storage = self.outline.storage(slot);
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

    fn wires(&self, at: usize, draft: &Draft, prepared: Span) -> Wires {
        let flow = &self.gradients.steps[at];
        let inputs = draft
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
        let outputs = draft.outputs.iter().map(|&slot| {
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
