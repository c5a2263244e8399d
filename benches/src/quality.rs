//! Test accuracy after the same training on the same rows, ours and PyTorch's, over three seeds.
//!
//! Needs MNIST in `$MASE_DATA` for LeNet-5; without it that line is left out with a word.

use crate::peer::Peer;
use crate::table::print;
use anyhow::Result;
use data::{Dataset, OpenOptions, Split};
use engine::{Network, OptimizerKind};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use train::{Augment, Cosine, FitConfig, evaluate, fit, load_weights};

/// Network, dataset, epochs, batch size, learning rate.
const CASES: [(&str, &str, u64, usize, f64); 3] = [
    ("jsc-toy", "jsc-sim", 15, 256, 1e-2),
    ("jsc-s", "jsc-sim", 20, 256, 1e-3),
    ("lenet5", "mnist", 6, 64, 1e-3),
];
const SEEDS: u64 = 3;

/// Prints the table.
pub fn run() -> Result<()> {
    let mut peer = Peer::start(1)?;
    let folder = std::env::temp_dir().join(format!("mase-quality-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let mut rows = Vec::new();
    for case in CASES {
        match data::open(case.1, &OpenOptions::default()) {
            Ok(data) => rows.push(line(&mut peer, case, &data, &folder)?),
            Err(error) => println!("left out: {} on {}: {error}", case.0, case.1),
        }
    }
    std::fs::remove_dir_all(&folder)?;
    println!(
        "test accuracy in percent, mean over {SEEDS} seeds: same rows, split, epochs, batch size and learning rate"
    );
    print(
        &[
            "network",
            "dataset",
            "epochs",
            "ours",
            "PyTorch",
            "difference",
            "ours by seed",
            "PyTorch by seed",
        ],
        &rows,
    );
    Ok(())
}

fn line(
    peer: &mut Peer,
    case: (&str, &str, u64, usize, f64),
    data: &Dataset,
    folder: &Path,
) -> Result<Vec<String>> {
    let (name, dataset, epochs, batch, rate) = case;
    write_splits(data, folder)?;
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for seed in 0..SEEDS {
        ours.push(100.0 * accuracy(case, data, seed, folder)?);
        let request = format!(
            "quality {name} {} {epochs} {batch} {rate} {seed}",
            folder.display()
        );
        theirs.push(100.0 * peer.numbers(&request)?[0]);
    }
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let each = |values: &[f64]| {
        values
            .iter()
            .map(|v| format!("{v:.2}"))
            .collect::<Vec<_>>()
            .join(" ")
    };
    Ok(vec![
        name.to_owned(),
        dataset.to_owned(),
        epochs.to_string(),
        format!("{:.2}", mean(&ours)),
        format!("{:.2}", mean(&theirs)),
        format!("{:+.2}", mean(&ours) - mean(&theirs)),
        each(&ours),
        each(&theirs),
    ])
}

/// Test accuracy of the epoch with the lowest validation loss.
fn accuracy(
    case: (&str, &str, u64, usize, f64),
    data: &Dataset,
    seed: u64,
    folder: &Path,
) -> Result<f64> {
    let (name, _, epochs, batch_size, learning_rate) = case;
    let info = models::ModelInfo {
        input: Some(data.info.sample_shape.clone()),
        classes: Some(data.info.classes.len()),
    };
    let mut graph = models::build(name, &info)?;
    graph.initialize(seed);
    let mut network = Network::new(graph, 1)?;
    let config = FitConfig {
        batch_size,
        max_epochs: epochs,
        max_steps: None,
        optimizer: OptimizerKind::Adam { weight_decay: 0.0 },
        learning_rate,
        schedule: Cosine {
            t_max: epochs,
            eta_min: 1e-6,
        },
        accumulate: 1,
        seed,
        shuffle: true,
        augment: Augment::NONE,
        log_every: 50,
        folder: folder.join("run"),
        tensorboard: false,
        resume: false,
        hyper_parameters: serde_json::Map::new(),
        fixed: serde_json::Map::new(),
        save_every: None,
    };
    let outcome = fit(
        &mut network,
        data,
        &config,
        &AtomicBool::new(false),
        &mut |_| {},
    )?;
    let best = interop::checkpoint::read(&outcome.best, None)?;
    load_weights(&mut network, &best.tensors)?;
    let score = evaluate(&mut network, &data.test)?;
    Ok(score.correct as f64 / score.count as f64)
}

/// Writes the rows and labels of every split for the other side.
pub fn write_splits(data: &Dataset, folder: &Path) -> Result<()> {
    for (split, part) in [
        ("train", &data.train),
        ("val", &data.val),
        ("test", &data.test),
    ] {
        write(
            part,
            &folder.join(format!("{split}_x.npy")),
            &folder.join(format!("{split}_y.npy")),
        )?;
    }
    Ok(())
}

/// The rows of a split and their labels as arrays.
fn write(split: &Split, x: &Path, y: &Path) -> Result<()> {
    let width = split.width();
    let row = |&index: &u32| &split.rows()[index as usize * width..(index as usize + 1) * width];
    let values: Vec<f32> = split.indices().iter().flat_map(row).copied().collect();
    let labels: Vec<f32> = split
        .indices()
        .iter()
        .map(|&index| split.labels()[index as usize] as f32)
        .collect();
    interop::npy::write(x, &[split.len(), width], &values)?;
    Ok(interop::npy::write(y, &[split.len()], &labels)?)
}
