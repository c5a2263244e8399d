//! Networks in integers and in floats: the same bits where 24 of them hold every sum.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[path = "support/stored_fields.rs"]
mod stored_fields;

use engine::{Input, IntegerPlan, PlanOptions, Pool, State, compile};
use ir::{Graph, Verified, verify};
use random::Random;
use stored_fields::store;

/// A convolution and linear layers, with a format for each kind of port.
fn network(weight: &str, bias: &str, picture: &str, row: &str) -> Graph {
    let text = format!(
        "graph \"net\" {{
           x: f32[N, 3, 6, 5] = placeholder
           c = conv2d(x: {picture}) {{ in_channels = 3, out_channels = 4, kernel_size = 3, padding = 1, weight: {weight}, bias: {bias} }}
           r = relu(c: {picture})
           p = max_pool2d(r) {{ kernel_size = 2 }}
           f = flatten(p) {{ start_dim = 1 }}
           l = linear(f: {row}) {{ in_features = 24, out_features = 17, weight: {weight}, bias: {bias} }}
           s = relu(l)
           y = linear(s: {row}) {{ in_features = 17, out_features = 5, weight: {weight}, bias: {bias} }}
           return y
         }}",
    );
    let mut graph = Graph::parse(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
    graph.initialize(7);
    let (random, mut at) = (Random::new(3, "stored"), 0);
    store(&mut graph, |_, name, _| {
        at += 1;
        field(name, random.bits(at))
    });
    graph
}

/// The value of a stored field.
fn field(name: &str, choice: u64) -> f32 {
    let choice = (choice % 4) as f32;
    match name {
        "width" => [0.0, 4.0, 6.0, 7.0][choice as usize],
        "frac_width" => 4.0 + choice,
        "scale" => 0.5_f32.powf(4.0 + choice),
        _ => 5.0 * choice - 7.0,
    }
}

/// Rows of a larger array by both, in a shuffled order.
fn both(verified: &Verified) -> (Vec<f32>, Vec<f32>, Vec<String>) {
    let (rows, width) = (13, 90);
    let random = Random::new(11, "rows");
    let values: Vec<f32> = (0..20 * width)
        .map(|k| (random.uniform(k) - 0.5) * 6.0)
        .collect();
    let indices: Vec<u32> = (0..rows).map(|k| (k * 7 + 3) % 20).collect();
    let input = [Input::Gather {
        values: &values,
        indices: &indices,
    }];
    let mut state = State::new(verified).unwrap();
    let mut integers = IntegerPlan::compile(verified, &state, rows as usize).unwrap();
    integers.run(&input).unwrap();
    let options = PlanOptions::eval(rows as usize);
    let mut floats = compile(verified, &state, options).unwrap();
    floats.forward(&mut state, &input, &Pool::new(1)).unwrap();
    let reports = integers.describe();
    assert!(reports.iter().all(|report| report.format.width <= 24));
    let kernels = reports.iter().map(ToString::to_string).collect();
    (integers.output(0), floats.output(0).clone(), kernels)
}

#[test]
fn integers_give_the_bits_of_floats() {
    let stored = "integer(6, stored, axis = 0)";
    let cases = [
        // weight, bias, pictures, rows
        [
            "integer(6, 5)",
            "integer(8, 6)",
            "integer(8, 4)",
            "integer(8, 4)",
        ],
        [stored, "integer(8, 6)", "integer(8, 4)", "integer(8, 4)"],
        [
            "integer(stored, stored, axis = 0)",
            "integer(8, stored)",
            "integer(8, 4)",
            "integer(8, 4)",
        ],
        [
            "integer(stored, stored)",
            "integer(8, stored, axis = 0)",
            "integer(8, 4)",
            "integer(8, 4)",
        ],
        [
            stored,
            "integer(8, 6)",
            "integer(8, stored, axis = 1)",
            "integer(stored, stored, axis = 1)",
        ],
        [
            stored,
            "integer(8, 6)",
            "integer(8, stored)",
            "integer(stored, stored)",
        ],
        [
            stored,
            "integer(8, 6)",
            "integer(7, stored, axis = 3, rounding = floor)",
            "integer(8, 4)",
        ],
        [
            "affine(6, 0.03125, 3)",
            "affine(8, 0.03125, offset = before)",
            "affine(8, 0.0625, -9)",
            "affine(8, 0.0625, 140, false)",
        ],
        [
            "affine(6, stored, axis = 0)",
            "affine(8, stored)",
            "affine(8, stored, stored, axis = 1)",
            "affine(8, stored, stored)",
        ],
        [
            "affine(5, stored, axis = 1, block = 2)",
            "affine(8, 0.0625)",
            "affine(7, 0.125, stored)",
            "integer(8, 4)",
        ],
    ];
    for [weight, bias, picture, row] in cases {
        let graph = network(weight, bias, picture, row);
        let (integers, floats, _) = both(&verify(&graph).unwrap());
        assert_eq!(integers, floats, "{graph}");
        let (first, last) = (&integers[..5], &integers[60..]);
        assert!(
            first != last && integers.iter().any(|y| *y != 0.0),
            "{graph}"
        );
    }
}

/// Weights whose steps differ are multiplied as bytes where these still hold them.
#[test]
fn channels_with_their_own_step_keep_the_byte_kernels() {
    let narrow = network(
        "integer(4, stored, axis = 0)",
        "integer(8, 6)",
        "integer(8, 4)",
        "integer(8, 4)",
    );
    let (_, _, kernels) = both(&verify(&narrow).unwrap());
    let of = |node: &str| kernels.iter().find(|line| line.starts_with(node)).unwrap();
    assert!(of("c ").contains("i8·i8 product"), "{kernels:?}");
    assert!(of("y ").contains("u8·i8 product"), "{kernels:?}");
}
