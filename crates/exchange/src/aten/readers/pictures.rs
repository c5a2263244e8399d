//! Pictures: other sizes, channels as pixels, groups of channels.

use crate::aten::call::{Call, Read, one};
use crate::constant::{Refusal, Size};
use interop::pt2::Argument;
use ir::{Dim, Value};
use serde_json::json;

/// A picture, or a line, of another size.
pub fn upsample(call: &mut Call) -> Read {
    let x = call.value("input").or_else(|_| call.value("self"))?;
    let dims = call.builder.type_of(x).shape.0;
    let space: Option<Vec<usize>> = dims.iter().skip(2).map(Dim::fixed).collect();
    let space = space.ok_or_else(|| Refusal::new("an axis of space is free"))?;
    let axes = wanted(call, &space)?;
    let is_bilinear = call.operator_name() == "upsample_bilinear2d";
    let align = is_bilinear && call.flag("align_corners", false);
    let is_whole = axes.len() == 2 && axes.iter().all(Axis::is_whole);
    if !is_bilinear && !is_whole {
        return nearest(call, x, &axes);
    }
    // With corners on each other the factors do not count.
    let inexact = axes.iter().find(|axis| !align && !axis.is_exact());
    if let Some(Axis { size, factor, .. }) = inexact {
        let factor = factor.unwrap_or_default();
        let why = format!("{size} pixels times {factor} are not a whole number");
        return Err(Refusal(why));
    }
    let sizes: Vec<usize> = axes.iter().map(|axis| axis.out).collect();
    let attributes = json!({
        "output_size": sizes, "mode": if is_bilinear { "bilinear" } else { "nearest" }, "align_corners": align,
    });
    Ok(one(call.push("upsample", attributes, &[x])?))
}

/// An axis of space that gets another size.
struct Axis {
    size: usize,
    out: usize,
    /// The factor that the call states instead of a size.
    factor: Option<f64>,
}

impl Axis {
    /// True when the factor is that of the two sizes.
    fn is_exact(&self) -> bool {
        self.factor
            .is_none_or(|factor| self.size as f64 * factor == self.out as f64)
    }

    /// True when every pixel becomes a whole number of pixels.
    fn is_whole(&self) -> bool {
        self.is_exact() && self.out.is_multiple_of(self.size) && self.places().eq(self.exact())
    }

    fn exact(&self) -> impl Iterator<Item = i64> {
        (0..self.out).map(|at| (at * self.size / self.out) as i64)
    }

    /// The nearest pixels as PyTorch finds them, with a factor in f32.
    fn places(&self) -> impl Iterator<Item = i64> {
        let (size, out) = (self.size, self.out);
        let scale = match self.factor {
            Some(factor) => (1.0 / factor) as f32,
            None => size as f32 / out as f32,
        };
        (0..out).map(move |at| match out {
            _ if out == size => at as i64,
            _ if out == 2 * size => at as i64 / 2,
            _ => ((at as f32 * scale) as i64).min(size as i64 - 1),
        })
    }
}

/// The sizes that a call asks for.
fn wanted(call: &Call, space: &[usize]) -> Result<Vec<Axis>, Refusal> {
    let missing = || Refusal::new("it has no size for each axis of space");
    let n = space.len();
    let axes: Vec<Axis> = if call.argument("output_size").is_some() {
        let sizes = call.ints("output_size", &[], n)?;
        let sizes: Result<Vec<usize>, _> = sizes.into_iter().map(usize::try_from).collect();
        let outs = sizes.map_err(|_| missing())?;
        let axis = |(&size, out)| Axis {
            size,
            out,
            factor: None,
        };
        space.iter().zip(outs).map(axis).collect()
    } else {
        let Some(Argument::Floats(factors)) = call.argument("scale_factors") else {
            return Err(missing());
        };
        let axis = |(&size, &factor): (&usize, &f64)| Axis {
            size,
            out: (size as f64 * factor) as usize,
            factor: Some(factor),
        };
        space.iter().zip(factors).map(axis).collect()
    };
    let is_sized = |axis: &Axis| (1..=1 << 24).contains(&axis.out);
    if axes.len() != n || !axes.iter().all(is_sized) {
        return Err(missing());
    }
    Ok(axes)
}

/// The nearest pixels by their places.
fn nearest(call: &mut Call, x: Value, axes: &[Axis]) -> Read {
    let mut y = x;
    for (k, axis) in axes.iter().enumerate() {
        y = call.pick(y, k + 2, axis.places().collect())?;
    }
    Ok(one(y))
}

/// The axes of a picture: batch, channels, height, width.
fn sizes(call: &Call, x: Value) -> Result<[Size; 4], Refusal> {
    let sizes = call.sizes_of(x);
    <[Size; 4]>::try_from(sizes).map_err(|_| Refusal::new("its input is not of four axes"))
}

/// A factor of two axes, which must divide them.
fn block(call: &Call, name: &str, divided: &[Size]) -> Result<i64, Refusal> {
    let block = call.int(name, None)?;
    let divides = |size: &Size| !size.of_batch && size.factor % block == 0;
    if !(1..1 << 16).contains(&block) || !divided.iter().all(divides) {
        return Err(Refusal(format!(
            "{name} = {block} does not divide its axes"
        )));
    }
    Ok(block)
}

/// Channels as blocks of pixels.
pub fn pixel_shuffle(call: &mut Call) -> Read {
    let x = call.value("self")?;
    let [n, c, h, w] = sizes(call, x)?;
    let r = block(call, "upscale_factor", &[])?;
    if c.factor % (r * r) != 0 {
        let why = format!("{} channels are no blocks of {r} × {r}", c.factor);
        return Err(Refusal(why));
    }
    let less = Size::from(c.factor / (r * r));
    let y = call.reshape(x, &[n, less, r.into(), r.into(), h, w])?;
    let y = call.permute(y, &[0, 1, 4, 2, 5, 3])?;
    let larger = |size: Size| Size::from(size.factor * r);
    Ok(one(call.reshape(y, &[n, less, larger(h), larger(w)])?))
}

/// Blocks of pixels as channels.
pub fn pixel_unshuffle(call: &mut Call) -> Read {
    let x = call.value("self")?;
    let [n, c, h, w] = sizes(call, x)?;
    let r = block(call, "downscale_factor", &[h, w])?;
    let less = |size: Size| Size::from(size.factor / r);
    let (h, w) = (less(h), less(w));
    let y = call.reshape(x, &[n, c, h, r.into(), w, r.into()])?;
    let y = call.permute(y, &[0, 1, 3, 5, 2, 4])?;
    let channels = Size::from(c.factor * r * r);
    Ok(one(call.reshape(y, &[n, channels, h, w])?))
}

/// Channels of all groups in turn.
pub fn channel_shuffle(call: &mut Call) -> Read {
    let x = call.value("self")?;
    let sizes = call.sizes_of(x);
    let [n, c, space @ ..] = sizes.as_slice() else {
        return Err(Refusal::new("its input has no channels"));
    };
    let groups = block(call, "groups", &[*c])?;
    let each = Size::from(c.factor / groups);
    let split = [&[*n, groups.into(), each][..], space].concat();
    let y = call.reshape(x, &split)?;
    let order: Vec<usize> = [0, 2, 1].into_iter().chain(3..split.len()).collect();
    let y = call.permute(y, &order)?;
    Ok(one(call.reshape(y, &sizes)?))
}
