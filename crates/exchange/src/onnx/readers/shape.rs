//! The same elements with other axes.

use crate::constant::{self, Array, Refusal, Size};
use crate::draft::axis_sizes;
use crate::onnx::call::{Call, Read};
use crate::onnx::import::Source;
use ir::{Dim, Value};
use serde_json::json;

/// A value with axes of these sizes.
pub fn reshape_to(call: &mut Call, x: Value, sizes: &[Size]) -> Result<Value, Refusal> {
    let own = call.type_of(x).shape.0;
    if own.iter().map(Size::of).eq(sizes.iter().copied()) {
        return Ok(x);
    }
    let shape = axis_sizes(sizes)?;
    call.push("reshape", json!({ "shape": shape }), &[x])
}

/// A value with its axes in this order.
pub fn permute_to(call: &mut Call, x: Value, order: &[usize]) -> Result<Value, Refusal> {
    if order.iter().copied().eq(0..order.len()) {
        return Ok(x);
    }
    call.push("permute", json!({ "dims": order }), &[x])
}

/// The sizes of a reshape; 0 stands for the size of the input unless told otherwise.
fn target(call: &Call) -> Result<Vec<Size>, Refusal> {
    let zero_is_size = call.attributes.flag_or("allowzero", false)?;
    let sizes = match call.attributes.ints("shape")? {
        Some(ints) => ints.into_iter().map(Size::from).collect(),
        None => call.sizes(1)?,
    };
    let dims = call.ty(0)?.shape.0;
    let size = |(axis, size): (usize, Size)| match size.factor {
        0 if !zero_is_size => {
            let own = dims.get(axis).map(Size::of);
            own.ok_or_else(|| {
                Refusal::new(format!("axis {axis} keeps a size that its input has not"))
            })
        }
        _ => Ok(size),
    };
    let mut sizes: Vec<Size> = sizes
        .into_iter()
        .enumerate()
        .map(size)
        .collect::<Result<_, _>>()?;
    // A file that was made for one batch size states multiples of it; those of the batch that was made free take their place.
    if let (Some(rows), Some(first)) = (call.importer.made_free(), sizes.first_mut())
        && dims.first().is_some_and(|dim| dim.symbol.is_some())
        && !first.of_batch
        && first.factor > 0
        && first.factor % rows as i64 == 0
    {
        *first = Size {
            factor: first.factor / rows as i64,
            of_batch: true,
        };
    }
    Ok(sizes)
}

pub fn reshape(call: &mut Call) -> Read {
    let sizes = target(call)?;
    let x = call.value(0)?;
    let y = reshape_to(call, x, &sizes)?;
    call.result_like(y, 0)
}

/// The evaluation of a reshape.
pub fn fold_reshape(call: &Call) -> Result<Vec<Array>, Refusal> {
    let array = call.constant(0)?;
    let sizes = target(call)?;
    let known: usize = sizes
        .iter()
        .filter(|s| s.factor > 0)
        .map(|s| s.factor as usize)
        .product();
    let shape = sizes.iter().map(|size| match (size.factor, size.of_batch) {
        (-1, false) => array
            .values
            .len()
            .checked_div(known)
            .ok_or_else(|| Refusal::new("a size is 0")),
        // What repeats along the batch is kept once.
        (1, true) => Ok(1),
        (factor, false) => {
            usize::try_from(factor).map_err(|_| Refusal::new(format!("{factor} is no size")))
        }
        _ => Err(Refusal::new("a constant has no axis of the batch")),
    });
    Ok(vec![array.reshaped(shape.collect::<Result<_, _>>()?)?])
}

/// Two axes: those in front of the given one, and the rest.
pub fn flatten(call: &mut Call) -> Read {
    let axis = call.attributes.int_or("axis", 1)?;
    let dims = call.ty(0)?.shape.0;
    let rank = dims.len() as i64;
    let axis = if axis < 0 { axis + rank } else { axis };
    if axis == 1 && rank >= 2 {
        return call.unary("flatten", json!({ "start_dim": 1 }));
    }
    let product = |dims: &[Dim]| {
        let count = ir::Shape(dims.to_vec()).numel();
        count
            .map(|dim| Size::of(&dim))
            .map_err(|error| Refusal::new(error.to_string()))
    };
    let at = usize::try_from(axis).ok().filter(|&at| at <= dims.len());
    let at = at.ok_or_else(|| Refusal::new(format!("axis = {axis} is out of range")))?;
    let sizes = [product(&dims[..at])?, product(&dims[at..])?];
    let x = call.value(0)?;
    let y = reshape_to(call, x, &sizes)?;
    call.result_like(y, 0)
}

