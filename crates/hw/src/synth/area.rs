//! Cells by what they occupy, in all and layer by layer.

use super::netlist::Netlist;
use serde::Serialize;
use std::collections::{BTreeMap, VecDeque};

/// Cells of a design by kind.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Area {
    /// Look-up tables; a carry cell of ECP5 counts as the two that it occupies.
    pub lut: u64,
    /// Inverters that are no LUTs yet: place and route may need a LUT for each.
    pub inv: u64,
    /// Carry cells.
    pub carry: u64,
    /// Flip-flops.
    pub ff: u64,
    /// Multiplier blocks.
    pub dsp: u64,
    /// Memories, and shift registers made of LUTs.
    pub ram: u64,
    /// Multiplexers between LUTs.
    pub mux: u64,
    /// Kinds that are none of these, pins and clock buffers apart.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub other: Vec<OtherCells>,
}

/// Cells of a kind that occupies nothing known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OtherCells {
    /// The kind at yosys.
    pub kind: String,
    /// Their number.
    pub count: u64,
}

/// The area of the nodes of one name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LayerArea {
    /// The node of the graph; empty for cells that no name leads to.
    pub layer: String,
    /// Its cells.
    #[serde(flatten)]
    pub area: Area,
}

impl Area {
    /// LUTs, with one for each inverter.
    pub fn lut_with_inv(&self) -> u64 {
        self.lut + self.inv
    }

    /// Cells of a netlist.
    pub fn of(netlist: &Netlist) -> Self {
        let mut area = Self::default();
        netlist.cells.iter().for_each(|cell| area.add(&cell.kind));
        area
    }

    fn add(&mut self, kind: &str) {
        let begins = |starts: &[&str]| starts.iter().any(|start| kind.starts_with(start));
        if kind == "CCU2C" {
            self.carry += 1;
            self.lut += 2;
        } else if begins(&["CARRY", "SB_CARRY"]) {
            self.carry += 1;
        } else if begins(&["LUT", "SB_LUT"]) {
            self.lut += 1;
        } else if kind == "INV" {
            self.inv += 1;
        } else if begins(&["FD", "LD", "TRELLIS_FF", "SB_DFF"]) {
            self.ff += 1;
        } else if begins(&["DSP", "MULT", "ALU54", "SB_MAC"]) {
            self.dsp += 1;
        } else if begins(&[
            "RAM",
            "SRL",
            "DP16",
            "PDPW16",
            "TRELLIS_DPR",
            "SB_RAM",
            "SB_SPRAM",
            "URAM",
        ]) {
            self.ram += 1;
        } else if begins(&["MUXF", "PFUMX", "L6MUX"]) {
            self.mux += 1;
        } else if !begins(&[
            "IBUF",
            "OBUF",
            "BUFG",
            "SB_IO",
            "SB_GB",
            "TRELLIS_IO",
            "DCCA",
            "GND",
            "VCC",
            "VLO",
            "VHI",
            "$scopeinfo",
        ]) {
            match self.other.iter_mut().find(|other| other.kind == kind) {
                Some(other) => other.count += 1,
                None => self.other.push(OtherCells {
                    kind: kind.to_owned(),
                    count: 1,
                }),
            }
        }
    }
}

/// Cells by layer, in the order of the source. A cell belongs to the word that it drives, or to the nearest word that reads it.
pub fn by_layer(netlist: &Netlist, nodes: &[String]) -> Vec<LayerArea> {
    let mut drivers: BTreeMap<u64, usize> = BTreeMap::new();
    for (k, cell) in netlist.cells.iter().enumerate() {
        drivers.extend(cell.outputs.iter().map(|net| (*net, k)));
    }
    let name_of = |cell: &super::netlist::Cell| {
        cell.outputs
            .iter()
            .filter_map(|net| netlist.names.get(net))
            .min()
    };
    let mut owners: Vec<Option<&(u64, String)>> = netlist.cells.iter().map(name_of).collect();
    let mut queue: VecDeque<usize> = (0..owners.len()).filter(|k| owners[*k].is_some()).collect();
    while let Some(k) = queue.pop_front() {
        for net in &netlist.cells[k].inputs {
            if let Some(&driver) = drivers.get(net)
                && owners[driver].is_none()
            {
                owners[driver] = owners[k];
                queue.push_back(driver);
            }
        }
    }
    let mut layers: BTreeMap<&str, (u64, Area)> = BTreeMap::new();
    for (cell, owner) in netlist.cells.iter().zip(owners) {
        let (line, layer) = owner.map_or((u64::MAX, ""), |(line, name)| {
            (*line, layer_of(name, nodes))
        });
        let (first, area) = layers.entry(layer).or_insert((line, Area::default()));
        *first = line.min(*first);
        area.add(&cell.kind);
    }
    let mut layers: Vec<_> = layers
        .into_iter()
        .filter(|(_, (_, area))| *area != Area::default())
        .collect();
    layers.sort_by_key(|(_, (line, _))| *line);
    let layer = |(layer, (_, area)): (&str, (u64, Area))| LayerArea {
        layer: layer.to_owned(),
        area,
    };
    layers.into_iter().map(layer).collect()
}

