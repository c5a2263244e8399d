//! `ch bitstream DIR --board NAME`: a file that a board loads, with the network behind a serial line.

use crate::hardware::{self, BitstreamOptions, Workbench, checked};
use crate::output::{Output, OutputArgs, json_text};
use anyhow::Result;
use hw::bitstream::{Bitstream, Made, ROWS, bitstream};
use hw::boards::{BAUD, Board};
use hw::tools::ICARUS;
use serde_json::{Value as Json, json};
use std::path::{Path, PathBuf};

/// Arguments of `ch bitstream`.
#[derive(clap::Args)]
pub struct Args {
    /// The folder of `ch emit`
    #[arg(value_name = "DIR")]
    dir: PathBuf,
    #[command(flatten)]
    options: BitstreamOptions,
    #[command(flatten)]
    output: OutputArgs,
}

/// Makes the file; a row that differs, a device too small or a clock too fast fails the check.
pub fn run(args: &Args) -> Result<Output> {
    make(&args.dir, &args.options, args.output)
}

/// Makes the file of a folder.
pub fn make(dir: &Path, options: &BitstreamOptions, output: OutputArgs) -> Result<Output> {
    hardware::run(dir, output, |bench| pack(dir, options, output, bench))
}

fn pack(
    dir: &Path,
    options: &BitstreamOptions,
    output: OutputArgs,
    bench: &mut Workbench,
) -> Result<Output> {
    let board = options.board;
    for tool in [board.device.tool, board.packer] {
        bench.identify(tool)?;
    }
    bench.console.print(&format!(
        "the serial line in simulation, synthesis, place and route for {}",
        board.name
    ));
    let made = bitstream(&bench.emitted, &bench.tools, board, options.seeds)?;
    let passed = matches!(made, Made::Done(_));
    let mut json = json!({ "board": board.name });
    if let (Some(all), Ok(serde_json::Value::Object(facts))) =
        (json.as_object_mut(), serde_json::to_value(&made))
    {
        all.extend(facts);
    }
    record(bench, board, &made, json.clone())?;
    if output.json {
        return Ok(checked(json_text(&json)?, passed));
    }
    let text = match &made {
        Made::Done(made) => text(made, board, dir),
        _ => made.refusal(board).unwrap_or_default() + "\n",
    };
    Ok(checked(text, passed))
}

/// Adds the bitstream, and the check of its serial line, to the reports of the folder.
fn record(bench: &mut Workbench, board: &Board, made: &Made, mut facts: Json) -> Result<()> {
    let available = bench.emitted.vectors(None)?.0.len();
    let rows = json!({ "rows": available.min(ROWS), "differing": 0, "available_rows": available });
    let (line, is_right) = match made {
        Made::Differs(outcome) => (serde_json::to_value(outcome)?, false),
        _ => (rows, true),
    };
    let simulator = bench.identify(&ICARUS)?.label();
    bench.record_rung(("serial", board.name), &simulator, is_right, line);
    if let Made::Done(made) = made {
        let name = made.file.file_name().unwrap_or_default();
        facts["file"] = json!(Path::new("bitstream").join(name));
    }
    if let Some(refusal) = made.refusal(board) {
        facts["reason"] = json!(refusal);
    }
    bench.record(|record| record.add_bitstream(facts));
    Ok(())
}

fn text(made: &Bitstream, board: &Board, dir: &Path) -> String {
    let file = dir
        .join("bitstream")
        .join(made.file.file_name().unwrap_or_default());
    let [synthesis, place, pack] = made.seconds;
    let usage = made
        .placed
        .utilization
        .iter()
        .max_by_key(|usage| usage.used);
    let usage = usage.map_or_else(String::new, |usage| {
        format!(", {} of {} {}", usage.used, usage.available, usage.resource)
    });
    format!(
        "{} of {} rows right over the simulated serial line\n\
         {}: {} LUT, {} FF{usage}\n\
         clock: {:.1} MHz reached, the board has {}; serial line of {BAUD} baud\n\
         synthesis {synthesis:.1} s, place and route {place:.1} s, pack {pack:.1} s ({})\n\
         {} ({} bytes)\n",
        made.rows,
        made.rows,
        board.name,
        made.area.lut,
        made.area.ff,
        made.placed.fmax_mhz,
        board.clock_mhz(),
        made.tools.join(", "),
        file.display(),
        made.bytes,
    )
}
