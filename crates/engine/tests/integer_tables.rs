//! Activations as exact tables: integers give the bits of the float engine with the same formats.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[path = "support/stored_fields.rs"]
mod stored_fields;

use engine::integer::{Program, Stage};
use engine::{Input, IntegerPlan, PlanOptions, Pool, State, compile};
use ir::{Graph, Op, verify};
use random::Random;
use stored_fields::store;

/// Activations without an integer form of their own, with their attributes.
const ACTIVATIONS: &[&str] = &[
    "hardswish(A)",
    "hardsigmoid(A)",
    "sigmoid(A)",
    "tanh(A)",
    "gelu(A)",
    "gelu(A) { approximate = \"tanh\" }",
    "silu(A)",
    "elu(A) { alpha = 1.5 }",
    "selu(A)",
    "softplus(A) { beta = 2.0, threshold = 3.0 }",
    "softsign(A)",
    "leaky_relu(A) { negative_slope = 0.125 }",
    "hardsigmoid(A) { alpha = 0.25, beta = 0.375 }",
    "abs(A)",
    "exp(A)",
    "erf(A)",
    "sin(A)",
    "cos(A)",
    "floor(A)",
    "ceil(A)",
    "round(A)",
    "sign(A)",
];

/// The results of a graph in integers, after they were compared with those of floats and of the program.
fn compare(graph: &Graph, rows: usize, values: &[f32]) -> Program {
    let verified = verify(graph).unwrap_or_else(|error| panic!("{graph}: {error}"));
    let mut state = State::new(&verified).unwrap();
    let input = [Input::F32(values)];
    let program = Program::of(&verified, &state, rows);
    let program = program.unwrap_or_else(|error| panic!("{graph}: {error}"));
    let mut integers = IntegerPlan::compile(&verified, &state, rows).unwrap();
    integers.run(&input).unwrap();
    let mut floats = compile(&verified, &state, PlanOptions::eval(rows)).unwrap();
    floats.forward(&mut state, &input, &Pool::new(1)).unwrap();
    assert_eq!(integers.output(0), *floats.output(0), "{graph}");
    let (codes, _) = integers.output_codes(0);
    assert_eq!(program.interpret(&[values.to_vec()])[0], codes, "{graph}");
    program
}

fn with_result_format(text: &str, node: &str, format: &str) -> Graph {
    let mut graph = Graph::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    graph.initialize(5);
    let (id, _) = graph.iter().find(|(_, own)| own.name == node).unwrap();
    let format = format::Format::parse(format).unwrap();
    let formats = &mut graph.node_mut(id).formats;
    formats.insert("data_out_0".to_owned(), format);
    graph
}

#[test]
fn every_code_of_every_activation_is_that_of_floats() {
    let formats = [
        // operand, result
        ("integer(8, 4)", "integer(8, 5)"),
        ("integer(12, 8)", "integer(12, 10)"),
        ("integer(6, -1)", "integer(3, 1, rounding = floor)"),
        (
            "integer(7, 3, signed = false)",
            "integer(5, 4, rounding = nearest_up, overflow = wrap)",
        ),
        ("affine(6, 0.25, 5)", "affine(6, 0.125, -3)"),
    ];
    for activation in ACTIVATIONS {
        for (operand, result) in formats {
            let call = activation.replace('A', &format!("x: {operand}"));
            let text = format!("graph \"t\" {{ x: f32[N, 64] = placeholder y = {call} return y }}");
            let graph = with_result_format(&text, "y", result);
            // Every step of the widest operand, and beyond its ends.
            let values: Vec<f32> = (-2560..2560).map(|k| k as f32 / 256.0).collect();
            let program = compare(&graph, values.len() / 64, &values);
            let stages: Vec<&Stage> = program.steps.iter().flat_map(|s| &s.stages).collect();
            assert!(matches!(stages[..], [Stage::Table { .. }]), "{stages:?}");
        }
    }
}

/// Tables between convolutions, pools and layers, with formats for all elements, for channels and for single elements.
#[test]
fn tables_join_the_kernels_around_them() {
    for (activation, result) in [
        ("gelu(c: integer(8, 4))", "integer(7, 4)"),
        (
            "sigmoid(c: integer(10, 6))",
            "integer(6, 6, signed = false)",
        ),
        ("silu(c: integer(9, 5))", "integer(6, stored, axis = 1)"),
        ("tanh(c: integer(9, 5))", "integer(stored, stored)"),
    ] {
        let text = format!(
            "graph \"net\" {{
               x: f32[N, 3, 6, 4] = placeholder
               c = conv2d(x: integer(6, 4)) {{ in_channels = 3, out_channels = 4, kernel_size = 3, padding = 1, weight: integer(5, 4), bias: integer(6, 4) }}
               a = {activation}
               p = max_pool2d(a) {{ kernel_size = 2 }}
               f = flatten(p) {{ start_dim = 1 }}
               y = linear(f: integer(7, 5)) {{ in_features = 24, out_features = 5, weight: integer(6, 5), bias: integer(8, 6) }}
               return y
             }}"
        );
        let mut graph = with_result_format(&text, "a", result);
        let (random, mut at) = (Random::new(3, "stored"), 0);
        store(&mut graph, |_, name, _| {
            at += 1;
            let choice = (random.bits(at) % 4) as usize;
            match name {
                "width" => [0.0, 4.0, 6.0, 7.0][choice],
                _ => 3.0 + choice as f32,
            }
        });
        let values: Vec<f32> = (0..5 * 72)
            .map(|k| (random.uniform(k) - 0.5) * 4.0)
            .collect();
        let program = compare(&graph, 5, &values);
        let n_steps = program.steps.len();
        assert!(n_steps <= 5, "{n_steps} steps for {activation}");
    }
}

/// An activation that nobody lists here would be tested by nobody.
#[test]
fn all_activations_are_covered() {
    for entry in Op::TABLE {
        let name = entry.name;
        let text = format!(
            "graph \"t\" {{ x: f32[N, 4] = placeholder y = {name}(x: integer(8, 4)) return y }}"
        );
        let Ok(graph) = Graph::parse(&text) else {
            continue;
        };
        let Ok(verified) = verify(&graph) else {
            continue;
        };
        let Ok(state) = State::new(&verified) else {
            continue;
        };
        let Err(error) = IntegerPlan::compile(&verified, &state, 1) else {
            continue;
        };
        let is_table = error
            .to_string()
            .contains("data_out_0 has no fixed-point format");
        let is_listed = ACTIVATIONS
            .iter()
            .any(|own| own.starts_with(&format!("{name}(")));
        assert_eq!(is_table, is_listed, "{name}: {error}");
    }
}
