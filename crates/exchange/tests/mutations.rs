//! Changed files: each is an error with a sentence or another network, and nothing panics.
//!
//! `MUTATIONS=2000 cargo test -p exchange --test mutations` changes every file so often; it does what the fuzz targets `onnx` and
//! `programs` do, without coverage, and also changes messages as messages.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

#[path = "package/data.rs"]
mod data;

use exchange::onnx::{ExportOptions, ImportOptions, Style, export, import};
use interop::onnx::proto::tensor_shape_proto::dimension::Value as Size;
use interop::onnx::proto::type_proto::Value as Kind;
use interop::onnx::proto::{GraphProto, ModelProto};
use interop::onnx::{Model, decode, encode};
use random::Random;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::{env, fs};

/// Changes of a file, unless the environment asks for more.
const CHANGES: u64 = 12;
/// Bytes of a file that is changed, at most.
const MAX_BYTES: u64 = 40_000;
/// Numbers at the edges of what files hold.
const EDGES: [i64; 12] = [
    0,
    1,
    -1,
    2,
    3,
    7,
    64,
    -3,
    1 << 20,
    1 << 31,
    i64::MAX,
    i64::MIN,
];

fn changes() -> u64 {
    let wanted = env::var("MUTATIONS").ok().and_then(|n| n.parse().ok());
    wanted.unwrap_or(CHANGES)
}

fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().flatten();
    let is_small = |path: &PathBuf| fs::metadata(path).is_ok_and(|m| m.len() <= MAX_BYTES);
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|own| own == ending))
        .filter(is_small)
        .collect();
    paths.sort();
    paths
}

/// Networks of the fixtures, and with the package and more changes those of its node tests too.
fn networks() -> Vec<PathBuf> {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/quantised");
    let mut paths = files(&fixtures, "onnx");
    if let (Some(data), true) = (data::test_data(), env::var_os("MUTATIONS").is_some()) {
        for test in fs::read_dir(data.join("node")).unwrap().flatten() {
            paths.extend(files(&test.path(), "onnx"));
        }
    }
    paths.sort();
    paths
}

/// The last two parts of a path, which no machine has otherwise.
fn name(path: &Path) -> String {
    let parts = path.iter().map(|part| part.to_string_lossy());
    let parts: Vec<_> = parts.collect();
    parts[parts.len().saturating_sub(2)..].join("/")
}

/// Some bytes changed, cut out, or repeated.
fn changed_bytes(bytes: &[u8], random: Random) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for round in 0..=random.bits(0) % 4 {
        let draw = |k: u64| random.bits(16 * round + k) as usize;
        let at = draw(1) % bytes.len().max(1);
        match draw(2) % 5 {
            0 => bytes[at] ^= 1 << (draw(3) % 8),
            1 => bytes[at] = [0x00, 0x7f, 0x80, 0xff][draw(3) % 4],
            2 => drop(bytes.drain(at..(at + draw(3) % 16).min(bytes.len()))),
            3 => {
                let part = bytes[at..(at + draw(3) % 16).min(bytes.len())].to_vec();
                let to = draw(4) % bytes.len().max(1);
                bytes.splice(to..to, part);
            }
            _ => bytes.truncate(at.max(1)),
        }
        if bytes.is_empty() {
            return bytes;
        }
    }
    bytes
}

/// One message changed as a message: an attribute, a size, a type, an input, an operator.
fn changed_message(proto: &ModelProto, random: Random) -> ModelProto {
    let mut proto = proto.clone();
    let Some(graph) = proto.graph.as_mut() else {
        return proto;
    };
    for round in 0..=random.bits(0) % 3 {
        change(graph, &|k| random.bits(16 * round + k + 1) as usize);
    }
    proto
}

