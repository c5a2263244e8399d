//! Laws over the table of operators: a new entry is covered as soon as it has a sample.

mod samples;

use ir::{
    CodeRange, Dim, Graph, MaseType, Op, Operator, Shape, Type, common, result_format, torch_repr,
    verify,
};
use proptest::prelude::*;
use samples::SAMPLES;
use serde_json::{Value as Json, json};

#[test]
fn every_operator_has_a_sample() {
    let sampled: Vec<&str> = SAMPLES.iter().map(|sample| sample.op().name()).collect();
    let edges = ["placeholder", "output", "opaque"];
    for entry in Op::TABLE {
        assert!(
            sampled.contains(&entry.name) || edges.contains(&entry.name),
            "{}",
            entry.name
        );
        assert!(!entry.about.trim().is_empty(), "{}", entry.name);
    }
}

#[test]
fn samples_have_the_types_pytorch_gives_them() {
    for sample in SAMPLES {
        let graph = sample.graph();
        let verified = verify(&graph).unwrap_or_else(|error| panic!("{}: {error}", sample.call));
        let y = graph.find("y").unwrap();
        let types: Vec<String> = verified
            .outputs(y)
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(types, sample.results, "{}", sample.call);
    }
}

#[test]
fn what_is_printed_parses_back() {
    for sample in SAMPLES {
        let graph = sample.graph();
        let printed = graph.to_string();
        let again = Graph::parse(&printed).unwrap_or_else(|errors| panic!("{printed}\n{errors}"));
        assert_eq!(again, graph, "{printed}");
        assert_eq!(again.to_string(), printed);
    }
}

#[test]
fn attributes_round_trip_through_json() {
    for sample in SAMPLES {
        let op = sample.op();
        let text = serde_json::to_string(&op.attributes()).unwrap();
        let read = Op::from_attributes(op.name(), serde_json::from_str(&text).unwrap());
        assert_eq!(read.unwrap(), Ok(op), "{text}");
    }
}

#[test]
fn shape_helpers_and_look_ups_cost_nothing_and_all_else_does() {
    let free = ["embedding", "dropout", "identity", "constant"];
    for sample in SAMPLES {
        let graph = sample.graph();
        let y = graph.find("y").unwrap();
        let cost = verify(&graph).unwrap().cost(y, 8).unwrap();
        let op = &graph.node(y).op;
        let is_free = op.entry().mase_type == MaseType::ImplicitFunc || free.contains(&op.name());
        assert_eq!(cost.flops == 0, is_free, "{}: {cost:?}", sample.call);
        // Attention is two products and a softmax between them.
        let is_more_than_a_product = op.name() == "scaled_dot_product_attention";
        assert!(
            cost.macs == 0 || (cost.macs == cost.flops) != is_more_than_a_product,
            "{}: {cost:?}",
            sample.call
        );
    }
}

#[test]
fn cost_is_proportional_to_the_batch() {
    for sample in SAMPLES {
        let graph = sample.graph();
        let y = graph.find("y").unwrap();
        let verified = verify(&graph).unwrap();
        let cost = |batch| verified.cost(y, batch).unwrap();
        assert_eq!(cost(8).flops * 3, cost(24).flops, "{}", sample.call);
    }
}

