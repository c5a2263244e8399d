//! Makes the types of an ONNX file of the published `onnx.proto`, which every package `onnx` brings along.
//!
//! ```text
//! cd scripts/onnx-proto && cargo run -- FOLDER_OF_ONNX_PROTO ../../crates/interop/src/onnx/proto.rs
//! ```
use std::path::{Path, PathBuf};
use std::{env, error::Error, fs};

/// The first lines of the file.
const HEADER: &str = "\
// Made by scripts/onnx-proto of onnx.proto. Do not edit.
#![expect(missing_docs, clippy::all, clippy::pedantic, reason = \"generated\")]

";

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<PathBuf> = env::args_os().skip(1).map(PathBuf::from).collect();
    let [folder, to] = arguments.as_slice() else {
        return Err("usage: onnx-proto FOLDER_OF_ONNX_PROTO FILE".into());
    };
    write(folder, to)
}

fn write(folder: &Path, to: &Path) -> Result<(), Box<dyn Error>> {
    let files = protox::compile(["onnx.proto"], [folder])?;
    let out = env::temp_dir().join("onnx-proto");
    fs::create_dir_all(&out)?;
    let mut config = prost_build::Config::new();
    // The payload of a tensor is a window on the file.
    config.bytes(["."]).out_dir(&out).disable_comments(["."]);
    config.compile_fds(files)?;
    let code = fs::read_to_string(out.join("onnx.rs"))?;
    fs::write(to, format!("{HEADER}{code}"))?;
    Ok(())
}
