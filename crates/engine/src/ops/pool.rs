//! Pools over one or two axes; one axis is a picture of height one.

use super::Site;
use crate::step::{Memory, Step, Wires};
use ir::ops::Window;
use kernels::pool::{self as kernel, PoolShape};

/// What a window becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Max,
    /// The mean, counting the zeros of the padding or not.
    Average {
        counts_padding: bool,
    },
}

/// The average kind.
pub(crate) fn average(counts_padding: bool) -> Kind {
    Kind::Average { counts_padding }
}

/// A pool with a moving window.
pub(crate) struct WindowPool {
    kind: Kind,
    shape: PoolShape,
}

pub(crate) fn window_pool<const K: usize>(
    kind: Kind,
    window: &Window<K>,
    site: &Site,
) -> WindowPool {
    let (planes, input) = picture(&site.inputs[0], K);
    let shape = PoolShape {
        planes,
        input,
        kernel: two(&window.kernel_size, 1),
        stride: two(&window.stride, 1),
        padding: two(&window.padding, 0),
        dilation: two(&window.dilation, 1),
    };
    WindowPool { kind, shape }
}

/// Planes and size of a picture whose last `spatial` axes are space.
fn picture(shape: &[usize], spatial: usize) -> (usize, [usize; 2]) {
    let (planes, space) = shape.split_at(shape.len() - spatial);
    (planes.iter().product(), two(space, 1))
}

/// One or two sizes as two.
fn two(sizes: &[usize], missing: usize) -> [usize; 2] {
    match sizes {
        [height, width] => [*height, *width],
        [width] => [missing, *width],
        _ => [missing, missing],
    }
}

impl Step for WindowPool {
    fn forward(&self, wires: &Wires, memory: &mut Memory) {
        let [x, y] = memory.split([wires.x(0), wires.y()]);
        match self.kind {
            Kind::Max => kernel::max_pool_forward(&self.shape, x, y),
            Kind::Average { counts_padding } => {
                kernel::avg_pool_forward(&self.shape, counts_padding, x, y);
            }
        }
    }

    fn backward(&self, wires: &Wires, memory: &mut Memory) {
        let Some(target) = wires.grad_target(0) else {
            return;
        };
        let [x, y, dy, dx] = memory.split([wires.x(0), wires.y(), wires.dy(), target]);
        match self.kind {
            Kind::Max => kernel::max_pool_backward(&self.shape, x, y, dy, dx),
            Kind::Average { counts_padding } => {
                kernel::avg_pool_backward(&self.shape, counts_padding, dy, dx);
            }
        }
        memory.commit_grad(wires, 0);
    }
}

/// A pool whose windows follow from the size of the result.
pub(crate) struct AdaptivePool {
    is_max: bool,
    planes: usize,
    input: [usize; 2],
    output: [usize; 2],
}

pub(crate) fn adaptive_pool(is_max: bool, site: &Site) -> AdaptivePool {
    let one_axis = site.node.op.name().ends_with("1d");
    let spatial = if one_axis { 1 } else { 2 };
    let (planes, input) = picture(&site.inputs[0], spatial);
    let (_, output) = picture(&site.outputs[0], spatial);
    AdaptivePool {
        is_max,
        planes,
        input,
        output,
    }
}

impl Step for AdaptivePool {
    fn forward(&self, wires: &Wires, memory: &mut Memory) {
        let [x, y] = memory.split([wires.x(0), wires.y()]);
        if self.is_max {
            kernel::adaptive_max_forward(self.planes, self.input, self.output, x, y);
        } else {
            kernel::adaptive_avg_forward(self.planes, self.input, self.output, x, y);
        }
    }

    fn backward(&self, wires: &Wires, memory: &mut Memory) {
        let Some(target) = wires.grad_target(0) else {
            return;
        };
        let [x, y, dy, dx] = memory.split([wires.x(0), wires.y(), wires.dy(), target]);
        if self.is_max {
            kernel::adaptive_max_backward(self.planes, self.input, self.output, x, y, dy, dx);
        } else {
            kernel::adaptive_avg_backward(self.planes, self.input, self.output, dy, dx);
        }
        memory.commit_grad(wires, 0);
    }
}
