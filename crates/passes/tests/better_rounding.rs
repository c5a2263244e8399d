//! Calibration, GPTQ and bias correction: against a reference that is not ours, and by laws.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use config::Table;
use data::{Dataset, Info, OpenOptions, Rows, Split};
use engine::Port;
use format::Format;
use ir::{Graph, Tensor};
use passes::{Context, Program, RunError, StepReport};
use serde_json::Value as Json;
use std::sync::Arc;

fn try_run(graph: &mut Graph, data: &Dataset, passes: &str) -> Result<Vec<StepReport>, RunError> {
    let table = Table::parse(passes).unwrap();
    let program = Program::read(&table).unwrap_or_else(|problems| panic!("{problems:?}"));
    let mut context = Context::new(graph, Some(data));
    program.run(graph, &mut context, |_, _, _| {})
}

fn run(graph: &mut Graph, data: &Dataset, passes: &str) -> Vec<StepReport> {
    try_run(graph, data, passes).unwrap_or_else(|error| panic!("{error}"))
}

fn dataset(sample_shape: Vec<usize>, values: Vec<f32>) -> Dataset {
    let width = sample_shape.iter().product();
    let count = values.len() / width;
    let labels = vec![0; count];
    let rows = Rows {
        values,
        labels,
        width,
    };
    let train = Split::new(Arc::new(rows), (0..count as u32).collect());
    let info = Info {
        name: "rows".to_owned(),
        sample_shape,
        classes: vec!["any".to_owned()],
        features: Vec::new(),
        source: "the test".to_owned(),
        hash: 0,
    };
    Dataset {
        info,
        val: train.head(0),
        test: train.head(0),
        train,
    }
}

fn jets() -> Dataset {
    data::open("jsc-sim", &OpenOptions::default()).unwrap()
}

fn model(name: &str) -> Graph {
    let mut graph = models::build(name, &models::ModelInfo::default()).unwrap();
    graph.initialize(5);
    graph
}

/// Quantises the layers of these types: so many bits for inputs and weights, 16 for biases.
fn quantize(types: &[&str], bits: u32) -> String {
    let rule = |op: &&str| {
        format!(
            "[quantize.{op}.config]\nname = \"integer\"\ndata_in_width = {bits}\nweight_width = {bits}\nbias_width = 16\n"
        )
    };
    let rules: String = types.iter().map(rule).collect();
    format!("[quantize]\nby = \"type\"\n{rules}")
}

/// Rows of noise in the shape of a network's input.
fn noise(graph: &Graph, count: usize) -> Dataset {
    let verified = ir::verify(graph).unwrap();
    let placeholder = verified.placeholders()[0];
    let sample = verified.ty(placeholder.into()).shape.sample().unwrap();
    let random = random::Random::new(11, "rows");
    let len = count * sample.iter().product::<usize>();
    let values = (0..len).map(|k| random.normal(k as u64) + 0.3).collect();
    dataset(sample, values)
}

/// The values at a port over all training rows.
fn values_at(graph: &Graph, data: &Dataset, node: &str, port: &str) -> Vec<f32> {
    let port = Port {
        node: graph.find(node).unwrap(),
        port: port.to_owned(),
    };
    let mut all = Vec::new();
    passes::observe(graph, &[port], &data.train, 1, |_, _, values| {
        all.extend_from_slice(values);
    })
    .unwrap();
    all
}

fn numbers(json: &Json, scale: f32) -> Vec<f32> {
    let items = json.as_array().unwrap().iter();
    items.map(|v| v.as_f64().unwrap() as f32 / scale).collect()
}

fn fact(reports: &[StepReport], key: &str, name: &str) -> f64 {
    let step = reports.iter().find(|step| step.key == key).unwrap();
    step.report.facts[name].as_f64().unwrap()
}

fn assert_close(got: f64, want: f64, what: &str) {
    assert!(
        (got - want).abs() <= 1e-4 * want.abs().max(1e-6),
        "{what}: {got}, the reference has {want}"
    );
}

#[test]
fn gptq_gives_the_weights_of_the_reference() {
    let cases = include_str!("reference/gptq.jsonl").lines();
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
        let reports = run(&mut graph, &data, &passes);
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
            let mut graph = model(name);
            let data = noise(&graph, 60);
            let mut passes = "[quantize]\nby = \"type\"\n".to_owned();
            for op in types {
                passes += &["[quantize.", op, ".config]\n", format].concat();
            }
            passes += "[gptq]\nnum_samples = 40\n";
            let reports = run(&mut graph, &data, &passes);
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
    let mut graph = model("jsc-s");
    let passes = format!(
        "[prune.weight]\nsparsity = 0.5\n{}[gptq]\n",
        quantize(&["linear"], 4)
    );
    run(&mut graph, &jets(), &passes);
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
    let mut graph = model("jsc-tiny");
    let rule = "[quantize]\n[quantize.linear.config]\nname = \"ternary\"\nweight_width = 2\n";
    let error = try_run(&mut graph, &jets(), &format!("{rule}[gptq]\n")).unwrap_err();
    let text = format!("{error:?}");
    assert!(text.contains("ternary"), "{text}");
}

