//! `ch synth DIR`: the size of emitted hardware by layer, and with `--place` its clock.

use crate::hardware::{self, SynthOptions, Workbench, checked};
use crate::output::folder::write_file;
use crate::output::{Console, Level, Output, OutputArgs, Stream, fit, json_text};
use anyhow::Result;
use hw::boards::xdc;
use hw::estimate::{self, Calibration, NETWORKS};
use hw::synth::{Area, Clocks, Report, TARGETS, Target, clocks, report};
use report::{Column, Table};
use serde_json::json;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Arguments of `ch synth`.
#[derive(clap::Args)]
pub struct Args {
    /// The folder of `ch emit`
    #[arg(value_name = "DIR")]
    dir: PathBuf,
    #[command(flatten)]
    options: SynthOptions,
    /// Measure random networks instead, and write the costs that estimates use to DIR/calibration.json
    #[arg(long, conflicts_with = "place")]
    calibrate: bool,
    #[command(flatten)]
    output: OutputArgs,
}

/// The table of layers.
pub const COLUMNS: &[Column] = &[
    Column::words(
        "Layer",
        "a node of the graph; 'all' is the whole network, 'other' what no name leads to",
    ),
    Column::numbers(
        "LUT",
        "look-up tables; a carry cell of ECP5 counts as the two that it occupies",
    ),
    Column::numbers(
        "INV",
        "inverters outside of LUTs; place and route may need a LUT for each",
    ),
    Column::numbers("Carry", "carry cells"),
    Column::numbers("FF", "flip-flops"),
    Column::numbers("DSP", "multiplier blocks"),
    Column::numbers("RAM", "memories, and shift registers made of LUTs"),
];

/// The table of the longest path.
pub const PATH_COLUMNS: &[Column] = &[
    Column::words(
        "Signal",
        "a signal of rtl/net.sv on the longest path, from register to register",
    ),
    Column::words(
        "Layer",
        "a node of the graph; 'all' is the whole network, 'other' what no name leads to",
    ),
    Column::numbers(
        "Delay (ns)",
        "nanoseconds of the signal's wires and of the cells before them",
    ),
];

/// The clock in the constraints for Vivado, for those who have it.
const XDC_MHZ: f64 = 200.0;

/// Synthesises; a device that is too small fails the check.
pub fn run(args: &Args) -> Result<Output> {
    if args.calibrate {
        return calibrate(args);
    }
    synth(&args.dir, &args.options, args.output)
}

/// Synthesises a folder.
pub fn synth(dir: &Path, options: &SynthOptions, output: OutputArgs) -> Result<Output> {
    hardware::run(dir, output, |bench| measure(options, output, bench))
}

fn measure(options: &SynthOptions, output: OutputArgs, bench: &mut Workbench) -> Result<Output> {
    let target = bench.target(options.target);
    if options.place {
        bench.identify(target.placed()?.tool)?;
    }
    bench
        .console
        .print(&format!("synthesis for {}", target.name));
    let mut report = report(&bench.emitted, &bench.tools, target)?;
    let mut refusal = None;
    if options.place {
        refusal = place(options.seeds, bench, target, &mut report)?;
        record_place(bench, &report, refusal.as_deref());
    }
    if target.device.is_none() {
        bench.emitted.write("constraints/net.xdc", &xdc(XDC_MHZ))?;
    }
    let json = serde_json::to_value(&report)?;
    bench.record(|record| record.add_synthesis(json.clone()));
    if let Some(refusal) = refusal {
        return Ok(checked(refusal, false));
    }
    if output.json {
        return Ok(json_text(&json)?.into());
    }
    Ok(text(&report).into())
}

/// Adds clocks to the report, or returns the sentence on a device that is too small.
fn place(
    seeds: u64,
    bench: &mut Workbench,
    target: &'static Target,
    report: &mut Report,
) -> Result<Option<String>> {
    bench.console.print("place and route");
    let layers: Vec<String> = report
        .layers
        .iter()
        .map(|layer| layer.layer.clone())
        .collect();
    match clocks(&bench.emitted, &bench.tools, target, seeds, &layers)? {
        Ok(clocks) => {
            bench.emitted.write("floor.svg", &clocks.picture)?;
            report.placement = Some(clocks);
            Ok(None)
        }
        Err(usage) => Ok(Some(format!(
            "the network does not fit the device: it needs {} {} of {}; `ch emit --output argmax` or fewer bits would help\n",
            usage.used, usage.resource, usage.available
        ))),
    }
}

