//! Shapes and formats of every port.

use crate::{Context, Pass, PassError, PassReport};
use config::Reader;
use ir::{Graph, verify};

/// `[passes.init_metadata]`: see [`Pass::DOC`].
pub struct InitMetadata;

impl Pass for InitMetadata {
    const NAME: &'static str = "init_metadata";
    const ABOUT: &'static str = "makes sure that every port has a shape and a type";
    const DOC: &'static str = "\
What it does: infers shape, type and format of every port from the inputs' description. Metadata is always there: it is
derived from the graph when it is asked for, so this pass only says how much of it there is.

Differs from MASE: no row of data is run, and neither weights nor running statistics change.

Example:
  [passes.init_metadata]

Config: none; keys of old files (pass_args) are accepted. Reads: the graph. Writes: nothing. Limits: none.";

    fn read(reader: &mut Reader) -> Self {
        reader.ignore(&["pass_args", "dummy_in", "add_value", "force_device_meta"]);
        Self
    }

    fn run(&self, graph: &mut Graph, context: &mut Context) -> Result<PassReport, PassError> {
        let verified = verify(graph)?;
        let ports: usize = graph
            .iter()
            .map(|(id, _)| {
                let common = ir::common(&verified, id, context.batch_size);
                common.args.0.len() + common.results.0.len()
            })
            .sum();
        let nodes = graph.nodes().len();
        Ok(
            PassReport::text(format!("{nodes} nodes, {ports} ports with shape and type"))
                .with_fact("nodes", nodes)
                .with_fact("ports", ports),
        )
    }
}
