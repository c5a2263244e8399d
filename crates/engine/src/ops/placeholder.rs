//! Stored tensors: copied from the parameters, their gradient added up into them.

use super::Site;
use super::param::Param;
use crate::state::State;
use crate::step::{Memory, Step, Wires};

/// A tensor stored with the model.
pub(crate) struct Constant {
    value: Param,
}

impl Constant {
    pub fn new(site: &Site) -> Self {
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
