//! Zeros that nobody pruned.

use crate::network::{jets, model, run};
use ir::NodeId;

#[test]
fn natural_zeros_are_counted_where_a_relu_makes_them() {
    let data = jets();
    let mut graph = model("jsc-s", 3);
    let before = graph.clone();
    run(
        &mut graph,
        Some(&data),
        0,
        "[add_natural_sparsity]\nnum_samples = 100\n",
    );
    let shares: Vec<(String, f64)> = graph
        .nodes()
        .iter()
        .filter(|node| node.op.name() == "linear")
        .map(|node| {
            let found = &node.statistics["data_in_0"]["natural_sparsity"];
            assert_eq!(found["count"], 100 * node.params["weight"].shape()[1]);
            assert_eq!(node.statistics["weight"]["natural_sparsity"]["zeros"], 0);
            (node.name.clone(), found["sparsity"].as_f64().unwrap())
        })
        .collect();
    assert_eq!(shares.len(), 5);
    assert!(
        shares[1..]
            .iter()
            .all(|(_, share)| (0.2..0.8).contains(share)),
        "{shares:?}"
    );
    for at in 0..graph.nodes().len() {
        graph.node_mut(NodeId(at as u32)).statistics.clear();
    }
    assert_eq!(graph, before, "only statistics change");
}
