//! `ch emit`: a network in fixed point as hardware.

use crate::hardware::{EmitOptions, Results};
use crate::interrupt::stop_flag;
use crate::output::{Console, Output, OutputArgs, json_text};
use crate::pipeline;
use crate::rows;
use crate::settings::{Action, Config, SettingArgs, Settings, hide_unused};
use anyhow::{Context, Result, bail};
use data::{Dataset, Split};
use engine::IntegerPlan;
use engine::integer::Program;
use hw::elements::input_codes;
use hw::emit::{Emission, Rows, check_place};
use hw::estimate::{Estimate, estimate, rough_luts};
use hw::report::Record;
use hw::vectors::Vectors;
use ir::ops::argmax::Argmax;
use ir::{Graph, Node, NodeId, Op, Verified};
use passes::{Pass, transform::QuantizeRest};
use serde_json::{Value as Json, json};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// Arguments of `ch emit`.
#[derive(clap::Args)]
#[command(mut_args = hide_unused(Action::Emit))]
pub struct Args {
    #[command(flatten)]
    settings: SettingArgs,
    /// Folder for the hardware
    #[arg(long, value_name = "DIR", help_heading = "Hardware")]
    out: PathBuf,
    #[command(flatten)]
    options: EmitOptions,
    /// Replace a folder that holds other files
    #[arg(long, help_heading = "Hardware")]
    force: bool,
    #[command(flatten)]
    output: OutputArgs,
}

/// Emits.
pub fn run(args: &Args) -> Result<Output> {
    let mut config = Config::resolve(&args.settings, Action::Emit)?;
    let of_file = config.hardware.emit.take().unwrap_or_default();
    let options = args.options.over(of_file);
    let settings = &config.settings;
    let mut console = pipeline::begin(&config, args.output)?;
    if pipeline::starts_fresh(settings) {
        console.note("no --load given: this is hardware of starting weights");
    }
    if settings.dataset.is_none() {
        bail!("no dataset given; the netlist is compared with the integer executor on its rows");
    }
    let (data, split) = rows::open_part(settings, options.split, &mut console)?;
    let graph = pipeline::open_graph(settings, Some(&data.info), &mut console)?;
    let emit = Emit {
        settings,
        options: &options,
        out: &args.out,
        force: args.force,
    };
    let figures = emit.make(graph, &data, &split, &mut console)?;
    let text = if args.output.json {
        json_text(&figures)?
    } else {
        emit.text()?
    };
    Ok(text.into())
}

/// A network that is to become a folder of hardware.
pub struct Emit<'a> {
    /// The settings.
    pub settings: &'a Settings,
    /// The choices.
    pub options: &'a EmitOptions,
    /// The folder.
    pub out: &'a Path,
    /// True when a folder with other files may be replaced.
    pub force: bool,
}

