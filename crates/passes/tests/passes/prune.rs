//! Pruning is exact, reproducible and lasting.

use crate::network::{jets, model, outputs, run};
use config::Table;
use data::Dataset;
use engine::{Input, Network, Optimizer, OptimizerKind, Port};
use ir::{Graph, Tensor, verify};
use passes::{Context, Program, RunError, interface};
use std::path::Path;

pub fn rule(side: &str, sparsity: f64, scope: &str, granularity: &str, method: &str) -> String {
    format!(
        "[prune.{side}]\nsparsity = {sparsity:?}\nscope = \"{scope}\"\ngranularity = \"{granularity}\"\nmethod = \"{method}\"\n"
    )
}

/// The masks of a port, each with the weight it masks.
pub fn masks<'g>(graph: &'g Graph, port: &str) -> Vec<(&'g Tensor, Option<&'g Tensor>)> {
    let nodes = graph.nodes().iter();
    nodes
        .filter_map(|node| Some((node.masks.get(port)?, node.params.get(port))))
        .collect()
}

pub fn zeros(mask: &Tensor) -> usize {
    mask.values().iter().filter(|v| **v == 0.0).count()
}

/// Channels of a weight that are masked as a whole; panics when one is masked in part.
fn zero_channels(mask: &Tensor) -> usize {
    let size = mask.values().len() / mask.shape()[0];
    let sums = mask.values().chunks(size).map(|c| c.iter().sum::<f32>());
    let whole = sums.map(|sum| {
        assert!(
            sum == 0.0 || sum as usize == size,
            "a channel is pruned in part"
        );
        usize::from(sum == 0.0)
    });
    whole.sum()
}

fn share(sparsity: f64, n: usize) -> usize {
    (sparsity * n as f64).round_ties_even() as usize
}

#[test]
fn every_sparsity_is_exact_in_every_way() {
    for name in ["jsc-s", "toy_convnet"] {
        let dense = model(name, 3);
        for method in ["random", "l1-norm"] {
            for sparsity in [0.0, 0.01, 0.1, 1.0 / 3.0, 0.5, 0.77, 0.9, 0.999] {
                let pruned = |scope: &str, granularity: &str| {
                    let mut graph = dense.clone();
                    run(
                        &mut graph,
                        None,
                        1,
                        &rule("weight", sparsity, scope, granularity, method),
                    );
                    graph
                };
                for (mask, _) in masks(&pruned("local", "elementwise"), "weight") {
                    assert_eq!(zeros(mask), share(sparsity, mask.values().len()));
                }
                for (mask, _) in masks(&pruned("local", "channel"), "weight") {
                    assert_eq!(zero_channels(mask), share(sparsity, mask.shape()[0]));
                }
                let graph = pruned("global", "elementwise");
                let all = masks(&graph, "weight");
                let n: usize = all.iter().map(|(mask, _)| mask.values().len()).sum();
                let pruned_elements: usize = all.iter().map(|(mask, _)| zeros(mask)).sum();
                assert_eq!(pruned_elements, share(sparsity, n));
            }
        }
    }
}

#[test]
fn channels_are_counted_over_all_layers_when_global() {
    let mut graph = model("toy_convnet", 3);
    run(
        &mut graph,
        None,
        1,
        &rule("weight", 0.4, "global", "channel", "l1-norm"),
    );
    let all = masks(&graph, "weight");
    let n: usize = all.iter().map(|(mask, _)| mask.shape()[0]).sum();
    let pruned: usize = all.iter().map(|(mask, _)| zero_channels(mask)).sum();
    assert_eq!(pruned, share(0.4, n));
}

