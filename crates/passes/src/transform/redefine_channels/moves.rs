//! Axes under operators that combine values or move their axes.

use super::axes::{Axes, ChannelAxes, Inputs};
use super::unknowns::Unknown;
use ir::ops::cat::Chunk;
use ir::ops::getitem::Getitem;
use ir::ops::permute::{Permute, Transpose};
use ir::ops::reduce::Mean;
use ir::{Dim, Shape};
use std::ops::Range;

impl ChannelAxes {
    /// Axes of the same size stay equal; one of size 1 that is repeated stays 1.
    pub fn broadcast(&mut self, inputs: &Inputs) -> Axes {
        let rank = inputs.axes.iter().map(Vec::len).max().unwrap_or_default();
        let of = |k: usize| {
            let missing = rank - inputs.axes[k].len();
            let sizes = std::iter::repeat_n(Dim::from(1), missing);
            let axes = std::iter::repeat_n(None, missing);
            let sizes = sizes.chain(inputs.shapes[k].0.iter().cloned());
            axes.chain(inputs.axes[k].iter().copied()).zip(sizes)
        };
        let mut result: Vec<(Unknown, Dim)> = of(0).collect();
        for k in 1..inputs.axes.len() {
            for (known, (axis, size)) in result.iter_mut().zip(of(k)) {
                let one = Dim::from(1);
                if known.1 == size {
                    known.0 = self.unknowns.join(known.0, axis, &inputs.node.name);
                    continue;
                }
                let mut repeated = (axis, size);
                if known.1 == one {
                    std::mem::swap(known, &mut repeated);
                }
                self.unknowns.fix(repeated.0, || {
                    format!("{} repeats the only one of them", inputs.node.name)
                });
            }
        }
        result.into_iter().map(|(axis, _)| axis).collect()
    }

    /// The last axis of the left operand is summed with the last but one of the right.
    pub fn matmul(&mut self, inputs: &Inputs) -> Axes {
        let split = |k: usize| inputs.axes[k].len().saturating_sub(2);
        let batches = Inputs {
            node: inputs.node,
            axes: [0, 1].map(|k| inputs.axes[k][..split(k)].to_vec()).into(),
            shapes: [0, 1]
                .map(|k| Shape(inputs.shapes[k].0[..split(k)].to_vec()))
                .into(),
        };
        let mut result = self.broadcast(&batches);
        let [left, right] = [0, 1].map(|k| &inputs.axes[k][split(k)..]);
        let name = &inputs.node.name;
        self.unknowns.join(left[left.len() - 1], right[0], name);
        result.extend(&left[..left.len() - 1]);
        result.extend(&right[1..]);
        result
    }

    /// Queries times keys, and what comes of it times values.
    pub fn attention(&mut self, inputs: Inputs) -> Axes {
        let Inputs {
            node,
            mut axes,
            mut shapes,
        } = inputs;
        let (values, rows) = (axes.pop(), shapes.pop());
        let rank = axes[1].len();
        axes[1].swap(rank - 2, rank - 1);
        shapes[1].0.swap(rank - 2, rank - 1);
        let mut sizes = shapes[0].clone();
        sizes.0[rank - 1] = shapes[1].0[rank - 1].clone();
        let scores = self.matmul(&Inputs { node, axes, shapes });
        self.matmul(&Inputs {
            node,
            axes: [scores].into_iter().chain(values).collect(),
            shapes: [sizes].into_iter().chain(rows).collect(),
        })
    }

    /// Pieces of equal size stay equal.
    pub fn chunk(&mut self, op: &Chunk, mut inputs: Inputs) -> Axes {
        let at = inputs.shapes[0].axis(op.dim).unwrap_or_default();
        let size = inputs.shapes[0].0[at].fixed().unwrap_or_default();
        let axes = inputs.axes.swap_remove(0);
        if !size.is_multiple_of(op.chunks.max(1)) {
            self.unknowns.fix(axes[at], || {
                format!("{} cuts them into unequal parts", inputs.node.name)
            });
        }
        axes
    }

