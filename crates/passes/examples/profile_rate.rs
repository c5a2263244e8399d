//! How fast profiling is: all statistics at the data input of every linear layer of jsc-s, on one and two threads.
//!
//! The best of several rounds, network and reports included: `cargo run --release -p passes --example profile_rate`, with
//! a word behind it to measure only the cases whose name has it.
#![expect(clippy::print_stdout, reason = "an example prints what it measured")]

use config::Table;
use data::{Dataset, Info, Rows, Split};
use ir::Graph;
use passes::statistics::STATISTICS;
use passes::{Context, Program};
use random::Random;
use std::error::Error;
use std::sync::Arc;
use std::time::Instant;

const ROUNDS: usize = 7;
const WIDTH: usize = 16;

fn main() -> Result<(), Box<dyn Error>> {
    let mut graph = models::build("jsc-s", &models::ModelInfo::default())?;
    graph.initialize(1);
    let all: Vec<&str> = STATISTICS.iter().map(|entry| entry.name).collect();
    let cases = [
        ("all statistics, together", "dims = \"all\"", all.as_slice()),
        ("all statistics, per element", "dims = \"NA\"", &all),
        ("range_min_max", "dims = \"all\"", &["range_min_max"]),
        ("variance_precise", "dims = \"all\"", &["variance_precise"]),
        ("range_quantile", "dims = \"all\"", &["range_quantile"]),
        ("record", "", &["record"]),
    ];
    println!("thousand rows a second of jsc-s, data_in_0 of every linear");
    println!(
        "{:30} {:>9} {:>10} {:>10}",
        "", "rows", "1 thread", "2 threads"
    );
    let word = std::env::args().nth(1).unwrap_or_default();
    let chosen = cases.into_iter().filter(|(name, ..)| name.contains(&word));
    for (name, config, statistics) in chosen {
        for rows in [10_000, 100_000, 400_000] {
            let data = dataset(rows);
            let program = program(statistics, config, rows)?;
            let [one, two] = [1, 2].map(|threads| rate(&program, &graph, &data, rows, threads));
            println!("{name:30} {rows:9} {:10.0} {:10.0}", one?, two?);
        }
    }
    Ok(())
}

fn program(statistics: &[&str], config: &str, rows: usize) -> Result<Program, Box<dyn Error>> {
    let line = |name: &&str| match *name {
        "record" => "record = {}\n".to_owned(),
        name => format!("{name} = {{ {config} }}\n"),
    };
    let lines: String = statistics.iter().map(line).collect();
    let text = format!(
        "[profile_statistics]\ntarget_activation_nodes = [\"linear\"]\nnum_samples = {rows}\n\
         [profile_statistics.activation_statistics]\n{lines}"
    );
    let table = Table::parse(&text).map_err(|problem| problem.message)?;
    Program::read(&table).map_err(|problems| format!("{problems:?}").into())
}

/// Thousand rows a second.
fn rate(
    program: &Program,
    graph: &Graph,
    data: &Dataset,
    rows: usize,
    threads: usize,
) -> Result<f64, Box<dyn Error>> {
    let mut best = f64::INFINITY;
    for _ in 0..ROUNDS {
        let mut graph = graph.clone();
        let mut context = Context::new(&graph, Some(data));
        context.threads = threads;
        let start = Instant::now();
        program.run(&mut graph, &mut context, |_, _, _| {})?;
        best = best.min(start.elapsed().as_secs_f64());
    }
    Ok(rows as f64 / best / 1e3)
}

fn dataset(rows: usize) -> Dataset {
    let random = Random::new(1, "rows");
    let values = Rows {
        values: (0..(rows * WIDTH) as u64)
            .map(|k| random.normal(k))
            .collect(),
        labels: vec![0; rows],
        width: WIDTH,
    };
    let train = Split::new(Arc::new(values), (0..rows as u32).collect());
    Dataset {
        info: Info {
            name: "noise".to_owned(),
            sample_shape: vec![WIDTH],
            classes: (0..5).map(|class| class.to_string()).collect(),
            features: Vec::new(),
            source: "the program itself".to_owned(),
            hash: 0,
            scaling: data::Scaling::None,
        },
        val: train.head(0),
        test: train.head(0),
        train,
    }
}
