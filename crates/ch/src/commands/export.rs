//! `ch export MODEL --to STYLE --out FILE.onnx`: a network for other programs.

use crate::command_line::whole;
use crate::network::Opener;
use crate::output::folder::write_file;
use crate::output::{Console, Level, Output, OutputArgs, json_text};
use crate::source::BatchArgs;
use anyhow::{Context, Result, bail};
use exchange::onnx::{ExportOptions, OPSETS, Style, export};
use models::ModelInfo;
use serde_json::json;
use std::path::PathBuf;

/// Arguments of `ch export`.
#[derive(clap::Args)]
pub struct Args {
    /// The network: the folder of a run, a model, a graph (.mg, .mz, .onnx, .pt2) or a checkpoint
    #[arg(value_name = "MODEL")]
    model: String,
    /// A checkpoint with the weights
    #[arg(long, value_name = "FILE")]
    load: Option<String>,
    /// onnx: rounded weights and no formats; qdq: formats as pairs of nodes; qonnx: as QONNX's quantisers
    #[arg(long, value_name = "STYLE", default_value = "onnx", value_parser = style)]
    to: Style,
    /// The file to write
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// The version of ONNX's operators
    #[arg(long, value_name = "N", default_value_t = 21, value_parser = whole::<u32>(*OPSETS.start() as u64, Some(*OPSETS.end() as u64)))]
    opset: u32,
    /// Rows of a batch, or free
    #[arg(long, value_name = "N|free", default_value = "free")]
    batch: String,
    #[command(flatten)]
    axis: BatchArgs,
    /// Write weights as they are trained instead of as they are rounded
    #[arg(long)]
    float_weights: bool,
    /// Leave out formats that the style has no nodes for
    #[arg(long)]
    drop_formats: bool,
    /// Leave out the text of the graph, by which the file reads back as it was
    #[arg(long)]
    no_source: bool,
    /// Seed of starting weights
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    output: OutputArgs,
}

/// Writes the file.
pub fn run(args: &Args) -> Result<Output> {
    let batch = match args.batch.as_str() {
        "free" => None,
        rows => match rows.parse::<usize>() {
            Ok(rows @ 1..) => Some(rows),
            _ => bail!("--batch {rows} is neither free nor a number of rows"),
        },
    };
    let opener = Opener {
        model: args.load.as_ref().map(|_| args.model.as_str()),
        seed: args.seed,
        batch_axis: args.axis.batch_axis,
        output: args.output,
    };
    let name = args.load.as_ref().unwrap_or(&args.model);
    let graph = opener.open(name, &ModelInfo::default())?;
    let options = ExportOptions {
        style: args.to,
        opset: args.opset.into(),
        batch,
        float_weights: args.float_weights,
        drop_formats: args.drop_formats,
        with_source: !args.no_source,
    };
    let proto = export(&graph, &options).with_context(|| name.clone())?;
    let bytes = interop::onnx::encode(&proto);
    let mut console = Console::new(args.output, Level::Info);
    write_file(&args.out, &bytes, &mut console)?;
    let n_nodes = proto.graph.map_or(0, |graph| graph.node.len());
    let (path, n_bytes) = (args.out.display(), bytes.len());
    if args.output.json {
        let facts = json!({ "out": path.to_string(), "nodes": n_nodes, "bytes": n_bytes });
        return Ok(json_text(&facts)?.into());
    }
    Ok(format!("{path}: {n_nodes} nodes, {n_bytes} bytes\n").into())
}

fn style(word: &str) -> Result<Style, String> {
    let known = Style::WORDS.into_iter().find(|(own, _)| *own == word);
    known
        .map(|(_, style)| style)
        .ok_or_else(|| "choose onnx, qdq or qonnx".to_owned())
}
