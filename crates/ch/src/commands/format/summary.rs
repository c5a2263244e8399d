//! A format in one line: bits, range, smallest step.

use crate::output::number::{rounded, shortest};
use format::{Codes, Format};
use serde_json::{Value as Json, json};

/// For people.
pub fn text(format: &Format, shape: &[usize]) -> String {
    let (low, high) = format.range();
    let range = format!("{} to {}", bound(low), bound(high));
    let bits = rounded(format.bits(shape));
    let step = step(format).map_or(String::new(), |step| {
        format!(", smallest step {}", shortest(step as f32))
    });
    let scaled = if format.is_blocked() {
        " under a scale of 1"
    } else {
        ""
    };
    format!("{format}: {bits} bits, range {range}{step}{scaled}\n")
}

/// An end of a range; under the largest shared scale it may lie beyond what a float32 holds.
fn bound(value: f64) -> String {
    let narrow = value as f32;
    if narrow.is_finite() {
        shortest(narrow)
    } else {
        rounded(value)
    }
}

/// For tools.
pub fn json(format: &Format, shape: &[usize]) -> Json {
    let (low, high) = format.range();
    json!({
        "format": format.to_string(),
        "bits": format.bits(shape),
        "range": [low, high],
        "step": step(format),
    })
}

/// Bits of a code.
pub fn code_width(format: &Format) -> u32 {
    format.encode(&[0.0], &[1, 1]).width
}

/// The smallest distance between two values under a scale of 1. Wide formats have it at their lowest codes.
fn step(format: &Format) -> Option<f64> {
    let mut values: Vec<f32> = match format.values() {
        Some(pairs) => pairs.into_iter().map(|(_, value)| value).collect(),
        None => lowest_values(format),
    };
    values.sort_by(f32::total_cmp);
    let distances = values
        .windows(2)
        .map(|pair| f64::from(pair[1]) - f64::from(pair[0]));
    distances
        .filter(|&distance| distance > 0.0)
        .min_by(f64::total_cmp)
}

fn lowest_values(format: &Format) -> Vec<f32> {
    let width = code_width(format);
    let value = |code| {
        let codes = Codes {
            width,
            len: 1,
            bits: vec![code],
            shared: Vec::new(),
        };
        format.decode(&codes, &[1, 1])[0]
    };
    (0..4).map(value).collect()
}
