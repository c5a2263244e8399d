//! The netlist after synthesis in Icarus, with yosys' models of its cells.

use super::{Target, net_design, synthesize};
use crate::folder::{self, Emitted};
use crate::simulate::{Icarus, Outcome, Scratch, icarus};
use crate::tools::{Found, ToolError, Toolbox};
use std::path::{Path, PathBuf};

/// Synthesises the network for a target and runs the testbench over its gates. Names the yosys that ran.
pub fn gates(
    emitted: &Emitted,
    tools: &Toolbox,
    target: &'static Target,
    choices: &Icarus,
) -> Result<(Outcome, String), ToolError> {
    let scratch = Scratch::new()?;
    let synthesis = synthesize(&net_design(emitted, target), tools, &scratch)?;
    let models = copy_models(&data_folder(&synthesis.tool)?.join(target.models), &scratch)?;
    let choices = Icarus {
        sources: vec![synthesis.verilog, models],
        ..choices.clone()
    };
    let outcome = icarus(emitted, tools, &choices)?;
    Ok((outcome, tools.identify(synthesis.tool).label()))
}

/// The folder of yosys' data: inside the Python package, or beside the program.
fn data_folder(tool: &Found) -> Result<PathBuf, ToolError> {
    let beside = || Some(tool.program.parent()?.parent()?.join("share/yosys"));
    let folder = tool
        .package
        .as_ref()
        .map(|package| package.join("share"))
        .or_else(beside);
    let folder = folder.filter(|folder| folder.is_dir());
    folder.ok_or_else(|| ToolError::Answer {
        tool: tool.tool.name,
        message: "the folder of its cell models is not where it should be".to_owned(),
    })
}

/// Macros of the models: includes once, the delays of a fast device, no values of open pins.
const DEFINES: &str =
    "`define NO_INCLUDES\n`define ICE40_HX\n`define NO_ICE40_DEFAULT_ASSIGNMENTS\n";

/// Writes the models as one file, without `$error`, which Icarus 11 does not know outside of procedures.
fn copy_models(from: &Path, scratch: &Scratch) -> Result<PathBuf, ToolError> {
    let mut text = DEFINES.to_owned();
    let mut lines: Vec<String> = reversed(&from.join("cells_sim.v"))?;
    while let Some(line) = lines.pop() {
        if let Some(name) = line.trim().strip_prefix("`include \"") {
            lines.extend(reversed(&from.join(name.trim_end_matches('"')))?);
        } else if !line.contains("$error(") {
            text += &line;
            text.push('\n');
        }
        if text.len() > MAX_MODELS {
            return Err(ToolError::file(
                from,
                "the models of cells include themselves",
            ));
        }
    }
    scratch.write("models.v", text)
}

/// Bytes of the largest models that are read; those of Xilinx have 2 MB.
const MAX_MODELS: usize = 64 << 20;

fn reversed(path: &Path) -> Result<Vec<String>, ToolError> {
    let text = folder::read(path)?;
    Ok(text.lines().rev().map(str::to_owned).collect())
}
