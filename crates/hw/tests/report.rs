//! `report.md` of a small network, to be read in review, and what `page.html` holds and shows. `UPDATE_GOLDEN=1` writes the reports.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

#[path = "../../report/tests/browser/mod.rs"]
mod browser;

use browser::{Browser, SKIPPED, part};
use engine::State;
use engine::integer::Program;
use hw::emit::{Emission, Rows, Style};
use hw::folder::Emitted;
use hw::net::{Builder, Interval, Origin, Term};
use hw::report::{Record, Rung, RungKind, sha256};
use hw::solve::Effort;
use hw::synth::{Floor, Tile};
use hw::vectors::Vectors;
use ir::{Graph, verify};
use serde_json::{Value as Json, json};
use std::collections::HashMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

const NETWORK: &str = "graph \"small\" {
    x: f32[N, 4] = placeholder
    fc1 = linear(x: integer(4, 2)) { target = \"fc1\", in_features = 4, out_features = 3, weight: integer(4, 3), bias: integer(4, 2) }
    act = relu(fc1: integer(5, 1))
    fc2 = linear(act: integer(4, 1, signed = false)) { target = \"fc2\", in_features = 3, out_features = 2, weight: integer(4, 3), bias: integer(4, 2) }
    return fc2
}";

/// A folder that is removed when the test ends.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let name = format!("{name}_{}", std::process::id());
        Self(PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name))
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.0.join(name)).unwrap()
    }

    /// The data that the page holds.
    fn data(&self) -> Json {
        let page = self.read("page.html");
        serde_json::from_str(::report::page::data_text(&page).unwrap()).unwrap()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn emission() -> Emission {
    let mut graph = Graph::parse(NETWORK).unwrap();
    graph.initialize(5);
    let verified = verify(&graph).unwrap();
    let state = State::new(&verified).unwrap();
    let program = Program::of(&verified, &state, 1).unwrap();
    Emission::of(&program, Style::Pipelined { levels: 2.2 }, Effort::Normal).unwrap()
}

/// Emits a network as `ch emit` does, on rows of its own.
fn emit(emission: &Emission, folder: &Folder) -> Emitted {
    let inputs = &emission.ports.inputs;
    let x: Vec<i64> = (0..3)
        .flat_map(|row| inputs.iter().map(move |own| own.min + row))
        .collect();
    let y = emission.evaluate(&x);
    let rows = Rows {
        x: Vectors::new(inputs.len(), x).unwrap(),
        y: Vectors::new(emission.ports.outputs.len(), y).unwrap(),
    };
    let mut figures = emission.figures("ecp5");
    figures["network"] = json!("small");
    figures["program"] = json!(concat!("mase ", env!("CARGO_PKG_VERSION")));
    let mut record = Record::of(figures);
    emission
        .write(&folder.0, &mut record, b"", &rows, false)
        .unwrap()
}

fn rung(emitted: &Emitted, kind: &str, on: &str, tool: &str, passed: bool, facts: Json) -> Rung {
    Rung {
        kind: RungKind::find(kind).unwrap(),
        on: on.to_owned(),
        tool: tool.to_owned(),
        passed,
        net_sv: sha256(&emitted.net()).unwrap(),
        facts,
    }
}

/// Adds what the other commands would.
fn add_everything(emitted: &Emitted) {
    let mut record = Record::open(emitted).unwrap();
    let rows = json!({ "rows": 3, "differing": 0, "available_rows": 3 });
    let wrong = json!({ "rows": 3, "differing": 1, "available_rows": 3,
        "first": { "row": 2, "element": "fc2[1]", "expected": 5, "got": "x" } });
    let placed = json!({ "seeds": 2, "median_mhz": 151.5 });
    for rung in [
        rung(
            emitted,
            "simulate",
            "icarus",
            "iverilog 11.0",
            true,
            rows.clone(),
        ),
        rung(emitted, "prove", "", "mase 1, yosys 0.23", true, json!({})),
        rung(
            emitted,
            "gates",
            "ice40",
            "iverilog 11.0, yosys 0.23",
            false,
            wrong,
        ),
        rung(
            emitted,
            "place",
            "ecp5",
            "pyosys 0.70, nextpnr-ecp5 0.11",
            true,
            placed,
        ),
        rung(emitted, "serial", "ulx3s-85f", "iverilog 11.0", true, rows),
    ] {
        record.add_rung(&rung);
    }
    let area = json!({ "lut": 40, "inv": 2, "carry": 9, "ff": 70, "dsp": 0, "ram": 0, "mux": 0 });
    let mut layer = area.clone();
    layer["layer"] = json!("fc1");
    let step = json!({ "signal": "fc1_n0_a1", "layer": "fc1", "delay_ns": 3.25 });
    record.add_synthesis(json!({
        "target": "ecp5", "tool": "pyosys 0.70", "seconds": 1.5, "area": area, "lut_with_inv": 42, "layers": [layer],
        "placement": { "tool": "nextpnr-ecp5 0.11", "min_mhz": 150.0, "median_mhz": 151.5, "max_mhz": 153.0,
            "seeds": [{ "seed": 1, "fmax_mhz": 153.0, "critical_path": [step] }, { "seed": 2, "fmax_mhz": 150.0, "critical_path": [] }] },
    }));
    record.add_bitstream(json!({ "board": "ulx3s-85f", "result": "done", "file": "bitstream/ulx3s-85f.bit", "bytes": 1000,
        "area": { "lut": 90, "ff": 120 }, "placed": { "fmax_mhz": 140.25 }, "tools": ["pyosys 0.70", "ecppack 1.4"] }));
    record.add_bitstream(json!({ "board": "icebreaker", "result": "too_large", "reason": "the design does not fit icebreaker" }));
    let hashes: Vec<[String; 2]> = ["rtl/net.sv", "ports.json"]
        .map(|name| [name.to_owned(), sha256(&emitted.path.join(name)).unwrap()])
        .into();
    let certificate = json!({ "version": 1, "program": "1", "reader": "yosys 0.23", "files": hashes,
        "input_bits": 16, "words": 30, "atoms": 4, "outputs": 2, "latency": 3 });
    emitted
        .write("certificate.json", &certificate.to_string())
        .unwrap();
    let tiles = (0..12).map(|k| Tile {
        x: 3 + k % 4,
        y: 1 + k / 4,
        layer: ["fc1", "fc2", ""][k as usize % 3].to_owned(),
        cells: k + 1,
    });
    let floor = Floor {
        width: 10,
        height: 6,
        tiles: tiles.collect(),
    };
    emitted.write("floor.svg", &floor.to_svg(&[])).unwrap();
    emitted
        .write("tb/first_rows.vcd", &waveform(emitted))
        .unwrap();
    record.write(emitted).unwrap();
}

/// A waveform of three rows, as the testbench leaves it.
fn waveform(emitted: &Emitted) -> String {
    let (x, y) = (emitted.ports.input_bits(), emitted.ports.output_bits());
    let mut vcd = format!(
        "$var reg 1 ! clk $end\n$var reg {x} \" x [{}:0] $end\n$var wire {y} # y [{}:0] $end\n$enddefinitions $end\n",
        x - 1,
        y - 1
    );
    for step in 0..5_u64 {
        let at = 10_000 * step;
        let answer = if step < 2 {
            "bx".to_owned()
        } else {
            format!("b{step:b}")
        };
        let _ = write!(
            vcd,
            "#{at}\nb{:b} \"\n0!\n#{}\n1!\n{answer} #\n#{}\n0!\n",
            37 * step + 5,
            at + 5000,
            at + 9000
        );
    }
    vcd + "#50000\n"
}

fn compare_golden(folder: &Folder, name: &str) {
    let version = concat!("mase ", env!("CARGO_PKG_VERSION"));
    let written = folder.read("report.md").replace(version, "mase VERSION");
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/golden")
        .join(name);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(&path, &written).unwrap();
    }
    assert_eq!(written, fs::read_to_string(&path).unwrap(), "{name}");
}

