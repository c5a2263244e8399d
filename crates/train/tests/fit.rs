//! A run that is stopped, killed or divided ends as one that was not.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod augmentation;
mod learners;
mod profiled;
mod resumption;
mod told;

use data::{Dataset, Info, Rows, Split};
use engine::{Network, OptimizerKind};
use ir::{Graph, Tensor};
use random::Random;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use train::{
    Augment, Cosine, Ending, Event, FitConfig, Outcome, TrainError, evaluate, finished, fit,
    load_weights,
};

const NET: &str = r#"graph "net" {
  x: f32[N, 6] = placeholder
  l1 = linear(x) { target = "l1", in_features = 6, out_features = 12 }
  b1 = batch_norm1d(l1) { target = "b1", num_features = 12 }
  r1 = relu(b1) { target = "r1" }
  d1 = dropout(r1) { target = "d1", p = 0.2 }
  l2 = linear(d1) { target = "l2", in_features = 12, out_features = 3 }
  return l2
}"#;

/// Rows whose class is the largest of their first three features.
fn dataset(rows: u32) -> Dataset {
    let random = Random::new(1, "rows");
    let values: Vec<f32> = (0..u64::from(rows) * 6).map(|k| random.normal(k)).collect();
    let largest = |row: &[f32]| (0..3).max_by(|&a, &b| row[a].total_cmp(&row[b])).unwrap() as u32;
    let labels = values.chunks(6).map(largest).collect();
    let all = Arc::new(Rows {
        values,
        labels,
        width: 6,
    });
    let split = |range: std::ops::Range<u32>| Split::new(Arc::clone(&all), range.collect());
    let info = Info {
        name: "largest".into(),
        sample_shape: vec![6],
        classes: vec!["a".into(), "b".into(), "c".into()],
        features: Vec::new(),
        source: "the test".into(),
        hash: 0,
        scaling: data::Scaling::None,
    };
    Dataset {
        info,
        train: split(0..rows - 60),
        val: split(rows - 60..rows - 30),
        test: split(rows - 30..rows),
    }
}

/// The network with every third weight and input of its layers pruned.
fn pruned() -> Graph {
    let mut graph = Graph::parse(NET).unwrap();
    graph.initialize(4);
    for (node, port, shape) in [
        ("l1", "weight", vec![12, 6]),
        ("l1", "data_in_0", vec![6]),
        ("l2", "weight", vec![3, 12]),
        ("l2", "data_in_0", vec![12]),
    ] {
        let n: usize = shape.iter().product();
        let values = (0..n).map(|i| f32::from(u8::from(i % 3 != 1)));
        let mask = Tensor::new(shape, values.collect()).unwrap();
        let id = graph.find(node).unwrap();
        graph.node_mut(id).set_mask(port, mask);
    }
    graph
}

/// The config with another number of epochs, and a schedule over all of them.
fn epochs(count: u64, folder: &Path) -> FitConfig {
    FitConfig {
        max_epochs: count,
        schedule: Cosine {
            t_max: count,
            eta_min: 1e-6,
        },
        ..config(folder)
    }
}

fn network(threads: usize) -> Network {
    let mut graph = Graph::parse(NET).unwrap();
    graph.initialize(4);
    Network::new(graph, threads).unwrap()
}

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("mase-train-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn config(folder: &Path) -> FitConfig {
    FitConfig {
        batch_size: 32,
        max_epochs: 3,
        max_steps: None,
        optimizer: OptimizerKind::Adam { weight_decay: 0.0 },
        learning_rate: 0.02,
        schedule: Cosine {
            t_max: 3,
            eta_min: 1e-6,
        },
        accumulate: 1,
        seed: 7,
        shuffle: true,
        augment: Augment::NONE,
        log_every: 2,
        save_every: None,
        folder: folder.to_owned(),
        tensorboard: true,
        resume: false,
        hyper_parameters: serde_json::Map::new(),
        fixed: serde_json::Map::new(),
    }
}

fn bits(network: &Network) -> Vec<u32> {
    network
        .state()
        .iter()
        .flat_map(|(_, values)| values.iter().map(|v| v.to_bits()))
        .collect()
}

/// Trains; stops after the given number of batches, if any.
fn train(config: &FitConfig, threads: usize, stop_after: Option<usize>) -> (Outcome, Vec<u32>) {
    train_on(&mut network(threads), config, stop_after)
}

