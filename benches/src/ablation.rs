//! Test accuracy after rounding to few bits, by what is done against the loss: one line for each addition.
//!
//! Inputs and weights of linear, convolution and batch norm layers have the bits of the column, what flows into the network
//! 8, biases 16. Everything is chosen on training rows, the epoch of a training by validation rows, and the accuracy is that
//! on test rows. Needs MNIST in `$MASE_DATA` for LeNet-5; without it that table is left out with a word. `NETWORK=lenet5`
//! asks for one network alone.

use crate::table::print;
use anyhow::{Result, anyhow};
use config::Table;
use data::{Dataset, OpenOptions};
use engine::{LearnScales, Network, OptimizerKind};
use ir::Graph;
use passes::{Context, Program};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use train::{Augment, Cosine, FitConfig, Learner, ScalesPer, evaluate, fit, folded_layers};

/// A network, its data and its training.
pub struct Case {
    pub network: &'static str,
    pub dataset: &'static str,
    pub layers: &'static [&'static str],
    pub batch_size: usize,
    /// Epochs and learning rate of the float network.
    pub training: (u64, f64),
    /// Epochs and learning rate with rounding.
    pub retraining: (u64, f64),
}

pub const CASES: [Case; 2] = [
    Case {
        network: "jsc-s",
        dataset: "jsc-sim",
        layers: &["linear", "batch_norm1d"],
        batch_size: 256,
        training: (20, 1e-3),
        retraining: (5, 3e-3),
    },
    Case {
        network: "lenet5",
        dataset: "mnist",
        layers: &["linear", "conv2d"],
        batch_size: 64,
        training: (4, 1e-3),
        retraining: (2, 1e-3),
    },
];

const BITS: [u32; 5] = [8, 6, 4, 3, 2];
/// Bits of what flows into the network.
const INPUT_BITS: u32 = 8;
pub const SEEDS: u64 = 3;
/// Rows that formats, weights and biases are chosen by.
const SAMPLES: usize = 4096;

