//! Simulation by Icarus.

use super::{Outcome, Scratch, outcome, testbench};
use crate::folder::{self, Emitted};
use crate::tools::{ICARUS, ToolError, Toolbox, VVP};
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
    let (x, y) = emitted.vectors(choices.rows)?;
    let scratch = Scratch::new()?;
    x.write(&scratch.file("x.bin"))?;
    y.write(&scratch.file("y.bin"))?;
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
    let printed = run(tools, &scratch, "net_tb", &sources, options.as_slice())?;
    if let Some(path) = &choices.vcd {
        folder::write(path, &folder::read(&wave)?)?;
    }
    outcome(VVP.name, &printed)
}

/// Compiles sources, runs a top module in the scratch folder, and returns what it printed.
pub(crate) fn run(
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
