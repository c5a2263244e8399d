//! Optimisers: Adam, AdamW and SGD with PyTorch's formulas, one pass over all parameters.

use crate::state::State;
use kernels::optimizer::{AdamStep, SgdStep, adam, sgd};
use kernels::threads::Pool;

/// An optimiser with its settings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum OptimizerKind {
    /// Adam; weight decay is added to the gradient.
    Adam {
        /// Weight of the decay.
        weight_decay: f32,
    },
    /// AdamW; weight decay shrinks the parameters directly.
    AdamW {
        /// Weight of the decay.
        weight_decay: f32,
    },
    /// Stochastic gradient descent.
    Sgd {
        /// Share of the last update that is kept.
        momentum: f32,
        /// Look ahead along the momentum.
        nesterov: bool,
        /// Weight of the decay, added to the gradient.
        weight_decay: f32,
    },
}

/// β₁, β₂ and ε of Adam, as PyTorch has them.
const BETA1: f64 = 0.9;
const BETA2: f64 = 0.999;
const EPSILON: f64 = 1e-8;

/// Parameters that one thread updates at a time.
const PART: usize = 32 * 1024;

/// An optimiser with its memory of earlier steps.
#[derive(Clone, Debug, PartialEq)]
pub struct Optimizer {
    kind: OptimizerKind,
    /// The learning rate of the next step.
    pub learning_rate: f64,
    steps: u64,
    /// Running mean of gradients, or the momentum.
    first: Vec<f32>,
    /// Running mean of squared gradients; empty for SGD.
    second: Vec<f32>,
}

impl Optimizer {
    /// An optimiser for the parameters in `state`.
    pub fn new(kind: OptimizerKind, learning_rate: f64, state: &State) -> Self {
        let n = state.trained_len();
        let second = if matches!(kind, OptimizerKind::Sgd { .. }) {
            0
        } else {
            n
        };
        Self {
            kind,
            learning_rate,
            steps: 0,
            first: vec![0.0; n],
            second: vec![0.0; second],
        }
    }

    /// The optimiser.
    pub fn kind(&self) -> OptimizerKind {
        self.kind
    }

    /// Steps taken so far.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Its moments, laid out as the trained parameters: running means of gradients (or the momentum) and of their
    /// squares (empty for SGD).
    pub fn moments(&self) -> (&[f32], &[f32]) {
        (&self.first, &self.second)
    }

    /// Goes on where another optimiser of the same kind stopped; `false` when the lengths do not fit.
    pub fn restore(&mut self, steps: u64, first: &[f32], second: &[f32]) -> bool {
        let fits = first.len() == self.first.len() && second.len() == self.second.len();
        if fits {
            self.steps = steps;
            self.first.copy_from_slice(first);
            self.second.copy_from_slice(second);
        }
        fits
    }

    /// Updates the parameters once, but for those that are frozen. What is masked stays zero, with no memory of its
    /// gradients.
    pub fn step(&mut self, state: &mut State, gradients: &[f32], pool: &Pool) {
        self.steps += 1;
        self.update(state, gradients, pool);
        for memory in [&mut self.first, &mut self.second] {
            if !memory.is_empty() {
                state.zero_masked(memory);
            }
        }
        state.end_change();
    }

    fn update(&mut self, state: &mut State, gradients: &[f32], pool: &Pool) {
        match self.kind {
            OptimizerKind::Adam { weight_decay } => {
                self.adam(state, gradients, [weight_decay, 0.0], pool);
            }
            OptimizerKind::AdamW { weight_decay } => {
                let shrink = (self.learning_rate * f64::from(weight_decay)) as f32;
                self.adam(state, gradients, [0.0, shrink], pool);
            }
            OptimizerKind::Sgd {
                momentum,
                nesterov,
                weight_decay,
            } => {
                let lr = self.learning_rate as f32;
                let step = SgdStep {
                    lr,
                    momentum,
                    nesterov,
                    weight_decay,
                    first: self.steps == 1,
                };
                for at in 0..state.trainable().len() {
                    let range = state.trainable()[at].clone();
                    let weights = &mut state.trained[range.clone()];
                    let first = &mut self.first[range.clone()];
                    sgd(weights, &gradients[range], first, step);
                }
                let step = SgdStep {
                    weight_decay: 0.0,
                    ..step
                };
                let at = state.weights_len();
                let (scales, first) = (&mut state.trained[at..], &mut self.first[at..]);
                sgd(scales, &gradients[at..], first, step);
            }
        }
    }

    fn adam(
        &mut self,
        state: &mut State,
        gradients: &[f32],
        [weight_decay, decoupled_decay]: [f32; 2],
        pool: &Pool,
    ) {
        let t = self.steps as f64;
        let (bias1, bias2) = (1.0 - BETA1.powf(t), 1.0 - BETA2.powf(t));
        let step = AdamStep {
            step_size: (self.learning_rate / bias1) as f32,
            beta1: BETA1 as f32,
            beta2: BETA2 as f32,
            eps: EPSILON as f32,
            bias2_sqrt: bias2.sqrt() as f32,
            weight_decay,
            decoupled_decay,
        };
        for at in 0..state.trainable().len() {
            let range = state.trainable()[at].clone();
            let weights = &mut state.trained[range.clone()];
            let (first, second) = (
                &mut self.first[range.clone()],
                &mut self.second[range.clone()],
            );
            let gradients = &gradients[range];
            pool.for_each_part(
                [weights, first, second],
                PART,
                |from, [w, first, second]| {
                    adam(w, &gradients[from..][..w.len()], first, second, step);
                },
            );
        }
        // A scale does not decay: no step between codes is better for being small.
        let step = AdamStep {
            weight_decay: 0.0,
            decoupled_decay: 0.0,
            ..step
        };
        let at = state.weights_len();
        let (first, second) = (&mut self.first[at..], &mut self.second[at..]);
        adam(
            &mut state.trained[at..],
            &gradients[at..],
            first,
            second,
            step,
        );
    }
}
