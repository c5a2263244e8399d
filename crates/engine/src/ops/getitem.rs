//! A box cut out of a value.

use super::moved::Moved;
use super::{Lowered, Site};
use crate::step::{Memory, Step, Wires};
use ir::Shape;
use ir::ops::getitem::AxisSlice;
use ir::ops::pad::Sources;

/// Copies runs of `run` elements that start at `starts`, one after the other.
struct Getitem {
    starts: Vec<usize>,
    run: usize,
}

/// The step of a box, or of every few elements along axes.
pub(crate) fn lower(op: &ir::ops::getitem::Getitem, site: &Site) -> Lowered {
    let slices = op.parsed(&Shape::of(&site.inputs[0])).unwrap_or_default();
    if slices.iter().all(|slice| slice.step == 1) {
        return Getitem::new(&slices, &site.inputs[0]).into();
    }
    let sources: Vec<Sources> = slices.iter().map(AxisSlice::sources).collect();
    Moved::new(&sources, 0.0, site).into()
}

impl Getitem {
    fn new(slices: &[AxisSlice], shape: &[usize]) -> Self {
        let bounds: Vec<(usize, usize)> = slices
            .iter()
            .map(|s| (s.start, s.len.fixed().unwrap_or(1)))
            .collect();
        // Whole trailing axes, and the part of the axis before them, are one run.
        let whole = bounds
            .iter()
            .zip(shape)
            .rev()
            .take_while(|((_, len), size)| len == *size)
            .count();
        let split = shape.len().saturating_sub(whole + 1);
        let inner: usize = shape[(split + 1).min(shape.len())..].iter().product();
        let (first, len) = bounds.get(split).copied().unwrap_or((0, 1));
        let mut starts = vec![first * inner];
        let mut stride = inner * shape.get(split).copied().unwrap_or(1);
        for axis in (0..split).rev() {
            let (start, len) = bounds[axis];
            let positions = (start..start + len).map(|i| i * stride);
            starts = positions
                .flat_map(|base| starts.iter().map(move |s| base + s).collect::<Vec<_>>())
                .collect();
            stride *= shape[axis];
        }
        Self {
            starts,
            run: len * inner,
        }
    }
}

impl Step for Getitem {
    fn forward(&self, wires: &Wires, memory: &mut Memory) {
        let [x, y] = memory.split([wires.x(0), wires.y()]);
        for (&start, y) in self.starts.iter().zip(y.chunks_mut(self.run)) {
            y.copy_from_slice(&x[start..start + self.run]);
        }
    }

    fn backward(&self, wires: &Wires, memory: &mut Memory) {
        let Some(target) = wires.grad_target(0) else {
            return;
        };
        let [dy, dx] = memory.split([wires.dy(), target]);
        dx.fill(0.0);
        for (&start, dy) in self.starts.iter().zip(dy.chunks(self.run)) {
            dx[start..start + self.run].copy_from_slice(dy);
        }
        memory.commit_grad(wires, 0);
    }
}

/// The box in exact integers.
pub(crate) mod integer {
    use crate::integer::walk::{box_indices, strides};
    use crate::integer::{Lowered, Site};
    use crate::ops::permute::integer::gather;
    use ir::Shape;

    pub(crate) fn lower(op: &ir::ops::getitem::Getitem, site: &Site) -> Lowered {
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
        let steps: Vec<usize> = slices
            .iter()
            .zip(&strides)
            .map(|(slice, stride)| slice.step * stride)
            .collect();
        gather(box_indices(start, &sizes, &steps), site)
    }
}
