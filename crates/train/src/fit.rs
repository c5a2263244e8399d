//! The training loop.

use crate::batches::{Batches, Order, needs_two_rows};
use crate::checkpoint::{Position, Resumed, snapshot};
use crate::identity::{self, Identity};
use crate::metrics::{Line, Metrics};
use crate::tensorboard::EventFile;
use crate::{Cosine, Event, Stage, TrainError, accuracy, evaluate};
use data::Dataset;
use engine::{Network, Optimizer, OptimizerKind, Score, gather};
use interop::checkpoint::Checkpoint;
use serde_json::{Map, Value as Json};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Seconds between two checkpoints: a kill loses at most this much work, and never a result.
const SAVE_EVERY: Duration = Duration::from_secs(2);

/// The folder of the checkpoints, in that of a run.
const CHECKPOINTS: &str = "training_ckpts";

/// The configuration of training.
#[derive(Clone, Debug)]
pub struct FitConfig {
    /// Rows of a batch.
    pub batch_size: usize,
    /// Passes over the training rows.
    pub max_epochs: u64,
    /// Updates after which training ends; none for no limit.
    pub max_steps: Option<u64>,
    /// The optimiser.
    pub optimizer: OptimizerKind,
    /// The learning rate at the start.
    pub learning_rate: f64,
    /// The learning rate over the epochs.
    pub schedule: Cosine,
    /// Batches whose gradients make one update.
    pub accumulate: usize,
    /// Seed of the order of rows and of dropout.
    pub seed: u64,
    /// True to shuffle the rows every epoch.
    pub shuffle: bool,
    /// Updates between two lines of the log.
    pub log_every: u64,
    /// The folder of checkpoints and logs.
    pub folder: PathBuf,
    /// True to log for TensorBoard.
    pub tensorboard: bool,
    /// True to resume from the folder's last checkpoint.
    pub resume: bool,
    /// All settings of the run, for the checkpoints.
    pub hyper_parameters: Map<String, Json>,
    /// Values of the caller that decide rows or arithmetic besides the fields above: they are in the checkpoints, and a
    /// resumed run that differs in one is refused.
    pub fixed: Map<String, Json>,
}

/// The reason why training ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// All epochs or steps are done.
    Done,
    /// It was asked to stop; the last checkpoint has the place.
    Stopped,
    /// The loss was not a number or infinite; the last good checkpoint is kept.
    Diverged,
}

/// The result of training.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The reason why it ended.
    pub ending: Ending,
    /// Updates done.
    pub steps: u64,
    /// Epochs completed.
    pub epochs: u64,
    /// The mean loss over the training batches of the last epoch that this run has seen to its end.
    pub train_loss: Option<f64>,
    /// The lowest validation loss.
    pub best_loss: Option<f64>,
    /// The checkpoint with the lowest validation loss.
    pub best: PathBuf,
    /// The last checkpoint.
    pub last: PathBuf,
}

