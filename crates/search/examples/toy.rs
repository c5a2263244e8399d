//! Runs the samplers on toy problems and prints a line of JSON for each run: `cargo run --release -p search --example toy`.
//!
//! `tests/optuna/compare.py` reads the lines and sets Optuna's results beside them. An argument says how many seeds.
#![expect(clippy::print_stdout, reason = "the output is the purpose")]

#[path = "../tests/problems/mod.rs"]
mod problems;

use problems::PROBLEMS;
use serde_json::json;

fn main() {
    let n_seeds = std::env::args()
        .nth(1)
        .and_then(|n| n.parse().ok())
        .unwrap_or(20);
    for problem in PROBLEMS {
        for sampler in problem.samplers {
            let scores: Vec<f64> = (0..n_seeds)
                .map(|seed| problem.score(sampler, seed))
                .collect();
            println!(
                "{}",
                json!({"problem": problem.name, "sampler": sampler, "scores": scores})
            );
        }
    }
}
