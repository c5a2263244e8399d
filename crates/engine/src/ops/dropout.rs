//! Dropout: in training each element is dropped with probability p and the others are scaled up.

use super::{Lowered, Site};
use crate::options::Mode;
use crate::step::{Memory, Step, Wires};
use random::Random;

/// Keeps an element with probability 1 − p. The draw depends on the pass, the node and the element's place in the
/// whole batch, not on the shard.
struct Dropout {
    p: f32,
    name: u64,
    per_row: usize,
}

pub(crate) fn lower(p: f64, site: &Site) -> Lowered {
    if site.mode == Mode::Eval || p == 0.0 {
        return Lowered::SameElements;
    }
    let elements: usize = site.inputs[0].iter().product();
    let name = Random::new(0, &site.node.name).bits(0);
    Dropout {
        p: p as f32,
        name,
        per_row: elements / site.rows,
    }
    .into()
}

impl Dropout {
    fn apply(&self, random: Random, first: u64, x: &[f32], y: &mut [f32]) {
        let scale = if self.p < 1.0 {
            1.0 / (1.0 - self.p)
        } else {
            0.0
        };
        for (i, (y, x)) in y.iter_mut().zip(x).enumerate() {
            let kept = random.uniform(first + i as u64) >= self.p;
            *y = if kept { x * scale } else { 0.0 };
        }
    }

    fn draw(&self, memory: &Memory) -> (Random, u64) {
        (
            memory.noise.at(self.name),
            (memory.first_row * self.per_row) as u64,
        )
    }
}

impl Step for Dropout {
    fn forward(&self, wires: &Wires, memory: &mut Memory) {
        let (random, first) = self.draw(memory);
        let [x, y] = memory.split([wires.x(0), wires.y()]);
        self.apply(random, first, x, y);
    }

    fn backward(&self, wires: &Wires, memory: &mut Memory) {
        let Some(target) = wires.grad_target(0) else {
            return;
        };
        let (random, first) = self.draw(memory);
        let [dy, dx] = memory.split([wires.dy(), target]);
        self.apply(random, first, dy, dx);
        memory.commit_grad(wires, 0);
    }
}
