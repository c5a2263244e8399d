//! Elements moved about.
#![expect(
    clippy::unnecessary_wraps,
    reason = "every writer has the signature of the table"
)]

use super::edges::element;
use super::site::{Site, int, ints, text};
use super::writers::Written;
use crate::constant::{Refusal, element_count};
use ir::Op;
use ir::ops::upsample::UpsampleMode;

/// New axes, by the shape of the result.
pub fn reshape(site: &mut Site) -> Written {
    let x = site.x();
    let dims = site.result_type().shape.0;
    let shape = site.store_shape(&dims);
    Ok(vec![site.emit("Reshape", &[&x, &shape], Vec::new())])
}

pub fn transpose(site: &mut Site) -> Written {
    let shape = site.input_type(0).shape;
    let axis = |name: &str| {
        let axis = shape.axis(site.int(name, 0));
        axis.map_err(|error| Refusal::new(error.to_string()))
    };
    let (a, b) = (axis("dim0")?, axis("dim1")?);
    let mut order: Vec<i64> = (0..shape.rank() as i64).collect();
    order.swap(a, b);
    let x = site.x();
    Ok(vec![site.emit(
        "Transpose",
        &[&x],
        vec![ints("perm", order)],
    )])
}

pub fn permute(site: &mut Site) -> Written {
    let rank = site.input_type(0).shape.rank() as i64;
    let order = site.ints("dims", 0, 0);
    let order = order
        .into_iter()
        .map(|axis| if axis < 0 { axis + rank } else { axis });
    let order = order.collect();
    let x = site.x();
    Ok(vec![site.emit(
        "Transpose",
        &[&x],
        vec![ints("perm", order)],
    )])
}

pub fn cat(site: &mut Site) -> Written {
    let axis = site.int("dim", 0);
    let inputs = site.inputs.clone();
    let inputs: Vec<&str> = inputs.iter().map(String::as_str).collect();
    Ok(vec![site.emit("Concat", &inputs, vec![int("axis", axis)])])
}

pub fn chunk(site: &mut Site) -> Written {
    let axis = site.int("dim", 0);
    let shape = site.input_type(0).shape;
    let at = shape
        .axis(axis)
        .map_err(|error| Refusal::new(error.to_string()))?;
    let results = site.exporter.verified.outputs(site.id);
    let sizes: Vec<i64> = results
        .iter()
        .map(|ty| ty.shape.0[at].factor as i64)
        .collect();
    let (x, n) = (site.x(), sizes.len());
    let sizes = site.store_ints("sizes", sizes);
    Ok(site.emit_in("", "Split", &[&x, &sizes], vec![int("axis", axis)], n))
}

/// A slice of every axis that is cut, without the axes that are picked from.
pub fn getitem(site: &mut Site) -> Written {
    let Op::Getitem(op) = &site.node.op else {
        return Err(Refusal::new("is no index"));
    };
    let shape = site.input_type(0).shape;
    let slices = op
        .parsed(&shape)
        .map_err(|error| Refusal::new(error.to_string()))?;
    let (mut starts, mut ends, mut axes, mut steps, mut dropped) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (axis, (slice, dim)) in slices.iter().zip(&shape.0).enumerate() {
        if !slice.keep {
            dropped.push(axis as i64);
        }
        if slice.len != *dim || slice.start != 0 {
            starts.push(slice.start as i64);
            let last = slice.start + slice.len.factor.saturating_sub(1) * slice.step;
            ends.push(if slice.len.factor == 0 {
                slice.start
            } else {
                last + 1
            } as i64);
            axes.push(axis as i64);
            steps.push(slice.step as i64);
        }
    }
    let mut y = site.x();
    if !axes.is_empty() {
        let starts = site.store_ints("starts", starts);
        let ends = site.store_ints("ends", ends);
        let axes = site.store_ints("axes", axes);
        let mut inputs = vec![y, starts, ends, axes];
        if steps.iter().any(|&step| step != 1) {
            inputs.push(site.store_ints("steps", steps));
        }
        let inputs: Vec<&str> = inputs.iter().map(String::as_str).collect();
        y = site.emit("Slice", &inputs, Vec::new());
    }
    if !dropped.is_empty() {
        let axes = site.store_ints("dropped", dropped);
        y = site.emit("Squeeze", &[&y, &axes], Vec::new());
    }
    Ok(vec![y])
}