/// The axes without those of size 1 that are named, or without all of them.
fn squeezed(call: &Call) -> Result<Vec<Size>, Refusal> {
    let dims = call.ty(0)?.shape.0;
    let named = call.ints_of("axes", 1)?;
    let axes = match named {
        Some(axes) => {
            let axes = axes.iter().map(|&axis| call.axis(0, axis));
            axes.collect::<Result<Vec<_>, _>>()?
        }
        None => (0..dims.len())
            .filter(|&axis| dims[axis].fixed() == Some(1))
            .collect(),
    };
    if let Some(&axis) = axes.iter().find(|&&axis| dims[axis].fixed() != Some(1)) {
        return Err(Refusal::new(format!(
            "axis {axis} has the size {}, not 1",
            dims[axis]
        )));
    }
    let kept = dims
        .iter()
        .enumerate()
        .filter(|(axis, _)| !axes.contains(axis));
    Ok(kept.map(|(_, dim)| Size::of(dim)).collect())
}

pub fn squeeze(call: &mut Call) -> Read {
    let sizes = squeezed(call)?;
    let x = call.value(0)?;
    let y = reshape_to(call, x, &sizes)?;
    call.result_like(y, 0)
}

/// The evaluation of a squeeze.
pub fn fold_squeeze(call: &Call) -> Result<Vec<Array>, Refusal> {
    let shape = squeezed(call)?
        .iter()
        .map(|size| size.factor as usize)
        .collect();
    Ok(vec![call.constant(0)?.reshaped(shape)?])
}

/// The axes with new ones of size 1.
fn unsqueezed(call: &Call) -> Result<Vec<Size>, Refusal> {
    let dims = call.ty(0)?.shape.0;
    let axes = call
        .ints_of("axes", 1)?
        .ok_or_else(|| Refusal::new("its axes are missing"))?;
    let rank = (dims.len() + axes.len()) as i64;
    let place = |&axis: &i64| {
        let at = if axis < 0 { axis + rank } else { axis };
        (0..rank).contains(&at).then_some(at as usize)
    };
    let axes: Option<Vec<usize>> = axes.iter().map(place).collect();
    let axes = axes.ok_or_else(|| Refusal::new("an axis is out of range"))?;
    let mut own = dims.iter().map(Size::of);
    let sizes = (0..rank as usize).map(|at| {
        if axes.contains(&at) {
            Some(1.into())
        } else {
            own.next()
        }
    });
    sizes
        .collect::<Option<_>>()
        .ok_or_else(|| Refusal::new("an axis is named twice"))
}

pub fn unsqueeze(call: &mut Call) -> Read {
    let sizes = unsqueezed(call)?;
    let x = call.value(0)?;
    let y = reshape_to(call, x, &sizes)?;
    call.result_like(y, 0)
}

/// The evaluation of new axes.
pub fn fold_unsqueeze(call: &Call) -> Result<Vec<Array>, Refusal> {
    let shape = unsqueezed(call)?
        .iter()
        .map(|size| size.factor as usize)
        .collect();
    Ok(vec![call.constant(0)?.reshaped(shape)?])
}

fn order(call: &Call) -> Result<Vec<usize>, Refusal> {
    let rank = call.rank(0)?;
    match call.attributes.ints("perm")? {
        Some(order) => order.iter().map(|&axis| call.axis(0, axis)).collect(),
        None => Ok((0..rank).rev().collect()),
    }
}

pub fn transpose(call: &mut Call) -> Read {
    let order = order(call)?;
    // A stored tensor keeps its name and its grid, so that a weight that is turned twice is the one of the file.
    if let Source::Known {
        array,
        element,
        path,
        grid,
    } = call.source(0)?.clone()
    {
        return Ok(vec![Source::Known {
            array: constant::permute(&array, &order)?,
            element,
            path,
            grid: grid.map(|grid| grid.permuted(&order)).transpose()?,
        }]);
    }
    let x = call.value(0)?;
    let y = permute_to(call, x, &order)?;
    call.result_like(y, 0)
}

