//! A graph with its weights, formats and statistics in one file.

use super::required_path;
use crate::{Context, Pass, PassError, PassReport};
use config::Reader;
use interop::checkpoint::{self, Checkpoint, Kind as FileKind, Training};
use ir::Graph;
use serde_json::{Map, Value as Json, json};
use std::path::{Path, PathBuf};

/// `[passes.save_mase_graph]`: see [`Pass::DOC`].
pub struct SaveMaseGraph(PathBuf);

impl Pass for SaveMaseGraph {
    const NAME: &'static str = "save_mase_graph";
    const ABOUT: &'static str = "writes the graph with weights, formats and statistics as .mz";
    const DOC: &'static str = "\
What it does: writes graph.mz: the text form, the weights and masks, and the statistics in one file, which --load and
load_mase_graph read.

Example:
  [passes.save_mase_graph]
  save_dir = \"saved\"

Config: save_dir, the folder; relative to the run's folder of passes (software/transform). Reads: the graph. Writes:
graph.mz. Limits: the file appears when all passes are done.";

    fn read(reader: &mut Reader) -> Self {
        Self(required_path(
            reader,
            &["save_dir"],
            "name the folder to write graph.mz to",
        ))
    }

    fn run(&self, graph: &mut Graph, context: &mut Context) -> Result<PassReport, PassError> {
        let Self(save_dir) = self;
        let path = save_dir.join("graph.mz");
        let bytes = graph_file_with(graph, context.training.as_ref())?;
        let report = PassReport::text(format!("{}: {} bytes", path.display(), bytes.len()));
        context.write(path, bytes);
        Ok(report)
    }
}

/// The bytes of a `.mz` file that holds a graph with its weights and statistics.
pub fn graph_file(graph: &Graph) -> Result<Vec<u8>, PassError> {
    graph_file_with(graph, None)
}

/// The same with the record of the training that made the weights; the state of its optimiser is left out.
pub fn graph_file_with(graph: &Graph, training: Option<&Training>) -> Result<Vec<u8>, PassError> {
    let statistics: Map<String, Json> = graph
        .nodes()
        .iter()
        .filter(|node| !node.statistics.is_empty())
        .map(|node| (node.name.clone(), json!(node.statistics)))
        .collect();
    let checkpoint = Checkpoint {
        kind: FileKind::Mz,
        tensors: models::weights::tensors_of(graph),
        training: training.map(|training| Training {
            epoch: training.epoch,
            global_step: training.global_step,
            hyper_parameters: training.hyper_parameters.clone(),
            ..Training::default()
        }),
        graph: Some(graph.to_string()),
        metadata: json!({ "statistics": statistics }),
    };
    checkpoint::encode(&checkpoint).map_err(|problem| PassError::Refused(problem.to_string()))
}

/// A number that differs, in all likelihood, between graphs that differ in text, weights or masks (FNV-1a, 64 bits).
pub fn graph_hash(graph: &Graph) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut add = |bytes: &[u8]| {
        for &byte in bytes {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    };
    add(graph.to_string().as_bytes());
    for tensor in models::weights::tensors_of(graph) {
        add(tensor.name.as_bytes());
        tensor
            .values
            .iter()
            .for_each(|value| add(&value.to_le_bytes()));
    }
    hash
}

/// The graph of a `.mz` file, from its bytes.
pub fn read_graph_file(path: &Path, bytes: &[u8]) -> Result<Graph, PassError> {
    let file = checkpoint::decode(bytes, Some(FileKind::Mz))
        .map_err(|problem| PassError::Refused(format!("{}: {problem}", path.display())))?;
    graph_of(path, &file)
}

/// The graph that a `.mz` file holds, with its weights and statistics.
pub fn graph_of(path: &Path, file: &Checkpoint) -> Result<Graph, PassError> {
    let refused = |why: String| PassError::Refused(format!("{}: {why}", path.display()));
    let text = file
        .graph
        .as_ref()
        .ok_or_else(|| refused("holds no graph".to_owned()))?;
    let mut graph = Graph::parse(text).map_err(|errors| refused(errors.to_string()))?;
    models::weights::load_into(&mut graph, &file.tensors)
        .map_err(|error| refused(error.to_string()))?;
    restore_statistics(&mut graph, &file.metadata);
    Ok(graph)
}

fn restore_statistics(graph: &mut Graph, metadata: &Json) {
    for (name, ports) in metadata["statistics"].as_object().into_iter().flatten() {
        let Some(id) = graph.find(name) else { continue };
        for (port, found) in ports.as_object().into_iter().flatten() {
            let found = found.as_object().cloned().unwrap_or_default();
            graph.node_mut(id).statistics.insert(port.clone(), found);
        }
    }
}
