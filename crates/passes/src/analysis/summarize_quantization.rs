//! The changes by quantisation since the start of the run.

use super::summary;
use crate::{Context, Pass, PassError, PassReport};
use config::Reader;
use ir::Graph;
use std::path::PathBuf;

/// `[passes.summarize_quantization]`: see [`Pass::DOC`].
pub struct SummarizeQuantization(Option<PathBuf>);

impl Pass for SummarizeQuantization {
    const NAME: &'static str = "summarize_quantization";
    const ABOUT: &'static str = "every node before and after, whether it changed, and why not";
    const DOC: &'static str = "\
What it does: compares the graph with what it was before the first pass. A row for each node says its types before and
after, whether it changed and why it is as it is; a histogram counts the rows by type.

Example:
  [passes.summarize_quantization]
  save_dir = \"quantize\"

Config: save_dir, the folder of quantize_table.csv and quantize_histogram.csv; default quantize.
Reads: the graph, the graph at the start, the decisions of the last quantize. Writes: the two CSV files.
Limits: weights are not compared; `ch compare` does that.";

    fn read(reader: &mut Reader) -> Self {
        Self(reader.text("save_dir").map(PathBuf::from))
    }

    fn run(&self, graph: &mut Graph, context: &mut Context) -> Result<PassReport, PassError> {
        let Self(save_dir) = self;
        let original = context.original.clone();
        let folder = save_dir.clone().unwrap_or_else(|| "quantize".into());
        Ok(summary::append(
            PassReport::default(),
            &original,
            graph,
            context,
            folder,
        ))
    }
}
