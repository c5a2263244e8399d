//! A law of evaluation: where formats allow it a layer is computed on codes, and nobody can tell from the result. The
//! other side is the same plan without fusion, which computes in floats.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use engine::{Input, PlanOptions, Pool, State, compile};
use format::Format;
use ir::{Graph, Tensor, verify};
use proptest::prelude::*;
use random::Random;

fn layer(inputs: usize, outputs: usize, formats: [&str; 3], relu: bool) -> Graph {
    let bias = if formats[2].is_empty() {
        "bias = false".to_owned()
    } else {
        format!("bias: {}", formats[2])
    };
    let result = if relu { "r" } else { "l" };
    let text = format!(
        "graph \"layer\" {{\n  x: f32[N, {inputs}] = placeholder\n  l = linear(x: {}) {{ target = \"l\", in_features = {inputs}, \
         out_features = {outputs}, weight: {}, {bias} }}\n  r = relu(l)\n  return {result}\n}}",
        formats[0], formats[1]
    );
    Graph::parse(&text).unwrap_or_else(|errors| panic!("{errors}\n{text}"))
}

fn values(len: usize, seed: u64, scale: f32) -> Vec<f32> {
    let random = Random::new(seed, "values");
    (0..len).map(|k| scale * random.normal(k as u64)).collect()
}

/// Values about as large as a format holds; some are beyond it, some are zero with either sign.
fn values_for(format: &str, len: usize, seed: u64) -> Vec<f32> {
    let range = Format::parse(format).unwrap().range();
    let mut values = values(len, seed, 0.6 * range.1.max(-range.0) as f32);
    for value in values.iter_mut().step_by(5) {
        *value = value.signum() * 0.0;
    }
    values
}

/// The bits of the result, fused or not; NaN is one pattern.
fn bits(graph: &Graph, rows: usize, x: &[f32], fuse: bool) -> Vec<u32> {
    bits_after(graph, rows, x, fuse, |_| {})
}

/// The same once the parameters, one after the other, have been changed.
fn bits_after(
    graph: &Graph,
    rows: usize,
    x: &[f32],
    fuse: bool,
    change: impl FnOnce(&mut [f32]),
) -> Vec<u32> {
    let verified = verify(graph).unwrap();
    let mut state = State::new(&verified).unwrap();
    let options = PlanOptions {
        fuse,
        ..PlanOptions::eval(rows)
    };
    let mut plan = compile(&verified, &state, options).unwrap();
    state.change_trained(change);
    let inputs = [Input::F32(x)];
    plan.forward(&mut state, &inputs, &Pool::new(1)).unwrap();
    let bits = |y: f32| if y.is_nan() { u32::MAX } else { y.to_bits() };
    plan.output(0).into_iter().map(bits).collect()
}

fn set(graph: &mut Graph, port: &str, values: Vec<f32>) {
    let id = graph.find("l").unwrap();
    let shape = graph.node(id).params[port].shape().to_vec();
    let tensor = Tensor::new(shape, values).unwrap();
    graph.node_mut(id).params.insert(port.to_owned(), tensor);
}

fn check(rows: usize, inputs: usize, outputs: usize, formats: [&str; 3], relu: bool, seed: u64) {
    let mut graph = layer(inputs, outputs, formats, relu);
    graph.initialize(1);
    set(
        &mut graph,
        "weight",
        values_for(formats[1], inputs * outputs, seed + 1),
    );
    if !formats[2].is_empty() {
        set(
            &mut graph,
            "bias",
            values_for(formats[2], outputs, seed + 2),
        );
    }
    let x = values_for(formats[0], rows * inputs, seed);
    assert_eq!(
        bits(&graph, rows, &x, true),
        bits(&graph, rows, &x, false),
        "{rows}×{inputs}×{outputs} {formats:?} relu {relu}"
    );
}

#[test]
fn sums_up_to_the_last_exact_bit() {
    let byte = "integer(8, 4)";
    // 1023 products of 128·128 and a bias of 128·2^4 stay below 2^24, 1024 do not.
    for inputs in [1, 16, 1023, 1024, 3000] {
        check(70, inputs, 3, [byte, byte, byte], false, 1);
    }
    for formats in [
        [
            "integer(8, 4, signed = false)",
            "integer(7, 2, signed = false)",
            "integer(12, 9)",
        ],
        [
            "integer(8, 4, signed = false)",
            "integer(8, 2, signed = false)",
            "",
        ],
        ["integer(4, 2)", "integer(2, 1)", "integer(8, 4)"],
        [
            "integer(4, 2, rounding = floor)",
            "integer(4, 2, rounding = floor)",
            "integer(8, 6)",
        ],
        ["integer(9, 4)", "integer(8, 4)", "integer(8, 4)"],
        ["integer(8, -104)", "integer(8, 149)", "integer(8, 40)"],
        ["integer(8, 100)", "integer(8, 100)", "integer(8, 4)"],
        ["integer(8, 4)", "integer(8, 4)", "integer(24, 12)"],
        ["integer(8, 4)", "minifloat_ieee(8, 4)", "integer(8, 4)"],
    ] {
        check(67, 18, 7, formats, true, 3);
        check(67, 18, 7, formats, false, 4);
    }
}

