//! Integer execution against exact arithmetic on random graphs with random formats, bit for bit.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod integer_oracle;
#[path = "integer_oracle/random.rs"]
mod random;

use engine::integer::Program;
use engine::{Input, IntegerError, IntegerPlan, PlanOptions, Pool, State, compile};
use format::Integer;
use integer_oracle::{Exact, interpret, show};
use ir::{CodeRange, Graph, NodeId, Value, Verified, result_format, verify};
use kernels::{Isa, force};
use proptest::prelude::*;
use random::{Choices, OPS, add_masks, fill, inputs, random_graph};
use std::collections::BTreeMap;
use std::sync::Mutex;

/// Runs a graph both ways. `Err` when integers cannot hold it.
fn compare(graph: &Graph, rows: usize, choices: &mut Choices) -> Result<(), IntegerError> {
    let verified = verify(graph).unwrap();
    let state = State::new(&verified).unwrap();
    let program = Program::of(&verified, &state, rows)?;
    let mut plan = IntegerPlan::compile(&verified, &state, rows)?;
    check_formats(&plan, &verified);
    for isa in [Isa::Portable, Isa::Avx2, Isa::Avx512] {
        // Other tests may run at another level meanwhile: all give the same bits.
        force(Some(isa));
        let floats = inputs(&verified, rows, choices);
        let feed: Vec<Input> = floats.iter().map(|values| Input::F32(values)).collect();
        plan.run(&feed).unwrap();
        let expected = interpret(&verified, rows, &floats);
        for (k, expected) in expected.iter().enumerate() {
            check(&plan, k, expected, graph);
        }
        compare_with_program(&plan, &program, &floats);
        compare_with_floats(&plan, &verified, rows, &feed);
    }
    Ok(())
}

/// The program, interpreted element by element, gives the codes of the plan, and no value leaves its range.
fn compare_with_program(plan: &IntegerPlan, program: &Program, floats: &[Vec<f32>]) {
    for (k, codes) in program.interpret(floats).into_iter().enumerate() {
        let (expected, format) = plan.output_codes(k);
        assert_eq!(codes, expected, "result {k} of {program:?}");
        let output = &program.outputs[k];
        assert_eq!(output.range.format(), format);
        assert_eq!(output.range, program.steps[output.step].range());
        assert_eq!(output.shape.iter().product::<usize>(), codes.len());
    }
    for (step, codes) in program.steps.iter().zip(program.values(floats)) {
        let range = step.range();
        let is_held = |code: &i64| (range.min..=range.max).contains(&i128::from(*code));
        assert!(codes.iter().all(is_held), "{}: {range:?}", step.node);
        assert_eq!(step.ranges.len(), step.stages.len() + 1);
        assert_eq!(codes.len(), step.len());
    }
}

fn check(plan: &IntegerPlan, k: usize, expected: &Exact, graph: &Graph) {
    let (codes, format) = plan.output_codes(k);
    let got = Exact {
        shape: expected.shape.clone(),
        codes: codes.iter().map(|&code| code.into()).collect(),
        frac: format.frac_width,
    };
    let frac = got.frac.max(expected.frac);
    assert_eq!(
        got.finer(frac),
        expected.finer(frac),
        "result {k} of {}",
        show(graph)
    );
    let values = plan.output(k);
    for (&code, &value) in codes.iter().zip(&values) {
        let fits = code.unsigned_abs() < 1 << 24 && (-100..100).contains(&format.frac_width);
        let exact = code as f64 * 2_f64.powi(-format.frac_width);
        assert!(!fits || f64::from(value) == exact, "{value} is not {exact}");
        let (lo, hi) = if format.signed {
            (
                -(1_i128 << (format.width - 1)),
                (1_i128 << (format.width - 1)) - 1,
            )
        } else {
            (0, (1_i128 << format.width) - 1)
        };
        assert!(
            (lo..=hi).contains(&code.into()),
            "{code} is not in {format:?}"
        );
    }
}

/// The float engine gives the same values where 24 bits hold all of them, also before a result is rounded.
fn compare_with_floats(plan: &IntegerPlan, verified: &Verified, rows: usize, feed: &[Input]) {
    // Partial sums may be a little larger than the sums.
    let is_exact = |f: Integer| f.width <= 22 && (-60..60).contains(&f.frac_width);
    let graph = verified.graph();
    let before_rounding = graph
        .iter()
        .filter_map(|(id, _)| exact_result(plan, verified, id));
    let made = plan.describe().iter().map(|report| report.format);
    if !before_rounding.chain(made).all(is_exact) {
        return;
    }
    let mut state = State::new(verified).unwrap();
    let options = PlanOptions {
        fuse: false,
        ..PlanOptions::eval(rows)
    };
    let mut float = compile(verified, &state, options).unwrap();
    float.forward(&mut state, feed, &Pool::new(1)).unwrap();
    for k in 0..verified.output_values().len() {
        assert_eq!(
            plan.output(k),
            float.output(k),
            "result {k} of {}",
            show(verified.graph())
        );
    }
    *SEEN.lock().unwrap().entry("floats").or_default() += 1;
}

fn range(format: Integer) -> (i128, i128) {
    let half = 1_i128 << (format.width - u32::from(format.signed));
    (if format.signed { -half } else { 0 }, half - 1)
}

/// The format of a value in the plan.
fn made(plan: &IntegerPlan, graph: &Graph, value: Value) -> Option<Integer> {
    let name = &graph.node(value.node).name;
    let mut reports = plan.describe().iter().filter(|report| report.node == *name);
    reports.nth(value.output.into()).map(|report| report.format)
}

