//! The bits of the module `net`: which element lies where in its packed ports `x` and `y` (the file `ports.json`).
//!
//! Element 0 lies lowest. Every element has its own width and sign.

use crate::width::Width;
use serde::{Deserialize, Serialize};

/// Both packed ports, and the cycles between them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ports {
    /// The elements of `x`, in the order of the network's inputs.
    pub inputs: Vec<Element>,
    /// The elements of `y`.
    pub outputs: Vec<Element>,
    /// Clock edges from an input to its result; 0 for a combinational module, whose `clk` is not read.
    pub latency: u32,
}

/// One element of a packed port.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Element {
    /// The placeholder or result and the element's number in it, `x[3]`.
    pub name: String,
    /// Its lowest bit in the port.
    pub offset: u32,
    /// Bits; 0 for an element that nobody reads or that is always 0.
    pub width: u32,
    /// True for two's complement.
    pub signed: bool,
    /// Bits behind the point: value = code·2^-frac_width.
    pub frac_width: i32,
    /// The smallest code.
    pub min: i64,
    /// The largest code.
    pub max: i64,
}

impl Ports {
    /// Bits of `x`.
    pub fn input_bits(&self) -> u32 {
        total(&self.inputs)
    }

    /// Bits of `y`.
    pub fn output_bits(&self) -> u32 {
        total(&self.outputs)
    }
}

fn total(elements: &[Element]) -> u32 {
    elements.iter().map(|element| element.width).sum()
}

/// Elements one after the other, each given by name, step and interval, in the narrowest word.
pub fn packed(elements: impl IntoIterator<Item = (String, i32, i64, i64)>) -> Vec<Element> {
    let mut offset = 0;
    let place = |(name, frac_width, min, max): (String, i32, i64, i64)| {
        let Width { bits, signed } = Width::of(min, max);
        let width = if (min, max) == (0, 0) { 0 } else { bits };
        offset += width;
        Element {
            name,
            offset: offset - width,
            width,
            signed,
            frac_width,
            min,
            max,
        }
    };
    elements.into_iter().map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_lie_one_after_the_other() {
        let all = [("x[0]", 3, -8, 7), ("x[1]", 0, 0, 0), ("x[2]", -1, 0, 9)];
        let all = all.map(|(name, frac, min, max)| (name.to_owned(), frac, min, max));
        let inputs = packed(all);
        let places: Vec<_> = inputs
            .iter()
            .map(|e| (e.offset, e.width, e.signed))
            .collect();
        assert_eq!(places, [(0, 4, true), (4, 0, false), (4, 4, false)]);
        let ports = Ports {
            inputs,
            outputs: Vec::new(),
            latency: 2,
        };
        assert_eq!((ports.input_bits(), ports.output_bits()), (8, 0));
    }
}
