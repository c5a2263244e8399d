//! Weights go into every model of the table and come out again, and what does not fit is told at once.

use interop::checkpoint::{Checkpoint, Kind, NamedTensor, decode, encode, read};
use ir::{Graph, Tensor};
use models::weights::{LoadError, Loaded, load_into, load_matching, tensors_of};
use models::{MODELS, ModelInfo, build};
use serde_json::Value as Json;
use std::path::Path;

fn empty(name: &str) -> Graph {
    build(name, &ModelInfo::default()).expect("a model builds with its defaults")
}

/// The model with masks on its weights and on the inputs of its layers.
fn pruned(name: &str, seed: u64) -> Graph {
    let graph = initialized(name, seed);
    let verified = ir::verify(&graph).expect("a good model");
    let mut pruned = graph.clone();
    for (id, node) in graph
        .iter()
        .filter(|(_, node)| node.params.contains_key("weight"))
    {
        let sample = verified.input_types(id)[0].shape.sample();
        let inputs = sample.filter(|_| !matches!(node.op, ir::Op::Embedding(_)));
        let weight = Some(node.params["weight"].shape().to_vec());
        for (port, shape) in [("weight", weight), ("data_in_0", inputs)] {
            let Some(shape) = shape else { continue };
            let n: usize = shape.iter().product();
            let values = (0..n).map(|i| ((i * 7 + seed as usize) % 3 % 2) as f32);
            let mask = Tensor::new(shape, values.collect()).expect("a value each");
            pruned.node_mut(id).set_mask(port, mask);
        }
    }
    ir::verify(&pruned).unwrap_or_else(|error| panic!("{name}: {error}"));
    pruned
}

fn initialized(name: &str, seed: u64) -> Graph {
    let mut graph = empty(name);
    graph.initialize(seed);
    graph
}

/// Large models take seconds to write and show nothing that the small ones do not.
fn small_models() -> impl Iterator<Item = &'static str> {
    let small = MODELS.iter().filter(|entry| entry.parameters < 2_000_000);
    small.map(|entry| entry.name)
}

#[test]
fn every_model_loads_what_it_saved() {
    let models =
        small_models().flat_map(|name| [(name, initialized(name, 1)), (name, pruned(name, 1))]);
    for (name, saved) in models {
        for kind in [
            Kind::Lightning,
            Kind::StateDict,
            Kind::Safetensors,
            Kind::Mz,
        ] {
            let checkpoint = Checkpoint {
                kind,
                tensors: tensors_of(&saved),
                training: None,
                graph: None,
                metadata: Json::Null,
            };
            let bytes = encode(&checkpoint).expect("a checkpoint");
            let tensors = decode(&bytes, None).expect("our own file").tensors;
            for mut loaded in [initialized(name, 2), pruned(name, 2)] {
                assert!(loaded != saved, "{name}: seeds make different weights");
                load_into(&mut loaded, &tensors).unwrap_or_else(|error| panic!("{error}"));
                assert!(loaded == saved, "{name} as {kind}");
            }
        }
    }
}

#[test]
fn every_tensor_is_saved_once() {
    for name in small_models() {
        let tensors = tensors_of(&initialized(name, 0));
        let mut names: Vec<&str> = tensors.iter().map(|tensor| tensor.name.as_str()).collect();
        names.sort_unstable();
        let n_names = names.len();
        names.dedup();
        assert_eq!(names.len(), n_names, "{name}");
    }
}

