//! Padding and changes of resolution.

use super::window;
use crate::constant::{Array, Refusal};
use crate::onnx::call::{Call, Read};
use serde_json::json;

pub fn pad(call: &mut Call) -> Read {
    let mode = call.attributes.text_or("mode", "constant")?;
    if !["constant", "reflect", "edge"].contains(&mode.as_str()) {
        return Err(Refusal::new(format!("mode = {mode} is not computed")));
    }
    let pads = call
        .ints_of("pads", 1)?
        .ok_or_else(|| Refusal::new("its pads are missing"))?;
    let value = match call.attributes.float("value")? {
        Some(value) => f64::from(value),
        None if call.has(2) => call.number(2)?,
        None => 0.0,
    };
    let rank = call.rank(0)?;
    let axes = if call.has(3) {
        let axes = call.ints(3)?;
        axes.iter()
            .map(|&axis| call.axis(0, axis))
            .collect::<Result<Vec<_>, _>>()?
    } else {
        (0..rank).collect()
    };
    let (mut before, mut after) = (vec![0; rank], vec![0; rank]);
    if pads.len() != 2 * axes.len() {
        return Err(Refusal::new("its pads are not two for each axis"));
    }
    for (k, &axis) in axes.iter().enumerate() {
        let size = |value: i64| {
            usize::try_from(value).map_err(|_| Refusal::new("negative padding is not computed"))
        };
        (before[axis], after[axis]) = (size(pads[k])?, size(pads[k + axes.len()])?);
    }
    let first = (0..rank)
        .find(|&axis| before[axis] + after[axis] > 0)
        .unwrap_or(rank);
    let x = call.value(0)?;
    if first == rank {
        return call.result_like(x, 0);
    }
    let y = window::pad(call, x, &before[first..], &after[first..], &mode, value)?;
    call.result_like(y, 0)
}

/// The rules by which a place of the result is one of the input.
struct Places {
    coordinates: String,
    nearest: String,
}

pub fn resize(call: &mut Call) -> Read {
    let mode = call.attributes.text_or("mode", "nearest")?;
    let is_upsample = call.node.op_type() == "Upsample" || call.version < 11;
    let default = if is_upsample {
        "asymmetric"
    } else {
        "half_pixel"
    };
    let rounding = if is_upsample {
        "floor"
    } else {
        "round_prefer_floor"
    };
    let places = Places {
        coordinates: call
            .attributes
            .text_or("coordinate_transformation_mode", default)?,
        nearest: call.attributes.text_or("nearest_mode", rounding)?,
    };
    call.attributes.float("cubic_coeff_a")?;
    call.attributes.float("extrapolation_value")?;
    call.attributes.int("exclude_outside")?;
    let policy = call
        .attributes
        .text_or("keep_aspect_ratio_policy", "stretch")?;
    if call.attributes.flag_or("antialias", false)? || policy != "stretch" {
        return Err(Refusal::new(
            "antialias and kept aspect ratios are not computed",
        ));
    }
    let (sizes, scales) = wanted(call, is_upsample)?;
    let own = call.ty(0)?.shape.0;
    let mut y = call.value(0)?;
    let changed: Vec<usize> = (0..own.len()).filter(|&axis| scales[axis] != 1.0).collect();
    match mode.as_str() {
        "nearest" => {
            for axis in changed {
                let size = own[axis]
                    .fixed()
                    .ok_or_else(|| Refusal::new("it resizes the batch"))?;
                let picks =
                    (0..sizes[axis]).map(|at| places.nearest(at, size, sizes[axis], scales[axis]));
                let picks = Array::ints(picks.collect::<Result<_, _>>()?);
                let indices = call.store(picks)?;
                y = call.push("gather", json!({ "dim": axis }), &[y, indices])?;
            }
        }
        "linear" => {
            let is_exact =
                |axis: usize| scales[axis] == sizes[axis] as f32 / own[axis].factor as f32;
            let fits = own.len() == 4 && changed.iter().all(|&axis| axis > 1 && is_exact(axis));
            let align = match places.coordinates.as_str() {
                "half_pixel" => false,
                "pytorch_half_pixel" if sizes[2..].iter().all(|&size| size > 1) => false,
                "align_corners" => true,
                other => {
                    return Err(Refusal::new(format!(
                        "coordinates by {other} are not computed"
                    )));
                }
            };
            if !fits {
                return Err(Refusal::new(
                    "linear interpolation is computed of the last two of four axes",
                ));
            }
            let attributes =
                json!({ "output_size": &sizes[2..], "mode": "bilinear", "align_corners": align });
            y = call.push("upsample", attributes, &[y])?;
        }
        other => return Err(Refusal::new(format!("mode = {other} is not computed"))),
    }
    call.result_like(y, 0)
}

