//! The area of a netlist without any tool: LUTs by a line through measured networks, with its error; cycles
//! exactly, and the registers whose bits are read.
//!
//! [`Features`] counts the bits that cost LUTs. `calibration.json` holds a coefficient for each and each target, from the random
//! networks of [`calibrate`], and the errors of networks that the fit had not seen.

mod calibrate;
mod features;
mod networks;
mod rough;

pub use calibrate::calibrate;
pub use features::Features;
pub use networks::random_network;
pub use rough::rough_luts;

use crate::net::{Cell, Net};
use serde::{Deserialize, Serialize};
use std::sync::OnceLock;

/// The file of the crate.
const FILE: &str = include_str!("calibration.json");

/// Networks that a calibration measures.
pub const NETWORKS: u64 = 24;

/// Coefficients for every target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Calibration {
    /// The targets that were measured.
    pub targets: Vec<Line>,
}

/// The line of a target: LUTs for each bit of a feature.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Line {
    /// The target.
    pub target: String,
    /// The yosys that measured.
    pub tool: String,
    /// Networks that were measured.
    pub networks: u64,
    /// LUTs for each bit.
    pub luts: Features,
    /// The mean relative error, each network predicted from the others.
    pub mean_error: f64,
    /// The largest relative error of these.
    pub max_error: f64,
}

/// An estimate of a netlist.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// Look-up tables.
    pub lut: u64,
    /// The error to expect, in LUTs: twice the mean error of networks that the fit had not seen.
    pub error: u64,
    /// Flip-flops of bits that are read.
    pub ff: u64,
    /// Clock cycles from an input to its result, exactly.
    pub cycles: u32,
}

/// The estimate for a target, if the target is calibrated.
pub fn estimate(net: &Net, target: &str) -> Option<Estimate> {
    line(target).map(|line| line.estimate(net))
}

/// The estimated LUTs of some cells of a netlist, if the target is calibrated.
pub fn estimate_luts(net: &Net, target: &str, is_counted: impl Fn(&Cell) -> bool) -> Option<u64> {
    let line = line(target)?;
    let lut = Features::of_cells(net, is_counted).dot(&line.luts);
    Some(lut.round() as u64)
}

fn line(target: &str) -> Option<&'static Line> {
    let lines = &calibration().targets;
    lines.iter().find(|line| line.target == target)
}

/// The calibration of the crate.
fn calibration() -> &'static Calibration {
    static CALIBRATION: OnceLock<Calibration> = OnceLock::new();
    CALIBRATION.get_or_init(|| serde_json::from_str(FILE).expect("a test reads the crate's file"))
}

impl Line {
    /// The estimate of a netlist.
    pub fn estimate(&self, net: &Net) -> Estimate {
        let lut = Features::of(net).dot(&self.luts);
        Estimate {
            lut: lut.round() as u64,
            error: (lut * 2.0 * self.mean_error).ceil() as u64,
            ff: net.register_bits(),
            cycles: net.latency,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synth::TARGETS;

    #[test]
    fn every_target_is_calibrated_well() {
        for target in TARGETS {
            let lines = &calibration().targets;
            let line = lines.iter().find(|line| line.target == target.name);
            let line = line.unwrap_or_else(|| panic!("{} is not calibrated", target.name));
            assert_eq!(line.networks, NETWORKS, "{}", target.name);
            assert!(
                line.mean_error <= 0.05 && line.max_error <= 0.15,
                "{line:?}"
            );
            assert!(line.luts.0.iter().all(|lut| *lut >= 0.0), "{line:?}");
        }
    }

    #[test]
    fn registers_and_cycles_are_exact() {
        let (net, _) = random_network(7, 0);
        let estimate = estimate(&net, "xcup").unwrap();
        let exact = (net.register_bits(), net.latency);
        assert_eq!((estimate.ff, estimate.cycles), exact);
        assert!(estimate.error > 0 && estimate.error < estimate.lut);
    }
}
