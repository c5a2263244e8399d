//! Corrected biases give channels the means that they have without rounding.

use crate::network::{jets, model, noise, quantize, run, values_at};
use data::Dataset;
use ir::Graph;

#[test]
fn corrected_biases_make_the_means_of_all_channels_equal() {
    for (name, types) in [
        ("jsc-s", &["linear"][..]),
        ("toy_convnet", &["conv2d", "linear"]),
    ] {
        let exact = model(name, 5);
        let data = noise(&exact, 40);
        let mut graph = exact.clone();
        // Biases without a format: what a format makes of them is another error.
        let rules = quantize(types, 4).replace("bias_width = 16\n", "");
        let passes = format!("{rules}[calibrate]\nnum_samples = 40\n[gptq]\nnum_samples = 32\n");
        let correct = "[correct_bias]\nnum_samples = 40\n";
        let mut uncorrected = exact.clone();
        run(&mut uncorrected, &data, 0, &passes);
        run(&mut graph, &data, 0, &format!("{passes}{correct}"));
        for node in exact
            .nodes()
            .iter()
            .filter(|node| node.params.contains_key("bias"))
        {
            if !types.contains(&node.op.name()) {
                continue;
            }
            let channels = node.params["bias"].values().len();
            let error = |graph: &Graph| mean_error(&exact, graph, &data, &node.name, channels);
            assert!(
                error(&graph) < 1e-4,
                "{name}: {}: {}",
                node.name,
                error(&graph)
            );
            assert!(error(&uncorrected) > 1e-3, "{name}: {}", node.name);
        }
    }
}

/// The largest difference of the means of a channel.
fn mean_error(a: &Graph, b: &Graph, data: &Dataset, node: &str, channels: usize) -> f64 {
    let rows = data.train.len();
    let means = |graph: &Graph| {
        let values = values_at(graph, data, node, "data_out_0");
        let run = match graph.node(graph.find(node).unwrap()).op.name() {
            "linear" => 1,
            _ => values.len() / rows / channels,
        };
        let mut sums = vec![0.0; channels];
        for (index, part) in values.chunks_exact(run).enumerate() {
            sums[index % channels] += part.iter().map(|&v| f64::from(v)).sum::<f64>();
        }
        let per_channel = (values.len() / channels) as f64;
        sums.iter().map(|sum| sum / per_channel).collect::<Vec<_>>()
    };
    let pairs = means(a).into_iter().zip(means(b));
    pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

#[test]
fn correcting_twice_changes_nothing_more() {
    let data = jets();
    let rules = quantize(&["linear"], 4).replace("bias_width = 16\n", "");
    let corrected = |times: usize| {
        let mut graph = model("jsc-s", 5);
        let keys = ["[correct_bias]\n", "[correct_bias_2]\n"];
        run(
            &mut graph,
            &data,
            0,
            &format!("{rules}{}", keys[..times].concat()),
        );
        values_at(&graph, &data, "output", "data_in_0")
    };
    let pairs = corrected(1).into_iter().zip(corrected(2));
    let largest = pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    assert!(largest < 1e-4, "{largest}");
}

#[test]
fn layers_over_sequences_are_corrected_channel_by_channel() {
    let text = "graph \"g\" { x: f32[N, 2, 9] = placeholder
        c = conv1d(x) { in_channels = 2, out_channels = 3, kernel_size = 2 }
        d = conv1d(c) { in_channels = 3, out_channels = 2, kernel_size = 3, bias = false }
        return d }";
    let mut exact = Graph::parse(text).unwrap();
    exact.initialize(3);
    let data = noise(&exact, 40);
    let rules = quantize(&["conv1d"], 4).replace("bias_width = 16\n", "");
    let mut graph = exact.clone();
    let reports = run(
        &mut graph,
        &data,
        0,
        &format!("{rules}[correct_bias]\nnum_samples = 40\n"),
    );
    assert!(mean_error(&exact, &graph, &data, "c", 3) < 1e-4);
    assert_eq!(reports[1].report.facts["corrected"], 1);
    let (_, table) = reports[1].report.tables().next().unwrap();
    let shown: Vec<[&str; 3]> = table
        .rows
        .iter()
        .map(|row| [&*row[0], &*row[1], &*row[5]])
        .collect();
    assert_eq!(shown, [["c", "3", "corrected"], ["d", "2", "has no bias"]]);
}
