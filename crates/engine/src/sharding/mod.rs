//! The cut of a batch into shards.
//!
//! The number of shards follows from the graph and the number of rows alone, never from the number of threads, so
//! that results have the same bits on any machine of the same kind. A graph can be cut when every value that depends
//! on the batch keeps the rows of the batch outermost and no operator but a batch norm looks across rows; formats never do
//! ([`ir::RowFormat`]).

use ir::{Node, NodeId, Op, Operator, RowCoupling, Shape, Type, Verified};

/// Multiply-accumulates below which a shard is not worth a thread: some 50 µs of forward pass.
const MACS_PER_SHARD: u64 = 4_000_000;
/// Multiply-accumulates of a shard for every parameter: with fewer, reading the weights and adding up the gradients once
/// more takes longer than it saves.
const MACS_PER_PARAMETER: u64 = 64;
/// Shards that a batch may have in spite of that, so that a second thread has work.
const MIN_SHARDS: u64 = 2;
/// More shards than this only cost memory: each holds a gradient of every parameter.
const MAX_SHARDS: u64 = 8;
/// Gradients of all shards together, in elements.
const MAX_GRADIENTS: u64 = 64 << 20;

/// The rows of each shard; their sum is `rows`, and they differ by at most one.
pub(crate) fn shard_rows(verified: &Verified, rows: usize, has_gradients: bool) -> Vec<usize> {
    let count = if is_row_wise(verified) {
        shard_count(verified, rows, has_gradients)
    } else {
        1
    };
    let (each, more) = (rows / count, rows % count);
    (0..count).map(|i| each + usize::from(i < more)).collect()
}

fn shard_count(verified: &Verified, rows: usize, has_gradients: bool) -> usize {
    let work: u64 = verified
        .graph()
        .iter()
        .map(|(id, node)| work(verified, id, node, rows))
        .fold(0, u64::saturating_add);
    let parameters = verified.graph().trained_parameter_count().max(1) as u64;
    let by_work = (work / (MACS_PER_PARAMETER * parameters)).max(MIN_SHARDS);
    let by_memory = if has_gradients {
        MAX_GRADIENTS / parameters
    } else {
        MAX_SHARDS
    };
    // A power of two, where parameters set the number, so that threads have the same work.
    let worth = by_work.min(by_memory).max(1);
    let max = MAX_SHARDS.min(1 << worth.ilog2()).min(rows as u64).max(1);
    (work / MACS_PER_SHARD).clamp(1, max) as usize
}

fn work(verified: &Verified, id: NodeId, node: &Node, rows: usize) -> u64 {
    let bind = |shape: &Shape| shape.bind(rows).unwrap_or_default();
    let inputs: Vec<Vec<usize>> = verified
        .input_types(id)
        .iter()
        .map(|ty| bind(&ty.shape))
        .collect();
    let outputs: Vec<Vec<usize>> = verified
        .outputs(id)
        .iter()
        .map(|ty| bind(&ty.shape))
        .collect();
    let inputs: Vec<&[usize]> = inputs.iter().map(Vec::as_slice).collect();
    let outputs: Vec<&[usize]> = outputs.iter().map(Vec::as_slice).collect();
    node.op.cost(&inputs, &outputs).macs
}

fn is_row_wise(verified: &Verified) -> bool {
    let outermost = |shape: &Shape| shape.0.iter().skip(1).all(|dim| dim.symbol.is_none());
    verified.graph().iter().all(|(id, node)| {
        let inputs = verified.input_types(id);
        let outputs = verified.outputs(id);
        let on_batch = inputs.iter().any(|ty| depends_on_batch(&ty.shape));
        let shapes_fit = inputs.iter().chain(outputs).all(|ty| outermost(&ty.shape))
            && outputs
                .iter()
                .all(|ty| !on_batch || depends_on_batch(&ty.shape));
        // What enters and leaves the graph is cut or put together along its rows.
        let edge = match node.op {
            Op::Placeholder(_) => outputs,
            Op::Output(_) => &inputs,
            _ => &[],
        };
        shapes_fit
            && edge.iter().all(|ty| depends_on_batch(&ty.shape))
            && (!on_batch || rows_stay_apart(node, &inputs))
    })
}

fn depends_on_batch(shape: &Shape) -> bool {
    shape.0.iter().any(|dim| dim.symbol.is_some())
}

/// True when the batch may be cut under this operator; the shapes have been checked.
fn rows_stay_apart(node: &Node, inputs: &[Type]) -> bool {
    match node.op.row_coupling(inputs) {
        // Steps with batch statistics reduce them over the shards.
        RowCoupling::Independent | RowCoupling::BatchStatistics => true,
        RowCoupling::Coupled => false,
    }
}

#[cfg(test)]
mod tests;
