//! The metadata of every node.

use crate::interface::{MetaFile, metadata_text, node_metadata};
use crate::{Context, Pass, PassError, PassReport};
use config::Reader;
use ir::Graph;
use report::Table;
use serde_json::Value as Json;
use std::path::PathBuf;

/// `[passes.report_node_meta_param]`: see [`Pass::DOC`].
pub struct ReportNodeMetaParam {
    which: Vec<&'static str>,
    save_path: Option<PathBuf>,
}

/// The parts of the metadata, with their headings.
const PARTS: [(&str, &str); 3] = [
    ("common", "Common Param"),
    ("hardware", "Hardware Param"),
    ("software", "Software Param"),
];

impl Pass for ReportNodeMetaParam {
    const NAME: &'static str = "report_node_meta_param";
    const ABOUT: &'static str = "metadata of every node: common, hardware, software";
    const DOC: &'static str = "\
What it does: shows for every node what is known of it: common (types, shapes and formats of its ports), software (the
statistics that profile_statistics found), hardware (what emission needs).

Example:
  [passes.report_node_meta_param]
  which = [\"software\"]
  save_path = \"meta.json\"

Config: which, some of all, common, hardware, software; save_path, write the metadata there: as JSON or
TOML if it ends so, else as the text below.
Reads: the graph and its statistics. Writes: the file. Limits: none.";

    fn read(reader: &mut Reader) -> Self {
        let mut which = Vec::new();
        for word in reader.words("which").unwrap_or_default() {
            match PARTS.iter().find(|(part, _)| *part == word.name) {
                Some((part, _)) => which.push(*part),
                None if word.name == "all" => which.extend(PARTS.map(|(part, _)| part)),
                None => reader.problem(
                    word.span,
                    format!(
                        "which: '{}' is not one of all, common, hardware, software",
                        word.name
                    ),
                ),
            }
        }
        if which.is_empty() {
            which.extend(PARTS.map(|(part, _)| part));
        }
        Self {
            which,
            save_path: reader.text("save_path").map(PathBuf::from),
        }
    }

    fn run(&self, graph: &mut Graph, context: &mut Context) -> Result<PassReport, PassError> {
        let parts = PARTS.iter().filter(|(part, _)| self.which.contains(part));
        let headings = ["Node name", "Fx Node op", "Mase type", "Mase op"];
        let mut table = Table::new(
            &headings
                .into_iter()
                .chain(parts.clone().map(|(_, heading)| *heading))
                .collect::<Vec<_>>(),
        );
        let mut nodes = node_metadata(graph, context.batch_size)?;
        for (_, node) in graph.iter() {
            let meta = &mut nodes[&node.name];
            let mut cells = vec![
                node.name.clone(),
                node.fx_op().name().to_owned(),
                node.mase_type().name().to_owned(),
                node.op.name().to_owned(),
            ];
            cells.extend(parts.clone().map(|(part, _)| meta[*part].to_string()));
            table.push(cells);
            let kept = parts.clone();
            let kept = kept.map(|(part, _)| ((*part).to_owned(), meta[*part].take()));
            *meta = Json::Object(kept.collect());
        }
        if let Some(path) = &self.save_path {
            let file = MetaFile::of(path, MetaFile::Text).write(graph, &nodes);
            context.write(path, file);
        }
        let report = PassReport::text(metadata_text(&nodes)).with_fact("metadata", nodes);
        context.write("report_node_meta_param.csv", table.to_csv());
        Ok(report)
    }
}