fn train_on(
    network: &mut Network,
    config: &FitConfig,
    stop_after: Option<usize>,
) -> (Outcome, Vec<u32>) {
    train_rows(network, &dataset(310), config, stop_after)
}

fn train_rows(
    network: &mut Network,
    data: &Dataset,
    config: &FitConfig,
    stop_after: Option<usize>,
) -> (Outcome, Vec<u32>) {
    let stop = AtomicBool::new(false);
    let mut batches = 0;
    let outcome = fit(network, data, config, &stop, &mut |event| {
        if matches!(event, Event::Batch(_)) {
            batches += 1;
            stop.store(Some(batches) == stop_after, Ordering::Relaxed);
        }
    });
    (outcome.unwrap(), bits(network))
}

#[test]
fn a_run_stopped_anywhere_and_resumed_ends_with_the_same_bits() {
    for accumulate in [1, 3] {
        let whole_folder = Folder::new(&format!("whole-{accumulate}"));
        let whole_config = FitConfig {
            accumulate,
            ..config(&whole_folder.0)
        };
        let (whole, expected) = train(&whole_config, 1, None);
        assert_eq!(whole.ending, Ending::Done);
        let metrics = fs::read_to_string(whole_folder.0.join("metrics.csv")).unwrap();
        let mut stopped = 0;
        for stop_after in 1..24 {
            let folder = Folder::new(&format!("stop-{accumulate}-{stop_after}"));
            let config = FitConfig {
                accumulate,
                ..config(&folder.0)
            };
            let (outcome, _) = train(&config, 1, Some(stop_after));
            stopped += usize::from(outcome.ending == Ending::Stopped);
            let resumed = FitConfig {
                resume: outcome.ending == Ending::Stopped,
                ..config
            };
            let (outcome, got) = train(&resumed, 1, None);
            assert_eq!(
                outcome.best_loss, whole.best_loss,
                "stopped after {stop_after}"
            );
            assert_eq!(got, expected, "stopped after {stop_after}");
            let log = fs::read_to_string(folder.0.join("metrics.csv")).unwrap();
            assert_eq!(log, metrics, "stopped after {stop_after}");
        }
        assert!(stopped >= 5, "only {stopped} runs were stopped");
    }
}

/// The masks are in the checkpoint: the run goes on with them even from a network that has none, or has others.
#[test]
fn a_pruned_run_goes_on_pruned() {
    for optimizer in [
        OptimizerKind::Adam { weight_decay: 0.1 },
        OptimizerKind::AdamW { weight_decay: 0.1 },
        OptimizerKind::Sgd {
            momentum: 0.9,
            nesterov: true,
            weight_decay: 0.1,
        },
    ] {
        let folder = Folder::new("pruned-whole");
        let whole = FitConfig {
            optimizer,
            ..config(&folder.0)
        };
        let mut network = Network::new(pruned(), 1).unwrap();
        let (outcome, expected) = train_on(&mut network, &whole, None);
        assert_eq!(outcome.ending, Ending::Done);
        let trained = network.to_graph();
        ir::verify(&trained).unwrap_or_else(|error| panic!("{error}"));
        assert!(trained.masks().eq(pruned().masks()));
        let pruned_weights = |graph: &Graph| {
            let layers = graph
                .nodes()
                .iter()
                .filter_map(|node| node.params.get("weight"));
            layers
                .flat_map(|t| t.values().to_vec())
                .filter(|v| *v == 0.0)
                .count()
        };
        assert_eq!(pruned_weights(&trained), 24 + 12);

        let mut dense = Graph::parse(NET).unwrap();
        dense.initialize(4);
        let mut other = pruned();
        let l1 = other.find("l1").unwrap();
        other.node_mut(l1).masks.clear();
        for (k, start) in [pruned(), dense, other].into_iter().enumerate() {
            let folder = Folder::new(&format!("pruned-{k}"));
            let stopped = FitConfig {
                optimizer,
                ..config(&folder.0)
            };
            let mut network = Network::new(pruned(), 1).unwrap();
            let (outcome, _) = train_on(&mut network, &stopped, Some(11));
            assert_eq!(outcome.ending, Ending::Stopped);
            let resumed = FitConfig {
                resume: true,
                ..stopped
            };
            let mut network = Network::new(start, 1).unwrap();
            let (_, got) = train_on(&mut network, &resumed, None);
            assert_eq!(got, expected, "start {k}, {optimizer:?}");
            assert!(network.to_graph().masks().eq(trained.masks()), "start {k}");
        }
    }
}

