//! Cutting, joining, picking and repeating.

use crate::constant::{self, Array, Refusal};
use crate::onnx::call::{Call, Read};
use ir::Value;
use serde_json::json;

/// Repetitions of a value that are joined, at most.
const MAX_REPEATS: i64 = 64;

pub fn concat(call: &mut Call) -> Read {
    let axis = concat_axis(call)?;
    let mut values = Vec::new();
    for index in 0..call.inputs.len() {
        call.keep_once(index)?;
        values.push(call.value(index)?);
    }
    if axis > 0 {
        repeat_along_batch(call, &mut values)?;
    }
    if let [only] = values[..] {
        return call.result_like(only, 0);
    }
    let y = call.push("cat", json!({ "dim": axis }), &values)?;
    call.result_like(y, 0)
}

/// Repeats what is kept once along the batch that others have.
fn repeat_along_batch(call: &mut Call, values: &mut [Value]) -> Result<(), Refusal> {
    let first = |call: &Call, value: Value| call.type_of(value).shape.0.first().cloned();
    let batch = values.iter().find_map(|&value| {
        let dim = first(call, value)?;
        dim.symbol.is_some().then_some(dim)
    });
    let Some(batch) = batch else {
        return Ok(());
    };
    for value in values {
        let mut dims = call.type_of(*value).shape.0;
        if dims.first().and_then(ir::Dim::fixed) == Some(1) {
            dims[0] = batch.clone();
            let sizes: Vec<constant::Size> = dims.iter().map(constant::Size::of).collect();
            let shape = crate::draft::axis_sizes(&sizes)?;
            *value = call.push("expand", json!({ "shape": shape }), &[*value])?;
        }
    }
    Ok(())
}

fn concat_axis(call: &Call) -> Result<usize, Refusal> {
    let axis = call.attributes.int("axis")?;
    call.axis(0, axis.ok_or_else(|| Refusal::new("its axis is missing"))?)
}

/// The evaluation of joined tensors.
pub fn fold_concat(call: &Call) -> Result<Vec<Array>, Refusal> {
    let axis = concat_axis(call)?;
    let arrays = call.all_known().unwrap_or_default();
    let arrays: Vec<Array> = arrays.into_iter().cloned().collect();
    Ok(vec![constant::concat(&arrays, axis)?])
}

/// The axis and the first and last place of every part.
fn parts(call: &Call) -> Result<(usize, Vec<(usize, usize)>), Refusal> {
    let axis = call.attributes.int_or("axis", 0)?;
    let axis = call.axis(0, axis)?;
    let size = call.ty(0)?.shape.0[axis].fixed();
    let size = size.ok_or_else(|| Refusal::new("it cuts the batch"))?;
    let n = call
        .attributes
        .int("num_outputs")?
        .unwrap_or(call.node.output.len() as i64)
        .max(1) as usize;
    if n > call.node.output.len().max(1) {
        return Err(Refusal::new(format!(
            "num_outputs = {n} is more than it has"
        )));
    }
    let sizes = if let Some(sizes) = call.ints_of("split", 1)? {
        if sizes.len() != call.node.output.len() {
            let (n, outputs) = (sizes.len(), call.node.output.len());
            return Err(Refusal(format!("it has {n} parts and {outputs} results")));
        }
        let sizes: Result<Vec<usize>, _> =
            sizes.iter().map(|&size| usize::try_from(size)).collect();
        sizes.map_err(|_| Refusal::new("a part has a negative size"))?
    } else {
        let piece = size.div_ceil(n).max(1);
        let part = |k: usize| piece.min(size.saturating_sub(k * piece));
        (0..n).map(part).collect()
    };
    let mut start = 0_usize;
    let mut parts = Vec::new();
    for part in sizes {
        parts.push((start, start + part));
        start += part;
    }
    if start != size {
        return Err(Refusal::new(format!(
            "its parts have {start} elements of {size}"
        )));
    }
    Ok((axis, parts))
}

