//! The choice between two broadcast values.

use super::Site;
use crate::step::{Memory, Step, Wires};
use kernels::permute::{broadcast_zip, reduce_to};

/// The second input where the first is true, else the third.
pub(crate) struct Where {
    /// Elements of the result.
    len: usize,
}

impl Where {
    pub fn new(site: &Site) -> Self {
        Self {
            len: site.outputs[0].iter().product(),
        }
    }
}

impl Step for Where {
    fn forward(&self, wires: &Wires, memory: &mut Memory) {
        let y_shape = &wires.outputs[0].shape;
        let spread = |from: &[f32], shape: &[usize], to: &mut [f32]| {
            broadcast_zip(from, shape, &[0.0], &[], to, y_shape, |x, _| x);
        };
        let [condition, a, b, y, scratch] = memory.split([
            wires.x(0),
            wires.x(1),
            wires.x(2),
            wires.y(),
            wires.scratch.clone(),
        ]);
        let (conditions, others) = scratch[..2 * self.len].split_at_mut(self.len);
        spread(condition, &wires.inputs[0].shape, conditions);
        spread(a, &wires.inputs[1].shape, y);
        spread(b, &wires.inputs[2].shape, others);
        for ((y, condition), other) in y.iter_mut().zip(conditions).zip(others) {
            *y = if *condition == 0.0 { *other } else { *y };
        }
    }

    fn backward(&self, wires: &Wires, memory: &mut Memory) {
        let y_shape = &wires.outputs[0].shape;
        for i in 0..3 {
            let Some(target) = wires.grad_target(i) else {
                continue;
            };
            let [condition, dy, scratch, dx] =
                memory.split([wires.x(0), wires.dy(), wires.scratch.clone(), target]);
            if i == 0 {
                dx.fill(0.0);
            } else {
                let (chosen, shape) = (&mut scratch[..self.len], &wires.inputs[0].shape);
                broadcast_zip(dy, y_shape, condition, shape, chosen, y_shape, |dy, c| {
                    if (c != 0.0) == (i == 1) { dy } else { 0.0 }
                });
                reduce_to(chosen, y_shape, dx, &wires.inputs[i].shape);
            }
            memory.commit_grad(wires, i);
        }
    }

    fn scratch_len(&self) -> usize {
        2 * self.len
    }
}
