//! Small spaces in full: every requantisation and every layer of two inputs, for all inputs, in the integer executor, in the
//! interpreter of the netlist, and in Icarus on the printed text.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod emitted;

use emitted::there;
use engine::integer::Program;
use engine::{Input, IntegerPlan, State};
use hw::elements::input_codes;
use hw::emit::{Emission, Rows, Style};
use hw::report::Record;
use hw::simulate::{Icarus, Scratch, icarus};
use hw::solve::Effort;
use hw::tools::Toolbox;
use hw::vectors::Vectors;
use ir::{Graph, Tensor, verify};
use std::fmt::Write;

/// Compares all three on rows of inputs; false when there is no simulator.
fn compare(name: &str, graph: &Graph, rows: &[f32]) -> bool {
    let verified = verify(graph).unwrap();
    let state = State::new(&verified).unwrap();
    let program = Program::of(&verified, &state, 1).unwrap();
    let width: usize = program.inputs[0].shape.iter().product();
    let count = rows.len() / width;
    let mut plan = IntegerPlan::compile(&verified, &state, count).unwrap();
    plan.run(&[Input::F32(rows)]).unwrap();
    let results: Vec<Vec<i64>> = (0..program.outputs.len())
        .map(|k| plan.output_codes(k).0)
        .collect();
    let (mut x, mut expected) = (Vec::new(), Vec::new());
    for (row, values) in rows.chunks(width).enumerate() {
        x.extend(input_codes(&program, &[values]));
        for (output, codes) in program.outputs.iter().zip(&results) {
            let n: usize = output.shape.iter().product();
            expected.extend_from_slice(&codes[row * n..(row + 1) * n]);
        }
    }
    let emission = Emission::of(&program, Style::Combinational, Effort::Normal).unwrap();
    assert_eq!(emission.evaluate(&x), expected, "{name}: {graph}");
    let scratch = Scratch::new().unwrap();
    let rows = Rows {
        x: Vectors::new(emission.ports.inputs.len(), x).unwrap(),
        y: Vectors::new(emission.ports.outputs.len(), expected).unwrap(),
    };
    let folder = scratch.file(name);
    let emitted = emission
        .write(
            &folder,
            &mut Record::of(emission.figures("xcup")),
            b"",
            &rows,
            false,
        )
        .unwrap();
    let Some(outcome) = there(icarus(&emitted, &Toolbox::new(None), &Icarus::default())) else {
        return false;
    };
    assert_eq!(
        (outcome.rows, outcome.differing),
        (count as u64, 0),
        "{name}: {:?}",
        outcome.first
    );
    true
}

/// Widths to 6, shifts from -3 to 7, three roundings, both kinds of overflow, with and without a sign, on all words of ten bits.
#[test]
fn every_requantisation_of_a_word() {
    let all: Vec<f32> = (-512..512).map(|code| code as f32).collect();
    for shift in -3..=7 {
        let mut text = "graph \"round\" {\n x: f32[N, 1] = placeholder\n \
             a = linear(x: integer(10, 0)) { target = \"a\", in_features = 1, out_features = 1, weight: integer(2, 0), \
             bias: integer(2, 0) }\n"
            .to_owned();
        let mut names: Vec<String> = Vec::new();
        for width in 1..=6 {
            for rounding in ["nearest_even", "nearest_up", "floor"] {
                for overflow in ["saturate", "wrap"] {
                    for signed in [true, false] {
                        let name = format!("y{}", names.len());
                        let format = format!(
                            "integer({width}, {}, signed = {signed}, rounding = {rounding}, overflow = {overflow})",
                            -shift
                        );
                        writeln!(text, " {name} = add(a: {format}, a: {format})").unwrap();
                        names.push(name);
                    }
                }
            }
        }
        writeln!(text, " return {}\n}}", names.join(", ")).unwrap();
        let mut graph = Graph::parse(&text).unwrap();
        let layer = graph.find("a").unwrap();
        let params = &mut graph.node_mut(layer).params;
        params.insert("weight".into(), Tensor::new(vec![1, 1], vec![1.0]).unwrap());
        params.insert("bias".into(), Tensor::new(vec![1], vec![0.0]).unwrap());
        if !compare(&format!("shift_{shift}"), &graph, &all) {
            return;
        }
    }
}

/// All layers of two inputs of three bits with weights from -7 to 7.
#[test]
fn every_layer_of_two_inputs() {
    let pairs: Vec<[f32; 2]> = (-7..=7)
        .flat_map(|a| (-7..=7).map(move |b| [a as f32, b as f32]))
        .collect();
    let outputs = pairs.len();
    let text = format!(
        "graph \"pairs\" {{\n x: f32[N, 2] = placeholder\n \
         a = linear(x: integer(3, 0)) {{ target = \"a\", in_features = 2, out_features = {outputs}, \
         weight: integer(4, 0), bias: integer(2, 0) }}\n return a\n}}\n"
    );
    let mut graph = Graph::parse(&text).unwrap();
    let layer = graph.find("a").unwrap();
    let params = &mut graph.node_mut(layer).params;
    let weights = Tensor::new(vec![outputs, 2], pairs.concat()).unwrap();
    params.insert("weight".into(), weights);
    let bias = Tensor::new(vec![outputs], vec![0.0; outputs]).unwrap();
    params.insert("bias".into(), bias);
    let rows: Vec<f32> = (-4..4)
        .flat_map(|a| (-4..4).flat_map(move |b| [a as f32, b as f32]))
        .collect();
    compare("pairs", &graph, &rows);
}
