//! The pass `profile_statistics`: what it writes, that it changes nothing else, and what it refuses.

use config::Table;
use data::{Dataset, Info, Rows, Split};
use engine::Port;
use ir::{Graph, verify};
use passes::statistics::{Profile, RangeQuantile, Record, Statistic, VariancePrecise};
use passes::{Context, Program, RunError, StepReport};
use random::Random;
use serde_json::{Value as Json, json};
use std::sync::Arc;

/// As users of the original have it.
const ORIGINAL: &str = "[profile_statistics]
by = \"type\"
target_weight_nodes = [\"linear\"]
target_activation_nodes = [\"linear\"]
input_generator = \"train\"
num_samples = 32
[profile_statistics.weight_statistics]
variance_precise = {device = \"cpu\", dims = \"all\"}
[profile_statistics.activation_statistics]
range_quantile = {device = \"cpu\", dims = \"all\", quantile = 0.97}
";

fn model(name: &str) -> Graph {
    let mut graph = models::build(name, &models::ModelInfo::default()).unwrap();
    graph.initialize(3);
    graph
}

fn dataset(rows: usize, width: usize) -> Dataset {
    let random = Random::new(1, "rows");
    let values = (0..(rows * width) as u64).map(|k| random.normal(k));
    dataset_of(values.collect(), width)
}

fn dataset_of(values: Vec<f32>, width: usize) -> Dataset {
    let rows = values.len() / width;
    let values = Rows {
        labels: vec![0; rows],
        values,
        width,
    };
    // Backward, so that a split is more than the rows as they lie.
    let train = Split::new(Arc::new(values), (0..rows as u32).rev().collect());
    Dataset {
        info: Info {
            name: "noise".to_owned(),
            sample_shape: vec![width],
            classes: Vec::new(),
            features: Vec::new(),
            source: "a test".to_owned(),
            hash: 0,
            scaling: data::Scaling::None,
        },
        val: train.head(3),
        test: train.head(0),
        train,
    }
}

fn program(text: &str) -> Result<Program, Vec<String>> {
    let problems = |problems: Vec<config::Problem>| {
        let message = |problem: config::Problem| problem.message;
        problems.into_iter().map(message).collect()
    };
    Program::read(&Table::parse(text).unwrap()).map_err(problems)
}

fn run(graph: &mut Graph, context: &mut Context, text: &str) -> Result<StepReport, String> {
    let program = program(text).map_err(|problems| problems.join("\n"))?;
    let mut reports = program
        .run(graph, context, |_, _, _| {})
        .map_err(|error| match error {
            RunError::Config { problems, .. } => {
                let messages = problems.into_iter().map(|problem| problem.message);
                messages.collect::<Vec<_>>().join("\n")
            }
            other => other.to_string(),
        })?;
    Ok(reports.remove(0))
}

/// The error of a config on jsc-tiny.
fn refusal(text: &str, data: Option<&Dataset>) -> String {
    let mut graph = model("jsc-tiny");
    let mut context = Context::new(&graph, data);
    run(&mut graph, &mut context, text).unwrap_err()
}

fn statistic<'g>(graph: &'g Graph, node: &str, port: &str, name: &str) -> &'g Json {
    let node = graph.node(graph.find(node).unwrap());
    &node.statistics[port][name]
}

/// What a statistic finds at a port of some rows that are run at once.
fn expected(graph: &Graph, node: &str, port: &str, rows: &Split, wanted: Statistic) -> Json {
    let port = Port {
        node: graph.find(node).unwrap(),
        port: port.to_owned(),
    };
    let mut values = Vec::new();
    let mut sample = Vec::new();
    passes::observe(graph, &[port], rows, 1, |_, shape, part| {
        sample = shape[1..].to_vec();
        values.extend_from_slice(part);
    })
    .unwrap();
    let mut profile = Profile::new(&[wanted], &sample).unwrap();
    profile.add(&values);
    profile.finish().unwrap().remove(0).fields.into()
}

#[test]
fn a_config_of_the_original_runs_unchanged() {
    let (mut graph, data) = (model("jsc-toy"), dataset(50, 16));
    let before = graph.clone();
    let mut context = Context::new(&graph, Some(&data));
    let report = run(&mut graph, &mut context, ORIGINAL).unwrap();
    for node in ["seq_blocks_2", "seq_blocks_5", "seq_blocks_8"] {
        let quantile = Statistic::from(RangeQuantile {
            quantile: 0.97,
            ..RangeQuantile::default()
        });
        let rows = data.train.head(32);
        assert_eq!(
            statistic(&graph, node, "data_in_0", "range_quantile"),
            &expected(&before, node, "data_in_0", &rows, quantile)
        );
        let weight = &graph.node(graph.find(node).unwrap()).params["weight"];
        let mut profile =
            Profile::new(&[VariancePrecise::default().into()], weight.shape()).unwrap();
        profile.add(weight.values());
        let wanted: Json = profile.finish().unwrap().remove(0).fields.into();
        assert_eq!(
            statistic(&graph, node, "weight", "variance_precise"),
            &wanted
        );
        assert_eq!(
            statistic(&graph, node, "bias", "variance_precise")["count"],
            weight.shape()[0]
        );
    }
    assert_eq!(report.report.facts["num_samples"], 32);
    let (_, table) = report.report.tables().next().unwrap();
    assert_eq!(table.rows.len(), 3 * (3 + 3 + 4));
    assert_eq!(
        table.rows[0][..4],
        ["seq_blocks_2", "weight", "variance_precise", "mean"]
    );
}

#[test]
fn nothing_but_statistics_changes() {
    let (mut graph, data) = (model("jsc-toy"), dataset(50, 16));
    let before = graph.clone();
    let mut context = Context::new(&graph, Some(&data));
    run(&mut graph, &mut context, ORIGINAL).unwrap();
    assert_ne!(graph, before);
    for id in (0..before.nodes().len()).map(|k| ir::NodeId(k as u32)) {
        graph.node_mut(id).statistics.clear();
    }
    assert_eq!(graph, before);
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let data = dataset(5_000, 16);
    let text = "[profile_statistics]\ntarget_activation_nodes = [\"linear\", \"relu\"]\nnum_samples = 5000\n\
                profile_output_activation = true\n[profile_statistics.activation_statistics]\n\
                variance_online = {dims = \"NA\"}\nrange_quantile = {}\nrecord = {}\nabs_mean = {}\n";
    let outcome = |threads| {
        let mut graph = model("jsc-s");
        let mut context = Context::new(&graph, Some(&data));
        context.threads = threads;
        run(&mut graph, &mut context, text).unwrap();
        (graph, context.files)
    };
    let one = outcome(1);
    assert!(one == outcome(2));
    assert!(one == outcome(7));
}

#[test]
fn records_are_left_as_arrays() {
    let (mut graph, data) = (model("jsc-tiny"), dataset(700, 16));
    let text = "[profile_statistics]\nby = \"name\"\ntarget_weight_nodes = [\"seq_blocks.2\"]\n\
                target_activation_nodes = [\"seq_blocks_0\"]\nnum_samples = 700\n\
                [profile_statistics.weight_statistics]\nrecord = {}\n\
                [profile_statistics.activation_statistics]\nrecord = {}\n";
    let mut context = Context::new(&graph, Some(&data));
    run(&mut graph, &mut context, text).unwrap();
    let file = "profile_statistics/seq_blocks_0.data_in_0.npy";
    let wanted = json!({"data": file, "count": 700, "size_in_bytes": 700 * 16 * 4});
    assert_eq!(
        statistic(&graph, "seq_blocks_0", "data_in_0", "record"),
        &wanted
    );
    let array = interop::npy::decode(context.written(file.as_ref()).unwrap()).unwrap();
    let mut rows = Vec::new();
    let positions: Vec<u32> = (0..700).collect();
    data.train.gather(&positions, &mut rows, &mut Vec::new());
    assert_eq!((array.shape, array.values), (vec![700, 16], rows));
    let file = "profile_statistics/seq_blocks_2.weight.npy";
    let array = interop::npy::decode(context.written(file.as_ref()).unwrap()).unwrap();
    let weight = &graph.node(graph.find("seq_blocks_2").unwrap()).params["weight"];
    assert_eq!(
        (array.shape, array.values.as_slice()),
        (vec![5, 16], weight.values())
    );
}

#[test]
fn buffers_and_results_are_profiled() {
    let (mut graph, data) = (model("jsc-tiny"), dataset(9, 16));
    let text = "[profile_statistics]\ntarget_weight_nodes = [\"batch_norm1d\"]\n\
                target_activation_nodes = [\"batch_norm1d\"]\nnum_samples = 9\nsplit = \"val\"\n\
                profile_output_activation = true\n[profile_statistics.weight_statistics]\nabs_mean = {dims = [0]}\n\
                [profile_statistics.activation_statistics]\nrange_min_max = {dims = \"NA\"}\n";
    let mut context = Context::new(&graph, Some(&data));
    let report = run(&mut graph, &mut context, text).unwrap();
    assert_eq!(
        statistic(&graph, "seq_blocks_0", "running_var", "abs_mean"),
        &json!({"abs_mean": 1.0, "count": 16})
    );
    let result = statistic(&graph, "seq_blocks_0", "data_out_0", "range_min_max");
    assert_eq!(result["min"].as_array().unwrap().len(), 16);
    assert_eq!(result["count"], 3);
    assert_eq!(report.report.facts["num_samples"], 3);
    assert_eq!(
        context.notes,
        ["requested 9 rows but noise has only 3 validation rows; using all of them"]
    );
    let software = ir::software(
        &verify(&graph).unwrap(),
        graph.find("seq_blocks_0").unwrap(),
    );
    let stat = &software.results.get("data_out_0").unwrap().stat;
    assert_eq!(&stat["range_min_max"], result);
}

#[test]
fn images_are_profiled_along_any_axes() {
    let (mut graph, data) = (model("lenet5"), dataset(40, 28 * 28));
    let before = graph.clone();
    let text = "[profile_statistics]\ntarget_activation_nodes = [\"conv2d\"]\nnum_samples = 40\n\
                [profile_statistics.activation_statistics]\nvariance_precise = {dims = [1, 2]}\n\
                record = {add_new_dim_before_concat = true}\n";
    let mut context = Context::new(&graph, Some(&data));
    run(&mut graph, &mut context, text).unwrap();
    let node = graph
        .nodes()
        .iter()
        .rfind(|node| node.op.name() == "conv2d")
        .unwrap();
    let variance = VariancePrecise {
        dims: passes::statistics::Dims::Axes(vec![1, 2]),
    };
    let found = &node.statistics["data_in_0"];
    assert_eq!(
        found["variance_precise"],
        expected(
            &before,
            &node.name,
            "data_in_0",
            &data.train,
            variance.into()
        )
    );
    assert_eq!(
        found["variance_precise"]["mean"].as_array().unwrap().len(),
        6
    );
    let record = Record::default();
    let wanted = expected(&before, &node.name, "data_in_0", &data.train, record.into());
    assert_eq!(found["record"]["size_in_bytes"], wanted["size_in_bytes"]);
}

#[test]
fn what_is_wrong_is_named() {
    struct Case {
        from: &'static str,
        to: &'static str,
        error: &'static str,
    }
    let cases = [
        Case {
            from: "range_quantile",
            to: "range_quantil",
            error: "unknown statistic 'range_quantil'; did you mean 'range_quantile'?",
        },
        Case {
            from: "variance_precise = {device = \"cpu\", dims = \"all\"}",
            to: "",
            error: "a statistic is missing; `ch list statistics` names all",
        },
        Case {
            from: "target_weight_nodes = [\"linear\"]",
            to: "target_weight_nodes = [\"linaer\"]",
            error: "rule 'linaer' matches nothing: there is no such operator; did you mean 'linear'?",
        },
        Case {
            from: "target_weight_nodes = [\"linear\"]",
            to: "target_weight_nodes = [\"relu\"]",
            error: "'relu' has no port that can be profiled",
        },
        Case {
            from: "target_activation_nodes = [\"linear\"]",
            to: "",
            error: "target_activation_nodes is missing; say of which nodes to collect activation_statistics",
        },
        Case {
            from: "[profile_statistics.weight_statistics]\nvariance_precise = {device = \"cpu\", dims = \"all\"}\n",
            to: "",
            error: "weight_statistics is missing; say what to collect of target_weight_nodes",
        },
        Case {
            from: "dims = \"all\", quantile",
            to: "dims = [1], quantile",
            error: "profile_statistics: seq_blocks_2 (linear): data_in_0: dims: axis 1 is not below 1, the axes of a sample of shape [16]",
        },
        Case {
            from: "num_samples = 32",
            to: "split = \"test\"",
            error: "profile_statistics: the test rows of noise are empty",
        },
    ];
    let data = dataset(50, 16);
    for Case { from, to, error } in cases {
        assert!(ORIGINAL.contains(from), "{from}");
        let text = ORIGINAL.replace(from, to);
        assert_eq!(refusal(&text, Some(&data)), error);
    }
}

#[test]
fn data_that_does_not_fit_is_named() {
    assert_eq!(
        refusal(ORIGINAL, None),
        "profile_statistics: needs rows of a dataset to run the network on; name one, for example jsc-sim"
    );
    assert_eq!(
        refusal(ORIGINAL, Some(&dataset(40, 8))),
        "profile_statistics: rows have 8 values, but the network takes 16"
    );
}

#[test]
fn a_value_that_is_not_finite_is_named() {
    let mut values = vec![0.5; 40 * 16];
    // The rows come backward: this one is number 4.
    values[35 * 16 + 7] = f32::INFINITY;
    let data = dataset_of(values, 16);
    let mut graph = model("jsc-tiny");
    let mut context = Context::new(&graph, Some(&data));
    let text = ORIGINAL.replace(
        "target_activation_nodes = [\"linear\"]",
        "target_activation_nodes = [\"relu\"]",
    );
    assert_eq!(
        run(&mut graph, &mut context, &text).unwrap_err(),
        "profile_statistics: seq_blocks_1 (relu): data_in_0: the value at [7] of sample 4 is inf; statistics are of finite values"
    );
}

#[test]
fn values_without_rows_of_their_own() {
    let text = "graph \"g\" {
      x: f32[N, 4] = placeholder
      turned = transpose(x) { dim0 = 0, dim1 = 1 }
      back = transpose(turned) { dim0 = 0, dim1 = 1 }
      lines = reshape(back) { shape = [-1, 2] }
      done = relu(lines) { target = \"done\" }
      always = constant { shape = [3, 2], init_std = 1.0 }
      sum = add(always, always)
      return done, sum
    }";
    let mut graph = Graph::parse(text).unwrap();
    graph.initialize(0);
    let data = dataset(10, 4);
    let profile = |name: &str| {
        let text = format!(
            "[profile_statistics]\nby = \"name\"\ntarget_activation_nodes = [\"{name}\"]\n\
             [profile_statistics.activation_statistics]\nrange_min_max = {{dims = [1]}}\n"
        );
        let mut graph = graph.clone();
        let mut context = Context::new(&graph, Some(&data));
        run(&mut graph, &mut context, &text).map(|_| graph)
    };
    assert_eq!(
        profile("back").unwrap_err(),
        "profile_statistics: back (transpose): data_in_0: the rows of a batch are not outermost in [4, N]"
    );
    // Two lines of each row are an axis of the sample.
    let graph = profile("done").unwrap();
    let found = statistic(&graph, "done", "data_in_0", "range_min_max");
    assert_eq!(found["min"].as_array().unwrap().len(), 2);
    assert_eq!(found["count"], 20);
    // What no row changes is one sample.
    let graph = profile("sum").unwrap();
    let found = statistic(&graph, "sum", "data_in_1", "range_min_max");
    assert_eq!(found["min"].as_array().unwrap().len(), 3);
    assert_eq!(found["count"], 2);
}
