//! A training step (forward, loss, backward, Adam) against PyTorch eager and PyTorch with fused Adam.

use crate::clock::{Spent, time_each};
use crate::contest::{Contest, TURNS, print_tables};
use crate::peer::Peer;
use crate::table::{micros, times};
use crate::workload::Workload;
use anyhow::Result;

const NETWORKS: [Contest; 5] = [
    Contest::new("jsc-tiny", 256, 4000, 400),
    Contest::new("mlp", 256, 2000, 200),
    Contest::new("mlp-qat", 256, 1500, 100),
    Contest::new("lenet5", 64, 60, 30),
    Contest::new("transformer", 32, 8, 6),
];

/// Prints the table for one and two threads.
pub fn run() -> Result<()> {
    let columns = &["PyTorch", "fused Adam", "ratio", "to fused"];
    print_tables("training", "step", columns, &NETWORKS, line)
}

fn line(peer: &mut Peer, contest: Contest, threads: usize) -> Result<Vec<String>> {
    let (name, theirs) = (contest.network, contest.theirs);
    let mut workload = Workload::new(name, contest.rows, threads)?;
    workload.train()?;
    let [mut own, mut eager, mut fused] = [Spent::FOREVER; 3];
    for _ in 0..TURNS {
        own = own.best(time_each(contest.ours, || workload.train().map(drop))?);
        eager = eager.best(peer.ask(&format!("train {name} eager {theirs}"))?);
        fused = fused.best(peer.ask(&format!("train {name} fused {theirs}"))?);
    }
    Ok(vec![
        name.to_owned(),
        contest.rows.to_string(),
        micros(own.cpu),
        micros(eager.cpu),
        micros(fused.cpu),
        times(eager.cpu / own.cpu),
        times(fused.cpu / own.cpu),
        micros(own.wall),
        micros(eager.wall),
        times(eager.wall / own.wall),
    ])
}
