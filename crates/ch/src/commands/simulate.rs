//! `ch simulate DIR`: emitted hardware against the answers of the integer executor.

use crate::hardware::{self, SimulateOptions, Simulator, Workbench, checked};
use crate::output::{Output, OutputArgs, json_text};
use anyhow::{Result, bail};
use hw::simulate::{Icarus, Outcome, icarus, verilator};
use hw::synth::gates;
use hw::tools::{ICARUS, VERILATOR};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Arguments of `ch simulate`.
#[derive(clap::Args)]
pub struct Args {
    /// The folder of `ch emit`
    #[arg(value_name = "DIR")]
    dir: PathBuf,
    #[command(flatten)]
    options: SimulateOptions,
    /// Write the waveform
    #[arg(long, value_name = "FILE")]
    vcd: Option<PathBuf>,
    #[command(flatten)]
    output: OutputArgs,
}

/// Rows of a run by Icarus, and of gates, that nobody has limited.
const ROWS: usize = 500;
const GATE_ROWS: usize = 100;

/// Simulates; a row that differs fails the check.
pub fn run(args: &Args) -> Result<Output> {
    simulate(&args.dir, &args.options, args.vcd.as_deref(), args.output)
}

/// Simulates a folder.
pub fn simulate(
    dir: &Path,
    options: &SimulateOptions,
    vcd: Option<&Path>,
    output: OutputArgs,
) -> Result<Output> {
    if options.with == Simulator::Verilator {
        if options.gates {
            bail!("gates are simulated by Icarus alone; leave --with verilator out");
        }
        if vcd.is_some() {
            bail!("the waveform is written by Icarus alone; leave --with verilator out");
        }
    }
    hardware::run(dir, output, |bench| {
        let available = bench.emitted.vectors(None)?.0.len();
        let start = Instant::now();
        let (tool, on, outcome) = match options.with {
            Simulator::Verilator => {
                let tool = bench.identify(&VERILATOR)?.label();
                bench
                    .console
                    .print(&format!("{tool} builds a program of the network"));
                let outcome = verilator(&bench.emitted, &bench.tools, options.rows)?;
                (tool, "verilator", outcome)
            }
            Simulator::Icarus => with_icarus(options, vcd, bench)?,
        };
        let seconds = start.elapsed().as_secs_f64();
        let passed = outcome.differing == 0;
        let kind = if options.gates { "gates" } else { "simulate" };
        let mut facts = serde_json::to_value(&outcome)?;
        facts["available_rows"] = json!(available);
        bench.record_rung((kind, on), &tool, passed, facts);
        if output.json {
            let Outcome {
                rows,
                differing,
                first,
            } = outcome;
            let json = json!({
                "folder": dir, "tool": tool, "gates": options.gates, "rows": rows, "available_rows": available,
                "differing": differing, "first": first, "seconds": seconds,
            });
            return Ok(checked(json_text(&json)?, passed));
        }
        Ok(checked(sentence(&tool, &outcome, available as u64), passed))
    })
}

fn with_icarus(
    options: &SimulateOptions,
    vcd: Option<&Path>,
    bench: &mut Workbench,
) -> Result<(String, &'static str, Outcome)> {
    let tool = bench.identify(&ICARUS)?.label();
    let rows = if options.gates { GATE_ROWS } else { ROWS };
    let choices = Icarus {
        rows: Some(options.rows.unwrap_or(rows)),
        vcd: vcd.map(Path::to_owned),
        first_rows: !options.gates,
        ..Icarus::default()
    };
    if !options.gates {
        let outcome = icarus(&bench.emitted, &bench.tools, &choices)?;
        return Ok((tool, "icarus", outcome));
    }
    let target = bench.target(options.target);
    bench
        .console
        .print(&format!("synthesis for {}", target.name));
    let (outcome, yosys) = gates(&bench.emitted, &bench.tools, target, &choices)?;
    let tool = format!("{tool}, gates of {} by {yosys}", target.name);
    Ok((tool, target.name, outcome))
}

fn sentence(what: &str, outcome: &Outcome, available: u64) -> String {
    let Outcome {
        rows,
        differing,
        first,
    } = outcome;
    match first {
        Some(first) => format!("{what}: {differing} of {rows} rows differ; {first}\n"),
        None if *rows < available => {
            format!("{what}: {rows} of {available} rows were run, all right; --rows runs more\n")
        }
        None => format!("{what}: all {rows} rows are right\n"),
    }
}
