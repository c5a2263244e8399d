//! The largest or smallest elements along an axis.

use super::Site;
use crate::step::{Memory, Step, Wires};

/// The best `k` of `size` elements that lie `inner` apart.
pub(crate) struct Topk {
    k: usize,
    size: usize,
    inner: usize,
    largest: bool,
    /// Elements of a result.
    len: usize,
}

impl Topk {
    pub fn new(op: &ir::ops::topk::Topk, site: &Site) -> Self {
        let shape = &site.inputs[0];
        let axis = ir::Shape::of(shape).axis(op.dim).unwrap_or(0);
        Self {
            k: op.k,
            size: shape[axis],
            inner: shape[axis + 1..].iter().product(),
            largest: op.largest,
            len: site.outputs[0].iter().product(),
        }
    }

    /// True when an element comes in front of another; NaN is larger than any number.
    fn is_before(&self, a: f32, b: f32) -> bool {
        if self.largest {
            a > b || a.is_nan() && !b.is_nan()
        } else {
            a < b || b.is_nan() && !a.is_nan()
        }
    }

    /// Puts the best of the line that starts at `from` into the results from `to` on: an insertion sort of the first `k`.
    fn pick(&self, x: &[f32], from: usize, y: &mut [f32], places: &mut [f32], to: usize) {
        let mut n_picked = 0;
        for at in 0..self.size {
            let value = x[from + at * self.inner];
            let mut place = n_picked;
            while place > 0 && self.is_before(value, y[to + (place - 1) * self.inner]) {
                place -= 1;
            }
            if place == self.k {
                continue;
            }
            n_picked = (n_picked + 1).min(self.k);
            for moved in (place + 1..n_picked).rev() {
                let (old, new) = (to + (moved - 1) * self.inner, to + moved * self.inner);
                y[new] = y[old];
                places[new] = places[old];
            }
            y[to + place * self.inner] = value;
            places[to + place * self.inner] = at as f32;
        }
    }

    /// The first element of every line, in the input and in a result.
    fn lines(&self) -> impl Iterator<Item = (usize, usize)> {
        let (size, k, inner) = (self.size, self.k, self.inner);
        let n_lines = self.len / k.max(1);
        (0..n_lines).map(move |line| {
            let (outer, within) = (line / inner, line % inner);
            (outer * size * inner + within, outer * k * inner + within)
        })
    }
}

impl Step for Topk {
    fn forward(&self, wires: &Wires, memory: &mut Memory) {
        let spans = [
            wires.x(0),
            wires.y(),
            wires.outputs[1].value.clone(),
            wires.saved.clone(),
        ];
        let [x, y, places, saved] = memory.split(spans);
        for (from, to) in self.lines() {
            self.pick(x, from, y, places, to);
        }
        saved[..self.len].copy_from_slice(places);
    }

    fn backward(&self, wires: &Wires, memory: &mut Memory) {
        let Some(target) = wires.grad_target(0) else {
            return;
        };
        let [dy, places, dx] = memory.split([wires.dy(), wires.saved.clone(), target]);
        dx.fill(0.0);
        for (from, to) in self.lines() {
            for k in 0..self.k {
                let at = to + k * self.inner;
                if let Some(&dy) = dy.get(at) {
                    dx[from + places[at] as usize * self.inner] = dy;
                }
            }
        }
        memory.commit_grad(wires, 0);
    }

    fn saved_len(&self) -> usize {
        self.len
    }
}
