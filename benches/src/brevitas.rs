//! Quantisation-aware training here and in Brevitas, from the same float weights, over three seeds.
//!
//! Both sides: 8 bits for what flows into the network and its first linear or convolution layer, the bits of the line for
//! weights and activations, one thread, the same rows, epochs, batch size, Adam and schedule, the epoch with the lowest
//! validation loss. Needs MNIST in `$MASE_DATA` for LeNet-5; without it that table is left out with a word. `NETWORK=lenet5`
//! asks for one network alone.

use crate::ablation::{
    CASES, Case, FOLD, Learning, POWERS_OF_TWO, QUANTIZE, REAL_PER_CHANNEL, SEEDS, UNSIGNED,
    accuracy, learner, spread,
};
use crate::peer::Peer;
use crate::quality::write_splits;
use crate::table::print;
use anyhow::Result;
use data::{Dataset, OpenOptions};
use ir::Graph;
use std::path::Path;

/// The bits of each case.
const BITS: [&[u32]; CASES.len()] = [&[8, 6, 4, 3, 2], &[8, 6, 4, 3, 2]];

/// The columns on our side.
const OURS: [(&str, Learning); 2] = [
    ("ours, real per channel", REAL_PER_CHANNEL),
    ("ours, powers of two", POWERS_OF_TWO),
];

/// The columns on Brevitas's side, by the word of a request.
const THEIRS: [(&str, &str); 2] = [
    ("Brevitas, defaults", "defaults"),
    ("Brevitas, learned from mse", "learned"),
];

/// Prints a table for each network.
pub fn run() -> Result<()> {
    let mut peer = Peer::brevitas(1)?;
    let folder = std::env::temp_dir().join(format!("mase-brevitas-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let cases = CASES.iter().zip(BITS);
    for (case, bits) in cases.filter(|(case, _)| case.is_asked()) {
        match data::open(case.dataset, &OpenOptions::default()) {
            Ok(data) => table(&mut peer, case, bits, &data, &folder)?,
            Err(error) => println!("left out: {} on {}: {error}", case.network, case.dataset),
        }
    }
    Ok(std::fs::remove_dir_all(&folder)?)
}

fn table(peer: &mut Peer, case: &Case, bits: &[u32], data: &Dataset, folder: &Path) -> Result<()> {
    write_splits(data, folder)?;
    let mut float = Vec::new();
    let mut cells = vec![vec![Vec::new(); OURS.len() + THEIRS.len()]; bits.len()];
    for seed in 0..SEEDS {
        let trained = case.trained(data, seed, folder)?;
        float.push(accuracy(&trained, data)?);
        write_weights(&trained, folder)?;
        for (&bits, cells) in bits.iter().zip(&mut cells) {
            let ours = OURS
                .map(|(_, learning)| learned(case, &trained, data, bits, learning, seed, folder));
            let theirs =
                THEIRS.map(|(_, scales)| peer.numbers(&request(case, bits, seed, scales, folder)));
            let [ours, theirs] = [
                ours.into_iter().collect::<Result<Vec<_>>>()?,
                theirs
                    .into_iter()
                    .map(|answer| answer.map(|[accuracy, _]| 100.0 * accuracy))
                    .collect::<Result<Vec<_>>>()?,
            ];
            for (cell, value) in cells.iter_mut().zip(ours.iter().chain(&theirs)) {
                cell.push(*value);
            }
            println!(
                "{} seed {seed}, {bits} bits: {ours:.2?} {theirs:.2?}",
                case.network
            );
        }
    }
    println!(
        "{} on {}: test accuracy in percent, mean of {SEEDS} seeds (largest − smallest); float {}; the difference is real \
         scales against the better column of Brevitas",
        case.network,
        case.dataset,
        spread(&float)
    );
    let names = OURS.iter().map(|ours| ours.0);
    let names = names.chain(THEIRS.iter().map(|theirs| theirs.0));
    let header: Vec<&str> = ["bits"]
        .into_iter()
        .chain(names)
        .chain(["difference"])
        .collect();
    let rows = bits
        .iter()
        .zip(&cells)
        .map(|(bits, cells)| row(*bits, cells));
    print(&header, &rows.collect::<Vec<_>>());
    Ok(())
}

fn row(bits: u32, cells: &[Vec<f64>]) -> Vec<String> {
    let mean = |values: &Vec<f64>| values.iter().sum::<f64>() / values.len() as f64;
    let (ours, theirs) = cells.split_at(OURS.len());
    let better = theirs.iter().map(mean).fold(f64::NEG_INFINITY, f64::max);
    let mut row = vec![bits.to_string()];
    row.extend(cells.iter().map(|cell| spread(cell)));
    row.push(format!("{:+.2}", mean(&ours[0]) - better));
    row
}

/// Test accuracy after our training with learned scales.
fn learned(
    case: &Case,
    trained: &Graph,
    data: &Dataset,
    bits: u32,
    learning: Learning,
    seed: u64,
    folder: &Path,
) -> Result<f64> {
    let (graph, _) = case.quantized(trained, data, &[FOLD, QUANTIZE, UNSIGNED], bits)?;
    let learner = learner(trained, graph, learning, data)?;
    let graph = case.fit(&learner, data, seed, case.retraining, folder)?;
    accuracy(&graph, data)
}

fn request(case: &Case, bits: u32, seed: u64, scales: &str, folder: &Path) -> String {
    let (epochs, rate) = case.retraining;
    format!(
        "brevitas {} {} {bits} {epochs} {} {rate} {seed} {scales}",
        case.network,
        folder.display(),
        case.batch_size
    )
}

/// Writes every parameter and buffer as an array, and their names in the order of the layers.
fn write_weights(graph: &Graph, folder: &Path) -> Result<()> {
    let mut names = String::new();
    for tensor in models::weights::tensors_of(graph) {
        let path = folder.join(format!("{}.npy", tensor.name));
        interop::npy::write(&path, &tensor.shape, &tensor.values)?;
        names += &tensor.name;
        names.push('\n');
    }
    Ok(std::fs::write(folder.join("names.txt"), names)?)
}
