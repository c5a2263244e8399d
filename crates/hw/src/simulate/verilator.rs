//! Simulation by Verilator: its model and the harness become a program.

use super::icarus::write_vectors;
use super::{Outcome, Scratch, harness, outcome};
use crate::folder::Emitted;
use crate::tools::{CXX, MAKE, ToolError, Toolbox, VERILATOR};
use std::process::Command;

/// Builds the model and runs it over the vectors of a folder, at most `rows` of them.
pub fn verilator(
    emitted: &Emitted,
    tools: &Toolbox,
    rows: Option<usize>,
) -> Result<Outcome, ToolError> {
    VerilatedModel::build(emitted, tools)?.run(emitted, tools, rows)
}

/// The program of a folder's network, in a folder of its own.
#[derive(Debug)]
pub struct VerilatedModel(Scratch);

impl VerilatedModel {
    /// Builds it.
    pub fn build(emitted: &Emitted, tools: &Toolbox) -> Result<Self, ToolError> {
        let found = tools.find(&VERILATOR)?;
        let (cxx, make) = (tools.find(&CXX)?, tools.find(&MAKE)?);
        let scratch = Scratch::new()?;
        let harness = scratch.write("harness.cpp", harness(&emitted.ports))?;
        let mut command = found.command();
        command.args([
            "--cc",
            "--exe",
            "-Wno-fatal",
            "-O3",
            "--x-assign",
            "fast",
            "--x-initial",
            "fast",
        ]);
        command.args(["--top-module", "net", "--prefix", "Vnet", "--Mdir", "build"]);
        command.arg(emitted.net()).arg(&harness);
        tools.run_ok(VERILATOR.name, command.current_dir(scratch.path()))?;
        let mut build = make.command();
        build.envs(found.environment()).current_dir(scratch.path());
        build.args(["-C", "build", "-f", "Vnet.mk", "-j", "2", "Vnet"]);
        build.arg(format!("CXX={}", cxx.program.display()));
        build.args(["OPT_FAST=-O1", "OPT_SLOW=-O0", "OPT_GLOBAL=-O1"]);
        tools.run_ok(CXX.name, &mut build)?;
        Ok(Self(scratch))
    }

    /// Runs it over the vectors of the folder, at most `rows` of them.
    pub fn run(
        &self,
        emitted: &Emitted,
        tools: &Toolbox,
        rows: Option<usize>,
    ) -> Result<Outcome, ToolError> {
        let scratch = &self.0;
        write_vectors(emitted, scratch, rows)?;
        let mut command = Command::new(scratch.file("build/Vnet"));
        command.args(["x.bin", "y.bin"]).current_dir(scratch.path());
        let answer = tools.run_ok("the model that Verilator made", &mut command)?;
        outcome(VERILATOR.name, &answer.stdout)
    }
}
