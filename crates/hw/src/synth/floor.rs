//! The floor picture of a placed design: tiles of the device, coloured by the layer that has most cells in them.

use super::area::layer_of;
use super::netlist::source_name;
use serde::Deserialize;
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::fmt::Write;

#[derive(Deserialize)]
struct File {
    modules: BTreeMap<String, Module>,
}

#[derive(Deserialize)]
struct Module {
    #[serde(default)]
    cells: BTreeMap<String, Cell>,
}

#[derive(Deserialize)]
struct Cell {
    #[serde(default)]
    attributes: BTreeMap<String, Json>,
}

/// Pixels of a tile.
const TILE: u32 = 8;

/// Colours of layers in their order, told apart on light and on dark ground.
const COLOURS: &[&str] = &[
    "#4e79a7", "#f28e2b", "#59a14f", "#e15759", "#b07aa1", "#76b7b2", "#edc948", "#9c755f",
];

/// Cells without a layer.
const GREY: &str = "#8a8a8a";

/// The largest coordinate that a device may have.
const MAX_SIDE: u32 = 2000;

/// Draws the design that nextpnr wrote, with the layers of `layers` in their order.
pub fn floor_picture(text: &str, layers: &[String], nodes: &[String]) -> Result<String, String> {
    let file: File =
        serde_json::from_str(text).map_err(|error| format!("the placed design: {error}"))?;
    let mut tiles: BTreeMap<(u32, u32), BTreeMap<Option<usize>, u32>> = BTreeMap::new();
    for (name, cell) in file.modules.values().flat_map(|module| &module.cells) {
        let place = cell.attributes.get("NEXTPNR_BEL").and_then(Json::as_str);
        let Some(place) = place.and_then(coordinates) else {
            continue;
        };
        let layer = layer_of(source_name(name), nodes);
        let layer = layers.iter().position(|known| known == layer);
        *tiles.entry(place).or_default().entry(layer).or_default() += 1;
    }
    let side = |at: fn(&(u32, u32)) -> u32| tiles.keys().map(at).max().map_or(1, |max| max + 1);
    let (width, height) = (side(|place| place.0), side(|place| place.1));
    let (pixels_x, pixels_y) = (width * TILE, height * TILE);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {pixels_x} {pixels_y}\" role=\"img\">\n"
    );
    let _ = writeln!(
        svg,
        "<rect width=\"{pixels_x}\" height=\"{pixels_y}\" fill=\"none\" stroke=\"{GREY}\"/>"
    );
    for ((x, y), counts) in &tiles {
        let Some((layer, _)) = counts
            .iter()
            .max_by_key(|(layer, count)| (**count, std::cmp::Reverse(**layer)))
        else {
            continue;
        };
        let total: u32 = counts.values().sum();
        let colour = layer.map_or(GREY, |layer| COLOURS[layer % COLOURS.len()]);
        let title = layer.map_or("other", |layer| layers[layer].as_str());
        let (left, top) = (x * TILE, (height - 1 - y) * TILE);
        let opacity = if total < 4 { "0.6" } else { "1" };
        let _ = writeln!(
            svg,
            "<rect x=\"{left}\" y=\"{top}\" width=\"7\" height=\"7\" fill=\"{colour}\" fill-opacity=\"{opacity}\"><title>{}: {total} cells</title></rect>",
            escaped(title)
        );
    }
    Ok(svg + "</svg>\n")
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

/// The tile of `X12/Y7/…`.
fn coordinates(place: &str) -> Option<(u32, u32)> {
    let mut parts = place.split('/');
    let x = parts.next()?.strip_prefix('X')?.parse().ok()?;
    let y = parts.next()?.strip_prefix('Y')?.parse().ok()?;
    (x < MAX_SIDE && y < MAX_SIDE).then_some((x, y))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_have_the_colour_of_their_layer() {
        let text = r#"{"modules": {"top": {"cells": {
            "network.fc1_n0_a0_SB_DFF_Q": {"attributes": {"NEXTPNR_BEL": "X1/Y2/lc0"}},
            "network.fc1_n1_a0": {"attributes": {"NEXTPNR_BEL": "X1/Y2/lc1"}},
            "network.fc2_n0": {"attributes": {"NEXTPNR_BEL": "X1/Y2/lc2"}},
            "other": {"attributes": {"NEXTPNR_BEL": "X0/Y0/lc2"}},
            "hostile": {"attributes": {"NEXTPNR_BEL": "X4000000000/Y0/lc2"}},
            "nowhere": {"attributes": {}}}}}}"#;
        let layers = ["fc1".to_owned(), "fc2".to_owned()];
        let svg = floor_picture(text, &layers, &[]).unwrap();
        assert!(svg.contains("viewBox=\"0 0 16 24\""), "{svg}");
        assert!(svg.contains("<rect x=\"8\" y=\"0\" width=\"7\" height=\"7\" fill=\"#4e79a7\" fill-opacity=\"0.6\"><title>fc1: 3 cells"), "{svg}");
        assert_eq!(svg.matches("<title>").count(), 2);
        assert!(floor_picture("{", &[], &[]).is_err());
    }
}
