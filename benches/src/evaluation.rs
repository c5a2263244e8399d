//! A forward pass in evaluation mode against PyTorch's and ONNX Runtime's, and in exact integers
//! against our own floats and ONNX Runtime's integers.

use crate::clock::{Spent, time_each};
use crate::contest::{Contest, Rivals, TURNS, print_tables};
use crate::peer::Peer;
use crate::table::{micros, print, times};
use crate::workload::{self, Workload};
use anyhow::Result;
use engine::{Input, IntegerPlan, State};

const NETWORKS: [Contest; 15] = [
    Contest::new("jsc-tiny", 1, 20_000, 3000),
    Contest::new("jsc-tiny", 16, 20_000, 3000),
    Contest::new("jsc-tiny", 256, 8000, 2000),
    Contest::new("mlp", 1, 20_000, 1500),
    Contest::new("mlp", 16, 10_000, 1500),
    Contest::new("mlp", 256, 2000, 800),
    Contest::new("lenet5", 1, 1000, 500),
    Contest::new("lenet5", 16, 200, 100),
    Contest::new("lenet5", 256, 20, 10),
    Contest::new("transformer", 1, 200, 100),
    Contest::new("transformer", 16, 20, 10),
    Contest::new("transformer", 256, 2, 2),
    Contest::new("bert-tiny", 1, 40, 30),
    Contest::new("bert-tiny", 16, 3, 3),
    Contest::new("bert-tiny", 256, 1, 1),
];

/// Prints the table for one and two threads.
pub fn run() -> Result<()> {
    let columns = &["PyTorch", "ONNX Runtime", "ratio", "to the faster"];
    print_tables(
        ["evaluation", "batch"],
        columns,
        &NETWORKS,
        Peer::onnx,
        line,
    )
}

/// Every operand in 8 bits, in integers, in floats, and in ONNX Runtime's static quantisation, turn about. The transformer has
/// no integer form: softmax and gelu.
pub fn integers() -> Result<()> {
    let cases = [
        Contest::new("jsc-tiny", 256, 6000, 2000),
        Contest::new("mlp", 256, 6000, 800),
        Contest::new("lenet5", 64, 100, 40),
    ];
    let mut onnx = Peer::onnx(1)?;
    let rows = cases.map(|case| integer_line(&mut onnx, case));
    println!(
        "evaluation in 8-bit integers, 1 thread: microseconds of CPU per batch, best of {TURNS} turns"
    );
    let rows = rows.into_iter().collect::<Result<Vec<_>>>()?;
    let columns = ["integers", "floats", "ratio", "ONNX Runtime int8", "to it"];
    print(&[&["network", "batch"][..], &columns].concat(), &rows);
    Ok(())
}

fn integer_line(onnx: &mut Peer, case: Contest) -> Result<Vec<String>> {
    let (name, rows, runs) = (case.network, case.rows, case.ours);
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
    let request = format!("int8 {name} {rows} {}", case.theirs);
    let [mut integers, mut floats, mut static8] = [Spent::FOREVER; 3];
    for _ in 0..TURNS {
        integers = integers.best(time_each(runs, || Ok(plan.run(&[Input::F32(&x)])?))?);
        floats = floats.best(time_each(runs, || float.evaluate())?);
        static8 = static8.best(onnx.ask(&request)?);
    }
    Ok(vec![
        name.to_owned(),
        rows.to_string(),
        micros(integers.cpu),
        micros(floats.cpu),
        times(floats.cpu / integers.cpu),
        micros(static8.cpu),
        times(static8.cpu / integers.cpu),
    ])
}

fn line(rivals: &mut Rivals, contest: Contest, threads: usize) -> Result<Vec<String>> {
    let (name, rows) = (contest.network, contest.rows);
    let mut workload = Workload::new(name, rows, threads)?;
    workload.evaluate()?;
    let request = format!("eval {name} {rows} {}", contest.theirs);
    let [mut own, mut torch, mut onnx] = [Spent::FOREVER; 3];
    for _ in 0..TURNS {
        own = own.best(time_each(contest.ours, || workload.evaluate())?);
        torch = torch.best(rivals.torch.ask(&request)?);
        onnx = onnx.best(rivals.other.ask(&request)?);
    }
    Ok(vec![
        name.to_owned(),
        rows.to_string(),
        micros(own.cpu),
        micros(torch.cpu),
        micros(onnx.cpu),
        times(torch.cpu / own.cpu),
        times(torch.cpu.min(onnx.cpu) / own.cpu),
        micros(own.wall),
        micros(torch.wall),
        times(torch.wall / own.wall),
    ])
}