#[test]
fn threads_do_not_change_the_weights() {
    let (one, two) = (Folder::new("one"), Folder::new("two"));
    assert_eq!(
        train(&config(&one.0), 1, None).1,
        train(&config(&two.0), 2, None).1
    );
}

#[test]
fn the_best_checkpoint_has_the_best_validation_loss_and_it_learned() {
    let folder = Folder::new("best");
    let (outcome, _) = train(&epochs(12, &folder.0), 1, None);
    let best = interop::checkpoint::read(&outcome.best, None).unwrap();
    let mut network = network(1);
    load_weights(&mut network, &best.tensors).unwrap();
    let data = dataset(310);
    let score = evaluate(&mut network, &data.val).unwrap();
    assert!((score.loss - outcome.best_loss.unwrap()).abs() < 1e-12);
    let test = evaluate(&mut network, &data.test).unwrap();
    assert!(test.correct >= 21, "{} of 30 right", test.correct);
}

#[test]
fn a_diverging_loss_ends_the_run_and_keeps_the_best_weights() {
    let folder = Folder::new("diverge");
    let (outcome, _) = train(&epochs(1, &folder.0), 1, None);
    let good = fs::read(&outcome.best).unwrap();
    let wild = OptimizerKind::Sgd {
        momentum: 0.9,
        nesterov: true,
        weight_decay: 0.0,
    };
    let mut graph = Graph::parse(&NET.replace(
        "b1 = batch_norm1d(l1) { target = \"b1\", num_features = 12 }",
        "b1 = identity(l1)",
    ))
    .unwrap();
    graph.initialize(0);
    let mut network = Network::new(graph, 1).unwrap();
    let other = Folder::new("diverge-now");
    let config = FitConfig {
        optimizer: wild,
        learning_rate: 1e30,
        ..config(&other.0)
    };
    let outcome = fit(
        &mut network,
        &dataset(310),
        &config,
        &AtomicBool::new(false),
        &mut |_| {},
    )
    .unwrap();
    assert_eq!(outcome.ending, Ending::Diverged);
    let last = interop::checkpoint::read(&outcome.last, None).unwrap();
    let mut saved = last.tensors.iter().flat_map(|tensor| &tensor.values);
    assert!(
        saved.all(|value| value.is_finite()),
        "weights that are not numbers must not be saved"
    );
    assert_eq!(
        fs::read(folder.0.join("training_ckpts/best.ckpt")).unwrap(),
        good
    );
}

/// The error of a training that must fail.
fn failure(config: &FitConfig) -> TrainError {
    let stop = AtomicBool::new(false);
    fit(&mut network(1), &dataset(310), config, &stop, &mut |_| {}).unwrap_err()
}

#[test]
fn a_folder_that_cannot_be_written_is_an_error_with_its_name() {
    let folder = Folder::new("file");
    let file = folder.0.join("plain");
    fs::write(&file, "x").unwrap();
    let error = failure(&config(&file));
    assert!(error.to_string().contains("plain"), "{error}");
}

#[test]
fn a_run_without_a_checkpoint_starts_from_the_beginning_with_a_note() {
    let (folder, whole) = (Folder::new("none-yet"), Folder::new("none-whole"));
    let resumed = FitConfig {
        resume: true,
        ..config(&folder.0)
    };
    let (mut network, stop) = (network(1), AtomicBool::new(false));
    let mut notes = Vec::new();
    let data = dataset(310);
    assert_eq!(finished(&network, &data, &resumed).unwrap(), None);
    fit(&mut network, &data, &resumed, &stop, &mut |event| {
        if let Event::Note(note) = event {
            notes.push((*note).to_owned());
        }
    })
    .unwrap();
    assert!(notes[0].ends_with("starts from the beginning"), "{notes:?}");
    assert_eq!(bits(&network), train(&config(&whole.0), 1, None).1);
}

#[test]
fn a_foreign_checkpoint_cannot_be_resumed() {
    let folder = Folder::new("foreign");
    let resumed = FitConfig {
        resume: true,
        ..config(&folder.0)
    };
    let (outcome, _) = train(&config(&folder.0), 1, None);
    let mut checkpoint = interop::checkpoint::read(&outcome.last, None).unwrap();
    checkpoint.training.as_mut().unwrap().resume = serde_json::Value::Null;
    interop::checkpoint::write(&outcome.last, &checkpoint).unwrap();
    let error = failure(&resumed);
    assert!(error.to_string().contains("cannot go on"), "{error}");
}

