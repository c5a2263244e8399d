//! Notes and refusals of a run that is resumed, and of one that cannot begin.

use crate::{Folder, NET, config, dataset, failure, network};
use data::{Dataset, Rows, Split};
use engine::{Network, OptimizerKind};
use interop::checkpoint::{Checkpoint, Kind};
use ir::Graph;
use serde_json::{Map, Value as Json, json};
use std::fs;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use train::{Cosine, Event, FitConfig, epoch_scores, fit};

/// A run that was stopped in its second epoch, and the config that resumes it.
fn stopped(name: &str) -> (Folder, FitConfig) {
    let folder = Folder::new(name);
    crate::train(&config(&folder.0), 1, Some(11));
    let resumed = FitConfig {
        resume: true,
        ..config(&folder.0)
    };
    (folder, resumed)
}

fn cosine(t_max: u64, eta_min: f64) -> Cosine {
    Cosine { t_max, eta_min }
}

fn map(values: &Json) -> Map<String, Json> {
    values.as_object().unwrap().clone()
}

#[test]
fn a_resumed_run_notes_the_settings_that_it_changes() {
    let longer = |t_max| {
        move |config: FitConfig| FitConfig {
            max_epochs: 5,
            schedule: cosine(t_max, 1e-6),
            ..config
        }
    };
    let same: &dyn Fn(FitConfig) -> FitConfig = &|config| config;
    let others: &dyn Fn(FitConfig) -> FitConfig = &|config| FitConfig {
        hyper_parameters: map(&json!({ "report_to": "none", "num_workers": 2, "note": "mine" })),
        ..config
    };
    let cases = [
        (same, None),
        (
            &longer(5),
            Some("max_epochs 5 instead of 3, over which the learning rate falls from here on"),
        ),
        (&longer(3), Some("max_epochs 5 instead of 3")),
        (
            others,
            Some("report_to none instead of not given, num_workers 2 instead of not given"),
        ),
    ];
    for (change, expected) in cases {
        let (_folder, resumed) = stopped("notes");
        let (mut notes, stop) = (Vec::new(), AtomicBool::new(false));
        let config = change(resumed);
        fit(&mut network(1), &dataset(310), &config, &stop, &mut |e| {
            if let Event::Note(note) = e {
                notes.push((*note).to_owned());
            }
        })
        .unwrap();
        let expected = expected.map(|text| format!("the run goes on with {text}"));
        assert_eq!(notes, expected.into_iter().collect::<Vec<_>>());
    }
}

#[test]
fn a_run_with_other_rows_or_arithmetic_is_refused_with_both_values() {
    let (_folder, resumed) = stopped("refusals");
    let of = |change: &dyn Fn(&mut FitConfig)| {
        let mut config = resumed.clone();
        change(&mut config);
        config
    };
    let path = resumed.folder.join("training_ckpts/last.ckpt");
    let path = path.display();
    for (config, expected) in [
        (
            of(&|c| c.batch_size = 16),
            format!("batch_size is 32 in {path} and 16 now"),
        ),
        (
            of(&|c| c.accumulate = 2),
            format!("accumulate_grad_batches is 1 in {path} and 2 now"),
        ),
        (
            of(&|c| c.seed = 8),
            format!("seed is 7 in {path} and 8 now"),
        ),
        (
            of(&|c| c.shuffle = false),
            format!("no_shuffle is false in {path} and true now"),
        ),
        (
            of(&|c| c.optimizer = OptimizerKind::AdamW { weight_decay: 0.1 }),
            format!(
                "training_optimizer is adam in {path} and adamw now, weight_decay is 0.0 there and 0.1 now"
            ),
        ),
        (
            of(&|c| c.learning_rate = 0.03),
            format!("learning_rate is 0.02 in {path} and 0.03 now"),
        ),
        (
            of(&|c| c.schedule = cosine(4, 1e-6)),
            format!("t_max is 3 in {path} and 4 now"),
        ),
        (
            of(&|c| c.schedule = cosine(3, 0.5)),
            format!("eta_min is 1e-6 in {path} and 0.5 now"),
        ),
        (
            of(&|c| c.fixed = map(&json!({ "add_noise": true }))),
            format!("add_noise is not given in {path} and true now"),
        ),
    ] {
        let error = failure(&config).to_string();
        let advice = "; a resumed run keeps what decides its rows and its arithmetic, so leave that as it was or start a new run";
        assert_eq!(error, expected + advice);
    }
}

/// A schedule of fewer epochs than the run's does not follow a longer run.
#[test]
fn a_schedule_follows_the_epochs_only_where_it_spans_them_all() {
    let folder = Folder::new("short-schedule");
    let short = FitConfig {
        schedule: cosine(2, 1e-6),
        ..config(&folder.0)
    };
    crate::train(&short, 1, Some(11));
    let longer = FitConfig {
        max_epochs: 5,
        schedule: cosine(5, 1e-6),
        resume: true,
        ..short
    };
    let error = failure(&longer).to_string();
    assert!(error.starts_with("t_max is 2 in"), "{error}");
}

