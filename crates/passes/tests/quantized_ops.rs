//! Every operator that the quantise pass can give a format computes what a reference in NumPy computes: exactly, where
//! integers can, in the planned engine with and without fused steps and in the integer executor.
//!
//! `reference/quantized_ops.py` wrote the cases from the definitions alone: rounded operands, exact sums and products.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use config::Table;
use engine::{Input, IntegerError, IntegerPlan, Network, PlanOptions, State};
use ir::{DType, Graph, Op, Tensor, verify};
use kernels::Isa;
use passes::{Context, Program, RunError};
use serde_json::Value as Json;
use std::collections::BTreeSet;

/// Operators that hold no format: what stands at their ports is rounded by those who read it.
const WITHOUT: &[&str] = &["placeholder", "constant", "output", "opaque"];
/// Operators that compute in floats on rounded operands; the engine's golden values hold them, and no case here.
const IN_FLOATS: &[&str] = &[
    "conv_transpose1d",
    "conv_transpose2d",
    "rms_norm",
    "group_norm",
    "instance_norm",
    "leaky_relu",
    "prelu",
    "thresholds",
    "lstm",
    "topk",
    "upsample",
    "neg",
    "abs",
    "sqrt",
    "rsqrt",
    "reciprocal",
    "exp",
    "log",
    "erf",
    "sin",
    "cos",
    "floor",
    "ceil",
    "round",
    "sign",
    "eq",
    "ne",
    "lt",
    "le",
    "gt",
    "ge",
    "and",
    "or",
    "not",
    "where",
    "max",
    "min",
    "pow",
    "sum",
    "amax",
    "amin",
    "prod",
    "expand",
    "gather",
    "pad",
    "roll",
    "to",
];
/// How far floats may be from the reference, in shares of its largest value.
const NEAR: f64 = 1e-6;

struct Case {
    line: Json,
}

fn cases() -> Vec<Case> {
    let lines = include_str!("reference/quantized_ops.jsonl").lines();
    let case = |line| Case {
        line: serde_json::from_str(line).unwrap(),
    };
    lines.map(case).collect()
}

fn numbers(json: &Json) -> Vec<f64> {
    let values = json.as_array().unwrap().iter();
    values.map(|value| value.as_f64().unwrap()).collect()
}

/// Gives the operators of `[(op, keys)]` their formats.
fn quantize(graph: &mut Graph, rules: &[(&str, String)]) -> Result<(), RunError> {
    let rules = rules
        .iter()
        .map(|(op, keys)| format!("[quantize.{op}.config]\n{keys}\n"));
    let config = format!("[quantize]\nby = \"type\"\n{}", rules.collect::<String>());
    let table = Table::parse(&config).unwrap();
    let program = Program::read(&table).unwrap_or_else(|problems| panic!("{config}\n{problems:?}"));
    let mut context = Context::new(graph, None);
    program.run(graph, &mut context, |_, _, _| {}).map(drop)
}

fn tensor(json: &Json) -> Tensor {
    let (shape, values) = (numbers(&json["shape"]), numbers(&json["values"]));
    let shape = shape.iter().map(|&axis| axis as usize).collect();
    Tensor::new(shape, values.iter().map(|&value| value as f32).collect()).unwrap()
}

impl Case {
    fn text(&self, key: &str) -> &str {
        self.line[key].as_str().unwrap()
    }

    /// The graph with its parameters, after the pass.
    fn graph(&self) -> Graph {
        let mut graph = Graph::parse(self.text("graph")).unwrap();
        for (name, params) in self.line["params"].as_object().unwrap() {
            let node = graph.find(name).unwrap();
            for (port, values) in params.as_object().unwrap() {
                let params = &mut graph.node_mut(node).params;
                params.insert(port.clone(), tensor(values));
            }
        }
        let rules = self.line["rules"].as_object().unwrap().iter();
        let rules: Vec<(&str, String)> = rules
            .map(|(op, keys)| {
                let keys = keys.as_object().unwrap().iter();
                let keys = keys.map(|(key, value)| format!("{key} = {value}"));
                (op.as_str(), keys.collect::<Vec<_>>().join("\n"))
            })
            .collect();
        quantize(&mut graph, &rules).unwrap();
        graph
    }

    fn rows(&self) -> usize {
        self.line["rows"].as_u64().unwrap() as usize
    }

    /// Calls `run` with the inputs as an executor takes them.
    fn feed<T>(&self, graph: &Graph, run: impl FnOnce(&[Input]) -> T) -> T {
        let inputs = self.line["inputs"].as_array().unwrap().iter();
        let inputs: Vec<Vec<f64>> = inputs.map(numbers).collect();
        let floats = |values: &Vec<f64>| values.iter().map(|&v| v as f32).collect::<Vec<f32>>();
        let floats: Vec<Vec<f32>> = inputs.iter().map(floats).collect();
        let indices = |values: &Vec<f64>| values.iter().map(|&v| v as i64).collect::<Vec<i64>>();
        let indices: Vec<Vec<i64>> = inputs.iter().map(indices).collect();
        let feed = graph.nodes().iter().zip(floats.iter().zip(&indices));
        let feed: Vec<Input> = feed
            .map(|(node, (floats, indices))| match &node.op {
                Op::Placeholder(input) if input.dtype == DType::I64 => Input::I64(indices),
                _ => Input::F32(floats),
            })
            .collect();
        run(&feed)
    }