/// A copy of every file as it is now: what a kill at this moment leaves.
fn copy_files(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy_files(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// Checkpoints come at the start and every so many steps, within an epoch too; what a kill leaves at any batch, even
/// between the files of one save, goes on to the same bits and the same log.
#[test]
fn a_run_killed_at_any_batch_loses_the_steps_since_its_checkpoint_and_no_more() {
    // The last ends at a step of a checkpoint, within an epoch.
    for (accumulate, save_every, max_steps) in
        [(1, 3, None), (2, 1, None), (3, 2, None), (1, 3, Some(15))]
    {
        let name = format!("{accumulate}-{}", max_steps.unwrap_or(0));
        let folder = Folder::new(&format!("kills-{name}"));
        let copies = Folder::new(&format!("kill-copies-{name}"));
        let config = FitConfig {
            accumulate,
            save_every: Some(save_every),
            max_steps,
            ..config(&folder.0)
        };
        let (mut network, stop) = (network(1), AtomicBool::new(false));
        let mut moments: Vec<(PathBuf, u64)> = Vec::new();
        let mut step = 0;
        let whole = fit(&mut network, &dataset(310), &config, &stop, &mut |event| {
            if let Event::Batch(stage) = event {
                step = stage.step;
            }
            let copy = copies.0.join(moments.len().to_string());
            copy_files(&folder.0, &copy);
            moments.push((copy, step));
        })
        .unwrap();
        let expected = bits(&network);
        let metrics = fs::read_to_string(folder.0.join("metrics.csv")).unwrap();
        for (k, (copy, step)) in moments.iter().enumerate() {
            let last = interop::checkpoint::read(&copy.join("training_ckpts/last.ckpt"), None);
            if let Ok(last) = &last {
                let saved = last.training.as_ref().unwrap().global_step;
                assert!(step - saved <= save_every + 1, "{k}: {step} after {saved}");
            }
            let resumed = FitConfig {
                resume: true,
                folder: copy.clone(),
                ..config.clone()
            };
            let (outcome, got) = train(&resumed, 1, None);
            assert!(got == expected, "moment {k}, {name}");
            assert_eq!(outcome.best_loss, whole.best_loss, "moment {k}, {name}");
            let log = fs::read_to_string(copy.join("metrics.csv")).unwrap();
            assert_eq!(log, metrics, "moment {k}, {name}");
        }
    }
}

#[test]
fn a_run_that_a_number_of_steps_ended_goes_on_within_its_epoch() {
    let (folder, whole) = (Folder::new("steps"), Folder::new("steps-whole"));
    let some = FitConfig {
        max_steps: Some(11),
        ..config(&folder.0)
    };
    let (outcome, _) = train(&some, 1, None);
    assert_eq!((outcome.steps, outcome.epochs), (11, 2));
    let resumed = FitConfig {
        resume: true,
        ..some.clone()
    };
    let done = finished(&network(1), &dataset(310), &resumed).unwrap();
    assert_eq!(
        done,
        Some(Outcome {
            train_loss: None,
            ..outcome
        })
    );
    let more = FitConfig {
        max_steps: None,
        ..resumed
    };
    assert_eq!(finished(&network(1), &dataset(310), &more).unwrap(), None);
    let (_, got) = train(&more, 1, None);
    assert_eq!(got, train(&config(&whole.0), 1, None).1);
}

/// Frames of an event file: every length and message carries its checksum.
#[test]
fn event_files_are_whole_frames_with_the_logged_values() {
    let folder = Folder::new("events");
    train(&config(&folder.0), 1, None);
    let file = fs::read_dir(folder.0.join("tensorboard/version_0"))
        .unwrap()
        .next()
        .unwrap()
        .unwrap();
    let bytes = fs::read(file.path()).unwrap();
    let mut rest = bytes.as_slice();
    let mut frames = 0;
    while !rest.is_empty() {
        let length = u64::from_le_bytes(rest[..8].try_into().unwrap()) as usize;
        rest = &rest[12 + length + 4..];
        frames += 1;
    }
    assert!(frames > 20, "{frames} frames");
    for tag in [
        "train_loss_step",
        "val_acc_epoch",
        "lr-Adam",
        "brain.Event:2",
    ] {
        assert!(
            bytes
                .windows(tag.len())
                .any(|window| window == tag.as_bytes()),
            "{tag}"
        );
    }
}
