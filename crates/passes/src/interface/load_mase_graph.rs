//! A graph from a file takes the place of the present one.

use super::{GivenPath, read_graph_file};
use crate::{Context, Pass, PassError, PassReport};
use config::Reader;
use ir::Graph;

/// `[passes.load_mase_graph]`: see [`Pass::DOC`].
pub struct LoadMaseGraph(GivenPath);

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
        Self(GivenPath::read(
            reader,
            &["load_dir"],
            "name the folder with graph.mz",
        ))
    }

    fn run(&self, graph: &mut Graph, context: &mut Context) -> Result<PassReport, PassError> {
        let Self(given) = self;
        let load_dir = &given.path;
        let is_file = load_dir
            .extension()
            .is_some_and(|extension| extension == "mz");
        let path = if is_file {
            load_dir.clone()
        } else {
            load_dir.join("graph.mz")
        };
        let bytes = given.read_file(context, &path)?;
        (*graph, context.preparation) = read_graph_file(&path, &bytes)?;
        Ok(PassReport::text(format!(
            "{}: {} with {} nodes",
            path.display(),
            graph.name,
            graph.nodes().len()
        )))
    }
}
