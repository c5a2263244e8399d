//! A graph with its weights, formats and statistics in one file.

use super::required_path;
use crate::{Context, Pass, PassError, PassReport};
use config::Reader;
use data::{PREPARATION, Preparation};
use interop::checkpoint::{self, Checkpoint, Kind as FileKind};
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
        let bytes = graph_file(graph, &context.preparation)?;
        let report = PassReport::text(format!("{}: {} bytes", path.display(), bytes.len()));
        context.write(path, bytes);
        Ok(report)
    }
}

/// The bytes of a `.mz` file that holds a graph with its weights and statistics, and the preparation of the rows it was trained
/// on.
pub fn graph_file(graph: &Graph, preparation: &Preparation) -> Result<Vec<u8>, PassError> {
    let statistics: Map<String, Json> = graph
        .nodes()
        .iter()
        .filter(|node| !node.statistics.is_empty())
        .map(|node| (node.name.clone(), json!(node.statistics)))
        .collect();
    let checkpoint = Checkpoint {
        kind: FileKind::Mz,
        tensors: models::weights::tensors_of(graph),
        training: None,
        graph: Some(graph.to_string()),
        metadata: json!({ "statistics": statistics, PREPARATION: preparation }),
    };
    checkpoint::encode(&checkpoint).map_err(|problem| PassError::Refused(problem.to_string()))
}

/// A number that differs, in all likelihood, between graphs that differ in text, weights or masks (FNV-1a, 64 bits).
pub fn graph_hash(graph: &Graph) -> u64 {
    let mut hash = fnv1a(EMPTY_HASH, graph.to_string().as_bytes());
    for tensor in models::weights::tensors_of(graph) {
        hash = fnv1a(hash, tensor.name.as_bytes());
        for value in &*tensor.values {
            hash = fnv1a(hash, &value.to_le_bytes());
        }
    }
    hash
}

/// The hash of no bytes.
const EMPTY_HASH: u64 = 0xcbf2_9ce4_8422_2325;

/// The hash of bytes behind those that have a hash already.
fn fnv1a(hash: u64, bytes: &[u8]) -> u64 {
    let add = |hash: u64, &byte: &u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(hash, add)
}

/// The graph of a `.mz` file, from its bytes, and the preparation of the rows it was trained on.
pub fn read_graph_file(path: &Path, bytes: &[u8]) -> Result<(Graph, Preparation), PassError> {
    let refused = |why: String| PassError::Refused(format!("{}: {why}", path.display()));
    let file = checkpoint::decode(bytes, Some(FileKind::Mz))
        .map_err(|problem| refused(problem.to_string()))?;
    let preparation = Preparation::of_checkpoint(&file).map_err(refused)?;
    Ok((graph_of(path, &file)?, preparation))
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

#[cfg(test)]
mod tests {
    use super::*;
    use ir::{NodeId, Tensor};

    /// Vectors of the authors of the hash.
    #[test]
    fn the_hash_is_fnv_1a() {
        for (text, hash) in [
            ("", 0xcbf2_9ce4_8422_2325),
            ("a", 0xaf63_dc4c_8601_ec8c),
            ("foobar", 0x8594_4171_f739_67e8),
        ] {
            assert_eq!(fnv1a(EMPTY_HASH, text.as_bytes()), hash, "{text}");
        }
    }

    #[test]
    fn graphs_that_differ_in_text_weights_or_masks_have_other_hashes() {
        let text = "graph \"g\" { x: f32[N, 2] = placeholder
            l = linear(x) { in_features = 2, out_features = 2 } return l }";
        let of = |text: &str, change: fn(&mut ir::Node)| {
            let mut graph = Graph::parse(text).unwrap_or_else(|errors| panic!("{errors}"));
            graph.initialize(1);
            change(graph.node_mut(NodeId(1)));
            graph_hash(&graph)
        };
        let hashes = [
            of(text, |_| {}),
            of(&text.replace("\"g\"", "\"h\""), |_| {}),
            of(text, |node| {
                if let Some(bias) = node.params.get_mut("bias") {
                    bias.values_mut()[1] += 1.0;
                }
            }),
            of(text, |node| {
                node.set_mask("data_in_0", Tensor::filled(vec![2], 1.0));
            }),
        ];
        let different: std::collections::BTreeSet<u64> = hashes.into_iter().collect();
        assert_eq!(different.len(), 4);
        assert_eq!(of(text, |_| {}), hashes[0]);
    }
}