pub fn split(call: &mut Call) -> Read {
    let (axis, parts) = parts(call)?;
    let (x, element) = (call.value(0)?, call.element(0)?);
    let even = parts.iter().all(|(start, end)| end - start == parts[0].1);
    if even && parts.len() > 1 {
        let y = call.push("chunk", json!({ "chunks": parts.len(), "dim": axis }), &[x])?;
        return Ok(call.importer.results(y, element));
    }
    let results = parts.into_iter().map(|(start, end)| {
        let y = cut(call, x, axis, start, end)?;
        Ok(call.importer.result(y, element))
    });
    results.collect()
}

/// The elements from one place up to another along an axis.
fn cut(call: &mut Call, x: Value, axis: usize, start: usize, end: usize) -> Result<Value, Refusal> {
    let index: String = ":, ".repeat(axis) + &format!("{start}:{end}");
    call.push("getitem", json!({ "index": index }), &[x])
}

/// The evaluation of parts.
pub fn fold_split(call: &Call) -> Result<Vec<Array>, Refusal> {
    let (axis, parts) = parts(call)?;
    let array = call.constant(0)?;
    let parts = parts
        .into_iter()
        .map(|(start, end)| constant::slice(array, axis, start, 1, end - start));
    parts.collect()
}

/// An end that is beyond every batch; exporters write it, or a larger one, for none.
const END: i64 = 1_000_000_000;

/// A cut along one axis: the first place, the step, the number of elements.
struct Cut {
    axis: usize,
    start: usize,
    step: i64,
    len: usize,
}

/// The cuts of a slice, one for each axis that it names.
fn cuts(call: &Call) -> Result<Vec<Cut>, Refusal> {
    let missing = |name: &str| Refusal::new(format!("its {name} are missing"));
    let starts = call
        .ints_of("starts", 1)?
        .ok_or_else(|| missing("starts"))?;
    let ends = call.ints_of("ends", 2)?.ok_or_else(|| missing("ends"))?;
    let axes = call
        .ints_of("axes", 3)?
        .unwrap_or((0..starts.len() as i64).collect());
    let steps = if call.has(4) {
        call.ints(4)?
    } else {
        vec![1; starts.len()]
    };
    if ends.len() != starts.len() || axes.len() != starts.len() || steps.len() != starts.len() {
        return Err(Refusal::new("its lists have different lengths"));
    }
    let dims = call.ty(0)?.shape.0;
    if starts.len() > dims.len() {
        return Err(Refusal::new("it cuts more axes than its input has"));
    }
    let mut cuts = Vec::new();
    for k in 0..starts.len() {
        let axis = call.axis(0, axes[k])?;
        let (start, end, step) = (starts[k], ends[k], steps[k]);
        let Some(size) = dims[axis].fixed() else {
            if start == 0 && step == 1 && end >= END {
                continue;
            }
            return Err(Refusal::new("it cuts the batch"));
        };
        let size = size as i64;
        if step == 0 {
            return Err(Refusal::new("its step is 0"));
        }
        let (low, high) = if step > 0 { (0, size) } else { (-1, size - 1) };
        let place = |at: i64| (if at < 0 { at.saturating_add(size) } else { at }).clamp(low, high);
        let (from, to) = (place(start), place(end));
        let distance = if step > 0 { to - from } else { from - to };
        let len = distance.max(0).unsigned_abs().div_ceil(step.unsigned_abs()) as usize;
        cuts.push(Cut {
            axis,
            start: from.max(0) as usize,
            step,
            len,
        });
    }
    Ok(cuts)
}

pub fn slice(call: &mut Call) -> Read {
    let cuts = cuts(call)?;
    let mut y = call.value(0)?;
    for Cut {
        axis,
        start,
        step,
        len,
    } in cuts
    {
        let size = call.type_of(y).shape.0[axis].fixed().unwrap_or(0);
        if len == 0 {
            return Err(Refusal::new("its result is empty"));
        }
        y = match step {
            1 if start == 0 && len == size => y,
            1 => cut(call, y, axis, start, start + len)?,
            _ => {
                let places = (0..len as i64).map(|k| start as i64 + k * step).collect();
                let places = call.store(Array::ints(places))?;
                call.push("gather", json!({ "dim": axis }), &[y, places])?
            }
        };
    }
    call.result_like(y, 0)
}