/// Trains a network on a dataset until it is done, stopped or diverges. `on_event` is called for every batch, epoch and file.
pub fn fit(
    network: &mut Network,
    data: &Dataset,
    config: &FitConfig,
    stop: &AtomicBool,
    on_event: &mut dyn FnMut(&Event),
) -> Result<Outcome, TrainError> {
    check(network, data)?;
    let identity = Identity::new(config, network, data);
    // A look at validation rows before the first epoch: what is wrong with them should not wait for its end.
    evaluate(network, &data.val.head(config.batch_size))?;
    network.seed(config.seed);
    let mut optimizer = Optimizer::new(config.optimizer, config.learning_rate, network.state());
    let earlier = match config.resume {
        true => Some(last_checkpoint(config, &identity)?),
        false => None,
    };
    if let Some(earlier) = &earlier {
        earlier.restore(network, &mut optimizer)?;
        if let Some(note) = identity::note(config, &earlier.hyper_parameters) {
            on_event(&Event::Note(&note));
        }
    }
    let hyper_parameters = identity.hyper_parameters(config);
    let mut run = Run::open(config, hyper_parameters, earlier.map(|last| last.position))?;
    let mut batches = Batches::default();
    let needs_two = needs_two_rows(network);
    let order = Order {
        seed: config.seed,
        shuffle: config.shuffle,
    };
    let steps_left = |step: u64| config.max_steps.is_none_or(|max| step < max);

    while run.position.epoch < config.max_epochs && steps_left(run.position.step) {
        optimizer.learning_rate = config
            .schedule
            .rate(config.learning_rate, run.position.epoch);
        batches.begin(
            &data.train,
            config.batch_size,
            order,
            run.position.epoch,
            needs_two,
        );
        while run.position.batch < batches.count() && steps_left(run.position.step) {
            let score = learn(
                network,
                data,
                config,
                &batches,
                run.position.batch,
                &mut optimizer,
            )?;
            if !score.loss.is_finite() {
                return run.diverged(on_event);
            }
            let updated = run.count(score, network, optimizer.steps());
            let stage = run.stage(config, &batches, score, optimizer.learning_rate);
            if updated && stage.step.is_multiple_of(config.log_every) {
                run.log_step(&stage);
            }
            on_event(&Event::Batch(&stage));
            // Collected gradients are in no checkpoint, so a run stops between updates.
            if stop.load(Ordering::Relaxed) && run.position.batch.is_multiple_of(config.accumulate)
            {
                run.save(network, &optimizer, on_event)?;
                return Ok(run.outcome(Ending::Stopped));
            }
        }
        let stage = run.stage(config, &batches, run.epoch_score(), optimizer.learning_rate);
        let val = evaluate(network, &data.val)?;
        if !val.loss.is_finite() {
            return run.diverged(on_event);
        }
        run.train_loss = Some(stage.score.loss);
        let is_best = run.end_epoch(val, network, &optimizer);
        run.log_epoch(&stage, val);
        on_event(&Event::Epoch {
            stage: &stage,
            train: stage.score,
            val,
            is_best,
        });
        if run.saved_at.elapsed() > SAVE_EVERY {
            run.save(network, &optimizer, on_event)?;
        }
    }
    run.save(network, &optimizer, on_event)?;
    Ok(run.outcome(Ending::Done))
}

/// The last checkpoint of a run, which must be one of the same run.
fn last_checkpoint(config: &FitConfig, identity: &Identity) -> Result<Resumed, TrainError> {
    let path = last_path(config);
    let last = Resumed::read(&path)?;
    identity.check(config, &path, &last.hyper_parameters)?;
    Ok(last)
}

/// The progress of a run that may be resumed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// Updates done.
    pub steps: u64,
    /// Epochs completed.
    pub epochs: u64,
}

/// The progress in the last checkpoint of a run, which must be one of the same rows and the same arithmetic.
///
/// # Errors
/// As [`fit`] refuses to resume.
pub fn standing(
    network: &Network,
    data: &Dataset,
    config: &FitConfig,
) -> Result<Standing, TrainError> {
    let last = last_checkpoint(config, &Identity::new(config, network, data))?;
    Ok(Standing {
        steps: last.position.step,
        epochs: last.position.epoch,
    })
}

fn last_path(config: &FitConfig) -> PathBuf {
    config.folder.join(CHECKPOINTS).join("last.ckpt")
}

/// One batch: an update of its own, or part of one when gradients are accumulated.
fn learn(
    network: &mut Network,
    data: &Dataset,
    config: &FitConfig,
    batches: &Batches,
    batch: usize,
    optimizer: &mut Optimizer,
) -> Result<Score, TrainError> {
    let (indices, labels) = batches.get(batch);
    let inputs = gather(data.train.elements(), indices);
    if config.accumulate == 1 {
        return Ok(network.train_step(&inputs, labels, indices.len(), optimizer)?);
    }
    let score = network.accumulate(&inputs, labels, indices.len())?;
    let of_update = batch % config.accumulate + 1;
    if of_update == config.accumulate || batch + 1 == batches.count() {
        network.update(optimizer, of_update);
    }
    Ok(score)
}

