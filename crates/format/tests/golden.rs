//! Every case of the reference vectors, and a small fixture of our own, comes out bit for bit.
#![expect(
    clippy::unwrap_used,
    reason = "a case that cannot be read must fail the test"
)]

use format::{FieldValue, Format};
use serde_json::Value;

/// One case: the format, the shape, what goes in and what must come out.
struct Case {
    format: Format,
    shape: Vec<usize>,
    x: Vec<f32>,
    y: Vec<f32>,
}

fn field(value: &Value) -> FieldValue {
    match value {
        Value::Bool(value) => FieldValue::Bool(*value),
        Value::String(word) => FieldValue::Text(word.clone()),
        Value::Array(list) => {
            FieldValue::List(list.iter().map(|item| item.as_i64().unwrap()).collect())
        }
        Value::Number(number) => number.as_i64().map_or_else(
            || FieldValue::Float(number.as_f64().unwrap()),
            FieldValue::Int,
        ),
        other => panic!("no field value: {other}"),
    }
}

fn floats(hex: &str) -> Vec<f32> {
    let float = |hex: &[u8]| {
        let bits = u32::from_str_radix(std::str::from_utf8(hex).unwrap(), 16).unwrap();
        f32::from_bits(bits.swap_bytes())
    };
    hex.as_bytes().chunks(8).map(float).collect()
}

fn case(line: &str) -> Case {
    let json: Value = serde_json::from_str(line).unwrap();
    let fields: Vec<(String, FieldValue)> = json["args"]
        .as_object()
        .unwrap()
        .iter()
        .map(|(name, value)| (name.clone(), field(value)))
        .collect();
    let shape = json["shape"].as_array().unwrap();
    Case {
        format: Format::from_fields(json["format"].as_str().unwrap(), &fields).unwrap(),
        shape: shape
            .iter()
            .map(|dim| dim.as_u64().unwrap() as usize)
            .collect(),
        x: floats(json["x"].as_str().unwrap()),
        y: floats(json["y"].as_str().unwrap()),
    }
}

/// Formats with real scales may differ in the last digits: sums are made in another order.
fn agree(format: &Format, got: f32, want: f32) -> bool {
    let real_scale = matches!(format.name(), "binary" | "ternary" | "scale_integer");
    got == want || (real_scale && (got - want).abs() <= 1e-6 * want.abs())
}

fn check(text: &str) -> usize {
    let lines = text.lines().filter(|line| !line.is_empty());
    let check_line = |line: &str| {
        let Case {
            format,
            shape,
            x,
            y,
        } = case(line);
        let mut got = vec![f32::NAN; x.len()];
        format.quantize(&x, &shape, &mut got);
        for (index, (&got, &want)) in got.iter().zip(&y).enumerate() {
            let x = x[index];
            assert!(
                agree(&format, got, want),
                "{format} {shape:?}: {x} at {index} is {got}, not {want}"
            );
        }
    };
    lines.map(check_line).count()
}

#[test]
fn own_cases() {
    assert!(check(include_str!("golden.jsonl")) >= 30);
}

#[test]
fn reference_vectors() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../../shared/golden/formats.jsonl"
    );
    match std::fs::read_to_string(path) {
        Ok(text) => assert!(check(&text) >= 500),
        Err(_) => println!("no reference vectors at {path}: only our own cases were checked"),
    }
}
