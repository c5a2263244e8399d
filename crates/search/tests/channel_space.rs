//! Searches over numbers of channels, as in the fourth lab.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod fixtures;

use fixtures::{network, read, run, search, strategy};
use ir::{Graph, Op};
use passes::{Context, Program};
use search::results::Report;
use search::{Objective, Results, Scores, Search, SearchSpace, SpaceError};
use serde_json::{Value as Json, json};
use std::path::PathBuf;
use study::storage::{Journal, StudyInfo};
use study::{Point, SAMPLERS, State};

/// The lab's own file: a chain of layers, each of which names the one before.
const LAB: &str = "[search_space]\nname = \"graph/quantize/channel_size_modifier\"\n\
    [search_space.seed.default.config]\nname = [\"NA\"]\nchannel_multiplier = [1, 2, 3, 4]\n\
    [search_space.seed.seq_blocks_2.config]\nname = [\"output_only\"]\nchannel_multiplier = [1, 2, 3, 4]\n\
    [search_space.seed.seq_blocks_5.config]\nname = [\"both\"]\nchannel_multiplier = [1, 2, 4]\nparent = [\"seq_blocks_2\"]\n\
    [search_space.seed.seq_blocks_8.config]\nname = [\"input_only\"]\nchannel_multiplier = [1, 2, 4]\nparent = [\"seq_blocks_5\"]\n";

const TRAINED: &str =
    "eval_mode = false\n[strategy.sw_runner.basic_train]\nmax_steps = 4\nbatch_size = 64\n";

fn file(space: &str, sampler: &str, trials: u64, metrics: &str) -> String {
    let more = format!("{TRAINED}[strategy.setup]\nn_trials = {trials}\n");
    let text = strategy(metrics, &more).replace("random", sampler);
    let start = text.find("[strategy]").unwrap();
    format!("{space}{}", &text[start..])
}

fn lab(sampler: &str, trials: u64, metrics: &str) -> Search {
    search(&file(LAB, sampler, trials, metrics), network(), 200)
}

/// Numbers of outputs of the layers.
fn widths(graph: &Graph) -> Vec<usize> {
    let width = |op: &Op| match op {
        Op::Linear(op) => Some(op.out_features),
        _ => None,
    };
    let nodes = graph.nodes().iter();
    nodes.filter_map(|node| width(&node.op)).collect()
}

fn refused(model: &str, space: &str) -> String {
    let info = models::ModelInfo::default();
    let graph = models::build(model, &info).unwrap();
    let config = read(&file(space, "random", 1, "loss = {}")).unwrap();
    match SearchSpace::new(&graph, &config.space) {
        Ok(_) => panic!("{space}"),
        Err(SpaceError::Config(problems)) => problems[0].message.clone(),
        Err(error) => error.to_string(),
    }
}

/// A layer with one multiplier is not searched, and changes nothing.
#[test]
fn one_multiplier_is_no_choice() {
    let space = LAB.replace(
        "channel_multiplier = [1, 2, 3, 4]\n",
        "channel_multiplier = [1]\n",
    );
    let config = read(&file(&space, "random", 1, "loss = {}")).unwrap();
    let graph = network();
    let found = SearchSpace::new(&graph, &config.space).unwrap();
    let names: Vec<&str> = found
        .study_space()
        .parameters()
        .iter()
        .map(|parameter| parameter.name.as_str())
        .collect();
    assert_eq!(names, ["seq_blocks_5/config/channel_multiplier"]);
}

/// Files of forks that put channels into the space of formats, beside the widths of formats.
#[test]
fn channels_under_another_name_are_channels() {
    let space = LAB
        .replace("channel_size_modifier", "mixed_precision_ptq")
        .replace("parent =", "weight_width = [4, 8]\nparent =");
    let config = read(&file(&space, "random", 1, "loss = {}")).unwrap();
    let notes = config.notes.join("\n");
    assert!(
        notes.contains("this is a search over channels, whatever its name"),
        "{notes}"
    );
    assert!(notes.contains("'weight_width' in [search.search_space.seed.seq_blocks_5.config] has no effect: channels are searched here"), "{notes}");
    let plain = read(&file(LAB, "random", 1, "loss = {}")).unwrap();
    let graph = network();
    let size = |space| {
        SearchSpace::new(&graph, space)
            .unwrap()
            .study_space()
            .size()
    };
    assert_eq!(size(&config.space), size(&plain.space));
}

