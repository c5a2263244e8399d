//! Scores of an evaluator, which reuses plans and activations, are those of the whole network run anew.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use config::{Reader, Table};
use data::{Arrays, InputArray, Rows, Split, Values};
use engine::{Network, gather};
use ir::Graph;
use passes::Rules;
use random::Random;
use search::evaluate::{Evaluation, Evaluator, Task};
use search::{Choices, FormatSpace, Measurement, Objective, Scores};
use std::sync::Arc;
use study::Point;

const SEED: &str = "by = \"type\"\n[default.config]\nname = [\"NA\"]\n";
const LINEAR: &str = "name = [\"integer\", \"minifloat_ieee\", \"NA\"]\ndata_in_width = [4, 6, 8]\ndata_in_frac_width = [\"NA\", 3]\n\
     data_in_exponent_width = [2, 3]\nweight_width = [4, 6, 8]\nweight_exponent_width = [2]\nbias_width = [8]\nbias_exponent_width = [3]\n";

fn space(graph: &Graph, text: &str) -> FormatSpace {
    let table = Table::parse(text).unwrap();
    let mut reader = Reader::new(&table, 0..0);
    let rules = Rules::read(&mut reader, Choices::read);
    assert_eq!(reader.finish(), []);
    FormatSpace::new(graph, &rules).unwrap()
}

fn rows(count: usize, width: usize, classes: u32) -> Split {
    let random = Random::new(7, "rows");
    let values = (0..count * width)
        .map(|k| random.normal(k as u64))
        .collect();
    let labels = (0..count)
        .map(|k| random.bits(k as u64) as u32 % classes)
        .collect();
    let rows = Rows {
        values,
        labels,
        width,
    };
    Split::new(Arc::new(rows), (0..count as u32).rev().collect())
}

fn points(space: &FormatSpace, count: u64) -> Vec<Point> {
    let random = Random::new(3, "points");
    let point = |n: u64| {
        let stream = random.at(n);
        space.space.build(|index, distribution| {
            let choices = distribution.count().unwrap();
            distribution.nth(stream.bits(index as u64) % choices)
        })
    };
    (0..count).map(point).collect()
}

/// Loss and accuracy of the whole graph in one plan per block.
fn whole(graph: &Graph, rows: &Split) -> (f64, f64) {
    let mut network = Network::new(graph.clone(), 1).unwrap();
    let (mut loss, mut correct) = (0.0, 0);
    for indices in rows.indices().chunks(1024) {
        let labels: Vec<u32> = indices
            .iter()
            .map(|&row| rows.labels()[row as usize])
            .collect();
        let inputs = gather(rows.elements(), indices);
        let score = network.evaluate(&inputs, &labels, indices.len()).unwrap();
        loss += score.loss * indices.len() as f64;
        correct += score.correct;
    }
    (loss / rows.len() as f64, correct as f64 / rows.len() as f64)
}

fn check(model: &str, rules: &str, width: usize, classes: u32, count: usize) {
    let info = models::ModelInfo {
        input: (model == "resnet18").then(|| vec![3, 32, 32]),
        classes: None,
    };
    let graph = models::build(model, &info).unwrap();
    check_on(graph, rules, &rows(count, width, classes));
}

fn check_on(mut graph: Graph, rules: &str, rows: &Split) {
    graph.initialize(1);
    let formats = space(&graph, &format!("{SEED}{rules}"));
    let task = Task {
        graph: Arc::new(graph.clone()),
        formats: Arc::new(formats.clone()),
        rows: rows.clone(),
        compare_to: 32.0,
        target: None,
    };
    let mut forgetful = Evaluator::with_memory(task.clone(), 0).unwrap();
    let mut evaluator = Evaluator::new(task, 1).unwrap();
    for point in points(&formats, 12) {
        let changed = formats.graph(&graph, &point).unwrap();
        let (loss, accuracy) = whole(&changed, rows);
        // Met, kept, taken up.
        for _ in 0..3 {
            let evaluation = evaluator.evaluate(&point, |_| false).unwrap();
            assert_eq!(forgetful.evaluate(&point, |_| false).unwrap(), evaluation);
            let Evaluation::Complete(scores) = evaluation else {
                panic!("nothing was hopeless")
            };
            assert_eq!(
                scores[Objective::Accuracy],
                accuracy,
                "{} {:?}",
                graph.name,
                formats.space.named(&point)
            );
            assert_eq!(
                scores[Objective::Loss],
                loss,
                "{} {:?}",
                graph.name,
                formats.space.named(&point)
            );
        }
    }
}

