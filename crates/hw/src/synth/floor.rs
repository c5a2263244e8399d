//! The floor picture of a placed design: tiles of the device, coloured by the layer that has most cells in them.

use super::area::layer_of;
use super::netlist::source_name;
use serde::{Deserialize, Serialize};
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
pub const COLOURS: &[&str] = &[
    "#4e79a7", "#f28e2b", "#59a14f", "#e15759", "#b07aa1", "#76b7b2", "#edc948", "#9c755f",
];

/// Cells without a layer.
pub const GREY: &str = "#8a8a8a";

/// The largest coordinate that a device may have.
const MAX_SIDE: u32 = 2000;

/// The floor of a device: its tiles that have cells.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Floor {
    /// Tiles from left to right.
    pub width: u32,
    /// Tiles from bottom to top.
    pub height: u32,
    /// Tiles with cells.
    pub tiles: Vec<Tile>,
}

/// A tile of a device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Tile {
    /// Its column, from the left.
    pub x: u32,
    /// Its row, from the bottom.
    pub y: u32,
    /// The layer that has most cells in it; empty for cells that no name leads to.
    pub layer: String,
    /// Its cells.
    pub cells: u32,
}

/// Draws the design that nextpnr wrote, with the layers of `layers` in their order.
pub fn floor_picture(text: &str, layers: &[String], nodes: &[String]) -> Result<String, String> {
    Ok(Floor::of(text, layers, nodes)?.to_svg(layers))
}

impl Floor {
    /// The floor of the design that nextpnr wrote.
    pub fn of(text: &str, layers: &[String], nodes: &[String]) -> Result<Self, String> {
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
        let tile = |(&(x, y), counts): (&(u32, u32), &BTreeMap<Option<usize>, u32>)| {
            let by_size = |own: &(&Option<usize>, &u32)| (*own.1, std::cmp::Reverse(*own.0));
            let largest = counts.iter().max_by_key(by_size)?.0;
            Some(Tile {
                x,
                y,
                layer: largest.map_or_else(String::new, |layer| layers[layer].clone()),
                cells: counts.values().sum(),
            })
        };
        Ok(Self {
            width: side(|place| place.0),
            height: side(|place| place.1),
            tiles: tiles.iter().filter_map(tile).collect(),
        })
    }

    /// The picture, coloured by the layers of `layers` in their order.
    pub fn to_svg(&self, layers: &[String]) -> String {
        let (pixels_x, pixels_y) = (self.width * TILE, self.height * TILE);
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {pixels_x} {pixels_y}\" role=\"img\">\n"
        );
        let _ = writeln!(
            svg,
            "<rect width=\"{pixels_x}\" height=\"{pixels_y}\" fill=\"none\" stroke=\"{GREY}\"/>"
        );
        for Tile { x, y, layer, cells } in &self.tiles {
            let place = layers.iter().position(|known| known == layer);
            let colour = place.map_or(GREY, |place| COLOURS[place % COLOURS.len()]);
            let title = if layer.is_empty() { OTHER } else { layer };
            let (left, top) = (x * TILE, (self.height - 1 - y) * TILE);
            let opacity = if *cells < 4 { "0.6" } else { "1" };
            let _ = writeln!(
                svg,
                "<rect x=\"{left}\" y=\"{top}\" width=\"7\" height=\"7\" fill=\"{colour}\" fill-opacity=\"{opacity}\"><title>{}: {cells} cells</title></rect>",
                escaped(title)
            );
        }
        svg + "</svg>\n"
    }

    /// The floor of such a picture; none of a text that is not one.
    pub fn from_svg(svg: &str) -> Option<Self> {
        let side = |text: &str| Some(text.parse::<u32>().ok()? / TILE).filter(|n| *n <= MAX_SIDE);
        let mut lines = svg.lines();
        let (_, view) = lines.next()?.split_once("viewBox=\"0 0 ")?;
        let (width, height) = view.split_once('"')?.0.split_once(' ')?;
        let (width, height) = (side(width)?, side(height)?);
        lines.next()?.strip_prefix("<rect width=")?;
        let mut tiles = Vec::new();
        for line in lines.take_while(|line| *line != "</svg>") {
            let (x, rest) = line.strip_prefix("<rect x=\"")?.split_once("\" y=\"")?;
            let (top, rest) = rest.split_once('"')?;
            let (_, title) = rest.split_once("<title>")?;
            let (layer, cells) = title
                .strip_suffix(" cells</title></rect>")?
                .rsplit_once(": ")?;
            let (x, top) = (side(x)?, side(top)?);
            let layer = unescaped(layer);
            tiles.push(Tile {
                x,
                y: height.checked_sub(top + 1)?,
                layer: if layer == OTHER { String::new() } else { layer },
                cells: cells.parse().ok()?,
            });
        }
        Some(Self {
            width,
            height,
            tiles,
        })
    }
}

/// The title of cells without a layer.
const OTHER: &str = "other";

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

fn unescaped(text: &str) -> String {
    text.replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&amp;", "&")
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
        let floor = Floor::of(text, &layers, &[]).unwrap();
        assert_eq!(Floor::from_svg(&svg), Some(floor));
    }

    #[test]
    fn only_pictures_of_floors_are_read_back() {
        let tile = Tile {
            x: 3,
            y: 1,
            layer: "a: <b>&amp;".to_owned(),
            cells: 5,
        };
        let floor = Floor {
            width: 5,
            height: 2,
            tiles: vec![tile],
        };
        let svg = floor.to_svg(&[]);
        assert_eq!(Floor::from_svg(&svg), Some(floor));
        for hostile in [
            "",
            "<svg/>",
            &svg.replace("y=\"0\"", "y=\"16\""),
            &svg.replace("<rect x", "<script>"),
            &svg.replace("0 0 40 16", "0 0 40000000 16"),
            &svg.replace("5 cells", "many cells"),
        ] {
            assert_eq!(Floor::from_svg(hostile), None, "{hostile}");
        }
    }
}
