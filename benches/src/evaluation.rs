//! A forward pass in evaluation mode against PyTorch's.

use crate::clock::{Spent, time};
use crate::peer::Peer;
use crate::table::{micros, print, times};
use crate::workload::Workload;
use anyhow::Result;

/// Network, rows of a batch, passes of one turn on our side and on PyTorch's.
const NETWORKS: [(&str, usize, usize, usize); 4] = [
    ("jsc-tiny", 256, 8000, 2000),
    ("mlp", 256, 6000, 1000),
    ("lenet5", 64, 200, 60),
    ("transformer", 32, 20, 10),
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
            "evaluation, {threads} thread(s): microseconds of CPU (and wall) per batch, best of {TURNS} turns"
        );
        print(
            &[
                "network",
                "batch",
                "ours",
                "PyTorch",
                "ratio",
                "wall ours",
                "wall PyTorch",
                "wall ratio",
            ],
            &rows,
        );
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
    workload.evaluate()?;
    let forever = Spent {
        wall: f64::MAX,
        cpu: f64::MAX,
    };
    let (mut own, mut torch) = (forever, forever);
    for _ in 0..TURNS {
        let mut outcome = Ok(());
        let spent = time(|| outcome = (0..ours).try_for_each(|_| workload.evaluate()));
        outcome?;
        own = own.best(spent.per(ours));
        torch = torch.best(peer.ask(&format!("eval {name} {theirs}"))?);
    }
    Ok(vec![
        name.to_owned(),
        rows.to_string(),
        micros(own.cpu),
        micros(torch.cpu),
        times(torch.cpu / own.cpu),
        micros(own.wall),
        micros(torch.wall),
        times(torch.wall / own.wall),
    ])
}
