//! One thread and two: training steps and forward passes of convolutional networks and transformers, by the clock on the wall.
//!
//! No other side runs meanwhile: its threads wait awake for a while, on the cores that are measured. A machine that does other
//! work gives lower ratios.

use crate::clock::{Spent, time_each};
use crate::contest::is_asked_for;
use crate::table::{print, times};
use crate::workload::Workload;
use anyhow::Result;

/// Turns of each number of threads; the best counts.
const TURNS: usize = 5;

/// The work, the network, the rows of a batch and the repetitions of one turn.
const CASES: [(&str, &str, usize, usize); 12] = [
    ("train", "lenet5@28", 64, 60),
    ("train", "resnet18@32", 32, 8),
    ("train", "mobilenetv2@32", 32, 8),
    ("train", "vgg7@32", 32, 2),
    ("train", "transformer", 32, 20),
    ("train", "bert-tiny", 16, 6),
    ("eval", "lenet5@28", 64, 200),
    ("eval", "resnet18@32", 32, 30),
    ("eval", "mobilenetv2@32", 32, 60),
    ("eval", "vgg7@32", 32, 4),
    ("eval", "resnet18@224", 16, 2),
    ("eval", "mobilenetv2@224", 16, 4),
];

/// Prints the table.
pub fn run() -> Result<()> {
    let cases = CASES
        .into_iter()
        .filter(|(_, network, ..)| is_asked_for(network));
    let rows = cases.map(line).collect::<Result<Vec<_>>>()?;
    println!("milliseconds of the clock per batch, best of {TURNS} turns");
    let header = ["work", "network", "batch", "1 thread", "2 threads", "ratio"];
    print(&header, &rows);
    Ok(())
}

fn line(
    (work, network, rows, runs): (&'static str, &'static str, usize, usize),
) -> Result<Vec<String>> {
    let mut workloads = [
        Workload::new(network, rows, 1)?,
        Workload::new(network, rows, 2)?,
    ];
    let mut spent = [Spent::FOREVER; 2];
    // The first turn compiles the plans and wakes the pages of their memory.
    for turn in 0..=TURNS {
        for (workload, spent) in workloads.iter_mut().zip(&mut spent) {
            let each = time_each(runs, || match work {
                "train" => workload.train().map(drop),
                _ => workload.evaluate(),
            })?;
            if turn > 0 {
                *spent = spent.best(each);
            }
        }
    }
    let [one, two] = spent.map(|spent| spent.wall);
    Ok(vec![
        work.to_owned(),
        network.to_owned(),
        rows.to_string(),
        format!("{:.2}", one * 1e3),
        format!("{:.2}", two * 1e3),
        times(one / two),
    ])
}