#[test]
fn a_chain_of_layers() {
    check("jsc-s", &format!("[linear.config]\n{LINEAR}"), 16, 5, 2500);
    check(
        "jsc-toy",
        &format!(
            "[linear.config]\n{LINEAR}[batch_norm1d.config]\nname = [\"NA\", \"integer\"]\ndata_in_width = [8]\nweight_width = [8]\nbias_width = [8]\n"
        ),
        16,
        5,
        700,
    );
}

#[test]
fn convolutions_and_residual_branches() {
    check(
        "lenet5",
        &format!(
            "[linear.config]\n{LINEAR}[conv2d.config]\nname = [\"integer\", \"NA\"]\ndata_in_width = [4, 8]\nweight_width = [4, 8]\n"
        ),
        784,
        10,
        40,
    );
    check(
        "resnet18",
        &format!(
            "[linear.config]\n{LINEAR}[add.config]\nname = [\"integer\", \"NA\"]\ndata_in_width = [8, 12]\n[conv2d.config]\nname = [\"NA\", \"integer\"]\ndata_in_width = [8]\nweight_width = [8]\n"
        ),
        3 * 32 * 32,
        10,
        2,
    );
}

/// Rows of named inputs: integers below `bound`, then floats, each `length` long.
fn arrays(count: usize, length: usize, bound: u64, inputs: &[(&str, bool)]) -> Split {
    let array = |&(name, is_float): &(&str, bool)| {
        let random = Random::new(5, name);
        let numbers = (0..(count * length) as u64).map(|k| random.bits(k) % bound);
        InputArray {
            name: name.to_owned(),
            shape: vec![length],
            values: if is_float {
                Values::F32(numbers.map(|number| (number % 2) as f32).collect())
            } else {
                Values::I64(numbers.map(|number| number as i64).collect())
            },
        }
    };
    let arrays = Arrays {
        inputs: inputs.iter().map(array).collect(),
        labels: (0..count as u32).map(|row| row % 2).collect(),
    };
    Split::of_arrays(Arc::new(arrays), (0..count as u32).rev().collect())
}

#[test]
fn tokens_and_several_inputs() {
    let info = models::ModelInfo {
        input: Some(vec![8]),
        classes: Some(2),
    };
    let linear = format!("[linear.config]\n{LINEAR}");
    let tokens = arrays(40, 8, 64, &[("tokens", false)]);
    let transformer = models::build("transformer", &info).unwrap();
    check_on(transformer, &linear, &tokens);
    let inputs = [
        ("input_ids", false),
        ("token_type_ids", false),
        ("attention_mask", true),
    ];
    let bert = models::build("bert-tiny", &info).unwrap();
    check_on(bert, &linear, &arrays(8, 8, 2, &inputs));
}

/// The second input stands behind a searched node, in front of which the graph must not be cut.
#[test]
fn an_input_that_comes_late() {
    let text = r#"graph "late" {
  a: f32[N, 4] = placeholder
  l1 = linear(a) { target = "l1", in_features = 4, out_features = 4 }
  b: f32[N, 4] = placeholder
  sum = add(l1, b)
  l2 = linear(sum) { target = "l2", in_features = 4, out_features = 4 }
  l3 = linear(l2) { target = "l3", in_features = 4, out_features = 2 }
  return l3
}"#;
    let rows = arrays(40, 4, 2, &[("a", true), ("b", true)]);
    let rules = format!("[linear.config]\n{LINEAR}");
    check_on(Graph::parse(text).unwrap(), &rules, &rows);
}

