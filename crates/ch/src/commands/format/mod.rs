//! `ch format SPEC VALUES…`: a number format under the microscope.

use crate::output::Output;
use anyhow::bail;
use format::Format;
use report::Column;
use std::path::PathBuf;

mod array;
mod summary;
mod values;

/// Arguments of `ch format`.
#[derive(clap::Args)]
pub struct Args {
    /// A format, `name(value, …, field = value, …)`: `integer(8, 4)`
    spec: String,
    /// Numbers to round; a format with shared scales takes them as one row
    #[arg(allow_negative_numbers = true)]
    values: Vec<String>,
    /// List all values of a format of up to 8 bits
    #[arg(long, conflicts_with_all = ["values", "npy"])]
    table: bool,
    /// Round an array in NumPy's format
    #[arg(long, value_name = "IN", requires = "out", conflicts_with = "values")]
    npy: Option<PathBuf>,
    /// File of the rounded array
    #[arg(long, value_name = "OUT", requires = "npy")]
    out: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The table of values; the scale is there when elements share one.
pub const COLUMNS: &[Column] = &[
    Column::numbers("Value", "the number as given, in float32"),
    Column::numbers("Quantized", "the value of the format that it is rounded to"),
    Column::words(
        "Code",
        "the bits that stand for the value, highest bit first",
    ),
    Column::words("Hex", "the code in hexadecimal"),
    Column::numbers("Error", "quantized value minus given value"),
    Column::words("Scale", "what the elements of a block have in common"),
];

/// A header line, then a table of values.
pub fn run(args: &Args) -> anyhow::Result<Output> {
    let format = Format::parse(&args.spec)?;
    if let Some((field, _)) = format.stored_fields().first() {
        bail!(
            "{format}: the values of {field} are stored beside the node that has the format; give a number to try it"
        );
    }
    let text = if let (Some(input), Some(output)) = (&args.npy, &args.out) {
        array::round(&format, input, output, args.json)?
    } else if args.table {
        values::all(&format, args.json)?
    } else {
        let numbers = args.values.iter().map(|text| number(text));
        let numbers: Vec<f32> = numbers.collect::<Result<_, _>>()?;
        values::round(&format, &numbers, args.json)?
    };
    Ok(text.into())
}

fn number(text: &str) -> anyhow::Result<f32> {
    let Ok(value) = text.parse::<f64>() else {
        bail!("'{text}' is not a number");
    };
    let single = value as f32;
    if value.is_nan() {
        bail!("the value '{text}' is not a number, and no format holds it");
    }
    if single.is_infinite() && value.is_finite() {
        bail!("the value {text} is beyond float32; write inf for infinity");
    }
    Ok(single)
}
