//! The graph, how often each opcode occurs, and its layers as PyTorch prints them.

use crate::cost::overview;
use crate::{Context, Pass, PassError, PassReport};
use config::Reader;
use ir::{FxOp, Graph, torch_repr, verify};
use serde_json::{Map, Value as Json};
use std::path::PathBuf;

/// `[passes.report_graph]`: see [`Pass::DOC`].
pub struct ReportGraph(Option<PathBuf>);

impl Pass for ReportGraph {
    const NAME: &'static str = "report_graph";
    const ABOUT: &'static str = "prints the graph, its opcodes and its layers";
    const DOC: &'static str = "\
What it does: prints the graph in its text form; the number of nodes of every torch.fx opcode (placeholder: inputs;
get_attr: stored tensors; call_function, call_method, call_module: what is computed; output: results); and the layers as
PyTorch prints them.

Example:
  [passes.report_graph]
  file_name = \"report_graph.txt\"

Config: file_name, also write the report there. Reads: the graph. Writes: the file. Limits: none.";

    fn read(reader: &mut Reader) -> Self {
        Self(reader.text("file_name").map(PathBuf::from))
    }

    fn run(&self, graph: &mut Graph, context: &mut Context) -> Result<PassReport, PassError> {
        let Self(file_name) = self;
        let verified = verify(graph)?;
        let counts = overview(&verified);
        let listed: Vec<String> = counts
            .iter()
            .map(|(name, n)| format!("'{name}': {n}"))
            .collect();
        let layers: Vec<String> = graph
            .nodes()
            .iter()
            .filter(|node| node.fx_op() == FxOp::CallModule)
            .map(|node| torch_repr(&node.op))
            .collect();
        let text = format!(
            "{graph}Network overview:\n{{{}}}\nLayer types:\n[{}]\n",
            listed.join(", "),
            layers.join(", ")
        );
        if let Some(file) = file_name {
            context.write(file, text.clone());
        }
        let counts: Map<String, Json> = counts
            .into_iter()
            .map(|(name, count)| (name.to_owned(), count.into()))
            .collect();
        Ok(PassReport::text(text)
            .with_fact("overview", counts)
            .with_fact("layer_types", layers))
    }
}
