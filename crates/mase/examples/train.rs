//! Trains a jet classifier for a thousand steps and tests it: `cargo run --release -p mase --example train`.
#![expect(clippy::print_stdout, reason = "the output is the purpose")]

use mase::{
    ModelInfo, OpenOptions, StepTraining, accuracy, build_model, evaluate, open_dataset,
    train_steps,
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Made by the program from a seed; `open_dataset("jsc", …)` finds the real jets in a data folder.
    let data = open_dataset("jsc-sim", &OpenOptions::default())?;
    let info = ModelInfo {
        input: Some(data.info.sample_shape.clone()),
        classes: Some(data.info.classes.len()),
    };
    let mut graph = build_model("jsc-toy", &info)?;
    graph.initialize(0);

    let training = StepTraining {
        steps: 1000,
        batch_size: 256,
        learning_rate: 1e-2,
        ..StepTraining::default()
    };
    let mut network = train_steps(graph, &data.train, training)?;

    let score = evaluate(&mut network, &data.test)?;
    println!(
        "test: loss {:.4}, accuracy {:.4} on {} rows",
        score.loss,
        accuracy(&score),
        score.count
    );
    Ok(())
}
