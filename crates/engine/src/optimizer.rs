//! Optimisers: Adam, AdamW and SGD with PyTorch's formulas, one pass over all parameters.

use crate::state::State;
use kernels::elementwise::add_assign;
use kernels::optimizer::{AdamStep, SgdStep, adam, sgd};
use kernels::threads::Pool;
use std::ops::Range;

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

/// Gradients that are added up before they are used: they stay in a core's first cache.
const BLOCK: usize = 4096;

/// The gradients of all trained parameters: the sum of these arrays, in their order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gradients<'a>(pub &'a [&'a [f32]]);

impl Gradients<'_> {
    /// Calls `f(place in the range, gradients)` for the blocks of a range. Several arrays are added up on the way, which reads
    /// each once and writes no sum to memory.
    fn for_each_block(self, range: Range<usize>, mut f: impl FnMut(usize, &[f32])) {
        let [first, rest @ ..] = self.0 else {
            return;
        };
        let (first, len) = (&first[range.clone()], range.len());
        if rest.is_empty() {
            return f(0, first);
        }
        let mut sum = [0.0; BLOCK];
        for at in (0..len).step_by(BLOCK) {
            let sum = &mut sum[..BLOCK.min(len - at)];
            sum.copy_from_slice(&first[at..][..sum.len()]);
            for array in rest {
                add_assign(&array[range.start + at..][..sum.len()], sum);
            }
            f(at, sum);
        }
    }
}

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
        self.step_sum(state, Gradients(&[gradients]), pool);
    }

    /// The same with gradients that are still to be added up.
    pub(crate) fn step_sum(&mut self, state: &mut State, gradients: Gradients, pool: &Pool) {
        self.steps += 1;
        self.update(state, gradients, pool);
        for memory in [&mut self.first, &mut self.second] {
            if !memory.is_empty() {
                state.zero_masked(memory);
            }
        }
        state.end_change();
    }

    fn update(&mut self, state: &mut State, gradients: Gradients, pool: &Pool) {
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
                    self.sgd(state, gradients, range, step, pool);
                }
                let step = SgdStep {
                    weight_decay: 0.0,
                    ..step
                };
                let scales = state.weights_len()..state.trained_len();
                self.sgd(state, gradients, scales, step, pool);
            }
        }
    }

    fn sgd(
        &mut self,
        state: &mut State,
        gradients: Gradients,
        range: Range<usize>,
        step: SgdStep,
        pool: &Pool,
    ) {
        let arrays = [&mut state.trained, &mut self.first].map(|array| &mut array[range.clone()]);
        pool.for_each_part(arrays, PART, |from, [w, first]| {
            let from = range.start + from;
            gradients.for_each_block(from..from + w.len(), |at, g| {
                let block = at..at + g.len();
                sgd(&mut w[block.clone()], g, &mut first[block], step);
            });
        });
    }

    fn adam(
        &mut self,
        state: &mut State,
        gradients: Gradients,
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
            self.adam_range(state, gradients, range, step, pool);
        }
        // A scale does not decay: no step between codes is better for being small.
        let step = AdamStep {
            weight_decay: 0.0,
            decoupled_decay: 0.0,
            ..step
        };
        let scales = state.weights_len()..state.trained_len();
        self.adam_range(state, gradients, scales, step, pool);
    }

    fn adam_range(
        &mut self,
        state: &mut State,
        gradients: Gradients,
        range: Range<usize>,
        step: AdamStep,
        pool: &Pool,
    ) {
        let arrays = [&mut state.trained, &mut self.first, &mut self.second];
        let arrays = arrays.map(|array| &mut array[range.clone()]);
        pool.for_each_part(arrays, PART, |from, [w, first, second]| {
            let from = range.start + from;
            gradients.for_each_block(from..from + w.len(), |at, g| {
                let block = at..at + g.len();
                adam(
                    &mut w[block.clone()],
                    g,
                    &mut first[block.clone()],
                    &mut second[block],
                    step,
                );
            });
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ir::{Graph, verify};
    use random::Random;

    /// Parameters that end inside of blocks and parts.
    const NET: &str = "graph \"wide\" {
      x: f32[N, 100] = placeholder
      a = linear(x) { in_features = 100, out_features = 401 }
      b = linear(a) { in_features = 401, out_features = 13 }
      return b
    }";

    #[test]
    fn gradients_that_are_added_up_on_the_way_give_the_bits_of_their_sum() {
        let mut graph = Graph::parse(NET).unwrap_or_else(|errors| panic!("{errors}"));
        graph.initialize(0);
        let state = State::new(&verify(&graph).unwrap_or_else(|error| panic!("{error}")))
            .unwrap_or_else(|error| panic!("{error}"));
        let n = state.trained_len();
        assert!(n > PART && !n.is_multiple_of(BLOCK));
        let random = Random::new(1, "gradients");
        let arrays = [0, 1, 2].map(|array| {
            let random = random.at(array);
            let normal: Vec<f32> = (0..n as u64).map(|k| random.normal(k)).collect();
            normal
        });
        let parts = arrays.each_ref().map(Vec::as_slice);
        let mut sum = arrays[0].clone();
        for array in &arrays[1..] {
            add_assign(array, &mut sum);
        }
        let weight_decay = 0.1;
        for kind in [
            OptimizerKind::Adam { weight_decay },
            OptimizerKind::AdamW { weight_decay },
            OptimizerKind::Sgd {
                momentum: 0.9,
                nesterov: true,
                weight_decay,
            },
        ] {
            let stepped = |gradients: Gradients, threads: usize| {
                let (mut state, pool) = (state.clone(), Pool::new(threads));
                let mut optimizer = Optimizer::new(kind, 0.01, &state);
                for _ in 0..2 {
                    optimizer.step_sum(&mut state, gradients, &pool);
                }
                (state.trained, optimizer.first, optimizer.second)
            };
            let expected = stepped(Gradients(&[&sum]), 1);
            assert_ne!(expected.0, state.trained);
            for threads in [1, 3] {
                assert!(
                    stepped(Gradients(&parts), threads) == expected,
                    "{kind:?}, {threads}"
                );
            }
        }
    }

    /// Two steps, or one by one optimiser and one by another that goes on.
    #[test]
    fn an_optimizer_goes_on_where_another_stopped() {
        let mut graph = Graph::parse(NET).unwrap_or_else(|errors| panic!("{errors}"));
        graph.initialize(0);
        let start = State::new(&verify(&graph).unwrap_or_else(|error| panic!("{error}")));
        let start = start.unwrap_or_else(|error| panic!("{error}"));
        let n = start.trained_len();
        let random = Random::new(2, "gradients");
        let gradients: Vec<f32> = (0..n as u64).map(|k| random.normal(k)).collect();
        let (pool, weight_decay) = (Pool::new(1), 0.1);
        for kind in [
            OptimizerKind::Adam { weight_decay },
            OptimizerKind::AdamW { weight_decay },
            OptimizerKind::Sgd {
                momentum: 0.9,
                nesterov: false,
                weight_decay,
            },
        ] {
            let mut state = start.clone();
            let mut first = Optimizer::new(kind, 0.01, &state);
            assert_eq!((first.kind(), first.steps()), (kind, 0));
            first.step(&mut state, &gradients, &pool);
            let mut half_way = state.clone();
            let mut second = Optimizer::new(kind, 0.01, &state);
            let (means, squares) = first.moments();
            let has_squares = !matches!(kind, OptimizerKind::Sgd { .. });
            assert_eq!(
                (means.len(), squares.len()),
                (n, if has_squares { n } else { 0 })
            );
            // Of another length, nothing is taken.
            let fresh = second.clone();
            assert!(!second.restore(9, &means[1..], squares));
            assert!(!second.restore(9, means, &[squares, &[0.0]].concat()));
            assert_eq!(second, fresh);
            assert!(second.restore(first.steps(), means, squares));
            assert_eq!(second, first);
            first.step(&mut state, &gradients, &pool);
            second.step(&mut half_way, &gradients, &pool);
            assert_eq!(
                (second.steps(), half_way.trained),
                (2, state.trained),
                "{kind:?}"
            );
        }
    }
}
