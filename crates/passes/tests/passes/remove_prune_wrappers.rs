//! Permanent pruning gives the same results.

use crate::network::{jets, model, outputs, run};
use crate::prune::rule;
use engine::{Input, Network, PlanOptions};
use ir::{Graph, NodeId, Tensor};

/// Convolutions, groups and sequences: what a weight can stand for moves into it, all else stays.
#[test]
fn permanent_means_the_same_results() {
    let text = r#"graph "g" {
      x: f32[N, 4, 5] = placeholder
      c = conv1d(x) { target = "c", in_channels = 4, out_channels = 6, kernel_size = 3, padding = 1, groups = 2 }
      d = conv1d(c) { target = "d", in_channels = 6, out_channels = 6, kernel_size = 1 }
      l = linear(d) { target = "l", in_features = 5, out_features = 3 }
      m = linear(l: block_fp(6, 4, block_size = [1, 3])) { target = "m", in_features = 3, out_features = 2 }
      r = relu(m)
      return r
    }"#;
    let mut graph = Graph::parse(text).unwrap();
    graph.initialize(0);
    let set = |graph: &mut Graph, node: &str, shape: &[usize], keep: &dyn Fn(usize) -> bool| {
        let n: usize = shape.iter().product();
        let values = (0..n).map(|i| f32::from(u8::from(keep(i))));
        let mask = Tensor::new(shape.to_vec(), values.collect()).unwrap();
        let id = graph.find(node).unwrap();
        graph.node_mut(id).set_mask("data_in_0", mask);
    };
    set(&mut graph, "c", &[4, 5], &|i| i / 5 % 2 == 0);
    set(&mut graph, "d", &[6, 5], &|i| i != 7);
    set(&mut graph, "l", &[6, 5], &|i| i % 5 != 2);
    set(&mut graph, "m", &[6, 3], &|i| i % 3 != 1);
    set(&mut graph, "r", &[6, 2], &|i| i != 3);
    let x: Vec<f32> = (0..40).map(|i| (i as f32 * 0.7).sin()).collect();
    let run_graph = |graph: &Graph| {
        let mut network = Network::new(graph.clone(), 1).unwrap();
        let plan = network.run(PlanOptions::eval(2), &[Input::F32(&x)]);
        plan.unwrap().output(0)
    };
    let before = run_graph(&graph);
    let reports = run(&mut graph, None, 0, "[remove_prune_wrappers]\n");
    let (_, table) = reports[0].report.tables().next().unwrap();
    let results: Vec<&str> = table.rows.iter().map(|row| row[3].as_str()).collect();
    let (moved, kept) = ("zeros in the weight", "kept: no weight can stand for it");
    assert_eq!(results, [moved, kept, moved, kept, kept]);
    assert_eq!(reports[0].report.facts["removed"], 2);
    assert_eq!(reports[0].report.facts["kept"], 3);
    let after = run_graph(&graph);
    let largest = before
        .iter()
        .zip(&after)
        .map(|(a, b)| (a - b).abs())
        .fold(0.0, f32::max);
    assert!(largest < 1e-6, "{largest}");
    assert!(before.iter().any(|v| *v != 0.0));
}

/// A format that has no zero would make something else of the zeros that a mask becomes.
#[test]
fn a_format_without_zero_keeps_its_mask() {
    let data = jets();
    let mut graph = model("jsc-s", 3);
    let config = rule("activation", 0.5, "local", "elementwise", "l1-norm");
    run(&mut graph, Some(&data), 0, &config);
    let bipolar = format::Format::parse("binary(8, bipolar = true)").unwrap();
    let is_linear = |(_, node): &(NodeId, &ir::Node)| node.op.name() == "linear";
    let id = graph.iter().filter(is_linear).nth(1).unwrap().0;
    let formats = &mut graph.node_mut(id).formats;
    formats.insert("weight".to_owned(), bipolar);
    let before = outputs(&graph, &data);
    let reports = run(&mut graph, None, 0, "[remove_prune_wrappers]\n");
    assert_eq!(reports[0].report.facts["kept"], 1);
    assert_eq!(outputs(&graph, &data), before);
}

#[test]
fn a_channel_of_an_image_that_is_pruned_is_zero_in_all_windows_of_the_weight() {
    let text = "graph \"g\" { x: f32[N, 2, 3, 3] = placeholder
        c = conv2d(x) { in_channels = 2, out_channels = 3, kernel_size = [2, 2] }
        return c }";
    let mut graph = Graph::parse(text).unwrap();
    graph.initialize(0);
    let mask = (0..18).map(|i| if i < 9 { 0.0 } else { 1.0 }).collect();
    let mask = Tensor::new(vec![2, 3, 3], mask).unwrap();
    let id = graph.find("c").unwrap();
    graph.node_mut(id).set_mask("data_in_0", mask);
    run(&mut graph, None, 0, "[remove_prune_wrappers]\n");
    assert!(graph.node(id).masks.is_empty());
    let weight = graph.node(id).params["weight"].values();
    for (at, value) in weight.iter().enumerate() {
        assert_eq!(*value == 0.0, at / 4 % 2 == 0, "{at}");
    }
}