/// The format that holds every result of a node before it is rounded, by the rule on formats.
fn exact_result(plan: &IntegerPlan, verified: &Verified, id: NodeId) -> Option<Integer> {
    let node = verified.graph().node(id);
    let operand = |port: &str| match (node.formats.get(port), port.strip_prefix("data_in_")) {
        (Some(format), _) => CodeRange::of_format(format),
        (None, Some(k)) => {
            let input = node.inputs.get(k.parse::<usize>().unwrap())?;
            made(plan, verified.graph(), *input).map(CodeRange::of)
        }
        _ => None,
    };
    result_format(&node.op, &verified.input_types(id), operand)
}

/// No result needs more than the rule on formats allows.
fn check_formats(plan: &IntegerPlan, verified: &Verified) {
    let graph = verified.graph();
    for (id, node) in graph.iter() {
        let rule = exact_result(plan, verified, id);
        let (Some(rule), Some(got), false) = (
            rule,
            made(plan, graph, id.into()),
            node.formats.contains_key("data_out_0"),
        ) else {
            continue;
        };
        // Codes that are all 0 do not need the finest step of a parameter's places.
        let finer = (rule.frac_width - got.frac_width) as u32;
        assert!(
            got.frac_width <= rule.frac_width,
            "{} of {graph}",
            node.name
        );
        let ((lo, hi), (rule_lo, rule_hi)) = (range(got), range(rule));
        let (lo, hi) = (lo << finer, hi << finer);
        // A result that is always 0 has one unsigned bit, which might be 1.
        assert!(
            got.width == 1 || (lo >= rule_lo && hi <= rule_hi),
            "{}: {got:?} is wider than {rule:?}",
            node.name
        );
        *SEEN.lock().unwrap().entry("rules").or_default() += 1;
    }
}

/// How often each operator was run, and why graphs were refused.
static SEEN: Mutex<BTreeMap<&'static str, usize>> = Mutex::new(BTreeMap::new());

fn try_bytes(bytes: &[u8]) -> bool {
    let mut choices = Choices::new(bytes);
    let graph = random_graph(&mut choices);
    match compare(&graph, 3, &mut choices) {
        Ok(()) => {
            let mut seen = SEEN.lock().unwrap();
            for node in graph.nodes() {
                *seen.entry(node.op.name()).or_default() += 1;
                *seen.entry("masks").or_default() += node.masks.len();
                let formats = node.formats.values();
                let stored = formats.filter(|format| !format.stored_fields().is_empty());
                *seen.entry("stored").or_default() += stored.count();
                let affine = node.formats.values().filter(|f| f.name() == "affine");
                *seen.entry("affine").or_default() += affine.count();
                for word in ["wrap", "nearest_up"] {
                    let formats = node.formats.values();
                    let own = formats.filter(|f| f.fields().iter().any(|(_, v)| *v == word.into()));
                    *seen.entry(word).or_default() += own.count();
                }
            }
            true
        }
        Err(IntegerError::TooWide { .. } | IntegerError::NoIntegerForm { .. }) => false,
        Err(other) => panic!("{other}\n{}", show(&graph)),
    }
}

#[test]
fn random_graphs_equal_exact_arithmetic() {
    let mut accepted = 0;
    for seed in 0..3000 {
        let random = ::random::Random::new(seed, "integer");
        let bytes: Vec<u8> = (0..400).map(|k| random.bits(k) as u8).collect();
        accepted += usize::from(try_bytes(&bytes));
    }
    let seen = SEEN.lock().unwrap();
    for op in OPS {
        let count = seen.get(op).copied().unwrap_or(0);
        assert!(count >= 15, "{op} ran {count} times only");
    }
    assert!(
        seen["floats"] > 1000 && seen["rules"] > 3000 && seen["masks"] > 2000,
        "too few comparisons: {seen:?}"
    );
    assert!(
        seen["stored"] > 800
            && seen["affine"] > 800
            && seen["wrap"] > 400
            && seen["nearest_up"] > 400,
        "too few comparisons: {seen:?}"
    );
    assert!(accepted > 1500, "{accepted} graphs of 3000 were run");
}

/// Layers of more columns than a tile has, with norms that are exact or rounded before.
#[test]
fn wide_layers_equal_exact_arithmetic() {
    for (x, norm) in [
        ("", ""),
        ("", ": integer(8, 4)"),
        (", signed = false", ": integer(7, 3)"),
    ] {
        let ports = "weight: integer(8, 5), bias: integer(8, 4)";
        let text = format!(
            "graph \"wide\" {{
               x: f32[N, 18] = placeholder
               l1 = linear(x: integer(8, 4{x})) {{ in_features = 18, out_features = 70, {ports} }}
               b1 = batch_norm1d(l1{norm}) {{ num_features = 70, {ports} }}
               r1 = relu(b1)
               l2 = linear(r1: integer(8, 4)) {{ in_features = 70, out_features = 33, {ports} }}
               b2 = batch_norm1d(l2{norm}) {{ num_features = 33, {ports} }}
               l3 = linear(b2: integer(8, 2)) {{ in_features = 33, out_features = 5, {ports} }}
               return l3
             }}"
        );
        let mut graph = Graph::parse(&text).unwrap_or_else(|error| panic!("{error}"));
        let mut choices = Choices::new(norm.as_bytes());
        fill(&mut graph, &choices);
        compare(&graph, 29, &mut choices).unwrap();
        add_masks(&mut graph, &choices);
        assert!(graph.masks().count() > 3);
        compare(&graph, 29, &mut choices).unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn any_graph_equals_exact_arithmetic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        try_bytes(&bytes);
    }
}