#[test]
fn costs_follow_the_formulas() {
    // batch 2; the numbers are worked out by hand from the shapes above
    let cases = [
        (
            "linear(a) { in_features = 16, out_features = 5 }",
            2 * 16 * 5,
        ),
        (
            "conv1d(a) { in_channels = 4, out_channels = 6, kernel_size = 4, stride = 2, padding = 1 }",
            2 * 6 * 5 * 4 * 4,
        ),
        ("batch_norm1d(a) { num_features = 16 }", 4 * 2 * 16),
        ("layer_norm(a) { normalized_shape = [4, 10] }", 5 * 2 * 40),
        (
            "max_pool2d(a) { kernel_size = 3, stride = 2, padding = 1 }",
            2 * 4 * 5 * 4 * 9,
        ),
        (
            "adaptive_avg_pool2d(a) { output_size = [3, 2] }",
            2 * 4 * 9 * 8,
        ),
        ("matmul(a, b)", 2 * 4 * 3 * 5 * 2),
        (
            "scaled_dot_product_attention(a, b, c) { is_causal = true, scale = 0.25 }",
            2 * 2 * (5 * 8 * 7 + 5 * 7 * 3 + 2 * 5 * 7),
        ),
        ("mean(a) { dim = 1 }", 2 * 40),
        (
            "conv2d(a) { in_channels = 4, out_channels = 6, kernel_size = [3, 2], padding = [2, 0], dilation = 2, groups = 2 }",
            2 * 6 * 9 * 6 * (2 * 3 * 2),
        ),
        (
            "conv_transpose1d(a) { in_channels = 4, out_channels = 6, kernel_size = 3, stride = 2, output_padding = 1, bias = false }",
            2 * 4 * 10 * (6 * 3),
        ),
        (
            "conv_transpose2d(a) { in_channels = 4, out_channels = 2, kernel_size = [3, 2], stride = [1, 2], padding = [1, 0], dilation = [1, 2], groups = 2 }",
            2 * 4 * 3 * 2 * (3 * 2),
        ),
        ("rms_norm(a) { normalized_shape = [16] }", 4 * 2 * 16),
        (
            "group_norm(a) { num_groups = 2, num_channels = 4 }",
            5 * 2 * 40,
        ),
        ("thresholds(a) { steps = 3 }", 3 * 2 * 16),
        ("prelu(a) { num_parameters = 4 }", 2 * 40),
        ("upsample(a) { output_size = [6, 7] }", 2 * 2 * 6 * 7),
        (
            "upsample(a) { output_size = [5, 6], mode = \"bilinear\" }",
            4 * 2 * 2 * 5 * 6,
        ),
        (
            "lstm(a) { input_size = 10, hidden_size = 3 }",
            2 * 4 * 3 * 4 * (10 + 3),
        ),
        ("topk(a) { k = 3 }", 2 * 16),
        ("bmm(a, b)", 2 * 3 * 5 * 2),
        (
            "max_pool1d(a) { kernel_size = 3, stride = 1, dilation = 2 }",
            2 * 4 * 6 * 3,
        ),
        ("where(a, b, c)", 2 * 3 * 4),
        ("lt(a, b)", 2 * 3),
        (
            "scaled_dot_product_attention(a, b, c) { is_causal = true }",
            2 * 8 * 7 + 2 * 7 * 3 + 2 * 2 * 7,
        ),
        (
            "scaled_dot_product_attention(a, b, b, c) { enable_gqa = true }",
            2 * 4 * (3 * 2 * 3 + 3 * 3 * 2 + 2 * 3 * 3),
        ),
    ];
    for (call, flops) in cases {
        let sample = SAMPLES.iter().find(|sample| sample.call == call).unwrap();
        let graph = sample.graph();
        let cost = verify(&graph)
            .unwrap()
            .cost(graph.find("y").unwrap(), 2)
            .unwrap();
        assert_eq!(cost.flops, flops, "{call}");
    }
}

const FORMATS: &[&str] = &[
    "integer(8, -4, signed = false, rounding = floor)",
    "scale_integer(8, channel)",
    "integer(stored, stored, axis = 1)",
    "affine(8, 0.1, 3)",
    "affine(8, stored, stored, axis = 1)",
    "bipolar(0.5)",
    "float8(e5m2)",
    "float4(e2m1)",
    "binary(1)",
    "ternary(2)",
    "log(8)",
    "minifloat_ieee(8, 4)",
    "minifloat_denorm(8, 4, exponent_bias = 3)",
    "block_fp(width = 8, exponent_width = 8, block_size = [1, 16], skip_first_dim = true)",
    "block_minifloat(8, 4, 8, block_size = [-1, 16])",
    "block_log(8, 8, block_size = [16])",
    "mxint(8)",
    "mxfp(4, 3)",
];