#[test]
fn a_run_on_another_network_or_other_data_is_refused() {
    let (_folder, resumed) = stopped("others");
    let stop = AtomicBool::new(false);
    let mut data = dataset(310);
    data.info.hash = 0xabc;
    let error = fit(&mut network(1), &data, &resumed, &stop, &mut |_| {}).unwrap_err();
    let expected = "data_hash is 0000000000000000 in";
    assert!(error.to_string().starts_with(expected), "{error}");
    assert!(error.to_string().contains("and 0000000000000abc now"));

    let mut other = Graph::parse(&NET.replace("p = 0.2", "p = 0.3")).unwrap();
    other.initialize(4);
    let mut other = Network::new(other, 1).unwrap();
    let error = fit(&mut other, &dataset(310), &resumed, &stop, &mut |_| {}).unwrap_err();
    assert!(error.to_string().starts_with("graph_hash is "), "{error}");
}

/// A change to a checkpoint.
type Change = fn(&mut Checkpoint);

#[test]
fn a_checkpoint_without_its_training_cannot_be_resumed() {
    let cases: [(Change, &str); 3] = [
        (
            |checkpoint| checkpoint.kind = Kind::StateDict,
            "it does not say where training stood",
        ),
        (
            |checkpoint| checkpoint.training.as_mut().unwrap().optimizer = None,
            "it has no optimizer state",
        ),
        (
            |checkpoint| {
                let training = checkpoint.training.as_mut().unwrap();
                training.optimizer.as_mut().unwrap().first.pop();
            },
            "its optimizer state does not fit the network and the optimizer",
        ),
    ];
    for (change, why) in cases {
        let (folder, resumed) = stopped("parts");
        let path = folder.0.join("training_ckpts/last.ckpt");
        let mut checkpoint = interop::checkpoint::read(&path, None).unwrap();
        change(&mut checkpoint);
        interop::checkpoint::write(&path, &checkpoint).unwrap();
        let error = failure(&resumed).to_string();
        assert!(
            error.ends_with(&format!("cannot go on from this checkpoint: {why}")),
            "{error}"
        );
    }
}

#[test]
fn data_that_cannot_be_trained_on_is_an_error_with_its_name() {
    let narrow = Arc::new(Rows {
        values: vec![0.0; 5 * 40],
        labels: vec![0; 40],
        width: 5,
    });
    let narrow = Split::new(narrow, (0..40).collect());
    for (data, expected) in [
        (dataset(60), "dataset largest has no training rows"),
        (
            Dataset {
                val: dataset(310).val.head(0),
                ..dataset(310)
            },
            "dataset largest has no validation rows",
        ),
        (
            Dataset {
                train: narrow.clone(),
                val: narrow,
                ..dataset(310)
            },
            "dataset largest has rows of 5 values, but the network takes 6",
        ),
    ] {
        let folder = Folder::new("unfit");
        let stop = AtomicBool::new(false);
        let error = fit(
            &mut network(1),
            &data,
            &config(&folder.0),
            &stop,
            &mut |_| {},
        );
        assert_eq!(error.unwrap_err().to_string(), expected);
    }
}

#[test]
fn a_damaged_log_is_refused_with_its_line() {
    let folder = Folder::new("damaged-log");
    let path = folder.0.join("metrics.csv");
    assert_eq!(epoch_scores(&path).unwrap(), []);
    let header = "epoch,step,learning_rate,train_loss_step,train_acc_step,val_loss_epoch,val_acc_epoch,train_loss,train_acc\n";
    let step = "0,2,0.5,0.25,0.75,,,,\n";
    let epoch = "0,8,0.5,,,0.5,0.25,1.5,0.125\n";
    let damaged: [(&[u8], &str); 7] = [
        (b"0,8\n", "is not a line of metrics"),
        (b"0,8,0.5,,,0.5,0.25,1.5\n", "is not a line of metrics"),
        (
            b"0,8,0.5,,,0.5,0.25,1.5,0.125,1\n",
            "is not a line of metrics",
        ),
        (b"0,8,0.5,0.25,,,,,\n", "is not a line of metrics"),
        (b"0,8,0.5,,0.25,,,,\n", "is not a line of metrics"),
        (
            b"-1,8,0.5,,,0.5,0.25,1.5,0.125\n",
            "is not a line of metrics",
        ),
        (b"0,8,\xff,,,0.5,0.25,1.5,0.125\n", "is not UTF-8 at byte 5"),
    ];
    for (line, problem) in damaged {
        fs::write(&path, [header.as_bytes(), step.as_bytes(), line].concat()).unwrap();
        let error = epoch_scores(&path).unwrap_err().to_string();
        assert!(error.contains(&format!("line 3 {problem}; ")), "{error}");
    }
    // What a kill has cut is left out.
    fs::write(&path, format!("{header}{step}{epoch}1,9,0.")).unwrap();
    let [scores] = epoch_scores(&path).unwrap()[..] else {
        panic!("one epoch")
    };
    assert_eq!(
        (scores.epoch, scores.train, scores.val),
        (0, (1.5, 0.125), (0.5, 0.25))
    );
    let error = epoch_scores(&folder.0).unwrap_err().to_string();
    assert!(error.starts_with("cannot read "), "{error}");
}