/// Adds the end of a placement to the reports of the folder.
fn record_place(bench: &mut Workbench, report: &Report, refusal: Option<&str>) {
    let Report {
        target,
        tool,
        placement,
        ..
    } = report;
    let (placer, facts) = match placement {
        Some(clocks) => {
            let (seeds, clock) = (clocks.seeds.len(), clocks.median_mhz);
            (
                clocks.tool.as_str(),
                json!({ "seeds": seeds, "median_mhz": clock }),
            )
        }
        None => ("", json!({ "reason": refusal.map(str::trim_end) })),
    };
    let tools = [tool.as_str(), placer].into_iter();
    let tools: Vec<&str> = tools.filter(|tool| !tool.is_empty()).collect();
    bench.record_rung(
        ("place", target),
        &tools.join(", "),
        refusal.is_none(),
        facts,
    );
}

/// Networks of this seed are measured.
const CALIBRATION_SEED: u64 = 1;

fn calibrate(args: &Args) -> Result<Output> {
    let targets: Vec<&'static Target> = match args.options.target {
        Some(target) => vec![target],
        None => TARGETS.iter().collect(),
    };
    hardware::with_tools(|tools| {
        let mut console = Console::new(args.output, Level::Info);
        let mut lines = Vec::new();
        for target in targets {
            let name = target.name;
            lines.push(estimate::calibrate(
                tools,
                target,
                (CALIBRATION_SEED, NETWORKS),
                |index, luts| {
                    console.print(&format!(
                        "{name}: network {} of {NETWORKS}, {luts} LUT",
                        index + 1
                    ));
                },
            )?);
        }
        let json = serde_json::to_value(Calibration { targets: lines })?;
        write_file(
            &args.dir.join("calibration.json"),
            json_text(&json)?.as_bytes(),
            &mut console,
        )?;
        Ok(json_text(&json)?.into())
    })
}

fn text(report: &Report) -> String {
    let mut table = Table::with_columns(COLUMNS);
    for layer in &report.layers {
        let name = if layer.layer.is_empty() {
            "other"
        } else {
            &layer.layer
        };
        table.push(row(name, &layer.area));
    }
    table.push(row("all", &report.area));
    let mut text = format!(
        "{} for {}, {:.1} s\n",
        report.tool, report.target, report.seconds
    );
    text += &fit::table(&table, Stream::Out, "--json");
    let other: u64 = report.area.other.iter().map(|other| other.count).sum();
    if other > 0 {
        let _ = writeln!(text, "cells of other kinds: {other}; --json names them");
    }
    let _ = writeln!(text, "with a LUT for each INV: {} LUT", report.lut_with_inv);
    report
        .placement
        .iter()
        .fold(text, |text, clocks| text + &clocks_text(clocks))
}

fn clocks_text(clocks: &Clocks) -> String {
    let Clocks {
        tool,
        min_mhz,
        median_mhz,
        max_mhz,
        seeds,
        ..
    } = clocks;
    let mut text = format!(
        "{tool}, {} seeds: {min_mhz:.1} MHz min, {median_mhz:.1} median, {max_mhz:.1} max\n",
        seeds.len()
    );
    let mut table = Table::with_columns(PATH_COLUMNS);
    for step in clocks
        .fastest()
        .iter()
        .flat_map(|placed| &placed.critical_path)
    {
        table.push([
            step.signal.clone(),
            step.layer.clone(),
            format!("{:.2}", step.delay_ns),
        ]);
    }
    text += "\nthe longest path of the fastest seed\n";
    text + &fit::table(&table, Stream::Out, "--json")
}

fn row(name: &str, area: &Area) -> Vec<String> {
    let Area {
        lut,
        inv,
        carry,
        ff,
        dsp,
        ram,
        ..
    } = area;
    let numbers = [lut, inv, carry, ff, dsp, ram].map(ToString::to_string);
    [name.to_owned()].into_iter().chain(numbers).collect()
}