#[test]
fn reports_are_those_that_were_read() {
    let folder = Folder::new("report_golden");
    let emitted = emit(&emission(), &folder);
    compare_golden(&folder, "report_emitted.md");
    add_everything(&emitted);
    compare_golden(&folder, "report_all.md");
}

#[test]
fn a_changed_module_is_named() {
    let folder = Folder::new("report_changed");
    let emitted = emit(&emission(), &folder);
    add_everything(&emitted);
    let net = folder.read("rtl/net.sv") + "\n";
    fs::write(emitted.net(), net).unwrap();
    Record::open(&emitted).unwrap().write(&emitted).unwrap();
    let report = folder.read("report.md");
    assert!(
        report.contains("**rtl/net.sv is not the file that was proved.**"),
        "{report}"
    );
    assert_eq!(
        report.matches("rtl/net.sv has changed since").count(),
        6,
        "{report}"
    );
    let data = folder.data();
    assert_eq!(data["hardware"]["claim"]["changed"], "rtl/net.sv");
    assert_eq!(
        data["sentences"],
        json!(["rtl/net.sv is not the file that certificate.json is about."])
    );
}

#[test]
fn the_page_holds_the_facts_and_loads_nothing() {
    let folder = Folder::new("report_page");
    let emission = emission();
    let emitted = emit(&emission, &folder);
    add_everything(&emitted);
    let page = folder.read("page.html");
    for outside in ["src=", "href=\"http", "@import", "url(", "https:"] {
        assert!(!page.contains(outside), "the page has {outside}");
    }
    let addresses = page.matches("http").count();
    assert_eq!(
        addresses,
        page.matches("http://www.w3.org/2000/svg").count() + page.matches("http-equiv").count()
    );
    let data = folder.data();
    let facts: Json = serde_json::from_str(&folder.read("report.json")).unwrap();
    assert_eq!(data["hardware"]["report"], facts);
    let (adders, _) = emission.net.adders();
    let sum = |list: &str| -> u64 {
        let all = facts[list].as_array().unwrap().iter();
        all.map(|own| own["adders"].as_u64().unwrap()).sum()
    };
    assert_eq!([sum("layers"), sum("stages")], [adders as u64; 2]);
    assert_eq!(
        data["hardware"]["floor"]["tiles"].as_array().unwrap().len(),
        4 * 12
    );
    assert_eq!(
        data["hardware"]["wave"]["lines"][0]["codes"][0],
        json!([0, 5])
    );
    let plain = part(&page, "<noscript>", "</noscript>");
    assert!(
        plain.contains("<td>fc1</td>") && plain.contains("proved for all 2^16 inputs"),
        "{plain}"
    );
    // The same facts give the same bytes.
    Record::open(&emitted).unwrap().write(&emitted).unwrap();
    assert_eq!(folder.read("page.html"), page);
}