/// The sizes of the result, and the factor of every axis.
fn wanted(call: &Call, is_upsample: bool) -> Result<(Vec<usize>, Vec<f32>), Refusal> {
    let own = call.ty(0)?.shape.0;
    let axes = match call.attributes.ints("axes")? {
        Some(axes) => axes
            .iter()
            .map(|&axis| call.axis(0, axis))
            .collect::<Result<Vec<_>, _>>()?,
        None => (0..own.len()).collect(),
    };
    let at = if is_upsample { 1 } else { 2 };
    let (mut sizes, mut scales): (Vec<usize>, Vec<f32>) =
        own.iter().map(|dim| (dim.factor, 1.0)).unzip();
    let given = match call.attributes.floats("scales")? {
        Some(scales) => Some(scales),
        None if call.has(at) => call.constant(at)?.floats().map(<[f32]>::to_vec),
        None => None,
    };
    let wrong = || Refusal::new("its scales or sizes do not fit its axes");
    match given.filter(|scales| !scales.is_empty()) {
        Some(given) if given.len() == axes.len() => {
            for (&axis, &scale) in axes.iter().zip(&given) {
                (sizes[axis], scales[axis]) =
                    ((own[axis].factor as f32 * scale).floor() as usize, scale);
            }
        }
        Some(_) => return Err(wrong()),
        None => {
            let wanted = call.ints(3)?;
            if wanted.len() != axes.len() {
                return Err(wrong());
            }
            for (&axis, &size) in axes.iter().zip(&wanted) {
                sizes[axis] = usize::try_from(size).map_err(|_| wrong())?;
                scales[axis] = sizes[axis] as f32 / own[axis].factor as f32;
            }
        }
    }
    let stays = (0..own.len()).all(|axis| own[axis].symbol.is_none() || scales[axis] == 1.0);
    if !stays || sizes.contains(&0) {
        return Err(wrong());
    }
    Ok((sizes, scales))
}

