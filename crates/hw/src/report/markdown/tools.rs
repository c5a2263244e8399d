//! The parts of the report on synthesis, placement and boards.

use super::super::{list, text};
use super::{number, words};
use ::report::Table;
use serde_json::Value as Json;
use std::fmt::Write;

/// The cells of a target by layer, and its clocks where it was placed.
pub(super) fn synthesis(out: &mut String, found: &Json) {
    let _ = writeln!(
        out,
        "\n## Synthesis for {}\n\nBy {}.\n",
        words(text(found, "target")),
        words(text(found, "tool"))
    );
    let keys = ["lut", "inv", "carry", "ff", "dsp", "ram"];
    let mut table = Table::new(&["layer", "LUT", "INV", "carry", "FF", "DSP", "RAM"]);
    for layer in list(found, "layers") {
        let name = match text(layer, "layer") {
            "" => "other".to_owned(),
            name => words(name),
        };
        table.push(std::iter::once(name).chain(keys.map(|key| number(layer, key))));
    }
    let total = std::iter::once("all".to_owned());
    table.totals = Some(
        total
            .chain(keys.map(|key| number(&found["area"], key)))
            .collect(),
    );
    *out += &table.to_markdown();
    let _ = writeln!(
        out,
        "\nWith a LUT for each INV: {} LUT.",
        number(found, "lut_with_inv")
    );
    let placement = &found["placement"];
    if placement.is_null() {
        return;
    }
    let megahertz = |key: &str| placement[key].as_f64().unwrap_or(0.0);
    let seeds = list(placement, "seeds");
    let _ = writeln!(
        out,
        "\nPlaced and routed between registers by {} with {} seeds: {:.1} MHz min, {:.1} median, {:.1} max (`floor.svg`).",
        words(text(placement, "tool")),
        seeds.len(),
        megahertz("min_mhz"),
        megahertz("median_mhz"),
        megahertz("max_mhz"),
    );
    longest_path(out, seeds);
}

fn longest_path(out: &mut String, seeds: &[Json]) {
    let clock = |seed: &&Json| seed["fmax_mhz"].as_f64().unwrap_or(0.0);
    let fastest = seeds.iter().max_by(|a, b| clock(a).total_cmp(&clock(b)));
    let Some(fastest) = fastest else { return };
    let path = list(fastest, "critical_path");
    if path.is_empty() {
        return;
    }
    *out += "\nThe longest path of the fastest seed:\n\n";
    let mut table = Table::new(&["signal", "layer", "delay (ns)"]);
    for step in path {
        let delay = step["delay_ns"].as_f64().unwrap_or(0.0);
        table.push([
            words(text(step, "signal")),
            words(text(step, "layer")),
            format!("{delay:.2}"),
        ]);
    }
    *out += &table.to_markdown();
}

/// The bitstreams, and why others are not there.
pub(super) fn bitstreams(out: &mut String, facts: &Json) {
    let all = list(facts, "bitstreams");
    if all.is_empty() {
        return;
    }
    *out += "\n## Bitstreams\n\n";
    let mut table = Table::new(&["board", "result", "LUT", "FF", "clock (MHz)", "by"]);
    for made in all {
        let clock = made["placed"]["fmax_mhz"].as_f64();
        let clock = clock.or(made["fmax_mhz"].as_f64());
        let tools: Vec<&str> = list(made, "tools")
            .iter()
            .filter_map(Json::as_str)
            .collect();
        let result = match (text(made, "file"), text(made, "reason")) {
            ("", reason) => words(reason),
            (file, _) => format!("{} ({} bytes)", words(file), number(made, "bytes")),
        };
        table.push([
            words(text(made, "board")),
            result,
            number(&made["area"], "lut"),
            number(&made["area"], "ff"),
            clock.map_or_else(|| "–".to_owned(), |clock| format!("{clock:.1}")),
            words(&tools.join(", ")),
        ]);
    }
    *out += &table.to_markdown();
}
