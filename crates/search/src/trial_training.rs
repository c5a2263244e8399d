//! `[search.strategy.sw_runner.basic_train]`: the training of each trial before it is scored.

use config::Reader;
use data::SplitName;
use engine::OptimizerKind;
use serde_json::{Value as Json, json};
use train::{Curve, RowOrder, StepSchedule, StepTraining};

/// The training of each trial; its seed is that of the search. It ends at the first of its limits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrialTraining {
    /// Updates at most.
    pub max_steps: Option<u64>,
    /// Passes over the training rows at most.
    pub max_epochs: Option<u64>,
    /// Rows at most, those of later epochs counted again.
    pub num_samples: Option<u64>,
    /// Rows of a batch.
    pub batch_size: usize,
    /// The learning rate, which the schedule scales.
    pub learning_rate: f64,
    /// The optimiser with its weight decay.
    pub optimizer: OptimizerKind,
    /// The learning rate over the updates.
    pub lr_scheduler: Curve,
    /// Updates over which the learning rate rises.
    pub num_warmup_steps: u64,
    /// Batches of an update.
    pub gradient_accumulation_steps: usize,
}

impl Default for TrialTraining {
    /// A hundred updates by Adam.
    fn default() -> Self {
        Self {
            max_steps: Some(100),
            max_epochs: None,
            num_samples: None,
            batch_size: 256,
            learning_rate: 1e-3,
            optimizer: OptimizerKind::Adam { weight_decay: 0.0 },
            lr_scheduler: Curve::Constant,
            num_warmup_steps: 0,
            gradient_accumulation_steps: 1,
        }
    }
}

/// An optimiser for a weight decay.
type WithDecay = fn(f32) -> OptimizerKind;

/// The optimisers by the words of the original. SGD has no momentum, as in the original.
const OPTIMIZERS: &[(&str, WithDecay)] = &[
    ("adam", |weight_decay| OptimizerKind::Adam { weight_decay }),
    ("adamw", |weight_decay| OptimizerKind::AdamW {
        weight_decay,
    }),
    ("sgd", |weight_decay| OptimizerKind::Sgd {
        momentum: 0.0,
        nesterov: false,
        weight_decay,
    }),
];

impl TrialTraining {
    /// Reads the table.
    pub(crate) fn read(reader: &mut Reader) -> Self {
        let default = Self::default();
        // The original trains on the training rows whatever this key says, and reports every metric.
        let split = reader.choice("data_loader", SplitName::WORDS);
        if split.is_some_and(|split| split != SplitName::Train) {
            reader.ignore(&["data_loader"]);
        }
        reader.ignore(&["name"]);
        let keys = ["num_samples", "max_epochs", "max_steps"];
        let given = keys.map(|key| reader.whole(key, -1..=i64::MAX));
        let [num_samples, max_epochs, max_steps] =
            given.map(|limit| limit.and_then(|limit| u64::try_from(limit).ok()));
        let is_limited = num_samples.or(max_epochs).or(max_steps).is_some();
        if !is_limited && given.contains(&Some(-1)) {
            let message =
                "the training of a trial has no end; set num_samples, max_epochs or max_steps";
            reader.problem(reader.span(), message);
        }
        let weight_decay = reader.number("weight_decay", 0.0..=1e3).unwrap_or(0.0) as f32;
        let optimizer = reader.choice("optimizer", OPTIMIZERS);
        let steps = reader.whole("num_warmup_steps", 0..=i64::MAX);
        Self {
            max_steps: if is_limited {
                max_steps
            } else {
                default.max_steps
            },
            max_epochs,
            num_samples,
            batch_size: reader.count("batch_size").unwrap_or(default.batch_size),
            learning_rate: reader
                .number("learning_rate", 0.0..=1e3)
                .unwrap_or(default.learning_rate),
            optimizer: optimizer.unwrap_or(OPTIMIZERS[0].1)(weight_decay),
            lr_scheduler: reader
                .choice("lr_scheduler", Curve::WORDS)
                .unwrap_or(default.lr_scheduler),
            num_warmup_steps: steps.map_or(0, |steps| steps as u64),
            gradient_accumulation_steps: reader.count("gradient_accumulation_steps").unwrap_or(1),
        }
    }

    /// The training on so many rows. Limits by rows or epochs go through the rows in epochs; a limit of updates alone draws them.
    ///
    /// The schedule falls to 0 at the end of `max_epochs`, as in the original, also where another limit comes before it.
    /// Differs from MASE: the updates of an epoch are counted, not its batches, where several batches make one update.
    pub fn on_rows(&self, rows: usize, seed: u64) -> StepTraining {
        let size = self.batch_size.min(rows).max(1);
        let updates = |batches: u64| batches.div_ceil(self.gradient_accumulation_steps as u64);
        let per_epoch = rows.div_ceil(size) as u64;
        let epochs = self
            .max_epochs
            .map(|n| updates(n.saturating_mul(per_epoch)));
        let samples = self.num_samples.map(|n| updates(n.div_ceil(size as u64)));
        let limits = [self.max_steps, epochs, samples];
        let steps = limits.into_iter().flatten().min().unwrap_or(0);
        StepTraining {
            steps,
            batch_size: self.batch_size,
            learning_rate: self.learning_rate,
            seed,
            optimizer: self.optimizer,
            schedule: StepSchedule {
                curve: self.lr_scheduler,
                warmup_steps: self.num_warmup_steps,
                total_steps: epochs.unwrap_or(steps),
            },
            gradient_accumulation_steps: self.gradient_accumulation_steps,
            order: if epochs.or(samples).is_some() {
                RowOrder::Epochs
            } else {
                RowOrder::Drawn
            },
        }
    }

