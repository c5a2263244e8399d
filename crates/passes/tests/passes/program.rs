//! Passes that run one after another.

use crate::network::{jets, model, problems};
use config::Table;
use data::Dataset;
use ir::{Graph, Tensor};
use passes::{Context, Program};
use std::collections::BTreeSet;

/// Runs passes and gives the files they leave.
fn run(graph: &mut Graph, data: &Dataset, passes: &str) -> BTreeSet<String> {
    let table = Table::parse(passes).unwrap();
    let program = Program::read(&table).unwrap_or_else(|problems| panic!("{problems:?}"));
    let mut context = Context::new(graph, Some(data));
    let result = program.run(graph, &mut context, |_, _, _| {});
    result.unwrap_or_else(|error| panic!("{error}"));
    let files = context.files.iter();
    files
        .map(|file| file.path.to_str().unwrap().to_owned())
        .collect()
}

#[test]
fn a_pass_that_runs_twice_leaves_its_files_twice() {
    let one = |key: &str, width: u32| {
        format!("[{key}]\n[{key}.linear.config]\nname = \"integer\"\nweight_width = {width}\n")
    };
    let record = |key: &str| {
        format!(
            "[{key}]\ntarget_weight_nodes = [\"linear\"]\n[{key}.weight_statistics]\nrecord = {{}}\n"
        )
    };
    let config = one("quantize", 8)
        + &one("quantize_2", 4)
        + &record("profile_statistics")
        + &record("profile_statistics_2");
    let mut graph = model("jsc-tiny", 3);
    let files = run(&mut graph, &jets(), &config);
    for key in ["quantize", "quantize_2"] {
        assert!(files.contains(&format!("{key}/quantize_table.csv")));
    }
    let of = |key: &str| {
        let paths = files.iter().filter_map(|file| file.strip_prefix(key));
        paths.collect::<Vec<_>>()
    };
    assert!(!of("profile_statistics/").is_empty());
    assert_eq!(of("profile_statistics/"), of("profile_statistics_2/"));
    // The metadata name the files of the pass that wrote them last.
    let layer = graph.nodes().iter().find(|node| node.op.name() == "linear");
    let data = &layer.unwrap().statistics["weight"]["record"]["data"];
    assert!(files.contains(data.as_str().unwrap()));
    assert!(data.as_str().unwrap().starts_with("profile_statistics_2/"));
}

/// What has statistics in a chain of layers, after a pass that replaces parameters: what lies before the first of them.
#[test]
fn statistics_go_with_the_parameters_that_they_follow_from() {
    let data = jets();
    let profile = "[profile_statistics]\ntarget_weight_nodes = [\"linear\", \"batch_norm1d\"]\n\
         target_activation_nodes = [\"linear\"]\nprofile_output_activation = true\n\
         [profile_statistics.weight_statistics]\nrange_min_max = {}\n\
         [profile_statistics.activation_statistics]\nrange_min_max = {}\n";
    let quantize = "[quantize]\n[quantize.linear.config]\nname = \"integer\"\nweight_width = 4\n";
    let lora = "[insert_lora_adapter]\nrank = 2\n";
    for (before, pass) in [
        ("", "[fuse_batch_norm]\n"),
        ("", "[prune.weight]\nsparsity = 0.5\n"),
        (quantize, "[gptq]\nnum_samples = 64\n"),
        (quantize, "[correct_bias]\nnum_samples = 64\n"),
        (lora, "[fuse_lora_weights]\n"),
    ] {
        let mut graph = model("jsc-toy", 3);
        if !before.is_empty() {
            run(&mut graph, &data, before);
        }
        give_adapters_weights(&mut graph);
        run(&mut graph, &data, profile);
        let profiled = graph.clone();
        run(&mut graph, &data, pass);
        let (mut replaced, mut is_changed) = (0, false);
        for node in graph.nodes() {
            let old = profiled.node(profiled.find(&node.name).unwrap());
            for (port, tensor) in &old.params {
                let is_same = node.params.get(port) == Some(tensor);
                replaced += usize::from(!is_same);
                let found = old.statistics.get(port).filter(|_| is_same);
                assert_eq!(
                    node.statistics.get(port),
                    found,
                    "{pass}: {} {port}",
                    node.name
                );
            }
            for port in ["data_in_0", "data_out_0"] {
                is_changed |= port == "data_out_0" && node.params != old.params;
                let found = old.statistics.get(port).filter(|_| !is_changed);
                assert_eq!(
                    node.statistics.get(port),
                    found,
                    "{pass}: {} {port}",
                    node.name
                );
            }
        }
        assert!(replaced > 0, "{pass} replaces nothing");
    }
}

/// Adapters that change results.
fn give_adapters_weights(graph: &mut Graph) {
    let is_adapter = |name: &str| name.ends_with("_lora_b");
    let ids: Vec<_> = graph
        .iter()
        .filter(|(_, node)| is_adapter(&node.name))
        .map(|(id, _)| id)
        .collect();
    for id in ids {
        let weight = graph.node_mut(id).params.get_mut("weight").unwrap();
        *weight = Tensor::filled(weight.shape().to_vec(), 0.25);
    }
}

#[test]
fn nothing_to_do_is_a_mistake() {
    assert_eq!(problems("").len(), 1);
    assert!(problems("[profile_statistics]\n")[0].contains("what to profile is missing"));
    let sigma = "[profile_statistics]\ntarget_weight_nodes = [\"linear\"]\n[profile_statistics.weight_statistics]\nrange_n_sigma = { num_sigma = -1 }\n";
    assert_eq!(
        problems(sigma),
        ["-1: num_sigma: -1 is not a number of at least 0"]
    );
}

#[test]
fn a_pass_is_named_by_its_key_or_by_what_it_does() {
    let text = "[verify]\n[first]\ntype = \"report_graph\"\n[count_flops_2]\n";
    let read = || {
        let table = Table::parse(text).unwrap();
        Program::read(&table).unwrap_or_else(|problems| panic!("{problems:?}"))
    };
    for (word, left) in [
        ("verify", 1),
        ("first", 2),
        ("report_graph", 2),
        ("count_flops_2", 3),
        ("count_flops", 3),
    ] {
        let mut program = read();
        assert!(program.has(word), "{word}");
        program.stop_after(word);
        let keys = ["verify", "first", "count_flops_2"];
        assert_eq!(program.keys().collect::<Vec<_>>(), keys[..left], "{word}");
    }
    let mut program = read();
    assert!(!program.has("prune"));
    program.stop_after("prune");
    assert_eq!(program.keys().count(), 3);
}
