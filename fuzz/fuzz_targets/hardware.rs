//! Any bytes as the files between the tools for hardware: vectors, ports, the netlists that yosys and nextpnr write, waveforms,
//! netlists of ours and certificates, and the facts and pictures that reports are made of.
#![no_main]

use engine::State;
use engine::integer::Program;
use hw::emit::{Emission, Style};
use hw::folder::parse_ports;
use hw::net::Net;
use hw::ports::{Ports, packed};
use hw::prove::{Certificate, ElementWord, checked_forms, elements, prove};
use hw::report::markdown;
use hw::rtl::Rtl;
use hw::simulate::{Wave, harness, testbench};
use hw::solve::Effort;
use hw::synth::{Area, Floor, Netlist, by_layer, floor_picture};
use hw::vectors::Vectors;
use hw::wrap::{Serial, stream};
use ir::{Graph, verify};
use libfuzzer_sys::fuzz_target;
use std::sync::OnceLock;

const NETWORK: &str = "graph \"layer\" {
  x: f32[N, 3] = placeholder
  fc = linear(x: integer(4, 2)) { target = \"fc\", in_features = 3, out_features = 2, weight: integer(4, 3), bias: integer(4, 2) }
  relu = relu(fc: integer(4, 1, signed = false))
  return relu
}";

/// The words of its module, as yosys wrote them.
const WORDS: &str = include_str!("../../crates/hw/tests/fixtures/layer.yosys.json");

/// A network, against which words and claims are proved and checked.
struct Case {
    program: Program,
    ports: Ports,
    elements: Vec<ElementWord>,
    words: Rtl,
}

fn case() -> &'static Case {
    static CASE: OnceLock<Case> = OnceLock::new();
    CASE.get_or_init(|| {
        let mut graph = Graph::parse(NETWORK).expect("it is written here");
        graph.initialize(5);
        let verified = verify(&graph).expect("it is valid");
        let state = State::new(&verified).expect("it has parameters");
        let program = Program::of(&verified, &state, 1).expect("it is fixed point");
        let emission = Emission::of(&program, Style::Combinational, Effort::Normal).expect("it has hardware");
        let (ports, elements) = (emission.ports, elements(&emission.net));
        Case { program, ports, elements, words: Rtl::read(WORDS.as_bytes()).expect("yosys wrote it") }
    })
}

fuzz_target!(|data: &[u8]| {
    if let Ok(vectors) = Vectors::from_bytes(data) {
        let again = Vectors::from_bytes(&vectors.to_bytes());
        assert_eq!(again, Ok(vectors));
    }
    let Ok(text) = std::str::from_utf8(data) else { return };
    if let Ok(words) = Rtl::read(data) {
        let Case { program, ports, elements, .. } = case();
        drop((prove(&words, ports, program), checked_forms(&words, ports, program, elements)));
    }
    if let Ok(net) = Net::from_json(text, None) {
        drop((net.to_text(), elements(&net), net.pipelined(2.2)));
        assert_eq!(Net::from_json(&net.to_json(), None), Ok(net));
    }
    if let Ok(certificate) = serde_json::from_str::<Certificate>(text) {
        let Case { program, ports, words, .. } = case();
        drop(certificate.check(words, ports, program));
    }
    if let Ok(netlist) = Netlist::parse(text, "net") {
        let layers = by_layer(&netlist, &[]);
        assert_eq!(layers.iter().map(|layer| layer.area.lut).sum::<u64>(), Area::of(&netlist).lut);
    }
    drop(floor_picture(text, &[], &[]));
    if let Some(floor) = Floor::from_svg(text) {
        let again = Floor::from_svg(&floor.to_svg(&[]));
        assert_eq!(again, Some(floor));
    }
    let ports = Ports { inputs: packed([("x[0]".to_owned(), 0, -8, 7)]), outputs: packed([("y[0]".to_owned(), 0, 0, 3)]), latency: 1 };
    drop(Wave::read(text, &ports));
    if let Ok(facts) = serde_json::from_str(text) {
        drop(markdown(&facts, &ports, None, None));
    }
    if let Ok(ports) = parse_ports(text) {
        drop((testbench(&ports), harness(&ports), stream(&ports)));
        if let Ok(serial) = Serial::new(&ports, 8) {
            drop(serial.print());
        }
    }
});