/// The shape that the input and the wanted sizes broadcast to.
fn expanded(call: &Call) -> Result<Vec<Size>, Refusal> {
    let own: Vec<Size> = call.ty(0)?.shape.0.iter().map(Size::of).collect();
    let wanted = call.sizes(1)?;
    let rank = own.len().max(wanted.len());
    let one = Size::from(1);
    let at = |sizes: &[Size], k: usize| {
        (k + sizes.len())
            .checked_sub(rank)
            .map_or(one, |k| sizes[k])
    };
    let sizes = (0..rank).map(|k| match (at(&own, k), at(&wanted, k)) {
        (a, b) if a == b || b == one => Ok(a),
        (a, b) if a == one => Ok(b),
        (a, b) => Err(Refusal::new(format!(
            "axis {k} of size {} does not expand to {}",
            a.factor, b.factor
        ))),
    });
    sizes.collect()
}

pub fn expand(call: &mut Call) -> Read {
    let sizes = expanded(call)?;
    let x = call.value(0)?;
    let own = call.ty(0)?.shape.0;
    if own.iter().map(Size::of).eq(sizes.iter().copied()) {
        return call.result_like(x, 0);
    }
    let shape = axis_sizes(&sizes)?;
    let y = call.push("expand", json!({ "shape": shape }), &[x])?;
    call.result_like(y, 0)
}

/// The evaluation of an expansion; what repeats along the batch is kept once.
pub fn fold_expand(call: &Call) -> Result<Vec<Array>, Refusal> {
    let sizes = expanded(call)?;
    let shape = sizes.iter().map(|size| {
        if size.of_batch {
            1
        } else {
            size.factor as usize
        }
    });
    Ok(vec![constant::expand(
        call.constant(0)?,
        &shape.collect::<Vec<_>>(),
    )?])
}

/// Blocks of channels become blocks of space.
pub fn depth_to_space(call: &mut Call) -> Read {
    let (sizes, block) = blocks(call)?;
    let [n, c, h, w] = sizes;
    let by_depth = match call.attributes.text_or("mode", "DCR")?.as_str() {
        "DCR" => true,
        "CRD" => false,
        other => return Err(Refusal::new(format!("mode = {other} is not understood"))),
    };
    let less = Size::from(c.factor / (block * block));
    let (b, x) = (Size::from(block), call.value(0)?);
    let (split, order) = if by_depth {
        ([n, b, b, less, h, w], [0, 3, 4, 1, 5, 2])
    } else {
        ([n, less, b, b, h, w], [0, 1, 4, 2, 5, 3])
    };
    let x = reshape_to(call, x, &split)?;
    let x = permute_to(call, x, &order)?;
    let joined = [
        n,
        less,
        (h.factor * block).into(),
        (w.factor * block).into(),
    ];
    let y = reshape_to(call, x, &joined)?;
    call.result_like(y, 0)
}

/// Blocks of space become blocks of channels.
pub fn space_to_depth(call: &mut Call) -> Read {
    let (sizes, block) = blocks(call)?;
    let [n, c, h, w] = sizes;
    let (b, x) = (Size::from(block), call.value(0)?);
    let split = [
        n,
        c,
        (h.factor / block).into(),
        b,
        (w.factor / block).into(),
        b,
    ];
    let x = reshape_to(call, x, &split)?;
    let x = permute_to(call, x, &[0, 3, 5, 1, 2, 4])?;
    let joined = [n, (c.factor * block * block).into(), split[2], split[4]];
    let y = reshape_to(call, x, &joined)?;
    call.result_like(y, 0)
}

fn blocks(call: &Call) -> Result<([Size; 4], i64), Refusal> {
    let block = call.attributes.int_or("blocksize", 0)?;
    let dims = call.ty(0)?.shape.0;
    let sizes: Vec<Size> = dims.iter().map(Size::of).collect();
    let sizes = <[Size; 4]>::try_from(sizes).ok();
    let sizes = sizes.filter(|_| (1..=1024).contains(&block));
    Ok((
        sizes.ok_or_else(|| Refusal::new("its blocks do not fit its input"))?,
        block,
    ))
}
