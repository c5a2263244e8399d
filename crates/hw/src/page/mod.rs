//! `page.html`: one offline file about a folder of emitted hardware.
//!
//! It is the page of a network ([`report::page`]) with a chapter of its own, whose markup, looks and programs stand beside this
//! file. What it shows is the entry `hardware` of the page's data: the facts of `report.json` as they are, the claim of the
//! certificate, the checks in words, the netlist in columns, the waveform of the first rows and the floor of the device.

mod netlist;

use crate::folder::Emitted;
use crate::net::Net;
use crate::report::{Claim, checks, count, list, text};
use crate::simulate::{FIRST_ROWS_FILE, Wave};
use crate::synth::{COLOURS, Floor, GREY};
use ::report::page::{Chapter, Place, table};
use serde_json::{Value as Json, json};
use std::fs;

/// The chapter.
const CHAPTER: Chapter = Chapter {
    entry: "hardware",
    place: Place::First,
    markup: include_str!("chapter.html"),
    looks: include_str!("chapter.css"),
    program: concat!(
        include_str!("layers.js"),
        include_str!("netlist.js"),
        include_str!("neuron.js"),
        include_str!("wave.js"),
        include_str!("chapter.js")
    ),
    plain,
};

/// The page of a folder.
pub fn page(
    facts: &Json,
    emitted: &Emitted,
    net_sv: Option<&str>,
    claim: Option<&Claim>,
) -> String {
    let file = |name: &str| fs::read_to_string(emitted.path.join(name)).ok();
    let net = file("net.json")
        .and_then(|text| Net::from_json(&text, Some(emitted.ports.inputs.len())).ok());
    let columns = net.map(|net| netlist::columns(&net, netlist::MAX_OPERATIONS));
    let wave = file(FIRST_ROWS_FILE).and_then(|text| Wave::read(&text, &emitted.ports));
    let floor = file("floor.svg").and_then(|text| Floor::from_svg(&text));
    let names = |elements: &[crate::ports::Element]| -> Vec<String> {
        elements
            .iter()
            .map(|element| element.name.clone())
            .collect()
    };
    let checks = checks(facts, net_sv, claim);
    let data = json!({
        "program": concat!("mase ", env!("CARGO_PKG_VERSION")),
        "facts": summary(facts),
        "sentences": sentences(claim),
        "hardware": {
            "report": facts, "claim": claim, "checks": checks, "net": columns, "wave": wave,
            "floor": floor.as_ref().map(compact), "inputs": names(&emitted.ports.inputs),
            "latency": emitted.ports.latency, "colors": COLOURS, "other_color": GREY,
        },
    });
    let title = match text(facts, "network") {
        "" => "Hardware".to_owned(),
        name => format!("Hardware of {name}"),
    };
    ::report::page::page(&data, &title, &[CHAPTER])
}

/// The table at the top.
fn summary(facts: &Json) -> Json {
    let mut rows = Vec::new();
    let mut push = |name: &str, value: Json, about: &str| {
        if !value.is_null() {
            rows.push(json!({ "name": name, "before": null, "after": value, "about": about }));
        }
    };
    let fact = |key: &str| facts[key].clone();
    push(
        "target",
        fact("target"),
        "the device that LUTs are estimated for",
    );
    let estimate = &facts["estimate"];
    if !estimate.is_null() {
        let range = format!("{} ± {}", estimate["lut"], estimate["error"]);
        push(
            "LUT (estimate)",
            json!(range),
            "look-up tables by a line through measured networks; the range is twice its mean error",
        );
    }
    for found in list(facts, "synth") {
        let name = format!("LUT ({})", text(found, "target"));
        push(
            &name,
            found["area"]["lut"].clone(),
            "look-up tables after synthesis",
        );
    }
    push(
        "flip-flops",
        fact("flip_flops"),
        "bits of registers, exactly",
    );
    push(
        "cycles",
        fact("latency"),
        "clock cycles from an input to its result; a result leaves in every cycle",
    );
    push(
        "adders",
        fact("adders"),
        "adders and subtractors; nothing is multiplied by a constant",
    );
    push(
        "adder bits",
        fact("adder_bits"),
        "bits that adders compute; low bits that pass through are free",
    );
    push(
        "levels",
        fact("levels"),
        "levels of adders from the input to the result",
    );
    push("bits of x", fact("input_bits"), "bits of a row");
    push("bits of y", fact("output_bits"), "bits of a result");
    json!(rows)
}

/// The sentences beside it.
fn sentences(claim: Option<&Claim>) -> Vec<String> {
    let Some(claim) = claim else {
        return Vec::new();
    };
    vec![match &claim.changed {
        None => format!(
            "Proved for all 2^{} inputs: rtl/net.sv computes the network.",
            claim.input_bits
        ),
        Some(file) => format!("{file} is not the file that certificate.json is about."),
    }]
}

/// A floor on few bytes: its layers, and four numbers for every tile.
fn compact(floor: &Floor) -> Json {
    let mut layers: Vec<&str> = Vec::new();
    let mut tiles: Vec<u32> = Vec::new();
    for tile in &floor.tiles {
        let known = layers.iter().position(|layer| *layer == tile.layer);
        let layer = known.unwrap_or_else(|| {
            layers.push(&tile.layer);
            layers.len() - 1
        });
        tiles.extend([tile.x, tile.y, layer as u32, tile.cells]);
    }
    json!({ "width": floor.width, "height": floor.height, "layers": layers, "tiles": tiles })
}

/// Checks and layers as tables, for browsers without JavaScript.
fn plain(data: &Json) -> String {
    let cells = |entry: &Json, keys: &[&str]| -> Vec<String> {
        let cell = |key: &&str| match &entry[*key] {
            Json::Null => String::new(),
            Json::String(text) => text.clone(),
            other => other.to_string(),
        };
        keys.iter().map(cell).collect()
    };
    let rows = |value: &Json, key: &str, keys: &[&str]| -> Vec<Vec<String>> {
        list(value, key)
            .iter()
            .map(|entry| cells(entry, keys))
            .collect()
    };
    let checks = rows(data, "checks", &["rung", "on", "result", "tool"]);
    let keys = ["layer", "neurons", "adders", "adder_bits", "lut", "ff"];
    let layers = rows(&data["report"], "layers", &keys);
    let heads = ["layer", "neurons", "adders", "bits", "LUT (estimate)", "FF"];
    let mut out = table(&["check", "on", "result", "by"], checks.into_iter());
    if count(&data["report"], "adders") > 0 {
        out += &table(&heads, layers.into_iter());
    }
    out
}
