//! Elements in other places or with other axes.

use super::create::held_once;
use crate::aten::call::{Call, Read, made, one};
use crate::aten::source::{Known, Source};
use crate::constant::{self, Array, Refusal, Size};
use crate::draft::axis_sizes;
use ir::{Dim, Value};
use serde_json::json;

/// Copies of a value that are joined, at most.
const MAX_REPEATS: i64 = 64;

/// A function of arrays that is applied to a constant, and to the places of its elements where it is a view.
fn moved(known: &Known, f: impl Fn(&Array) -> Result<Array, Refusal>) -> Result<Known, Refusal> {
    let view_of = match &known.view_of {
        Some((base, places)) => Some((base.clone(), f(places)?)),
        None => None,
    };
    Ok(Known {
        array: f(&known.array)?,
        path: String::new(),
        trained: false,
        view_of,
        turned: false,
    })
}

/// A constant that may be evaluated, with the places of its elements in the value that it is a view of.
fn viewed(call: &Call, name: &str) -> Option<Known> {
    let Some(Source::Known(mut known)) = call.optional(name).filter(|_| call.known(name).is_some())
    else {
        return None;
    };
    if known.view_of.is_none() {
        let n = known.array.values.len() as i64;
        let places = Array::ints((0..n).collect()).reshaped(known.array.shape.clone());
        known.view_of = call.value_name(name).map(str::to_owned).zip(places.ok());
    }
    Some(known)
}

fn result(known: Known) -> Vec<Source> {
    vec![Source::Known(known)]
}

/// New axes for the same elements.
pub fn view(call: &mut Call) -> Read {
    let name = if call.argument("size").is_some() {
        "size"
    } else {
        "shape"
    };
    let sizes = call.sizes(name)?;
    reshaped(call, &sizes)
}

fn reshaped(call: &mut Call, sizes: &[Size]) -> Read {
    if let Some(known) = viewed(call, "self") {
        return Ok(result(moved(&known, |array| reshape_known(array, sizes))?));
    }
    let x = call.value("self")?;
    let op = if call.operator_name() == "view" {
        "view"
    } else {
        "reshape"
    };
    // A program of one batch size states multiples of it; those of the batch that was made free take their place.
    let mut sizes = sizes.to_vec();
    let has_batch = call.sizes_of(x).first().is_some_and(|size| size.of_batch);
    if let Some(first) = sizes.first_mut().filter(|_| has_batch) {
        *first = call.builder.multiple_of_batch(*first);
    }
    let shape = axis_sizes(&sizes)?;
    Ok(one(call.push(op, json!({ "shape": shape }), &[x])?))
}

fn reshape_known(array: &Array, sizes: &[Size]) -> Result<Array, Refusal> {
    let known = sizes.iter().map(|size| size.factor).filter(|&n| n != -1);
    let known = known.into_iter().try_fold(1_i64, i64::checked_mul);
    let known = known.ok_or_else(|| Refusal::new("its sizes are larger than memory"))?;
    let rest = array.values.len() as i64 / known.max(1);
    let filled: Vec<Size> = sizes
        .iter()
        .map(|&size| if size.factor == -1 { rest.into() } else { size })
        .collect();
    array.reshaped(held_once(&filled)?)
}

/// Neighbouring axes as one.
pub fn flatten(call: &mut Call) -> Read {
    let source = call.source("self")?;
    let start = call.axis(&source, call.int("start_dim", Some(0))?)?;
    let end = call.axis(&source, call.int("end_dim", Some(-1))?)?;
    if start > end {
        let why = format!("its axes end with {end}, before {start}, where they start");
        return Err(Refusal(why));
    }
    if call.known("self").is_none() {
        let x = call.builder.value_of(&source)?;
        let attributes = json!({ "start_dim": start, "end_dim": end });
        return Ok(one(call.push("flatten", attributes, &[x])?));
    }
    let shape = call.ty(&source).shape.0;
    let merged = shape[start..=end]
        .iter()
        .try_fold(Dim::from(1), |n, dim| n.times(dim));
    let merged = merged.map_err(|error| Refusal::new(error.to_string()))?;
    let dims = shape[..start]
        .iter()
        .chain([&merged])
        .chain(&shape[end + 1..]);
    let sizes: Vec<Size> = dims.map(Size::of).collect();
    reshaped(call, &sizes)
}