/// What is kept is nowhere smaller than what was pruned: in each tensor, and with global scope over all.
#[test]
fn the_smallest_weights_go_first() {
    let dense = model("jsc-s", 3);
    let mut differ = Vec::new();
    for scope in ["local", "global"] {
        let mut graph = dense.clone();
        run(
            &mut graph,
            None,
            0,
            &rule("weight", 0.6, scope, "elementwise", "l1-norm"),
        );
        let mut bounds: Vec<(f32, f32)> = Vec::new();
        for (after, before) in graph.nodes().iter().zip(dense.nodes()) {
            let Some(mask) = after.masks.get("weight") else {
                continue;
            };
            let values = before.params["weight"].values();
            let of = |keep: f32| {
                let pairs = values
                    .iter()
                    .zip(mask.values())
                    .filter(move |(_, k)| **k == keep);
                pairs.map(|(v, _)| v.abs())
            };
            bounds.push((
                of(0.0).fold(0.0, f32::max),
                of(1.0).fold(f32::MAX, f32::min),
            ));
        }
        if scope == "global" {
            let max = bounds.iter().fold(0.0, |m: f32, b| m.max(b.0));
            let min = bounds.iter().fold(f32::MAX, |m: f32, b| m.min(b.1));
            bounds = vec![(max, min)];
        }
        assert!(
            bounds.iter().all(|(pruned, kept)| pruned <= kept),
            "{bounds:?}"
        );
        differ.push(graph);
    }
    assert_ne!(differ[0], differ[1], "local and global choose differently");
}

#[test]
fn random_choices_follow_the_seed_and_magnitudes_do_not() {
    let pruned = |seed: u64, method: &str| {
        let mut graph = model("jsc-s", 3);
        run(
            &mut graph,
            None,
            seed,
            &rule("weight", 0.5, "local", "elementwise", method),
        );
        graph
    };
    assert_eq!(pruned(1, "random"), pruned(1, "random"));
    assert_ne!(pruned(1, "random"), pruned(2, "random"));
    assert_eq!(pruned(1, "l1-norm"), pruned(2, "l1-norm"));
}

#[test]
fn pruning_again_counts_what_is_pruned() {
    let mut graph = model("jsc-s", 3);
    let text = |sparsity| rule("weight", sparsity, "local", "elementwise", "random");
    run(&mut graph, None, 1, &text(0.5));
    let half = graph.clone();
    run(&mut graph, None, 2, &text(0.3));
    assert_eq!(graph, half, "less than there is changes nothing");
    run(&mut graph, None, 3, &text(0.8));
    for ((mask, _), (before, _)) in masks(&graph, "weight").iter().zip(masks(&half, "weight")) {
        assert_eq!(zeros(mask), share(0.8, mask.values().len()));
        let pairs = mask.values().iter().zip(before.values());
        assert!(
            pairs.into_iter().all(|(now, before)| now <= before),
            "nothing comes back"
        );
    }
}

#[test]
fn masks_survive_a_file() {
    let data = jets();
    let mut graph = model("jsc-s", 3);
    let text = rule("weight", 0.5, "global", "elementwise", "l1-norm")
        + &rule("activation", 0.25, "local", "elementwise", "l1-norm");
    run(&mut graph, Some(&data), 0, &text);
    let bytes = interface::graph_file(&graph, &data::Preparation::default()).unwrap();
    let (read, _) = interface::read_graph_file(Path::new("graph.mz"), &bytes).unwrap();
    assert_eq!(read, graph);
    assert!(read.masks().count() >= 8);
}

#[test]
fn a_table_prunes_the_named_nodes_alone_and_the_report_counts() {
    let mut graph = model("jsc-tiny", 3);
    let text = "[prune.weight]\nsparsity = { \"seq_blocks.2\" = 0.55 }\n";
    let reports = run(&mut graph, None, 0, text);
    let tables: Vec<_> = reports[0].report.tables().collect();
    assert_eq!(
        tables[0].1.to_csv(),
        "Node name,Port,Elements,Pruned,Sparsity\n\
         seq_blocks_2,weight,80,44,0.5500\n\
         total,,80,44,0.5500\n"
    );
    let reports = run(
        &mut graph,
        None,
        0,
        "[add_pruning_metadata]\n[count_flops]\nbatch_size = 8\n",
    );
    let (_, found) = reports[0].report.tables().next().unwrap();
    assert_eq!(
        found.rows,
        [["seq_blocks_2", "weight", "80", "44", "0.5500"]]
    );
    let facts = &reports[1].report.facts;
    assert_eq!(facts["total_flops"].as_u64(), Some(1320));
    let effective = 1320.0 - 0.55 * 640.0;
    assert!((facts["effective_flops"].as_f64().unwrap() - effective).abs() < 1e-9);
}