    /// Everything that the weights of a trial follow from, for the identity of a study.
    pub(crate) fn facts(&self) -> Json {
        json!({
            "max_steps": self.max_steps,
            "max_epochs": self.max_epochs,
            "num_samples": self.num_samples,
            "batch_size": self.batch_size,
            "learning_rate": self.learning_rate,
            "optimizer": format!("{:?}", self.optimizer),
            "lr_scheduler": self.lr_scheduler.name(),
            "num_warmup_steps": self.num_warmup_steps,
            "gradient_accumulation_steps": self.gradient_accumulation_steps,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use config::Table;

    fn read(text: &str) -> Result<TrialTraining, Vec<String>> {
        let table = Table::parse(text).unwrap();
        let mut reader = Reader::new(&table, 0..0);
        let training = TrialTraining::read(&mut reader);
        let problems = reader.finish();
        if problems.is_empty() {
            Ok(training)
        } else {
            Err(problems.into_iter().map(|p| p.message).collect())
        }
    }

    #[test]
    fn every_key_of_the_original_is_read() {
        let text = "name = \"accuracy\"\ndata_loader = \"val_dataloader\"\nnum_samples = 2048\nmax_epochs = 3\nmax_steps = -1\n\
                    optimizer = \"adamw\"\nlearning_rate = 1e-4\nweight_decay = 0.01\nlr_scheduler = \"linear\"\n\
                    num_warmup_steps = 200\ngradient_accumulation_steps = 2\nbatch_size = 64\n";
        let expected = TrialTraining {
            max_steps: None,
            max_epochs: Some(3),
            num_samples: Some(2048),
            batch_size: 64,
            learning_rate: 1e-4,
            optimizer: OptimizerKind::AdamW { weight_decay: 0.01 },
            lr_scheduler: Curve::Linear,
            num_warmup_steps: 200,
            gradient_accumulation_steps: 2,
        };
        assert_eq!(read(text), Ok(expected));
        assert_eq!(read(""), Ok(TrialTraining::default()));
    }

    #[test]
    fn rows_other_than_those_to_train_on_are_noted() {
        let notes = |text: &str| {
            let table = Table::parse(text).unwrap();
            let mut reader = Reader::new(&table, 0..0);
            TrialTraining::read(&mut reader);
            reader.take_notes()
        };
        assert_eq!(notes("data_loader = \"train\""), Vec::<String>::new());
        let noted = notes("data_loader = \"val\"");
        assert_eq!(noted.len(), 1, "{noted:?}");
        assert!(noted[0].contains("data_loader"), "{noted:?}");
    }

    #[test]
    fn the_first_limit_ends_the_training() {
        // 1000 rows in batches of 64 are 16 batches.
        for (limits, steps, total, order) in [
            ("max_steps = 7", 7, 7, RowOrder::Drawn),
            ("max_epochs = 2", 32, 32, RowOrder::Epochs),
            ("num_samples = 130", 3, 3, RowOrder::Epochs),
            ("num_samples = 130\nmax_epochs = 5", 3, 80, RowOrder::Epochs),
            (
                "num_samples = 1000000\nmax_epochs = 5",
                80,
                80,
                RowOrder::Epochs,
            ),
            ("num_samples = -1\nmax_epochs = 1", 16, 16, RowOrder::Epochs),
            ("max_epochs = 2\nmax_steps = 20", 20, 32, RowOrder::Epochs),
            ("max_epochs = 0", 0, 0, RowOrder::Epochs),
            (
                "max_epochs = 1\ngradient_accumulation_steps = 3",
                6,
                6,
                RowOrder::Epochs,
            ),
        ] {
            let text = format!("batch_size = 64\n{limits}\n");
            let training = read(&text).unwrap().on_rows(1000, 5);
            let found = (
                training.steps,
                training.schedule.total_steps,
                training.order,
            );
            assert_eq!(found, (steps, total, order), "{limits}");
            assert_eq!(training.seed, 5);
        }
    }

    #[test]
    fn what_no_training_can_follow_is_a_problem() {
        for (text, problem) in [
            (
                "max_epochs = -1\n",
                "the training of a trial has no end; set num_samples, max_epochs or max_steps",
            ),
            ("max_steps = -2\n", "max_steps: -2 is below -1"),
            (
                "optimizer = \"sgdd\"\n",
                "optimizer: 'sgdd' is not one of adam, adamw, sgd; did you mean 'sgd'?",
            ),
            (
                "max_epoch = 3\n",
                "unknown key 'max_epoch'; did you mean 'max_epochs'?",
            ),
        ] {
            assert_eq!(read(text).unwrap_err(), [problem]);
        }
    }

    #[test]
    fn every_key_that_changes_weights_changes_the_facts() {
        let default = TrialTraining::default().facts();
        for text in [
            "max_steps = 99",
            "max_epochs = 1",
            "num_samples = 1",
            "batch_size = 255",
            "learning_rate = 2e-3",
            "weight_decay = 0.5",
            "optimizer = \"sgd\"",
            "lr_scheduler = \"cosine\"",
            "num_warmup_steps = 1",
            "gradient_accumulation_steps = 2",
        ] {
            assert_ne!(read(text).unwrap().facts(), default, "{text}");
        }
        for text in ["name = \"loss\"", "data_loader = \"train_dataloader\""] {
            assert_eq!(read(text).unwrap().facts(), default, "{text}");
        }
    }
}
