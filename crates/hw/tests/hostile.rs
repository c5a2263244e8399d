//! Netlists, ports and certificates that no tool of ours wrote: prover and check refuse them in words, and take no wrong one.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod simulated;

use engine::State;
use engine::integer::Program;
use hw::emit::{Emission, Style};
use hw::net::Net;
use hw::ports::Ports;
use hw::prove::{ElementWord, checked_forms, elements, prove};
use hw::rtl::{Bit, Kind, Rtl, RtlCell};
use hw::solve::Effort;
use ir::{Graph, verify};
use random::Random;
use serde_json::{Value as Json, json};
use simulated::simulate;

const NETWORK: &str = "graph \"layer\" {
  x: f32[N, 3] = placeholder
  fc = linear(x: integer(4, 2)) { target = \"fc\", in_features = 3, out_features = 2, weight: integer(4, 3), bias: integer(4, 2) }
  relu = relu(fc: integer(4, 1, signed = false))
  return relu
}";

/// The words of its module, `golden/layer.sv`, as yosys wrote them.
const WORDS: &str = include_str!("fixtures/layer.yosys.json");

struct Case {
    program: Program,
    net: Net,
    ports: Ports,
    elements: Vec<ElementWord>,
}

fn case() -> Case {
    let mut graph = Graph::parse(NETWORK).unwrap();
    graph.initialize(5);
    let verified = verify(&graph).unwrap();
    let state = State::new(&verified).unwrap();
    let program = Program::of(&verified, &state, 1).unwrap();
    let emission = Emission::of(&program, Style::Combinational, Effort::Normal).unwrap();
    Case {
        elements: elements(&emission.net),
        program,
        net: emission.net,
        ports: emission.ports,
    }
}

impl Case {
    fn is_proved(&self, rtl: &Rtl) -> bool {
        prove(rtl, &self.ports, &self.program).is_ok()
    }

    fn is_checked(&self, rtl: &Rtl) -> bool {
        checked_forms(rtl, &self.ports, &self.program, &self.elements).is_ok()
    }
}

fn right() -> Rtl {
    Rtl::read(WORDS.as_bytes()).unwrap()
}

#[test]
fn the_words_themselves_are_proved_and_checked() {
    let (case, rtl) = (case(), right());
    assert!(case.is_proved(&rtl) && case.is_checked(&rtl));
}

#[test]
fn words_that_end_early_are_refused() {
    for end in 0..WORDS.trim_end().len() {
        assert!(Rtl::read(&WORDS.as_bytes()[..end]).is_err(), "{end} bytes");
    }
}

/// Every place of a JSON value, as the path to it.
fn places(json: &Json, path: &str, all: &mut Vec<String>) {
    match json {
        Json::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                places(item, &format!("{path}/{at}"), all);
            }
        }
        Json::Object(entries) => {
            for (key, item) in entries {
                let key = key.replace('~', "~0").replace('/', "~1");
                places(item, &format!("{path}/{key}"), all);
            }
        }
        _ => {}
    }
    all.push(path.to_owned());
}

/// A value in place of another, of any kind.
fn replacement(random: Random) -> Json {
    match random.bits(10) % 9 {
        0 => json!("0"),
        1 => json!("1"),
        2 => json!("x"),
        3 => json!([]),
        4 => json!({}),
        5 => json!(u32::MAX),
        6 => json!(-1),
        7 => json!(["$add", "$mux", "$lt", "$dff", "$pmux", "$neg"][random.bits(11) as usize % 6]),
        _ => json!(random.bits(12) % 60),
    }
}

#[test]
fn no_changed_words_are_taken_for_the_network() {
    let case = case();
    let all: Vec<u64> = (0..1 << case.ports.input_bits()).collect();
    let expected = simulate(&right(), &all);
    let json: Json = serde_json::from_str(WORDS).unwrap();
    let mut paths = Vec::new();
    places(&json, "", &mut paths);
    let mut read = 0;
    for seed in 0..4000 {
        let random = Random::new(seed, "hostile words");
        let mut changed = json.clone();
        for more in 0..=random.bits(0) % 2 {
            let path = &paths[random.bits(1 + more) as usize % paths.len()];
            if let Some(place) = changed.pointer_mut(path) {
                *place = replacement(random.at(more));
            }
        }
        let Ok(rtl) = Rtl::read(changed.to_string().as_bytes()) else {
            continue;
        };
        read += 1;
        if case.is_proved(&rtl) || case.is_checked(&rtl) {
            assert_eq!(simulate(&rtl, &all), expected, "seed {seed}");
        }
    }
    assert!(read > 500, "{read} of them can be read");
}

/// A cell of one bit.
fn cell(kind: Kind, a: Vec<Bit>, b: Vec<Bit>, s: Vec<Bit>, y: Vec<u32>) -> RtlCell {
    let name = format!("{kind:?} {y:?}");
    let signed = false;
    RtlCell {
        name,
        kind,
        a,
        b,
        s,
        y,
        signed,
    }
}

/// A module whose results are the last wires.
fn module(cells: Vec<RtlCell>, names: Vec<Vec<Bit>>) -> Rtl {
    let last = cells.last().unwrap().y[0];
    Rtl {
        x: (0..12).map(Bit::Wire).collect(),
        y: vec![Bit::Wire(last); 4],
        labels: (0..names.len()).map(|at| format!("n{at}")).collect(),
        cells,
        names,
    }
}

const DEEP: u32 = 100_000;

