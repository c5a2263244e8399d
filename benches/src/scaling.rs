//! Cost grows linearly with rows and with parameters.

use crate::clock::{Spent, time};
use crate::table::{micros, print};
use anyhow::Result;
use engine::{Input, Network, Optimizer, OptimizerKind};
use ir::Graph;
use random::Random;
use std::fmt::Write;

const TURNS: usize = 5;

/// Prints one table over rows and one over parameters.
pub fn run() -> Result<()> {
    let mlp = include_str!("../networks/mlp.mg");
    let mut rows = Vec::new();
    for n in [256, 512, 1024, 2048, 4096, 8192, 16384] {
        let (spent, parameters) = train(mlp, n)?;
        rows.push(line(
            n,
            parameters,
            spent,
            spent.cpu * 1e9 / n as f64,
            "ns/row",
        ));
    }
    println!("training 16-64-32-32-5 with growing batches, 1 thread");
    print(&["rows", "parameters", "µs CPU", "per unit", ""], &rows);
    let mut rows = Vec::new();
    for depth in [1, 2, 4, 8, 16, 32, 64] {
        let (spent, parameters) = train(&chain(depth), 256)?;
        rows.push(line(
            256,
            parameters,
            spent,
            spent.cpu * 1e12 / (256 * parameters) as f64,
            "ps/(row·parameter)",
        ));
    }
    println!("training chains of linear 64-64 + ReLU with growing depth, 256 rows, 1 thread");
    print(&["rows", "parameters", "µs CPU", "per unit", ""], &rows);
    Ok(())
}

fn line(rows: usize, parameters: usize, spent: Spent, unit: f64, name: &str) -> Vec<String> {
    vec![
        rows.to_string(),
        parameters.to_string(),
        micros(spent.cpu),
        format!("{unit:.1}"),
        name.to_owned(),
    ]
}

/// A network of `depth` equal layers, as text.
fn chain(depth: usize) -> String {
    let mut text = String::from("graph \"chain\" {\n x: f32[N, 16] = placeholder\n");
    text += " r0 = linear(x) { target = \"first\", in_features = 16, out_features = 64 }\n";
    for i in 1..=depth {
        let before = i - 1;
        let _ = writeln!(
            text,
            " l{i} = linear(r{before}) {{ target = \"l{i}\", in_features = 64, out_features = 64 }}"
        );
        let _ = writeln!(text, " r{i} = relu(l{i})");
    }
    text + &format!(
        " y = linear(r{depth}) {{ target = \"last\", in_features = 64, out_features = 5 }}\n return y\n}}\n"
    )
}

/// Seconds of a step and number of parameters.
fn train(text: &str, rows: usize) -> Result<(Spent, usize)> {
    let mut graph = Graph::parse(text)?;
    graph.initialize(0);
    let parameters = graph.trained_parameter_count();
    let mut network = Network::new(graph, 1)?;
    let mut optimizer = Optimizer::new(
        OptimizerKind::Adam { weight_decay: 0.0 },
        1e-3,
        network.state(),
    );
    let random = Random::new(1, "scaling");
    let x: Vec<f32> = (0..rows * 16).map(|k| random.normal(k as u64)).collect();
    let labels: Vec<u32> = (0..rows)
        .map(|k| (random.bits(k as u64) % 5) as u32)
        .collect();
    let repeat = (4_000_000_000 / (rows * parameters * 6)).clamp(3, 2000);
    let mut best = Spent::FOREVER;
    for _ in 0..TURNS {
        let mut outcome = Ok(());
        let spent = time(|| {
            outcome = (0..repeat).try_for_each(|_| {
                network
                    .train_step(&[Input::F32(&x)], &labels, rows, &mut optimizer)
                    .map(drop)
            });
        });
        outcome?;
        best = best.best(spent.per(repeat));
    }
    Ok((best, parameters))
}
