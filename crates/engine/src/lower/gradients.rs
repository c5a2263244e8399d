//! The steps that gradients reach, and the first writer of each gradient.

use super::schedule::Schedule;

/// The flow of gradients.
pub(super) struct GradientFlow {
    /// Per storage: it has a gradient.
    pub reached: Vec<bool>,
    pub steps: Vec<StepFlow>,
}

/// The part of a step in the backward pass.
pub(super) struct StepFlow {
    /// It runs at all.
    pub active: bool,
    /// Per input: a gradient is wanted, and another step has contributed before.
    pub inputs: Vec<Option<Accumulate>>,
}

/// The way a gradient is written: added to the present values, or over them.
pub(super) type Accumulate = bool;

impl GradientFlow {
    /// Walks the steps backwards from the results.
    pub fn new(schedule: &Schedule, wanted: bool) -> Self {
        let mut reached = vec![false; schedule.storages.len()];
        for &slot in schedule.outputs.iter().filter(|_| wanted) {
            let storage = schedule.storage(slot);
            reached[storage] = schedule.storages[storage].needs_grad;
        }
        let mut steps: Vec<StepFlow> = Vec::with_capacity(schedule.steps.len());
        for step in schedule.steps.iter().rev() {
            let active = step
                .outputs
                .iter()
                .any(|&slot| reached[schedule.storage(slot)]);
            let inputs = step.inputs.iter().map(|&slot| {
                let storage = schedule.storage(slot);
                let wanted = active && schedule.storages[storage].needs_grad;
                wanted.then(|| std::mem::replace(&mut reached[storage], true))
            });
            let inputs = inputs.collect();
            steps.push(StepFlow { active, inputs });
        }
        steps.reverse();
        Self { reached, steps }
    }
}