/// The batch stays where the input has it, and comes from an input of the graph elsewhere.
pub fn expand(site: &mut Site) -> Written {
    let (own, dims) = (site.input_type(0).shape.0, site.result_type().shape.0);
    let missing = dims.len() - own.len();
    let has_it = |axis: usize| {
        axis.checked_sub(missing)
            .is_some_and(|k| own[k].symbol.is_some())
    };
    let needs_rows = dims
        .iter()
        .enumerate()
        .any(|(axis, dim)| dim.symbol.is_some() && !has_it(axis));
    let x = site.x();
    let shape = if needs_rows && site.exporter.options.batch.is_none() {
        let rows = site.exporter.batch_rows()?;
        let mut parts = Vec::new();
        for (axis, dim) in dims.iter().enumerate() {
            let needs = dim.symbol.is_some() && !has_it(axis);
            let factor = site.store_ints(
                "size",
                vec![if dim.symbol.is_some() && !needs {
                    1
                } else {
                    dim.factor as i64
                }],
            );
            parts.push(if needs {
                site.emit("Mul", &[&rows, &factor], Vec::new())
            } else {
                factor
            });
        }
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        site.emit("Concat", &parts, vec![int("axis", 0)])
    } else {
        let batch = site.exporter.options.batch.unwrap_or(1);
        let size = |(axis, dim): (usize, &ir::Dim)| match dim.fixed() {
            Some(size) => size as i64,
            None if has_it(axis) => 1,
            None => (dim.factor * batch) as i64,
        };
        let sizes = dims.iter().enumerate().map(size).collect();
        site.store_ints("shape", sizes)
    };
    Ok(vec![site.emit("Expand", &[&x, &shape], Vec::new())])
}

pub fn gather(site: &mut Site) -> Written {
    let (x, indices, axis) = (site.x(), site.inputs[1].clone(), site.int("dim", 0));
    Ok(vec![site.emit(
        "Gather",
        &[&x, &indices],
        vec![int("axis", axis)],
    )])
}

pub fn pad(site: &mut Site) -> Written {
    let rank = site.input_type(0).shape.rank();
    let pairs = site.ints("pad", 0, 0);
    let mode = site.word("mode", "constant");
    let mut pads = vec![0; 2 * rank];
    // The list runs from the last axis to the first.
    for (k, pair) in pairs.chunks(2).enumerate() {
        let axis = rank - 1 - k;
        (pads[axis], pads[rank + axis]) = (pair[0], pair[1]);
    }
    let (x, pads) = (site.x(), site.store_ints("pads", pads));
    let value = site.number("value").unwrap_or(0.0);
    let value = site.store_number("value", value);
    Ok(vec![site.emit(
        "Pad",
        &[&x, &pads, &value],
        vec![text("mode", &mode)],
    )])
}

/// Each axis cut in two, and the parts joined the other way round.
pub fn roll(site: &mut Site) -> Written {
    let shape = site.input_type(0).shape;
    let (shifts, dims) = (site.ints("shifts", 0, 0), site.ints("dims", 0, 0));
    let mut y = site.x();
    for (&shift, &dim) in shifts.iter().zip(&dims) {
        let axis = shape.axis(dim);
        let axis = axis.map_err(|error| Refusal::new(error.to_string()))?;
        let size = shape.0[axis].factor as i64;
        let cut = (-shift).rem_euclid(size.max(1));
        if cut == 0 {
            continue;
        }
        let axes = site.store_ints("axis", vec![axis as i64]);
        let part = |site: &mut Site, from: i64, to: i64| {
            let (from, to) = (
                site.store_ints("start", vec![from]),
                site.store_ints("end", vec![to]),
            );
            site.emit("Slice", &[&y, &from, &to, &axes], Vec::new())
        };
        let (front, back) = (part(site, 0, cut), part(site, cut, size));
        y = site.emit("Concat", &[&back, &front], vec![int("axis", axis as i64)]);
    }
    Ok(vec![y])
}

/// Whole multiples and means of four as `Resize`; other nearest pixels by their places, which are then the same to the last one.
pub fn upsample(site: &mut Site) -> Written {
    let Op::Upsample(op) = &site.node.op else {
        return Err(Refusal::new("is no picture of another size"));
    };
    let dims = site.input_type(0).shape.0;
    let sizes: Vec<usize> = dims.iter().map(|dim| dim.factor).collect();
    let is_nearest = op.mode == UpsampleMode::Nearest;
    let is_multiple = (0..2).all(|k| op.output_size[k].is_multiple_of(sizes[k + 2]));
    let mut x = site.x();
    if is_nearest && !is_multiple {
        element_count(&op.output_size)?;
        for (axis, sources) in op.sources(&sizes).into_iter().enumerate().skip(2) {
            let places = sources.into_iter().flatten().map(|place| place as i64);
            let places = site.store_ints("pixels", places.collect());
            x = site.emit("Gather", &[&x, &places], vec![int("axis", axis as i64)]);
        }
        return Ok(vec![x]);
    }
    let wanted = op.output_size.iter().map(|&size| size as i64).collect();
    let (mode, coordinates) = match (is_nearest, op.align_corners) {
        (true, _) => ("nearest", "asymmetric"),
        (false, true) => ("linear", "align_corners"),
        (false, false) => ("linear", "half_pixel"),
    };
    let mut attributes = vec![
        text("mode", mode),
        text("coordinate_transformation_mode", coordinates),
        ints("axes", vec![2, 3]),
    ];
    if is_nearest {
        attributes.push(text("nearest_mode", "floor"));
    }
    let wanted = site.store_ints("sizes", wanted);
    Ok(vec![site.emit(
        "Resize",
        &[&x, "", "", &wanted],
        attributes,
    )])
}

pub fn to(site: &mut Site) -> Written {
    let (x, dtype) = (site.x(), site.result_type().dtype);
    Ok(vec![site.emit(
        "Cast",
        &[&x],
        vec![int("to", i64::from(element(dtype).code()))],
    )])
}
