//! Folding leaves results as they were, and what it cannot fold alone.

use crate::network::{fact, model, noise, run, try_run, values_at};
use crate::prune::{masks, rule, zeros};
use ir::Tensor;

#[test]
fn folded_batch_norms_leave_the_outputs_as_they_were() {
    for name in ["jsc-s", "vgg7"] {
        let mut graph = model(name, 5);
        for index in 0..graph.nodes().len() {
            let node = graph.node_mut(ir::NodeId(index as u32));
            let random = random::Random::new(2, &node.name);
            for port in ["weight", "bias", "running_mean", "running_var"] {
                if let Some(tensor) = node
                    .params
                    .get_mut(port)
                    .filter(|_| node.op.name().starts_with("batch_norm"))
                {
                    for (k, value) in tensor.values_mut().iter_mut().enumerate() {
                        *value = 0.5 + random.uniform(k as u64);
                    }
                }
            }
        }
        let data = noise(&graph, 4);
        let before = values_at(&graph, &data, "output", "data_in_0");
        let reports = run(&mut graph, &data, 0, "[fuse_batch_norm]\n");
        assert!(fact(&reports, "fuse_batch_norm", "folded") >= 2.0);
        let after = values_at(&graph, &data, "output", "data_in_0");
        let largest = before.iter().fold(1.0_f32, |max, v| max.max(v.abs()));
        for (a, b) in before.iter().zip(&after) {
            assert!((a - b).abs() <= 1e-4 * largest, "{name}: {a}, {b}");
        }
    }
}

/// A fold that would break a mask is not done, or refused.
#[test]
fn folding_respects_masks() {
    let mut graph = model("jsc-lab1", 3);
    let prune = rule("weight", 0.5, "local", "elementwise", "l1-norm");
    run(
        &mut graph,
        None,
        0,
        &(prune.clone() + "[fuse_batch_norm]\n"),
    );
    let folded: Vec<usize> = masks(&graph, "weight")
        .iter()
        .map(|(mask, _)| zeros(mask))
        .collect();
    assert!(
        folded.iter().all(|n| *n > 0),
        "masks of weights hold: {folded:?}"
    );

    let mut graph = model("jsc-lab1", 3);
    let norm = graph
        .iter()
        .filter(|(_, n)| n.op.name() == "batch_norm1d")
        .nth(1)
        .unwrap()
        .0;
    let features = graph.node(norm).params["weight"].shape().to_vec();
    graph
        .node_mut(norm)
        .set_mask("data_in_0", Tensor::filled(features, 1.0));
    let reports = run(&mut graph, None, 0, "[fuse_batch_norm]\n");
    let (_, table) = reports[0].report.tables().next().unwrap();
    let why = table
        .rows
        .iter()
        .filter(|row| row[2].starts_with("has masks"))
        .count();
    assert_eq!(why, 1, "{}", table.to_text());

    let mut graph = model("jsc-tiny", 3);
    let text = "[insert_lora_adapter]\n".to_owned() + &prune + "[fuse_lora_weights]\n";
    let error = try_run(&mut graph, None, 0, &text).unwrap_err().to_string();
    assert!(error.contains("make them permanent before"), "{error}");
}

/// The layer's outputs are the last axis, the norm's channels the second.
#[test]
fn a_norm_over_another_axis_is_not_folded() {
    let text = "graph \"g\" { x: f32[N, 3, 4] = placeholder
        l = linear(x) { in_features = 4, out_features = 3 }
        n = batch_norm1d(l) { num_features = 3 }
        return n }";
    let mut graph = ir::Graph::parse(text).unwrap();
    graph.initialize(1);
    let before = graph.clone();
    let reports = run(&mut graph, None, 0, "[fuse_batch_norm]\n");
    assert_eq!(fact(&reports, "fuse_batch_norm", "folded"), 0.0);
    let (_, table) = reports[0].report.tables().next().unwrap();
    assert_eq!(
        table.rows[0],
        ["n", "-", "l has its channels on another axis"]
    );
    assert_eq!(graph, before);
}
