//! Parts of tensors, and elements picked by index.

use super::moves::part;
use crate::aten::call::{Call, Read, made, one};
use crate::aten::source::Source;
use crate::constant::{self, Array, Refusal, strides};
use ir::Dim;
use serde_json::json;

/// The size of an axis that must be a number.
fn sized(call: &Call, source: &Source, axis: usize) -> Result<usize, Refusal> {
    let size = call.ty(source).shape.0[axis].fixed();
    size.ok_or_else(|| Refusal::new("it cuts the batch"))
}

/// One element of an axis, which it drops.
pub fn select(call: &mut Call) -> Read {
    let source = call.source("self")?;
    let axis = call.axis(&source, call.int("dim", None)?)?;
    let size = sized(call, &source, axis)?;
    let index = call.int("index", None)?;
    let at = if index < 0 {
        index + size as i64
    } else {
        index
    };
    let at = usize::try_from(at).ok().filter(|&at| at < size);
    let at = at.ok_or_else(|| Refusal::new(format!("index {index} is out of range")))?;
    part(call, axis, (at, 1, 1), false)
}

/// Elements of an axis one after another.
pub fn narrow(call: &mut Call) -> Read {
    let source = call.source("self")?;
    let axis = call.axis(&source, call.int("dim", None)?)?;
    let size = sized(call, &source, axis)? as i64;
    let (start, len) = (call.int("start", None)?, call.int("length", None)?);
    let start = if start < 0 { start + size } else { start };
    if start < 0 || len < 1 || start >= size || len > size - start {
        return Err(Refusal(format!(
            "{len} elements from {start} on are not in {size}"
        )));
    }
    if len == size {
        return Ok(vec![source]);
    }
    part(call, axis, (start as usize, len as usize, 1), true)
}

/// Slices of an axis by a list of places.
pub fn index_select(call: &mut Call) -> Read {
    let (source, indices) = (call.source("self")?, call.source("index")?);
    let axis = call.axis(&source, call.int("dim", None)?)?;
    along(call, axis, &indices)
}

/// A part of an axis.
pub fn slice(call: &mut Call) -> Read {
    let source = call.source("self")?;
    let axis = call.axis(&source, call.int("dim", Some(0))?)?;
    let step = call.int("step", Some(1))?;
    let is_all = call.int("start", Some(0)).is_ok_and(|start| start == 0)
        && call
            .int("end", Some(i64::MAX))
            .is_ok_and(|end| end == i64::MAX)
        && step == 1;
    if is_all {
        return Ok(vec![source]);
    }
    let size = sized(call, &source, axis)? as i64;
    let place = |at: i64| (if at < 0 { at + size } else { at }).clamp(0, size);
    let start = place(call.int("start", Some(0))?);
    let end = place(call.int("end", Some(i64::MAX))?);
    if end <= start || step < 1 {
        return Err(Refusal::new("it takes nothing, or steps backwards"));
    }
    let len = (end - start - 1) / step + 1;
    if len == size {
        return Ok(vec![source]);
    }
    part(
        call,
        axis,
        (start as usize, len as usize, step as usize),
        true,
    )
}

/// An axis cut into parts of one size, or of the given sizes.
pub fn split(call: &mut Call) -> Read {
    let source = call.source("self")?;
    let axis = call.axis(&source, call.int("dim", Some(0))?)?;
    let size = sized(call, &source, axis)?;
    let positive = |n: i64| usize::try_from(n).ok().filter(|&n| n > 0);
    let bad = || Refusal::new("its parts have no size");
    let lens: Vec<usize> = match call.operator_name() {
        "split_with_sizes" => {
            let sizes = call.ints("split_sizes", &[], 0)?;
            sizes
                .into_iter()
                .map(positive)
                .collect::<Option<_>>()
                .ok_or_else(bad)?
        }
        name => {
            let each = if name == "chunk" {
                let chunks = positive(call.int("chunks", None)?).ok_or_else(bad)?;
                size.div_ceil(chunks)
            } else {
                positive(call.int("split_size", None)?).ok_or_else(bad)?
            };
            check_parts(call, size.div_ceil(each.max(1)))?;
            (0..size)
                .step_by(each.max(1))
                .map(|at| each.min(size - at))
                .collect()
        }
    };
    let total = lens.iter().try_fold(0_usize, |n, &len| n.checked_add(len));
    if lens.is_empty() || total != Some(size) {
        let why = format!("its parts do not make up the {size} elements of the axis");
        return Err(Refusal(why));
    }
    let is_even = lens.windows(2).all(|pair| pair[0] == pair[1]);
    if is_even && call.known("self").is_none() {
        let x = call.builder.value_of(&source)?;
        let y = call.push("chunk", json!({ "chunks": lens.len(), "dim": axis }), &[x])?;
        return Ok(call.results(y));
    }
    let mut start = 0;
    let mut parts = Vec::new();
    for len in lens {
        parts.extend(part(call, axis, (start, len, 1), true)?);
        start += len;
    }
    Ok(parts)
}