#[test]
fn costs_follow_from_the_formats() {
    let mut graph = models::build("jsc-tiny", &models::ModelInfo::default()).unwrap();
    graph.initialize(1);
    let rules = "[linear.config]\nname = [\"integer\"]\ndata_in_width = [8]\nweight_width = [4, 8]\nbias_width = [8]\n";
    let formats = space(&graph, &format!("{SEED}{rules}"));
    assert_eq!(formats.space.size(), Some(2));
    let task = Task {
        graph: Arc::new(graph),
        formats: Arc::new(formats.clone()),
        rows: rows(10, 16, 5),
        compare_to: 32.0,
        target: None,
    };
    let mut evaluator = Evaluator::new(task, 1).unwrap();
    let scores: Vec<_> = (0..2)
        .map(|n| {
            let costs = evaluator.costs(&formats.space.nth(n).unwrap()).unwrap();
            Scores::new(&Measurement {
                accuracy: 0.0,
                loss: 0.0,
                costs,
                compare_to: 32.0,
            })
        })
        .collect();
    let get = |name: &str| {
        let objective = Objective::find(name).unwrap();
        scores
            .iter()
            .map(|scores| scores[objective])
            .collect::<Vec<_>>()
    };
    assert_eq!(get("average_bitwidth"), [4.0, 8.0]);
    assert_eq!(get("memory_density"), [8.0, 4.0]);
    assert_eq!(get("flops"), [85.0, 85.0]);
    // 65 536 + 512 + 160 in float, and 80·(8·w + 8) in the layer.
    assert_eq!(
        get("bitops"),
        [66_208.0 + 80.0 * 40.0, 66_208.0 + 80.0 * 72.0]
    );
    assert_eq!(get("model_size"), [256.0 + 40.0 + 5.0, 256.0 + 80.0 + 5.0]);
}

/// The netlist of a trial is the one that the network with the formats of its point becomes.
#[test]
fn hardware_follows_from_the_formats() {
    let mut graph = models::build("jsc-tiny", &models::ModelInfo::default()).unwrap();
    graph.initialize(1);
    let seed = "by = \"type\"\n[default.config]\nname = [\"integer\"]\ndata_in_width = [6, 8]\ndata_in_frac_width = [3]\n\
                weight_width = [4, 6]\nweight_frac_width = [3]\nbias_width = [6]\nbias_frac_width = [3]\n";
    let formats = space(&graph, seed);
    let target = hw::synth::Target::find("ecp5").unwrap();
    let rows = rows(10, 16, 5);
    let task = |target| Task {
        graph: Arc::new(graph.clone()),
        formats: Arc::new(formats.clone()),
        rows: rows.clone(),
        compare_to: 32.0,
        target,
    };
    let mut evaluator = Evaluator::new(task(Some(target)), 1).unwrap();
    let mut luts = Vec::new();
    for point in points(&formats, 6) {
        let changed = formats.graph(&graph, &point).unwrap();
        let verified = ir::verify(&changed).unwrap();
        let state = engine::State::new(&verified).unwrap();
        let program = engine::integer::Program::of(&verified, &state, 1).unwrap();
        let style = hw::emit::Style::Pipelined {
            levels: hw::schedule::DEFAULT_LEVELS,
        };
        let emission = hw::emit::Emission::of(&program, style, hw::solve::Effort::Normal).unwrap();
        let expected = hw::estimate::estimate(&emission.net, "ecp5").unwrap();
        let Evaluation::Complete(scores) = evaluator.evaluate(&point, |_| false).unwrap() else {
            panic!("all rows were seen");
        };
        let get = |name: &str| scores[Objective::find(name).unwrap()];
        assert_eq!(get("lut"), expected.lut as f64);
        assert_eq!(get("ff"), emission.net.register_bits() as f64);
        assert_eq!(get("adder_bits"), emission.net.adders().1 as f64);
        assert_eq!(get("latency_cycles"), f64::from(emission.net.latency));
        luts.push(expected.lut);
    }
    // What was solved is not solved again.
    let solved = evaluator.solved_layers();
    assert!(solved > 0);
    for point in points(&formats, 6) {
        evaluator.evaluate(&point, |_| false).unwrap();
    }
    assert_eq!(evaluator.solved_layers(), solved);
    luts.sort_unstable();
    assert!(luts[0] < luts[luts.len() - 1], "formats decide the size");
    let mut plain = Evaluator::new(task(None), 1).unwrap();
    let point = points(&formats, 1).remove(0);
    let Evaluation::Complete(scores) = plain.evaluate(&point, |_| false).unwrap() else {
        panic!("all rows were seen");
    };
    assert!(!scores.has_netlist(), "nobody asked for it");
}
