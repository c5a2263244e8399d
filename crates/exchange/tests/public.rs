//! Networks that others have published, run by ONNX Runtime and here: those of the package `onnx`, and those of a folder.
//!
//! `ONNX_MODELS=FOLDER cargo test -p exchange --test public -- --nocapture` runs every file of a folder and prints what became of it.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

#[path = "package/data.rs"]
mod data;
#[path = "runtime/order.rs"]
mod order;
mod runtime;
#[path = "runtime/samples.rs"]
mod samples;
mod support;

use exchange::onnx::{ImportOptions, import};
use interop::Budget;
use interop::onnx::proto::NodeProto;
use interop::onnx::proto::tensor_shape_proto::dimension::Value as Size;
use interop::onnx::proto::type_proto::Value as Kind;
use interop::onnx::{Model, Tensor, Values};
use ir::Op;
use order::{outputs_of, worst};
use random::Random;
use runtime::Run;
use std::fs;
use std::path::{Path, PathBuf};

/// Networks of the package that agree, at least.
const MIN_AGREEING: usize = 6;
/// Networks of the package with a hundred million weights, which are run with those of a folder only.
const LARGE: [&str; 3] = ["light_bvlc_alexnet", "light_vgg19", "light_zfnet512"];
/// The memory that these may take: their files of some kilobytes make all weights.
const GRANT: u64 = 4_000_000_000;
/// The difference of results that agree, relative to the largest: sums in another order, or a few times what these make of the
/// other program's own results.
const LIMIT: f32 = 1e-5;
const SPREADS: f32 = 4.0;
/// Sizes for axes that a file leaves free, by a part of its name: the second axis, the third, the fourth.
const SIZES: [(&str, [i64; 3]); 5] = [
    ("silero", [576, 576, 576]),
    ("cls", [3, 48, 192]),
    ("rec", [3, 48, 320]),
    ("common", [1, 64, 160]),
    ("", [3, 320, 320]),
];

/// Gives free axes a size, as whoever exports a network can; the first one only with `rows`.
fn fix_sizes(name: &str, model: &mut Model, rows: Option<i64>) {
    let (_, sizes) = SIZES.iter().find(|row| name.contains(row.0)).unwrap();
    let graph = model.proto.graph.as_mut().unwrap();
    for info in &mut graph.input {
        let Some(Kind::TensorType(tensor)) = &mut info.r#type.as_mut().unwrap().value else {
            continue;
        };
        let dims = &mut tensor.shape.get_or_insert_default().dim;
        if let (Some(rows), Some(first)) = (rows, dims.first_mut())
            && !matches!(first.value, Some(Size::DimValue(1..)))
        {
            first.value = Some(Size::DimValue(rows));
        }
        for (axis, dim) in dims.iter_mut().enumerate().skip(1) {
            let is_batch = matches!(&dim.value, Some(Size::DimParam(name)) if name == "batch");
            if !matches!(dim.value, Some(Size::DimValue(1..))) {
                let size = if is_batch {
                    1
                } else {
                    sizes[(axis - 1).min(2)]
                };
                dim.value = Some(Size::DimValue(size));
            }
        }
    }
}

/// A network that runs, or the reason why it does not. What mixes the rows of a batch runs for one row.
fn prepare(path: &Path) -> Result<(Run, ir::Graph), String> {
    prepare_for(path, None).or_else(|why| prepare_for(path, Some(1)).map_err(|_| why))
}

fn prepare_for(path: &Path, rows: Option<i64>) -> Result<(Run, ir::Graph), String> {
    let name = path.file_stem().unwrap().to_string_lossy().into_owned();
    let mut model = interop::onnx::read(path).map_err(|error| error.to_string())?;
    fix_sizes(&name, &mut model, rows);
    let imported = import(&model, &ImportOptions::default()).map_err(|error| error.to_string())?;
    if imported
        .graph
        .nodes()
        .iter()
        .any(|node| matches!(node.op, Op::Opaque(_)))
    {
        return Err(imported.notes.join("; "));
    }
    let proto = model.proto.graph.as_ref().unwrap();
    let stored: Vec<&str> = proto
        .initializer
        .iter()
        .map(interop::onnx::proto::TensorProto::name)
        .collect();
    let names = proto.input.iter().map(|info| info.name().to_owned());
    let names = names.filter(|name| !stored.contains(&name.as_str()));
    let mut inputs = samples::inputs(&imported.graph, 1);
    // Zeros and ones are indices of any table; a network of bytes normalises away what has so few values.
    if name.contains("magika") {
        let random = Random::new(7, "bytes");
        for input in &mut inputs {
            if let Values::Ints(values) = &mut input.values {
                let bytes = (0..values.len() as u64).map(|k| (random.bits(k) % 256) as i64);
                *values = bytes.collect();
            }
        }
    }
    for (input, (name, info)) in inputs.iter_mut().zip(names.zip(&proto.input)) {
        input.name = name;
        if let Some(Kind::TensorType(tensor)) = &info.r#type.as_ref().unwrap().value
            && let Some(element) = interop::onnx::Element::of_code(tensor.elem_type())
            && element.is_integer()
        {
            input.element = element;
        }
    }
    let is_custom =
        |node: &NodeProto| node.domain().contains("qonnx") || node.domain() == "onnx.brevitas";
    let program = if proto.node.iter().any(is_custom) {
        "qonnx"
    } else {
        "onnx"
    };
    // What the file says of its values, qonnx holds random inputs against.
    if let Some(graph) = &mut model.proto.graph {
        graph.quantization_annotation.clear();
    }
    let run = Run {
        name,
        program,
        network: model.proto,
        inputs,
    };
    Ok((run, imported.graph))
}

