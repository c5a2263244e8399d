//! Stored tensors: copied from the parameters, their gradient added up into them.

use super::param::Param;
use super::{Lowered, Site};
use crate::rounding::Rounding;
use crate::state::State;
use crate::step::{Memory, Step, Wires};
use std::ops::Range;

/// The step of a stored tensor, which an optimiser changes or not.
pub(crate) fn constant(op: &ir::ops::placeholder::Constant, site: &Site) -> Lowered {
    if op.is_trained() {
        Constant::new(site).into()
    } else {
        Buffer {
            range: site.param("value"),
            rounding: site.rounding("value"),
            shape: op.shape.clone(),
        }
        .into()
    }
}

/// A tensor that stays as it is.
struct Buffer {
    range: Range<usize>,
    rounding: Option<Rounding>,
    shape: Vec<usize>,
}

impl Step for Buffer {
    fn forward(&self, wires: &Wires, memory: &mut Memory) {
        let values = &memory.state.buffers[self.range.clone()];
        let y = &mut memory.arena[wires.y()];
        match &self.rounding {
            Some(rounding) => rounding.round(memory.state, values, &self.shape, y),
            None => y.copy_from_slice(values),
        }
    }

    fn backward(&self, _wires: &Wires, _memory: &mut Memory) {}
}

/// A tensor stored with the model.
struct Constant {
    value: Param,
}

impl Constant {
    fn new(site: &Site) -> Self {
        Self {
            value: Param::new(site, "value", 0),
        }
    }
}

impl Step for Constant {
    fn forward(&self, wires: &Wires, memory: &mut Memory) {
        let values = self.value.values(wires, memory);
        memory.arena[wires.y()].copy_from_slice(values);
    }

    fn backward(&self, wires: &Wires, memory: &mut Memory) {
        if let Some(grad) = memory.grads.get_mut(self.value.range.clone()) {
            grad.copy_from_slice(&memory.arena[wires.dy()]);
        }
        self.value.pass_gradient(memory);
    }

    fn prepared_len(&self) -> usize {
        self.value.prepared_end()
    }

    fn prepare(&self, state: &State, prepared: &mut [f32]) {
        self.value.prepare(state, prepared);
    }

    fn is_trained(&self) -> bool {
        true
    }
}
