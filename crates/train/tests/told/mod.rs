//! The events, the log, the checkpoints and the outcome of a run tell the same.

use crate::{Folder, config, dataset, network};
use engine::{Network, OptimizerKind, Score};
use interop::checkpoint::Training;
use ir::Graph;
use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use train::{Event, FitConfig, Outcome, Stage, accuracy, epoch_scores, evaluate, fit};

/// The batch norm of the network.
const NORM: &str = r#"batch_norm1d(l1) { target = "b1", num_features = 12 }"#;

/// The events of a run, in their order.
#[derive(Default)]
struct Told {
    batches: Vec<Stage>,
    epochs: Vec<(Stage, Score, Score, bool)>,
    /// The batches and the epochs as lines of `metrics.csv`.
    lines: String,
    /// Saves of the last checkpoint.
    saves: usize,
}

impl Told {
    fn by(network: &mut Network, rows: u32, config: &FitConfig) -> (Self, Outcome) {
        let (mut told, stop) = (Self::default(), AtomicBool::new(false));
        let outcome = fit(network, &dataset(rows), config, &stop, &mut |event| {
            told.listen(event, config.log_every);
        });
        (told, outcome.unwrap())
    }

    fn listen(&mut self, event: &Event, log_every: u64) {
        let cells = |score: Score| format!("{},{}", score.loss, accuracy(&score));
        match *event {
            Event::Batch(stage) => {
                let before = self.batches.last().map_or(0, |stage| stage.step);
                if stage.step > before && stage.step % log_every == 0 {
                    self.add_line(stage, &format!("{},,,,", cells(stage.score)));
                }
                self.batches.push(*stage);
            }
            Event::Epoch {
                stage,
                train,
                val,
                is_best,
            } => {
                self.add_line(stage, &format!(",,{},{}", cells(val), cells(train)));
                self.epochs.push((*stage, train, val, is_best));
            }
            Event::Saved(path) => self.saves += usize::from(path.ends_with("last.ckpt")),
            Event::Note(_) => {}
        }
    }

    fn add_line(&mut self, stage: &Stage, cells: &str) {
        let Stage { epoch, step, .. } = stage;
        let rate = stage.learning_rate;
        let line = format!("{epoch},{step},{rate},{cells}\n");
        self.lines.push_str(&line);
    }
}

/// 250 rows in batches of 32 are seven whole ones and one of 26.
#[test]
fn stages_count_epochs_batches_rows_and_updates() {
    for accumulate in [1, 3] {
        let folder = Folder::new(&format!("stages-{accumulate}"));
        let config = FitConfig {
            accumulate,
            ..config(&folder.0)
        };
        let (told, outcome) = Told::by(&mut network(1), 310, &config);
        let updates = 8_u64.div_ceil(accumulate as u64);
        assert_eq!(told.batches.len(), 24);
        for (k, stage) in told.batches.iter().enumerate() {
            let (epoch, batch) = (k as u64 / 8, k % 8 + 1);
            let within = if batch == 8 {
                updates
            } else {
                (batch / accumulate) as u64
            };
            let expected = Stage {
                epoch,
                epochs: 3,
                batch,
                batches: 8,
                step: epoch * updates + within,
                rows: (32 * batch).min(250),
                score: stage.score,
                learning_rate: config.schedule.rate(0.02, epoch),
            };
            assert_eq!(*stage, expected);
            assert_eq!(stage.score.count, if batch == 8 { 26 } else { 32 });
        }
        assert_eq!((outcome.steps, outcome.epochs), (3 * updates, 3));
    }
}

#[test]
fn an_epoch_has_the_mean_of_its_batches_and_the_score_of_the_network() {
    let folder = Folder::new("means");
    let mut network = network(1);
    let (told, outcome) = Told::by(&mut network, 310, &config(&folder.0));
    let mut best = f64::INFINITY;
    for (batches, (stage, train, val, is_best)) in told.batches.chunks(8).zip(&told.epochs) {
        let losses = batches.iter().map(|b| b.score.loss * b.score.count as f64);
        let correct = batches.iter().map(|batch| batch.score.correct).sum();
        let expected = Score {
            loss: losses.sum::<f64>() / 250.0,
            correct,
            count: 250,
        };
        assert_eq!((*train, stage.score), (expected, expected));
        assert_eq!(*is_best, val.loss < best);
        best = best.min(val.loss);
    }
    let (_, train, val, _) = told.epochs[2];
    assert_eq!(val, evaluate(&mut network, &dataset(310).val).unwrap());
    assert_eq!(outcome.train_loss, Some(train.loss));
    assert_eq!(outcome.best_loss, Some(best));
}

/// Where nothing is learned, every epoch has the same loss.
#[test]
fn the_first_of_equal_epochs_is_the_best() {
    let folder = Folder::new("equal");
    let mut graph = Graph::parse(&crate::NET.replace(NORM, "identity(l1)")).unwrap();
    graph.initialize(4);
    let mut network = Network::new(graph, 1).unwrap();
    let config = FitConfig {
        learning_rate: 0.0,
        ..config(&folder.0)
    };
    let (told, _) = Told::by(&mut network, 310, &config);
    let is_best: Vec<bool> = told.epochs.iter().map(|epoch| epoch.3).collect();
    assert_eq!(is_best, [true, false, false]);
    assert_eq!(told.epochs[0].2, told.epochs[2].2);
}