/// How a network compares with the program that runs it.
struct Comparison {
    /// The difference of our results from its.
    difference: f32,
    /// The difference of its results from those that it computes in another order: with optimisations, or with products in place of
    /// convolutions.
    spread: f32,
    /// The difference of our results from those of ONNX Runtime with its logistic function, which is off by 2e-4 of the result at
    /// -8, written out; computed where the results are not close without that.
    spelled: Option<f32>,
}

impl Comparison {
    fn new(run: &Run, results: &[support::Output], outputs: &[runtime::Output]) -> Option<Self> {
        let difference = worst(results, outputs);
        let spread = order::spread(run, outputs)?;
        let mut spelled = None;
        if difference > LIMIT.max(SPREADS * spread) && run.program == "onnx" {
            spelled = Some(worst(results, &outputs_of("spelled", run)?));
        }
        Some(Self {
            difference,
            spread,
            spelled,
        })
    }

    fn agrees(&self) -> bool {
        let is_close = |difference: f32| difference <= LIMIT;
        self.difference <= LIMIT.max(SPREADS * self.spread) || self.spelled.is_some_and(is_close)
    }
}

impl std::fmt::Display for Comparison {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        let (difference, spread) = (self.difference, self.spread);
        let word = if self.agrees() { "agrees" } else { "differs" };
        write!(
            f,
            "{word}: {difference:e}; in another order the program differs from itself by {spread:e}"
        )?;
        match self.spelled {
            Some(own) => write!(f, "; {own:e} with the logistic function written out"),
            None => Ok(()),
        }
    }
}

/// Runs the networks and returns the number that agree, and those that differ.
#[expect(clippy::print_stdout, reason = "a test says what it does not run")]
fn compare(label: &str, paths: &[PathBuf]) -> Option<(usize, Vec<String>)> {
    runtime::python()?;
    let (mut n_agree, mut wrong) = (0, Vec::new());
    for path in paths {
        let name = path.file_stem().unwrap().to_string_lossy();
        let ran = prepare(path).and_then(|(run, graph)| {
            let given: Vec<&Tensor> = run.inputs.iter().collect();
            let results = support::run(graph, 1, &given)?;
            Ok((run, results))
        });
        let (run, results) = match ran {
            Ok(ran) => ran,
            Err(why) => {
                println!("{name}: not run: {why}");
                continue;
            }
        };
        let outputs = runtime::outputs(label, std::slice::from_ref(&run))?.remove(0);
        let comparison = Comparison::new(&run, &results, &outputs)?;
        println!("{name}: {comparison}");
        if comparison.agrees() {
            n_agree += 1;
        } else {
            wrong.push(format!("{name} {comparison}"));
        }
    }
    println!("{n_agree} of {} networks run and agree", paths.len());
    Some((n_agree, wrong))
}

fn networks(folder: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(folder).unwrap().flatten();
    let mut paths: Vec<PathBuf> = files
        .map(|file| file.path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "onnx"))
        .collect();
    paths.sort();
    paths
}

#[test]
fn published_networks_compute_what_onnx_runtime_does() {
    let Some(data) = data::test_data() else {
        println!("skipped: the package onnx is not installed; scripts/test-tools.sh gets it");
        return;
    };
    let all = std::env::var_os("ONNX_MODELS").is_some();
    let is_large = |path: &PathBuf| {
        LARGE
            .iter()
            .any(|name| path.ends_with(format!("{name}.onnx")))
    };
    let mut light = networks(&data.join("light"));
    light.retain(|path| all || !is_large(path));
    Budget::grant(if all { GRANT } else { 0 });
    let Some((n_agree, wrong)) = compare("light", &light) else {
        return;
    };
    assert!(wrong.is_empty(), "{wrong:?}");
    assert!(n_agree >= MIN_AGREEING, "{n_agree} agree");
    let Some(folder) = std::env::var_os("ONNX_MODELS") else {
        return;
    };
    let (_, wrong) = compare("models", &networks(Path::new(&folder))).unwrap();
    assert!(wrong.is_empty(), "{wrong:?}");
}