/// One axis as several.
pub fn unflatten(call: &mut Call) -> Read {
    let source = call.source("self")?;
    let axis = call.axis(&source, call.int("dim", None)?)?;
    let shape: Vec<Size> = call.ty(&source).shape.0.iter().map(Size::of).collect();
    let inner = call.sizes("sizes")?;
    let sizes: Vec<Size> = [&shape[..axis], &inner, &shape[axis + 1..]].concat();
    reshaped(call, &sizes)
}

/// An axis of size 1 more.
pub fn unsqueeze(call: &mut Call) -> Read {
    let source = call.source("self")?;
    let mut shape: Vec<Size> = call.ty(&source).shape.0.iter().map(Size::of).collect();
    let dim = call.int("dim", None)?;
    let rank = shape.len() as i64 + 1;
    let axis = if dim < 0 { dim + rank } else { dim };
    let axis = usize::try_from(axis)
        .ok()
        .filter(|&axis| axis < rank as usize);
    let new = axis.ok_or_else(|| Refusal::new(format!("axis {dim} is out of range")))?;
    if let Source::Rows { axis, rank } = source {
        let axis = if new <= axis { axis + 1 } else { axis };
        let rank = rank + 1;
        return Ok(vec![Source::Rows { axis, rank }]);
    }
    shape.insert(new, 1.into());
    reshaped(call, &shape)
}

/// Axes of size 1 less.
pub fn squeeze(call: &mut Call) -> Read {
    let source = call.source("self")?;
    let shape = call.ty(&source).shape.0;
    let all: Vec<i64> = (0..shape.len() as i64).collect();
    let dims = call.ints("dim", &all, 0)?;
    let axes: Result<Vec<usize>, Refusal> =
        dims.iter().map(|&dim| call.axis(&source, dim)).collect();
    let axes = axes?;
    let stays = |(axis, dim): &(usize, &Dim)| !axes.contains(axis) || **dim != Dim::from(1);
    let kept = shape.iter().enumerate().filter(stays);
    let sizes: Vec<Size> = kept.map(|(_, dim)| Size::of(dim)).collect();
    reshaped(call, &sizes)
}

/// Axes in another order.
pub fn permute(call: &mut Call) -> Read {
    let source = call.source("self")?;
    let rank = call.ty(&source).shape.rank();
    let mut order: Vec<usize> = (0..rank).collect();
    let mut swapped = None;
    match call.operator_name() {
        "t" => order.reverse(),
        name @ ("transpose" | "swapdims" | "swapaxes") => {
            let names = if name == "swapaxes" {
                ["axis0", "axis1"]
            } else {
                ["dim0", "dim1"]
            };
            let [a, b] = names.map(|name| call.axis(&source, call.int(name, None)?));
            let (a, b) = (a?, b?);
            order.swap(a, b);
            swapped = Some((a, b));
        }
        "mT" | "adjoint" if rank >= 2 => {
            order.swap(rank - 2, rank - 1);
            swapped = Some((rank - 2, rank - 1));
        }
        "movedim" => order = moved_axes(call, &source, rank)?,
        _ => {
            let dims = call.ints("dims", &[], 0)?;
            order = dims
                .iter()
                .map(|&dim| call.axis(&source, dim))
                .collect::<Result<_, _>>()?;
        }
    }
    if let Some(known) = viewed(call, "self") {
        return Ok(result(moved(&known, |array| {
            constant::permute(array, &order)
        })?));
    }
    if let Source::Known(known) = &source
        && known.trained
        && !known.turned
        && order == [1, 0]
        && call.is_own("self")
    {
        return Ok(result(Known {
            array: constant::permute(&known.array, &order)?,
            turned: true,
            ..known.clone()
        }));
    }
    let x = call.builder.value_of(&source)?;
    let y = match swapped {
        Some((a, b)) => call.push("transpose", json!({ "dim0": a, "dim1": b }), &[x])?,
        None => call.push("permute", json!({ "dims": order }), &[x])?,
    };
    Ok(one(y))
}

/// The axes of a source in the order in which some of them are moved.
fn moved_axes(call: &Call, source: &Source, rank: usize) -> Result<Vec<usize>, Refusal> {
    let axes = |name: &str| -> Result<Vec<usize>, Refusal> {
        let axes = call.ints(name, &[], 0)?;
        axes.iter().map(|&axis| call.axis(source, axis)).collect()
    };
    let (from, to) = (axes("source")?, axes("destination")?);
    let mut rest = (0..rank).filter(|axis| !from.contains(axis));
    let place = |at: usize| {
        let moved = to.iter().position(|&axis| axis == at);
        moved
            .and_then(|k| from.get(k).copied())
            .or_else(|| rest.next())
    };
    let order: Option<Vec<usize>> = (0..rank).map(place).collect();
    order.ok_or_else(|| Refusal::new("its lists have different lengths"))
}

