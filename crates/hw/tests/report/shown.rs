//! What a browser shows of the page, by pointer and by keys.

use crate::browser::{Browser, SKIPPED, part};
use crate::page::{HOSTILE, make_hostile};
use crate::sample::{Folder, add_everything, emission, emit, large};
use hw::emit::Emission;
use serde_json::{Value as Json, json};
use std::collections::HashMap;

/// The findings of a browser in the page.
fn driven(browser: &Browser, page: &str, address: &str) -> Json {
    let driver = include_str!("page_driver.js");
    let dom = browser.shown(&format!("{page}<script>{driver}</script>"), address);
    let found = part(&dom, "<pre id=\"found\">", "</pre>");
    let found = found
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&amp;", "&");
    serde_json::from_str(&found).unwrap()
}

#[test]
fn a_browser_shows_the_hardware() {
    let Some(browser) = Browser::find() else {
        println!("{SKIPPED}");
        return;
    };
    let folder = Folder::new("report_browser");
    let emission = emission();
    let emitted = emit(&emission, &folder);
    add_everything(&emitted);
    let found = driven(&browser, &folder.read("page.html"), "#neuron-0-2");
    assert_eq!(found["errors"], json!([]));
    assert_eq!(found["requests"], json!([]));
    let parts = [
        "layerPart",
        "stagePart",
        "neuronPart",
        "wavePart",
        "floorPart",
        "sizePart",
        "claim",
    ];
    assert_eq!(found["parts"], json!(parts));
    assert_eq!(found["at_start"], "fc1[2]");
    let facts: Json = serde_json::from_str(&folder.read("report.json")).unwrap();
    let layers = facts["layers"].as_array().unwrap();
    let names: Vec<&Json> = layers.iter().map(|own| &own["layer"]).collect();
    assert_eq!(found["layers"], json!(names));
    assert_eq!(found["stages"], facts["stages"].as_array().unwrap().len());
    assert_eq!(found["checks"], 7);
    assert_eq!(
        found["passed"],
        json!([
            "interpreter",
            "simulate (icarus)",
            "prove",
            "place (ecp5)",
            "serial (ulx3s-85f)"
        ])
    );
    // Every neuron that the drawing opens has the operations of the netlist behind it.
    let neurons: Vec<u64> = layers
        .iter()
        .map(|own| own["neurons"].as_u64().unwrap())
        .collect();
    assert_eq!(found["neurons"], json!(neurons));
    check_lines(&emission, found["lines"].as_array().unwrap());
    assert!(found["lines"].as_array().unwrap().len() > 10, "{found}");
    assert_eq!(found["walked"], true);
    assert_ne!(found["light"], found["dark"]);
    assert_eq!(found["too_wide"], json!([]));
}

/// The value that a name of the netlist's text stands for, behind registers: a constant, or the name of an operation.
fn plain<'a>(known: &HashMap<&'a str, &'a str>, mut name: &'a str) -> &'a str {
    while let Some(value) = known.get(name) {
        let value = value.split("    ").next().unwrap_or_default();
        let held = value.strip_prefix("register(");
        match held.and_then(|held| held.strip_suffix(')')) {
            Some(held) => name = held,
            None if value.parse::<i64>().is_ok() => return value,
            None => break,
        }
    }
    name
}

/// The lines of operations are those of the netlist's text, where registers are the values that they hold and constants their values.
fn check_lines(emission: &Emission, lines: &[Json]) {
    let text = emission.net.to_text();
    let pairs = text.lines().filter_map(|line| line.split_once(" = "));
    let known: HashMap<&str, &str> = pairs.map(|(name, value)| (name.trim(), value)).collect();
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut n_sums = 0;
    for line in lines {
        let line = line.as_str().unwrap();
        let (name, value) = line.split_once(" = ").unwrap();
        let value = value.split(", read by").next().unwrap();
        let own = known.get(name).unwrap_or_else(|| panic!("no {name}"));
        let ends = |text: &str| text.split_once("    ").unwrap().1.to_owned();
        assert_eq!(ends(value), ends(own), "{line}");
        if !value.contains(" + ") && !value.contains(" - ") {
            continue;
        }
        let words = own.split_inclusive(|c| !is_word(c)).map(|part| {
            let word = part.trim_end_matches(|c| !is_word(c));
            plain(&known, word).to_owned() + &part[word.len()..]
        });
        assert_eq!(value, words.collect::<String>(), "{line}");
        n_sums += 1;
    }
    assert!(n_sums > 5, "{n_sums} sums were compared");
}

#[test]
fn a_browser_takes_hostile_names_for_texts() {
    let Some(browser) = Browser::find() else {
        println!("{SKIPPED}");
        return;
    };
    let folder = Folder::new("report_browser_hostile");
    let emitted = emit(&emission(), &folder);
    make_hostile(&emitted);
    let found = driven(&browser, &folder.read("page.html"), "");
    assert_eq!(found["errors"], json!([]));
    assert_eq!(found["images"], 0);
    assert_eq!(found["layers"][0], HOSTILE);
}

/// Bytes of the page of thirty thousand adders, at most.
const MAX_BYTES: usize = 2_000_000;

#[test]
fn a_large_netlist_stays_usable() {
    let folder = Folder::new("report_large");
    let emission = large(30_000);
    let (adders, _) = emission.net.adders();
    assert!(adders >= 30_000, "{adders}");
    emit(&emission, &folder);
    let page = folder.read("page.html");
    println!("{adders} adders: {} bytes", page.len());
    assert!(page.len() <= MAX_BYTES, "{} bytes", page.len());
    let Some(browser) = Browser::find() else {
        println!("{SKIPPED}");
        return;
    };
    let found = driven(&browser, &page, "");
    println!(
        "ready after {} ms, a neuron after {} ms",
        found["ready"], found["opened_after"]
    );
    assert_eq!(found["errors"], json!([]));
}
