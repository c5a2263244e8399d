//! The loss that calibration lowers: the distance of the network's answers from those without rounding.

use crate::PassError;
use crate::transform::walk::{Walk, outputs};
use data::Split;
use engine::Plan;
use ir::{Graph, Verified, verify};
use kernels::softmax::{log_softmax, softmax};
use std::ops::RangeInclusive;

/// The distance of answers that is the loss of a network that classifies; the loss of any other is the squared error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Distance {
    /// Kullback-Leibler divergence of the classes at the temperature that suits best, so that it is no use to answer the
    /// same to every row, which a network with wrong scales could gain by.
    #[default]
    Tempered,
    /// Kullback-Leibler divergence of the classes.
    Divergence,
    /// Cross-entropy with the labels of the rows, whatever the network without rounding says.
    Labels,
    /// Squared error of the scores relative to their squares.
    Squared,
}

/// The answers of the network without rounding, block after block of rows.
pub enum Target {
    /// Of a network that classifies: the probabilities of the classes.
    Classes {
        classes: usize,
        /// Rows of all blocks.
        rows: usize,
        /// True to take the temperature that suits best.
        is_tempered: bool,
        /// By block: the probabilities, and the sum of `p ln p` over them.
        blocks: Vec<(Vec<f32>, f64)>,
    },
    /// Of any other: its results.
    Results {
        /// By block and result.
        blocks: Vec<Vec<Vec<f32>>>,
        /// By result: the sum of its squares over all rows.
        squares: Vec<f64>,
    },
}

impl Target {
    /// The answers of `exact`, the network without rounding. It classifies when its only result has a score for each
    /// class, and the rows are of more than one.
    pub fn of(
        exact: &Graph,
        rows: &Split,
        walk: &Walk,
        distance: Distance,
    ) -> Result<Self, PassError> {
        let mut whole = walk.compiled(exact, &[])?;
        let blocks: Vec<Vec<Vec<f32>>> = (0..walk.blocks().len())
            .map(|block| Ok(outputs(walk.run(&mut whole, block)?)))
            .collect::<Result<_, PassError>>()?;
        let labels = rows.labels_of(rows.indices());
        let classes = classes(&verify(exact)?, &labels);
        let Some(classes) = classes.filter(|_| distance != Distance::Squared) else {
            let squares = squares(&blocks);
            return Ok(Self::Results { blocks, squares });
        };
        let blocks = if distance == Distance::Labels {
            let parts = walk.blocks().map(|indices| rows.labels_of(indices));
            parts.map(|labels| certainties(classes, &labels)).collect()
        } else {
            let scores = blocks.iter().map(|block| &block[0]);
            scores
                .map(|scores| probabilities(classes, scores))
                .collect()
        };
        Ok(Self::Classes {
            classes,
            rows: rows.len(),
            is_tempered: distance == Distance::Tempered,
            blocks,
        })
    }

    /// The part of a block in the loss.
    pub fn loss(&self, block: usize, plan: &Plan) -> f64 {
        let got = outputs(plan);
        match self {
            Self::Classes {
                classes,
                rows,
                is_tempered,
                blocks,
            } => {
                let (exact, own) = &blocks[block];
                let temperatures = if *is_tempered { TEMPERATURES } else { 0..=0 };
                let cross_entropy = min_cross_entropy(*classes, exact, &got[0], &temperatures);
                (own + cross_entropy) / *rows as f64
            }
            Self::Results { blocks, squares } => {
                let pairs = blocks[block].iter().zip(&got);
                let errors = pairs.map(|(exact, got)| {
                    let pairs = exact.iter().zip(got);
                    pairs.map(|(x, y)| f64::from(x - y).powi(2)).sum::<f64>()
                });
                errors.zip(squares).map(|(error, all)| error / all).sum()
            }
        }
    }
}

/// The number of classes that the only result has scores for, when these are labels of a classification.
fn classes(verified: &Verified, labels: &[u32]) -> Option<usize> {
    let [only] = verified.output_values() else {
        return None;
    };
    let [_, classes] = verified.ty(*only).shape.0.as_slice() else {
        return None;
    };
    let classes = classes.fixed()?;
    let is_class = |&label: &u32| (label as usize) < classes;
    let is_mixed = labels.windows(2).any(|pair| pair[0] != pair[1]);
    (is_mixed && labels.iter().all(is_class)).then_some(classes)
}

fn probabilities(classes: usize, scores: &[f32]) -> (Vec<f32>, f64) {
    let (mut p, mut ln_p) = (vec![0.0; scores.len()], vec![0.0; scores.len()]);
    softmax(classes, scores, &mut p);
    log_softmax(classes, scores, &mut ln_p);
    let own = dot(&p, &ln_p);
    (p, own)
}

/// Probabilities of one for the classes that labels name, and the sum of `p ln p` over them.
fn certainties(classes: usize, labels: &[u32]) -> (Vec<f32>, f64) {
    let mut p = vec![0.0; classes * labels.len()];
    for (p, &label) in p.chunks_exact_mut(classes).zip(labels) {
        p[label as usize] = 1.0;
    }
    (p, 0.0)
}

fn squares(blocks: &[Vec<Vec<f32>>]) -> Vec<f64> {
    let of_result = |result: usize| {
        let values = blocks.iter().flat_map(|block| &block[result]);
        let sum: f64 = values.map(|&x| f64::from(x).powi(2)).sum();
        sum.max(f64::MIN_POSITIVE)
    };
    let count = blocks.first().map_or(0, Vec::len);
    (0..count).map(of_result).collect()
}

/// Powers of two that scores are multiplied by to find the temperature.
const TEMPERATURES: RangeInclusive<i32> = -6..=3;

/// The least cross-entropy over the temperatures. It is convex in the factor, so that a walk downhill from 1 finds it.
fn min_cross_entropy(
    classes: usize,
    exact: &[f32],
    scores: &[f32],
    temperatures: &RangeInclusive<i32>,
) -> f64 {
    let (mut scaled, mut ln_q) = (scores.to_vec(), vec![0.0; scores.len()]);
    let mut at = |power: i32| {
        let factor = 2.0_f32.powi(power);
        for (scaled, score) in scaled.iter_mut().zip(scores) {
            *scaled = factor * score;
        }
        log_softmax(classes, &scaled, &mut ln_q);
        -dot(exact, &ln_q)
    };
    let first = at(0);
    let mut descend = |step: i32| {
        let (mut power, mut best) = (step, first);
        while temperatures.contains(&power) {
            let next = at(power);
            if next >= best {
                break;
            }
            (power, best) = (power + step, next);
        }
        best
    };
    let colder = descend(-1);
    if colder < first { colder } else { descend(1) }
}

fn dot(x: &[f32], y: &[f32]) -> f64 {
    let products = x.iter().zip(y).map(|(x, y)| f64::from(x * y));
    products.sum()
}
