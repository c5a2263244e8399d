//! Place and route by nextpnr: the clock that a design reaches, its longest path, and the share of the device that it takes.

use super::area::layer_of;
use super::netlist::source_name;
use crate::folder;
use crate::simulate::Scratch;
use crate::tools::{NEXTPNR_ECP5, NEXTPNR_ICE40, Tool, ToolError, Toolbox, failure};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// A device that nextpnr knows.
#[derive(Debug, PartialEq, Eq)]
pub struct Device {
    /// The place and route of its family.
    pub tool: &'static Tool,
    /// Part, package and speed as options.
    pub options: &'static [&'static str],
    /// The option that names the file of pins.
    pub pins: &'static str,
    /// The option that leaves pins free.
    pub free_pins: &'static str,
    /// The option that names the routed design for the packer.
    pub routed: &'static str,
}

/// The largest ECP5 at its highest speed.
pub static ECP5_85: Device = Device {
    options: &["--85k", "--package", "CABGA756", "--speed", "8"],
    ..ECP5
};

/// The largest iCE40.
pub static HX8K: Device = Device {
    options: &["--hx8k", "--package", "ct256"],
    ..ICE40
};

/// The part that all devices of ECP5 share.
pub const ECP5: Device = Device {
    tool: &NEXTPNR_ECP5,
    options: &[],
    pins: "--lpf",
    free_pins: "--lpf-allow-unconstrained",
    routed: "--textcfg",
};

/// The part that all devices of iCE40 share.
pub const ICE40: Device = Device {
    tool: &NEXTPNR_ICE40,
    options: &[],
    pins: "--pcf",
    free_pins: "--pcf-allow-unconstrained",
    routed: "--asc",
};

/// Choices of a placement.
#[derive(Clone, Debug)]
pub struct Placement<'a> {
    /// The device.
    pub device: &'static Device,
    /// The netlist, a file of the scratch folder.
    pub json: &'a Path,
    /// The text of the file of pins; without one, pins are free.
    pub pins: Option<&'a str>,
    /// The clock to aim at.
    pub clock_mhz: f64,
    /// The seed of the placer.
    pub seed: u64,
    /// The names of the graph's nodes, as far as they are known.
    pub nodes: &'a [String],
}

/// A design that is placed and routed.
#[derive(Clone, Debug, Serialize)]
pub struct Placed {
    /// The seed.
    pub seed: u64,
    /// The clock that it reaches.
    pub fmax_mhz: f64,
    /// The longest path from register to register.
    pub critical_path: Vec<PathStep>,
    /// Resources that it uses.
    pub utilization: Vec<Usage>,
    /// Seconds of nextpnr.
    pub seconds: f64,
    /// The routed design for the packer.
    #[serde(skip)]
    pub routed: PathBuf,
    /// The placed design, from which the floor picture is drawn.
    #[serde(skip)]
    pub design: PathBuf,
}

/// A resource of a device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Usage {
    /// Its name at nextpnr.
    pub resource: String,
    /// Used by the design.
    pub used: u64,
    /// There in the device.
    pub available: u64,
}

/// A net on the longest path.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PathStep {
    /// The signal in the source.
    pub signal: String,
    /// The node of the graph.
    pub layer: String,
    /// Nanoseconds of it and of the cells before it.
    pub delay_ns: f64,
}

/// A file of the scratch folder, in which nextpnr runs: as WebAssembly it has a folder for temporary files of its own.
fn own(path: &Path) -> &OsStr {
    path.file_name().unwrap_or_default()
}

/// Places and routes. A design that is too large for the device is no error: the inner one names what is short.
pub fn place(
    choices: &Placement,
    tools: &Toolbox,
    scratch: &Scratch,
) -> Result<Result<Placed, Usage>, ToolError> {
    let Placement { device, seed, .. } = choices;
    let tool = device.tool.name;
    let found = tools.find(device.tool)?;
    let file = |end: &str| scratch.file(&format!("placed_{seed}.{end}"));
    let (report, routed, design) = (file("report.json"), file("config"), file("json"));
    let mut command = found.command();
    command
        .args(device.options)
        .args(["--seed", &seed.to_string()]);
    command.args([
        "--freq",
        &choices.clock_mhz.to_string(),
        "--timing-allow-fail",
    ]);
    command
        .arg("--json")
        .arg(own(choices.json))
        .arg("--report")
        .arg(own(&report));
    command
        .arg(device.routed)
        .arg(own(&routed))
        .arg("--write")
        .arg(own(&design));
    match choices.pins {
        Some(pins) => command
            .arg(device.pins)
            .arg(own(&scratch.write("pins", pins)?)),
        None => command.arg(device.free_pins),
    };
    let answer = tools.run(tool, command.current_dir(scratch.path()))?;
    if !answer.success {
        let usage = usage_in(&answer.stderr);
        let short = usage.into_iter().find(|usage| usage.used > usage.available);
        return match short {
            Some(usage) => Ok(Err(usage)),
            None => Err(failure(tool, &answer)),
        };
    }
    let unreadable = |message| ToolError::Answer { tool, message };
    let text = folder::read(&report)?;
    let report: Report =
        serde_json::from_str(&text).map_err(|error| unreadable(format!("its report: {error}")))?;
    let fmax = report.fmax.values().map(|clock| clock.achieved);
    let fmax_mhz = fmax
        .reduce(f64::min)
        .ok_or_else(|| unreadable("its report names no clock".to_owned()))?;
    Ok(Ok(Placed {
        seed: *seed,
        fmax_mhz,
        critical_path: report.critical_path(choices.nodes),
        utilization: report.usage(),
        seconds: answer.seconds,
        routed,
        design,
    }))
}

