//! A graph from a file takes the place of the present one.

use super::{read_file, read_graph_file, required_path};
use crate::{Context, Pass, PassError, PassReport};
use config::Reader;
use ir::Graph;
use std::path::PathBuf;

/// `[passes.load_mase_graph]`: see [`Pass::DOC`].
pub struct LoadMaseGraph(PathBuf);

impl Pass for LoadMaseGraph {
    const NAME: &'static str = "load_mase_graph";
    const ABOUT: &'static str = "goes on with the graph of a .mz file";
    const DOC: &'static str = "\
What it does: reads graph.mz with its weights, formats and statistics; later passes work on it.

Example:
  [passes.load_mase_graph]
  load_dir = \"saved\"

Config: load_dir, the folder with graph.mz, or the file itself; relative to where the command is typed, unless a pass
of the same run wrote it. Reads: the file. Writes: the graph. Limits: files of newer versions are refused.";

    fn read(reader: &mut Reader) -> Self {
        Self(required_path(
            reader,
            &["load_dir"],
            "name the folder with graph.mz",
        ))
    }

    fn run(&self, graph: &mut Graph, context: &mut Context) -> Result<PassReport, PassError> {
        let Self(load_dir) = self;
        let is_file = load_dir
            .extension()
            .is_some_and(|extension| extension == "mz");
        let path = if is_file {
            load_dir.clone()
        } else {
            load_dir.join("graph.mz")
        };
        let bytes = read_file(context, &path)?;
        (*graph, context.preparation) = read_graph_file(&path, &bytes)?;
        Ok(PassReport::text(format!(
            "{}: {} with {} nodes",
            path.display(),
            graph.name,
            graph.nodes().len()
        )))
    }
}
