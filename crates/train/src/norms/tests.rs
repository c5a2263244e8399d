//! Statistics of layers, and the layers that get a norm.

use super::*;

const CHANNELS: usize = 3;

/// Whole numbers whose mean is far from 0, for every channel others.
fn value(sample: usize, channel: usize, place: usize) -> f32 {
    let noise = (sample * 7 + place * 5 + channel * 3) % 11;
    (noise * (channel + 1) + 20 * channel) as f32 - 30.0
}

/// The mean and the sum of squares about it, of all values at once.
fn at_once(values: &[f64]) -> (f64, f64) {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    (mean, values.iter().map(|x| (x - mean).powi(2)).sum())
}

#[test]
fn moments_of_batches_are_those_of_all_values() {
    for inner in [1, 4] {
        let (mut moments, mut first) = (Moments::default(), 0);
        // The batches are of several sizes, so that each has a weight of its own.
        for rows in [5, 1, 13] {
            let shape = [rows, CHANNELS, inner];
            let values: Vec<f32> = (first..first + rows)
                .flat_map(|sample| (0..CHANNELS * inner).map(move |k| (sample, k)))
                .map(|(sample, k)| value(sample, k / inner, k % inner))
                .collect();
            moments.add(&shape, &values);
            first += rows;
        }
        assert_eq!(moments.count, (first * inner) as f64);
        for channel in 0..CHANNELS {
            let all: Vec<f64> = (0..first)
                .flat_map(|sample| (0..inner).map(move |place| (sample, place)))
                .map(|(sample, place)| f64::from(value(sample, channel, place)))
                .collect();
            let (mean, squares) = at_once(&all);
            let got = (moments.mean[channel], moments.squares[channel]);
            assert!((got.0 - mean).abs() < 1e-9, "{got:?}, not {mean}");
            assert!(
                (got.1 - squares).abs() < 1e-9 * squares,
                "{got:?}, not {squares}"
            );
        }
    }
}

const NET: &str = "graph \"net\" { x: f32[N, 4] = placeholder
    a = linear(x) { in_features = 4, out_features = 3, weight: integer(4, 3) }
    r = relu(a)
    b = linear(r) { in_features = 3, out_features = 2, weight: integer(4, 3) }
    return b }";

/// The network with a part of its text replaced.
fn net(from: &str, to: &str) -> Graph {
    assert!(NET.contains(from), "{from}");
    let mut graph = Graph::parse(&NET.replace(from, to)).expect("a graph");
    graph.initialize(1);
    graph
}

fn names(graph: &Graph, layers: &[NodeId]) -> Vec<String> {
    let names = layers.iter().map(|&layer| graph.node(layer).name.clone());
    names.collect()
}

#[test]
fn a_norm_can_follow_rounded_layers_that_one_inner_node_reads() {
    for (from, to, expected) in [
        ("", "", &["a"][..]),
        (
            "r = relu(a)",
            "c = linear(a) { in_features = 3, out_features = 3, weight: integer(4, 3) } r = relu(c)",
            &["a", "c"],
        ),
        (
            "out_features = 3, weight: integer(4, 3)",
            "out_features = 3",
            &[],
        ),
        ("out_features = 3,", "out_features = 3, bias = false,", &[]),
        ("r = relu(a)", "s = relu(a) r = add(s, a)", &[]),
        (
            "r = relu(a)",
            "n = batch_norm1d(a) { num_features = 3 } r = relu(n)",
            &[],
        ),
        ("[N, 4]", "[N, 5, 4]", &[]),
    ] {
        let graph = net(from, to);
        assert_eq!(names(&graph, &rounded_layers(&graph)), expected, "{to}");
    }
    let mut graph = net("", "");
    let a = graph.find("a").expect("a layer");
    let format = graph.node(a).formats["weight"].clone();
    let formats = &mut graph.node_mut(a).formats;
    formats.insert("data_out_0".to_owned(), format);
    assert!(rounded_layers(&graph).is_empty(), "its result is rounded");
    let node = graph.node_mut(a);
    node.formats.remove("data_out_0");
    let mask = Tensor::new(vec![3], vec![1.0; 3]).expect("a mask");
    node.masks.insert("bias".to_owned(), mask);
    assert!(rounded_layers(&graph).is_empty(), "its bias is masked");
}

#[test]
fn folded_layers_are_those_that_had_a_norm() {
    let folded = net("", "");
    let had_norm = "n = batch_norm1d(a) { num_features = 3 } r = relu(n)";
    for (model, expected) in [(had_norm, &["a"][..]), ("r = relu(a)", &[])] {
        let layers = folded_layers(&net("r = relu(a)", model), &folded);
        assert_eq!(names(&folded, &layers), expected, "{model}");
    }
}

#[test]
fn a_norm_starts_with_the_statistics_of_its_layer_and_undoes_them() {
    let moments = Moments {
        count: 5.0,
        mean: vec![0.5, -2.0, 7.0],
        squares: vec![8.0, 2.0, 0.0],
    };
    let layer = "a = linear(x) { in_features = 4, out_features = 3, weight: integer(4, 3) }";
    let conv = "i = reshape(x) { shape = [-1, 1, 2, 2] }
        a = conv2d(i) { in_channels = 1, out_channels = 3, kernel_size = 2, weight: integer(4, 3) }
        a_norm = flatten(a) { start_dim = 1 }";
    for (graph, name, op) in [
        (net("", ""), "a_norm", "batch_norm1d"),
        (net(layer, conv), "a_norm_", "batch_norm2d"),
    ] {
        let layer = graph.find("a").expect("a layer");
        let norm = norm_behind(&graph, layer, &moments);
        assert_eq!((norm.name.as_str(), norm.op.name()), (name, op));
        assert_eq!(norm.inputs, [layer.into()]);
        let values = |port: &str| norm.params[port].values().to_vec();
        assert_eq!(values("running_mean"), [0.5, -2.0, 7.0]);
        // PyTorch's running variance divides by one less than the count.
        assert_eq!(values("running_var"), [2.0, 0.5, 0.0]);
        let deviations = [2.0, 0.5, 0.0].map(|variance: f64| (variance + EPS).sqrt() as f32);
        assert_eq!(values("weight"), deviations);
        assert_eq!(values("bias"), values("running_mean"));
    }
}
