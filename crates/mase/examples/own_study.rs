//! A study over a function of one's own: `cargo run --release -p mase --example own_study`.
//!
//! The tree-structured Parzen estimator looks for the minimum of a function of two reals and a word. The study asks for
//! points and takes results in any order, so trials may run anywhere; the points are the same each time.
#![expect(clippy::print_stdout, reason = "the output is the purpose")]

use mase::study::{Next, SamplerContext, build_sampler};
use mase::{Direction, Distribution, Outcome, Parameter, Space, Study};
use std::sync::Arc;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let real = |low: f64, high: f64| Distribution::Float {
        low,
        high,
        log: false,
    };
    let words = ["plain", "shifted"].map(Into::into).to_vec();
    let space = Arc::new(Space::new(vec![
        Parameter::new("x", real(-5.0, 5.0)),
        Parameter::new("y", real(-5.0, 5.0)),
        Parameter::new("kind", Distribution::Categorical { choices: words }),
    ])?);
    let context = SamplerContext {
        space: Arc::clone(&space),
        objectives: 1,
        seed: 1,
    };
    let sampler = build_sampler("tpe", context)?;
    let mut study = Study::new(Arc::clone(&space), sampler, vec![Direction::Minimize], 100)?;

    while let Next::Trial { number, point } = study.ask() {
        let values = space.named(&point);
        let number_of = |name: &str| values[name].as_f64().unwrap_or_default();
        let (x, y) = (number_of("x"), number_of("y"));
        let shift = if values["kind"] == "shifted" {
            1.0
        } else {
            3.0
        };
        let loss = (x - shift).powi(2) + (y + 2.0).powi(2) + shift;
        study.tell(number, Outcome::complete(vec![loss]))?;
    }

    let best = study.history().best().ok_or("no trial is complete")?;
    let values = space.named(&best.point);
    let shown: Vec<String> = values
        .iter()
        .map(|(name, value)| format!("{name} = {value}"))
        .collect();
    println!(
        "best of {} trials: {:.4} at {}",
        study.history().len(),
        best.outcome.values[0],
        shown.join(", ")
    );
    Ok(())
}
