//! Values joined along an axis, and cut apart along one.

use super::Site;
use super::permute::axis;
use crate::arena::Span;
use crate::step::{Memory, Step, Wires};
use kernels::strided::copy_rows;

/// Copies `source` into runs of `target`, or runs of `source` into `target`: both are cut into the same number of
/// pieces, and each piece of the longer one holds the shorter one's at `offset`.
fn copy_runs(
    long: &mut [f32],
    long_run: usize,
    short: &mut [f32],
    short_run: usize,
    offset: usize,
    into_long: bool,
) {
    if short_run == 0 {
        return;
    }
    let (rows, part) = (short.len() / short_run, &mut long[offset..]);
    if into_long {
        copy_rows(rows, short_run, short, short_run, part, long_run);
    } else {
        copy_rows(rows, short_run, part, long_run, short, short_run);
    }
}

/// Elements of one entry of the axis and everything inside it, per operand.
fn runs(shapes: &[Vec<usize>], dim: i64) -> Vec<usize> {
    let axis = axis(dim, shapes[0].len());
    shapes
        .iter()
        .map(|shape| shape[axis..].iter().product())
        .collect()
}

/// Joins its inputs, which have these runs.
pub(crate) struct Cat {
    runs: Vec<usize>,
}

/// Cuts its input into several results, which have these runs.
pub(crate) struct Chunk {
    runs: Vec<usize>,
}

pub(crate) fn cat(op: &ir::ops::cat::Cat, site: &Site) -> Cat {
    Cat {
        runs: runs(&site.inputs, op.dim),
    }
}

pub(crate) fn chunk(op: &ir::ops::cat::Chunk, site: &Site) -> Chunk {
    Chunk {
        runs: runs(&site.outputs, op.dim),
    }
}

/// Every run with its offset in a piece of the joined value, whose length comes first.
fn with_offsets(runs: &[usize]) -> (usize, impl Iterator<Item = (usize, usize)>) {
    let mut offset = 0;
    let offsets = runs.iter().map(move |&run| {
        offset += run;
        (run, offset - run)
    });
    (runs.iter().sum(), offsets)
}

impl Step for Cat {
    fn forward(&self, wires: &Wires, memory: &mut Memory) {
        let (total, runs) = with_offsets(&self.runs);
        for (i, (run, offset)) in runs.enumerate() {
            let [y, x] = memory.split([wires.y(), wires.x(i)]);
            copy_runs(y, total, x, run, offset, true);
        }
    }

    fn backward(&self, wires: &Wires, memory: &mut Memory) {
        let (total, runs) = with_offsets(&self.runs);
        for (i, (run, offset)) in runs.enumerate() {
            if let Some(target) = wires.grad_target(i) {
                let [dy, dx] = memory.split([wires.dy(), target]);
                copy_runs(dy, total, dx, run, offset, false);
                memory.commit_grad(wires, i);
            }
        }
    }
}

impl Step for Chunk {
    fn forward(&self, wires: &Wires, memory: &mut Memory) {
        let (total, runs) = with_offsets(&self.runs);
        for (output, (run, offset)) in wires.outputs.iter().zip(runs) {
            let [x, y] = memory.split([wires.x(0), output.value.clone()]);
            copy_runs(x, total, y, run, offset, false);
        }
    }

    fn backward(&self, wires: &Wires, memory: &mut Memory) {
        let Some(target) = wires.grad_target(0) else {
            return;
        };
        let grads = wires
            .outputs
            .iter()
            .map(|output| output.grad.as_ref().map(|slot| slot.span.clone()));
        let grads: Vec<Option<Span>> = grads.collect();
        if grads.iter().any(Option::is_none) {
            memory.arena[target.clone()].fill(0.0);
        }
        let (total, runs) = with_offsets(&self.runs);
        for (grad, (run, offset)) in grads.into_iter().zip(runs) {
            if let Some(span) = grad {
                let [dx, dy] = memory.split([target.clone(), span]);
                copy_runs(dx, total, dy, run, offset, true);
            }
        }
        memory.commit_grad(wires, 0);
    }
}

/// Joining and cutting in exact integers; what is joined takes the finest step of them all.
pub(crate) mod integer {
    use crate::integer::error::Refusal;
    use crate::integer::range::{CodeRange, Fit, refined};
    use crate::integer::walk::{box_indices, strides};
    use crate::integer::{CatPart, Lowered, Site, Source};
    use crate::ops::permute::axis;

    pub(crate) fn cat(op: &ir::ops::cat::Cat, site: &Site) -> Result<Lowered, Refusal> {
        let axis = axis(op.dim, site.outputs[0].len());
        let frac = site
            .operands
            .iter()
            .map(|operand| operand.range.frac)
            .max()
            .unwrap_or(0);
        let mut parts = Vec::with_capacity(site.operands.len());
        let mut all: Option<CodeRange> = None;
        for operand in &site.operands {
            let (range, bits) = refined(operand.range, frac)?;
            all = Some(all.map_or(Ok(range), |all| all.joined(range).fit())?);
            let run = operand.shape[axis..].iter().product();
            parts.push(CatPart { run, bits });
        }
        let range = all.unwrap_or(site.operands[0].range);
        Ok(Lowered::step(Source::Cat { parts }, range))
    }

    pub(crate) fn chunk(op: &ir::ops::cat::Chunk, site: &Site) -> Lowered {
        let shape = &site.operands[0].shape;
        let (axis, strides) = (axis(op.dim, shape.len()), strides(shape));
        let mut first = 0;
        let pieces = site.outputs.iter().map(|piece| {
            let start = first * strides[axis];
            first += piece[axis];
            Source::Gather(box_indices(start, piece, &strides))
        });
        Lowered::Several(pieces.collect())
    }
}
