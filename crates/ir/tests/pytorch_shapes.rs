//! The reference cases recorded from `PyTorch`: our operators accept their attributes and infer their shapes.

use ir::{DType, Op, Operator, Shape, Type};
use serde_json::{Map, Value as Json};
use std::fs;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/golden")
}

/// The header of a safetensors file: 8 bytes of length, then JSON with the shape of every tensor.
fn header(path: &Path) -> Map<String, Json> {
    let bytes = fs::read(path).expect("the tensors stand beside the cases");
    let (length, rest) = bytes.split_first_chunk::<8>().expect("a header");
    let header = &rest[..u64::from_le_bytes(*length) as usize];
    serde_json::from_slice(header).expect("the header is JSON")
}

fn shape(tensors: &Map<String, Json>, name: &Json) -> Vec<usize> {
    let name = name.as_str().expect("a tensor's name");
    let shape = tensors[name]["shape"].as_array().expect("a shape");
    shape
        .iter()
        .filter_map(Json::as_u64)
        .map(|size| size as usize)
        .collect()
}

fn check(case: &Json, tensors: &Map<String, Json>) {
    let name = case["op"].as_str().expect("an op");
    let mut attributes = case["attrs"].as_object().cloned().expect("attributes");
    // Training or evaluation is a matter of the run, not of the operator.
    attributes.shift_remove("mode");
    let op = Op::from_attributes(name, attributes).unwrap_or_else(|| panic!("no op {name}"));
    let op = op.unwrap_or_else(|error| panic!("{name}: {error}"));
    let dtype = if name == "embedding" {
        DType::I64
    } else {
        DType::F32
    };
    let inputs = case["inputs"].as_array().expect("inputs").iter();
    let inputs: Vec<Type> = inputs
        .map(|input| Type {
            shape: Shape::of(&shape(tensors, input)),
            dtype,
        })
        .collect();
    let results = op
        .infer(&inputs)
        .unwrap_or_else(|error| panic!("{}: {error}", case["name"]));
    let expected = Type::f32(Shape::of(&shape(tensors, &case["output"])));
    assert_eq!(results, [expected], "{}", case["name"]);
}

#[test]
fn shapes_are_those_of_pytorch() {
    let Ok(cases) = fs::read_to_string(folder().join("ops.json")) else {
        println!(
            "skipped: there are no reference cases at {}",
            folder().display()
        );
        return;
    };
    let cases: Vec<Json> = serde_json::from_str(&cases).expect("the cases are JSON");
    let tensors = header(&folder().join("ops.safetensors"));
    assert!(cases.len() > 40);
    for case in &cases {
        check(case, &tensors);
    }
}