#[test]
fn deep_chains_are_refused_on_a_small_stack() {
    let wire = |at: u32| vec![Bit::Wire(at)];
    let step = |kind, at: u32| {
        let y = vec![12 + at];
        match kind {
            Kind::Not => cell(kind, wire(11 + at), vec![], vec![], y),
            Kind::Mux => cell(kind, wire(11 + at), wire(0), wire(1), y),
            // Each is twice as large as the one before.
            _ => cell(
                kind,
                wire(11 + at),
                wire(if at > 1 { 10 + at } else { 0 }),
                vec![],
                y,
            ),
        }
    };
    let case = case();
    for kind in [Kind::Not, Kind::Mux, Kind::And, Kind::Or, Kind::Add] {
        let cells = (0..DEEP).map(|at| step(kind, at)).collect();
        let rtl = module(cells, vec![]);
        assert!(!case.is_proved(&rtl) && !case.is_checked(&rtl), "{kind:?}");
    }
}

#[test]
fn names_within_names_are_refused_on_a_small_stack() {
    // The bits of each name are functions of those of the one before.
    let mut cells = Vec::new();
    let mut names = vec![vec![Bit::Wire(0), Bit::Wire(1)]];
    for at in 0..2000 {
        let (from, to) = (if at == 0 { 0 } else { 10 + 2 * at }, 12 + 2 * at);
        let operand = |k: u32| vec![Bit::Wire(from + k)];
        cells.push(cell(Kind::Or, operand(0), operand(1), vec![], vec![to]));
        cells.push(cell(
            Kind::And,
            operand(0),
            operand(1),
            vec![],
            vec![to + 1],
        ));
        names.push(vec![Bit::Wire(to), Bit::Wire(to + 1)]);
    }
    let (case, rtl) = (case(), module(cells, names));
    assert!(!case.is_proved(&rtl) && !case.is_checked(&rtl));
}

#[test]
fn wide_cells_are_refused() {
    let case = case();
    for width in [63, 64, 65, 127, 128, 129, 200, 4000] {
        let bits: Vec<Bit> = (0..width).map(|at| Bit::Wire(at % 12)).collect();
        let ones = vec![Bit::Const(true); width as usize];
        let y: Vec<u32> = (20..20 + width).collect();
        for kind in [
            Kind::Add,
            Kind::Mul,
            Kind::Not,
            Kind::Eq,
            Kind::Lt,
            Kind::ReduceOr,
        ] {
            let is_one = matches!(kind, Kind::Eq | Kind::Lt | Kind::ReduceOr);
            let y = if is_one { vec![20] } else { y.clone() };
            for signed in [false, true] {
                let own = cell(kind, bits.clone(), ones.clone(), vec![], y.clone());
                let own = RtlCell { signed, ..own };
                let name = own.y.iter().map(|&wire| Bit::Wire(wire)).collect();
                let rtl = module(vec![own], vec![name]);
                assert!(
                    !case.is_proved(&rtl) && !case.is_checked(&rtl),
                    "{kind:?} {width}"
                );
            }
        }
    }
}

#[test]
fn hostile_claims_are_refused() {
    let (case, rtl) = (case(), right());
    let changes: [fn(&mut ElementWord); 6] = [
        |own| own.shift = u32::MAX,
        |own| own.shift = 127,
        |own| own.step = usize::MAX,
        |own| own.element = usize::MAX,
        |own| own.word = String::new(),
        |own| own.source = "y".to_owned(),
    ];
    for change in changes {
        let mut elements = case.elements.clone();
        change(&mut elements[0]);
        let checked = checked_forms(&rtl, &case.ports, &case.program, &elements);
        assert!(checked.is_err(), "{:?}", elements[0]);
    }
}

#[test]
fn other_ports_are_refused() {
    let (case, rtl) = (case(), right());
    let changes: [fn(&mut Ports); 6] = [
        |own| drop(own.inputs.pop()),
        |own| drop(own.outputs.pop()),
        |own| own.inputs.push(own.inputs[0].clone()),
        |own| own.inputs[1].offset = 1 << 20,
        |own| own.outputs[1].width = 64,
        |own| own.latency = 1,
    ];
    for change in changes {
        let mut ports = case.ports.clone();
        change(&mut ports);
        let is_proved = prove(&rtl, &ports, &case.program).is_ok();
        let is_checked = checked_forms(&rtl, &ports, &case.program, &case.elements).is_ok();
        // Without registers there is no cycle to be wrong about but that of the ports.
        assert!(!is_proved && !is_checked, "{ports:?}");
    }
}

#[test]
fn netlists_that_end_early_or_are_changed_are_refused_or_read() {
    let case = case();
    let (text, n_inputs) = (case.net.to_json(), case.ports.inputs.len());
    for end in 0..text.trim_end().len() {
        assert!(Net::from_json(&text[..end], None).is_err(), "{end} bytes");
    }
    let json: Json = serde_json::from_str(&text).unwrap();
    let mut paths = Vec::new();
    places(&json, "", &mut paths);
    let mut read = 0;
    for seed in 0..4000 {
        let random = Random::new(seed, "hostile netlists");
        let mut changed = json.clone();
        let path = &paths[random.bits(1) as usize % paths.len()];
        *changed.pointer_mut(path).unwrap() = replacement(random);
        if let Ok(net) = Net::from_json(&changed.to_string(), Some(n_inputs)) {
            read += 1;
            drop((net.to_text(), elements(&net), net.pipelined(2.0)));
        }
    }
    assert!(read > 20, "{read} of them can be read");
}
