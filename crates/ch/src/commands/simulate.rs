//! `ch simulate DIR`: emitted hardware against the answers of the integer executor.

use crate::command_line::whole;
use crate::hardware::{self, Workbench, checked};
use crate::output::{Output, OutputArgs, json_text};
use anyhow::{Result, bail};
use hw::simulate::{Icarus, Outcome, icarus, verilator};
use hw::synth::gates;
use hw::tools::{ICARUS, VERILATOR};
use serde_json::json;
use std::path::PathBuf;
use std::time::Instant;

/// Arguments of `ch simulate`.
#[derive(clap::Args)]
pub struct Args {
    /// The folder of `ch emit`
    #[arg(value_name = "DIR")]
    dir: PathBuf,
    /// The simulator; Verilator builds a program first and then runs all rows at once
    #[arg(long, value_enum, default_value_t = Simulator::Icarus)]
    with: Simulator,
    /// Rows to run, at most; if not given, all with Verilator, 500 with Icarus, 100 of gates
    #[arg(long, value_name = "N", value_parser = whole::<usize>(1, None))]
    rows: Option<usize>,
    /// Simulate the netlist after synthesis, with yosys' models of its cells
    #[arg(long)]
    gates: bool,
    /// The target of --gates; if not given, that of `ch emit`
    #[arg(long, value_name = "T", requires = "gates")]
    target: Option<String>,
    /// Write the waveform
    #[arg(long, value_name = "FILE")]
    vcd: Option<PathBuf>,
    #[command(flatten)]
    output: OutputArgs,
}

/// A simulator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Simulator {
    Icarus,
    Verilator,
}

/// Rows of a run by Icarus, and of gates, that nobody has limited.
const ROWS: usize = 500;
const GATE_ROWS: usize = 100;

/// Simulates; a row that differs fails the check.
pub fn run(args: &Args) -> Result<Output> {
    if args.with == Simulator::Verilator {
        if args.gates {
            bail!("gates are simulated by Icarus alone; leave --with verilator out");
        }
        if args.vcd.is_some() {
            bail!("the waveform is written by Icarus alone; leave --with verilator out");
        }
    }
    hardware::run(&args.dir, args.output, |bench| simulate(args, bench))
}

fn simulate(args: &Args, bench: &mut Workbench) -> Result<Output> {
    let available = bench.emitted.vectors(None)?.0.len();
    let start = Instant::now();
    let (what, outcome) = match args.with {
        Simulator::Verilator => {
            let tool = bench.identify(&VERILATOR)?.label();
            bench
                .console
                .print(&format!("{tool} builds a program of the network"));
            (tool, verilator(&bench.emitted, &bench.tools, args.rows)?)
        }
        Simulator::Icarus => with_icarus(args, bench)?,
    };
    let seconds = start.elapsed().as_secs_f64();
    let passed = outcome.differing == 0;
    if args.output.json {
        let Outcome {
            rows,
            differing,
            first,
        } = outcome;
        let json = json!({
            "folder": args.dir, "tool": what, "gates": args.gates, "rows": rows, "available_rows": available,
            "differing": differing, "first": first, "seconds": seconds,
        });
        return Ok(checked(json_text(&json)?, passed));
    }
    Ok(checked(sentence(&what, &outcome, available as u64), passed))
}

fn with_icarus(args: &Args, bench: &mut Workbench) -> Result<(String, Outcome)> {
    let tool = bench.identify(&ICARUS)?.label();
    let rows = if args.gates { GATE_ROWS } else { ROWS };
    let choices = Icarus {
        rows: Some(args.rows.unwrap_or(rows)),
        vcd: args.vcd.clone(),
        ..Icarus::default()
    };
    if !args.gates {
        return Ok((tool, icarus(&bench.emitted, &bench.tools, &choices)?));
    }
    let target = bench.target(args.target.as_deref())?;
    bench
        .console
        .print(&format!("synthesis for {}", target.name));
    let outcome = gates(&bench.emitted, &bench.tools, target, &choices)?;
    Ok((format!("{tool}, gates of {}", target.name), outcome))
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
