//! Runs the samplers on toy problems and prints a line of JSON for each problem, sampler and budget.
//!
//! `cargo run --release -p study --example toy [FIRST_SEED SEEDS [PROBLEM …]]`: seeds 0 to 19 and all problems if nothing
//! is said, those with large budgets too, which no test runs. `tests/optuna/compare.py` sets Optuna's results beside the lines.
#![expect(clippy::print_stdout, reason = "the output is the purpose")]

#[path = "../tests/problems/mod.rs"]
mod problems;

use serde_json::json;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize| arguments.get(at).and_then(|n| n.parse::<u64>().ok());
    let (first, n_seeds) = (number(0).unwrap_or(0), number(1).unwrap_or(20));
    let wanted = arguments.get(2..).unwrap_or_default();
    for problem in problems::short().chain(problems::long()) {
        if !wanted.is_empty() && wanted.iter().all(|name| name != problem.name) {
            continue;
        }
        for sampler in problem.samplers {
            let seeds = first..first + n_seeds;
            let runs: Vec<Vec<f64>> = seeds.map(|seed| problem.scores(sampler, seed)).collect();
            for (at, budget) in problem.budgets.iter().enumerate() {
                let scores: Vec<f64> = runs.iter().map(|run| run[at]).collect();
                println!(
                    "{}",
                    json!({"problem": problem.name, "sampler": sampler, "trials": budget, "scores": scores})
                );
            }
        }
    }
}
