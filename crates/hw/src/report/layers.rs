//! A netlist counted layer by layer and stage by stage.

use crate::estimate::estimate_luts;
use crate::net::{Cell, CellId, Net, Operation};
use crate::print::legal_nodes;
use serde::Serialize;
use std::collections::HashSet;

/// The operations that belong to a node of the graph.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Layer {
    /// The node.
    pub layer: String,
    /// The beginning of the names of its words in `rtl/net.sv`.
    pub prefix: String,
    /// Elements of its result that have an operation or a register of their own.
    pub neurons: usize,
    /// Operations but registers, inputs and constants.
    pub operations: usize,
    /// Adders and subtractors.
    pub adders: usize,
    /// Bits that they compute.
    pub adder_bits: u64,
    /// The estimate of its LUTs, where the target is calibrated.
    pub lut: Option<u64>,
    /// Flip-flops.
    pub ff: u64,
}

/// The operations between two registers.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Stage {
    /// Its number, from 1.
    pub stage: u32,
    /// Levels of adders on its longest path.
    pub levels: f32,
    /// Adders and subtractors.
    pub adders: usize,
    /// Bits that they compute.
    pub adder_bits: u64,
    /// Flip-flops at its end.
    pub ff: u64,
    /// Bits of adders of each layer, in the order of [`layers`].
    pub by_layer: Vec<u64>,
}

/// The layers of a netlist that have an operation, in the order of the graph.
pub fn layers(net: &Net, target: &str) -> Vec<Layer> {
    let prefixes = legal_nodes(&net.nodes);
    let named = net.nodes.iter().zip(prefixes);
    let mut all: Vec<Layer> = named
        .map(|(layer, prefix)| Layer {
            layer: layer.clone(),
            prefix,
            ..Layer::default()
        })
        .collect();
    let mut seen = HashSet::new();
    let read = net.bits_read();
    for (id, cell) in net.iter() {
        let own = &mut all[cell.origin.node as usize];
        match cell.operation {
            // Those who read an input own it, but it is wiring.
            Operation::Const { .. } | Operation::Input { .. } => continue,
            Operation::Delay { .. } => own.ff += u64::from(read[id.index()].count_ones()),
            _ => own.operations += 1,
        }
        if let Some(bits) = net.adder_bits(id) {
            own.adders += 1;
            own.adder_bits += u64::from(bits);
        }
        if cell.origin.element.is_some() && seen.insert(cell.origin) {
            own.neurons += 1;
        }
    }
    for (node, own) in all.iter_mut().enumerate() {
        if own.operations > 0 {
            let is_own = |cell: &Cell| cell.origin.node as usize == node;
            own.lut = estimate_luts(net, target, is_own);
        }
    }
    all.retain(|layer| layer.operations > 0 || layer.ff > 0);
    all
}

/// The stages of a netlist; one without registers is one stage.
pub fn stages(net: &Net, layers: &[Layer]) -> Vec<Stage> {
    let place = |node: &String| layers.iter().position(|layer| layer.layer == *node);
    let places: Vec<Option<usize>> = net.nodes.iter().map(place).collect();
    let is_register = |cell: &Cell| matches!(cell.operation, Operation::Delay { .. });
    let depths = alone(net, |cell| !is_register(cell)).depths();
    let number = |stage: u32| Stage {
        stage: stage + 1,
        by_layer: vec![0; layers.len()],
        ..Stage::default()
    };
    let mut all: Vec<Stage> = (0..net.latency.max(1)).map(number).collect();
    let read = net.bits_read();
    for ((id, cell), stage) in net.iter().zip(cell_stages(net)) {
        // The register at the end of a stage holds a value of the next one.
        let register = is_register(cell);
        let Some(own) = all.get_mut((stage - u32::from(register)) as usize) else {
            continue;
        };
        if register {
            own.ff += u64::from(read[id.index()].count_ones());
            continue;
        }
        own.levels = own.levels.max(depths[id.index()]);
        if let Some(bits) = net.adder_bits(id) {
            own.adders += 1;
            own.adder_bits += u64::from(bits);
            if let Some(layer) = places[cell.origin.node as usize] {
                own.by_layer[layer] += u64::from(bits);
            }
        }
    }
    all
}

/// The registers before the value of every cell.
fn cell_stages(net: &Net) -> Vec<u32> {
    let mut stages: Vec<u32> = Vec::with_capacity(net.cells.len());
    for cell in &net.cells {
        let before = |a: CellId| stages[a.index()];
        let stage = cell.operation.operands().map(before).max().unwrap_or(0);
        let is_register = matches!(cell.operation, Operation::Delay { .. });
        stages.push(stage + u32::from(is_register));
    }
    stages
}

/// The netlist with all cells but some made inputs, which cost nothing; constants stay.
fn alone(net: &Net, is_kept: impl Fn(&Cell) -> bool) -> Net {
    let cell = |cell: &Cell| {
        let is_constant = matches!(cell.operation, Operation::Const { .. });
        if is_constant || is_kept(cell) {
            return cell.clone();
        }
        Cell {
            operation: Operation::Input { element: 0 },
            interval: cell.interval,
            origin: cell.origin,
        }
    };
    Net {
        cells: net.cells.iter().map(cell).collect(),
        ..Net::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::{estimate, random_network};

    /// Layers and stages add up to the netlist.
    #[test]
    fn nothing_is_counted_twice_or_left_out() {
        for seed in 0..8 {
            let (net, _) = random_network(3, seed);
            let (layers, whole) = (layers(&net, "xcup"), estimate(&net, "xcup").unwrap());
            let stages = stages(&net, &layers);
            let (adders, bits) = net.adders();
            assert_eq!(stages.len(), net.latency.max(1) as usize);
            assert_eq!(layers.iter().map(|own| own.adders).sum::<usize>(), adders);
            assert_eq!(stages.iter().map(|own| own.adders).sum::<usize>(), adders);
            assert_eq!(layers.iter().map(|own| own.adder_bits).sum::<u64>(), bits);
            let by_layer = |at: usize| stages.iter().map(|own| own.by_layer[at]).sum::<u64>();
            for (at, layer) in layers.iter().enumerate() {
                assert_eq!(by_layer(at), layer.adder_bits, "{layer:?}");
            }
            let ff = net.register_bits();
            assert_eq!(layers.iter().map(|own| own.ff).sum::<u64>(), ff);
            assert_eq!(stages.iter().map(|own| own.ff).sum::<u64>(), ff);
            let lut: u64 = layers.iter().filter_map(|own| own.lut).sum();
            assert!(lut.abs_diff(whole.lut) <= layers.len() as u64, "{lut}");
        }
    }

    /// No stage is deeper than the cut allows, and the deepest path is that of the whole without registers.
    #[test]
    fn levels_are_those_of_the_stage() {
        let (net, _) = random_network(3, 1);
        let layers = layers(&net, "xcup");
        let whole = net.depths().into_iter().fold(0.0, f32::max);
        let sum: f32 = stages(&net, &layers).iter().map(|own| own.levels).sum();
        assert!(sum >= whole - 1e-3, "{sum} of {whole}");
    }
}
