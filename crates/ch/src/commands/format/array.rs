//! A whole array, from file to file.

use super::summary;
use crate::missing;
use crate::output::json_text;
use crate::output::number::rounded;
use anyhow::{Context, bail};
use format::Format;
use interop::npy;
use std::path::Path;

/// Rounds an array and describes the errors.
pub fn round(
    format: &Format,
    input: &Path,
    output: &Path,
    as_json: bool,
) -> anyhow::Result<String> {
    missing::check(input)?;
    missing::check_output(output)?;
    let npy::Array { shape, values } = npy::read(input)?;
    if let Some(index) = values.iter().position(|value| value.is_nan()) {
        let file = input.display();
        bail!("{file}: element {index} is nan, and no format holds it");
    }
    let mut quantized = vec![0.0; values.len()];
    kernels::quantize::quantize(format, &values, &shape, &mut quantized);
    npy::write(output, &shape, &quantized).context("cannot write the rounded array")?;
    let change = Change::between(&values, &quantized);
    if as_json {
        let mut json = summary::json(format, &shape);
        json["shape"] = shape.into();
        json["changed"] = change.count.into();
        json["largest_error"] = change.largest.into();
        json["mean_square_error"] = change.mean_square.into();
        return json_text(&json);
    }
    Ok(format!(
        "{}shape {shape:?}: {} of {} elements changed, largest error {}, mean square error {}\n",
        summary::text(format, &shape),
        change.count,
        values.len(),
        rounded(change.largest),
        rounded(change.mean_square)
    ))
}

/// The effect of rounding on an array; infinities count as changed and have no error.
struct Change {
    count: usize,
    largest: f64,
    mean_square: f64,
}

impl Change {
    fn between(before: &[f32], after: &[f32]) -> Self {
        let pairs = || before.iter().zip(after);
        let finite = pairs().filter(|(x, _)| x.is_finite());
        let errors = finite.map(|(&x, &y)| (f64::from(y) - f64::from(x)).abs());
        let (mut largest, mut squares, mut n) = (0.0_f64, 0.0, 0_usize);
        for error in errors {
            largest = largest.max(error);
            squares += error * error;
            n += 1;
        }
        Self {
            count: pairs().filter(|(x, y)| x != y).count(),
            largest,
            mean_square: squares / n.max(1) as f64,
        }
    }
}
