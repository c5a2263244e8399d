//! The counters with which Lightning's loops go on.

use super::super::Training;
use crate::pickle::Out;

const BATCH: &[&str] = &["ready", "completed", "started", "processed"];
const STEP: &[&str] = &["ready", "completed"];
const ZERO_GRAD: &[&str] = &["ready", "completed", "started"];

/// The entry `loops`: a training that stands at the end of its epoch.
pub fn loops(training: &Training) -> Out {
    Out::dict([
        ("fit_loop", fit_loop(training)),
        ("validate_loop", other_loop(true)),
        ("test_loop", other_loop(true)),
        ("predict_loop", other_loop(false)),
    ])
}

fn fit_loop(training: &Training) -> Out {
    let steps = training.global_step;
    let optimizer = Out::dict([
        ("step", progress(STEP, steps)),
        ("zero_grad", progress(ZERO_GRAD, steps)),
    ]);
    Out::dict([
        ("state_dict", Out::dict([])),
        ("epoch_loop.state_dict", batches_that_stepped(steps)),
        ("epoch_loop.batch_progress", batches(steps, true)),
        (
            "epoch_loop.scheduler_progress",
            progress(STEP, training.epoch.saturating_add(1)),
        ),
        (
            "epoch_loop.automatic_optimization.state_dict",
            Out::dict([]),
        ),
        (
            "epoch_loop.automatic_optimization.optim_progress",
            Out::dict([("optimizer", optimizer)]),
        ),
        ("epoch_loop.manual_optimization.state_dict", Out::dict([])),
        (
            "epoch_loop.manual_optimization.optim_step_progress",
            progress(STEP, 0),
        ),
        ("epoch_loop.val_loop.state_dict", Out::dict([])),
        ("epoch_loop.val_loop.batch_progress", batches(0, true)),
        ("epoch_progress", epochs(training.epoch)),
    ])
}

fn other_loop(with_last: bool) -> Out {
    let batches = if with_last {
        batches(0, false)
    } else {
        progress(BATCH, 0)
    };
    Out::dict([("state_dict", Out::dict([])), ("batch_progress", batches)])
}

fn batches_that_stepped(steps: u64) -> Out {
    Out::dict([("_batches_that_stepped", Out::Int(i128::from(steps)))])
}

/// All counters of a progress at `count`.
fn progress(counters: &[&str], count: u64) -> Out {
    Out::dict([
        ("total", tracker(counters, |_| count)),
        ("current", tracker(counters, |_| count)),
    ])
}

fn batches(count: u64, is_last: bool) -> Out {
    Out::dict([
        ("total", tracker(BATCH, |_| count)),
        ("current", tracker(BATCH, |_| count)),
        ("is_last_batch", Out::Bool(is_last)),
    ])
}

/// The epoch is processed but not yet completed when Lightning saves.
fn epochs(epoch: u64) -> Out {
    let count = |counter: &str| {
        if counter == "completed" {
            epoch
        } else {
            epoch.saturating_add(1)
        }
    };
    Out::dict([
        ("total", tracker(BATCH, count)),
        ("current", tracker(BATCH, count)),
    ])
}

fn tracker(counters: &[&str], count: impl Fn(&str) -> u64) -> Out {
    let entry = |counter: &&str| (Out::text(*counter), Out::Int(i128::from(count(counter))));
    Out::Dict(counters.iter().map(entry).collect())
}
