//! A training step (forward, loss, backward, Adam) against PyTorch eager, PyTorch with fused Adam, and JAX.

use crate::clock::{Spent, time_each};
use crate::contest::{Contest, Rivals, TURNS, print_tables};
use crate::peer::Peer;
use crate::table::{micros, times};
use crate::workload::Workload;
use anyhow::Result;

const NETWORKS: [Contest; 6] = [
    Contest::new("jsc-tiny", 256, 4000, 400),
    Contest::new("mlp", 256, 2000, 200),
    Contest::new(QAT, 256, 1500, 100),
    Contest::new("lenet5", 64, 60, 30),
    Contest::new("transformer", 32, 8, 6),
    Contest::new("bert-tiny", 16, 3, 2),
];

/// The network that rounds as it trains, which JAX's side does not have.
const QAT: &str = "mlp-qat";

/// Prints the table for one and two threads.
pub fn run() -> Result<()> {
    let columns = &[
        "PyTorch",
        "fused Adam",
        "JAX",
        "ratio",
        "to fused",
        "to JAX",
    ];
    print_tables(["training", "step"], columns, &NETWORKS, Peer::jax, line)
}

fn line(rivals: &mut Rivals, contest: Contest, threads: usize) -> Result<Vec<String>> {
    let (name, rows, theirs) = (contest.network, contest.rows, contest.theirs);
    let mut workload = Workload::new(name, rows, threads)?;
    workload.train()?;
    let [mut own, mut eager, mut fused, mut jax] = [Spent::FOREVER; 4];
    for _ in 0..TURNS {
        own = own.best(time_each(contest.ours, || workload.train().map(drop))?);
        let torch = &mut rivals.torch;
        eager = eager.best(torch.ask(&format!("train {name} eager {rows} {theirs}"))?);
        fused = fused.best(torch.ask(&format!("train {name} fused {rows} {theirs}"))?);
        if name != QAT {
            let request = format!("train {name} {rows} {theirs}");
            jax = jax.best(rivals.other.ask(&request)?);
        }
    }
    let of_jax = |cell: String| if name == QAT { "–".to_owned() } else { cell };
    Ok(vec![
        name.to_owned(),
        rows.to_string(),
        micros(own.cpu),
        micros(eager.cpu),
        micros(fused.cpu),
        of_jax(micros(jax.cpu)),
        times(eager.cpu / own.cpu),
        times(fused.cpu / own.cpu),
        of_jax(times(jax.cpu / own.cpu)),
        micros(own.wall),
        micros(eager.wall),
        times(eager.wall / own.wall),
    ])
}
