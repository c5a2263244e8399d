//! Small searches from their config on, over a network and rows that a test makes in a moment.

use config::Table;
use data::{Rows, Split};
use engine::{Input, Network, PlanOptions};
use ir::Graph;
use random::Random;
use search::FormatSpace;
use search::config::SearchConfig;
use search::evaluate::Task;
use search::runner::{Results, Search};
use search::storage::Storage;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

const SPACE: &str = "[search_space.setup]\nby = \"type\"\n[search_space.seed.linear.config]\nname = [\"integer\"]\n\
     data_in_width = [2, 3, 4, 8]\nweight_width = [2, 3, 4, 8]\nbias_width = [4, 8]\n";

pub fn read(text: &str) -> Result<SearchConfig, Vec<String>> {
    let table = Table::parse(text).unwrap();
    let messages = |problems: Vec<config::Problem>| {
        let line =
            |problem: config::Problem| format!("{}: {}", &text[problem.span], problem.message);
        problems.into_iter().map(line).collect()
    };
    SearchConfig::read(&table).map_err(messages)
}

pub fn strategy(metrics: &str, more: &str) -> String {
    format!("{SPACE}[strategy]\nname = \"random\"\n{more}[strategy.metrics]\n{metrics}\n")
}

pub fn network() -> Graph {
    let mut graph = models::build("jsc-toy", &models::ModelInfo::default()).unwrap();
    graph.initialize(1);
    graph
}

/// Random rows with the labels that the network gives them in float, so that coarse formats cost accuracy.
fn rows(count: usize) -> Split {
    let random = Random::new(7, "rows");
    let values: Vec<f32> = (0..count * 16).map(|k| random.normal(k as u64)).collect();
    let mut network = Network::new(network(), 1).unwrap();
    let plan = network.run(PlanOptions::eval(count), &[Input::F32(&values)]);
    let label = |answer: &[f32]| {
        let best = (0..5).max_by(|&a, &b| answer[a].total_cmp(&answer[b]));
        best.unwrap() as u32
    };
    let rows = Rows {
        labels: plan.unwrap().output(0).chunks(5).map(label).collect(),
        values,
        width: 16,
    };
    Split::new(Arc::new(rows), (0..count as u32).collect())
}

pub fn search(text: &str, graph: Graph, count: usize) -> Search {
    let config = read(text).unwrap();
    let formats = FormatSpace::new(&graph, &config.rules).unwrap();
    let task = Task {
        graph: Arc::new(graph),
        formats: Arc::new(formats),
        rows: rows(count),
        compare_to: 32.0,
    };
    Search {
        train_rows: config.training.map(|_| rows(count)),
        config,
        task,
        seed: 5,
        threads: 1,
    }
}

pub fn run(search: &Search, storage: Option<Box<dyn Storage>>) -> Results {
    let stop = AtomicBool::new(false);
    search.run(storage, &stop, &mut |_, _| ()).unwrap()
}
