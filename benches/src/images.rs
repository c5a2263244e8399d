//! Convolutional networks: a training step against PyTorch eager, and a forward pass against the faster of PyTorch and ONNX
//! Runtime. CPU milliseconds, on one thread and on two.

use crate::clock::{Spent, time_each};
use crate::contest::is_asked_for;
use crate::peer::Peer;
use crate::table::{print, times};
use crate::workload::Workload;
use anyhow::Result;

/// Turns of each side; the best counts. Steps take up to seconds, so they are few.
const TURNS: usize = 3;

/// A network at a side of the image, and a batch.
#[derive(Clone, Copy)]
struct Case {
    network: &'static str,
    rows: usize,
    /// Repetitions of one turn.
    runs: usize,
}

const fn case(network: &'static str, rows: usize, runs: usize) -> Case {
    Case {
        network,
        rows,
        runs,
    }
}

const TRAINING: [Case; 4] = [
    case("lenet5@28", 64, 30),
    case("resnet18@32", 32, 4),
    case("mobilenetv2@32", 32, 4),
    case("vgg7@32", 32, 1),
];

const EVALUATION: [Case; 6] = [
    case("lenet5@28", 64, 60),
    case("resnet18@32", 32, 8),
    case("mobilenetv2@32", 32, 8),
    case("vgg7@32", 32, 2),
    case("resnet18@224", 16, 1),
    case("mobilenetv2@224", 16, 2),
];

/// Prints both tables for one and two threads.
pub fn run() -> Result<()> {
    for threads in [1, 2] {
        let (mut torch, mut onnx) = (Peer::start(threads)?, Peer::onnx(threads)?);
        let rows = asked_for(&TRAINING).map(|case| training(&mut torch, case, threads));
        let rows = rows.collect::<Result<Vec<_>>>()?;
        title("training step", threads);
        let columns = ["ours", "PyTorch", "ratio", "wall ours", "wall PyTorch"];
        print(&[&["network", "batch"][..], &columns].concat(), &rows);
        let rows =
            asked_for(&EVALUATION).map(|case| evaluation(&mut torch, &mut onnx, case, threads));
        let rows = rows.collect::<Result<Vec<_>>>()?;
        title("evaluation", threads);
        let columns = ["ours", "PyTorch", "ONNX Runtime", "to the faster"];
        print(&[&["network", "batch"][..], &columns].concat(), &rows);
    }
    Ok(())
}

fn asked_for(cases: &[Case]) -> impl Iterator<Item = Case> {
    cases
        .iter()
        .copied()
        .filter(|case| is_asked_for(case.network))
}

fn title(what: &str, threads: usize) {
    println!(
        "{what}, {threads} thread(s): milliseconds of CPU per batch, best of {TURNS} turns of each side"
    );
}

fn training(torch: &mut Peer, case: Case, threads: usize) -> Result<Vec<String>> {
    let Case {
        network,
        rows,
        runs,
    } = case;
    let mut workload = Workload::new(network, rows, threads)?;
    workload.train()?;
    let [mut own, mut eager] = [Spent::FOREVER; 2];
    for _ in 0..TURNS {
        own = own.best(time_each(runs, || workload.train().map(drop))?);
        eager = eager.best(torch.ask(&format!("train {network} eager {rows} {runs}"))?);
    }
    let ratio = times(eager.cpu / own.cpu);
    Ok(vec![
        network.to_owned(),
        rows.to_string(),
        millis(own.cpu),
        millis(eager.cpu),
        ratio,
        millis(own.wall),
        millis(eager.wall),
    ])
}

fn evaluation(
    torch: &mut Peer,
    onnx: &mut Peer,
    case: Case,
    threads: usize,
) -> Result<Vec<String>> {
    let Case {
        network,
        rows,
        runs,
    } = case;
    let mut workload = Workload::new(network, rows, threads)?;
    workload.evaluate()?;
    let [mut own, mut eager, mut graph] = [Spent::FOREVER; 3];
    for _ in 0..TURNS {
        own = own.best(time_each(runs, || workload.evaluate())?);
        eager = eager.best(torch.ask(&format!("eval {network} {rows} {runs}"))?);
        graph = graph.best(onnx.ask(&format!("eval {network} {rows} {runs}"))?);
    }
    Ok(vec![
        network.to_owned(),
        rows.to_string(),
        millis(own.cpu),
        millis(eager.cpu),
        millis(graph.cpu),
        times(eager.cpu.min(graph.cpu) / own.cpu),
    ])
}

fn millis(seconds: f64) -> String {
    format!("{:.2}", seconds * 1e3)
}
