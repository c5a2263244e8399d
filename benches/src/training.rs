//! A training step (forward, loss, backward, Adam) against PyTorch eager and PyTorch with fused Adam.

use crate::clock::{Spent, time};
use crate::peer::Peer;
use crate::table::{micros, print, times};
use crate::workload::Workload;
use anyhow::Result;

/// Network, rows of a batch, steps of one turn on our side and on PyTorch's.
const NETWORKS: [(&str, usize, usize, usize); 5] = [
    ("jsc-tiny", 256, 4000, 400),
    ("mlp", 256, 2000, 200),
    ("mlp-qat", 256, 1500, 100),
    ("lenet5", 64, 60, 30),
    ("transformer", 32, 8, 6),
];
const TURNS: usize = 5;

/// Prints the table for one and two threads.
pub fn run() -> Result<()> {
    for threads in [1, 2] {
        let mut peer = Peer::start(threads)?;
        let rows = NETWORKS.iter().map(|&(name, rows, ours, theirs)| {
            line(&mut peer, name, rows, threads, [ours, theirs])
        });
        let rows = rows.collect::<Result<Vec<_>>>()?;
        println!(
            "training, {threads} thread(s): microseconds of CPU (and wall) per step, best of {TURNS} turns"
        );
        let header = [
            "network",
            "batch",
            "ours",
            "PyTorch",
            "fused Adam",
            "ratio",
            "to fused",
            "wall ours",
            "wall PyTorch",
            "wall ratio",
        ];
        print(&header, &rows);
    }
    Ok(())
}

fn line(
    peer: &mut Peer,
    name: &str,
    rows: usize,
    threads: usize,
    [ours, theirs]: [usize; 2],
) -> Result<Vec<String>> {
    let mut workload = Workload::new(name, rows, threads)?;
    workload.train()?;
    let forever = Spent {
        wall: f64::MAX,
        cpu: f64::MAX,
    };
    let (mut own, mut eager, mut fused) = (forever, forever, forever);
    for _ in 0..TURNS {
        let mut outcome = Ok(());
        let spent = time(|| outcome = (0..ours).try_for_each(|_| workload.train().map(drop)));
        outcome?;
        own = own.best(spent.per(ours));
        eager = eager.best(peer.ask(&format!("train {name} eager {theirs}"))?);
        fused = fused.best(peer.ask(&format!("train {name} fused {theirs}"))?);
    }
    Ok(vec![
        name.to_owned(),
        rows.to_string(),
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
