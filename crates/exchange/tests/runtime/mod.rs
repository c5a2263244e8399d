//! Networks run by ONNX Runtime and by qonnx.

use interop::onnx::proto::ModelProto;
use interop::onnx::{self, Tensor, Values};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// A network for another program.
pub struct Run {
    /// Its name, which is that of its files.
    pub name: String,
    /// The network.
    pub network: ModelProto,
    /// Its inputs.
    pub inputs: Vec<Tensor>,
    /// The program: `onnx` for ONNX Runtime, `qonnx` for qonnx.
    pub program: &'static str,
}

/// The interpreter that has both programs; `None`, with a sentence, where there is none.
#[expect(clippy::print_stdout, reason = "a test says what it does not run")]
pub fn python() -> Option<PathBuf> {
    let python = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.tools/onnx/bin/python");
    if !python.exists() {
        println!("skipped: ONNX Runtime is not installed; scripts/test-tools.sh gets it");
        return None;
    }
    Some(python)
}

/// An output: its values and its sizes.
pub type Output = (Vec<f32>, Vec<usize>);

/// The outputs of every network; `None` without the programs.
pub fn outputs(label: &str, runs: &[Run]) -> Option<Vec<Vec<Output>>> {
    let python = python()?;
    let folder = env::temp_dir().join(format!("onnx_{label}_{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let mut list = String::new();
    for run in runs {
        let name = &run.name;
        let path = folder.join(format!("{name}.onnx"));
        fs::write(path, onnx::encode(&run.network)).unwrap();
        let mut line = format!("{name} {}", run.program);
        for (k, input) in run.inputs.iter().enumerate() {
            let file = format!("{name}.in{k}.pb");
            let bytes = onnx::encode_tensor(&input.write());
            fs::write(folder.join(&file), bytes).unwrap();
            write!(line, " {}={file}", input.name).unwrap();
        }
        list += &(line + "\n");
    }
    fs::write(folder.join("list.txt"), list).unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/run_networks.py");
    let status = Command::new(python).arg(script).arg(&folder).status();
    assert!(status.unwrap().success(), "the networks do not run");
    let output = |run: &Run| -> Vec<Output> {
        let n = run.network.graph.as_ref().map_or(0, |g| g.output.len());
        let path = |k: usize| folder.join(format!("{}.out{k}.pb", run.name));
        let tensors = (0..n).map(|k| onnx::decode_tensor(fs::read(path(k)).unwrap()).unwrap());
        tensors
            .map(|tensor| (floats(&tensor), tensor.shape))
            .collect()
    };
    let outputs = runs.iter().map(output).collect();
    fs::remove_dir_all(&folder).unwrap();
    Some(outputs)
}

fn floats(tensor: &Tensor) -> Vec<f32> {
    match &tensor.values {
        Values::Floats(values) => values.clone(),
        Values::Ints(values) => values.iter().map(|&value| value as f32).collect(),
    }
}
