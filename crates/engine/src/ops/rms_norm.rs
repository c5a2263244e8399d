//! Normalisation of rows by their root mean square.

use super::Site;
use super::param::Param;
use crate::state::State;
use crate::step::{Memory, Step, Wires};

/// Normalises rows of `cols` elements; keeps the factor of each row for the gradients.
pub(crate) struct RmsNorm {
    rows: usize,
    cols: usize,
    eps: f64,
    /// Empty without γ.
    weight: Param,
}

impl RmsNorm {
    pub fn new(op: &ir::ops::rms_norm::RmsNorm, site: &Site) -> Self {
        let cols: usize = op.normalized_shape.iter().product();
        Self {
            rows: site.inputs[0].iter().product::<usize>() / cols,
            cols,
            eps: op.eps,
            weight: Param::new(site, "weight", 0),
        }
    }

    /// γ of each column; 1 without it.
    fn gain(weight: &[f32], column: usize) -> f32 {
        weight.get(column).copied().unwrap_or(1.0)
    }
}

impl Step for RmsNorm {
    fn forward(&self, wires: &Wires, memory: &mut Memory) {
        let weight = self.weight.values(wires, memory);
        let [x, y, factors] = memory.split([wires.x(0), wires.y(), wires.saved.clone()]);
        let rows = x.chunks_exact(self.cols).zip(y.chunks_exact_mut(self.cols));
        for ((x, y), factor) in rows.zip(factors) {
            let squares: f64 = x.iter().map(|&x| f64::from(x) * f64::from(x)).sum();
            *factor = (squares / self.cols as f64 + self.eps).sqrt().recip() as f32;
            for (column, (x, y)) in x.iter().zip(y).enumerate() {
                *y = x * *factor * Self::gain(weight, column);
            }
        }
    }

    fn backward(&self, wires: &Wires, memory: &mut Memory) {
        let weight = self.weight.values(wires, memory);
        if let Some(target) = wires.grad_target(0) {
            let spans = [wires.x(0), wires.dy(), wires.saved.clone(), target];
            let [x, dy, factors, dx] = memory.split(spans);
            let rows = x.chunks_exact(self.cols).zip(dy.chunks_exact(self.cols));
            let rows = rows.zip(dx.chunks_exact_mut(self.cols)).zip(factors);
            for (((x, dy), dx), factor) in rows {
                let mut inner = 0.0;
                for (column, (x, dy)) in x.iter().zip(dy).enumerate() {
                    inner += f64::from(dy * Self::gain(weight, column) * x * *factor);
                }
                let mean = (inner / self.cols as f64) as f32;
                for (column, ((x, dy), dx)) in x.iter().zip(dy).zip(dx).enumerate() {
                    *dx = *factor * (dy * Self::gain(weight, column) - x * *factor * mean);
                }
            }
            memory.commit_grad(wires, 0);
        }
        if let Some(grad) = memory.grads.get_mut(self.weight.range.clone()) {
            grad.fill(0.0);
            let factors = &memory.arena[wires.saved.clone()];
            let (x, dy) = (&memory.arena[wires.x(0)], &memory.arena[wires.dy()]);
            let rows = x.chunks_exact(self.cols).zip(dy.chunks_exact(self.cols));
            for ((x, dy), factor) in rows.zip(factors) {
                for ((grad, x), dy) in grad.iter_mut().zip(x).zip(dy) {
                    *grad += dy * x * factor;
                }
            }
        }
        self.weight.pass_gradient(memory);
    }

    fn saved_len(&self) -> usize {
        self.rows
    }

    fn prepared_len(&self) -> usize {
        self.weight.prepared_end()
    }

    fn prepare(&self, state: &State, prepared: &mut [f32]) {
        self.weight.prepare(state, prepared);
    }

    fn is_trained(&self) -> bool {
        !self.weight.range.is_empty()
    }
}
