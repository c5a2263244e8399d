//! Simulation by Icarus.

use super::{Outcome, Scratch, outcome, serial_testbench, testbench};
use crate::folder::{self, Emitted};
use crate::tools::{ICARUS, ToolError, Toolbox, VVP};
use crate::wrap::Serial;
use std::path::{Path, PathBuf};

/// Choices of a simulation by Icarus.
#[derive(Clone, Debug, Default)]
pub struct Icarus {
    /// Rows to run, at most.
    pub rows: Option<usize>,
    /// The file of the waveform.
    pub vcd: Option<PathBuf>,
    /// Sources instead of `rtl/net.sv`: a netlist with the models of its cells.
    pub sources: Vec<PathBuf>,
    /// True when the ports of the first rows are to be left in [`FIRST_ROWS_FILE`].
    pub first_rows: bool,
}

/// The waveform of the ports over the first rows, a file of the folder.
pub const FIRST_ROWS_FILE: &str = "tb/first_rows.vcd";

/// Rows of that waveform.
const FIRST_ROWS: usize = 8;

/// Runs the testbench over the vectors of a folder.
pub fn icarus(emitted: &Emitted, tools: &Toolbox, choices: &Icarus) -> Result<Outcome, ToolError> {
    let scratch = Scratch::new()?;
    write_vectors(emitted, &scratch, choices.rows)?;
    let bench = scratch.write("net_tb.sv", testbench(&emitted.ports))?;
    let net = [emitted.net()];
    let sources: &[PathBuf] = if choices.sources.is_empty() {
        &net
    } else {
        &choices.sources
    };
    let sources: Vec<&Path> = sources
        .iter()
        .chain([&bench])
        .map(PathBuf::as_path)
        .collect();
    let wave = scratch.file("wave.vcd");
    let options = choices
        .vcd
        .as_ref()
        .map(|_| format!("+vcd={}", wave.display()));
    let printed = run_icarus(tools, &scratch, "net_tb", &sources, options.as_slice())?;
    if let Some(path) = &choices.vcd {
        folder::write(path, &folder::read(&wave)?)?;
    }
    if choices.first_rows {
        let options = [
            format!("+vcd={}", wave.display()),
            format!("+rows={FIRST_ROWS}"),
            "+ports".to_owned(),
        ];
        execute(tools, &scratch, &options)?;
        emitted.write(FIRST_ROWS_FILE, &without_date(&folder::read(&wave)?))?;
    }
    outcome(VVP.name, &printed)
}

/// Runs the first rows over the serial wrapper, bit by bit.
pub fn serial_line(
    emitted: &Emitted,
    tools: &Toolbox,
    serial: &Serial,
    rows: usize,
) -> Result<Outcome, ToolError> {
    let scratch = Scratch::new()?;
    write_vectors(emitted, &scratch, Some(rows))?;
    let bench = scratch.write("net_tb.sv", serial_testbench(&emitted.ports, serial))?;
    let top = scratch.write("top_serial.sv", serial.print())?;
    let printed = run_icarus(
        tools,
        &scratch,
        "net_tb",
        &[&emitted.net(), &top, &bench],
        &[],
    )?;
    outcome(VVP.name, &printed)
}

/// The vectors of a folder, at most `rows` of them, beside the simulation.
pub(crate) fn write_vectors(
    emitted: &Emitted,
    scratch: &Scratch,
    rows: Option<usize>,
) -> Result<(), ToolError> {
    let (x, y) = emitted.vectors(rows)?;
    x.write(&scratch.file("x.bin"))?;
    y.write(&scratch.file("y.bin"))
}

/// Compiles sources, runs a top module in the scratch folder, and returns what it printed.
pub fn run_icarus(
    tools: &Toolbox,
    scratch: &Scratch,
    top: &str,
    sources: &[&Path],
    options: &[String],
) -> Result<String, ToolError> {
    let compiler = tools.find(&ICARUS)?;
    let mut command = compiler.command();
    command.args(["-g2012", "-s", top, "-o"]);
    command.arg(scratch.file(PROGRAM));
    tools.run_ok(ICARUS.name, command.args(sources))?;
    execute(tools, scratch, options)
}

/// The compiled simulation in its scratch folder.
const PROGRAM: &str = "simulation.vvp";

/// Runs the compiled simulation, and returns what it printed.
fn execute(tools: &Toolbox, scratch: &Scratch, options: &[String]) -> Result<String, ToolError> {
    let mut command = tools.find(&VVP)?.command();
    command.arg("-n").arg(scratch.file(PROGRAM)).args(options);
    let answer = tools.run_ok(VVP.name, command.current_dir(scratch.path()))?;
    if let Some(line) = answer
        .stdout
        .lines()
        .find(|line| line.starts_with("FAILED"))
    {
        let message = line.to_owned();
        return Err(ToolError::Answer {
            tool: VVP.name,
            message,
        });
    }
    Ok(answer.stdout)
}

/// A waveform without the time of day at its beginning, so that the same rows give the same bytes.
fn without_date(vcd: &str) -> String {
    let Some((_, rest)) = vcd.split_once("$date") else {
        return vcd.to_owned();
    };
    let rest = rest.split_once("$end").map_or(rest, |(_, rest)| rest);
    rest.trim_start().to_owned()
}
