//! Peak resident memory of training and of evaluation, ours and PyTorch's, each in a process of its own, on one thread.
//!
//! The network and one batch count; `above start` leaves out what was resident before them, such as the libraries.

use crate::peer::Peer;
use crate::table::{print, times};
use crate::workload::{Workload, graph};
use anyhow::{Context, Result, bail};
use engine::Network;
use std::fs;
use std::process::Command;

/// The first argument of the process that measures our own side; the work, the network and the rows follow.
pub const CHILD: &str = "memory-of";

/// Repetitions: Adam's moments exist from the second step on.
const STEPS: usize = 3;

/// The work, the network and the rows of a batch.
const CASES: [[&str; 3]; 2] = [
    ["train", "resnet18@32", "32"],
    ["eval", "resnet18@224", "16"],
];

/// Prints the table.
pub fn run() -> Result<()> {
    if !cfg!(target_os = "linux") {
        bail!("the benchmark of memory reads /proc and runs only on Linux; choose another one");
    }
    let rows = CASES.into_iter().map(line).collect::<Result<Vec<_>>>()?;
    println!("peak resident memory of {STEPS} batches in MiB, 1 thread");
    let header = [
        "work",
        "network",
        "batch",
        "ours above start",
        "PyTorch above start",
        "ratio",
        "ours in all",
        "PyTorch in all",
    ];
    print(&header, &rows);
    Ok(())
}

fn line(case: [&str; 3]) -> Result<Vec<String>> {
    let own = own_process(case)?;
    let request = format!("memory {} {STEPS}", case.join(" "));
    let torch = Peer::start(1)?.numbers(&request)?;
    let above = [own, torch].map(|[start, peak]| peak - start);
    let figures = [
        mebibytes(above[0]),
        mebibytes(above[1]),
        times(above[1] / above[0]),
        mebibytes(own[1]),
        mebibytes(torch[1]),
    ];
    Ok(case.map(str::to_owned).into_iter().chain(figures).collect())
}

/// KiB at the start and at the peak of a new process of this program.
fn own_process(case: [&str; 3]) -> Result<[f64; 2]> {
    let program = std::env::current_exe()?;
    let output = Command::new(program).arg(CHILD).args(case).output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let numbers: Vec<f64> = text
        .split_whitespace()
        .filter_map(|n| n.parse().ok())
        .collect();
    match numbers[..] {
        [start, peak] => Ok([start, peak]),
        _ => bail!(
            "the process that measures memory failed: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        ),
    }
}

/// Runs a case in this process and prints its KiB at the start and at the peak.
pub fn measure(case: &[String]) -> Result<()> {
    let [work, network, rows] = case else {
        bail!("{CHILD} takes the work, the network and the rows of a batch");
    };
    // Sets the peak to what is resident now.
    fs::write("/proc/self/clear_refs", "5")?;
    let start = resident("VmRSS:")?;
    let network = Network::new(graph(network)?, 1)?;
    let mut workload = Workload::with_batches(network, rows.parse()?, 1)?;
    for _ in 0..STEPS {
        match work.as_str() {
            "train" => drop(workload.train()?),
            _ => workload.evaluate()?,
        }
    }
    println!("{start} {}", resident("VmHWM:")?);
    Ok(())
}

/// A line of this process's status, in KiB.
fn resident(field: &str) -> Result<f64> {
    let status = fs::read_to_string("/proc/self/status")?;
    let value = status
        .lines()
        .find_map(|line| line.strip_prefix(field)?.split_whitespace().next());
    let value = value.with_context(|| format!("/proc/self/status has no {field}"))?;
    Ok(value.parse()?)
}

fn mebibytes(kibibytes: f64) -> String {
    format!("{:.1}", kibibytes / 1024.0)
}