impl Emit<'_> {
    /// Makes the folder, compared with the integer executor on rows; its figures.
    pub fn make(
        &self,
        mut graph: Graph,
        data: &Dataset,
        split: &Split,
        console: &mut Console,
    ) -> Result<Json> {
        let options = self.options;
        let target = options.target();
        let style = options.style()?;
        check_place(self.out, self.force)?;
        check_norms(&ir::verify(&graph)?, console)?;
        if let Some(width) = options.quantize_rest {
            quantize_rest(&mut graph, width, console)?;
        }
        if options.output == Some(Results::Argmax) {
            append_argmax(&mut graph)?;
        }
        let verified = ir::verify(&graph)?;
        data.check_inputs(&verified)?;
        let split = options.rows.map_or(split.clone(), |rows| split.head(rows));
        if split.is_empty() {
            bail!("there are no rows to compare on");
        }
        let state = engine::State::new(&verified)?;
        let program =
            Program::of(&verified, &state, 1).context("the network cannot become hardware")?;
        console.print(&format!(
            "integer program: {} steps, every range proven",
            program.steps.len()
        ));
        self.first_estimate(&program)?;
        let emission = Emission::of(&program, style, options.effort(self.settings.seed))
            .context("the network cannot become hardware")?;
        describe(&emission, console);
        self.estimate(&emission, console)?;
        let rows = compared(&verified, &program, &emission, &split)?;
        console.print(&format!(
            "interpreter = integer executor: {0} of {0} rows",
            rows.x.len()
        ));
        let preparation = rows::preparation(self.settings)?;
        let network = passes::interface::graph_file(&graph, &preparation)?;
        let mut figures = emission.figures(target.name);
        figures["network"] = json!(graph.name);
        figures["program"] = json!(concat!("mase ", env!("CARGO_PKG_VERSION")));
        let mut record = Record::of(figures);
        // Ctrl-C no longer ends the program before all is in its place.
        let _stop = stop_flag()?;
        emission.write(self.out, &mut record, &network, &rows, self.force)?;
        let mut figures = record.facts().clone();
        figures["rows"] = json!(rows.x.len());
        figures["out"] = json!(self.out);
        Ok(figures)
    }

    /// The sentence on the module.
    pub fn text(&self) -> Result<String> {
        let file = self.out.join("rtl/net.sv");
        let lines = std::fs::read_to_string(&file)?.lines().count();
        Ok(format!("{} ({lines} lines)\n", file.display()))
    }

    /// Refuses a network whose netlist is far too large to be solved.
    fn first_estimate(&self, program: &Program) -> Result<()> {
        let max_luts = self.max_luts();
        let most = max_luts.saturating_mul(COUNTED);
        let lut = rough_luts(program, most);
        if lut > max_luts {
            let or_more = if lut == most { "more than" } else { "at least" };
            bail!(
                "the network needs {or_more} {lut} LUT by a first estimate, and --max-luts is {max_luts}; {SMALLER}"
            );
        }
        Ok(())
    }

    fn max_luts(&self) -> u64 {
        self.options.max_luts.unwrap_or(MAX_LUTS)
    }

    /// Prints the estimate, and refuses a netlist that is too large.
    fn estimate(&self, emission: &Emission, console: &mut Console) -> Result<()> {
        let target = self.options.target();
        if let Some(Estimate { lut, error, .. }) = estimate(&emission.net, target.name) {
            let name = target.name;
            console.print(&format!("estimate for {name}: {lut} ± {error} LUT, 0 DSP"));
            let max_luts = self.max_luts();
            if lut > max_luts {
                bail!(
                    "the netlist is estimated at {lut} LUT, more than --max-luts {max_luts}; {SMALLER}"
                );
            }
        }
        Ok(())
    }
}

/// The largest netlist that is not refused, unless the user says otherwise.
const MAX_LUTS: u64 = 200_000;

/// A first estimate counts to so many times the largest netlist.
const COUNTED: u64 = 50;

/// The way out of a netlist that is too large.
const SMALLER: &str = "fewer bits, fewer weights (prune) or --output argmax make it smaller";

/// Gives a format to every port that integers would refuse for want of one.
fn quantize_rest(graph: &mut Graph, width: u32, console: &mut Console) -> Result<()> {
    let pass = QuantizeRest {
        width,
        frac_width: (width / 2) as i32,
    };
    let mut context = passes::Context::new(graph, None);
    let report = pass.run(graph, &mut context)?;
    console.print(report.to_text().trim_end());
    Ok(())
}

/// Refuses a batch norm that its layer, which has formats, would have taken in without them. Others behind layers are named.
fn check_norms(verified: &Verified, console: &mut Console) -> Result<()> {
    let graph = verified.graph();
    let is_layer = |node: &Node| matches!(node.op, Op::Linear(_) | Op::Conv1d(_) | Op::Conv2d(_));
    let mut behind = HashSet::new();
    for (id, node) in graph.iter() {
        let is_behind = node.inputs.iter().any(|value| behind.contains(&value.node));
        if is_layer(node) || is_behind {
            behind.insert(id);
        }
        if !is_behind || !matches!(node.op, Op::BatchNorm1d(_) | Op::BatchNorm2d(_)) {
            continue;
        }
        let input = node.inputs[0];
        let layer = graph.node(input.node);
        let folds =
            is_layer(layer) && graph.users(input).len() == 1 && ir::makes_channels(verified, input);
        if folds && !layer.formats.is_empty() {
            bail!(
                "the network cannot become hardware: {0} ({1}): data_in_0 is the result of {2} ({3}), which has formats already; run the \
                 pass fuse_batch_norm before formats are given: it folds {0} into {2}",
                node.name,
                node.op.name(),
                layer.name,
                layer.op.name()
            );
        }
        let way_out = if folds {
            "; the pass fuse_batch_norm folds it into the layer"
        } else {
            ", because the layer cannot take it in"
        };
        console.note(&format!(
            "{} is a batch norm behind a layer and costs adders of its own{way_out}",
            node.name
        ));
    }
    Ok(())
}

