//! The folder of a network's hardware: the module, its wrappers, testbenches and vectors, the netlist and the network itself.

use crate::estimate::estimate;
use crate::folder::Emitted;
use crate::lower::{LowerError, lower_with};
use crate::net::Net;
use crate::ports::Ports;
use crate::print::verilog;
use crate::report::{RUNGS, Record, Rung, layers, sha256, stages};
use crate::simulate::write_testbenches;
use crate::solve::{Cache, Effort};
use crate::tools::ToolError;
use crate::vectors::Vectors;
use crate::wrap::write_wrappers;
use engine::integer::Program;
use serde_json::{Value as Json, json};
use std::fs;
use std::path::{Path, PathBuf};

/// The cut into clock cycles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Style {
    /// None: the result follows the input within one cycle.
    Combinational,
    /// A row every cycle, with a register behind so many levels of adders.
    Pipelined {
        /// Levels of adders between registers, at most.
        levels: f32,
    },
}

/// The hardware of a network.
#[derive(Clone, Debug)]
pub struct Emission {
    /// The netlist, with registers.
    pub net: Net,
    /// The places of inputs and results.
    pub ports: Ports,
    /// Levels of adders from the input to the result.
    pub levels: f32,
    /// Steps of the integer program.
    pub steps: usize,
    /// Elements of layers that nobody reads or that are always the same.
    pub removed: usize,
}

impl Emission {
    /// The hardware of an integer program with one row.
    pub fn of(program: &Program, style: Style, effort: Effort) -> Result<Self, LowerError> {
        Self::with(program, style, effort, &mut Cache::default())
    }

    /// The same, with products that were solved before.
    pub fn with(
        program: &Program,
        style: Style,
        effort: Effort,
        cache: &mut Cache,
    ) -> Result<Self, LowerError> {
        let (net, mut ports) = lower_with(program, effort, cache)?;
        let levels = net.depths().into_iter().fold(0.0, f32::max);
        let net = match style {
            Style::Combinational => net,
            Style::Pipelined { levels } => net.pipelined(levels),
        };
        ports.latency = net.latency;
        let removed = removed(program, &net);
        Ok(Self {
            net,
            ports,
            levels,
            steps: program.steps.len(),
            removed,
        })
    }

    /// The results for rows of codes.
    pub fn evaluate(&self, x: &[i64]) -> Vec<i64> {
        self.net.evaluate(self.ports.inputs.len(), x)
    }

    /// The figures of the report, with LUTs estimated for a target.
    pub fn figures(&self, target: &str) -> Json {
        let (adders, bits) = self.net.adders();
        let layers = layers(&self.net, target);
        json!({
            "target": target,
            "estimate": estimate(&self.net, target),
            "steps": self.steps,
            "cells": self.net.cells.len(),
            "adders": adders,
            "adder_bits": bits,
            "levels": self.levels,
            "removed": self.removed,
            "latency": self.net.latency,
            "flip_flops": self.net.register_bits(),
            "input_bits": self.ports.input_bits(),
            "output_bits": self.ports.output_bits(),
            "stages": stages(&self.net, &layers),
            "layers": layers,
        })
    }

    /// Writes the folder: beside its place first, so that it is whole or not there. A folder that something else is in is
    /// refused, unless `force` says that it may go. The record gets the check of `rows`, whose results are the network's.
    pub fn write(
        &self,
        folder: &Path,
        record: &mut Record,
        network: &[u8],
        rows: &Rows,
        force: bool,
    ) -> Result<Emitted, ToolError> {
        check_place(folder, force)?;
        let draft = Draft::beside(folder)?;
        let path = &draft.0;
        let json = |name: &str, value: &Json| {
            let text = serde_json::to_string_pretty(value).unwrap_or_default() + "\n";
            crate::folder::write(&path.join(name), &text)
        };
        for name in ["rtl", "tb"] {
            fs::create_dir_all(path.join(name))
                .map_err(|error| ToolError::file(path.join(name), &error))?;
        }
        crate::folder::write(&path.join("rtl/net.sv"), &verilog(&self.net, &self.ports))?;
        json("ports.json", &json!(self.ports))?;
        crate::folder::write(&path.join("net.json"), &self.net.to_json())?;
        let file = path.join("network.mz");
        interop::write_file(&file, network).map_err(|error| ToolError::file(&file, &error))?;
        rows.x.write(&path.join("tb/x.bin"))?;
        rows.y.write(&path.join("tb/y.bin"))?;
        let emitted = Emitted::open(path)?;
        write_testbenches(&emitted)?;
        write_wrappers(&emitted)?;
        record.add_rung(&interpreter(&emitted, rows));
        record.write(&emitted)?;
        draft.put(folder)?;
        Emitted::open(folder)
    }
}

