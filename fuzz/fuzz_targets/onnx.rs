//! Any bytes as an ONNX network: reading never panics, and what is read can be written and read again.
#![no_main]

use exchange::onnx::{ExportOptions, ImportOptions, Style, export, import};
use interop::onnx::{Model, decode};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let model = match decode(data.to_vec()) {
        Err(problem) => return drop(problem.to_string()),
        Ok(model) => model,
    };
    let imported = match import(&model, &ImportOptions::default()) {
        Err(problem) => return drop(problem.to_string()),
        Ok(imported) => imported,
    };
    let options = ExportOptions {
        style: Style::Qdq,
        ..ExportOptions::default()
    };
    let Ok(proto) = export(&imported.graph, &options) else { return };
    let again = import(&Model { proto }, &ImportOptions::default());
    assert!(again.is_ok(), "what is written reads");
});
