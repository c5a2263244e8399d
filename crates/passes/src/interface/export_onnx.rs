//! A graph as an ONNX network for other programs.

use super::required_path;
use crate::{Context, Pass, PassError, PassReport};
use config::{Reader, Value};
use exchange::onnx::{ExportOptions, OPSETS, Style, export};
use ir::Graph;
use std::path::PathBuf;

/// `[passes.export_onnx]`: see [`Pass::DOC`].
pub struct ExportOnnx {
    path: PathBuf,
    options: ExportOptions,
}

impl Pass for ExportOnnx {
    const NAME: &'static str = "export_onnx";
    const ABOUT: &'static str = "writes the graph as an ONNX network, plain, QDQ or QONNX";
    const DOC: &'static str = "\
What it does: writes the graph with its weights as ONNX, as `ch export` does.

Example:
  [passes.export_onnx]
  out = \"network.onnx\"
  to = \"qdq\"

Config: out, the file, relative to the run's folder of passes (software/transform); to = onnx (rounded weights, no formats on
values), qdq or qonnx; opset = 21; batch = \"free\", or the rows of a batch; float_weights, drop_formats and
no_source = false. Reads: the graph. Writes: the file. Limits: the file appears when all passes are done; docs/onnx.md says what
is refused.";

    fn read(reader: &mut Reader) -> Self {
        let path = required_path(reader, &["out"], "name the .onnx file to write");
        let mut options = ExportOptions::default();
        options.style = reader.choice("to", &Style::WORDS).unwrap_or(options.style);
        options.opset = reader.whole("opset", OPSETS).unwrap_or(options.opset);
        options.batch = match reader.peek("batch") {
            Some(Value::Text(word)) if word == "free" => reader.text("batch").and(None),
            _ => reader.count("batch"),
        };
        options.float_weights = reader.flag("float_weights").unwrap_or(false);
        options.drop_formats = reader.flag("drop_formats").unwrap_or(false);
        options.with_source = !reader.flag("no_source").unwrap_or(false);
        Self { path, options }
    }

    fn run(&self, graph: &mut Graph, context: &mut Context) -> Result<PassReport, PassError> {
        let proto = export(graph, &self.options);
        let proto = proto.map_err(|problem| PassError::Refused(problem.to_string()))?;
        let bytes = interop::onnx::encode(&proto);
        let report = PassReport::text(format!("{}: {} bytes", self.path.display(), bytes.len()));
        context.write(self.path.clone(), bytes);
        Ok(report)
    }
}
