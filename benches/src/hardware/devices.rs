//! Networks on devices: the clock of an ECP5, bitstreams of two boards, rows a second in Verilator. CPU seconds of the tools.

use super::network::Network;
use super::sparse;
use crate::clock::children_seconds;
use crate::table::print;
use anyhow::{Context, Result, bail};
use hw::bitstream::{Made, bitstream};
use hw::boards::Board;
use hw::emit::{Emission, Rows, Style};
use hw::folder::Emitted;
use hw::report::Record;
use hw::simulate::{Scratch, VerilatedModel};
use hw::solve::Effort;
use hw::synth::{Target, clocks, report};
use hw::tools::Toolbox;
use hw::vectors::Vectors;
use std::path::Path;

/// Rows that Verilator computes.
const ROWS: usize = 166_000;
/// Placements of one design.
const SEEDS: u64 = 3;

/// Prints all three. The network of 1,055 weights runs in Verilator too, where there is a folder that holds it.
pub fn run(data: Option<&Path>) -> Result<()> {
    let scratch = Scratch::new()?;
    let [_, second, third, ..] = sparse::WEIGHTS;
    let second = random(&scratch, second, ROWS)?;
    let third = random(&scratch, third, 100)?;
    clock(&second)?;
    let mut rows = vec![verilator("145 random weights", &second)?];
    if let Some(data) = data {
        let file = data.join("w6a6_pruned.npz");
        let pruned = emitted(&scratch, "pruned", &file, ROWS)?;
        rows.push(verilator("jets, 1,055 weights", &pruned)?);
    }
    print(&["in Verilator", "build s", "rows", "run s"], &rows);
    bitstreams(&third)
}

/// The folder of a random sparse network.
fn random(scratch: &Scratch, weights: usize, rows: usize) -> Result<Emitted> {
    let file = scratch.file(&format!("sparse_{weights}.npz"));
    sparse::write(&file, weights)?;
    emitted(scratch, &weights.to_string(), &file, rows)
}

/// The folder of a network for ECP5, with its rows repeated up to a number.
fn emitted(scratch: &Scratch, name: &str, file: &Path, rows: usize) -> Result<Emitted> {
    let network = Network::read(file, true)?;
    let program = network.program()?;
    let levels = hw::schedule::DEFAULT_LEVELS;
    let emission = Emission::of(&program, Style::Pipelined { levels }, Effort::Normal)?;
    let results = network.results(&program);
    if emission.evaluate(&network.x) != results {
        bail!("{name}: the netlist is another function");
    }
    let repeated = |all: &[i64], width: usize| {
        let codes = all.iter().copied().cycle().take(rows * width).collect();
        Vectors::new(width, codes).map_err(anyhow::Error::msg)
    };
    let rows = Rows {
        x: repeated(&network.x, network.inputs)?,
        y: repeated(&results, results.len() / network.rows())?,
    };
    let folder = scratch.file(&format!("net_{name}"));
    let mut record = Record::of(emission.figures("ecp5"));
    Ok(emission.write(&folder, &mut record, &[], &rows, true)?)
}

fn clock(emitted: &Emitted) -> Result<()> {
    let tools = Toolbox::new(None);
    let target = Target::find("ecp5").context("it is in the table")?;
    let area = report(emitted, &tools, target)?.area;
    let Ok(clocks) = clocks(emitted, &tools, target, SEEDS, &[])? else {
        bail!("the network does not fit");
    };
    let row = vec![
        "145 random weights".to_owned(),
        area.lut.to_string(),
        area.ff.to_string(),
        emitted.ports.latency.to_string(),
        format!("{:.0}", clocks.min_mhz),
        format!("{:.0}", clocks.median_mhz),
        format!("{:.0}", clocks.max_mhz),
    ];
    let columns = ["on ECP5", "LUT", "FF", "cycles", "MHz min", "median", "max"];
    print(&columns, &[row]);
    Ok(())
}

fn verilator(name: &str, emitted: &Emitted) -> Result<Vec<String>> {
    let tools = Toolbox::new(None);
    let start = children_seconds()?;
    let model = VerilatedModel::build(emitted, &tools)?;
    let built = children_seconds()?;
    let outcome = model.run(emitted, &tools, None)?;
    let ran = children_seconds()?;
    if outcome.differing > 0 {
        bail!("{} rows differ in Verilator", outcome.differing);
    }
    Ok(vec![
        name.to_owned(),
        format!("{:.1}", built - start),
        outcome.rows.to_string(),
        format!("{:.2}", ran - built),
    ])
}

fn bitstreams(emitted: &Emitted) -> Result<()> {
    let tools = Toolbox::new(None);
    let mut rows = Vec::new();
    for name in ["ulx3s-85f", "hx8k-b-evn"] {
        let board = Board::find(name).context("it is in the table")?;
        let start = children_seconds()?;
        let made = bitstream(emitted, &tools, board, 1)?;
        let seconds = children_seconds()? - start;
        let Made::Done(made) = made else {
            bail!("{}", made.refusal(board).unwrap_or_default());
        };
        let usage = made.placed.utilization.iter().max_by_key(|own| own.used);
        let usage = usage.map_or_else(String::new, |own| {
            format!("{} of {}", own.used, own.available)
        });
        rows.push(vec![
            name.to_owned(),
            usage,
            format!("{:.0}", made.placed.fmax_mhz),
            format!("{} of {}", made.rows, made.rows),
            format!("{seconds:.1}"),
        ]);
    }
    let columns = ["216 random weights", "cells", "MHz", "rows right", "CPU s"];
    print(&columns, &rows);
    Ok(())
}
