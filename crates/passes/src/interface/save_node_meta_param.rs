//! The metadata of all nodes in a file.

use super::{MetaFile, node_metadata, required_path};
use crate::{Context, Pass, PassError, PassReport};
use config::Reader;
use ir::Graph;
use std::path::PathBuf;

/// `[passes.save_node_meta_param]`: see [`Pass::DOC`].
pub struct SaveNodeMetaParam(PathBuf);

impl Pass for SaveNodeMetaParam {
    const NAME: &'static str = "save_node_meta_param";
    const ABOUT: &'static str = "writes the metadata of every node as TOML, JSON or text";
    const DOC: &'static str = "\
What it does: writes shapes, types, formats and statistics of every node's ports. A path that ends in .json gets JSON, one
that ends in .txt the text of report_node_meta_param, any other TOML, [NODE.common.args.PORT] and so on.

Example:
  [passes.save_node_meta_param]
  save_path = \"meta.toml\"

Config: save_path. Reads: the graph. Writes: the file. Limits: weights are not part of it; load_node_meta_param reads
TOML alone.";

    fn read(reader: &mut Reader) -> Self {
        Self(required_path(
            reader,
            &["save_path", "path"],
            "name the file to write",
        ))
    }

    fn run(&self, graph: &mut Graph, context: &mut Context) -> Result<PassReport, PassError> {
        let Self(save_path) = self;
        let nodes = node_metadata(graph, context.batch_size)?;
        let text = MetaFile::of(save_path, MetaFile::Toml).write(graph, &nodes);
        let report = PassReport::text(format!(
            "{}: metadata of {} nodes",
            save_path.display(),
            graph.nodes().len()
        ));
        context.write(save_path, text);
        Ok(report)
    }
}
