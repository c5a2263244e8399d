//! Stored tensors: copied from the parameters, their gradient added up into them.

use super::Site;
use crate::step::{Memory, Step, Wires};
use std::ops::Range;

/// A tensor stored with the model.
pub(crate) struct Constant {
    value: Range<usize>,
}

impl Constant {
    pub fn new(site: &Site) -> Self {
        Self {
            value: site.param("value"),
        }
    }
}

impl Step for Constant {
    fn forward(&self, wires: &Wires, memory: &mut Memory) {
        let values = &memory.state.trained[self.value.clone()];
        memory.arena[wires.y()].copy_from_slice(values);
    }

    fn backward(&self, wires: &Wires, memory: &mut Memory) {
        if let Some(grad) = memory.grads.get_mut(self.value.clone()) {
            grad.copy_from_slice(&memory.arena[wires.dy()]);
        }
    }

    fn is_trained(&self) -> bool {
        true
    }
}
