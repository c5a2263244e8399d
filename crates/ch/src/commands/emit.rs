//! `ch emit`: a network in fixed point as hardware.

use crate::hardware::find_target;
use crate::output::{Console, Output, OutputArgs, json_text};
use crate::pipeline;
use crate::rows::{self, Part, SPLIT_HELP};
use crate::settings::{Action, Config, SettingArgs, hide_unused};
use anyhow::{Context, Result, bail};
use data::Split;
use engine::IntegerPlan;
use engine::integer::Program;
use hw::elements::input_codes;
use hw::emit::{Emission, Rows, Style};
use hw::estimate::{Estimate, estimate};
use hw::schedule::DEFAULT_LEVELS;
use hw::vectors::Vectors;
use ir::ops::argmax::Argmax;
use ir::{Graph, Node, NodeId, Op, Verified};
use passes::{Pass, transform::QuantizeRest};
use serde_json::json;
use std::path::PathBuf;

/// Arguments of `ch emit`.
#[derive(clap::Args)]
#[command(mut_args = hide_unused(Action::Use))]
pub struct Args {
    #[command(flatten)]
    settings: SettingArgs,
    /// Folder for the hardware
    #[arg(long, value_name = "DIR", help_heading = "Hardware")]
    out: PathBuf,
    /// Registers: a row every cycle, or none
    #[arg(long, value_enum, default_value_t = Layout::Pipelined, help_heading = "Hardware")]
    style: Layout,
    /// Levels of adders between registers, at most
    #[arg(long, value_name = "K", default_value_t = DEFAULT_LEVELS, value_parser = levels, help_heading = "Hardware")]
    levels: f32,
    /// The device that LUTs are estimated for; `ch list targets` names all
    #[arg(
        long,
        value_name = "T",
        default_value = "xcup",
        help_heading = "Hardware"
    )]
    target: String,
    /// Results: the codes, or the place of the largest of them
    #[arg(long = "output", value_enum, default_value_t = Results::Codes, help_heading = "Hardware")]
    results: Results,
    /// Give integers of so many bits to every port that needs a format and has none
    #[arg(long, value_name = "W", value_parser = crate::command_line::whole::<u32>(1, Some(63)), help_heading = "Hardware")]
    quantize_rest: Option<u32>,
    /// Refuse a netlist that is estimated to be larger
    #[arg(
        long,
        value_name = "N",
        default_value_t = 200_000,
        help_heading = "Hardware"
    )]
    max_luts: u64,
    #[arg(long, value_name = "WORD", help = SPLIT_HELP, help_heading = "Hardware")]
    split: Option<Part>,
    /// Rows that the netlist is compared on and that simulations get, at most; if not given, all
    #[arg(long, value_name = "N", value_parser = crate::command_line::whole::<usize>(1, None), help_heading = "Hardware")]
    rows: Option<usize>,
    /// Replace a folder that holds other files
    #[arg(long, help_heading = "Hardware")]
    force: bool,
    #[command(flatten)]
    output: OutputArgs,
}

/// Registers, as an option names them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Layout {
    Combinational,
    Pipelined,
}

/// Results, as an option names them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Results {
    Codes,
    Argmax,
}

fn levels(text: &str) -> Result<f32, String> {
    match text.parse() {
        Ok(levels) if (0.5..=1000.0).contains(&levels) => Ok(levels),
        _ => Err("a number from 0.5 to 1000 is expected".to_owned()),
    }
}

/// Emits.
pub fn run(args: &Args) -> Result<Output> {
    let config = Config::resolve(&args.settings, Action::Use)?;
    let settings = &config.settings;
    let mut console = pipeline::begin(&config, args.output)?;
    if pipeline::starts_fresh(settings) {
        console.note("no --load given: this is hardware of starting weights");
    }
    if settings.dataset.is_none() {
        bail!("no dataset given; the netlist is compared with the integer executor on its rows");
    }
    let (data, split) = rows::open_part(settings, args.split, &mut console)?;
    let target = find_target(&args.target)?;
    let mut graph = pipeline::open_graph(settings, Some(&data.info), &mut console)?;
    if let Some(width) = args.quantize_rest {
        quantize_rest(&mut graph, width, &mut console)?;
    }
    if args.results == Results::Argmax {
        append_argmax(&mut graph)?;
    }
    let verified = ir::verify(&graph)?;
    data.check_inputs(&verified)?;
    let split = args.rows.map_or(split.clone(), |rows| split.head(rows));
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
    let style = match args.style {
        Layout::Combinational => Style::Combinational,
        Layout::Pipelined => Style::Pipelined {
            levels: args.levels,
        },
    };
    let emission = Emission::of(&program, style)?;
    describe(&emission, &mut console);
    let estimate = estimate(&emission.net, target.name);
    if let Some(Estimate { lut, error, .. }) = estimate {
        console.print(&format!(
            "estimate for {}: {lut} ± {error} LUT, 0 DSP",
            target.name
        ));
        if lut > args.max_luts {
            bail!(
                "the netlist is estimated at {lut} LUT, more than --max-luts {}; fewer bits, fewer weights (prune) or \
                 --output argmax make it smaller",
                args.max_luts
            );
        }
    }
    let rows = compared(&verified, &program, &emission, &split)?;
    console.print(&format!(
        "interpreter = integer executor: {0} of {0} rows",
        rows.x.len()
    ));
    let preparation = rows::preparation(settings)?;
    let network = passes::interface::graph_file(&graph, &preparation)?;
    let mut figures = emission.figures();
    figures["target"] = json!(target.name);
    figures["estimate"] = json!(estimate);
    let emitted = emission.write(&args.out, &figures, &network, &rows, args.force)?;
    let text = if args.output.json {
        figures["rows"] = json!(rows.x.len());
        figures["out"] = json!(args.out);
        json_text(&figures)?
    } else {
        let lines = std::fs::read_to_string(emitted.net())?.lines().count();
        format!(
            "{} ({lines} lines)\n",
            args.out.join("rtl/net.sv").display()
        )
    };
    Ok(text.into())
}

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
