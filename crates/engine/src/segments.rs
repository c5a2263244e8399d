//! The stretches of a program between reductions over the whole batch.

use crate::shard::Program;
use std::ops::Range;

/// Steps that a shard runs without waiting for the others.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Segment {
    /// The step whose second half comes first.
    pub finish: Option<usize>,
    /// The steps to run; the last one may be only half done after it.
    pub steps: Range<usize>,
    /// The step to reduce over the shards at the end.
    pub combine: Option<usize>,
}

/// All stretches of both passes, each in the order it runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Segments {
    pub forward: Vec<Segment>,
    pub backward: Vec<Segment>,
}

impl Segments {
    pub fn of(program: &Program) -> Self {
        let whole = |at: &usize| program.steps[*at].0.whole_batch().is_some();
        let n = program.steps.len();
        let mut segments = Self::default();
        let (mut start, mut finish) = (0, None);
        for at in (0..n).filter(whole) {
            segments.forward.push(Segment {
                finish,
                steps: start..at + 1,
                combine: Some(at),
            });
            (start, finish) = (at + 1, Some(at));
        }
        segments.forward.push(Segment {
            finish,
            steps: start..n,
            combine: None,
        });
        let (mut end, mut finish) = (n, None);
        for at in (0..n)
            .rev()
            .filter(whole)
            .filter(|&at| program.steps[at].1.has_backward)
        {
            segments.backward.push(Segment {
                finish,
                steps: at..end,
                combine: Some(at),
            });
            (end, finish) = (at, Some(at));
        }
        segments.backward.push(Segment {
            finish,
            steps: 0..end,
            combine: None,
        });
        segments
    }
}
