//! Commands over a folder of emitted hardware: opening it, its target, the tools, and Ctrl-C.

mod options;
mod tables;

pub use options::{
    BitstreamOptions, EmitOptions, Results, SimulateOptions, Simulator, SynthOptions,
};
pub use tables::{Hardware, TABLES};

use crate::interrupt::stop_flag;
use crate::output::{Console, Level, Output, OutputArgs};
use anyhow::{Context, Result};
use config::did_you_mean;
use hw::boards::{BOARDS, Board};
use hw::folder::Emitted;
use hw::synth::{TARGETS, Target};
use hw::tools::{Found, Tool, ToolError, Toolbox};
use serde_json::Value as Json;
use std::fs;
use std::path::Path;

/// An opened folder with what its commands need.
pub struct Workbench<'a> {
    /// The folder.
    pub emitted: Emitted,
    /// The tools.
    pub tools: Toolbox<'a>,
    /// Lines and notes.
    pub console: Console,
}

impl Workbench<'_> {
    /// The version of a tool that will run, with a note if nobody has tried it.
    pub fn identify(&mut self, tool: &'static Tool) -> Result<Found, ToolError> {
        let found = self.tools.find(tool)?;
        let found = self.tools.identify(found);
        if let Some(note) = found.note() {
            self.console.note(&note);
        }
        Ok(found)
    }

    /// The target of an option, or else that of `ch emit`, or else the first one.
    pub fn target(&self, option: Option<&'static Target>) -> &'static Target {
        if let Some(target) = option {
            return target;
        }
        let report = fs::read_to_string(self.emitted.path.join("report.json"));
        let report: Option<Json> = report
            .ok()
            .and_then(|text| serde_json::from_str(&text).ok());
        let name = report.as_ref().and_then(|report| report["target"].as_str());
        name.and_then(Target::find).unwrap_or(&TARGETS[0])
    }
}

/// Opens a folder and runs a command over it.
pub fn run(
    folder: &Path,
    output: OutputArgs,
    command: impl FnOnce(&mut Workbench) -> Result<Output>,
) -> Result<Output> {
    let emitted = Emitted::open(folder)?;
    with_tools(|tools| {
        command(&mut Workbench {
            emitted,
            tools: *tools,
            console: Console::new(output, Level::Info),
        })
    })
}

/// Runs a command that uses tools. Ctrl-C ends the tool that runs, and the command.
pub fn with_tools(command: impl FnOnce(&Toolbox) -> Result<Output>) -> Result<Output> {
    let stop = stop_flag()?;
    match command(&Toolbox::new(Some(&stop))) {
        Err(error) if matches!(error.downcast_ref(), Some(ToolError::Interrupted { .. })) => {
            Ok(Output {
                text: String::new(),
                passed: false,
                interrupted: true,
            })
        }
        result => result,
    }
}

/// A target by its name.
pub fn find_target(name: &str) -> Result<&'static Target> {
    let names = TARGETS.iter().map(|target| target.name);
    Target::find(name).with_context(|| unknown("target", name, names))
}

/// A board by its name.
pub fn find_board(name: &str) -> Result<&'static Board> {
    let names = BOARDS.iter().map(|board| board.name);
    Board::find(name).with_context(|| unknown("board", name, names))
}

/// The nearest names, or the way to all of them.
fn unknown(kind: &str, name: &str, names: impl Iterator<Item = &'static str>) -> String {
    match did_you_mean(name, names) {
        near if near.is_empty() => format!("unknown {kind} '{name}'; `ch list {kind}s` names all"),
        near => format!("unknown {kind} '{name}'{near}"),
    }
}

/// The result of a check.
pub fn checked(text: String, passed: bool) -> Output {
    Output {
        text,
        passed,
        interrupted: false,
    }
}
