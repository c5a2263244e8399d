//! Quantises a trained network by a config, as `ch transform` does, and scores it before and after:
//! `cargo run --release -p mase --example quantize`.
#![expect(clippy::print_stdout, reason = "the output is the purpose")]

use mase::{
    ConfigTable, Graph, ModelInfo, Network, OpenOptions, PassContext, Program, StepTraining,
    accuracy, build_model, config, evaluate, open_dataset, train_steps,
};

/// The tables that stand under `[passes]` in a file.
const PASSES: &str = r#"
[quantize]
by = "type"
[quantize.default.config]
name = "NA"
[quantize.linear.config]
name = "integer"
data_in_width = 8
data_in_frac_width = 4
weight_width = 6
weight_frac_width = 4
[calculate_avg_bits]
"#;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let data = open_dataset("jsc-sim", &OpenOptions::default())?;
    let mut graph = build_model("jsc-toy", &ModelInfo::default())?;
    graph.initialize(0);
    let training = StepTraining {
        steps: 1000,
        batch_size: 256,
        learning_rate: 1e-2,
        seed: 0,
    };
    let trained = train_steps(graph, &data.train, training)?.to_graph();

    let table = ConfigTable::parse(PASSES).map_err(|problem| problem.message)?;
    let program = Program::read(&table)
        .map_err(|problems| config::describe("the passes", PASSES, &problems))?;
    let mut quantized = trained.clone();
    let mut context = PassContext::new(&trained, Some(&data));
    let reports = program.run(&mut quantized, &mut context, |_, _, _| ())?;
    for step in &reports {
        println!("== {}\n{}", step.key, step.report.to_text());
    }

    let score = |graph: &Graph| -> Result<f64, Box<dyn std::error::Error>> {
        let mut network = Network::new(graph.clone(), 1)?;
        Ok(accuracy(&evaluate(&mut network, &data.test)?))
    };
    println!("accuracy in float:    {:.4}", score(&trained)?);
    println!("accuracy in integers: {:.4}", score(&quantized)?);
    println!("\n{quantized}");
    Ok(())
}
