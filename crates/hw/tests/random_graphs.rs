//! Random graphs in fixed point: the netlist, with and without registers, gives the codes of the integer program, and the printed
//! text is proved to, and checked by other means.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[path = "../../engine/tests/integer_oracle/random.rs"]
#[allow(dead_code, reason = "shared with the tests of the engine")]
mod random_graph;
mod yosys;

use engine::State;
use engine::integer::Program;
use format::Format;
use hw::elements::input_codes;
use hw::lower::lower;
use hw::net::Net;
use hw::print::verilog;
use hw::prove::{checked_forms, elements, prove};
use hw::solve::Effort;
use ir::{DType, Graph, Node, NodeId, Op, verify};
use random_graph::{Choices, inputs, random_graph};

/// Networks with more cells take the tools too long.
const MAX_CELLS: usize = 3000;

struct Case {
    graph: Graph,
    program: Program,
    rows: Vec<Vec<Vec<f32>>>,
}

/// The graph of a seed, if integers of 64 bits hold it, with some rows of inputs.
fn case(seed: u64) -> Option<Case> {
    let random = ::random::Random::new(seed, "hardware");
    let bytes: Vec<u8> = (0..400).map(|k| random.bits(k) as u8).collect();
    let mut choices = Choices::new(&bytes);
    let mut graph = random_graph(&mut choices);
    add_table(&mut graph, &mut choices);
    let verified = verify(&graph).unwrap();
    let state = State::new(&verified).unwrap();
    let program = Program::of(&verified, &state, 1).ok()?;
    let rows = (0..20)
        .map(|_| inputs(&verified, 1, &mut choices))
        .collect();
    drop(verified);
    Some(Case {
        graph,
        program,
        rows,
    })
}

/// Operators that are exact as tables only.
const TABLES: [&str; 4] = ["sigmoid", "tanh", "gelu", "silu"];

/// Puts a table behind the first result of some graphs.
fn add_table(graph: &mut Graph, choices: &mut Choices) {
    let output = NodeId(graph.nodes().len() as u32 - 1);
    let result = graph.node(output).inputs[0];
    let is_number = verify(graph).unwrap().ty(result).dtype == DType::F32;
    if !is_number || choices.below(3) > 0 {
        return;
    }
    let name = TABLES[choices.below(TABLES.len())];
    let op = Op::from_attributes(name, serde_json::Map::new());
    let mut table = Node::new("table", "", op.unwrap().unwrap(), &[result]);
    let (width, frac) = (2 + choices.below(7), choices.below(6));
    let formats = [
        ("data_in_0", format!("integer({width}, {frac})")),
        ("data_out_0", format!("integer(6, {})", choices.below(7))),
    ];
    for (port, format) in formats {
        let format = Format::parse(&format).unwrap();
        table.formats.insert(port.to_owned(), format);
    }
    let table = graph.insert(output, table);
    let output = NodeId(table.0 + 1);
    graph.node_mut(output).inputs[0] = table.into();
}

/// The results of a netlist are those of the program.
fn compare(case: &Case, net: &Net, n_inputs: usize) {
    for floats in &case.rows {
        let views: Vec<&[f32]> = floats.iter().map(Vec::as_slice).collect();
        let expected: Vec<i64> = case.program.interpret(floats).concat();
        let codes = input_codes(&case.program, &views);
        assert_eq!(
            net.evaluate(n_inputs, &codes),
            expected,
            "{:?}\n{}",
            case.program,
            case.graph
        );
    }
}

#[test]
fn netlists_give_the_codes_of_the_program() {
    let (mut tried, mut tables) = (0, 0);
    for seed in 0..600 {
        let Some(case) = case(seed) else {
            continue;
        };
        tables += usize::from(case.graph.find("table").is_some());
        let Ok((net, ports)) = lower(&case.program, Effort::Normal) else {
            continue;
        };
        compare(&case, &net, ports.inputs.len());
        let pipelined = net.pipelined(2.2);
        let read_back = Net::from_json(&pipelined.to_json(), Some(ports.inputs.len()));
        assert_eq!(read_back.as_ref(), Ok(&pipelined), "seed {seed}");
        compare(&case, &pipelined, ports.inputs.len());
        tried += 1;
    }
    assert!(tried > 300, "{tried} of 600 graphs were tried");
    assert!(tables > 50, "{tables} of them have a table");
}

/// A proof or a check may be refused where a graph does what no form is known for; it is never refused for most.
#[test]
fn printed_text_is_proved_and_checked() {
    let Some(yosys) = yosys::found() else {
        return;
    };
    let (mut tried, mut proved, mut checked) = (0, 0, 0);
    for seed in 0..120 {
        let Some(case) = case(seed) else {
            continue;
        };
        let Ok((net, mut ports)) = lower(&case.program, Effort::Normal) else {
            continue;
        };
        if net.cells.len() > MAX_CELLS {
            continue;
        }
        let net = if seed % 3 == 0 {
            net
        } else {
            net.pipelined(2.2)
        };
        ports.latency = net.latency;
        let rtl = yosys.read(&verilog(&net, &ports));
        tried += 1;
        proved += usize::from(prove(&rtl, &ports, &case.program).is_ok());
        let forms = checked_forms(&rtl, &ports, &case.program, &elements(&net));
        checked += usize::from(forms.is_ok());
    }
    assert!(
        8 * checked > 7 * tried && 5 * proved > 4 * tried,
        "of {tried} graphs {proved} were proved, {checked} checked"
    );
}