    /// What the planned engine gives.
    fn in_floats(&self, graph: &Graph, fuse: bool) -> Vec<f64> {
        let mut network = Network::new(graph.clone(), 1).unwrap();
        let options = PlanOptions {
            fuse,
            ..PlanOptions::eval(self.rows())
        };
        let output = self.feed(graph, |feed| network.run(options, feed).unwrap().output(0));
        output.into_iter().map(f64::from).collect()
    }

    /// What the integer executor gives.
    fn in_integers(&self, graph: &Graph) -> Result<Vec<f64>, IntegerError> {
        let verified = verify(graph).unwrap();
        let state = State::new(&verified).unwrap();
        let mut plan = IntegerPlan::compile(&verified, &state, self.rows())?;
        self.feed(graph, |feed| plan.run(feed))?;
        let (codes, format) = plan.output_codes(0);
        let step = (-f64::from(format.frac_width)).exp2();
        Ok(codes.into_iter().map(|code| code as f64 * step).collect())
    }

    /// What is wrong, in words.
    fn problems(&self) -> Vec<String> {
        let graph = self.graph();
        let expected = numbers(&self.line["output"]);
        let check = self.text("check");
        let mut problems = Vec::new();
        let mut compare = |what: &str, got: &[f64], tolerance: f64| {
            if let Some(difference) = difference(&expected, got, tolerance) {
                problems.push(format!("{what}: {difference}\n{graph}"));
            }
        };
        let tolerance = match check {
            "exact" | "float" => 0.0,
            "codes" | "near" => NEAR,
            other => panic!("unknown check {other}"),
        };
        for (isa, fuse) in Isa::ALL
            .into_iter()
            .flat_map(|isa| [(isa, true), (isa, false)])
        {
            kernels::force(Some(isa));
            let what = format!("on {isa:?}, fused {fuse}");
            compare(&what, &self.in_floats(&graph, fuse), tolerance);
            match (check, self.in_integers(&graph)) {
                ("exact" | "codes", Ok(got)) => compare(&format!("integers {what}"), &got, 0.0),
                // A table of rows to look up has no data in integers to begin with.
                ("exact", Err(_)) if self.text("op") == "embedding" => {}
                ("near" | "float", Err(_)) => {}
                (_, Ok(_)) => panic!("integers take {graph}"),
                (_, Err(error)) => panic!("{error}: {graph}"),
            }
        }
        kernels::force(None);
        problems
    }
}

/// The first value that is further away than allowed; −0 is 0.
fn difference(expected: &[f64], got: &[f64], tolerance: f64) -> Option<String> {
    if expected.len() != got.len() {
        return Some(format!("{} values, not {}", got.len(), expected.len()));
    }
    let largest = expected.iter().fold(1.0_f64, |max, e| max.max(e.abs()));
    let is_off = |(_, (e, g)): &(usize, (&f64, &f64))| {
        let is_near = (*e - *g).abs() <= tolerance * largest;
        !is_near
    };
    let (at, (e, g)) = expected.iter().zip(got).enumerate().find(is_off)?;
    Some(format!("[{at}] is {g}, not {e}"))
}

#[test]
fn quantized_operators_compute_what_numpy_computes() {
    let cases = cases();
    assert!(cases.len() > 300, "{} cases", cases.len());
    let problems: Vec<String> = cases.iter().flat_map(Case::problems).collect();
    assert!(
        problems.is_empty(),
        "{} problems\n{}",
        problems.len(),
        problems[..problems.len().min(5)].join("\n")
    );
}

/// A new operator needs a case, or a line in `IN_FLOATS`, or one in `WITHOUT`, which holds only for what the pass refuses.
#[test]
fn every_operator_that_can_be_quantized_has_a_case() {
    let cases = cases();
    let covered: BTreeSet<&str> = cases.iter().map(|case| case.text("op")).collect();
    for entry in Op::TABLE {
        let places = [
            covered.contains(entry.name),
            WITHOUT.contains(&entry.name),
            IN_FLOATS.contains(&entry.name),
        ];
        let count = places.iter().filter(|is_there| **is_there).count();
        assert_eq!(count, 1, "{}", entry.name);
    }
    let text = "graph \"edges\" { x: f32[N, 4] = placeholder c = constant { target = \"c\", shape = [4] } \
                o = opaque(x) { operator = \"Own\", version = 1, results = [\"f32[N, 4]\"] } y = add(o, c) return y }";
    for name in WITHOUT {
        let mut graph = Graph::parse(text).unwrap();
        graph.initialize(0);
        let keys = "name = \"integer\"\ndata_in_width = 8".to_owned();
        let error = quantize(&mut graph, &[(name, keys)]);
        assert!(error.is_err(), "{name} was given a format");
    }
}

/// Operators with an exact form are proven exactly, and in integers where these take them.
#[test]
fn only_operators_without_an_exact_form_are_compared_approximately() {
    let cases = cases();
    let of = |check: &str| -> BTreeSet<&str> {
        let cases = cases.iter().filter(|case| case.text("check") == check);
        cases.map(|case| case.text("op")).collect()
    };
    let only_near: Vec<&str> = of("near").difference(&of("exact")).copied().collect();
    assert_eq!(
        only_near,
        [
            "elu",
            "gelu",
            "hardsigmoid", // divided by 6
            "hardswish",   // divided by 6
            "layer_norm",
            "log_softmax",
            "scaled_dot_product_attention",
            "selu",
            "sigmoid",
            "silu",
            "softmax",
            "softplus",
            "softsign",
            "tanh",
        ]
    );
}