fn problems(text: &str) -> Vec<String> {
    let table = Table::parse(text).unwrap();
    match Program::read(&table) {
        Err(problems) => problems.into_iter().map(|p| p.message).collect(),
        Ok(program) => {
            let mut graph = model("jsc-tiny", 3);
            let mut context = Context::new(&graph, None);
            match program.run(&mut graph, &mut context, |_, _, _| {}) {
                Ok(_) => Vec::new(),
                Err(RunError::Config { problems, .. }) => {
                    problems.into_iter().map(|p| p.message).collect()
                }
                Err(other) => vec![other.to_string()],
            }
        }
    }
}

#[test]
fn what_cannot_be_is_said() {
    for (text, expected) in [
        (
            "[prune]\n",
            "what to prune is missing; give [passes.prune.weight] or [passes.prune.activation]",
        ),
        (
            "[prune.weight]\nscope = \"local\"\n",
            "sparsity is missing; give a number, or a table of numbers by node",
        ),
        (
            "[prune.weight]\nsparsity = 1.0\n",
            "sparsity: 1 is not at least 0 and below 1",
        ),
        (
            "[prune.weight]\nsparsity = -0.1\n",
            "sparsity: -0.1 is not at least 0 and below 1",
        ),
        (
            "[prune.weight]\nsparsity = nan\n",
            "sparsity: NaN is not at least 0 and below 1",
        ),
        (
            "[prune.weight]\nsparsity = \"half\"\n",
            "sparsity: 'half' is not a number",
        ),
        (
            "[prune.weight]\nsparsity = { seq_blocks_2 = 2 }\n",
            "sparsity of seq_blocks_2: 2 is not at least 0 and below 1",
        ),
        (
            "[prune.weight]\nsparsity = { seq_block_2 = 0.5 }\n",
            "sparsity: jsc-tiny has no node 'seq_block_2'; did you mean 'seq_blocks_2'?",
        ),
        (
            "[prune.weight]\nsparsity = { seq_blocks_1 = 0.5 }\n",
            "sparsity of seq_blocks_1: relu has no weight to prune",
        ),
        (
            "[prune.weight]\nsparsity = { seq_blocks_2 = 0.5 }\nscope = \"global\"\n",
            "sparsity: a table per node and scope = \"global\" contradict each other; give one number, or scope = \"local\"",
        ),
        (
            "[prune.weight]\nsparsity = 0.5\nmethod = \"l3-norm\"\n",
            "method: 'l3-norm' is not one of l1-norm, l2-norm, random, level-pruner, channel-pruner; did you mean 'l1-norm' or 'l2-norm'?",
        ),
        (
            "[prune.activation]\nsparsity = 0.5\n",
            "prune: needs rows of a dataset to run the network on; name one, for example jsc-sim",
        ),
        (
            "[quantize.linear.config]\nname = \"binary\"\nweight_bipolar = true\n[prune.weight]\nsparsity = 0.5\n",
            "prune: seq_blocks_2 (linear): weight: has a mask, but its format binary(bipolar = true) has no zero",
        ),
    ] {
        assert_eq!(problems(text), [expected], "{text}");
    }
}

/// The mean of |x| over the first 64 rows of what is masked is nowhere above that of what is kept.
fn smallest_are_masked(pruned: &Graph, dense: &Graph, data: &Dataset) {
    let layers = pruned
        .iter()
        .filter(|(_, node)| node.masks.contains_key("data_in_0"));
    let ports: Vec<Port> = layers
        .map(|(node, _)| Port {
            node,
            port: "data_in_0".to_owned(),
        })
        .collect();
    let mut means: Vec<Vec<f64>> = vec![Vec::new(); ports.len()];
    let add = |at: usize, shape: &[usize], values: &[f32]| {
        means[at].resize(shape[1], 0.0);
        for (i, value) in values.iter().enumerate() {
            means[at][i % shape[1]] += f64::from(value.abs());
        }
    };
    passes::observe(dense, &ports, &data.train.head(64), 1, add).unwrap();
    for (port, means) in ports.iter().zip(&means) {
        let mask = pruned.node(port.node).masks["data_in_0"].values();
        let of = |keep: f32| {
            means
                .iter()
                .zip(mask)
                .filter(move |(_, k)| **k == keep)
                .map(|(m, _)| *m)
        };
        assert!(of(0.0).fold(0.0, f64::max) <= of(1.0).fold(f64::MAX, f64::min));
    }
}

