//! Formats and statistics from a file of metadata.

use super::{GivenPath, meta_toml};
use crate::{Context, Pass, PassError, PassReport};
use config::Reader;
use ir::Graph;

/// `[passes.load_node_meta_param]`: see [`Pass::DOC`].
pub struct LoadNodeMetaParam(GivenPath);

impl Pass for LoadNodeMetaParam {
    const NAME: &'static str = "load_node_meta_param";
    const ABOUT: &'static str = "gives nodes the formats and statistics of a TOML file";
    const DOC: &'static str = "\
What it does: reads what save_node_meta_param wrote: ports get the formats of the file, nodes its statistics. Shapes are not
taken: they follow from the graph.

Example:
  [passes.load_node_meta_param]
  load_path = \"meta.toml\"

Config: load_path. Reads: the file. Writes: formats and statistics. Limits: every node of the file must be in the graph.";

    fn read(reader: &mut Reader) -> Self {
        Self(GivenPath::read(
            reader,
            &["load_path", "path"],
            "name the file to read",
        ))
    }

    fn run(&self, graph: &mut Graph, context: &mut Context) -> Result<PassReport, PassError> {
        let Self(given) = self;
        let path = &given.path;
        let bytes = given.read_file(context, path)?;
        let text = String::from_utf8(bytes)
            .map_err(|_| PassError::Refused(format!("{} is not UTF-8 text", path.display())))?;
        let nodes = meta_toml::read(graph, &text)?;
        Ok(PassReport::text(format!(
            "{}: formats and statistics of {nodes} nodes",
            path.display()
        )))
    }
}
