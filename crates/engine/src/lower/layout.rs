//! The layout of the buffers of a program.
//!
//! Time runs over both passes: step i of n runs forward at i and backward at 2n − 1 − i, and `end` is after everything.
//! A buffer exists from the step that makes it to the last that reads it.

use super::gradients::GradientFlow;
use super::schedule::Schedule;
use crate::arena::{ALIGNMENT, Lifetime, Span, place};

/// The place of everything in one arena.
pub(super) struct Layout {
    /// Per storage: its values.
    pub values: Vec<Span>,
    /// Per storage: its gradient; empty where none is wanted.
    pub grads: Vec<Span>,
    /// Per step: what it keeps for its backward pass.
    pub saved: Vec<Span>,
    /// Working memory, the same for all steps.
    pub scratch: Span,
    /// Room for gradients that have to be added to others.
    pub spill: Span,
    /// Elements in all.
    pub len: usize,
}

impl Layout {
    pub fn new(schedule: &Schedule, gradients: &GradientFlow) -> Self {
        let (values, saved) = values_and_saved(schedule, gradients);
        let grads = gradient_lifetimes(schedule, gradients);
        let all: Vec<Lifetime> = values.iter().chain(&grads).chain(&saved).copied().collect();
        let (mut spans, len) = place(&all);
        let saved = spans.split_off(values.len() + grads.len());
        let grads = spans.split_off(values.len());
        let (scratch_len, spill_len) = working_memory(schedule, gradients);
        let scratch = len..len + scratch_len;
        let spill_start = scratch.end.next_multiple_of(ALIGNMENT);
        let spill = spill_start..spill_start + spill_len;
        Self {
            values: spans,
            grads,
            saved,
            scratch,
            len: spill.end,
            spill,
        }
    }
}

fn backward_time(schedule: &Schedule, step: usize) -> usize {
    2 * schedule.steps.len() - 1 - step
}

fn end(schedule: &Schedule) -> usize {
    2 * schedule.steps.len()
}

fn values_and_saved(
    schedule: &Schedule,
    gradients: &GradientFlow,
) -> (Vec<Lifetime>, Vec<Lifetime>) {
    let made = |storage: &super::schedule::Storage| {
        let first = storage.made_by.unwrap_or(0);
        Lifetime {
            len: storage.len,
            first,
            last: first,
        }
    };
    let mut values: Vec<Lifetime> = schedule.storages.iter().map(made).collect();
    let mut saved = Vec::with_capacity(schedule.steps.len());
    for (at, step) in schedule.steps.iter().enumerate() {
        let active = gradients.steps[at].active;
        let last = if active {
            backward_time(schedule, at)
        } else {
            at
        };
        saved.push(Lifetime {
            len: step.step.saved_len(),
            first: at,
            last,
        });
        for &slot in step.inputs.iter().chain(&step.outputs) {
            let value = &mut values[schedule.storage(slot)];
            value.last = value.last.max(last);
        }
    }
    for &slot in schedule.outputs.iter().chain(&schedule.observed) {
        values[schedule.storage(slot)].last = end(schedule);
    }
    (values, saved)
}

/// A gradient exists from its first contribution to the step that made the value; that of a result from the start of the
/// backward pass, and that of an input to the end.
fn gradient_lifetimes(schedule: &Schedule, gradients: &GradientFlow) -> Vec<Lifetime> {
    let start = schedule.steps.len();
    let mut grads: Vec<Lifetime> = schedule
        .storages
        .iter()
        .zip(&gradients.reached)
        .map(|(storage, &reached)| Lifetime {
            len: if reached { storage.len } else { 0 },
            first: start,
            last: storage
                .made_by
                .map_or(end(schedule), |step| backward_time(schedule, step)),
        })
        .collect();
    let is_result = |storage: usize| {
        schedule
            .outputs
            .iter()
            .any(|&slot| schedule.storage(slot) == storage)
    };
    for (at, step) in schedule.steps.iter().enumerate() {
        for (&slot, contribution) in step.inputs.iter().zip(&gradients.steps[at].inputs) {
            let storage = schedule.storage(slot);
            if *contribution == Some(false) && !is_result(storage) {
                grads[storage].first = backward_time(schedule, at);
            }
        }
    }
    grads
}

/// The largest working memory of any step, and the most that a step has to add to other gradients.
fn working_memory(schedule: &Schedule, gradients: &GradientFlow) -> (usize, usize) {
    let scratch = schedule.steps.iter().map(|step| step.step.scratch_len());
    let spill = schedule
        .steps
        .iter()
        .zip(&gradients.steps)
        .map(|(step, flow)| {
            let added = step.inputs.iter().zip(&flow.inputs);
            let added = added.filter(|(_, contribution)| **contribution == Some(true));
            let lengths = added.map(|(&slot, _)| schedule.storages[schedule.storage(slot)].len);
            lengths.sum::<usize>()
        });
    (scratch.max().unwrap_or(0), spill.max().unwrap_or(0))
}