/// The order of a state dict is that of the modules, not that of their calls.
#[test]
fn a_module_called_twice_and_a_late_sibling_keep_their_place() {
    let text = "graph \"g\" {
        x: f32[N, 2] = placeholder
        a_0 = linear(x) { target = \"a.0\", in_features = 2, out_features = 2 }
        b = linear(a_0) { target = \"b\", in_features = 2, out_features = 2 }
        a_1 = linear(b) { target = \"a.1\", in_features = 2, out_features = 2 }
        a_0_1 = linear(a_1) { target = \"a.0\", in_features = 2, out_features = 2 }
        return a_0_1
    }";
    let mut graph = Graph::parse(text).expect("a graph");
    graph.initialize(0);
    let tensors = tensors_of(&graph);
    let names: Vec<&str> = tensors.iter().map(|tensor| tensor.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "a.0.weight",
            "a.0.bias",
            "a.1.weight",
            "a.1.bias",
            "b.weight",
            "b.bias"
        ]
    );

    let mut loaded = graph.without_params();
    load_into(&mut loaded, &tensors).expect("its own weights");
    let weight = |name: &str| &loaded.node(loaded.find(name).expect("a node")).params["weight"];
    assert!(weight("a_0").shares_values_with(weight("a_0_1")));
}

#[test]
fn everything_wrong_is_told_at_once_and_changes_nothing() {
    let mut graph = initialized("jsc-tiny", 1);
    let before = graph.clone();
    let mut tensors = tensors_of(&graph);
    for tensor in &mut tensors {
        tensor.values.fill(9.0);
        match tensor.name.as_str() {
            "seq_blocks.0.weight" => tensor.name = "seq_blocks.0.weights".to_owned(),
            "seq_blocks.2.weight" => tensor.shape = vec![16, 5],
            _ => {}
        }
    }
    tensors.push(NamedTensor {
        name: "seq_blocks.0.num_batches_tracked".to_owned(),
        shape: vec![],
        values: vec![3.0],
    });
    let error = load_into(&mut graph, &tensors).expect_err("three things are wrong");
    let expected = "weights do not fit jsc-tiny: 1 missing, 1 unexpected, 1 of another shape
  missing seq_blocks.0.weight; the weights have seq_blocks.0.weights
  unexpected seq_blocks.0.weights
  seq_blocks.2.weight: the graph has shape [5, 16], the weights [16, 5]";
    assert_eq!(error.to_string(), expected);
    assert_eq!(graph, before);
}

fn named(name: &str, shape: &[usize], values: &[f32]) -> NamedTensor {
    NamedTensor {
        name: name.to_owned(),
        shape: shape.to_vec(),
        values: values.to_vec(),
    }
}

const TWO: &str = "graph \"two\" {
    x: f32[N, 2] = placeholder
    l = linear(x) { target = \"l\", in_features = 2, out_features = 2, bias = false }
    return l
}";

/// What `torch.nn.utils.prune` leaves in a state dict: no weight, but its original and its mask.
#[test]
fn a_network_that_pytorch_prunes_has_the_product_and_the_mask() {
    let mut graph = Graph::parse(TWO).expect("a graph");
    let original = named("l.weight_orig", &[2, 2], &[1.0, -2.0, 3.0, -4.0]);
    let mask = named("l.weight_mask", &[2, 2], &[1.0, 0.0, 1.0, 0.0]);
    load_into(&mut graph, &[original.clone(), mask.clone()]).expect("a pruned layer");
    let node = graph.node(graph.find("l").expect("the layer"));
    let bits = |values: &[f32]| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
    assert_eq!(
        bits(node.params["weight"].values()),
        bits(&[1.0, 0.0, 3.0, 0.0])
    );
    assert_eq!(node.masks["weight"].values(), mask.values);
    let names: Vec<String> = tensors_of(&graph).into_iter().map(|t| t.name).collect();
    assert_eq!(names, ["l.weight", "l.weight_mask"]);

    let error = load_into(&mut graph, &[original]).expect_err("an original without a mask");
    let expected = "weights do not fit two: 1 missing, 1 unexpected
  missing l.weight
  unexpected l.weight_orig";
    assert_eq!(error.to_string(), expected);
}

#[test]
fn masks_that_do_not_fit_are_told_and_change_nothing() {
    let mut graph = Graph::parse(TWO).expect("a graph");
    let tensors = [
        named("l.weight", &[2, 2], &[1.0, -2.0, 3.0, -4.0]),
        named("l.weight_mask", &[2, 2], &[1.0, 0.5, 1.0, 0.0]),
        named("l.data_in_0_mask", &[1, 2], &[1.0, 0.0]),
        named("l.data_in_1_mask", &[2], &[1.0, 0.0]),
    ];
    let error = load_into(&mut graph, &tensors).expect_err("three bad masks");
    let expected =
        "weights do not fit two: 1 unexpected, 1 of another shape, 1 with values that it cannot have
  unexpected l.data_in_1_mask
  l.data_in_0_mask: the graph has shape [2], the weights [1, 2]
  l.weight_mask: a mask has zeros and ones, got 0.5";
    assert_eq!(error.to_string(), expected);
    assert_eq!(graph, Graph::parse(TWO).expect("a graph"));
}

/// What wrappers put before names: alone, around each other, and beside tensors of their own.
#[test]
fn prefixes_of_wrappers_are_left_out_in_every_model() {
    let prefixes = [
        "",
        "model.",
        "bert.",
        "module.",
        "_orig_mod.",
        "module._orig_mod.model.",
    ];
    for (name, prefix) in small_models().flat_map(|name| prefixes.map(|prefix| (name, prefix))) {
        let saved = pruned(name, 1);
        let mut tensors = tensors_of(&saved);
        for tensor in &mut tensors {
            tensor.name.insert_str(0, prefix);
        }
        let expected = Loaded {
            prefix: Some(prefix.to_owned()).filter(|prefix| !prefix.is_empty()),
            left_out: vec!["head.scale".to_owned()],
        };
        let mut loaded = initialized(name, 2);
        let exact = load_into(&mut loaded, &tensors);
        let exact = exact.unwrap_or_else(|error| panic!("{prefix}: {error}"));
        assert_eq!(exact.prefix, expected.prefix);
        assert!(loaded == saved, "{name} under '{prefix}'");

        tensors.push(named("head.scale", &[1], &[0.5]));
        let mut loaded = initialized(name, 2);
        assert!(load_into(&mut loaded, &tensors).is_err(), "an extra tensor");
        let matching = load_matching(&mut loaded, &tensors);
        let matching = matching.unwrap_or_else(|error| panic!("{prefix}: {error}"));
        assert_eq!(matching, expected);
        assert!(
            loaded == saved,
            "{name} under '{prefix}' with more beside it"
        );
    }
}

#[test]
fn a_prefix_stays_where_two_names_would_become_one_or_it_belongs_to_the_network() {
    let weight = |name: &str, value: f32| named(name, &[2, 2], &[value; 4]);
    let both = [weight("l.weight", 1.0), weight("model.l.weight", 2.0)];
    let mut graph = Graph::parse(TWO).expect("a graph");
    let loaded = load_matching(&mut graph, &both).expect("the bare name");
    assert_eq!(loaded.prefix, None);
    assert_eq!(loaded.left_out, ["model.l.weight"]);
    assert_eq!(tensors_of(&graph), both[..1]);

    let own = TWO.replace("\"l\"", "\"model.l\"");
    let mut graph = Graph::parse(&own).expect("a graph");
    let loaded = load_into(&mut graph, &both[1..]).expect("its own name");
    assert_eq!(loaded, Loaded::default());
}

#[test]
fn missing_tensors_are_an_error_however_many_others_there_are() {
    let mut graph = initialized("jsc-tiny", 1);
    let before = graph.clone();
    let mut tensors = tensors_of(&graph);
    tensors.retain(|tensor| tensor.name != "seq_blocks.2.bias");
    tensors.push(named("act_scale", &[1], &[0.5]));
    let error = load_matching(&mut graph, &tensors).expect_err("no bias");
    let expected = "weights do not fit jsc-tiny: 1 missing, 1 unexpected
  missing seq_blocks.2.bias
  unexpected act_scale";
    assert_eq!(error.to_string(), expected);
    assert_eq!(graph, before);
}

#[test]
fn notes_count_and_name_what_was_left_out() {
    let loaded = Loaded {
        prefix: Some("module.".to_owned()),
        left_out: vec!["a.scale".to_owned(), "b.scale".to_owned()],
    };
    let expected = [
        "w.pt: the prefix 'module.' of its names is left out",
        "w.pt: 2 tensors that net does not have left out: a.scale, b.scale",
    ];
    assert_eq!(loaded.notes("w.pt", "net"), expected);
    assert!(Loaded::default().notes("w.pt", "net").is_empty());
    let many = Loaded {
        prefix: None,
        left_out: (0..30).map(|i| format!("x{i}")).collect(),
    };
    assert!(many.notes("w.pt", "net")[0].ends_with("x19, and 10 more"));
    let full = Loaded {
        left_out: many.left_out[..20].to_vec(),
        ..many
    };
    assert!(full.notes("w.pt", "net")[0].ends_with("x18, x19"));
}

#[test]
fn a_long_list_is_cut() {
    let error = LoadError {
        graph: "g".to_owned(),
        unexpected: (0..30).map(|i| format!("x{i}")).collect(),
        ..LoadError::default()
    };
    let text = error.to_string();
    assert_eq!(text.lines().count(), 22);
    assert!(text.ends_with("and 10 more"), "{text}");
}

#[test]
fn files_of_students_load_into_jsc_tiny() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/ckpts");
    let Ok(files) = std::fs::read_dir(&folder) else {
        eprintln!("skipped: {} is not there", folder.display());
        return;
    };
    let paths = files.map(|file| file.expect("an entry").path());
    for path in paths.filter(|path| path.to_string_lossy().contains("jsc-tiny")) {
        let tensors = read(&path, None)
            .unwrap_or_else(|error| panic!("{error}"))
            .tensors;
        let mut graph = empty("jsc-tiny");
        load_into(&mut graph, &tensors)
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let kept = tensors
            .into_iter()
            .filter(|tensor| !tensor.name.ends_with("num_batches_tracked"));
        assert_eq!(tensors_of(&graph), kept.collect::<Vec<_>>());
    }
}

/// Counters, constants and learned scales that a state dict has and no value of a graph depends on.
#[test]
fn names_that_a_graph_needs_not_are_passed_over() {
    let weight = named("l.weight", &[2, 2], &[1.0; 4]);
    let mut graph = Graph::parse(TWO).expect("a graph");
    for (name, is_passed_over) in [
        ("num_batches_tracked", true),
        ("l.num_batches_tracked", true),
        ("embeddings.position_ids", true),
        ("l._extra_state", true),
        ("l.weight_log2_step", true),
        ("l.position_idx", false),
        ("position_ids.l", false),
        ("l.weight_log2_steps", false),
    ] {
        let loaded = load_into(&mut graph, &[weight.clone(), named(name, &[1], &[0.0])]);
        assert_eq!(loaded.is_ok(), is_passed_over, "{name}");
        assert!(loaded.is_err() || loaded == Ok(Loaded::default()), "{name}");
    }
}

/// A weight has as many values as its shape, and the shape of its layer.
#[test]
fn weights_of_another_length_do_not_fit() {
    let mut graph = Graph::parse(TWO).expect("a graph");
    for tensor in [
        named("l.weight", &[2, 2], &[1.0; 3]),
        named("l.weight", &[4], &[1.0; 4]),
        named("l.weight", &[usize::MAX, 2], &[1.0; 4]),
    ] {
        let error = load_into(&mut graph, std::slice::from_ref(&tensor)).expect_err("a misfit");
        let expected = format!(
            "weights do not fit two: 1 of another shape\n  l.weight: the graph has shape [2, 2], the weights {:?}",
            tensor.shape
        );
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
fn four_wrappers_around_each_other_are_left_out_and_not_five() {
    let mut graph = Graph::parse(TWO).expect("a graph");
    let mut loaded = |depth: usize| {
        let name = format!("{}l.weight", "module.".repeat(depth));
        load_into(&mut graph, &[named(&name, &[2, 2], &[1.0; 4])]).map(|loaded| loaded.prefix)
    };
    assert_eq!(loaded(4), Ok(Some("module.".repeat(4))));
    assert!(loaded(5).is_err());
}

/// A wrapped network that PyTorch prunes has originals and masks under the wrapper's name.
#[test]
fn a_wrapped_and_pruned_network_loads() {
    let mut graph = Graph::parse(TWO).expect("a graph");
    let tensors = [
        named("model.l.weight_orig", &[2, 2], &[1.0, 2.0, 3.0, 4.0]),
        named("model.l.weight_mask", &[2, 2], &[0.0, 1.0, 1.0, 1.0]),
        named("accuracy", &[1], &[0.5]),
    ];
    let loaded = load_matching(&mut graph, &tensors).expect("a pruned layer");
    assert_eq!(loaded.prefix.as_deref(), Some("model."));
    assert_eq!(loaded.left_out, ["accuracy"]);
    let node = graph.node(graph.find("l").expect("the layer"));
    assert_eq!(node.params["weight"].values(), [0.0, 2.0, 3.0, 4.0]);
}

/// Where the weight itself is there, an original beside it is one name too many.
#[test]
fn an_original_beside_its_weight_is_unexpected() {
    let mut graph = Graph::parse(TWO).expect("a graph");
    let tensors = [
        named("l.weight", &[2, 2], &[1.0; 4]),
        named("l.weight_orig", &[2, 2], &[2.0; 4]),
        named("l.weight_mask", &[2, 2], &[1.0; 4]),
    ];
    let error = load_into(&mut graph, &tensors).expect_err("two weights");
    assert_eq!(error.unexpected, ["l.weight_orig"]);
}

/// What the operator updates and what is no float has no mask.
#[test]
fn masks_belong_to_trained_parameters_and_inputs_of_floats() {
    let text = "graph \"g\" {
        x: i64[N, 3] = placeholder
        e = embedding(x) { target = \"e\", num_embeddings = 4, embedding_dim = 2 }
        t = transpose(e) { dim0 = 1, dim1 = 2 }
        b = batch_norm1d(t) { target = \"b\", num_features = 2 }
        return b
    }";
    let mut graph = Graph::parse(text).expect("a graph");
    graph.initialize(0);
    let own = tensors_of(&graph);
    for (name, shape, fits) in [
        ("e.weight_mask", &[4, 2][..], true),
        ("e.data_in_0_mask", &[3], false),
        ("b.data_in_0_mask", &[2, 3], true),
        ("b.weight_mask", &[2], true),
        ("b.running_mean_mask", &[2], false),
        ("t.data_in_0_mask", &[3, 2], true),
    ] {
        let n = shape.iter().product();
        let mut tensors = own.clone();
        tensors.push(named(name, shape, &vec![1.0; n]));
        let mut loaded = graph.clone();
        let outcome = load_into(&mut loaded, &tensors);
        assert_eq!(outcome.is_ok(), fits, "{name}");
        let masks: Vec<String> = loaded.masks().map(|(name, _)| name).collect();
        assert_eq!(masks.len(), usize::from(fits), "{name}: {masks:?}");
    }
}

/// At most twenty lines of a sort, and at most two names that are close to a missing one.
#[test]
fn lists_of_problems_are_cut_behind_twenty() {
    let lines = |n: usize| {
        let error = LoadError {
            graph: "g".to_owned(),
            unexpected: (0..n).map(|i| format!("x{i}")).collect(),
            ..LoadError::default()
        };
        error
            .to_string()
            .lines()
            .skip(1)
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(lines(20).len(), 20);
    assert_eq!(lines(20)[19], "  unexpected x19");
    assert_eq!(lines(21).len(), 21);
    assert_eq!(lines(21)[20], "  and 1 more");

    let mut graph = Graph::parse(TWO).expect("a graph");
    let close = ["l.weigh", "l.weights", "l.weigth", "l.weightx"];
    let tensors = close.map(|name| named(name, &[2, 2], &[1.0; 4]));
    let error = load_into(&mut graph, &tensors).expect_err("no weight");
    assert_eq!(error.missing.len(), 1);
    assert_eq!(error.missing[0].candidates.len(), 2);
    let one = Loaded {
        prefix: None,
        left_out: vec!["a.scale".to_owned()],
    };
    let expected = ["w.pt: 1 tensor that net does not have left out: a.scale"];
    assert_eq!(one.notes("w.pt", "net"), expected);
}
