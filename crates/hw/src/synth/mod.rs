//! Synthesis by yosys: area by kind of cell and by layer, and a netlist to place or to simulate.

mod area;
mod floor;
mod gates;
mod netlist;
mod place;
mod report;
mod timing_top;

pub use area::{Area, LayerArea, OtherCells, by_layer};
pub use floor::{COLOURS, Floor, GREY, Tile, floor_picture};
pub use gates::gates;
pub use netlist::Netlist;
pub use place::{Device, ECP5, ICE40, PathStep, Placed, Placement, Usage, place};
pub use report::{Clocks, Report, clocks, report};
pub use timing_top::timing_top;

use crate::folder::{self, Emitted};
use crate::simulate::Scratch;
use crate::tools::{Found, PYOSYS, ToolError, Toolbox, YOSYS, with_room};
use std::path::{Path, PathBuf};

/// A family of devices.
#[derive(Debug, PartialEq)]
pub struct Target {
    /// The name in options and reports.
    pub name: &'static str,
    /// The family, in words.
    pub about: &'static str,
    /// The command of yosys.
    command: &'static str,
    /// The folder of its cell models in yosys' data.
    models: &'static str,
    /// The device that `--place` uses, where there is an open place and route.
    pub device: Option<&'static Device>,
    /// Delays between registers, where they can be measured.
    pub delays: Option<Delays>,
}

/// The nanoseconds between registers: a line over the levels of adders, through the slowest of measured networks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Delays {
    /// Registers, choices and the way to them.
    pub fixed: f32,
    /// One more level of adders.
    pub level: f32,
}

/// Every target.
pub static TARGETS: &[Target] = &[
    Target {
        name: "xcup",
        about: "Xilinx UltraScale+: six-input LUTs; area alone, there is no open place and route",
        command: "synth_xilinx -family xcup -flatten",
        models: "xilinx",
        device: None,
        delays: None,
    },
    Target {
        name: "xc7",
        about: "Xilinx 7 series: six-input LUTs; area alone, there is no open place and route here",
        command: "synth_xilinx -family xc7 -flatten",
        models: "xilinx",
        device: None,
        delays: None,
    },
    Target {
        name: "ecp5",
        about: "Lattice ECP5: four-input LUTs, two of them in each carry cell; placed on an 85F of speed grade 8",
        command: "synth_ecp5",
        models: "ecp5",
        device: Some(&place::ECP5_85),
        delays: Some(Delays {
            fixed: 2.2,
            level: 1.75,
        }),
    },
    Target {
        name: "ice40",
        about: "Lattice iCE40: four-input LUTs; placed on an HX8K",
        command: "synth_ice40",
        models: "ice40",
        device: Some(&place::HX8K),
        delays: Some(Delays {
            fixed: 5.2,
            level: 2.35,
        }),
    },
];

impl Target {
    /// The target of a name.
    pub fn find(name: &str) -> Option<&'static Self> {
        TARGETS.iter().find(|target| target.name == name)
    }

    /// The device that networks are placed on, or the error that there is none.
    pub fn placed(&self) -> Result<&'static Device, ToolError> {
        let name = self.name;
        let none =
            || format!("there is no open place and route for {name}; ecp5 and ice40 have one");
        self.device.ok_or_else(|| ToolError::Request(none()))
    }
}

/// Sources that become a netlist.
#[derive(Clone, Debug)]
pub struct Design<'a> {
    /// The family.
    pub target: &'static Target,
    /// The module at the top.
    pub top: &'a str,
    /// Every file.
    pub sources: Vec<PathBuf>,
}

/// The files of a synthesis, in its scratch folder.
#[derive(Debug)]
pub struct Synthesis {
    /// The netlist that place and route reads.
    pub json: PathBuf,
    /// The netlist as Verilog.
    pub verilog: PathBuf,
    /// Seconds of yosys.
    pub seconds: f64,
    /// The yosys that ran.
    pub tool: Found,
}

/// The folder's network itself as a design.
pub fn net_design(emitted: &Emitted, target: &'static Target) -> Design<'static> {
    Design {
        target,
        top: "net",
        sources: vec![emitted.net()],
    }
}

/// Runs yosys over a design; the files lie in the scratch folder.
pub fn synthesize(
    design: &Design,
    tools: &Toolbox,
    scratch: &Scratch,
) -> Result<Synthesis, ToolError> {
    let tool = tools.find_first(&[&PYOSYS, &YOSYS])?;
    let adders = scratch.write("adders.v", include_str!("adders.v"))?;
    let (json, verilog) = (scratch.file("netlist.json"), scratch.file("netlist.v"));
    let Design { top, target, .. } = design;
    let mut lines: Vec<String> = design
        .sources
        .iter()
        .map(|file| format!("read_verilog -sv {}", quoted(file)))
        .collect();
    lines.push(format!("hierarchy -check -top {top}"));
    let passes = [
        "proc",
        "flatten",
        "opt_expr",
        "opt_clean",
        "wreduce",
        "opt_expr -fine",
        "opt_clean",
    ];
    lines.extend(passes.map(str::to_owned));
    lines.push(format!("techmap -map {}", quoted(&adders)));
    lines.push("opt_clean".to_owned());
    lines.push(format!("{} -top {top}", target.command));
    lines.push(format!("write_json {}", quoted(&json)));
    lines.push(format!("write_verilog -noattr {}", quoted(&verilog)));
    let seconds = run_script(&tool, tools, scratch, &lines)?;
    Ok(Synthesis {
        json,
        verilog,
        seconds,
        tool,
    })
}

/// Runs the commands of a script and returns the seconds.
pub(crate) fn run_script(
    tool: &Found,
    tools: &Toolbox,
    scratch: &Scratch,
    lines: &[String],
) -> Result<f64, ToolError> {
    let script = scratch.write("script.ys", lines.join("\n") + "\n")?;
    let mut command = tool.command();
    if tool.tool == &PYOSYS {
        command.arg(scratch.write("run_script.py", include_str!("run_script.py"))?);
    } else {
        command.args(["-q", "-s"]);
    }
    command.arg(&script).current_dir(scratch.path());
    Ok(tools.run_ok(tool.tool.name, &mut command)?.seconds)
}

/// A path as a word of a script.
pub(crate) fn quoted(path: &Path) -> String {
    format!("\"{}\"", path.display())
}

impl Synthesis {
    /// Reads the netlist of a module.
    pub fn netlist(&self, top: &str) -> Result<Netlist, ToolError> {
        let text = folder::read(&self.json)?;
        Netlist::parse(&text, top).map_err(|message| ToolError::Answer {
            tool: self.tool.tool.name,
            message: with_room(message),
        })
    }
}