fn change(graph: &mut GraphProto, draw: &dyn Fn(u64) -> usize) {
    let edge = EDGES[draw(9) % EDGES.len()];
    let n_nodes = graph.node.len().max(1);
    let at = draw(0) % n_nodes;
    match draw(1) % 8 {
        0 => {
            let attributes = graph.node.get_mut(at).map(|node| &mut node.attribute);
            if let Some(attributes) = attributes.filter(|list| !list.is_empty()) {
                let n = attributes.len();
                let attribute = &mut attributes[draw(2) % n];
                if attribute.ints.is_empty() {
                    attribute.i = Some(edge);
                    attribute.f = Some(edge as f32);
                } else {
                    let n = attribute.ints.len();
                    attribute.ints[draw(3) % n] = edge;
                }
            }
        }
        1 => drop(graph.node.get_mut(at).and_then(|node| {
            let n = node.attribute.len();
            (n > 0).then(|| node.attribute.remove(draw(2) % n))
        })),
        2 => {
            let other = graph
                .node
                .get(draw(2) % n_nodes)
                .and_then(|n| n.op_type.clone());
            if let Some(node) = graph.node.get_mut(at) {
                node.op_type = other;
            }
        }
        3 => {
            let names: Vec<String> = graph
                .initializer
                .iter()
                .map(|t| t.name().to_owned())
                .collect();
            if let Some(node) = graph.node.get_mut(at)
                && !node.input.is_empty()
                && !names.is_empty()
            {
                let n = node.input.len();
                names[draw(3) % names.len()].clone_into(&mut node.input[draw(2) % n]);
            }
        }
        4 => drop(graph.node.get_mut(at).map(|node| node.input.pop())),
        5 => {
            let n = graph.initializer.len().max(1);
            if let Some(tensor) = graph.initializer.get_mut(draw(2) % n) {
                match draw(3) % 3 {
                    0 => tensor.data_type = Some((draw(4) % 28) as i32),
                    1 => tensor.dims.push(1),
                    _ => drop(tensor.dims.pop()),
                }
            }
        }
        6 => {
            let n = graph.input.len().max(1);
            let info = graph.input.get_mut(draw(2) % n);
            let kind = info.and_then(|info| info.r#type.as_mut()?.value.as_mut());
            if let Some(Kind::TensorType(tensor)) = kind {
                let dims = &mut tensor.shape.get_or_insert_default().dim;
                match draw(3) % 3 {
                    0 => drop(dims.pop()),
                    1 => dims.extend(dims.first().cloned()),
                    _ => {
                        let n = dims.len().max(1);
                        if let Some(dim) = dims.get_mut(draw(4) % n) {
                            dim.value = Some(Size::DimValue(edge));
                        }
                    }
                }
            }
        }
        _ => {
            let tensor = graph.node.get_mut(at).and_then(|node| {
                let n = node.attribute.len().max(1);
                node.attribute.get_mut(draw(2) % n)?.t.as_mut()
            });
            if let Some(tensor) = tensor {
                tensor.dims = vec![edge];
            }
        }
    }
}

/// Reads; writes what reads; reads that again.
fn survives(model: &Model, options: &ImportOptions) {
    let imported = match import(model, options) {
        Err(problem) => return drop(problem.to_string()),
        Ok(imported) => imported,
    };
    for style in [Style::Qdq, Style::Qonnx] {
        let options = ExportOptions {
            style,
            ..ExportOptions::default()
        };
        if let Ok(proto) = export(&imported.graph, &options) {
            let again = import(&Model { proto }, &ImportOptions::default());
            assert!(again.is_ok(), "what is written reads: {:?}", again.err());
        }
    }
}

#[test]
fn changed_networks_are_errors_or_other_networks() {
    let mut wrong = Vec::new();
    let mut n_tried = 0_usize;
    for path in networks() {
        let bytes = fs::read(&path).unwrap();
        let proto = decode(bytes.clone()).unwrap().proto;
        let name = name(&path);
        for trial in 0..changes() {
            let random = Random::new(trial, &name);
            let model = if trial % 3 == 0 {
                let Ok(model) = decode(changed_bytes(&bytes, random)) else {
                    continue;
                };
                model
            } else {
                let proto = changed_message(&proto, random);
                // As a file has it.
                let Ok(model) = decode(encode(&proto)) else {
                    continue;
                };
                model
            };
            let options = ImportOptions {
                batch_axis: trial % 7 == 0,
                ..ImportOptions::default()
            };
            n_tried += 1;
            let outcome = catch_unwind(AssertUnwindSafe(|| survives(&model, &options)));
            if outcome.is_err() {
                wrong.push(format!("{name}: change {trial}"));
            }
        }
    }
    println!("{n_tried} changed networks");
    let n = wrong.len();
    assert!(wrong.is_empty(), "{n} panics:\n{}", wrong.join("\n"));
}

#[test]
fn changed_programs_are_errors_or_other_programs() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/pt2");
    let mut wrong = Vec::new();
    for path in files(&folder, "pt2") {
        let bytes = fs::read(&path).unwrap();
        for trial in 0..changes() {
            let random = Random::new(trial, &name(&path));
            let changed = changed_bytes(&bytes, random);
            let outcome = catch_unwind(|| match interop::pt2::decode(&changed) {
                Err(problem) => drop(problem.to_string()),
                Ok((program, tensors)) => {
                    match exchange::aten::import("changed", &program, tensors) {
                        Err(problem) => drop(problem.to_string()),
                        Ok(imported) => assert!(ir::verify(&imported.graph).is_ok()),
                    }
                }
            });
            if outcome.is_err() {
                wrong.push(format!("{}: change {trial}", path.display()));
            }
        }
    }
    let n = wrong.len();
    assert!(wrong.is_empty(), "{n} panics:\n{}", wrong.join("\n"));
}
