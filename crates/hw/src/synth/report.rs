//! All that `ch synth` finds out about a network.

use super::{
    Area, Design, LayerArea, Placed, Placement, Target, Usage, by_layer, floor_picture, net_design,
    place, synthesize, timing_top,
};
use crate::folder::{self, Emitted};
use crate::simulate::Scratch;
use crate::tools::{ToolError, Toolbox};
use serde::Serialize;

/// Area, and clocks where they were asked for.
#[derive(Debug, Serialize)]
pub struct Report {
    /// The family.
    pub target: &'static str,
    /// The yosys that ran.
    pub tool: String,
    /// Seconds of yosys.
    pub seconds: f64,
    /// Cells of the network.
    pub area: Area,
    /// LUTs with one for each inverter.
    pub lut_with_inv: u64,
    /// The cells of each layer.
    pub layers: Vec<LayerArea>,
    /// The network between registers, placed and routed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub placement: Option<Clocks>,
}

/// Placements of one design with several seeds.
#[derive(Debug, Serialize)]
pub struct Clocks {
    /// The place and route that ran.
    pub tool: String,
    /// The clock of the slowest seed.
    pub min_mhz: f64,
    /// The clock that half of the seeds reach.
    pub median_mhz: f64,
    /// The clock of the fastest seed.
    pub max_mhz: f64,
    /// Every seed, from 1.
    pub seeds: Vec<Placed>,
    /// The floor picture of the fastest seed, as SVG.
    #[serde(skip)]
    pub picture: String,
}

/// The clock that placements aim at: beyond what a network reaches, so that the placer does its best.
const AIM_MHZ: f64 = 300.0;

/// Synthesises the network and counts its cells.
pub fn report(
    emitted: &Emitted,
    tools: &Toolbox,
    target: &'static Target,
) -> Result<Report, ToolError> {
    let scratch = Scratch::new()?;
    let synthesis = synthesize(&net_design(emitted, target), tools, &scratch)?;
    let netlist = synthesis.netlist("net")?;
    let area = Area::of(&netlist);
    Ok(Report {
        target: target.name,
        tool: tools.identify(synthesis.tool).label(),
        seconds: synthesis.seconds,
        lut_with_inv: area.lut_with_inv(),
        area,
        layers: by_layer(&netlist, &emitted.nodes()),
        placement: None,
    })
}

/// Places and routes the network between registers with the seeds from 1 to `seeds`. A device that is too small is no error.
pub fn clocks(
    emitted: &Emitted,
    tools: &Toolbox,
    target: &'static Target,
    seeds: u64,
    layers: &[String],
) -> Result<Result<Clocks, Usage>, ToolError> {
    let device = target.placed()?;
    let tool = tools.find(device.tool)?;
    let scratch = Scratch::new()?;
    let design = Design {
        target,
        top: "timing_top",
        sources: vec![
            emitted.net(),
            scratch.write("timing_top.sv", timing_top(&emitted.ports))?,
        ],
    };
    let synthesis = synthesize(&design, tools, &scratch)?;
    let nodes = emitted.nodes();
    let mut all = Vec::new();
    for seed in 1..=seeds.max(1) {
        let choices = Placement {
            device,
            json: &synthesis.json,
            pins: None,
            clock_mhz: AIM_MHZ,
            seed,
            nodes: &nodes,
        };
        match place(&choices, tools, &scratch)? {
            Ok(placed) => all.push(placed),
            Err(shortage) => return Ok(Err(shortage)),
        }
    }
    let mut sorted: Vec<&Placed> = all.iter().collect();
    sorted.sort_by(|a, b| a.fmax_mhz.total_cmp(&b.fmax_mhz));
    let (slowest, fastest) = (sorted[0], sorted[sorted.len() - 1]);
    let text = folder::read(&fastest.design)?;
    let picture = floor_picture(&text, layers, &nodes);
    Ok(Ok(Clocks {
        min_mhz: slowest.fmax_mhz,
        median_mhz: f64::midpoint(
            sorted[(sorted.len() - 1) / 2].fmax_mhz,
            sorted[sorted.len() / 2].fmax_mhz,
        ),
        max_mhz: fastest.fmax_mhz,
        picture: picture.map_err(|message| ToolError::Answer {
            tool: device.tool.name,
            message,
        })?,
        tool: tools.identify(tool).label(),
        seeds: all,
    }))
}

impl Clocks {
    /// The placement of the fastest seed.
    pub fn fastest(&self) -> Option<&Placed> {
        self.seeds
            .iter()
            .max_by(|a, b| a.fmax_mhz.total_cmp(&b.fmax_mhz))
    }
}
