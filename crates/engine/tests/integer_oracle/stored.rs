//! Random formats whose fields are stored, and the values of these fields.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use super::Choices;
use super::stored_fields::store;
use format::{FieldValue, Format};
use ir::{CodeRange, Graph, NodeId};

/// A format that differs from place to place, or has bounds of its own; without the values of its stored fields.
pub fn format(choices: &mut Choices, port: &str) -> Format {
    let width = 1 + choices.below(12);
    let frac = choices.below(width + 3) as i32 - 2;
    let signed = choices.below(4) != 0;
    // Data lies along an axis after the first.
    let axis = choices.below(2) + usize::from(port.starts_with("data_"));
    let layout = match choices.below(3) {
        0 => format!("signed = {signed}"),
        _ => format!("signed = {signed}, axis = {axis}"),
    };
    let scale = 0.5_f32.powi(frac);
    let text = match choices.below(8) {
        0 => format!("integer(stored, stored, {layout}, overflow = wrap)"),
        1 if choices.below(2) == 0 => {
            format!("integer(stored, stored, {layout}, rounding = nearest_up)")
        }
        1 => format!("integer({width}, stored, {layout})"),
        2 => format!("integer(stored, {frac}, {layout}, rounding = floor)"),
        3 => format!("affine({width}, stored, {layout}, narrow = {})", width > 1),
        4 => format!("affine({width}, stored, stored, {layout})"),
        5 => format!("affine({width}, {scale}, stored, {layout})"),
        6 if !port.starts_with("data_") => {
            format!("affine({width}, stored, stored, axis = {axis}, block = 2, signed = {signed})")
        }
        _ => {
            let (lo, hi) = codes(width as u32, signed);
            let zero = (lo + choices.below((hi - lo + 1) as usize) as i64).min(hi);
            format!("affine({width}, {scale}, {zero}, signed = {signed})")
        }
    };
    Format::parse(&text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn codes(width: u32, signed: bool) -> (i64, i64) {
    let ends = 1_i64 << (width - u32::from(signed));
    (if signed { -ends } else { 0 }, ends - 1)
}

/// Gives the stored fields values, not too far from each other.
pub fn fill(graph: &mut Graph, random: random::Random) {
    let (mut at, mut middle) = (1 << 32, 0);
    let mut below = |n: u64| {
        at += 1;
        random.bits(at) % n
    };
    store(graph, |format, field, index| {
        if index == 0 {
            middle = below(7) as i32;
        }
        match field {
            "width" => below(11) as f32,
            "frac_width" => (middle + below(5) as i32 - 2) as f32,
            "scale" => 0.5_f32.powi(middle + below(5) as i32 - 2),
            _ => zero_point(format, below(1 << 16)),
        }
    });
}

/// A code of the format, the smallest and the largest often.
fn zero_point(format: &Format, choice: u64) -> f32 {
    let fields = format.fields();
    let (_, FieldValue::Int(width)) = fields[0] else {
        panic!("{format} has no width");
    };
    let signed = fields.contains(&("signed", FieldValue::Bool(true)));
    let (lo, hi) = codes(width as u32, signed);
    let code = lo + (choice / 4) as i64 % (hi - lo + 1);
    [lo, hi, code, code][(choice % 4) as usize] as f32
}

/// Bits of the codes of a port, and those behind the point; some where its values are not fixed point.
pub fn width_and_frac(graph: &Graph, id: NodeId, port: &str) -> (u32, i32) {
    let format = graph.node(id).formats.get(port);
    let range = format.and_then(CodeRange::of_format);
    let format = range.map(CodeRange::format);
    format.map_or((6, 3), |f| (f.width, f.frac_width))
}
