//! A graph by the name of a model, from a file in the text form, or from a file of another program.

use crate::missing;
use crate::settings::{BatchAxis, Value as _};
use anyhow::{Context, Result, anyhow, bail};
use exchange::onnx::ImportOptions;
use ir::{Graph, Verified};
use models::ModelInfo;
use std::io::Read;
use std::path::Path;
use std::sync::Mutex;

/// Text forms are small; more than this is another file by mistake.
const MAX_FILE: u64 = 1 << 26;

/// Sentences about networks of other programs that were read and not printed yet.
static NOTES: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// The sentences about networks of other programs that were read since the last call.
pub fn take_notes() -> Vec<String> {
    NOTES
        .lock()
        .map(|mut notes| std::mem::take(&mut *notes))
        .unwrap_or_default()
}

/// The option of commands without settings that take networks of other programs.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct BatchArgs {
    /// The axis of the inputs of an .onnx or .pt2 network that is the batch though the file gives it a size: 0, or none
    #[arg(long, value_name = "AXIS", default_value = "none", value_parser = BatchAxis::parse)]
    pub batch_axis: BatchAxis,
}

/// A model by name, or a graph from a file: what looks like a path is one. A `.mz`, `.onnx` or `.pt2` file brings its weights along.
pub fn load(model: &str, info: &ModelInfo, batch_axis: BatchAxis) -> Result<Graph> {
    let path = Path::new(model);
    let makes_batch = batch_axis == BatchAxis::First;
    if makes_batch && !is_foreign(path) {
        bail!(
            "{model}: --batch-axis is for .onnx and .pt2 files, whose inputs may have a batch of fixed size"
        );
    }
    if !is_path(model) {
        return Ok(models::build(model, info)?);
    }
    missing::check(path)?;
    if has_extension(path, "mz") {
        let file = interop::checkpoint::read(path, None)?;
        return Ok(passes::interface::graph_of(path, &file)?);
    }
    if is_foreign(path) {
        let imported = if has_extension(path, "pt2") {
            exchange::aten::read(path, makes_batch)?
        } else {
            let options = ImportOptions {
                batch_axis: makes_batch,
                ..ImportOptions::default()
            };
            exchange::onnx::read(path, &options)?
        };
        if let Ok(mut notes) = NOTES.lock() {
            let sentences = imported.notes.into_iter();
            notes.extend(sentences.map(|sentence| format!("{model}: {sentence}")));
        }
        return Ok(imported.graph);
    }
    let text = read(path).with_context(|| model.to_owned())?;
    let errors = match Graph::parse(&text) {
        Ok(graph) => return Ok(graph),
        Err(errors) => errors,
    };
    bail!("{model}: {}\n{errors}", problems(errors.errors.len()))
}

/// True when a model is named by a path.
pub fn is_path(model: &str) -> bool {
    let path = Path::new(model);
    is_graph_file(path) || model.contains(['/', '\\'])
}

/// True for a path of the text form, or of a graph with its weights.
pub fn is_graph_file(path: &Path) -> bool {
    has_extension(path, "mg") || brings_weights(path)
}

/// True for a path of a graph with its weights.
pub fn brings_weights(path: &Path) -> bool {
    has_extension(path, "mz") || is_foreign(path)
}

/// True for a path of a network that another program wrote.
pub fn is_foreign(path: &Path) -> bool {
    has_extension(path, "onnx") || has_extension(path, "pt2")
}

fn has_extension(path: &Path, wanted: &str) -> bool {
    path.extension()
        .is_some_and(|extension| extension == wanted)
}

/// A graph that obeys the rules, or every violation.
pub fn verify<'g>(model: &str, graph: &'g Graph) -> Result<Verified<'g>> {
    ir::verify(graph).map_err(|error| match error.violations.as_slice() {
        [only] => anyhow!("{model}: {only}"),
        several => anyhow!("{model}: {}\n{error}", problems(several.len())),
    })
}

fn problems(n: usize) -> String {
    let plural = if n == 1 { "" } else { "s" };
    format!("{n} problem{plural}")
}

fn read(path: &Path) -> Result<String> {
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path)?;
    file.take(MAX_FILE + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_FILE {
        bail!("has more than the {MAX_FILE} bytes that are read");
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        anyhow!("byte {at} is not UTF-8 text")
    })
}
