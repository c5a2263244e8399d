//! Pictures of another size by means of neighbours; repeated pixels are [`super::moved`].

use super::moved::Moved;
use super::{Lowered, Site};
use crate::step::{Memory, Step, Wires};
use ir::ops::upsample::{Blend, Upsample, UpsampleMode};

/// The step of a picture of another size.
pub(crate) fn lower(op: &Upsample, site: &Site) -> Lowered {
    let shape = &site.inputs[0];
    match op.mode {
        UpsampleMode::Nearest => Moved::new(&op.sources(shape), 0.0, site).into(),
        UpsampleMode::Bilinear => Bilinear {
            blends: [0, 1].map(|axis| op.blends(axis, shape[axis + 2])),
            width: shape[3],
            plane: shape[2] * shape[3],
        }
        .into(),
    }
}

/// Each pixel a mean of four.
struct Bilinear {
    /// The rows and the columns of each pixel of the result.
    blends: [Vec<Blend>; 2],
    width: usize,
    /// Pixels of a plane of the input.
    plane: usize,
}

impl Bilinear {
    /// Calls `f` with each pixel of a plane of the result, and the four pixels with their weights.
    fn for_pixels(&self, mut f: impl FnMut(usize, [(usize, f32); 4])) {
        let mut at = 0;
        for row in &self.blends[0] {
            for col in &self.blends[1] {
                let [top, bottom] = [row.low, row.high].map(|row| row * self.width);
                let [up, down] = [1.0 - row.weight, row.weight];
                let [left, right] = [1.0 - col.weight, col.weight];
                let pixels = [
                    (top + col.low, up * left),
                    (top + col.high, up * right),
                    (bottom + col.low, down * left),
                    (bottom + col.high, down * right),
                ];
                f(at, pixels);
                at += 1;
            }
        }
    }

    /// Pixels of a plane of the result.
    fn pixels(&self) -> usize {
        self.blends[0].len() * self.blends[1].len()
    }
}

impl Step for Bilinear {
    fn forward(&self, wires: &Wires, memory: &mut Memory) {
        let [x, y] = memory.split([wires.x(0), wires.y()]);
        let planes = x
            .chunks_exact(self.plane)
            .zip(y.chunks_exact_mut(self.pixels()));
        for (x, y) in planes {
            self.for_pixels(|at, pixels| {
                y[at] = pixels.iter().map(|&(from, weight)| weight * x[from]).sum();
            });
        }
    }

    fn backward(&self, wires: &Wires, memory: &mut Memory) {
        let Some(target) = wires.grad_target(0) else {
            return;
        };
        let [dy, dx] = memory.split([wires.dy(), target]);
        dx.fill(0.0);
        let planes = dx
            .chunks_exact_mut(self.plane)
            .zip(dy.chunks_exact(self.pixels()));
        for (dx, dy) in planes {
            self.for_pixels(|at, pixels| {
                for (to, weight) in pixels {
                    dx[to] += weight * dy[at];
                }
            });
        }
        memory.commit_grad(wires, 0);
    }
}
