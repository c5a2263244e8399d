//! Where every buffer of a program lies.
//!
//! Time runs over both passes: step i of n runs forward at i and backward at 2n − 1 − i, and `end` is after everything.
//! A buffer exists from the step that makes it to the last that reads it.

use super::gradients::GradientFlow;
use super::outline::Outline;
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
    pub fn new(outline: &Outline, gradients: &GradientFlow) -> Self {
        let (values, saved) = values_and_saved(outline, gradients);
        let grads = gradient_lifetimes(outline, gradients);
        let all: Vec<Lifetime> = values.iter().chain(&grads).chain(&saved).copied().collect();
        let (mut spans, len) = place(&all);
        let saved = spans.split_off(values.len() + grads.len());
        let grads = spans.split_off(values.len());
        let (scratch_len, spill_len) = working_memory(outline, gradients);
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

fn backward_time(outline: &Outline, step: usize) -> usize {
    2 * outline.drafts.len() - 1 - step
}

fn end(outline: &Outline) -> usize {
    2 * outline.drafts.len()
}

fn values_and_saved(outline: &Outline, gradients: &GradientFlow) -> (Vec<Lifetime>, Vec<Lifetime>) {
    let made = |storage: &super::outline::Storage| {
        let first = storage.made_by.unwrap_or(0);
        Lifetime {
            len: storage.len,
            first,
            last: first,
        }
    };
    let mut values: Vec<Lifetime> = outline.storages.iter().map(made).collect();
    let mut saved = Vec::with_capacity(outline.drafts.len());
    for (at, draft) in outline.drafts.iter().enumerate() {
        let active = gradients.steps[at].active;
        let last = if active {
            backward_time(outline, at)
        } else {
            at
        };
        saved.push(Lifetime {
            len: draft.step.saved_len(),
            first: at,
            last,
        });
        for &slot in draft.inputs.iter().chain(&draft.outputs) {
            let value = &mut values[outline.storage(slot)];
            value.last = value.last.max(last);
        }
    }
    for &slot in outline.outputs.iter().chain(&outline.observed) {
        values[outline.storage(slot)].last = end(outline);
    }
    (values, saved)
}

/// A gradient exists from its first contribution to the step that made the value; that of a result from the start of the
/// backward pass, and that of an input to the end.
fn gradient_lifetimes(outline: &Outline, gradients: &GradientFlow) -> Vec<Lifetime> {
    let start = outline.drafts.len();
    let mut grads: Vec<Lifetime> = outline
        .storages
        .iter()
        .zip(&gradients.reached)
        .map(|(storage, &reached)| Lifetime {
            len: if reached { storage.len } else { 0 },
            first: start,
            last: storage
                .made_by
                .map_or(end(outline), |step| backward_time(outline, step)),
        })
        .collect();
    let is_result = |storage: usize| {
        outline
            .outputs
            .iter()
            .any(|&slot| outline.storage(slot) == storage)
    };
    for (at, draft) in outline.drafts.iter().enumerate() {
        for (&slot, contribution) in draft.inputs.iter().zip(&gradients.steps[at].inputs) {
            let storage = outline.storage(slot);
            if *contribution == Some(false) && !is_result(storage) {
                grads[storage].first = backward_time(outline, at);
            }
        }
    }
    grads
}

/// The largest working memory of any step, and the most that a step has to add to other gradients.
fn working_memory(outline: &Outline, gradients: &GradientFlow) -> (usize, usize) {
    let scratch = outline.drafts.iter().map(|draft| draft.step.scratch_len());
    let spill = outline
        .drafts
        .iter()
        .zip(&gradients.steps)
        .map(|(draft, flow)| {
            let added = draft.inputs.iter().zip(&flow.inputs);
            let added = added.filter(|(_, contribution)| **contribution == Some(true));
            let lengths = added.map(|(&slot, _)| outline.storages[outline.storage(slot)].len);
            lengths.sum::<usize>()
        });
    (scratch.max().unwrap_or(0), spill.max().unwrap_or(0))
}
