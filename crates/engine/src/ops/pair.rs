//! Functions of two broadcast operands, or of an operand and a number.

use super::{Lowered, Site};
use crate::arena::Span;
use crate::step::{Memory, Step, Wires};
use kernels::elementwise;
use kernels::permute::{broadcast_zip, reduce_to};

/// A function of two elements.
pub(crate) trait PairFunction: Copy + Send + Sync + 'static {
    /// False for a function that is constant wherever it is smooth.
    const HAS_SLOPE: bool;

    /// The result.
    fn value(self, a: f32, b: f32) -> f32;
    /// The derivatives by both operands.
    fn slopes(self, a: f32, b: f32) -> [f32; 2];
}

/// The step of a function whose right operand may be a number.
pub(crate) fn lower(function: impl PairFunction, scalar: Option<f64>, site: &Site) -> Lowered {
    Pair {
        function,
        scalar: scalar.map(|scalar| scalar as f32),
        len: site.outputs[0].iter().product(),
    }
    .into()
}

struct Pair<F> {
    function: F,
    scalar: Option<f32>,
    /// Elements of the result.
    len: usize,
}

impl<F: PairFunction> Pair<F> {
    /// The span of the derivatives.
    fn slopes(&self, wires: &Wires) -> Span {
        wires.scratch.start..wires.scratch.start + self.len
    }

    /// The derivative by input `i`, in the working memory, in the shape of the result.
    fn write_slopes(&self, i: usize, wires: &Wires, memory: &mut Memory) {
        let (f, a_shape) = (self.function, &wires.inputs[0].shape);
        let scratch = self.slopes(wires);
        if let Some(s) = self.scalar {
            let [a, slopes] = memory.split([wires.x(0), scratch]);
            elementwise::map(a, slopes, |a| f.slopes(a, s)[0]);
            return;
        }
        let (b_shape, y_shape) = (&wires.inputs[1].shape, &wires.outputs[0].shape);
        let [a, b, slopes] = memory.split([wires.x(0), wires.x(1), scratch]);
        broadcast_zip(a, a_shape, b, b_shape, slopes, y_shape, |a, b| {
            f.slopes(a, b)[i]
        });
    }
}

impl<F: PairFunction> Step for Pair<F> {
    fn forward(&self, wires: &Wires, memory: &mut Memory) {
        let f = self.function;
        if let Some(s) = self.scalar {
            let [a, y] = memory.split([wires.x(0), wires.y()]);
            elementwise::map(a, y, |a| f.value(a, s));
            return;
        }
        let [a_shape, b_shape] = [&wires.inputs[0].shape, &wires.inputs[1].shape];
        let y_shape = &wires.outputs[0].shape;
        let [a, b, y] = memory.split([wires.x(0), wires.x(1), wires.y()]);
        broadcast_zip(a, a_shape, b, b_shape, y, y_shape, |a, b| f.value(a, b));
    }

    fn backward(&self, wires: &Wires, memory: &mut Memory) {
        for i in 0..wires.inputs.len() {
            let Some(target) = wires.grad_target(i) else {
                continue;
            };
            if F::HAS_SLOPE {
                self.write_slopes(i, wires, memory);
                let [dy, slopes, dx] = memory.split([wires.dy(), self.slopes(wires), target]);
                elementwise::zip_inplace(dy, slopes, |dy, slope| dy * slope);
                reduce_to(slopes, &wires.outputs[0].shape, dx, &wires.inputs[i].shape);
            } else {
                memory.arena[target].fill(0.0);
            }
            memory.commit_grad(wires, i);
        }
    }

    fn scratch_len(&self) -> usize {
        if F::HAS_SLOPE { self.len } else { 0 }
    }
}
