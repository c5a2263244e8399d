//! The training loop.

use crate::checkpoint::{Position, Resumed};
use crate::feed::Feed;
use crate::identity::{self, Identity};
use crate::run::{self, Run};
use crate::{Augment, Cosine, Event, TrainError, evaluate};
use data::Dataset;
use engine::{Network, Optimizer, OptimizerKind};
use serde_json::{Map, Value as Json};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

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
    /// The random changes of the images that are learned.
    pub augment: Augment,
    /// Updates between two lines of the log.
    pub log_every: u64,
    /// Updates between two checkpoints; there is one every ten seconds in any case.
    pub save_every: Option<u64>,
    /// The folder of checkpoints and logs.
    pub folder: PathBuf,
    /// True to log for TensorBoard.
    pub tensorboard: bool,
    /// True to resume from the folder's last checkpoint, or to start again where there is none yet.
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
    /// Epochs completed, and the one that the number of updates ended.
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
    config.augment.check(data)?;
    let mut optimizer = Optimizer::new(config.optimizer, config.learning_rate, network.state());
    let mut run = start(network, data, config, &mut optimizer, on_event)?;
    let mut feed = Feed::new(network, data, config);

    while !is_finished(&run.position, config) {
        if stop.load(Ordering::Relaxed) {
            run.save(network, &optimizer, on_event)?;
            return Ok(run.outcome(Ending::Stopped));
        }
        let epoch = run.position.epoch;
        optimizer.learning_rate = config.schedule.rate(config.learning_rate, epoch);
        feed.begin(epoch, network);
        let n_batches = feed.batches.count();
        while run.position.batch < n_batches && steps_left(&run.position, config) {
            network.profiler().begin_batch();
            let score = feed.learn(run.position.batch, network, &mut optimizer)?;
            if !score.loss.is_finite() {
                return run.diverged(on_event);
            }
            let updated = run.count(score, network, optimizer.steps());
            let stage = run.stage(config, n_batches, score, optimizer.learning_rate);
            if updated && stage.step.is_multiple_of(config.log_every) {
                run.log_step(&stage);
            }
            on_event(&Event::Batch(&stage));
            network.profiler().end_batch();
            // Collected gradients are in no checkpoint, so that there is one only between updates; after the last batch, or
            // the last update, the epoch is ended first.
            let is_whole = run.position.batch.is_multiple_of(config.accumulate)
                && run.position.batch < n_batches
                && steps_left(&run.position, config);
            let stopped = stop.load(Ordering::Relaxed);
            if is_whole && (stopped || run.is_due(config, run::SAVE_EVERY)) {
                run.save(network, &optimizer, on_event)?;
                if stopped {
                    return Ok(run.outcome(Ending::Stopped));
                }
            }
        }
        let stage = run.stage(
            config,
            n_batches,
            run.epoch_score(),
            optimizer.learning_rate,
        );
        let val = evaluate(network, &data.val)?;
        if !val.loss.is_finite() {
            return run.diverged(on_event);
        }
        run.train_loss = Some(stage.score.loss);
        let is_best = run.end_epoch(val, network, &optimizer, n_batches);
        run.log_epoch(&stage, val);
        on_event(&Event::Epoch {
            stage: &stage,
            train: stage.score,
            val,
            is_best,
        });
        if run.is_due(config, run::SAVE_AT_EPOCH_END) {
            run.save(network, &optimizer, on_event)?;
        }
    }
    run.save(network, &optimizer, on_event)?;
    Ok(run.outcome(Ending::Done))
}

/// The run at its beginning, where a first checkpoint is written, or at its last checkpoint.
fn start(
    network: &mut Network,
    data: &Dataset,
    config: &FitConfig,
    optimizer: &mut Optimizer,
    on_event: &mut dyn FnMut(&Event),
) -> Result<Run, TrainError> {
    let identity = Identity::new(config, network, data);
    let earlier = last_checkpoint(config, &identity)?;
    // A look at validation rows before the first epoch: what is wrong with them should not wait for its end.
    evaluate(network, &data.val.head(config.batch_size))?;
    network.seed(config.seed);
    let hyper_parameters = identity.hyper_parameters(config);
    if let Some(earlier) = earlier {
        earlier.restore(network, optimizer)?;
        if let Some(note) = identity::note(config, &earlier.hyper_parameters) {
            on_event(&Event::Note(&note));
        }
        return Run::open(config, hyper_parameters, Some(earlier.position));
    }
    if config.resume {
        let folder = config.folder.display();
        on_event(&Event::Note(&format!(
            "{folder} has no checkpoint yet, so that the run starts from the beginning"
        )));
    }
    let mut run = Run::open(config, hyper_parameters, None)?;
    run.save(network, optimizer, on_event)?;
    Ok(run)
}

/// True when all epochs or updates are done.
fn is_finished(position: &Position, config: &FitConfig) -> bool {
    position.epoch >= config.max_epochs || !steps_left(position, config)
}

fn steps_left(position: &Position, config: &FitConfig) -> bool {
    config.max_steps.is_none_or(|max| position.step < max)
}

/// The last checkpoint of the run to resume, which must be one of the same run; none when there is none yet.
fn last_checkpoint(config: &FitConfig, identity: &Identity) -> Result<Option<Resumed>, TrainError> {
    let path = run::last_path(&config.folder);
    if !config.resume || !path.exists() {
        return Ok(None);
    }
    let last = Resumed::read(&path)?;
    identity.check(config, &path, &last.hyper_parameters)?;
    Ok(Some(last))
}

/// The outcome of a run that has nothing left to do, from its last checkpoint; nothing is written.
///
/// # Errors
/// As [`fit`] refuses to resume.
pub fn finished(
    network: &Network,
    data: &Dataset,
    config: &FitConfig,
) -> Result<Option<Outcome>, TrainError> {
    let last = last_checkpoint(config, &Identity::new(config, network, data))?;
    let done = last.filter(|last| is_finished(&last.position, config));
    Ok(done.map(|last| run::outcome(&config.folder, &last.position, Ending::Done, None)))
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