/// The node of the graph in a signal's name: the longest of `nodes` that begins it. Without nodes, the name without its last parts of
/// letters and a number: `fc1` of `fc1_n12_a3`.
pub fn layer_of<'a>(name: &'a str, nodes: &[String]) -> &'a str {
    let begins = |node: &&String| {
        let rest = name.strip_prefix(node.as_str());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
    };
    if let Some(node) = nodes.iter().filter(begins).max_by_key(|node| node.len()) {
        return &name[..node.len()];
    }
    let is_part = |part: &str| {
        let digits = part.trim_start_matches(|c: char| c.is_ascii_lowercase());
        digits.len() < part.len()
            && !digits.is_empty()
            && digits.bytes().all(|b| b.is_ascii_digit())
    };
    let mut layer = name;
    while let Some((rest, part)) = layer.rsplit_once('_')
        && !rest.is_empty()
        && is_part(part)
    {
        layer = rest;
    }
    layer
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synth::netlist::Cell;

    #[test]
    fn kinds_are_counted_for_every_family() {
        let mut area = Area::default();
        let kinds = "LUT6 LUT2 INV CARRY4 FDRE DSP48E2 RAMB36E2 SRL16E MUXF7 IBUF BUFG CCU2C LUT4 TRELLIS_FF PFUMX SB_LUT4 SB_CARRY SB_DFFE FOO";
        kinds.split(' ').for_each(|kind| area.add(kind));
        let expected = Area {
            lut: 6,
            inv: 1,
            carry: 3,
            ff: 3,
            dsp: 1,
            ram: 2,
            mux: 2,
            other: vec![OtherCells {
                kind: "FOO".to_owned(),
                count: 1,
            }],
        };
        assert_eq!(area, expected);
        assert_eq!(area.lut_with_inv(), 7);
    }

    #[test]
    fn layers_are_in_the_names() {
        for (name, layer) in [
            ("fc1_n12_a3", "fc1"),
            ("seq_blocks_2_n0_a11", "seq_blocks_2"),
            ("relu_n0", "relu"),
            ("x_3", "x_3"),
            ("n1", "n1"),
        ] {
            assert_eq!(layer_of(name, &[]), layer);
        }
        let nodes = ["layer".to_owned(), "layer_b1".to_owned()];
        assert_eq!(layer_of("layer_b1_n0", &nodes), "layer_b1");
        assert_eq!(layer_of("layer_n0", &nodes), "layer");
    }

    /// LUT 1 → LUT 2 → `fc1_n0`, LUT 3 → nothing.
    #[test]
    fn cells_without_a_name_belong_to_their_reader() {
        let cell = |kind: &str, inputs: &[u64], outputs: &[u64]| Cell {
            kind: kind.to_owned(),
            inputs: inputs.to_vec(),
            outputs: outputs.to_vec(),
        };
        let netlist = Netlist {
            cells: vec![
                cell("LUT2", &[1], &[2]),
                cell("LUT3", &[2], &[3]),
                cell("LUT4", &[1], &[9]),
                cell("FDRE", &[3], &[4]),
            ],
            names: [(3, (5, "fc1_n0".to_owned())), (4, (2, "act_n0".to_owned()))].into(),
        };
        let layers: Vec<(String, u64, u64)> = by_layer(&netlist, &[])
            .into_iter()
            .map(|l| (l.layer, l.area.lut, l.area.ff))
            .collect();
        assert_eq!(
            layers,
            [
                ("act".to_owned(), 0, 1),
                ("fc1".to_owned(), 2, 0),
                (String::new(), 1, 0)
            ]
        );
    }
}
