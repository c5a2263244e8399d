//! Methods of calibrate, and the distances that its loss may be, by what they are worth on training rows that calibration
//! did not see: what the defaults are chosen by. No test row is looked at.
//!
//! Inputs and weights of the layers have the bits of the column, what flows into the network 8, biases 16. Needs MNIST in
//! `$MASE_DATA` for LeNet-5; the other rows are drawn here. `NETWORK=marks` asks for one network alone.

use crate::ablation::{Case, QUANTIZE, SEEDS};
use crate::made_rows::{gratings, sentences};
use crate::table::print;
use anyhow::Result;
use data::{Dataset, OpenOptions, Split};
use engine::Network;
use ir::Graph;
use std::path::Path;
use train::evaluate;

const CASES: [Case; 4] = [
    Case {
        network: "jsc-s",
        dataset: "jsc-sim",
        layers: &["linear", "batch_norm1d"],
        batch_size: 256,
        training: (20, 1e-3),
        retraining: (0, 0.0),
    },
    Case {
        network: "marks",
        dataset: "sentences",
        layers: &["linear"],
        batch_size: 64,
        training: (12, 2e-3),
        retraining: (0, 0.0),
    },
    Case {
        network: "vgg_tiny",
        dataset: "gratings",
        layers: &["linear", "conv2d"],
        batch_size: 64,
        training: (8, 2e-3),
        retraining: (0, 0.0),
    },
    Case {
        network: "lenet5",
        dataset: "mnist",
        layers: &["linear", "conv2d"],
        batch_size: 64,
        training: (2, 1e-3),
        retraining: (0, 0.0),
    },
];

const BITS: [u32; 4] = [8, 6, 4, 3];
/// Rows that calibration sees, and rows behind them that its choice is measured on, at most.
const SEEN: usize = 1024;
const UNSEEN: usize = 8192;

/// A name, and the keys of calibrate.
const METHODS: [(&str, &str); 7] = [
    ("min_max", "method = \"min_max\""),
    ("percentile 0.999", "method = \"percentile\""),
    ("mse", "method = \"mse\""),
    ("loss, tempered", "distance = \"tempered\""),
    ("loss, divergence", "distance = \"divergence\""),
    ("loss, labels", "distance = \"labels\""),
    ("loss, squared", "distance = \"squared\""),
];

/// Prints a table for each network.
pub fn run() -> Result<()> {
    let folder = std::env::temp_dir().join(format!("mase-calibration-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    for case in CASES.iter().filter(|case| case.is_asked()) {
        let data = match case.dataset {
            "sentences" => sentences(),
            "gratings" => gratings(),
            name => match data::open(name, &OpenOptions::default()) {
                Ok(data) => data,
                Err(error) => {
                    println!("left out: {} on {name}: {error}", case.network);
                    continue;
                }
            },
        };
        compare(case, &data, &folder)?;
    }
    Ok(std::fs::remove_dir_all(&folder)?)
}

/// Accuracy in percent, and loss.
type Scores = [f64; 2];

fn compare(case: &Case, data: &Dataset, folder: &Path) -> Result<()> {
    let unseen = data.train.tail(SEEN).head(UNSEEN);
    let mut float = Vec::new();
    let mut cells = vec![vec![Vec::new(); BITS.len()]; METHODS.len()];
    for seed in 0..SEEDS {
        let trained = trained(case, data, seed, folder)?;
        float.push(scores(&trained, &unseen)?);
        for (cells, (name, keys)) in cells.iter_mut().zip(METHODS) {
            let calibrate =
                format!("calibrate = {{ unsigned = true, num_samples = {SEEN}, {keys} }}");
            for (cell, bits) in cells.iter_mut().zip(BITS) {
                let (graph, _) = case.quantized(&trained, data, &[QUANTIZE, &calibrate], bits)?;
                cell.push(scores(&graph, &unseen)?);
            }
            let latest: Vec<String> = cells
                .iter()
                .map(|cell| shown(&cell[cell.len() - 1..]))
                .collect();
            println!(
                "{} seed {seed}, {name}: {}",
                case.network,
                latest.join(", ")
            );
        }
    }
    println!(
        "{} on {}: accuracy in percent and loss on {} training rows that calibration did not see, mean of {SEEDS} seeds; \
         float {}",
        case.network,
        case.dataset,
        unseen.len(),
        shown(&float)
    );
    let line = |((name, _), cells): (&(&str, &str), &Vec<Vec<Scores>>)| {
        let cells = cells.iter().map(|cell| shown(cell));
        [(*name).to_owned()].into_iter().chain(cells).collect()
    };
    let rows: Vec<Vec<String>> = METHODS.iter().zip(&cells).map(line).collect();
    print(&["", "8 bits", "6 bits", "4 bits", "3 bits"], &rows);
    Ok(())
}

fn trained(case: &Case, data: &Dataset, seed: u64, folder: &Path) -> Result<Graph> {
    if case.network == "marks" {
        let graph = Graph::parse(include_str!("../networks/marks.mg"))?;
        return case.trained_from(graph, data, seed, folder);
    }
    case.trained(data, seed, folder)
}

fn scores(graph: &Graph, rows: &Split) -> Result<Scores> {
    let mut network = Network::new(graph.clone(), 1)?;
    let score = evaluate(&mut network, rows)?;
    Ok([100.0 * train::accuracy(&score), score.loss])
}

/// The means.
fn shown(scores: &[Scores]) -> String {
    let mean = |which: usize| scores.iter().map(|s| s[which]).sum::<f64>() / scores.len() as f64;
    format!("{:.2} ({:.3})", mean(0), mean(1))
}