#[test]
fn the_log_has_a_line_for_every_second_update_and_every_epoch() {
    for accumulate in [1, 3] {
        let folder = Folder::new(&format!("log-{accumulate}"));
        let config = FitConfig {
            accumulate,
            ..config(&folder.0)
        };
        let (told, _) = Told::by(&mut network(1), 310, &config);
        let path = folder.0.join("metrics.csv");
        let log = fs::read_to_string(&path).unwrap();
        let header = "epoch,step,learning_rate,train_loss_step,train_acc_step,val_loss_epoch,val_acc_epoch,train_loss,train_acc\n";
        assert_eq!(log, header.to_owned() + &told.lines);

        let scores = epoch_scores(&path).unwrap();
        let pair = |score: &Score| (score.loss, accuracy(score));
        let found: Vec<_> = scores.iter().map(|s| (s.epoch, s.train, s.val)).collect();
        let expected: Vec<_> = told
            .epochs
            .iter()
            .map(|(stage, train, val, _)| (stage.epoch, pair(train), pair(val)))
            .collect();
        assert_eq!(found, expected);
    }
}

/// Of 33 rows in batches of 32 the last is alone: it is learned unless a batch norm needs two.
#[test]
fn a_last_row_alone_is_learned_where_no_batch_norm_needs_two() {
    for (layer, expected) in [(NORM, 32), ("identity(l1)", 33)] {
        let folder = Folder::new(&format!("alone-{expected}"));
        let mut graph = Graph::parse(&crate::NET.replace(NORM, layer)).unwrap();
        graph.initialize(4);
        let mut network = Network::new(graph, 1).unwrap();
        let (told, _) = Told::by(&mut network, 93, &config(&folder.0));
        assert_eq!(told.epochs[0].0.rows, expected, "{layer}");
    }
}

/// A run stopped after 11 updates and resumed with a checkpoint every 20 has 13 to go: time alone may add one at the end of
/// an epoch.
#[test]
fn updates_between_checkpoints_count_from_the_last_one() {
    let folder = Folder::new("between");
    crate::train(&config(&folder.0), 1, Some(11));
    let resumed = FitConfig {
        resume: true,
        save_every: Some(20),
        ..config(&folder.0)
    };
    let (told, outcome) = Told::by(&mut network(1), 310, &resumed);
    assert_eq!(outcome.steps, 24);
    assert!(told.saves <= 3, "{} saves", told.saves);
}

fn saved(outcome: &Outcome) -> Training {
    let checkpoint = interop::checkpoint::read(&outcome.last, None).unwrap();
    checkpoint.training.unwrap()
}

/// Lightning's `epoch` is the one that was last worked on.
#[test]
fn checkpoints_have_the_counters_of_lightning_and_the_optimizer() {
    let decay = 0.125;
    for (optimizer, name) in [
        (
            OptimizerKind::Adam {
                weight_decay: decay,
            },
            "adam",
        ),
        (
            OptimizerKind::AdamW {
                weight_decay: decay,
            },
            "adamw",
        ),
        (
            OptimizerKind::Sgd {
                momentum: 0.9,
                nesterov: false,
                weight_decay: decay,
            },
            "sgd",
        ),
    ] {
        for (stop_after, epoch, step) in [(None, 2, 24), (Some(11), 1, 11), (Some(16), 1, 16)] {
            let folder = Folder::new(&format!("counters-{name}-{step}"));
            let config = FitConfig {
                optimizer,
                ..config(&folder.0)
            };
            let (outcome, _) = crate::train(&config, 1, stop_after);
            let training = saved(&outcome);
            assert_eq!((training.epoch, training.global_step), (epoch, step));
            let state = training.optimizer.unwrap();
            assert_eq!((state.name.as_str(), state.steps), (name, step));
            assert_eq!(state.weight_decay, f64::from(decay));
            assert_eq!(state.learning_rate, config.schedule.rate(0.02, epoch));
            assert_eq!(training.hyper_parameters["weight_decay"], 0.125);
        }
    }
}

#[test]
fn a_run_that_is_stopped_before_its_first_batch_has_done_nothing() {
    let folder = Folder::new("at-once");
    let stop = AtomicBool::new(true);
    let mut network = network(1);
    let before = crate::bits(&network);
    let outcome = fit(
        &mut network,
        &dataset(310),
        &config(&folder.0),
        &stop,
        &mut |_| {},
    );
    let outcome = outcome.unwrap();
    assert!(stop.load(Ordering::Relaxed));
    assert_eq!(
        (outcome.steps, outcome.epochs, outcome.best_loss),
        (0, 0, None)
    );
    assert_eq!(crate::bits(&network), before);
}
