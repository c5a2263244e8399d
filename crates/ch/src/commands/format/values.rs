//! Values, what a format makes of them, and their codes.

use super::{COLUMNS, summary};
use crate::output::number::{rounded, shortest};
use crate::output::{Stream, fit, json_text};
use format::{Codes, FieldValue, Format, Scale};
use report::Table;
use serde_json::{Value as Json, json};

/// The given values, rounded.
pub fn round(format: &Format, values: &[f32], as_json: bool) -> anyhow::Result<String> {
    // One row, so that a format that keeps rows or channels apart sees one of them.
    let shape = [1, values.len()];
    let mut quantized = vec![0.0; values.len()];
    kernels::quantize::quantize(format, values, &shape, &mut quantized);
    let codes = format.encode(values, &shape);
    let element = |i: usize| Element {
        value: values[i],
        quantized: quantized[i],
        code: Code::new(format.code_bits(&codes, i), codes.width),
        scale: scale_of(format, &codes, i),
    };
    let elements: Vec<Element> = (0..values.len()).map(element).collect();
    if as_json {
        let mut json = summary::json(format, &shape);
        json["values"] = elements.iter().map(Element::json).collect();
        return json_text(&json);
    }
    let header = summary::text(format, &shape);
    if values.is_empty() {
        return Ok(header);
    }
    let columns = &COLUMNS[..COLUMNS.len() - usize::from(codes.shared.is_empty())];
    let mut table = Table::with_columns(columns);
    for element in &elements {
        table.push(element.cells().into_iter().take(columns.len()));
    }
    Ok(header + "\n" + &fit::table(&table, Stream::Out, "--json"))
}

/// All values that the format has, if they are few.
pub fn all(format: &Format, as_json: bool) -> anyhow::Result<String> {
    let Some(pairs) = format.values() else {
        anyhow::bail!("{format} has more than 8 bits: its values are too many for a table");
    };
    let width = summary::code_width(format);
    let pairs = pairs
        .into_iter()
        .map(|(code, value)| (Code::new(code, width), value));
    if as_json {
        let entry = |(code, value): (Code, f32)| json!({ "quantized": value, "code": code.value, "bits": code.bits() });
        let mut json = summary::json(format, &[1]);
        json["values"] = pairs.map(entry).collect();
        return json_text(&json);
    }
    let cells = |(code, value): (Code, f32)| vec![shortest(value), code.bits(), code.hex()];
    let mut table = Table::with_columns(&COLUMNS[1..4]);
    table.rows = pairs.map(cells).collect();
    Ok(summary::text(format, &[1]) + "\n" + &fit::table(&table, Stream::Out, "--json"))
}

struct Element {
    value: f32,
    quantized: f32,
    code: Code,
    scale: Option<Scale>,
}

impl Element {
    fn cells(&self) -> Vec<String> {
        vec![
            shortest(self.value),
            shortest(self.quantized),
            self.code.bits(),
            self.code.hex(),
            rounded(self.error()),
            self.scale.map_or(String::new(), scale_text),
        ]
    }

    fn json(&self) -> Json {
        json!({
            "value": float_json(self.value),
            "quantized": float_json(self.quantized),
            "code": self.code.value,
            "bits": self.code.bits(),
            "scale": self.scale.map(scale_text),
        })
    }

    fn error(&self) -> f64 {
        if self.value == self.quantized {
            return 0.0;
        }
        f64::from(self.quantized) - f64::from(self.value)
    }
}

/// A code and how many bits it has.
struct Code {
    value: u64,
    width: usize,
}

impl Code {
    fn new(value: u64, width: u32) -> Self {
        Self {
            value,
            width: width as usize,
        }
    }

    fn bits(&self) -> String {
        format!("{:0width$b}", self.value, width = self.width)
    }

    fn hex(&self) -> String {
        format!("0x{:0width$x}", self.value, width = self.width.div_ceil(4))
    }
}

/// JSON has no infinities; they are words there.
fn float_json(value: f32) -> Json {
    if value.is_finite() {
        f64::from(value).into()
    } else {
        value.to_string().into()
    }
}

fn scale_text(scale: Scale) -> String {
    match scale {
        Scale::One => "1".to_owned(),
        Scale::Exponent(exponent) => format!("2^{exponent}"),
        scale @ (Scale::Factor(_) | Scale::Ratio { .. } | Scale::Level { .. }) => {
            rounded(scale.factor())
        }
    }
}

/// The scale of element `i` of a row, which is cut into blocks of the size that the format says for the last axis.
fn scale_of(format: &Format, codes: &Codes, i: usize) -> Option<Scale> {
    let block = match codes.shared.len() {
        0 | 1 => 0,
        _ => i / block_size(format).unwrap_or(1),
    };
    codes.shared.get(block).copied()
}

fn block_size(format: &Format) -> Option<usize> {
    let fields = format.fields();
    let (_, value) = fields.iter().find(|(name, _)| *name == "block_size")?;
    let size = match value {
        FieldValue::Int(size) => *size,
        FieldValue::List(sizes) => *sizes.last()?,
        _ => return None,
    };
    // A block of 0 is no format, and one of -1 spans the axis.
    usize::try_from(size).ok()
}
