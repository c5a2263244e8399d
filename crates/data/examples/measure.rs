//! Time and peak memory of opening a dataset: `cargo run --release -p data --example measure -- jsc [FOLDER]`.
#![expect(clippy::print_stdout, reason = "it is a program")]

use data::{OpenOptions, open};
use std::time::Instant;

fn main() -> Result<(), data::DataError> {
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().unwrap_or_else(|| "jsc-sim".to_owned());
    let options = OpenOptions {
        data_dir: arguments.next().map(Into::into),
        offline: true,
        notice: Some(&|sentence| println!("{sentence}")),
        ..OpenOptions::default()
    };
    let start = Instant::now();
    let set = open(&name, &options)?;
    let seconds = start.elapsed().as_secs_f64();
    let megabytes = set.train.rows().len() as f64 * 4e-6;
    let sizes = [&set.train, &set.val, &set.test].map(data::Split::len);
    println!(
        "{name}: {sizes:?} rows, {megabytes:.1} MB as f32, hash {:016x}",
        set.info.hash
    );
    println!(
        "{seconds:.3} s, peak {}",
        peak().unwrap_or_else(|| "unknown".to_owned())
    );
    Ok(())
}

/// The largest resident size so far, as the system tells it.
fn peak() -> Option<String> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM"))?;
    Some(line.trim_start_matches("VmHWM:").trim().to_owned())
}