#[test]
fn calibration_by_mse_beats_min_max_and_the_formats_before() {
    let data = jets();
    for bits in [8, 4, 3] {
        let error = |method: &str| {
            let mut graph = model("jsc-s");
            let passes = format!(
                "{}[calibrate]\nmethod = \"{method}\"\nobserve = \"float\"\n",
                quantize(&["linear", "batch_norm1d"], bits)
            );
            let reports = run(&mut graph, &data, &passes);
            let (_, table) = reports[1].report.tables().next().unwrap();
            let column = |row: &Vec<String>, at: usize| row[at].parse::<f64>();
            let sqnr: Vec<[f64; 2]> = table
                .rows
                .iter()
                .map(|row| [5, 6].map(|at| column(row, at).unwrap_or(f64::INFINITY)))
                .collect();
            assert!(sqnr.len() >= 20, "{}", table.to_text());
            sqnr
        };
        let (mse, min_max) = (error("mse"), error("min_max"));
        for (by_mse, by_range) in mse.iter().zip(&min_max) {
            assert!(by_mse[1] >= by_mse[0], "worse than before: {by_mse:?}");
            assert!(by_mse[1] >= by_range[1], "{by_mse:?}, {by_range:?}");
        }
    }
}

#[test]
fn only_inputs_without_a_sign_lose_it_and_only_when_asked() {
    let data = jets();
    let signed = |unsigned: bool| {
        let mut graph = model("jsc-s");
        let passes = format!(
            "{}[calibrate]\nunsigned = {unsigned}\n",
            quantize(&["linear", "batch_norm1d"], 8)
        );
        run(&mut graph, &data, &passes);
        let of = |node: &ir::Node| {
            let format = node.formats.get("data_in_0")?;
            let Format::Integer(format) = format else {
                panic!()
            };
            Some((node.op.name(), format.signed))
        };
        graph.nodes().iter().filter_map(of).collect::<Vec<_>>()
    };
    assert!(signed(false).iter().all(|(_, signed)| *signed));
    for (op, signed) in signed(true) {
        // Every linear of jsc-s follows a relu; batch norms see results of linears.
        assert_eq!(signed, op != "linear", "{op}");
    }
}

#[test]
fn corrected_biases_make_the_means_of_all_channels_equal() {
    for (name, types) in [
        ("jsc-s", &["linear"][..]),
        ("toy_convnet", &["conv2d", "linear"]),
    ] {
        let exact = model(name);
        let data = noise(&exact, 40);
        let mut graph = exact.clone();
        // Biases without a format: what a format makes of them is another error.
        let rules = quantize(types, 4).replace("bias_width = 16\n", "");
        let passes = format!("{rules}[calibrate]\nnum_samples = 40\n[gptq]\nnum_samples = 32\n");
        let correct = "[correct_bias]\nnum_samples = 40\n";
        let mut uncorrected = exact.clone();
        run(&mut uncorrected, &data, &passes);
        run(&mut graph, &data, &format!("{passes}{correct}"));
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
        let mut graph = model("jsc-s");
        let keys = ["[correct_bias]\n", "[correct_bias_2]\n"];
        run(
            &mut graph,
            &data,
            &format!("{rules}{}", keys[..times].concat()),
        );
        values_at(&graph, &data, "output", "data_in_0")
    };
    let pairs = corrected(1).into_iter().zip(corrected(2));
    let largest = pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    assert!(largest < 1e-4, "{largest}");
}

#[test]
fn folded_batch_norms_leave_the_outputs_as_they_were() {
    for name in ["jsc-s", "vgg7"] {
        let mut graph = model(name);
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
        let reports = run(&mut graph, &data, "[fuse_batch_norm]\n");
        assert!(fact(&reports, "fuse_batch_norm", "folded") >= 2.0);
        let after = values_at(&graph, &data, "output", "data_in_0");
        let largest = before.iter().fold(1.0_f32, |most, v| most.max(v.abs()));
        for (a, b) in before.iter().zip(&after) {
            assert!((a - b).abs() <= 1e-4 * largest, "{name}: {a}, {b}");
        }
    }
}

#[test]
fn names_that_a_pass_cannot_use_are_problems() {
    for pass in ["calibrate", "gptq", "correct_bias"] {
        let rules = quantize(&["linear"], 8);
        let passes = format!("{rules}[{pass}]\nnodes = [\"module_list_22\", \"module_list_1\"]\n");
        let error = try_run(&mut model("jsc-s"), &jets(), &passes).unwrap_err();
        let text = format!("{error:?}");
        assert!(text.contains("has no node 'module_list_22'"), "{text}");
        assert!(text.contains("module_list_1 (relu) is not"), "{text}");
    }
}

#[test]
fn gptq_refuses_inputs_whose_squares_are_not_finite() {
    for wrong in [1e30, f32::INFINITY, f32::NAN] {
        let mut graph = model("jsc-toy");
        let mut data = noise(&graph, 64);
        let mut rows = data.train.rows().to_vec();
        rows[17] = wrong;
        data = dataset(vec![16], rows);
        let layer = "[quantize]\nby = \"type\"\n[quantize.linear.config]\nname = \"integer\"\nweight_width = 8\n";
        let config = format!("{layer}[gptq]\nnum_samples = 32\n");
        let error = try_run(&mut graph, &data, &config).unwrap_err().to_string();
        assert!(error.contains("(linear): data_in_0: its values"), "{error}");
    }
}
