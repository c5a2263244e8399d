//! GPTQ: against a reference that is not ours, and by laws.

use crate::network::{dataset, fact, jets, model, noise, quantize, run, try_run};
use ir::{Graph, Tensor};
use serde_json::Value as Json;

fn numbers(json: &Json, scale: f32) -> Vec<f32> {
    let items = json.as_array().unwrap().iter();
    items.map(|v| v.as_f64().unwrap() as f32 / scale).collect()
}

fn assert_close(got: f64, want: f64, what: &str) {
    assert!(
        (got - want).abs() <= 1e-4 * want.abs().max(1e-6),
        "{what}: {got}, the reference has {want}"
    );
}

#[test]
fn gptq_gives_the_weights_of_the_reference() {
    let cases = include_str!("../reference/gptq.jsonl").lines();
    for case in cases.map(|line| serde_json::from_str::<Json>(line).unwrap()) {
        let name = case["name"].as_str().unwrap();
        let mut graph = Graph::parse(case["graph"].as_str().unwrap()).unwrap();
        graph.initialize(0);
        let shape: Vec<usize> = numbers(&case["weight_shape"], 1.0)
            .iter()
            .map(|&size| size as usize)
            .collect();
        let layer = graph.find("y").unwrap();
        let node = graph.node_mut(layer);
        let weight = Tensor::new(shape.clone(), numbers(&case["w"], 4096.0)).unwrap();
        node.params.insert("weight".to_owned(), weight);
        if !case["mask"].is_null() {
            let mask = Tensor::new(shape, numbers(&case["mask"], 1.0)).unwrap();
            node.set_mask("weight", mask);
        }
        let sample = numbers(&case["sample"], 1.0);
        let sample = sample.iter().map(|&size| size as usize).collect();
        let data = dataset(sample, numbers(&case["x"], 64.0));
        let passes = format!(
            "[gptq]\nnum_samples = {}\nact_order = {}\n",
            case["num_samples"], case["act_order"]
        );
        let reports = run(&mut graph, &data, 0, &passes);
        let got = graph.node(layer).params["weight"].values();
        let expected = numbers(&case["expected"], 1.0);
        for (index, (got, want)) in got.iter().zip(&expected).enumerate() {
            assert!((got - want).abs() <= 1e-6, "{name}: {index}: {got}, {want}");
        }
        for key in ["loss_nearest", "loss_gptq"] {
            let want = case[key].as_f64().unwrap();
            assert_close(fact(&reports, "gptq", key), want, name);
        }
    }
}

#[test]
fn gptq_never_loses_more_than_rounding_and_stays_on_the_grid() {
    for (name, types) in [
        ("jsc-s", &["linear"][..]),
        ("toy_convnet", &["conv2d", "linear"]),
    ] {
        for format in [
            "name = \"integer\"\nweight_width = 3\nweight_frac_width = 3\n",
            "name = \"scale_integer\"\nweight_width = 4\nweight_granularity = \"channel\"\n",
            "name = \"mxint\"\nweight_width = 4\nweight_block_size = 8\n",
            "name = \"minifloat_ieee\"\nweight_width = 5\nweight_exponent_width = 3\n",
        ] {
            let mut graph = model(name, 5);
            let data = noise(&graph, 60);
            let mut passes = "[quantize]\nby = \"type\"\n".to_owned();
            for op in types {
                passes += &["[quantize.", op, ".config]\n", format].concat();
            }
            passes += "[gptq]\nnum_samples = 40\n";
            let reports = run(&mut graph, &data, 0, &passes);
            let [nearest, gptq] =
                ["loss_nearest", "loss_gptq"].map(|key| fact(&reports, "gptq", key));
            assert!(gptq < nearest, "{name}, {format}: {gptq}, {nearest}");
            for node in graph.nodes() {
                if let Some(format) = node.formats.get("weight") {
                    let weight = &node.params["weight"];
                    let mut rounded = vec![0.0; weight.values().len()];
                    format.quantize(weight.values(), weight.shape(), &mut rounded);
                    assert_eq!(rounded, weight.values(), "{name}: {}: {format}", node.name);
                }
            }
        }
    }
}

#[test]
fn gptq_keeps_what_is_pruned_at_zero() {
    let mut graph = model("jsc-s", 5);
    let passes = format!(
        "[prune.weight]\nsparsity = 0.5\n{}[gptq]\n",
        quantize(&["linear"], 4)
    );
    run(&mut graph, &jets(), 0, &passes);
    for node in graph.nodes() {
        if let Some(mask) = node.masks.get("weight") {
            let pairs = mask.values().iter().zip(node.params["weight"].values());
            assert!(
                pairs
                    .filter(|(keep, _)| **keep == 0.0)
                    .all(|(_, w)| *w == 0.0)
            );
        }
    }
}

#[test]
fn gptq_refuses_formats_whose_scale_is_a_mean() {
    let mut graph = model("jsc-tiny", 5);
    let rule = "[quantize]\n[quantize.linear.config]\nname = \"ternary\"\nweight_width = 2\n";
    let error = try_run(&mut graph, &jets(), 0, &format!("{rule}[gptq]\n")).unwrap_err();
    let text = format!("{error:?}");
    assert!(text.contains("ternary"), "{text}");
}

#[test]
fn gptq_refuses_inputs_whose_squares_are_not_finite() {
    for wrong in [1e30, f32::INFINITY, f32::NAN] {
        let mut graph = model("jsc-toy", 5);
        let mut data = noise(&graph, 64);
        let mut rows = data.train.rows().to_vec();
        rows[17] = wrong;
        data = dataset(vec![16], rows);
        let layer = "[quantize]\nby = \"type\"\n[quantize.linear.config]\nname = \"integer\"\nweight_width = 8\n";
        let config = format!("{layer}[gptq]\nnum_samples = 32\n");
        let error = try_run(&mut graph, &data, 0, &config)
            .unwrap_err()
            .to_string();
        assert!(error.contains("(linear): data_in_0: its values"), "{error}");
    }
}

#[test]
fn a_layer_without_a_format_has_a_row_that_says_so() {
    let mut graph = model("jsc-toy", 5);
    let before = graph.clone();
    let data = noise(&graph, 64);
    let quantize = "[quantize]\nby = \"name\"\n[quantize.seq_blocks_5.config]\n\
                    name = \"integer\"\nweight_width = 4\nweight_frac_width = 3\n";
    let reports = run(
        &mut graph,
        &data,
        0,
        &format!("{quantize}[gptq]\nnum_samples = 32\n"),
    );
    let (_, table) = reports[1].report.tables().next().unwrap();
    let shown: Vec<[&str; 3]> = table
        .rows
        .iter()
        .map(|row| [&*row[0], &*row[1], &*row[2]])
        .collect();
    let without = |name| [name, "no format", "-"];
    let wanted = [
        without("seq_blocks_2"),
        ["seq_blocks_5", "integer(4, 3)", "8"],
        without("seq_blocks_8"),
    ];
    assert_eq!(shown, wanted);
    for (old, new) in before.nodes().iter().zip(graph.nodes()) {
        let is_changed = new.name == "seq_blocks_5";
        assert_eq!(old.params != new.params, is_changed, "{}", new.name);
    }
}
