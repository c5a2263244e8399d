//! A forward pass in evaluation mode against PyTorch's, and in exact integers against our own floats.

use crate::clock::{Spent, time_each};
use crate::contest::{Contest, TURNS, print_tables};
use crate::peer::Peer;
use crate::table::{micros, print, times};
use crate::workload::{self, Workload};
use anyhow::Result;
use engine::{Input, IntegerPlan, State};

const NETWORKS: [Contest; 4] = [
    Contest::new("jsc-tiny", 256, 8000, 2000),
    Contest::new("mlp", 256, 6000, 1000),
    Contest::new("lenet5", 64, 200, 60),
    Contest::new("transformer", 32, 20, 10),
];

/// Prints the table for one and two threads.
pub fn run() -> Result<()> {
    let columns = &["PyTorch", "ratio"];
    print_tables("evaluation", "batch", columns, &NETWORKS, line)
}

/// Every operand in 8 bits: in integers and in floats, turn about. The transformer has no integer form: softmax and gelu.
pub fn integers() -> Result<()> {
    let cases = [
        ("jsc-tiny", 256, 6000),
        ("mlp", 256, 6000),
        ("lenet5", 64, 100),
    ];
    let rows = cases.map(|(name, rows, runs)| integer_line(name, rows, runs));
    println!(
        "evaluation in 8-bit integers, 1 thread: microseconds of CPU per batch, best of {TURNS} turns"
    );
    let rows = rows.into_iter().collect::<Result<Vec<_>>>()?;
    print(&["network", "batch", "integers", "floats", "ratio"], &rows);
    Ok(())
}

fn integer_line(name: &str, rows: usize, runs: usize) -> Result<Vec<String>> {
    let graph = workload::graph(&format!("{name}-integer"))?;
    let verified = ir::verify(&graph)?;
    let mut plan = IntegerPlan::compile(&verified, &State::new(&verified)?, rows)?;
    let input = verified
        .ty(verified.placeholders()[0].into())
        .shape
        .bind(rows)
        .unwrap_or_default();
    let random = random::Random::new(1, "integers");
    let x: Vec<f32> = (0..input.iter().product::<usize>())
        .map(|k| random.normal(k as u64))
        .collect();
    let mut float = Workload::new(name, rows, 1)?;
    let [mut integers, mut floats] = [Spent::FOREVER; 2];
    for _ in 0..TURNS {
        integers = integers.best(time_each(runs, || Ok(plan.run(&[Input::F32(&x)])?))?);
        floats = floats.best(time_each(runs, || float.evaluate())?);
    }
    Ok(vec![
        name.to_owned(),
        rows.to_string(),
        micros(integers.cpu),
        micros(floats.cpu),
        times(floats.cpu / integers.cpu),
    ])
}

fn line(peer: &mut Peer, contest: Contest, threads: usize) -> Result<Vec<String>> {
    let (name, theirs) = (contest.network, contest.theirs);
    let mut workload = Workload::new(name, contest.rows, threads)?;
    workload.evaluate()?;
    let [mut own, mut torch] = [Spent::FOREVER; 2];
    for _ in 0..TURNS {
        own = own.best(time_each(contest.ours, || workload.evaluate())?);
        torch = torch.best(peer.ask(&format!("eval {name} {theirs}"))?);
    }
    Ok(vec![
        name.to_owned(),
        contest.rows.to_string(),
        micros(own.cpu),
        micros(torch.cpu),
        times(torch.cpu / own.cpu),
        micros(own.wall),
        micros(torch.wall),
        times(torch.wall / own.wall),
    ])
}
