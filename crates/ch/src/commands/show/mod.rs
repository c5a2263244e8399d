//! `ch show MODEL`: the graph as text, then shapes, parameters and costs of every node.

use crate::checkpoints;
use crate::command_line::whole;
use crate::missing;
use crate::output::folder::write_file;
use crate::output::{Console, Level, Output, OutputArgs, json_text};
use crate::source::{BatchArgs, load, take_notes, verify};
use anyhow::{Context, bail};
use ir::{Graph, NodeId, Verified};
use models::ModelInfo;
use passes::cost::{self, NodeCost};
use report::Column;
use std::path::{Path, PathBuf};

mod belonging;
mod json;
mod text;

use belonging::Belonging;

/// Arguments of `ch show`.
#[derive(clap::Args)]
pub struct Args {
    /// A model of `ch list models`, a graph from a file (`.mg`, `.mz`, `.onnx`, `.pt2`), a checkpoint, whose network is
    /// found, or the netlist of emitted hardware (its folder, or `net.json`)
    #[arg(value_name = "MODEL|FILE")]
    model: String,
    /// Rows in a batch, for shapes and costs
    #[arg(long, default_value_t = 8, value_parser = whole::<u32>(1, Some(u64::from(u32::MAX))))]
    batch_size: u32,
    #[command(flatten)]
    batch: BatchArgs,
    /// Also list the starting values of all parameters for this seed
    #[arg(long)]
    seed: Option<u64>,
    /// Write a drawing of the graph
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Starting values are listed for looking at; this many take 1 GiB.
const MAX_PARAMETERS: usize = 1 << 28;

/// The table of nodes; the last column is there when a port has a format.
#[rustfmt::skip]
pub const COLUMNS: &[Column] = &[
    Column::words("Node name", "the unique name of a node"),
    Column::words("Fx Node op", "what the node is to torch.fx: `ch list opcodes`"),
    Column::words("Mase type", "how MASE classes the node: `ch list types`"),
    Column::words("Mase op", "what the node computes: `ch list ops`"),
    Column::words("Output shape", "the axes of what the node makes, for the batch size"),
    Column::numbers("Parameters", "trained numbers that belong to the node"),
    Column::numbers("FLOPs", "floating-point operations, one per multiply-accumulate; 0 where the data input has a format"),
    Column::numbers("BitOPs", "operations C times bits: C·(b_in·b_w + max(b_bias, b_in)) in products, C·b_in² in batch norms, else C·b_in"),
    Column::words("Formats", "the number formats of the node's ports; ports without one are float32"),
];

/// The table of starting values.
pub const PARAMETER_COLUMNS: &[Column] = &[
    Column::words(
        "Parameter",
        "the dotted name of a parameter or buffer, as PyTorch has it",
    ),
    Column::words("Shape", "the axes of a parameter"),
    Column::numbers("Smallest", "the smallest element"),
    Column::numbers("Largest", "the largest element"),
    Column::numbers("First", "the first element"),
];

/// The graph, its nodes and its totals.
pub fn run(args: &Args) -> anyhow::Result<Output> {
    let path = Path::new(&args.model);
    if path.extension() == Some("json".as_ref()) {
        return netlist(path, args.json);
    }
    if path.join("rtl/net.sv").is_file() {
        return netlist(&path.join("net.json"), args.json);
    }
    let (mut graph, belonging) = if checkpoints::is_weights(&args.model) {
        let owner = checkpoints::owner(Path::new(&args.model))?;
        let belonging = Belonging::of(&args.model, &owner);
        (owner.graph, Some(belonging))
    } else {
        let graph = load(&args.model, &ModelInfo::default(), args.batch.batch_axis)?;
        let mut console = Console::new(OutputArgs::default(), Level::Info);
        for note in take_notes() {
            console.note(&note);
        }
        (graph, None)
    };
    if let Some(seed) = args.seed {
        initialize(&args.model, &mut graph, seed)?;
    }
    let verified = verify(&args.model, &graph)?;
    let batch = args.batch_size as usize;
    if let Some(path) = &args.svg {
        return draw(&args.model, &graph, path);
    }
    let rows = checked_rows(&args.model, &verified, batch)?;
    let text = if args.json {
        let mut network = json::print(&verified, batch, &rows);
        if let Some(belonging) = &belonging {
            network["checkpoint"] = belonging.to_json();
        }
        json_text(&network)?
    } else {
        let head = belonging.map_or_else(String::new, |belonging| format!("{belonging}\n\n"));
        head + &text::print(&verified, &rows)
    };
    Ok(text.into())
}

/// A netlist as text, or as it is.
fn netlist(path: &Path, json: bool) -> anyhow::Result<Output> {
    missing::check(path)?;
    let text = hw::folder::read(path)?;
    let net = hw::net::Net::from_json(&text, None);
    let net = net.with_context(|| format!("{} is no netlist of `ch emit`", path.display()))?;
    Ok(if json { text } else { net.to_text() }.into())
}

/// The text that the command prints of a graph.
pub fn describe(name: &str, graph: &Graph, batch: usize) -> anyhow::Result<String> {
    let verified = verify(name, graph)?;
    let rows = checked_rows(name, &verified, batch)?;
    Ok(text::print(&verified, &rows))
}

fn checked_rows(name: &str, verified: &Verified, batch: usize) -> anyhow::Result<Vec<Row>> {
    match rows(verified, batch) {
        Some(rows) => Ok(rows),
        None => bail!("{name}: a batch of {batch} is larger than memory could hold"),
    }
}

/// Writes a drawing of the graph and says so.
fn draw(name: &str, graph: &Graph, path: &Path) -> anyhow::Result<Output> {
    let drawn = passes::page::drawing_of(name, graph)?;
    let svg = report::page::svg(&drawn, false);
    let mut console = Console::new(OutputArgs::default(), Level::Info);
    write_file(path, svg.as_bytes(), &mut console)?;
    Ok(format!("{}, {} kB\n", path.display(), svg.len().div_ceil(1000)).into())
}

/// Parameters are made only when the graph is sound and they fit into memory with certainty.
fn initialize(model: &str, graph: &mut Graph, seed: u64) -> anyhow::Result<()> {
    verify(model, graph)?;
    let n = graph.trained_parameter_count();
    if n > MAX_PARAMETERS {
        bail!("{model}: has {n} parameters; starting values are made for up to {MAX_PARAMETERS}");
    }
    graph.initialize(seed);
    Ok(())
}

/// The shapes and costs of one node.
struct Row {
    id: NodeId,
    shapes: Vec<Vec<usize>>,
    cost: NodeCost,
}

fn rows(verified: &Verified, batch: usize) -> Option<Vec<Row>> {
    let row = |id| {
        let shapes = cost::shapes(verified, id, batch)?;
        let cost = cost::node_cost(verified, id, batch)?;
        Some(Row { id, shapes, cost })
    };
    verified.graph().iter().map(|(id, _)| row(id)).collect()
}

/// Totals are sums of what the rows show, so that the table adds up.
fn total(rows: &[Row]) -> NodeCost {
    let mut total = NodeCost::default();
    for row in rows {
        total += row.cost;
    }
    total
}
