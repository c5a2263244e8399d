//! A training step that learns scales of formats against one with the same formats fixed.

use crate::clock::{Spent, time_each};
use crate::contest::TURNS;
use crate::table::{micros, print, times};
use crate::workload::{Workload, graph};
use anyhow::Result;
use engine::LearnScales;
use train::{Learner, ScalesPer};

/// A network, rows of a batch, and steps of a turn.
const NETWORKS: [(&str, usize, usize); 2] =
    [("jsc-s-integer", 256, 300), ("lenet5-integer", 64, 30)];

/// The columns behind fixed formats.
const LEARNED: [(&str, LearnScales, ScalesPer); 3] = [
    ("powers of two", LearnScales::PowerOfTwo, ScalesPer::Tensor),
    ("real", LearnScales::Real, ScalesPer::Tensor),
    ("real per channel", LearnScales::Real, ScalesPer::Channel),
];

/// Prints the table.
pub fn run() -> Result<()> {
    let rows = NETWORKS.into_iter().map(line).collect::<Result<Vec<_>>>()?;
    println!(
        "training with learned scales, 1 thread: microseconds of CPU per step with formats fixed, and how many times as many \
         with learned scales; best of {TURNS} turns"
    );
    let learned = LEARNED.map(|(name, ..)| name);
    print(
        &[&["network", "batch", "fixed"], &learned[..]].concat(),
        &rows,
    );
    Ok(())
}

fn line((name, rows, steps): (&str, usize, usize)) -> Result<Vec<String>> {
    let fixed = (LearnScales::Fixed, ScalesPer::Tensor);
    let learned = LEARNED.map(|(_, learn, per)| (learn, per));
    let mut workloads = Vec::new();
    for (learn, per) in [fixed].into_iter().chain(learned) {
        let learner = Learner::new(graph(name)?).with_scales(learn, per);
        let mut workload = Workload::of(learner.network(1)?, rows)?;
        workload.train()?;
        workloads.push((workload, Spent::FOREVER));
    }
    for _ in 0..TURNS {
        for (workload, best) in &mut workloads {
            *best = best.best(time_each(steps, || workload.train().map(drop))?);
        }
    }
    let cpu: Vec<f64> = workloads.iter().map(|(_, best)| best.cpu).collect();
    let mut cells = vec![name.to_owned(), rows.to_string(), micros(cpu[0])];
    cells.extend(cpu[1..].iter().map(|learned| times(learned / cpu[0])));
    Ok(cells)
}
