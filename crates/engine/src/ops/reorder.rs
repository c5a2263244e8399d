//! A change of the order in which a value lies in memory; its shape stays as the graph has it.

use crate::order::Order;
use crate::step::{Memory, Step, Wires};
use kernels::permute::permute;

/// From one order to the other.
pub(crate) struct Reorder {
    /// The axes as they lie before and after.
    from: Vec<usize>,
    to: Vec<usize>,
    /// Axis `i` after is axis `axes[i]` before.
    axes: Vec<usize>,
    inverse: Vec<usize>,
}

impl Reorder {
    /// A value of this shape brought to an order.
    pub fn new(shape: &[usize], to: Order) -> Self {
        let rank = shape.len();
        let pixels: Vec<usize> = [0].into_iter().chain(2..rank).chain([1]).collect();
        let planes: Vec<usize> = [0, rank - 1].into_iter().chain(1..rank - 1).collect();
        let as_pixels: Vec<usize> = pixels.iter().map(|&axis| shape[axis]).collect();
        let to_pixels = Self {
            from: shape.to_vec(),
            to: as_pixels,
            axes: pixels,
            inverse: planes,
        };
        match to {
            Order::Pixels => to_pixels,
            Order::Planes => Self {
                from: to_pixels.to,
                to: to_pixels.from,
                axes: to_pixels.inverse,
                inverse: to_pixels.axes,
            },
        }
    }
}

impl Step for Reorder {
    fn forward(&self, wires: &Wires, memory: &mut Memory) {
        let [x, y] = memory.split([wires.x(0), wires.y()]);
        permute(x, &self.from, &self.axes, y);
    }

    fn backward(&self, wires: &Wires, memory: &mut Memory) {
        let Some(target) = wires.grad_target(0) else {
            return;
        };
        let [dy, dx] = memory.split([wires.dy(), target]);
        permute(dy, &self.to, &self.inverse, dx);
        memory.commit_grad(wires, 0);
    }
}