fn check(network: &Network, data: &Dataset) -> Result<(), TrainError> {
    let empty = |split| TrainError::Empty {
        dataset: data.info.name.clone(),
        split,
    };
    if data.train.is_empty() {
        return Err(empty("training"));
    }
    if data.val.is_empty() {
        return Err(empty("validation"));
    }
    let graph = network.graph();
    let verified = ir::verify(graph).map_err(engine::NetworkError::from)?;
    let expected = verified.input_width();
    if expected != data.train.width() {
        return Err(TrainError::Width {
            dataset: data.info.name.clone(),
            got: data.train.width(),
            expected,
        });
    }
    Ok(())
}

/// The files of a run and where it stands.
struct Run {
    position: Position,
    metrics: Metrics,
    events: Option<EventFile>,
    best: PathBuf,
    last: PathBuf,
    /// Over the batches of the last epoch.
    train_loss: Option<f64>,
    /// The best network so far, until it is written.
    pending_best: Option<Checkpoint>,
    saved_at: Instant,
    hyper_parameters: Map<String, Json>,
    /// The name of this optimiser's learning rate in Lightning's monitor.
    rate_tag: &'static str,
}

impl Run {
    fn open(
        config: &FitConfig,
        hyper_parameters: Map<String, Json>,
        earlier: Option<Position>,
    ) -> Result<Self, TrainError> {
        let last = last_path(config);
        let checkpoints = config.folder.join(CHECKPOINTS);
        std::fs::create_dir_all(&checkpoints).map_err(TrainError::write(&checkpoints))?;
        let position = earlier.unwrap_or(START);
        let events = config.tensorboard.then(|| {
            EventFile::create(&config.folder.join("tensorboard/version_0"), position.step)
        });
        Ok(Self {
            metrics: Metrics::open(
                &config.folder.join("metrics.csv"),
                earlier.map(|position| position.step),
            )?,
            events: events.transpose()?,
            best: checkpoints.join("best.ckpt"),
            last,
            train_loss: None,
            pending_best: None,
            saved_at: Instant::now(),
            hyper_parameters,
            rate_tag: match config.optimizer {
                OptimizerKind::Adam { .. } => "lr-Adam",
                OptimizerKind::AdamW { .. } => "lr-AdamW",
                OptimizerKind::Sgd { .. } => "lr-SGD",
            },
            position,
        })
    }

    /// Counts a batch; whether it ended in an update.
    fn count(&mut self, score: Score, network: &Network, steps: u64) -> bool {
        let position = &mut self.position;
        let updated = steps > position.step;
        position.batch += 1;
        position.step = steps;
        position.passes = network.passes();
        position.loss_sum += score.loss * score.count as f64;
        position.correct += score.correct;
        position.count += score.count;
        updated
    }

    /// The mean score of this epoch's batches.
    fn epoch_score(&self) -> Score {
        let Position {
            loss_sum,
            correct,
            count,
            ..
        } = self.position;
        Score {
            loss: loss_sum / count.max(1) as f64,
            correct,
            count,
        }
    }

    fn stage(
        &self,
        config: &FitConfig,
        batches: &Batches,
        score: Score,
        learning_rate: f64,
    ) -> Stage {
        Stage {
            epoch: self.position.epoch,
            epochs: config.max_epochs,
            batch: self.position.batch,
            batches: batches.count(),
            step: self.position.step,
            rows: self.position.count,
            score,
            learning_rate,
        }
    }