/// Codes take a quarter of the working memory of rounded floats, or half where the machine has no products of bytes: that is
/// how they show.
#[test]
fn codes_are_used_where_they_are_exact() {
    let memory = |formats: [&str; 3], fuse: bool| {
        let mut graph = layer(64, 8, formats, false);
        graph.initialize(1);
        let verified = verify(&graph).unwrap();
        let state = State::new(&verified).unwrap();
        let options = PlanOptions {
            fuse,
            ..PlanOptions::eval(64)
        };
        compile(&verified, &state, options).unwrap().arena_len()
    };
    let byte = "integer(8, 4)";
    let codes = if kernels::int_gemm::has_byte_products() {
        16
    } else {
        32
    };
    let saved = memory([byte; 3], false) - memory([byte; 3], true);
    assert_eq!(saved, 64 * (64 - codes));
    let wide = ["integer(9, 4)", byte, byte];
    assert_eq!(memory(wide, false), memory(wide, true));
}

#[test]
fn a_zero_has_no_sign() {
    for bias in [
        "integer(8, 4)",
        "integer(8, 40)",
        "integer(1, -60)",
        "integer(20, 5, rounding = floor)",
    ] {
        let mut graph = layer(1, 2, ["integer(8, 4)", "integer(8, 4)", bias], false);
        graph.initialize(1);
        set(&mut graph, "weight", vec![1.0, -1.0]);
        set(&mut graph, "bias", vec![-0.0, -1e-30]);
        for fuse in [false, true] {
            let bits = bits(&graph, 2, &[-0.0, 0.0], fuse);
            assert_eq!([bits[0], bits[2]], [0; 2], "{bias}, fuse {fuse}");
        }
    }
}

#[test]
fn what_is_no_number_spreads_as_in_floats() {
    let byte = "integer(8, 4)";
    for relu in [false, true] {
        let mut graph = layer(18, 7, [byte; 3], relu);
        graph.initialize(1);
        let mut x = values(150 * 18, 1, 2.0);
        x[70 * 18 + 5] = f32::NAN;
        x[90 * 18] = f32::INFINITY;
        assert_eq!(bits(&graph, 150, &x, true), bits(&graph, 150, &x, false));
        for at in [3 * 18 + 2, 7 * 18 + 4] {
            let broken = |fuse| bits_after(&graph, 150, &x, fuse, |trained| trained[at] = f32::NAN);
            let got = broken(true);
            assert_eq!(got, broken(false), "{at}");
            assert_eq!(
                got.iter().filter(|&&bits| bits == u32::MAX).count(),
                150 + 6
            );
        }
    }
}

/// Two convolutions with a relu and a pool between them, a linear layer behind: orders of axes change on the way.
fn pictures(
    [channels, middle, last]: [usize; 3],
    kernel: usize,
    stride: usize,
    formats: [&str; 3],
) -> Graph {
    let [data, weight, bias] = formats;
    let padding = kernel / 2;
    let text = format!(
        "graph \"pictures\" {{\n  x: f32[N, {channels}, 9, 8] = placeholder\n  c = conv2d(x: {data}) {{ target = \"c\", in_channels = {channels}, \
         out_channels = {middle}, kernel_size = [{kernel}, {kernel}], padding = [{padding}, {padding}], weight: {weight}, bias: {bias} }}\n  \
         r = relu(c)\n  p = max_pool2d(r) {{ target = \"p\", kernel_size = [2, 2] }}\n  d = conv2d(p: {data}) {{ target = \"d\", \
         in_channels = {middle}, out_channels = {last}, kernel_size = [2, 2], stride = [{stride}, {stride}], weight: {weight}, bias = false }}\n  \
         s = relu6(d)\n  f = flatten(s) {{ target = \"f\", start_dim = 1 }}\n  return f, r\n}}"
    );
    let mut graph = Graph::parse(&text).unwrap_or_else(|errors| panic!("{errors}\n{text}"));
    graph.initialize(1);
    graph
}

#[test]
fn convolutions_on_codes_and_floats_agree() {
    let narrow = ["integer(8, 4)", "integer(8, 6)", "integer(8, 4)"];
    let mixed = [
        "integer(4, 2, signed = false)",
        "integer(2, 1)",
        "integer(16, 7)",
    ];
    let wide = ["integer(8, 4)", "integer(12, 9)", "integer(8, 4)"];
    for formats in [narrow, mixed, wide] {
        for (channels, kernel, stride) in
            [([1, 6, 16], 5, 1), ([3, 17, 5], 3, 2), ([2, 32, 4], 1, 1)]
        {
            let graph = pictures(channels, kernel, stride, formats);
            for rows in [1, 5] {
                let mut x = values(rows * channels[0] * 72, 3, 2.0);
                assert_eq!(
                    bits(&graph, rows, &x, true),
                    bits(&graph, rows, &x, false),
                    "{channels:?} {kernel} {stride} {formats:?}"
                );
                x[37] = f32::NAN;
                assert_eq!(bits(&graph, rows, &x, true), bits(&graph, rows, &x, false));
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn bytes_and_floats_agree(
        rows in 1_usize..140, inputs in 1_usize..80, outputs in 1_usize..80, relu: bool, seed in 0_u64..1000,
        widths in (1_u32..10, 1_u32..10, 0_u32..14), fracs in (-6_i32..12, -6_i32..12, -6_i32..16), signs: (bool, bool, bool),
    ) {
        let format = |width: u32, frac: i32, signed: bool| format!("integer({width}, {frac}, signed = {signed})");
        let bias = if widths.2 == 0 { String::new() } else { format(widths.2, fracs.2, signs.2) };
        let formats = [format(widths.0, fracs.0, signs.0), format(widths.1, fracs.1, signs.1), bias];
        check(rows, inputs, outputs, formats.each_ref().map(String::as_str), relu, seed);
    }
}