/// The place of the largest element in place of the result.
fn append_argmax(graph: &mut Graph) -> Result<()> {
    let outputs = graph
        .iter()
        .find(|(_, node)| matches!(node.op, Op::Output(_)));
    let (at, value) = match outputs {
        Some((at, node)) if node.inputs.len() == 1 => (at, node.inputs[0]),
        _ => bail!("--output argmax is for networks with one result"),
    };
    let name = graph.fresh_name("argmax");
    let node = Node::new(&name, "", Argmax::default(), &[value]);
    let argmax = graph.insert(at, node);
    graph.node_mut(NodeId(argmax.0 + 1)).inputs = vec![argmax.into()];
    Ok(())
}

fn describe(emission: &Emission, console: &mut Console) {
    let (adders, bits) = emission.net.adders();
    let removed = match emission.removed {
        0 => String::new(),
        1 => "; 1 neuron removed that is constant or not read".to_owned(),
        n => format!("; {n} neurons removed that are constant or not read"),
    };
    console.print(&format!(
        "netlist: {adders} adders of {bits} bits, {} levels{removed}",
        emission.levels
    ));
    match emission.net.latency {
        0 => console.print("combinational: no registers"),
        cycles => {
            let flip_flops = emission.net.register_bits();
            console.print(&format!(
                "pipeline: {cycles} cycles, {flip_flops} flip-flops, a result every cycle"
            ));
        }
    }
}

/// Rows at a time.
const ROWS: usize = 256;

/// The codes of all rows and of their results, which the netlist and the integer executor agree on.
fn compared(
    verified: &Verified,
    program: &Program,
    emission: &Emission,
    split: &Split,
) -> Result<Rows> {
    let state = engine::State::new(verified)?;
    let (mut x, mut y) = (Vec::new(), Vec::new());
    for indices in split.indices().chunks(ROWS) {
        let inputs = engine::gather(split.elements(), indices);
        let mut plan = IntegerPlan::compile(verified, &state, indices.len())?;
        plan.run(&inputs)?;
        let first = x.len() / emission.ports.inputs.len();
        for row in 0..indices.len() {
            let floats: Vec<Vec<f32>> = program
                .inputs
                .iter()
                .zip(&inputs)
                .map(|(own, input)| {
                    let width: usize = own.shape.iter().product();
                    let mut floats = vec![0.0; width];
                    input.copy_to(row, width, &mut floats);
                    floats
                })
                .collect();
            let views: Vec<&[f32]> = floats.iter().map(Vec::as_slice).collect();
            x.extend(input_codes(program, &views));
        }
        let results: Vec<Vec<i64>> = (0..program.outputs.len())
            .map(|k| plan.output_codes(k).0)
            .collect();
        let mut expected = Vec::new();
        for row in 0..indices.len() {
            for (output, codes) in program.outputs.iter().zip(&results) {
                let width: usize = output.shape.iter().product();
                expected.extend_from_slice(&codes[row * width..(row + 1) * width]);
            }
        }
        let got = emission.evaluate(&x[first * emission.ports.inputs.len()..]);
        if let Some(at) = (0..expected.len()).find(|&at| got[at] != expected[at]) {
            let n = emission.ports.outputs.len();
            let (row, element) = (first + at / n, &emission.ports.outputs[at % n].name);
            bail!(
                "row {row}: {element} is {} in the netlist and {} in integers; please report this",
                got[at],
                expected[at]
            );
        }
        y.extend(expected);
    }
    let vectors = |n: usize, codes: Vec<i64>| Vectors::new(n, codes).map_err(anyhow::Error::msg);
    Ok(Rows {
        x: vectors(emission.ports.inputs.len(), x)?,
        y: vectors(emission.ports.outputs.len(), y)?,
    })
}
