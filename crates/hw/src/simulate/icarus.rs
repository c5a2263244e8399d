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
}

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
    let (compiler, runtime) = (tools.find(&ICARUS)?, tools.find(&VVP)?);
    let program = scratch.file("simulation.vvp");
    let mut command = compiler.command();
    command.args(["-g2012", "-s", top, "-o"]).arg(&program);
    tools.run_ok(ICARUS.name, command.args(sources))?;
    let mut command = runtime.command();
    command.arg("-n").arg(&program).args(options);
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
