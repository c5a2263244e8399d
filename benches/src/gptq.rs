//! GPTQ: all layers of a small network, and single layers with many inputs.

use crate::clock::Spent;
use crate::passing::{passes_over, zoo};
use crate::table::print;
use anyhow::Result;
use data::{Dataset, OpenOptions, Rows};
use ir::Graph;
use random::Random;

const TURNS: usize = 5;
/// Inputs of the single layers, and their outputs.
const INPUTS: [usize; 4] = [1024, 2048, 4096, 8192];
const OUTPUTS: usize = 1024;
/// Rows that weights are chosen by; a fourth more is held out.
const ROWS: usize = 4096;

/// Prints both.
pub fn run() -> Result<()> {
    small()?;
    wide()
}

fn small() -> Result<()> {
    let data = data::open("jsc-sim", &OpenOptions::default())?;
    let quantize = "[quantize]\n[quantize.linear.config]\nname = \"integer\"\ndata_in_width = 8\nweight_width = 4\nbias_width = 8\n";
    let mut best = Spent::FOREVER;
    for _ in 0..TURNS {
        let with = passes_over(zoo("jsc-s")?, &format!("{quantize}[gptq]\n"), &data)?;
        let without = passes_over(zoo("jsc-s")?, quantize, &data)?;
        best = best.best(Spent {
            wall: with.wall - without.wall,
            cpu: with.cpu - without.cpu,
        });
    }
    println!(
        "GPTQ of jsc-s with its default rows: {:.4} s, {:.4} CPU s, best of {TURNS} turns\n",
        best.wall, best.cpu
    );
    Ok(())
}

fn wide() -> Result<()> {
    let mut lines = Vec::new();
    for inputs in INPUTS {
        let pass = format!("[gptq]\nnum_samples = {ROWS}\n");
        let spent = passes_over(layer(inputs)?, &pass, &rows(inputs))?;
        lines.push(vec![
            inputs.to_string(),
            format!("{:.2}", spent.wall),
            format!("{:.2}", spent.cpu),
        ]);
    }
    println!(
        "GPTQ of one linear layer with {OUTPUTS} outputs to 4 bits, {ROWS} rows and {} held out, 1 thread",
        ROWS / 4
    );
    print(&["inputs", "seconds", "CPU seconds"], &lines);
    Ok(())
}

/// A linear layer with 4-bit weights.
fn layer(inputs: usize) -> Result<Graph> {
    // Weights start within 1/√inputs; eight steps to either side of zero cover that.
    let frac_width = 3 + inputs.ilog2() / 2;
    let keys = format!("in_features = {inputs}, out_features = {OUTPUTS}, bias = false");
    let text = format!(
        "graph \"layer\" {{\n  x: f32[N, {inputs}] = placeholder\n  \
         fc = linear(x) {{ target = \"fc\", {keys}, weight: integer(4, {frac_width}) }}\n  return fc\n}}\n"
    );
    let mut graph = Graph::parse(&text)?;
    graph.initialize(0);
    Ok(graph)
}

/// Rows of noise whose neighbours have half of their variance in common.
fn rows(width: usize) -> Dataset {
    let count = ROWS + ROWS / 4;
    let random = Random::new(1, "inputs");
    let noise: Vec<f32> = (0..=count * width)
        .map(|k| random.normal(k as u64))
        .collect();
    let rows = Rows {
        values: noise.windows(2).map(|pair| pair[0] + pair[1]).collect(),
        labels: vec![0; count],
        width,
    };
    Dataset::of_rows("noise", vec![width], rows)
}
