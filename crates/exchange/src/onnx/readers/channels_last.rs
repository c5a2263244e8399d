//! Operators whose channels lie on the last axis: the usual ones between two transposes.

use super::shape::permute_to;
use super::{conv, norm, pool};
use crate::constant::{self, Refusal};
use crate::onnx::call::{Call, Read};
use crate::onnx::import::Source;

pub fn conv(call: &mut Call) -> Read {
    between(call, |call| {
        if let Some(Some(Source::Known { array, grid, .. })) = call.inputs.get_mut(1) {
            if array.shape.len() < 2 {
                return Err(Refusal::new("its weight has no axis of channels"));
            }
            let order = to_first(array.shape.len());
            *array = constant::permute(array, &order)?;
            *grid = grid.take().map(|grid| grid.permuted(&order)).transpose()?;
        }
        conv::conv(call)
    })
}

pub fn max_pool(call: &mut Call) -> Read {
    between(call, pool::max_pool)
}

pub fn batch_norm(call: &mut Call) -> Read {
    between(call, norm::batch)
}

/// A reader on the input with its channels on axis 1, and its result with them on the last axis again.
fn between(call: &mut Call, read: fn(&mut Call) -> Read) -> Read {
    let rank = call.rank(0)?;
    if rank < 2 {
        return Err(Refusal::new("its input has no axis of channels"));
    }
    let element = call.element(0)?;
    let x = call.value(0)?;
    let x = permute_to(call, x, &to_first(rank))?;
    call.inputs[0] = Some(call.importer.result(x, element));
    let mut results = read(call)?.into_iter();
    let Some(Source::Value { value, .. }) = results.next() else {
        return Err(Refusal::new("its result is not a value of the graph"));
    };
    let order: Vec<usize> = [0].into_iter().chain(2..rank).chain([1]).collect();
    let y = permute_to(call, value, &order)?;
    Ok(call.result(y, element))
}

/// The order of axes that puts the last one behind the first.
fn to_first(rank: usize) -> Vec<usize> {
    [0, rank - 1].into_iter().chain(1..rank - 1).collect()
}
