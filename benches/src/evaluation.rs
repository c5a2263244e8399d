//! A forward pass in evaluation mode against PyTorch's, and in exact integers against our own floats.

use crate::clock::{Spent, time};
use crate::peer::Peer;
use crate::table::{micros, print, times};
use crate::workload::{self, Workload};
use anyhow::Result;
use engine::{Input, IntegerPlan, State};

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
    integers()
}

/// Every operand in 8 bits: in integers and in floats, turn about. The transformer has no integer form: softmax and gelu.
fn integers() -> Result<()> {
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
    let forever = Spent {
        wall: f64::MAX,
        cpu: f64::MAX,
    };
    let (mut integers, mut floats) = (forever, forever);
    for _ in 0..TURNS {
        let mut outcome = Ok(());
        let spent = time(|| outcome = (0..runs).try_for_each(|_| plan.run(&[Input::F32(&x)])));
        outcome?;
        integers = integers.best(spent.per(runs));
        let mut outcome = Ok(());
        let spent = time(|| outcome = (0..runs).try_for_each(|_| float.evaluate()));
        outcome?;
        floats = floats.best(spent.per(runs));
    }
    Ok(vec![
        name.to_owned(),
        rows.to_string(),
        micros(integers.cpu),
        micros(floats.cpu),
        times(floats.cpu / integers.cpu),
    ])
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