/// The axes of another tensor.
pub fn like(call: &mut Call) -> Read {
    let other = call.source("other")?;
    let sizes: Vec<Size> = call.ty(&other).shape.0.iter().map(Size::of).collect();
    if call.operator_name() == "expand_as" {
        return expanded(call, &sizes);
    }
    reshaped(call, &sizes)
}

/// Copies along axes, of which there may be more than before.
pub fn repeat(call: &mut Call) -> Read {
    let name = if call.argument("repeats").is_some() {
        "repeats"
    } else {
        "dims"
    };
    let mut repeats = call.ints(name, &[], 0)?;
    let source = call.source("self")?;
    let mut sizes: Vec<Size> = call.ty(&source).shape.0.iter().map(Size::of).collect();
    while repeats.len() < sizes.len() && call.operator_name() == "tile" {
        repeats.insert(0, 1);
    }
    let missing = repeats.len().checked_sub(sizes.len());
    let missing = missing.ok_or_else(|| Refusal::new("it has fewer repetitions than axes"))?;
    if let Some(wrong) = repeats.iter().find(|&&n| !(1..=MAX_REPEATS).contains(&n)) {
        return Err(Refusal(format!("{wrong} repetitions are not read")));
    }
    let mut y = call.builder.value_of(&source)?;
    if missing > 0 {
        sizes.splice(0..0, vec![1.into(); missing]);
        y = call.reshape(y, &sizes)?;
    }
    for (axis, &n) in repeats.iter().enumerate().filter(|(_, n)| **n > 1) {
        y = call.push("cat", json!({ "dim": axis }), &vec![y; n as usize])?;
    }
    Ok(one(y))
}

/// Elements of axes from the last to the first.
pub fn flip(call: &mut Call) -> Read {
    let source = call.source("self")?;
    let mut y = call.builder.value_of(&source)?;
    for dim in call.ints("dims", &[], 0)? {
        let axis = call.axis(&source, dim)?;
        let size = call.sizes_of(y)[axis];
        if size.of_batch {
            return Err(Refusal::new("it turns the batch around"));
        }
        y = call.pick(y, axis, (0..size.factor).rev().collect())?;
    }
    Ok(one(y))
}

/// Repetition along axes; along the batch a constant is held once.
pub fn expand(call: &mut Call) -> Read {
    let sizes = call.sizes("size")?;
    expanded(call, &sizes)
}

fn expanded(call: &mut Call, sizes: &[Size]) -> Read {
    let source = call.source("self")?;
    if let Some(array) = call.known("self") {
        let missing = sizes.len().saturating_sub(array.shape.len());
        let own = |at: usize| at.checked_sub(missing).map_or(1, |at| array.shape[at]);
        let kept = sizes.iter().enumerate().map(|(at, &size)| {
            let stays = size.factor == -1 || size.of_batch;
            if stays { (own(at) as i64).into() } else { size }
        });
        let shape = held_once(&kept.collect::<Vec<Size>>())?;
        return Ok(made(constant::expand(&array, &shape)?));
    }
    let x = call.builder.value_of(&source)?;
    let mut sizes = sizes.to_vec();
    let is_batch =
        |size: &Size| call.builder.made_free().map(|rows| rows as i64) == Some(size.factor);
    let own = call.sizes_of(x);
    let has_batch = own.first().is_some_and(|size| size.of_batch) && own.len() == sizes.len();
    // One row stays one: it is repeated where it meets the batch.
    if let Some(first) = sizes.first_mut().filter(|size| is_batch(size))
        && (has_batch || first.factor > 1)
    {
        *first = call.builder.multiple_of_batch(*first);
    }
    let shape = axis_sizes(&sizes)?;
    Ok(one(call.push("expand", json!({ "shape": shape }), &[x])?))
}

