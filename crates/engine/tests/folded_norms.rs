//! Batch norms that training folds into rounded weights: with formats that round nothing away training is that of the float
//! network, and with coarse ones it sees the weights that folding leaves.
#![expect(clippy::unwrap_used, reason = "what cannot be made must fail the test")]

use engine::{Input, LearnScales, Learning, Network, Optimizer, OptimizerKind, PlanOptions, Score};
use format::StoredArray;
use ir::{Graph, NodeId};
use random::Random;

const ROWS: usize = 2048;
const INPUTS: usize = 64;

/// A layer, and what follows it: the text before and after its formats.
const LAYERS: [(&str, &str); 2] = [
    (
        "a = linear(x) { in_features = 64, out_features = 96 FORMATS }",
        "n = batch_norm1d(a) { num_features = 96, momentum = MOMENTUM }
         r = relu(n)
         b = linear(r) { in_features = 96, out_features = 3 }",
    ),
    (
        "i = reshape(x) { shape = [-1, 1, 8, 8] }
         a = conv2d(i) { in_channels = 1, out_channels = 16, kernel_size = 3 FORMATS }",
        "n = batch_norm2d(a) { num_features = 16, momentum = MOMENTUM }
         r = relu(n)
         f = flatten(r) { start_dim = 1 }
         b = linear(f) { in_features = 576, out_features = 3 }",
    ),
];

/// Formats of weight and bias, and the scales that are learned.
const WIDE: [(LearnScales, &str); 3] = [
    (LearnScales::Fixed, "integer(32, 24)"),
    (LearnScales::PowerOfTwo, "integer(32, 24)"),
    (LearnScales::Real, "affine(24, stored, axis = 0)"),
];
const COARSE: [(LearnScales, &str); 4] = [
    (LearnScales::Fixed, "integer(3, 2)"),
    (LearnScales::PowerOfTwo, "integer(3, 2)"),
    (LearnScales::Real, "affine(3, 0.1)"),
    (LearnScales::Real, "affine(3, stored, axis = 0)"),
];

/// One of [`LAYERS`] with this format of its weight.
fn graph(layer: usize, weight: &str, momentum: f64) -> Graph {
    let (before, after) = LAYERS[layer];
    let formats = match weight {
        "" => String::new(),
        weight => format!(", weight: {weight}, bias: integer(32, 20)"),
    };
    let text = format!(
        "graph \"net\" {{ x: f32[N, {INPUTS}] = placeholder\n{before}\n{after}\nreturn b }}"
    );
    let text = text
        .replace(" FORMATS", &formats)
        .replace("MOMENTUM", &momentum.to_string());
    let mut graph = Graph::parse(&text).unwrap();
    graph.initialize(3);
    let step = if weight.contains("24") { 2e-7 } else { 0.09 };
    let node = graph.node_mut(graph.find("a").unwrap());
    let channels = node.params["weight"].shape()[0];
    if let Some(format) = node
        .formats
        .get_mut("weight")
        .filter(|f| !f.stored_fields().is_empty())
    {
        let values = vec![step; channels];
        let shape = vec![channels];
        *format = format
            .with_stored("scale", StoredArray { shape, values })
            .unwrap();
    }
    graph
}

fn learning(graph: &Graph, scales: LearnScales) -> Learning {
    Learning {
        scales,
        folded_norms: vec![graph.find("n").unwrap()],
    }
}

fn rows() -> (Vec<f32>, Vec<u32>) {
    let random = Random::new(1, "rows");
    let x = (0..ROWS * INPUTS).map(|k| random.normal(k as u64) + 0.3);
    let x: Vec<f32> = x.collect();
    let label = |row: &[f32]| u32::from(row[9] > 0.0) + u32::from(row[10] > 1.0);
    let labels = x.chunks(INPUTS).map(label).collect();
    (x, labels)
}

fn train(network: &mut Network, steps: usize, rate: f64) -> Vec<Score> {
    let kind = OptimizerKind::Sgd {
        momentum: 0.0,
        weight_decay: 0.0,
        nesterov: false,
    };
    let mut optimizer = Optimizer::new(kind, rate, network.state());
    let (x, labels) = rows();
    let step = |_| network.train_step(&[Input::F32(&x)], &labels, ROWS, &mut optimizer);
    (0..steps).map(step).collect::<Result<_, _>>().unwrap()
}

fn evaluate(network: &mut Network) -> (Score, Vec<f32>) {
    let (x, labels) = rows();
    let (score, plan) = network
        .evaluate_plan(&[Input::F32(&x)], &labels, ROWS)
        .unwrap();
    (score, plan.output(0))
}

