//! A bitstream of the network behind a serial line: simulate it, synthesise, place and route, pack.

use crate::boards::Board;
use crate::folder::Emitted;
use crate::simulate::{Outcome, Scratch, serial_line};
use crate::synth::{Area, Design, Placed, Placement, Usage, place, synthesize};
use crate::tools::{ToolError, Toolbox};
use crate::wrap::Serial;
use serde::Serialize;
use std::fs;
use std::path::PathBuf;

/// Rows that go over the simulated line before anything is made.
pub const ROWS: usize = 20;

/// Cycles of a bit in that simulation; the board's would take minutes.
const SIMULATED_DIVISOR: u32 = 8;

/// The result for a board.
#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case", tag = "result")]
pub enum Made {
    /// The bitstream.
    Done(Box<Bitstream>),
    /// The simulated line gave another answer; nothing was made.
    Differs(Outcome),
    /// The device is too small.
    TooLarge(Usage),
    /// The board's clock is too fast for the design.
    TooSlow {
        /// The best clock that was reached.
        fmax_mhz: f64,
        /// The board's.
        clock_mhz: f64,
    },
}

/// A bitstream and how it came about.
#[derive(Debug, Serialize)]
pub struct Bitstream {
    /// Its file.
    pub file: PathBuf,
    /// Its size.
    pub bytes: u64,
    /// Rows over the simulated line, all right.
    pub rows: u64,
    /// Cells of the network with its serial wrapper.
    pub area: Area,
    /// The placement that was packed: that of the fastest clock.
    pub placed: Placed,
    /// Seconds of yosys, of nextpnr with all seeds, and of the packer.
    pub seconds: [f64; 3],
    /// The tools with their versions.
    pub tools: Vec<String>,
}

/// Makes a bitstream; the best of `seeds` placements counts.
pub fn bitstream(
    emitted: &Emitted,
    tools: &Toolbox,
    board: &'static Board,
    seeds: u64,
) -> Result<Made, ToolError> {
    let serial = Serial::new(&emitted.ports, board.divisor())?;
    let (placer, packer) = (tools.find(board.device.tool)?, tools.find(board.packer)?);
    let simulated = Serial::new(
        &emitted.ports,
        SIMULATED_DIVISOR.max(emitted.ports.latency.div_ceil(8) + 1),
    )?;
    let outcome = serial_line(emitted, tools, &simulated, ROWS)?;
    if outcome.differing > 0 {
        return Ok(Made::Differs(outcome));
    }
    let target = board
        .family()
        .ok_or_else(|| ToolError::Request(format!("{} has no family", board.name)))?;
    let scratch = Scratch::new()?;
    let design = Design {
        target,
        top: "top_serial",
        sources: vec![
            emitted.net(),
            scratch.write("top_serial.sv", serial.print())?,
        ],
    };
    let synthesis = synthesize(&design, tools, &scratch)?;
    let pins = board.constraints();
    emitted.write(&format!("constraints/{}", board.constraints_name()), &pins)?;
    let nodes = emitted.nodes();
    let mut placement = Placement {
        device: &board.device,
        json: &synthesis.json,
        pins: Some(&pins),
        clock_mhz: board.clock_mhz(),
        seed: 1,
        nodes: &nodes,
    };
    let mut best: Option<Placed> = None;
    let mut place_seconds = 0.0;
    for seed in 1..=seeds.max(1) {
        placement.seed = seed;
        match place(&placement, tools, &scratch)? {
            Err(shortage) => return Ok(Made::TooLarge(shortage)),
            Ok(placed) => {
                place_seconds += placed.seconds;
                if best
                    .as_ref()
                    .is_none_or(|best| placed.fmax_mhz > best.fmax_mhz)
                {
                    best = Some(placed);
                }
            }
        }
    }
    let placed = best.ok_or_else(|| ToolError::Request("no seed was tried".to_owned()))?;
    let (fmax_mhz, clock_mhz) = (placed.fmax_mhz, board.clock_mhz());
    if fmax_mhz < clock_mhz {
        return Ok(Made::TooSlow {
            fmax_mhz,
            clock_mhz,
        });
    }
    let packed = scratch.file("packed");
    let mut command = packer.command();
    command.args(
        [placed.routed.file_name(), packed.file_name()]
            .into_iter()
            .flatten(),
    );
    let pack = tools.run_ok(board.packer.name, command.current_dir(scratch.path()))?;
    let used = [synthesis.tool.clone(), placer, packer];
    let bytes = fs::read(&packed).map_err(|error| ToolError::file(&packed, &error))?;
    let file = emitted.file(&format!("bitstream/{}.{}", board.name, board.suffix))?;
    interop::write_file(&file, &bytes).map_err(|error| ToolError::file(&file, &error))?;
    Ok(Made::Done(Box::new(Bitstream {
        file,
        bytes: bytes.len() as u64,
        rows: outcome.rows,
        area: Area::of(&synthesis.netlist("top_serial")?),
        seconds: [synthesis.seconds, place_seconds, pack.seconds],
        tools: used.map(|tool| tools.identify(tool).label()).into(),
        placed,
    })))
}

impl Made {
    /// A sentence for a design that did not become a bitstream: why, by how much, and what would help.
    pub fn refusal(&self, board: &Board) -> Option<String> {
        let name = board.name;
        match self {
            Self::Done(_) => None,
            Self::Differs(outcome) => {
                let first = outcome
                    .first
                    .as_ref()
                    .map_or_else(String::new, |first| format!(": {first}"));
                Some(format!(
                    "{} of {} rows differ over the simulated line{first}; nothing was made for {name}",
                    outcome.differing, outcome.rows
                ))
            }
            Self::TooLarge(Usage {
                resource,
                used,
                available,
            }) => {
                let over = used - available;
                let share = 100.0 * over as f64 / (*available).max(1) as f64;
                let board = board
                    .larger
                    .map_or_else(String::new, |larger| format!(", or --board {larger}"));
                Some(format!(
                    "the design does not fit {name}: it needs {used} {resource} of {available}, {over} ({share:.0} %) too many; `ch emit --output argmax`, fewer bits{board} would help"
                ))
            }
            Self::TooSlow {
                fmax_mhz,
                clock_mhz,
            } => Some(format!(
                "the design reaches {fmax_mhz:.1} MHz, and {name} has a clock of {clock_mhz} MHz; `ch emit --style pipelined`, fewer --levels or more --seeds would help"
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_design_that_does_not_fit_is_told_by_how_much() {
        let made = Made::TooLarge(Usage {
            resource: "ICESTORM_LC".to_owned(),
            used: 6600,
            available: 5280,
        });
        let sentence = made.refusal(Board::find("icebreaker").unwrap()).unwrap();
        assert_eq!(
            sentence,
            "the design does not fit icebreaker: it needs 6600 ICESTORM_LC of 5280, 1320 (25 %) too many; `ch emit --output argmax`, fewer bits, or --board hx8k-b-evn would help"
        );
    }
}