/// Several tensors joined.
pub fn cat(call: &mut Call) -> Read {
    let sources: Option<Vec<Source>> = call.list("tensors")?.into_iter().collect();
    let sources = sources.ok_or_else(|| Refusal::new("a joined tensor is missing"))?;
    let dim = call.int("dim", Some(0))?;
    let known: Option<Vec<Array>> = sources
        .iter()
        .map(|source| match source {
            Source::Known(known) if !known.trained => Some(known.array.clone()),
            _ => None,
        })
        .collect();
    if let (Some(arrays), Some(first)) = (known, sources.first()) {
        let axis = call.axis(first, dim)?;
        return Ok(made(constant::concat(&arrays, axis)?));
    }
    let rank = sources
        .first()
        .map_or(0, |source| call.ty(source).shape.rank());
    let mut values = Vec::new();
    for source in sources {
        let source = call.kept_once(source, rank)?;
        values.push(call.builder.value_of(&source)?);
    }
    let values = spread_rows(call, values)?;
    Ok(one(call.push("cat", json!({ "dim": dim }), &values)?))
}

/// Constants that the program repeats along the batch, repeated where others have the batch on axis 0.
fn spread_rows(call: &mut Call, values: Vec<Value>) -> Result<Vec<Value>, Refusal> {
    let first = |call: &Call, value: Value| call.builder.type_of(value).shape.0.first().cloned();
    let batch = values
        .iter()
        .find_map(|&value| first(call, value).filter(|dim| dim.symbol.is_some()));
    let Some(batch) = batch else {
        return Ok(values);
    };
    let spread = |value: Value| {
        if first(call, value) != Some(Dim::from(1)) {
            return Ok(value);
        }
        let rank = call.builder.type_of(value).shape.rank();
        let mut shape = vec![json!(-1); rank];
        shape[0] = json!(batch.to_string());
        call.push("expand", json!({ "shape": shape }), &[value])
    };
    values.into_iter().map(spread).collect()
}

/// Several tensors joined along a new axis.
pub fn stack(call: &mut Call) -> Read {
    let sources: Option<Vec<Source>> = call.list("tensors")?.into_iter().collect();
    let sources = sources.ok_or_else(|| Refusal::new("a joined tensor is missing"))?;
    let dim = call.int("dim", Some(0))?;
    let mut values = Vec::new();
    for source in &sources {
        let x = call.builder.value_of(source)?;
        let mut shape: Vec<Size> = call.ty(source).shape.0.iter().map(Size::of).collect();
        let rank = shape.len() as i64 + 1;
        let axis = if dim < 0 { dim + rank } else { dim };
        if !(0..rank).contains(&axis) {
            return Err(Refusal::new(format!("axis {dim} is out of range")));
        }
        shape.insert(axis as usize, 1.into());
        let attributes = json!({ "shape": axis_sizes(&shape)? });
        values.push(call.push("reshape", attributes, &[x])?);
    }
    let values = spread_rows(call, values)?;
    Ok(one(call.push("cat", json!({ "dim": dim }), &values)?))
}

/// Elements added around a value.
pub fn pad(call: &mut Call) -> Read {
    let amounts = call.ints("pad", &[], 0)?;
    let value = call.number("value").unwrap_or(0.0);
    let mode = match call.text("mode", "constant") {
        "replicate" => "edge",
        mode => mode,
    };
    let source = call.source("self")?;
    if amounts.iter().all(|&n| n == 0) {
        return Ok(vec![source]);
    }
    let x = call.builder.value_of(&source)?;
    let attributes = json!({ "pad": amounts, "mode": mode, "value": value });
    Ok(one(call.push("pad", attributes, &[x])?))
}

/// Elements moved around axes.
pub fn roll(call: &mut Call) -> Read {
    let x = call.value("self")?;
    let (shifts, dims) = (call.ints("shifts", &[], 0)?, call.ints("dims", &[], 0)?);
    Ok(one(call.push(
        "roll",
        json!({ "shifts": shifts, "dims": dims }),
        &[x],
    )?))
}

/// One element of an axis, which it drops, or a part of it.
pub fn part(
    call: &mut Call,
    axis: usize,
    (start, len, step): (usize, usize, usize),
    keep: bool,
) -> Read {
    if let Some(known) = viewed(call, "self") {
        let mut known = moved(&known, |array| {
            constant::slice(array, axis, start, step as i64, len)
        })?;
        if !keep {
            known = moved(&known, |array| {
                let mut shape = array.shape.clone();
                shape.remove(axis);
                array.reshaped(shape)
            })?;
        }
        return Ok(result(known));
    }
    let x = call.value("self")?;
    let before = ":, ".repeat(axis);
    let index = if keep {
        format!("{before}{start}:{}:{step}", start + (len - 1) * step + 1)
    } else {
        format!("{before}{start}")
    };
    Ok(one(call.push(
        "getitem",
        json!({ "index": index }),
        &[x],
    )?))
}
