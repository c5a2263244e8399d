//! Trainings that go beyond the parameters of a graph: learned scales, and norms that are folded again.

use crate::{Folder, NET, config, dataset, train_on};
use engine::{LearnScales, Network};
use ir::Graph;
use std::sync::atomic::AtomicBool;
use train::{
    Ending, FitConfig, Learner, ScalesPer, evaluate, fit, folded_layers, load_weights,
    rounded_layers,
};

/// The network with formats whose scales are learned.
fn learner(learn: LearnScales, per: ScalesPer) -> Learner {
    Learner::new(quantized(NET)).with_scales(learn, per)
}

/// The same with its norm folded for evaluation and taken out again for training.
fn learner_with_norms(learn: LearnScales, per: ScalesPer) -> Learner {
    let graph = quantized(&folded_net());
    let layers = folded_layers(&Graph::parse(NET).unwrap(), &graph);
    assert_eq!(layers, [graph.find("l1").unwrap()]);
    let learner = Learner::new(graph).with_norms(&layers, &dataset(310).train);
    learner.unwrap().with_scales(learn, per)
}

fn folded_net() -> String {
    NET.replace(
        "b1 = batch_norm1d(l1) { target = \"b1\", num_features = 12 }\n",
        "",
    )
    .replace("relu(b1)", "relu(l1)")
}

fn quantized(net: &str) -> Graph {
    let text = net
        .replace("linear(x)", "linear(x: integer(6, 3))")
        .replace(
            "out_features = 12 }",
            "out_features = 12, weight: integer(4, 3) }",
        )
        .replace("linear(d1)", "linear(d1: integer(4, 2, false))")
        .replace(
            "out_features = 3 }",
            "out_features = 3, weight: integer(4, 3) }",
        );
    let mut graph = Graph::parse(&text).unwrap();
    graph.initialize(4);
    graph
}

#[test]
fn a_run_that_learns_scales_goes_on_with_them() {
    for (learn, per) in [
        (LearnScales::PowerOfTwo, ScalesPer::Tensor),
        (LearnScales::PowerOfTwo, ScalesPer::Channel),
        (LearnScales::Real, ScalesPer::Tensor),
        (LearnScales::Real, ScalesPer::Channel),
    ] {
        for learner in [learner(learn, per), learner_with_norms(learn, per)] {
            goes_on(&learner);
        }
    }
}

/// A training that is stopped goes on to the same end, and its best checkpoint is an ordinary network.
fn goes_on(learner: &Learner) {
    let case = &learner.learning;
    let scales = |network: &Network| -> Vec<f32> {
        let scales = network.state().scales();
        scales.flat_map(|(_, values)| values.to_vec()).collect()
    };
    let network = || learner.network(1).unwrap();
    let folder = Folder::new("scales-whole");
    let mut whole = network();
    let start = scales(&whole);
    let (outcome, expected) = train_on(&mut whole, &config(&folder.0), None);
    assert!(start.len() >= 4 && start != scales(&whole), "{case:?}");

    let stopped = Folder::new("scales-stopped");
    let (halfway, _) = train_on(&mut network(), &config(&stopped.0), Some(11));
    assert_eq!(halfway.ending, Ending::Stopped);
    let resumed = FitConfig {
        resume: true,
        ..config(&stopped.0)
    };
    let (_, got) = train_on(&mut network(), &resumed, None);
    assert_eq!(got, expected, "{case:?}");

    let best = interop::checkpoint::read(&outcome.best, None);
    let best = best.unwrap().tensors;
    let graph = learner.trained(&best).unwrap();
    let mut trained = network();
    load_weights(&mut trained, &best).unwrap();
    let data = dataset(310);
    let mut plain = Network::new(graph, 1).unwrap();
    assert_eq!(
        evaluate(&mut plain, &data.test).unwrap(),
        evaluate(&mut trained, &data.test).unwrap()
    );
}

#[test]
fn a_norm_that_is_taken_out_does_nothing_at_first() {
    let graph = quantized(&folded_net());
    let data = dataset(310);
    let layers = rounded_layers(&graph);
    assert_eq!(
        layers,
        [graph.find("l1").unwrap()],
        "the last layer's result is the network's"
    );
    let learner = Learner::new(graph.clone()).with_norms(&layers, &data.train);
    let learner = learner.unwrap();
    let norms: Vec<&str> = learner
        .learning
        .folded_norms
        .iter()
        .map(|&norm| learner.graph.node(norm).target.as_str())
        .collect();
    assert_eq!(norms, ["l1.norm"]);
    let again = learner.network(1).unwrap().to_graph();
    assert_eq!(again.to_string(), graph.to_string());
    for (name, before) in graph.parameters() {
        let (_, after) = again
            .parameters()
            .find(|(other, _)| *other == name)
            .unwrap();
        for (a, b) in before.values().iter().zip(after.values()) {
            assert!((a - b).abs() < 1e-6, "{name}: {a} is {b}");
        }
    }
}

#[test]
fn a_run_does_not_go_on_learning_other_scales() {
    let folder = Folder::new("scales-other");
    let learner = |learn| learner(learn, ScalesPer::Tensor).network(1).unwrap();
    let mut network = learner(LearnScales::PowerOfTwo);
    train_on(&mut network, &config(&folder.0), Some(3));
    let resumed = FitConfig {
        resume: true,
        ..config(&folder.0)
    };
    let mut fixed = learner(LearnScales::Fixed);
    let stop = AtomicBool::new(false);
    let error = fit(&mut fixed, &dataset(310), &resumed, &stop, &mut |_| {}).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("learn_scales is power-of-two in"),
        "{error}"
    );
}