    /// Axes that stay whole.
    pub fn getitem(&mut self, op: &Getitem, inputs: &Inputs) -> Axes {
        let slices = op.parsed(&inputs.shapes[0]).unwrap_or_default();
        let dims = &inputs.shapes[0].0;
        let mut kept = Vec::new();
        for ((slice, dim), &axis) in slices.iter().zip(dims).zip(&inputs.axes[0]) {
            if !slice.keep || slice.len != *dim {
                self.unknowns
                    .fix(axis, || format!("{} takes some of them", inputs.node.name));
            }
            kept.extend(slice.keep.then_some(axis));
        }
        kept
    }

    /// Axes that become one, or one that becomes several: channels may be merged with others, but not cut.
    pub fn regroup(&mut self, inputs: &Inputs, to: &Shape) -> Axes {
        let mut result = vec![None; to.rank()];
        for (read, made) in segments(&inputs.shapes[0].0, &to.0) {
            let known: Vec<usize> = inputs.axes[0][read].iter().flatten().copied().collect();
            let mut wide = made.clone().filter(|&at| to.0[at] != Dim::from(1));
            let at = wide.next().unwrap_or(made.start);
            match (known.as_slice(), wide.next()) {
                (&[unknown], None) => result[at] = Some(unknown),
                _ => known.into_iter().for_each(|unknown| {
                    self.unknowns.fix(Some(unknown), || {
                        format!("{} gives them other axes", inputs.node.name)
                    });
                }),
            }
        }
        result
    }
}

/// The axes that are not averaged; those that stay have size 1.
pub(super) fn mean(op: &Mean, inputs: &Inputs) -> Axes {
    let reduced = op.reduced(&inputs.shapes[0]).unwrap_or_default();
    let axes = inputs.axes[0].iter().zip(reduced);
    let kept = axes.filter_map(|(&axis, is_reduced)| {
        if is_reduced {
            op.keepdim.then_some(None)
        } else {
            Some(axis)
        }
    });
    kept.collect()
}

/// Two axes change places.
pub(super) fn transpose(op: &Transpose, mut inputs: Inputs) -> Axes {
    let at = |dim: i64| inputs.shapes[0].axis(dim).unwrap_or_default();
    let mut axes = inputs.axes.swap_remove(0);
    axes.swap(at(op.dim0), at(op.dim1));
    axes
}

/// The axes in another order.
pub(super) fn permute(op: &Permute, inputs: &Inputs) -> Axes {
    let at = |&dim: &i64| inputs.axes[0][inputs.shapes[0].axis(dim).unwrap_or_default()];
    op.dims.iter().map(at).collect()
}

/// A run of axes before, and the run that it becomes.
type Run = (Range<usize>, Range<usize>);

/// The smallest runs of axes on both sides that have equally many elements.
fn segments(from: &[Dim], to: &[Dim]) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    let (mut i, mut j) = (0, 0);
    while i < from.len() && j < to.len() {
        let (first, start) = (i, j);
        let (mut read, mut made) = (from[i].clone(), to[j].clone());
        (i, j) = (i + 1, j + 1);
        while read != made {
            let extends_read =
                (read.factor, read.symbol.is_some()) < (made.factor, made.symbol.is_some());
            let (side, at, end) = if extends_read {
                (&mut read, from.get(i), &mut i)
            } else {
                (&mut made, to.get(j), &mut j)
            };
            let product = at.and_then(|dim| side.times(dim).ok());
            let Some(product) = product else {
                return vec![(0..from.len(), 0..to.len())];
            };
            (*side, *end) = (product, *end + 1);
        }
        runs.push((first..i, start..j));
    }
    // What is left has size 1.
    if let Some((read, made)) = runs.last_mut() {
        (read.end, made.end) = (from.len(), to.len());
    }
    runs
}
