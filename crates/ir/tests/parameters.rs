//! Parameters start as PyTorch's do, from a seed, each from a stream of its own.

use ir::{Graph, NodeId, Tensor};

const NET: &str = "graph \"net\" {
  x: f32[N, 64] = placeholder
  place = constant { target = \"place\", shape = [64], init_std = 0.5 }
  sum = add(x, place)
  norm = batch_norm1d(sum) { target = \"norm\", num_features = 64 }
  fc = linear(norm) { target = \"fc\", in_features = 64, out_features = 100 }
  return fc
}";

fn net(seed: u64) -> Graph {
    let mut graph = Graph::parse(NET).expect("the network parses");
    graph.initialize(seed);
    graph
}

fn param(graph: &Graph, path: &str) -> Tensor {
    let mut params = graph.parameters();
    params
        .find(|(name, _)| name == path)
        .map(|(_, tensor)| tensor.clone())
        .expect("the parameter is there")
}

#[test]
fn a_linear_starts_uniform_within_one_over_the_root_of_its_fan_in() {
    let graph = net(3);
    let bound = 1.0 / 64.0_f32.sqrt();
    for (path, n) in [("fc.weight", 6400), ("fc.bias", 100)] {
        let tensor = param(&graph, path);
        let values = tensor.values();
        assert_eq!(values.len(), n);
        let largest = values
            .iter()
            .fold(0.0_f32, |largest, v| largest.max(v.abs()));
        let mean = values.iter().sum::<f32>() / n as f32;
        assert!(
            largest <= bound && largest > 0.9 * bound,
            "{path}: {largest}"
        );
        assert!(
            mean.abs() < 4.0 * bound / (3.0 * n as f32).sqrt(),
            "{path}: {mean}"
        );
    }
}

#[test]
fn norms_start_as_the_identity_and_constants_normal() {
    let graph = net(3);
    for (path, value) in [
        ("norm.weight", 1.0),
        ("norm.bias", 0.0),
        ("norm.running_mean", 0.0),
        ("norm.running_var", 1.0),
    ] {
        assert!(
            param(&graph, path).values().iter().all(|&v| v == value),
            "{path}"
        );
    }
    let place = param(&graph, "place");
    let square = place.values().iter().map(|v| v * v).sum::<f32>() / 64.0;
    assert!((square.sqrt() - 0.5).abs() < 0.2, "{square}");
}

#[test]
fn the_seed_decides() {
    assert_eq!(net(1), net(1));
    assert_ne!(param(&net(1), "fc.weight"), param(&net(2), "fc.weight"));
}

#[test]
fn what_is_there_already_stays() {
    let mut graph = Graph::parse(NET).unwrap();
    let fc = graph.find("fc").unwrap();
    let bias = Tensor::filled(vec![100], 7.0);
    graph
        .node_mut(fc)
        .params
        .insert("bias".to_owned(), bias.clone());
    graph.initialize(1);
    assert_eq!(param(&graph, "fc.bias"), bias);
    assert_eq!(param(&graph, "fc.weight"), param(&net(1), "fc.weight"));
}

#[test]
fn a_node_more_does_not_change_the_others() {
    let mut graph = Graph::parse(&NET.replace(
        "return fc",
        "more = linear(fc) { in_features = 100, out_features = 2 } return more",
    ))
    .unwrap();
    graph.initialize(1);
    assert_eq!(param(&graph, "fc.weight"), param(&net(1), "fc.weight"));
    assert_eq!(param(&graph, "more.bias").shape(), [2]);
}

#[test]
fn clearing_parameters_gives_what_the_text_says() {
    let graph = net(1);
    assert_ne!(graph, Graph::parse(NET).unwrap());
    assert_eq!(graph.without_params(), Graph::parse(NET).unwrap());
    assert!(!graph.node(NodeId(4)).params.is_empty());
}
