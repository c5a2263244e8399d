//! Benchmarks against PyTorch, JAX, ONNX Runtime and Brevitas: all sides take turns in one run, and each line has ratios.
//!
//! `cargo run --release -p benches -- training|evaluation|integers|images|memory|fitting|quality|quantizers|scaling|searching|threads|passes|gptq|ablation|calibration|learning|brevitas|hardware`
//!
//! `hardware-areas`, `hardware-sparse`, `hardware-devices` and `hardware-estimates` are the parts of `hardware`.
//!
//! CPU seconds are compared, because they do not depend on what else the machine does; the best of several turns
//! counts. Wall seconds stand beside them. The Python side is set up on first use by `peer/setup.sh`; a Python that has what it
//! needs can be named by `BENCH_PYTHON`, `BENCH_JAX_PYTHON`, `BENCH_ONNX_PYTHON`, `BENCH_BREVITAS_PYTHON` and
//! `BENCH_DA4ML_PYTHON`.
#![forbid(unsafe_code)]
#![expect(clippy::print_stdout, reason = "a program that prints its results")]

mod ablation;
mod brevitas;
mod calibration;
mod clock;
mod contest;
mod evaluation;
mod fitting;
mod gptq;
mod hardware;
mod images;
mod learning;
mod made_rows;
mod memory;
mod passing;
mod peer;
mod quality;
mod quantizers;
mod scaling;
mod searching;
mod table;
mod threads;
mod training;
mod workload;

use anyhow::{Result, bail};

fn main() -> Result<()> {
    let names: Vec<String> = std::env::args().skip(1).collect();
    if let Some((memory::CHILD, case)) = names.split_first().map(|(n, rest)| (n.as_str(), rest)) {
        return memory::measure(case);
    }
    for name in &names {
        match name.as_str() {
            "ablation" => ablation::run()?,
            "brevitas" => brevitas::run()?,
            "gptq" => gptq::run()?,
            "hardware" => hardware::run()?,
            "hardware-areas" => hardware::areas()?,
            "hardware-sparse" => hardware::sparse()?,
            "hardware-devices" => hardware::devices()?,
            "hardware-estimates" => hardware::estimates()?,
            "calibration" => calibration::run()?,
            "learning" => learning::run()?,
            "training" => training::run()?,
            "evaluation" => evaluation::run()?,
            "integers" => evaluation::integers()?,
            "fitting" => fitting::run()?,
            "images" => images::run()?,
            "memory" => memory::run()?,
            "quality" => quality::run()?,
            "quantizers" => quantizers::run()?,
            "scaling" => scaling::run()?,
            "searching" => searching::run()?,
            "threads" => threads::run()?,
            "passes" => passing::run()?,
            other => bail!("no benchmark called '{other}'"),
        }
    }
    if names.is_empty() {
        bail!(
            "name a benchmark: training, evaluation, integers, images, memory, fitting, quality, quantizers, scaling, searching, threads, passes, \
             gptq, ablation, calibration, learning, brevitas, hardware"
        );
    }
    Ok(())
}