impl Places {
    /// The place in the input that is nearest to one of the result.
    fn nearest(&self, at: usize, size: usize, out: usize, scale: f32) -> Result<i64, Refusal> {
        let (x, own, out) = (at as f32, size as f32, out as f32);
        let place = match self.coordinates.as_str() {
            "asymmetric" => x / scale,
            "half_pixel" => (x + 0.5) / scale - 0.5,
            "half_pixel_symmetric" => {
                let adjusted = out / (scale * own);
                own / 2.0 * (1.0 - adjusted) + (x + 0.5) / scale - 0.5
            }
            "pytorch_half_pixel" if out > 1.0 => (x + 0.5) / scale - 0.5,
            "align_corners" if out > 1.0 => x * (own - 1.0) / (out - 1.0),
            "pytorch_half_pixel" | "align_corners" => 0.0,
            other => {
                return Err(Refusal::new(format!(
                    "coordinates by {other} are not computed"
                )));
            }
        };
        let nearest = match self.nearest.as_str() {
            "round_prefer_floor" => (place - 0.5).ceil(),
            "round_prefer_ceil" => (place + 0.5).floor(),
            "floor" => place.floor(),
            "ceil" => place.ceil(),
            other => {
                return Err(Refusal::new(format!(
                    "nearest_mode = {other} is not understood"
                )));
            }
        };
        Ok(nearest.clamp(0.0, own - 1.0) as i64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The places of a result of so many elements.
    fn found(coordinates: &str, nearest: &str, size: usize, out: usize, scale: f32) -> Vec<i64> {
        let places = Places {
            coordinates: coordinates.to_owned(),
            nearest: nearest.to_owned(),
        };
        let place = |at| places.nearest(at, size, out, scale).unwrap();
        (0..out).map(place).collect()
    }

    /// The formulas of ONNX's Resize worked out by hand: with half pixels, two become four at −¼, ¼, ¾ and 1¼.
    #[test]
    fn nearest_elements_follow_their_coordinates_and_their_rounding() {
        let cases: &[(&str, &str, usize, f32, &[i64])] = &[
            ("half_pixel", "round_prefer_floor", 2, 2.0, &[0, 0, 1, 1]),
            ("half_pixel", "floor", 2, 2.0, &[0, 0, 0, 1]),
            ("half_pixel", "ceil", 2, 2.0, &[0, 1, 1, 1]),
            ("asymmetric", "floor", 2, 2.0, &[0, 0, 1, 1]),
            ("asymmetric", "ceil", 2, 2.0, &[0, 1, 1, 1]),
            // Half of a place between two.
            ("asymmetric", "round_prefer_floor", 2, 2.0, &[0, 0, 1, 1]),
            ("asymmetric", "round_prefer_ceil", 2, 2.0, &[0, 1, 1, 1]),
            // Four become two, at 1/3 and 2, and about the middle at 2/3 and 7/3.
            ("half_pixel", "floor", 4, 0.6, &[0, 2]),
            ("half_pixel", "ceil", 4, 0.6, &[1, 2]),
            ("half_pixel_symmetric", "floor", 4, 0.6, &[0, 2]),
            ("half_pixel_symmetric", "ceil", 4, 0.6, &[1, 3]),
            (
                "half_pixel_symmetric",
                "round_prefer_floor",
                4,
                0.6,
                &[1, 2],
            ),
            // At 0, 1/3, 2/3 and 1.
            ("align_corners", "round_prefer_floor", 2, 2.0, &[0, 0, 1, 1]),
            ("align_corners", "floor", 2, 2.0, &[0, 0, 0, 1]),
            ("align_corners", "ceil", 2, 2.0, &[0, 1, 1, 1]),
            // At 0, 4/3, 8/3 and 4.
            ("align_corners", "floor", 5, 0.8, &[0, 1, 2, 4]),
            ("align_corners", "round_prefer_floor", 5, 0.2, &[0]),
            ("pytorch_half_pixel", "floor", 2, 2.0, &[0, 0, 0, 1]),
            ("pytorch_half_pixel", "floor", 5, 0.2, &[0]),
            ("half_pixel", "floor", 5, 0.2, &[2]),
        ];
        for &(coordinates, nearest, size, scale, expected) in cases {
            let found = found(coordinates, nearest, size, expected.len(), scale);
            assert_eq!(found, expected, "{coordinates} {nearest} {size} by {scale}");
        }
    }

    #[test]
    fn words_that_are_not_understood_are_named() {
        let said = |coordinates: &str, nearest: &str| {
            let places = Places {
                coordinates: coordinates.to_owned(),
                nearest: nearest.to_owned(),
            };
            places.nearest(0, 2, 4, 2.0).unwrap_err().0
        };
        assert_eq!(
            said("tf_crop", "floor"),
            "coordinates by tf_crop are not computed"
        );
        assert_eq!(
            said("asymmetric", "up"),
            "nearest_mode = up is not understood"
        );
    }
}