/// A name that would be an element, the end of the data, a cell of a table and a command.
const HOSTILE: &str = "</script><img src=x onerror=alert(1)>|`*_a_*`&amp;\u{1b}[2J";

/// Puts the hostile name in place of a layer's.
fn make_hostile(emitted: &Emitted) {
    for (file, from) in [("report.json", "fc1"), ("net.json", "fc1")] {
        let path = emitted.path.join(file);
        let text = fs::read_to_string(&path).unwrap();
        let name = json!(HOSTILE).to_string();
        fs::write(&path, text.replace(&format!("\"{from}\""), &name)).unwrap();
    }
    let mut record = Record::open(emitted).unwrap();
    let reason = json!({ "reason": HOSTILE });
    record.add_rung(&rung(emitted, "prove", HOSTILE, HOSTILE, false, reason));
    record.write(emitted).unwrap();
}

#[test]
fn hostile_names_stay_texts() {
    let folder = Folder::new("report_hostile");
    let emitted = emit(&emission(), &folder);
    make_hostile(&emitted);
    let page = folder.read("page.html");
    assert_eq!(page.matches("<script").count(), 2);
    assert!(!page.contains("<img"), "a name became an element");
    assert_eq!(folder.data()["hardware"]["net"]["nodes"][0], HOSTILE);
    let report = folder.read("report.md");
    assert!(
        !report.contains("<img") && !report.contains('\u{1b}'),
        "{report}"
    );
    assert!(
        report
            .contains("&lt;/script>&lt;img src=x onerror=alert(1)>\\|\\`\\*\\_a\\_\\*\\`&amp;amp;"),
        "{report}"
    );
}