#[test]
fn training_with_formats_that_round_nothing_away_is_that_of_the_float_network() {
    for layer in 0..LAYERS.len() {
        let mut float = Network::new(graph(layer, "", 0.1), 1).unwrap();
        let expected = train(&mut float, 12, 0.5);
        let (_, expected_answers) = evaluate(&mut float);
        for (scales, weight) in WIDE {
            let graph = graph(layer, weight, 0.1);
            let learning = learning(&graph, scales);
            let mut network = Network::learning(graph, learning, 1).unwrap();
            let scores = train(&mut network, 12, 0.5);
            for (step, (a, b)) in scores.iter().zip(&expected).enumerate() {
                let far = (a.loss - b.loss).abs();
                assert!(
                    far < 1e-4,
                    "{layer} {weight} {scales:?}: step {step} is {far} off"
                );
            }
            let (_, answers) = evaluate(&mut network);
            let far = answers.iter().zip(&expected_answers);
            let far = far.map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
            assert!(
                far < 1e-3,
                "{layer} {weight} {scales:?}: answers are {far} off"
            );
            assert!(
                expected[0].loss > expected[11].loss + 0.05,
                "nothing was learned"
            );
        }
    }
}

#[test]
fn training_sees_the_weights_that_folding_leaves() {
    for layer in 0..LAYERS.len() {
        for (scales, weight) in COARSE {
            // The running statistics are those of the last batch, which is always the same one.
            let graph = graph(layer, weight, 1.0);
            let learning = learning(&graph, scales);
            let mut network = Network::learning(graph, learning, 1).unwrap();
            train(&mut network, 5, 0.1);
            let standing = train(&mut network, 3, 0.0);
            let (score, _) = evaluate(&mut network);
            let far = (standing[2].loss - score.loss).abs();
            assert!(
                far < 2e-3,
                "{layer} {weight} {scales:?}: the loss is {far} off"
            );
        }
    }
}

#[test]
fn folding_after_training_changes_no_bit() {
    for layer in 0..LAYERS.len() {
        for (scales, weight) in COARSE {
            let graph = graph(layer, weight, 0.1);
            let learning = learning(&graph, scales);
            let mut network = Network::learning(graph, learning, 1).unwrap();
            train(&mut network, 5, 0.1);
            let folded = network.to_graph();
            assert!(folded.find("n").is_none(), "the norm is still there");
            let (_, answers) = evaluate(&mut network);
            let mut folded = Network::new(folded, 1).unwrap();
            assert_eq!(
                answers,
                evaluate(&mut folded).1,
                "{layer} {weight} {scales:?}"
            );
        }
    }
}

#[test]
fn a_layer_without_a_rounded_weight_keeps_its_norm() {
    let graph = graph(0, "", 0.1);
    let learning = learning(&graph, LearnScales::Fixed);
    let mut network = Network::learning(graph, learning, 1).unwrap();
    train(&mut network, 2, 0.1);
    assert!(network.to_graph().find("n").is_some());
}

#[test]
fn folding_is_the_same_on_any_number_of_threads() {
    for layer in 0..LAYERS.len() {
        for (scales, weight) in COARSE {
            let trained = |threads| {
                let graph = graph(layer, weight, 0.1);
                let learning = learning(&graph, scales);
                let mut network = Network::learning(graph, learning, threads).unwrap();
                train(&mut network, 4, 0.1);
                let (x, _) = rows();
                let plan = network.run(PlanOptions::train(ROWS), &[Input::F32(&x)]);
                assert!(plan.unwrap().shard_count() > 1, "one shard shows nothing");
                network.training_graph()
            };
            assert_eq!(trained(1), trained(2), "{layer} {weight} {scales:?}");
        }
    }
}

#[test]
fn a_channel_that_is_turned_off_stays_finite() {
    for (scales, weight) in COARSE {
        let mut graph = graph(0, weight, 0.1);
        let norm: NodeId = graph.find("n").unwrap();
        let gamma = graph.node_mut(norm).params.get_mut("weight").unwrap();
        gamma.values_mut()[0] = 0.0;
        gamma.values_mut()[1] = -1.0;
        let learning = learning(&graph, scales);
        let mut network = Network::learning(graph, learning, 1).unwrap();
        let scores = train(&mut network, 4, 0.1);
        assert!(
            scores.iter().all(|score| score.loss.is_finite()),
            "{weight}"
        );
        assert!(evaluate(&mut network).0.loss.is_finite(), "{weight}");
    }
}