#[derive(Deserialize)]
struct Report {
    #[serde(default)]
    fmax: BTreeMap<String, Clock>,
    #[serde(default)]
    critical_paths: Vec<LongPath>,
    #[serde(default)]
    utilization: BTreeMap<String, Count>,
}

#[derive(Deserialize)]
struct Count {
    used: u64,
    available: u64,
}

#[derive(Deserialize)]
struct Clock {
    achieved: f64,
}

#[derive(Deserialize)]
struct LongPath {
    from: String,
    to: String,
    path: Vec<Segment>,
}

#[derive(Deserialize)]
struct Segment {
    delay: f64,
    #[serde(default)]
    net: Option<String>,
}

impl Report {
    fn usage(&self) -> Vec<Usage> {
        let used = self.utilization.iter().filter(|(_, count)| count.used > 0);
        let usage = |(resource, count): (&String, &Count)| Usage {
            resource: resource.clone(),
            used: count.used,
            available: count.available,
        };
        used.map(usage).collect()
    }

    /// The longest path between registers; steps of one signal are added up, and wires that only place and route has a name for
    /// are part of the way to the next signal.
    fn critical_path(&self, nodes: &[String]) -> Vec<PathStep> {
        let clocked = |path: &&LongPath| path.from.contains("edge") && path.to.contains("edge");
        let length = |path: &LongPath| path.path.iter().map(|segment| segment.delay).sum::<f64>();
        let paths = self.critical_paths.iter().filter(clocked);
        let Some(longest) = paths.max_by(|a, b| length(a).total_cmp(&length(b))) else {
            return Vec::new();
        };
        let mut steps: Vec<PathStep> = Vec::new();
        let mut before = 0.0;
        for segment in &longest.path {
            before += segment.delay;
            let name = segment.net.as_deref().map(source_name);
            let Some(name) = name.filter(|name| !name.starts_with('$')) else {
                continue;
            };
            let signal = name.to_owned();
            match steps.last_mut() {
                Some(last) if last.signal == signal => last.delay_ns += before,
                _ => steps.push(PathStep {
                    layer: layer_of(&signal, nodes).to_owned(),
                    signal,
                    delay_ns: before,
                }),
            }
            before = 0.0;
        }
        if let Some(last) = steps.last_mut() {
            last.delay_ns += before;
        }
        steps
    }
}

/// The lines `Info:  NAME: USED/ AVAILABLE  SHARE%` of a log.
fn usage_in(log: &str) -> Vec<Usage> {
    let usage = |line: &str| {
        let (name, rest) = line.strip_prefix("Info:")?.trim().split_once(':')?;
        let (used, rest) = rest.split_once('/')?;
        let (available, share) = rest.trim().split_once(char::is_whitespace)?;
        share.trim().strip_suffix('%')?;
        Some(Usage {
            resource: name.to_owned(),
            used: used.trim().parse().ok()?,
            available: available.parse().ok()?,
        })
    };
    log.lines().filter_map(usage).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usage_is_found_in_a_log() {
        let log = "Info: Device utilisation:\nInfo: \t         ICESTORM_LC:  8901/ 7680   115%\nInfo: \t        ICESTORM_RAM:     0/   32     0%\nInfo: a: b/c d%\n";
        let usage = usage_in(log);
        assert_eq!(usage.len(), 2);
        let first = (
            usage[0].resource.as_str(),
            usage[0].used,
            usage[0].available,
        );
        assert_eq!(first, ("ICESTORM_LC", 8901, 7680));
    }

    #[test]
    fn the_longest_path_is_named_by_nodes() {
        let text = r#"{"fmax": {"clk": {"achieved": 100.5, "constraint": 12.0}}, "utilization": {}, "critical_paths": [
            {"from": "posedge clk", "to": "posedge clk", "path": [
                {"delay": 0.5, "type": "clk-to-q"}, {"delay": 1.0, "net": "network.fc1_n0_a0", "type": "routing"},
                {"delay": 0.25, "type": "logic"}, {"delay": 0.5, "net": "network.fc1_n0_a0_SB_LUT4_O", "type": "routing"},
                {"delay": 0.125, "net": "$nextpnr_ICESTORM_LC_26$I3", "type": "routing"},
                {"delay": 0.125, "net": "network.relu_n0", "type": "routing"}, {"delay": 0.5, "type": "setup"}]},
            {"from": "<async>", "to": "posedge clk", "path": [{"delay": 9.0, "net": "x", "type": "routing"}]}]}"#;
        let report: Report = serde_json::from_str(text).unwrap();
        let step = |signal: &str, layer: &str, delay_ns| PathStep {
            signal: signal.to_owned(),
            layer: layer.to_owned(),
            delay_ns,
        };
        assert_eq!(
            report.critical_path(&[]),
            [
                step("fc1_n0_a0", "fc1", 2.25),
                step("relu_n0", "relu", 0.75)
            ]
        );
    }
}
