//! The hardware of a trial: its netlist, and what that costs.

use engine::State;
use engine::integer::Program;
use hw::emit::{Emission, Style};
use hw::estimate::estimate;
use hw::schedule::DEFAULT_LEVELS;
use hw::solve::{Cache, Effort};
use hw::synth::Target;
use ir::{Graph, verify};
use passes::PassError;

/// The costs of a netlist; not numbers where none was made.
#[derive(Clone, Copy, Debug)]
pub struct Netlist {
    /// Bits of adders.
    pub adder_bits: f64,
    /// Look-up tables, estimated.
    pub lut: f64,
    /// Flip-flops.
    pub ff: f64,
    /// Clock cycles from an input to its result.
    pub latency_cycles: f64,
}

impl Default for Netlist {
    fn default() -> Self {
        Self {
            adder_bits: f64::NAN,
            lut: f64::NAN,
            ff: f64::NAN,
            latency_cycles: f64::NAN,
        }
    }
}

impl Netlist {
    /// The costs of what `ch emit` would make of a graph. Layers that the cache knows are not solved again.
    pub fn of(graph: &Graph, target: &Target, cache: &mut Cache) -> Result<Self, PassError> {
        let verified = verify(graph)?;
        let state = State::new(&verified)?;
        let refused = |error: String| {
            PassError::Hardware(format!(
                "{error}; a search by hardware needs every port in fixed point: the pass quantize_rest gives formats to the others"
            ))
        };
        let program =
            Program::of(&verified, &state, 1).map_err(|error| refused(error.to_string()))?;
        let style = Style::Pipelined {
            levels: DEFAULT_LEVELS,
        };
        let emission = Emission::with(&program, style, Effort::Normal, cache)
            .map_err(|error| refused(error.to_string()))?;
        let net = &emission.net;
        let estimate = estimate(net, target.name);
        Ok(Self {
            adder_bits: net.adders().1 as f64,
            lut: estimate.map_or(f64::NAN, |estimate| estimate.lut as f64),
            ff: net.register_bits() as f64,
            latency_cycles: net.latency.into(),
        })
    }
}