/// The evaluation of a slice.
pub fn fold_slice(call: &Call) -> Result<Vec<Array>, Refusal> {
    let mut array = call.constant(0)?.clone();
    for Cut {
        axis,
        start,
        step,
        len,
    } in cuts(call)?
    {
        array = constant::slice(&array, axis, start, step, len)?;
    }
    Ok(vec![array])
}

/// A row of a stored table, an index, or several.
pub fn gather(call: &mut Call) -> Read {
    let axis = call.attributes.int_or("axis", 0)?;
    let axis = call.axis(0, axis)?;
    let size = call.ty(0)?.shape.0[axis].fixed();
    let is_table = call
        .known(0)
        .is_some_and(|table| table.shape.len() == 2 && table.floats().is_some());
    if is_table && axis == 0 && call.known(1).is_none() {
        let weight = call.param("weight", 0)?;
        let shape = weight.array.shape.clone();
        let indices = call.value(1)?;
        let attributes = json!({ "num_embeddings": shape[0], "embedding_dim": shape[1] });
        let y = call.layer("embedding", attributes, &[indices], vec![weight])?;
        return call.result_like(y, 0);
    }
    if let (Some(indices), Some(size)) = (call.known(1).cloned(), size) {
        let picks = indices
            .integers()
            .ok_or_else(|| Refusal::new("its indices are not known integers"))?;
        let size = size as i64;
        if let Some(wrong) = picks.iter().find(|index| !(-size..size).contains(index)) {
            return Err(Refusal::new(format!(
                "index {wrong} is out of range for an axis of size {size}"
            )));
        }
        let places: Vec<i64> = picks
            .iter()
            .map(|&at| if at < 0 { at + size } else { at })
            .collect();
        let x = call.value(0)?;
        if indices.shape.is_empty() {
            let index: String = ":, ".repeat(axis) + &places[0].to_string();
            let y = call.push("getitem", json!({ "index": index }), &[x])?;
            return call.result_like(y, 0);
        }
        let places = call.store(Array::ints(places).reshaped(indices.shape)?)?;
        let y = call.push("gather", json!({ "dim": axis }), &[x, places])?;
        return call.result_like(y, 0);
    }
    let (x, indices) = (call.value(0)?, call.value(1)?);
    let y = call.push("gather", json!({ "dim": axis }), &[x, indices])?;
    call.result_like(y, 0)
}

/// The evaluation of picked slices.
pub fn fold_gather(call: &Call) -> Result<Vec<Array>, Refusal> {
    let axis = call.attributes.int_or("axis", 0)?;
    let axis = call.axis(0, axis)?;
    Ok(vec![constant::gather(
        call.constant(0)?,
        call.constant(1)?,
        axis,
    )?])
}

/// A value repeated along its axes.
pub fn tile(call: &mut Call) -> Read {
    let repeats = call.ints(1)?;
    if let Some(wrong) = repeats
        .iter()
        .find(|repeat| !(1..=MAX_REPEATS).contains(repeat))
    {
        return Err(Refusal::new(format!("{wrong} repetitions are not read")));
    }
    let mut y = call.value(0)?;
    for (axis, &repeat) in repeats
        .iter()
        .enumerate()
        .filter(|(_, repeat)| **repeat > 1)
    {
        y = call.push("cat", json!({ "dim": axis }), &vec![y; repeat as usize])?;
    }
    call.result_like(y, 0)
}

/// The evaluation of repetitions.
pub fn fold_tile(call: &Call) -> Result<Vec<Array>, Refusal> {
    let mut array = call.constant(0)?.clone();
    for (axis, &size) in call.sizes(1)?.iter().enumerate() {
        // What repeats along the batch is kept once.
        let repeat = if size.of_batch { 1 } else { size.factor };
        if !(0..=1 << 20).contains(&repeat) {
            return Err(Refusal::new(format!("{repeat} repetitions are not read")));
        }
        let mut shape = array.shape.clone();
        let own = shape.get_mut(axis);
        let own = own.ok_or_else(|| Refusal::new("it has more repetitions than axes"))?;
        *own = own.saturating_mul(repeat as usize);
        constant::check_growth(&shape, array.values.len())?;
        array = constant::concat(&vec![array; repeat as usize], axis)?;
    }
    Ok(vec![array])
}