#[test]
fn a_point_multiplies_the_layers_that_it_names() {
    let search = lab("brute_force", 12, "accuracy = {}\nmodel_size = {}");
    let space = search.space.study_space();
    assert_eq!(space.size(), Some(12));
    let results = run(&search, None);
    let mut found: Vec<Vec<usize>> = Vec::new();
    for trial in results.history.trials() {
        assert_eq!(trial.outcome.state, State::Complete);
        found.push(widths(&search.graph(&trial.point).unwrap()));
    }
    found.sort();
    let expected: Vec<Vec<usize>> = [8, 16, 24, 32]
        .into_iter()
        .flat_map(|first| [8, 16, 32].map(|second| vec![first, second, 5]))
        .collect();
    assert_eq!(found, expected);
}

/// The score of a trial is that of the network that is written for it.
#[test]
fn trials_are_trained_and_their_networks_are_those_of_the_files() {
    let search = lab("random", 3, "loss = {}\nflops = {}");
    for trial in run(&search, None).history.trials() {
        let scores = Scores::of(trial).unwrap();
        let graph = search.graph(&trial.point).unwrap();
        let mut network = engine::Network::new(graph.clone(), 1).unwrap();
        let score = train::evaluate(&mut network, &search.rows).unwrap();
        assert_eq!(scores[Objective::Loss], score.loss);
        let untrained = search
            .space
            .graph(&search.network, &trial.point, search.seed);
        assert_eq!(untrained.as_ref().unwrap().to_string(), graph.to_string());
        assert_ne!(untrained.unwrap(), graph);

        let text = search.space.to_toml(&trial.point);
        let table = config::Table::parse(&text).unwrap();
        let (_, passes) = table.get("passes").unwrap();
        let program = Program::read(passes.as_table().unwrap());
        let program = program.unwrap_or_else(|problems| panic!("{problems:?}\n{text}"));
        let mut changed = (*search.network).clone();
        let mut context = Context::new(&changed, None);
        program
            .run(&mut changed, &mut context, |_, _, _| {})
            .unwrap();
        assert_eq!(changed.to_string(), graph.to_string(), "{text}");
    }
}

#[test]
fn costs_are_those_of_the_network() {
    let search = lab("brute_force", 12, "accuracy = {}\nbitops = {}");
    let results = run(&search, None);
    let sizes = |point: &Point| {
        let graph = search.graph(point).unwrap();
        let buffers: usize = graph
            .parameters()
            .map(|(_, tensor)| tensor.values().len())
            .sum();
        4.0 * buffers as f64
    };
    for trial in results.history.trials() {
        let scores = Scores::of(trial).unwrap();
        assert_eq!(scores[Objective::ModelSize], sizes(&trial.point));
        assert_eq!(scores[Objective::AverageBitwidth], 32.0);
        assert!(scores[Objective::Flops] > 0.0 && scores[Objective::Bitops] > 0.0);
    }
}

#[test]
fn every_sampler_searches_channels() {
    for entry in SAMPLERS {
        let search = lab(entry.name, 10, "accuracy.scale = 1.0");
        let results = run(&search, None);
        let trials = results.history.trials();
        assert!(trials.len() >= 5, "{}: {} trials", entry.name, trials.len());
        let is_complete = |trial: &study::Trial| trial.outcome.state == State::Complete;
        assert!(trials.iter().all(is_complete), "{}", entry.name);
    }
}

fn log(search: &Search, results: &Results) -> Json {
    let mut log = Report::new(search, results).log();
    for row in log.as_array_mut().unwrap() {
        for time in ["time_begin", "time_end", "duration"] {
            row.as_object_mut().unwrap().remove(time);
        }
    }
    log
}

#[test]
fn threads_and_interruptions_change_nothing() {
    let metrics = "accuracy = {}\nmodel_size = {}";
    let name = format!("channels_{}.journal", std::process::id());
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_file(&path);
    let whole = lab("tpe", 9, metrics);
    let expected = log(&whole, &run(&whole, None));
    let info = |search: &Search| StudyInfo {
        name: "study".to_owned(),
        directions: search.config.goals.directions(),
        metric_names: search.config.goals.names(),
        facts: serde_json::Map::new(),
        space: search.space.study_space().clone(),
    };
    let first = lab("tpe", 4, metrics);
    let storage = Journal::create(&path, &info(&first)).unwrap();
    run(&first, Some(Box::new(storage)));
    let mut second = lab("tpe", 9, metrics);
    second.threads = 3;
    let storage = Journal::open(&path, &info(&second)).unwrap();
    let resumed = run(&second, Some(Box::new(storage)));
    assert_eq!(resumed.ran, 5);
    assert_eq!(log(&second, &resumed), expected);
    std::fs::remove_file(path).unwrap();
}

