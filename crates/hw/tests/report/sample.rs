//! Folders of emitted hardware with everything that commands add.

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
use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

const NETWORK: &str = "graph \"small\" {
    x: f32[N, 4] = placeholder
    fc1 = linear(x: integer(4, 2)) { target = \"fc1\", in_features = 4, out_features = 3, weight: integer(4, 3), bias: integer(4, 2) }
    act = relu(fc1: integer(5, 1))
    fc2 = linear(act: integer(4, 1, signed = false)) { target = \"fc2\", in_features = 3, out_features = 2, weight: integer(4, 3), bias: integer(4, 2) }
    return fc2
}";

/// A folder that is removed when the test ends.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new(name: &str) -> Self {
        let name = format!("{name}_{}", std::process::id());
        Self(PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name))
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.0.join(name)).unwrap()
    }

    /// The data that the page holds.
    pub fn data(&self) -> Json {
        let page = self.read("page.html");
        serde_json::from_str(::report::page::data_text(&page).unwrap()).unwrap()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

pub fn emission() -> Emission {
    let mut graph = Graph::parse(NETWORK).unwrap();
    graph.initialize(5);
    let verified = verify(&graph).unwrap();
    let state = State::new(&verified).unwrap();
    let program = Program::of(&verified, &state, 1).unwrap();
    Emission::of(&program, Style::Pipelined { levels: 2.2 }, Effort::Normal).unwrap()
}

/// Emits a network as `ch emit` does, on rows of its own.
pub fn emit(emission: &Emission, folder: &Folder) -> Emitted {
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

pub fn rung(
    emitted: &Emitted,
    kind: &str,
    on: &str,
    tool: &str,
    passed: bool,
    facts: Json,
) -> Rung {
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
pub fn add_everything(emitted: &Emitted) {
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

/// A netlist of so many adders: trees over neighbours, layer after layer.
pub fn large(adders: usize) -> Emission {
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
