//! Estimates without tools beside synthesis, for random networks that no calibration has seen.

use crate::table::print;
use anyhow::Result;
use hw::estimate::{NETWORKS, estimate, random_network};
use hw::print::verilog;
use hw::simulate::Scratch;
use hw::synth::{Area, Design, TARGETS, synthesize};
use hw::tools::Toolbox;

/// Networks of this seed: those of calibrations have another.
const SEED: u64 = 2;

/// Prints the mean and the largest error for every target.
pub fn run() -> Result<()> {
    let tools = Toolbox::new(None);
    let mut rows = Vec::new();
    for target in TARGETS {
        let (mut errors, mut worst) = (Vec::new(), (0.0, String::new()));
        for index in 0..NETWORKS {
            let (net, ports) = random_network(SEED, index);
            let scratch = Scratch::new()?;
            let design = Design {
                target,
                top: "net",
                sources: vec![scratch.write("net.sv", verilog(&net, &ports))?],
            };
            let synthesis = synthesize(&design, &tools, &scratch)?;
            let lut = Area::of(&synthesis.netlist("net")?).lut;
            let Some(own) = estimate(&net, target.name) else {
                continue;
            };
            let error = (own.lut as f64 / lut as f64 - 1.0).abs();
            if error > worst.0 {
                worst = (error, format!("{} for {lut}", own.lut));
            }
            errors.push(error);
        }
        let mean = errors.iter().sum::<f64>() / errors.len().max(1) as f64;
        rows.push(vec![
            target.name.to_owned(),
            errors.len().to_string(),
            format!("{:.1} %", 100.0 * mean),
            format!("{:.1} %", 100.0 * worst.0),
            worst.1,
        ]);
    }
    let columns = ["target", "networks", "mean error", "largest", "of"];
    print(&columns, &rows);
    Ok(())
}