/// A name, passes, and how the result is trained, if it is.
type Method = (&'static str, &'static [&'static str], Option<Learning>);

/// A training with formats.
#[derive(Clone, Copy)]
pub struct Learning {
    pub scales: LearnScales,
    pub per: ScalesPer,
    /// Batch norms that were folded are taken out for it.
    pub norms: bool,
}

/// The steps, line by line.
const METHODS: [Method; 17] = [
    ("plain rounding", &[QUANTIZE], None),
    ("calibrated, min_max", &[QUANTIZE, MIN_MAX], None),
    (
        "calibrated, percentile 0.999",
        &[QUANTIZE, PERCENTILE],
        None,
    ),
    ("calibrated, mse", &[QUANTIZE, MSE], None),
    ("calibrated, loss", &[QUANTIZE, LOSS], None),
    ("+ unsigned inputs", &[QUANTIZE, UNSIGNED], None),
    ("+ fold", &[FOLD, QUANTIZE, UNSIGNED], None),
    (
        "+ bias correction",
        &[FOLD, QUANTIZE, UNSIGNED, CORRECT],
        None,
    ),
    ("+ GPTQ", &[FOLD, QUANTIZE, UNSIGNED, GPTQ, CORRECT], None),
    (
        "+ calibrated again",
        &[
            FOLD,
            QUANTIZE,
            UNSIGNED,
            GPTQ,
            CORRECT,
            AGAIN,
            CORRECT_AGAIN,
        ],
        None,
    ),
    (
        "training with formats",
        &[FOLD, QUANTIZE, UNSIGNED],
        Some(FIXED),
    ),
    (
        "learned powers of two",
        &[FOLD, QUANTIZE, UNSIGNED],
        Some(Learning {
            norms: false,
            ..POWERS_OF_TWO
        }),
    ),
    (
        "learned real scales",
        &[FOLD, QUANTIZE, UNSIGNED],
        Some(Learning {
            per: ScalesPer::Tensor,
            norms: false,
            ..REAL_PER_CHANNEL
        }),
    ),
    (
        "+ of every channel",
        &[FOLD, QUANTIZE, UNSIGNED],
        Some(Learning {
            norms: false,
            ..REAL_PER_CHANNEL
        }),
    ),
    (
        "with norms: formats as they are",
        &[FOLD, QUANTIZE, UNSIGNED],
        Some(Learning {
            norms: true,
            ..FIXED
        }),
    ),
    (
        "with norms: powers of two",
        &[FOLD, QUANTIZE, UNSIGNED],
        Some(POWERS_OF_TWO),
    ),
    (
        "with norms: real, every channel",
        &[FOLD, QUANTIZE, UNSIGNED],
        Some(REAL_PER_CHANNEL),
    ),
];
const FIXED: Learning = Learning {
    scales: LearnScales::Fixed,
    per: ScalesPer::Tensor,
    norms: false,
};
pub const POWERS_OF_TWO: Learning = Learning {
    scales: LearnScales::PowerOfTwo,
    per: ScalesPer::Tensor,
    norms: true,
};
pub const REAL_PER_CHANNEL: Learning = Learning {
    scales: LearnScales::Real,
    per: ScalesPer::Channel,
    norms: true,
};
pub const FOLD: &str = "fuse_batch_norm = {}";
/// Stands for the rules of the case.
pub const QUANTIZE: &str = "quantize";
const MIN_MAX: &str = "calibrate = { method = \"min_max\", SAMPLES }";
const PERCENTILE: &str = "calibrate = { method = \"percentile\", SAMPLES }";
const MSE: &str = "calibrate = { method = \"mse\", SAMPLES }";
const LOSS: &str = "calibrate = { method = \"loss\", SAMPLES }";
pub const UNSIGNED: &str = "calibrate = { method = \"loss\", unsigned = true, SAMPLES }";
const GPTQ: &str = "gptq = { SAMPLES }";
const CORRECT: &str = "correct_bias = { SAMPLES }";
const AGAIN: &str = "calibrate_2 = { method = \"loss\", SAMPLES }";
const CORRECT_AGAIN: &str = "correct_bias_2 = { SAMPLES }";

/// Prints a table for each network.
pub fn run() -> Result<()> {
    let folder = std::env::temp_dir().join(format!("mase-ablation-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    for case in CASES.iter().filter(|case| case.is_asked()) {
        match data::open(case.dataset, &OpenOptions::default()) {
            Ok(data) => case.run(&data, &folder)?,
            Err(error) => println!("left out: {} on {}: {error}", case.network, case.dataset),
        }
    }
    Ok(std::fs::remove_dir_all(&folder)?)
}

impl Case {
    /// False when `$NETWORK` names another network.
    pub fn is_asked(&self) -> bool {
        let asked = std::env::var("NETWORK").ok();
        asked.is_none_or(|name| name == self.network)
    }

    fn run(&self, data: &Dataset, folder: &Path) -> Result<()> {
        let (mut float, mut float_longer) = (Vec::new(), Vec::new());
        let mut cells = vec![vec![Vec::new(); BITS.len()]; METHODS.len()];
        let mut fastest = Duration::MAX;
        for seed in 0..SEEDS {
            let trained = self.trained(data, seed, folder)?;
            float.push(accuracy(&trained, data)?);
            let as_it_is = Learner::new(trained.clone());
            let longer = self.fit(&as_it_is, data, seed, self.retraining, folder)?;
            float_longer.push(accuracy(&longer, data)?);
            println!(
                "{} seed {seed}, float: {float:.2?} {float_longer:.2?}",
                self.network
            );
            for (cells, method) in cells.iter_mut().zip(METHODS) {
                for (cell, bits) in cells.iter_mut().zip(BITS) {
                    let (graph, gptq) = self.quantized(&trained, data, method.1, bits)?;
                    fastest = gptq.map_or(fastest, |time| time.min(fastest));
                    let graph = match method.2 {
                        Some(learning) => {
                            let learner = learner(&trained, graph, learning, data)?;
                            self.fit(&learner, data, seed, self.retraining, folder)?
                        }
                        None => graph,
                    };
                    cell.push(accuracy(&graph, data)?);
                }
                let latest = cells.iter().filter_map(|cell| cell.last());
                let latest: Vec<String> = latest.map(|value| format!("{value:.2}")).collect();
                println!(
                    "{} seed {seed}, {}: {}",
                    self.network,
                    method.0,
                    latest.join(" ")
                );
            }
        }
        println!(
            "{} on {}: test accuracy in percent, mean of {SEEDS} seeds (largest − smallest); float {}, trained as long as \
             with formats {}",
            self.network,
            self.dataset,
            spread(&float),
            spread(&float_longer)
        );
        let line = |(method, cells): (&Method, &Vec<Vec<f64>>)| {
            let name = method.0.to_owned();
            let cells = cells.iter().map(|cell| spread(cell));
            [name].into_iter().chain(cells).collect()
        };
        let rows: Vec<Vec<String>> = METHODS.iter().zip(&cells).map(line).collect();
        print(
            &["", "8 bits", "6 bits", "4 bits", "3 bits", "2 bits"],
            &rows,
        );
        println!(
            "gptq on {SAMPLES} rows: {:.1} ms at best\n",
            fastest.as_secs_f64() * 1e3
        );
        Ok(())
    }

    /// The float network.
    pub fn trained(&self, data: &Dataset, seed: u64, folder: &Path) -> Result<Graph> {
        let info = models::ModelInfo {
            input: Some(data.info.sample_shape.clone()),
            classes: Some(data.info.classes.len()),
        };
        self.trained_from(models::build(self.network, &info)?, data, seed, folder)
    }

    /// A float network that the zoo need not have.
    pub fn trained_from(
        &self,
        mut graph: Graph,
        data: &Dataset,
        seed: u64,
        folder: &Path,
    ) -> Result<Graph> {
        graph.initialize(seed);
        self.fit(&Learner::new(graph), data, seed, self.training, folder)
    }

    /// The graph of the epoch with the lowest validation loss.
    pub fn fit(
        &self,
        learner: &Learner,
        data: &Dataset,
        seed: u64,
        (max_epochs, learning_rate): (u64, f64),
        folder: &Path,
    ) -> Result<Graph> {
        let mut network = learner.network(1)?;
        let config = FitConfig {
            batch_size: self.batch_size,
            max_epochs,
            max_steps: None,
            optimizer: OptimizerKind::Adam { weight_decay: 0.0 },
            learning_rate,
            schedule: Cosine {
                t_max: max_epochs,
                eta_min: 1e-6,
            },
            accumulate: 1,
            seed,
            shuffle: true,
            augment: Augment::NONE,
            log_every: 1000,
            folder: folder.join("run"),
            tensorboard: false,
            resume: false,
            hyper_parameters: serde_json::Map::new(),
            fixed: serde_json::Map::new(),
            save_every: None,
        };
        let stop = AtomicBool::new(false);
        let outcome = fit(&mut network, data, &config, &stop, &mut |_| {})?;
        let best = interop::checkpoint::read(&outcome.best, None)?;
        Ok(learner.trained(&best.tensors)?)
    }

    /// The graph after the passes of a method, and how long gptq took.
    pub fn quantized(
        &self,
        trained: &Graph,
        data: &Dataset,
        passes: &[&str],
        bits: u32,
    ) -> Result<(Graph, Option<Duration>)> {
        let samples = format!("num_samples = {SAMPLES}");
        let pass = |line: &&str| match *line {
            QUANTIZE => self.rules(bits),
            line => line.replace("SAMPLES", &samples),
        };
        let text: Vec<String> = passes.iter().map(pass).collect();
        let table = Table::parse(&text.join("\n")).map_err(|error| anyhow!(error.message))?;
        let program = Program::read(&table).map_err(|problems| anyhow!("{problems:?}"))?;
        let mut graph = trained.clone();
        let mut context = Context::new(&graph, Some(data));
        let reports = program.run(&mut graph, &mut context, |_, _, _| {})?;
        let gptq = reports.iter().find(|step| step.key == "gptq");
        Ok((graph, gptq.map(|step| step.time)))
    }

    fn rules(&self, bits: u32) -> String {
        let rule = |layer: &&str| {
            let fields = format!("data_in_width = {bits}, weight_width = {bits}, bias_width = 16");
            format!("{layer} = {{ name = \"integer\", {fields} }}")
        };
        let rules: Vec<String> = self.layers.iter().map(rule).collect();
        format!(
            "quantize = {{ by = \"type\", input_width = {INPUT_BITS}, {} }}",
            rules.join(", ")
        )
    }
}

/// A quantised graph, made ready for a training.
pub fn learner(
    trained: &Graph,
    graph: Graph,
    learning: Learning,
    data: &Dataset,
) -> Result<Learner> {
    let layers = if learning.norms {
        folded_layers(trained, &graph)
    } else {
        Vec::new()
    };
    let learner = Learner::new(graph).with_norms(&layers, &data.train)?;
    Ok(learner.with_scales(learning.scales, learning.per))
}

/// Test accuracy in percent.
pub fn accuracy(graph: &Graph, data: &Dataset) -> Result<f64> {
    let mut network = Network::new(graph.clone(), 1)?;
    let score = evaluate(&mut network, &data.test)?;
    Ok(100.0 * score.correct as f64 / score.count as f64)
}

/// The mean, and in brackets the largest minus the smallest.
pub fn spread(values: &[f64]) -> String {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let min = values.iter().copied().fold(f64::INFINITY, f64::min);
    let max = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    format!("{mean:.2} ({:.2})", max - min)
}