/// Refuses more parts than the call has results, of which an axis of any size has as many as one likes.
fn check_parts(call: &Call, n: usize) -> Result<(), Refusal> {
    let n_results = call.node.results.len();
    if n <= n_results {
        return Ok(());
    }
    Err(Refusal(format!(
        "it makes {n} parts, but {n_results} results are named"
    )))
}

/// Every element of an axis.
pub fn unbind(call: &mut Call) -> Read {
    let source = call.source("self")?;
    let axis = call.axis(&source, call.int("dim", Some(0))?)?;
    let size = sized(call, &source, axis)?;
    check_parts(call, size)?;
    let mut parts = Vec::new();
    for at in 0..size {
        parts.extend(part(call, axis, (at, 1, 1), false)?);
    }
    Ok(parts)
}

/// Indices on one axis, or the numbers of rows on the first axis and indices on the second.
pub fn index(call: &mut Call) -> Read {
    let indices = call.list("indices")?;
    let given: Vec<(usize, &Source)> = indices
        .iter()
        .enumerate()
        .filter_map(|(axis, source)| Some((axis, source.as_ref()?)))
        .collect();
    match given.as_slice() {
        [(axis, indices)] => along(call, *axis, indices),
        [
            (0, Source::Rows { axis: 0, rank }),
            (1, Source::Known(known)),
        ] if known.array.shape.len() == *rank && known.array.shape.first() == Some(&1) => {
            by_row(call, &known.array)
        }
        _ => Err(Refusal::new("indices on several axes are not computed")),
    }
}

/// Slices of an axis by index.
fn along(call: &mut Call, axis: usize, indices: &Source) -> Read {
    let refuse = || Refusal::new("its indices are truth values");
    if call.ty(indices).dtype != ir::DType::I64 {
        return Err(refuse());
    }
    if let (Some(array), Source::Known(known)) = (call.known("self"), indices) {
        return Ok(made(constant::gather(&array, &known.array, axis)?));
    }
    let (x, indices) = (call.value("self")?, call.builder.value_of(indices)?);
    Ok(one(call.push(
        "gather",
        json!({ "dim": axis }),
        &[x, indices],
    )?))
}

/// `y[n, …] = x[n, index[…]]`.
fn by_row(call: &mut Call, indices: &Array) -> Read {
    let flat = indices.reshaped(vec![indices.values.len()])?;
    if let Some(array) = call.known("self") {
        if array.shape.len() != 2 || array.shape[0] != 1 {
            return Err(Refusal::new("a constant has rows of its own"));
        }
        let picked = constant::gather(&array, &flat, 1)?;
        return Ok(made(picked.reshaped(indices.shape.clone())?));
    }
    let x = call.value("self")?;
    let shape = call.builder.type_of(x).shape;
    let [rows, columns] = shape.0.as_slice() else {
        return Err(Refusal::new("indices on two axes of more are not computed"));
    };
    let n = flat.values.len();
    let in_order = flat
        .integers()
        .is_some_and(|all| all.iter().copied().eq(0..n as i64));
    let picked = if in_order && *columns == Dim::from(n) {
        x
    } else {
        let indices = call.builder.value_of(&Source::made(flat))?;
        call.push("gather", json!({ "dim": 1 }), &[x, indices])?
    };
    let mut sizes = vec![json!(rows.to_string())];
    sizes.extend(indices.shape[1..].iter().map(|size| json!(size)));
    Ok(one(call.push(
        "reshape",
        json!({ "shape": sizes }),
        &[picked],
    )?))
}

/// `y[i, j] = x[i, index[i, j]]` of constants.
pub fn gather(call: &mut Call) -> Read {
    let refuse = || Refusal::new("elements of inputs are not picked one by one");
    let source = call.source("self")?;
    let axis = call.axis(&source, call.int("dim", None)?)?;
    let array = call.known("self").ok_or_else(refuse)?;
    let indices = call.known("index").ok_or_else(refuse)?;
    let picks = indices.integers().ok_or_else(refuse)?;
    let mut steps: Vec<i64> = strides(&array.shape).iter().map(|&s| s as i64).collect();
    let fits = steps.len() == indices.shape.len()
        && indices
            .shape
            .iter()
            .zip(&array.shape)
            .enumerate()
            .all(|(at, (n, own))| at == axis || n <= own);
    if !fits {
        return Err(Refusal::new("its indices do not have its axes"));
    }
    let step = std::mem::replace(&mut steps[axis], 0);
    let bases = constant::index_grid(&indices.shape, 0, &steps)?;
    let size = array.shape[axis] as i64;
    if picks.iter().any(|pick| !(0..size).contains(pick)) {
        return Err(Refusal::new("an index is out of range"));
    }
    let places = bases
        .iter()
        .zip(picks)
        .map(|(&base, pick)| base as i64 + pick * step);
    let flat = array.reshaped(vec![array.values.len()])?;
    let places = Array::ints(places.collect());
    Ok(made(
        constant::gather(&flat, &places, 0)?.reshaped(indices.shape.clone())?,
    ))
}
