//! The netlist that yosys writes as JSON: cells, their connections, and the names of nets.

use serde::Deserialize;
use serde_json::Value as Json;
use std::collections::BTreeMap;

/// A synthesised module.
#[derive(Debug)]
pub struct Netlist {
    /// Its cells.
    pub cells: Vec<Cell>,
    /// The name of every net that has one in the source, and its line there. Where a net has several, the first line counts.
    pub names: BTreeMap<u64, (u64, String)>,
}

/// A cell with the nets at its pins.
#[derive(Debug)]
pub struct Cell {
    /// The kind of cell, such as `LUT4`.
    pub kind: String,
    /// Nets that it reads; constants are left out.
    pub inputs: Vec<u64>,
    /// Nets that it drives.
    pub outputs: Vec<u64>,
}

#[derive(Deserialize)]
struct File {
    modules: BTreeMap<String, Module>,
}

#[derive(Deserialize)]
struct Module {
    #[serde(default)]
    ports: BTreeMap<String, Json>,
    #[serde(default)]
    cells: BTreeMap<String, RawCell>,
    #[serde(default)]
    netnames: BTreeMap<String, RawName>,
}

#[derive(Deserialize)]
struct RawCell {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    port_directions: BTreeMap<String, String>,
    connections: BTreeMap<String, Vec<Json>>,
}

#[derive(Deserialize)]
struct RawName {
    hide_name: u64,
    bits: Vec<Json>,
    #[serde(default)]
    attributes: BTreeMap<String, Json>,
}

/// Kinds of cells in the names that yosys gives to nets without one: `fc1_n3_a0_TRELLIS_FF_Q_DI` is a part of `fc1_n3_a0`.
const DERIVED: &[&str] = &[
    "_TRELLIS_",
    "_CCU2C_",
    "_LUT4_",
    "_PFUMX_",
    "_L6MUX21_",
    "_SB_",
    "_MULT18X18D_",
    "_DP16KD_",
];

impl Netlist {
    /// Reads the module `top` of a file.
    pub fn parse(text: &str, top: &str) -> Result<Self, String> {
        let mut file: File =
            serde_json::from_str(text).map_err(|error| format!("the netlist: {error}"))?;
        let module = file
            .modules
            .remove(top)
            .ok_or_else(|| format!("the netlist has no module {top}"))?;
        let mut cells = Vec::new();
        for (name, cell) in &module.cells {
            let pins = |direction: &str| -> Vec<u64> {
                let pins = cell.connections.iter();
                let own = pins.filter(|(pin, _)| {
                    cell.port_directions
                        .get(*pin)
                        .is_some_and(|d| d == direction)
                });
                own.flat_map(|(_, bits)| bits)
                    .filter_map(Json::as_u64)
                    .collect()
            };
            if cell.port_directions.is_empty() && !cell.connections.is_empty() {
                return Err(format!("the cell {name} has no directions of its pins"));
            }
            cells.push(Cell {
                kind: cell.kind.clone(),
                inputs: pins("input"),
                outputs: pins("output"),
            });
        }
        let mut names: BTreeMap<u64, (u64, String)> = BTreeMap::new();
        for (name, net) in &module.netnames {
            let source = source_name(name);
            if net.hide_name != 0 || module.ports.contains_key(source) {
                continue;
            }
            let named = (line(net), source.to_owned());
            for bit in net.bits.iter().filter_map(Json::as_u64) {
                let known = names.entry(bit).or_insert_with(|| named.clone());
                if named < *known {
                    *known = named.clone();
                }
            }
        }
        Ok(Self { cells, names })
    }
}

/// The first line of `FILE:LINE.COLUMN-…`; a net without one comes last.
fn line(net: &RawName) -> u64 {
    let source = net.attributes.get("src").and_then(Json::as_str);
    let number = source.and_then(|source| {
        let place = source.split('|').next()?;
        let place = place.rsplit(':').next()?;
        place.split('.').next()?.parse().ok()
    });
    number.unwrap_or(u64::MAX)
}

/// The name in the source from which yosys derived this one, without the instances around it.
pub(super) fn source_name(name: &str) -> &str {
    let name = name.rsplit('.').next().unwrap_or(name);
    let end = DERIVED.iter().filter_map(|kind| name.find(kind));
    let end = end.chain(name.find('[')).min();
    &name[..end.unwrap_or(name.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = r#"{ "modules": { "net": {
        "ports": { "y": { "direction": "output", "bits": [4] } },
        "cells": { "$1": { "type": "LUT2", "port_directions": { "A": "input", "O": "output" }, "connections": { "A": [2, "0"], "O": [3] } } },
        "netnames": {
            "y": { "hide_name": 0, "bits": [4] },
            "late": { "hide_name": 0, "bits": [3], "attributes": { "src": "a/net.sv:9.1-9.3|x.v:1.1" } },
            "fc1_n0_a0_TRELLIS_FF_Q": { "hide_name": 0, "bits": [3, "x"], "attributes": { "src": "a/net.sv:7.1-7.3" } },
            "$abc": { "hide_name": 1, "bits": [5] } } } } }"#;

    #[test]
    fn cells_and_first_names_are_read() {
        let netlist = Netlist::parse(FILE, "net").unwrap();
        assert_eq!(netlist.cells[0].inputs, [2]);
        assert_eq!(netlist.cells[0].outputs, [3]);
        let names: Vec<_> = netlist.names.into_iter().collect();
        assert_eq!(names, [(3, (7, "fc1_n0_a0".to_owned()))]);
    }

    #[test]
    fn hostile_netlists_are_refused() {
        for text in [
            "",
            "[]",
            "{}",
            r#"{"modules":{}}"#,
            r#"{"modules":{"net":{"cells":{"a":{"type":"LUT2","connections":{"A":[1]}}}}}}"#,
        ] {
            assert!(Netlist::parse(text, "net").is_err(), "{text}");
        }
    }

    #[test]
    fn names_lead_back_to_the_source() {
        for (name, source) in [
            ("network.fc1_n3_a0", "fc1_n3_a0"),
            ("fc1_n3_a0_SB_DFF_Q_1_D_SB_LUT4_O_I3", "fc1_n3_a0"),
            ("fc1_n3_a0_TRELLIS_FF_Q_2_DI_CCU2C_S1_COUT", "fc1_n3_a0"),
            ("network.fc1_n3_a0[5]", "fc1_n3_a0"),
            ("x_3", "x_3"),
        ] {
            assert_eq!(source_name(name), source);
        }
    }
}