#[test]
fn activations_of_least_mean_magnitude_are_masked_and_can_be_made_permanent() {
    let data = jets();
    let mut graph = model("jsc-s", 3);
    let dense = outputs(&graph, &data);
    run(
        &mut graph,
        Some(&data),
        0,
        &rule("activation", 0.5, "local", "elementwise", "l1-norm"),
    );
    assert!(masks(&graph, "weight").is_empty());
    let mut sizes = Vec::new();
    for (mask, _) in masks(&graph, "data_in_0") {
        assert_eq!(zeros(mask), share(0.5, mask.values().len()));
        sizes.push(mask.values().len());
    }
    assert_eq!(sizes, [16, 64, 32, 32, 32]);
    smallest_are_masked(&graph, &model("jsc-s", 3), &data);
    let pruned = outputs(&graph, &data);
    assert_ne!(pruned, dense);

    let reports = run(&mut graph, None, 0, "[remove_prune_wrappers]\n");
    assert_eq!(reports[0].report.facts["removed"], 5);
    assert_eq!(graph.masks().count(), 0);
    assert_eq!(outputs(&graph, &data), pruned);
}

/// Shares of right answers on test rows.
fn accuracy(network: &mut Network, data: &Dataset) -> f64 {
    let indices = &data.test.indices()[..4000];
    let labels = data.test.labels_of(indices);
    let input = Input::Gather {
        values: data.test.rows(),
        indices,
    };
    let score = network.evaluate(&[input], &labels, indices.len()).unwrap();
    score.correct as f64 / score.count as f64
}

fn train(network: &mut Network, data: &Dataset, steps: usize) {
    let kind = OptimizerKind::AdamW { weight_decay: 0.01 };
    let mut optimizer = Optimizer::new(kind, 5e-3, network.state());
    for indices in data.train.indices().chunks(256).take(steps) {
        let labels = data.train.labels_of(indices);
        let input = Input::Gather {
            values: data.train.rows(),
            indices,
        };
        network
            .train_step(&[input], &labels, indices.len(), &mut optimizer)
            .unwrap();
    }
}

#[test]
fn a_pruned_network_learns_and_stays_pruned() {
    let data = jets();
    let mut network = Network::new(model("jsc-toy", 3), 1).unwrap();
    train(&mut network, &data, 150);
    let dense = accuracy(&mut network, &data);
    let mut graph = network.to_graph();
    run(
        &mut graph,
        None,
        0,
        &rule("weight", 0.7, "global", "elementwise", "l1-norm"),
    );
    network.replace(graph.clone()).unwrap();
    let pruned = accuracy(&mut network, &data);
    train(&mut network, &data, 150);
    let tuned = accuracy(&mut network, &data);
    assert!(
        dense > 0.5 && tuned > dense - 0.1 && tuned > pruned,
        "{dense} {pruned} {tuned}"
    );
    let after = network.to_graph();
    verify(&after).unwrap();
    let (masked, all) =
        masks(&after, "weight")
            .iter()
            .fold((0, 0), |(zeros, all), (mask, weight)| {
                let weight = weight.unwrap().values();
                (
                    zeros + weight.iter().filter(|v| **v == 0.0).count(),
                    all + mask.values().len(),
                )
            });
    assert_eq!(masked, share(0.7, all));
}

/// One layer has one weight for each output, the next two: of channels of different sizes the means are compared.
#[test]
fn channels_of_all_layers_are_ranked_by_the_mean_of_their_weights() {
    let text = "graph \"g\" { x: f32[N, 1] = placeholder
        a = linear(x) { in_features = 1, out_features = 2, bias = false }
        b = linear(a) { in_features = 2, out_features = 2, bias = false }
        return b }";
    for (method, small) in [("l1-norm", 0.9), ("l2-norm", 0.9)] {
        let mut graph = Graph::parse(text).unwrap();
        for (name, shape, values) in [
            ("a", vec![2, 1], vec![1.0, 3.0]),
            ("b", vec![2, 2], vec![small, small, 2.0, 2.0]),
        ] {
            let id = graph.find(name).unwrap();
            let weight = Tensor::new(shape, values).unwrap();
            graph
                .node_mut(id)
                .params
                .insert("weight".to_owned(), weight);
        }
        run(
            &mut graph,
            None,
            1,
            &rule("weight", 0.25, "global", "channel", method),
        );
        let zeros: Vec<usize> = masks(&graph, "weight")
            .iter()
            .map(|(mask, _)| zeros(mask))
            .collect();
        assert_eq!(zeros, [0, 2], "{method}");
    }
}