    /// Moves to the next epoch; keeps the network when it is the best so far.
    fn end_epoch(&mut self, val: Score, network: &Network, optimizer: &Optimizer) -> bool {
        let is_best = self.position.best_loss.is_none_or(|best| val.loss < best);
        let best_loss = if is_best {
            Some(val.loss)
        } else {
            self.position.best_loss
        };
        let Position {
            epoch,
            step,
            passes,
            ..
        } = self.position;
        self.position = Position {
            epoch: epoch + 1,
            step,
            passes,
            best_loss,
            ..START
        };
        if is_best {
            self.pending_best = Some(snapshot(
                network,
                optimizer,
                &self.position,
                &self.hyper_parameters,
            ));
        }
        is_best
    }

    /// Adds a line of metrics.
    fn log(&mut self, stage: &Stage, train: Option<(f64, f64)>, val: Option<(f64, f64)>) {
        let Stage {
            epoch,
            step,
            learning_rate,
            ..
        } = *stage;
        self.metrics.add(&Line {
            epoch,
            step,
            learning_rate,
            train,
            val,
        });
    }

    fn log_step(&mut self, stage: &Stage) {
        let (loss, accuracy) = measures(stage.score);
        let step = stage.step;
        self.log(stage, Some((loss, accuracy)), None);
        self.scalars(
            step,
            [("train_loss_step", loss), ("train_acc_step", accuracy)],
        );
    }

    fn log_epoch(&mut self, stage: &Stage, val: Score) {
        let (loss, accuracy) = measures(val);
        let Stage {
            epoch,
            step,
            learning_rate,
            ..
        } = *stage;
        self.log(stage, None, Some((loss, accuracy)));
        self.scalars(
            step,
            [("val_loss_epoch", loss), ("val_acc_epoch", accuracy)],
        );
        self.scalars(
            step,
            [(self.rate_tag, learning_rate), ("epoch", epoch as f64)],
        );
    }

    fn scalars(&mut self, step: u64, values: [(&str, f64); 2]) {
        if let Some(events) = &mut self.events {
            for (tag, value) in values {
                events.scalar(tag, step, value as f32);
            }
        }
    }

    /// Writes logs, the best and the last checkpoint, in an order in which a kill at any moment leaves a run to go on from.
    fn save(
        &mut self,
        network: &Network,
        optimizer: &Optimizer,
        on_event: &mut dyn FnMut(&Event),
    ) -> Result<(), TrainError> {
        self.save_logs_and_best(on_event)?;
        let last = snapshot(network, optimizer, &self.position, &self.hyper_parameters);
        interop::checkpoint::write(&self.last, &last)?;
        on_event(&Event::Saved(&self.last));
        self.saved_at = Instant::now();
        Ok(())
    }

    fn save_logs_and_best(&mut self, on_event: &mut dyn FnMut(&Event)) -> Result<(), TrainError> {
        self.metrics.flush()?;
        if let Some(events) = &mut self.events {
            events.flush()?;
        }
        if let Some(best) = self.pending_best.take() {
            interop::checkpoint::write(&self.best, &best)?;
            on_event(&Event::Saved(&self.best));
        }
        Ok(())
    }

    /// Ends with what was good: the weights of now are not.
    fn diverged(mut self, on_event: &mut dyn FnMut(&Event)) -> Result<Outcome, TrainError> {
        self.save_logs_and_best(on_event)?;
        Ok(self.outcome(Ending::Diverged))
    }

    fn outcome(&self, ending: Ending) -> Outcome {
        Outcome {
            ending,
            steps: self.position.step,
            epochs: self.position.epoch,
            train_loss: self.train_loss,
            best_loss: self.position.best_loss,
            best: self.best.clone(),
            last: self.last.clone(),
        }
    }
}

/// The beginning of a run.
const START: Position = Position {
    epoch: 0,
    batch: 0,
    step: 0,
    passes: 0,
    loss_sum: 0.0,
    correct: 0,
    count: 0,
    best_loss: None,
};

/// Loss and accuracy.
fn measures(score: Score) -> (f64, f64) {
    (score.loss, accuracy(&score))
}
