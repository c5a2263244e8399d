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
use hw::report::{Record, Rung, RungKind, sha256};
use hw::synth::{TARGETS, Target};
use hw::tools::{Found, Tool, ToolError, Toolbox};
use serde_json::Value as Json;
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
        let record = Record::open(&self.emitted).ok();
        let name = record
            .as_ref()
            .and_then(|record| record.facts()["target"].as_str());
        name.and_then(Target::find).unwrap_or(&TARGETS[0])
    }

    /// Adds what a command found to the reports of the folder. Where they cannot be written, a note says so: the result stands.
    pub fn record(&mut self, add: impl FnOnce(&mut Record)) {
        let written = Record::open(&self.emitted).and_then(|mut record| {
            add(&mut record);
            record.write(&self.emitted)
        });
        if let Err(error) = written {
            let note = format!("the reports of the folder are as they were: {error}");
            self.console.note(&note);
        }
    }

    /// Adds a check to them: its kind, the simulator, target or board, the tools, its end, and the numbers of its result.
    pub fn record_rung(&mut self, (kind, on): (&str, &str), tool: &str, passed: bool, facts: Json) {
        let Some(kind) = RungKind::find(kind) else {
            return;
        };
        let rung = Rung {
            kind,
            on: on.to_owned(),
            tool: tool.to_owned(),
            passed,
            net_sv: sha256(&self.emitted.net()).unwrap_or_default(),
            facts,
        };
        self.record(|record| record.add_rung(&rung));
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