/// Rows of codes, and the results that the network has for them.
pub struct Rows {
    /// Codes of the inputs.
    pub x: Vectors,
    /// Codes of the results.
    pub y: Vectors,
}

/// The check that the caller has made of the rows.
fn interpreter(emitted: &Emitted, rows: &Rows) -> Rung {
    Rung {
        kind: &RUNGS[0],
        on: String::new(),
        tool: concat!("mase ", env!("CARGO_PKG_VERSION")).to_owned(),
        passed: true,
        net_sv: sha256(&emitted.net()).unwrap_or_default(),
        facts: json!({ "rows": rows.x.len(), "differing": 0 }),
    }
}

/// Refuses a place that holds something else, unless `force` says that it may go.
pub fn check_place(folder: &Path, force: bool) -> Result<(), ToolError> {
    let refused = |message: &str| Err(ToolError::file(folder, message));
    if folder.exists() && !folder.is_dir() {
        refused("is a file; name a folder")
    } else if folder.exists() && !force && !is_replaceable(folder) {
        refused("holds other files; name another folder, or give --force to replace it")
    } else {
        Ok(())
    }
}

/// True for a folder that `ch emit` wrote, or an empty one.
fn is_replaceable(folder: &Path) -> bool {
    let is_ours = folder.join("net.json").is_file() && folder.join("rtl/net.sv").is_file();
    let is_empty = fs::read_dir(folder).is_ok_and(|mut files| files.next().is_none());
    is_ours || is_empty
}

/// A folder under another name, which is removed unless it is put in its place.
struct Draft(PathBuf);

impl Draft {
    fn beside(folder: &Path) -> Result<Self, ToolError> {
        let name = folder
            .file_name()
            .map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        let draft = folder.with_file_name(format!(".{name}.{}.tmp", std::process::id()));
        fs::create_dir_all(&draft).map_err(|error| ToolError::file(&draft, &error))?;
        Ok(Self(draft))
    }

    /// Renames it. What was there goes only when this is.
    fn put(self, folder: &Path) -> Result<(), ToolError> {
        let failed = |error: std::io::Error| ToolError::file(folder, &error);
        if !folder.exists() {
            return fs::rename(&self.0, folder).map_err(failed);
        }
        let old = self.0.with_extension("old");
        fs::rename(folder, &old).map_err(failed)?;
        if let Err(error) = fs::rename(&self.0, folder) {
            let _ = fs::rename(&old, folder);
            return Err(failed(error));
        }
        fs::remove_dir_all(&old).map_err(failed)
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if self.0.exists() {
            let _ = fs::remove_dir_all(&self.0);
        }
    }
}

/// Elements of layers that have no cell.
fn removed(program: &Program, net: &Net) -> usize {
    let mut seen = std::collections::HashSet::new();
    for cell in &net.cells {
        if let Some(element) = cell.origin.element {
            seen.insert((net.nodes[cell.origin.node as usize].as_str(), element));
        }
    }
    let is_layer = |step: &&engine::integer::ProgramStep| {
        matches!(step.source, engine::integer::Source::Layer { .. })
    };
    let layers = program.steps.iter().filter(is_layer);
    let gone = |step: &engine::integer::ProgramStep| {
        let elements = 0..step.len() as u32;
        elements
            .filter(|&element| !seen.contains(&(step.node.as_str(), element)))
            .count()
    };
    layers.map(gone).sum()
}
