//! Addition, subtraction, multiplication and division, of two broadcast operands or with a number.

use super::{Lowered, Site};
use crate::step::{Memory, Step, Wires};
use kernels::maps;
use kernels::permute::{broadcast_zip, reduce_to};

/// Which operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Add,
    Sub,
    Mul,
    Div,
}

pub(crate) fn lower(kind: Kind, scalar: Option<f64>, site: &Site) -> Lowered {
    match scalar {
        Some(scalar) => WithScalar {
            kind,
            scalar: scalar as f32,
        }
        .into(),
        None => Binary {
            kind,
            len: site.outputs[0].iter().product(),
        }
        .into(),
    }
}

/// One operand and a number.
struct WithScalar {
    kind: Kind,
    scalar: f32,
}

impl Step for WithScalar {
    fn forward(&self, wires: &Wires, memory: &mut Memory) {
        let s = self.scalar;
        let [x, y] = memory.split([wires.x(0), wires.y()]);
        match self.kind {
            Kind::Add => maps::map(x, y, |x| x + s),
            Kind::Sub => maps::map(x, y, |x| x - s),
            Kind::Mul => maps::map(x, y, |x| x * s),
            Kind::Div => maps::map(x, y, |x| x / s),
        }
    }

    fn backward(&self, wires: &Wires, memory: &mut Memory) {
        let Some(target) = wires.grad_target(0) else {
            return;
        };
        let s = self.scalar;
        let [dy, dx] = memory.split([wires.dy(), target]);
        match self.kind {
            Kind::Add | Kind::Sub => dx.copy_from_slice(dy),
            Kind::Mul => maps::map(dy, dx, |d| d * s),
            Kind::Div => maps::map(dy, dx, |d| d / s),
        }
        memory.commit_grad(wires, 0);
    }
}

/// Two operands, broadcast to the shape of the result.
struct Binary {
    kind: Kind,
    /// Elements of the result.
    len: usize,
}

impl Binary {
    /// The gradient of input `i` at the shape of the result: dy times the derivative.
    fn spread_gradient(&self, i: usize, wires: &Wires, memory: &mut Memory) {
        let shapes = [
            &wires.inputs[0].shape[..],
            &wires.inputs[1].shape,
            &wires.outputs[0].shape,
        ];
        let [a, b, dy, spread] =
            memory.split([wires.x(0), wires.x(1), wires.dy(), wires.scratch.clone()]);
        let [a_shape, b_shape, y_shape] = shapes;
        let spread = &mut spread[..self.len];
        match (self.kind, i) {
            (Kind::Add, _) | (Kind::Sub, 0) => spread.copy_from_slice(dy),
            (Kind::Sub, _) => maps::map(dy, spread, |d| -d),
            (Kind::Mul, 0) => broadcast_zip(dy, y_shape, b, b_shape, spread, y_shape, |d, b| d * b),
            (Kind::Mul, _) => broadcast_zip(dy, y_shape, a, a_shape, spread, y_shape, |d, a| d * a),
            (Kind::Div, 0) => broadcast_zip(dy, y_shape, b, b_shape, spread, y_shape, |d, b| d / b),
            (Kind::Div, _) => {
                broadcast_zip(a, a_shape, b, b_shape, spread, y_shape, |a, b| -a / (b * b));
                maps::zip_inplace(dy, spread, |d, slope| d * slope);
            }
        }
    }
}

impl Step for Binary {
    fn forward(&self, wires: &Wires, memory: &mut Memory) {
        let [a_shape, b_shape] = [&wires.inputs[0].shape, &wires.inputs[1].shape];
        let y_shape = &wires.outputs[0].shape;
        let [a, b, y] = memory.split([wires.x(0), wires.x(1), wires.y()]);
        match self.kind {
            Kind::Add => broadcast_zip(a, a_shape, b, b_shape, y, y_shape, |a, b| a + b),
            Kind::Sub => broadcast_zip(a, a_shape, b, b_shape, y, y_shape, |a, b| a - b),
            Kind::Mul => broadcast_zip(a, a_shape, b, b_shape, y, y_shape, |a, b| a * b),
            Kind::Div => broadcast_zip(a, a_shape, b, b_shape, y, y_shape, |a, b| a / b),
        }
    }

    fn backward(&self, wires: &Wires, memory: &mut Memory) {
        for i in 0..2 {
            let Some(target) = wires.grad_target(i) else {
                continue;
            };
            let (dy_shape, dx_shape) = (&wires.outputs[0].shape, &wires.inputs[i].shape);
            // A plain sum needs no detour.
            let plain = matches!((self.kind, i), (Kind::Add, _) | (Kind::Sub, 0));
            if plain {
                let [dy, dx] = memory.split([wires.dy(), target]);
                reduce_to(dy, dy_shape, dx, dx_shape);
            } else {
                self.spread_gradient(i, wires, memory);
                let [spread, dx] = memory.split([wires.scratch.clone(), target]);
                reduce_to(&spread[..self.len], dy_shape, dx, dx_shape);
            }
            memory.commit_grad(wires, i);
        }
    }

    fn scratch_len(&self) -> usize {
        if self.kind == Kind::Add { 0 } else { self.len }
    }
}
