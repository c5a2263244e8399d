//! Elements moved about: transpose, permute, getitem, chunk.

use super::{Kernel, Lowered, Site, WideKernel};
use crate::integer::walk::{box_indices, strides};
use crate::ops::permute::axis;
use ir::Shape;

pub(crate) fn transpose(op: &ir::ops::permute::Transpose, site: &Site) -> Lowered {
    let rank = site.operands[0].shape.len();
    let mut axes: Vec<usize> = (0..rank).collect();
    axes.swap(axis(op.dim0, rank), axis(op.dim1, rank));
    with_axes(&axes, site)
}

pub(crate) fn permute(op: &ir::ops::permute::Permute, site: &Site) -> Lowered {
    let rank = site.operands[0].shape.len();
    let axes: Vec<usize> = op.dims.iter().map(|&dim| axis(dim, rank)).collect();
    with_axes(&axes, site)
}

/// Result axis `i` is operand axis `axes[i]`.
fn with_axes(axes: &[usize], site: &Site) -> Lowered {
    let strides = strides(&site.operands[0].shape);
    let steps: Vec<usize> = axes.iter().map(|&axis| strides[axis]).collect();
    gather(box_indices(0, &site.outputs[0], &steps), site)
}

pub(crate) fn getitem(op: &ir::ops::getitem::Getitem, site: &Site) -> Lowered {
    let shape = &site.operands[0].shape;
    let strides = strides(shape);
    let slices = op.parsed(&Shape::of(shape)).unwrap_or_default();
    let start = slices
        .iter()
        .zip(&strides)
        .map(|(slice, stride)| slice.start * stride)
        .sum();
    let sizes: Vec<usize> = slices
        .iter()
        .map(|slice| slice.len.fixed().unwrap_or(1))
        .collect();
    gather(box_indices(start, &sizes, &strides), site)
}

pub(crate) fn chunk(op: &ir::ops::cat::Chunk, site: &Site) -> Lowered {
    let shape = &site.operands[0].shape;
    let (axis, strides) = (axis(op.dim, shape.len()), strides(shape));
    let mut first = 0;
    let pieces = site.outputs.iter().map(|piece| {
        let start = first * strides[axis];
        first += piece[axis];
        Kernel::from(Gather(box_indices(start, piece, &strides)))
    });
    Lowered::Several(pieces.collect())
}

fn gather(indices: Vec<usize>, site: &Site) -> Lowered {
    Lowered::Kernel(Gather(indices).into(), site.operands[0].range, Vec::new())
}

/// For every element of the result the element of the operand it is.
struct Gather(Vec<usize>);

impl WideKernel for Gather {
    fn run(&self, operands: &[Vec<i64>], y: &mut [i64]) {
        for (y, &index) in y.iter_mut().zip(&self.0) {
            *y = operands[0][index];
        }
    }
}