#[test]
fn a_name_that_leaves_outputs_alone_is_the_multiplier_one() {
    let space = "[search_space]\nname = \"graph/channel_multiplier\"\n[search_space.seed.seq_blocks_2.config]\n\
        name = [\"input_only\", \"output_only\", \"both\"]\nchannel_multiplier = [2, 3]\n";
    let search = search(&file(space, "brute_force", 9, "loss = {}"), network(), 50);
    let configs: Vec<Json> = (0..3)
        .map(|n| {
            let point = search.space.study_space().nth(n).unwrap();
            search.space.sampled_config(&point)["seq_blocks_2"]["config"].clone()
        })
        .collect();
    let config = |name: &str, by: u64| json!({ "name": name, "channel_multiplier": by });
    let expected = [("input_only", 1), ("output_only", 2), ("output_only", 3)];
    assert_eq!(configs, expected.map(|(name, by)| config(name, by)));
    assert_eq!(search.space.study_space().size(), Some(3));
}

#[test]
fn joined_layers_are_one_choice() {
    let space = "[search_space]\nname = \"graph/channel_size_modifier\"\n[search_space.setup]\nby = \"type\"\n\
        [search_space.seed.conv2d.config]\nname = [\"both\"]\nchannel_multiplier = [1, 2]\n";
    let info = models::ModelInfo {
        input: Some(vec![3, 16, 16]),
        classes: Some(10),
    };
    let graph = models::build("resnet18", &info).unwrap();
    let config = read(&file(space, "random", 1, "loss = {}")).unwrap();
    let space = SearchSpace::new(&graph, &config.space).unwrap();
    assert_eq!(space.study_space().size(), Some(1 << 12));
    let joined = "the channels of conv1 and layer1_0_conv2, layer1_1_conv2 are one choice, joined by add, add_1";
    assert!(
        space.notes().iter().any(|note| note == joined),
        "{:?}",
        space.notes()
    );
    let widest = space.study_space().nth((1 << 12) - 1).unwrap();
    let config = space.sampled_config(&widest);
    assert_eq!(config.len(), 20);
    assert!(
        config
            .values()
            .all(|node| node["config"]["channel_multiplier"] == 2)
    );
    assert!(space.graph(&graph, &widest, 0).is_ok());
}

#[test]
fn what_makes_no_network_is_refused_by_name() {
    let space = |rules: &str| {
        format!("[search_space]\nname = \"graph/quantize/channel_modifier\"\n{rules}")
    };
    let rule = |node: &str, name: &str, by: &str| {
        space(&format!(
            "[search_space.seed.{node}.config]\nname = [\"{name}\"]\nchannel_multiplier = {by}\n"
        ))
    };
    for (rules, message) in [
        (
            rule("seq_blocks_8", "both", "[2, 4]"),
            "seq_blocks_8 (linear): every channel_multiplier would change its output channels, but the network returns \
             them; use name = [\"input_only\"]",
        ),
        (
            rule("seq_blocks_2", "output_only", "[1, 0.3]"),
            "seq_blocks_2 (linear): channel_multiplier 0.3 makes 2.4 of 8 channels; choose one that gives a whole number",
        ),
        (
            rule("seq_blocks_99", "both", "[2]"),
            "rule 'seq_blocks_99' matches nothing: jsc-toy has no node of this name; did you mean 'seq_blocks_9', \
             'seq_blocks_0' or 'seq_blocks_1'?",
        ),
        (
            rule("seq_blocks_8", "input_only", "[2]"),
            "there is nothing to search: no rule of the search space gives a node of the graph a choice of channel \
             multipliers",
        ),
    ] {
        assert_eq!(refused("jsc-toy", &rules), message);
    }
    let both = rule("conv1", "both", "[2]")
        + "[search_space.seed.layer1_0_conv2.config]\nname = [\"both\"]\nchannel_multiplier = [3]\n";
    assert_eq!(
        refused("resnet18", &both),
        "layer1_0_conv2 (conv2d): it has no channel_multiplier in common with conv1, but their channels are joined by add, \
         add_1"
    );
    let wrong = rule("seq_blocks_2", "output_only", "[0, -2, \"x\"]");
    let problems = read(&file(&wrong, "random", 1, "loss = {}")).unwrap_err();
    assert_eq!(problems.len(), 3, "{problems:?}");
    assert!(
        problems
            .iter()
            .all(|problem| problem.contains("seq_blocks_2"))
    );
}

#[test]
fn without_training_a_note_says_that_answers_are_random() {
    let data = data::open("jsc-sim", &data::OpenOptions::default()).unwrap();
    let text = file(LAB, "random", 2, "loss = {}").replace("eval_mode = false", "eval_mode = true");
    let setup = search::Setup {
        graph: network(),
        data: &data,
        seed: 0,
        threads: Some(1),
    };
    let search = Search::prepare(read(&text).unwrap(), setup).unwrap();
    let notes = search.notes(&data);
    assert!(
        notes
            .iter()
            .any(|note| note.starts_with("trials are not trained")),
        "{notes:?}"
    );
    assert_eq!(run(&search, None).history.len(), 2);
}