#[test]
fn every_format_prints_and_parses_back_on_every_kind_of_port() {
    for entry in format::Format::TABLE {
        assert!(
            FORMATS.iter().any(|spec| spec.starts_with(entry.name)),
            "{}",
            entry.name
        );
    }
    for spec in FORMATS {
        let linear = format!(
            "linear(x: {spec}) {{ in_features = 4, out_features = 4, weight: {spec}, data_out_0: {spec} }}"
        );
        let text =
            format!("graph \"f\" {{ x: f32[N, 4] = placeholder y = {linear} return y: {spec} }}");
        let graph = Graph::parse(&text).unwrap_or_else(|errors| panic!("{errors}"));
        assert_eq!(graph.node(ir::NodeId(1)).formats.len(), 3);
        verify(&graph).unwrap();
        assert_eq!(
            Graph::parse(&graph.to_string()).as_ref(),
            Ok(&graph),
            "{graph}"
        );
        let meta = common(&verify(&graph).unwrap(), ir::NodeId(1), 2);
        let type_name = meta.args.get("weight").unwrap().type_name;
        assert!(spec.starts_with(type_name), "{type_name}");
    }
}

fn dim() -> impl Strategy<Value = Dim> {
    let sizes = [
        0,
        1,
        2,
        3,
        4,
        5,
        8,
        9,
        10,
        16,
        16_777_216,
        usize::MAX / 2,
        usize::MAX,
    ];
    prop_oneof![
        4 => prop::sample::select(sizes.to_vec()).prop_map(Dim::from),
        2 => prop::sample::select(vec!["N", "4*N", "18446744073709551615*N", "M"])
            .prop_map(|text| text.parse().expect("a dim")),
    ]
}

fn ty() -> impl Strategy<Value = Type> {
    let dtypes = prop::sample::select(vec![
        ir::DType::F32,
        ir::DType::F32,
        ir::DType::I64,
        ir::DType::Bool,
    ]);
    (prop::collection::vec(dim(), 0..6), dtypes).prop_map(|(dims, dtype)| Type {
        shape: Shape(dims),
        dtype,
    })
}

/// Everything an operator says about itself, for any inputs.
fn ask_everything(op: &Op, inputs: &[Type]) {
    op.ports();
    op.row_coupling(inputs);
    torch_repr(op);
    result_format(op, inputs, |_| {
        Some(CodeRange::of(format::Integer::new(8, 4)))
    });
    let Ok(results) = op.infer(inputs) else {
        return;
    };
    let bind = |types: &[Type]| {
        types
            .iter()
            .map(|ty| ty.shape.bind(7))
            .collect::<Option<Vec<_>>>()
    };
    if let (Some(inputs), Some(results)) = (bind(inputs), bind(&results)) {
        let inputs: Vec<&[usize]> = inputs.iter().map(Vec::as_slice).collect();
        let results: Vec<&[usize]> = results.iter().map(Vec::as_slice).collect();
        op.cost(&inputs, &results);
    }
}

/// `json` with its `at`-th number (counting through lists) replaced.
fn with_number(json: &Json, at: &mut usize, number: &Json) -> Json {
    match json {
        Json::Number(_) => {
            let replaced = *at == 0;
            *at = at.wrapping_sub(1);
            if replaced {
                number.clone()
            } else {
                json.clone()
            }
        }
        Json::Array(items) => items
            .iter()
            .map(|item| with_number(item, at, number))
            .collect(),
        Json::Object(map) => map
            .iter()
            .map(|(name, value)| (name.clone(), with_number(value, at, number)))
            .collect(),
        other => other.clone(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn no_input_types_make_an_operator_panic(inputs in prop::collection::vec(ty(), 0..4)) {
        for sample in SAMPLES {
            ask_everything(&sample.op(), &inputs);
        }
    }

    #[test]
    fn no_attributes_make_an_operator_panic(
        at in 0_usize..10,
        number in prop::sample::select(vec![
            json!(0), json!(1), json!(-1), json!(3), json!(u64::MAX), json!(i64::MIN), json!(1_u64 << 40), json!(1e308),
        ]),
    ) {
        for sample in SAMPLES {
            let op = sample.op();
            let attributes = with_number(&Json::Object(op.attributes()), &mut { at }, &number);
            let Json::Object(attributes) = attributes else { unreachable!("an object stays one") };
            let Some(Ok(changed)) = Op::from_attributes(op.name(), attributes) else { continue };
            let graph = sample.graph();
            let y = graph.find("y").unwrap();
            let inputs = verify(&graph).unwrap().input_types(y);
            ask_everything(&changed, &inputs);
            let mut graph = graph;
            graph.node_mut(y).op = changed;
            if let Ok(verified) = verify(&graph) {
                common(&verified, y, 3);
                verified.cost(y, 3);
            }
        }
    }
}
