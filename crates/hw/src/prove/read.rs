//! The words of a printed module, as yosys reads them.

use crate::folder::Emitted;
use crate::rtl::Rtl;
use crate::simulate::Scratch;
use crate::synth::{quoted, run_script};
use crate::tools::{Found, PYOSYS, ToolError, Toolbox, YOSYS, with_room};
use std::fs;

/// Reads the module of a folder; also the tool that read it, and its seconds.
pub fn read(emitted: &Emitted, tools: &Toolbox) -> Result<(Rtl, Found, f64), ToolError> {
    let tool = tools.find_first(&[&YOSYS, &PYOSYS])?;
    let scratch = Scratch::new()?;
    let json = scratch.file("words.json");
    let lines = [
        format!("read_verilog -sv {}", quoted(&emitted.net())),
        "hierarchy -check -top net".to_owned(),
        "proc -norom".to_owned(),
        "opt_clean".to_owned(),
        format!("write_json {}", quoted(&json)),
    ];
    let seconds = run_script(&tool, tools, &scratch, &lines)?;
    let answer = |message: String| ToolError::Answer {
        tool: tool.tool.name,
        message: with_room(message),
    };
    let bytes = fs::read(&json).map_err(|error| answer(format!("the netlist: {error}")))?;
    let rtl = Rtl::read(&bytes).map_err(|error| answer(error.to_string()))?;
    Ok((rtl, tools.identify(tool), seconds))
}
