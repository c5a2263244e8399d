//! Every case of the reference vectors, and of a small fixture of our own, comes out as NumPy has it.

use crate::read;
use passes::statistics::Profile;
use serde_json::{Map, Value as Json};
use std::path::Path;

/// Relative; the promise is 1e-6.
const TOLERANCE: f64 = 1e-9;

#[test]
fn numpy_agrees_on_our_fixture() {
    check(include_str!("../fixtures/statistics.jsonl"));
}

#[test]
fn numpy_agrees_on_the_reference_vectors() {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/golden/statistics.jsonl");
    match std::fs::read_to_string(&path) {
        Ok(text) => check(&text),
        Err(_) => println!("no reference vectors at {}", path.display()),
    }
}

fn check(lines: &str) {
    for (k, line) in lines.lines().enumerate() {
        let json: Map<String, Json> = serde_json::from_str(line).unwrap();
        let name = json["stat"].as_str().unwrap();
        let statistic = read(name, &toml(json["args"].as_object().unwrap())).unwrap();
        let shape: Vec<usize> = serde_json::from_value(json["shape"].clone()).unwrap();
        let mut profile = Profile::new(&[statistic], &shape[1..]).unwrap();
        profile.add(&floats(json["x"].as_str().unwrap()));
        let found = profile.finish().unwrap().remove(0).fields;
        let wanted = json
            .iter()
            .filter(|(key, _)| !["stat", "args", "shape", "x"].contains(&key.as_str()));
        for (field, wanted) in wanted {
            assert_close(
                &found[field],
                wanted,
                &format!("line {}, {name}, {field}", k + 1),
            );
        }
    }
}

/// The arguments as a config file has them.
fn toml(args: &Map<String, Json>) -> String {
    let line = |(key, value): (&String, &Json)| match value {
        Json::Null => format!("{key} = \"NA\"\n"),
        value => format!("{key} = {value}\n"),
    };
    args.iter().map(line).collect()
}

fn floats(hex: &str) -> Vec<f32> {
    let float = |hex: &[u8]| {
        let bits = u32::from_str_radix(std::str::from_utf8(hex).unwrap(), 16).unwrap();
        f32::from_bits(bits.swap_bytes())
    };
    hex.as_bytes().chunks(8).map(float).collect()
}

fn assert_close(found: &Json, wanted: &Json, what: &str) {
    if let (Json::Array(found), Json::Array(wanted)) = (found, wanted) {
        assert_eq!(found.len(), wanted.len(), "{what}");
        for (found, wanted) in found.iter().zip(wanted) {
            assert_close(found, wanted, what);
        }
        return;
    }
    let (found, wanted) = (found.as_f64().unwrap(), wanted.as_f64().unwrap());
    let is_close = (found - wanted).abs() <= TOLERANCE * wanted.abs();
    // NumPy's variance of equal values consists of rounding errors; ours is zero.
    let is_rounding = found == 0.0 && wanted.abs() < 1e-30;
    assert!(is_close || is_rounding, "{what}: {found}, wanted {wanted}");
}