#[test]
fn files_that_are_no_facts_are_one_sentence_or_left_out() {
    let folder = Folder::new("report_broken");
    let emitted = emit(&emission(), &folder);
    for file in [
        "net.json",
        "floor.svg",
        "tb/first_rows.vcd",
        "certificate.json",
    ] {
        emitted.write(file, "{ <not> $enddefinitions").unwrap();
    }
    Record::open(&emitted).unwrap().write(&emitted).unwrap();
    let data = folder.data();
    for entry in ["net", "floor", "wave", "claim"] {
        assert!(data["hardware"][entry].is_null(), "{entry}");
    }
    emitted.write("report.json", "[1]").unwrap();
    let error = Record::open(&emitted).unwrap_err().to_string();
    assert!(
        error.contains("report.json: ")
            && error.ends_with("remove it, or `ch emit` writes it anew"),
        "{error}"
    );
    fs::remove_file(emitted.path.join("report.json")).unwrap();
    Record::open(&emitted).unwrap().write(&emitted).unwrap();
    assert!(
        folder
            .read("report.md")
            .contains("This folder has no facts of `ch emit`.")
    );
}

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

/// A netlist of so many adders: trees over neighbours, layer after layer.
fn large(adders: usize) -> Emission {
    const NEURONS: usize = 100;
    let mut net = Builder::default();
    let node = net.node("x");
    let interval = Interval { lo: -32, hi: 31 };
    let input = |net: &mut Builder, i: u32| {
        let origin = Origin {
            node,
            element: Some(i),
        };
        net.input(i, interval, origin)
    };
    let mut last: Vec<Term> = (0..NEURONS as u32).map(|i| input(&mut net, i)).collect();
    let mut count = 0;
    let mut layer = 0;
    while count < adders {
        let node = net.node(&format!("layer{layer}"));
        let mut next = Vec::new();
        for i in 0..NEURONS {
            let origin = Origin {
                node,
                element: Some(i as u32),
            };
            let mut sum = last[i];
            for k in 1..30 {
                let shift = (k % 3) as u32;
                let operand = Term {
                    shift,
                    ..last[(i + k * (layer + 1)) % NEURONS]
                };
                sum = net.add(sum, operand, k % 2 == 1, None, origin);
                count += 1;
            }
            next.push(net.clamp(sum, -32, 31, origin));
        }
        last = next;
        layer += 1;
    }
    let net = net.finish(last);
    let element = |name: &str| {
        (0..NEURONS)
            .map(|i| (format!("{name}[{i}]"), 0, -32, 31))
            .collect::<Vec<_>>()
    };
    let ports = hw::ports::Ports {
        inputs: hw::ports::packed(element("x")),
        outputs: hw::ports::packed(element("y")),
        latency: 0,
    };
    let net = net.pipelined(8.0);
    let latency = net.latency;
    Emission {
        net,
        ports: hw::ports::Ports { latency, ..ports },
        levels: 0.0,
        steps: 0,
        removed: 0,
    }
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
