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

#[cfg(test)]
mod tests {
    use super::*;
    use data::Rows;
    use std::sync::Arc;

    /// Scores of three classes, and the labels of their rows.
    const SCORES: [[f32; 3]; 2] = [[2.0, 1.0, 0.5], [0.25, 1.0, 3.0]];
    const LABELS: [u32; 2] = [1, 2];

    /// The loss of a network that gives the scores times a factor, where the exact one gives the scores.
    fn loss(distance: Distance, factor: f64, labels: [u32; 2]) -> f64 {
        let graph = |factor: f64| {
            let text = format!(
                "graph \"g\" {{ x: f32[N, 3] = placeholder y = mul(x) {{ scalar = {factor:?} }} return y }}"
            );
            Graph::parse(&text).unwrap_or_else(|errors| panic!("{errors}"))
        };
        let rows = Rows {
            values: SCORES.concat(),
            labels: labels.to_vec(),
            width: 3,
        };
        let rows = Split::new(Arc::new(rows), vec![0, 1]);
        let found = || -> Result<f64, PassError> {
            let (exact, other) = (graph(1.0), graph(factor));
            let walk = Walk::new(&exact, &[], &rows, 1)?;
            let target = Target::of(&exact, &rows, &walk, distance)?;
            let mut part = walk.compiled(&other, &[])?;
            Ok(target.loss(0, walk.run(&mut part, 0)?))
        };
        found().unwrap_or_else(|error| panic!("{error}"))
    }

    fn probabilities_of(scores: [f32; 3], factor: f64) -> [f64; 3] {
        let powers = scores.map(|score| (f64::from(score) * factor).exp());
        powers.map(|power| power / powers.iter().sum::<f64>())
    }

    fn assert_near(got: f64, wanted: f64) {
        assert!((got - wanted).abs() < 1e-6, "{got}, {wanted}");
    }

    #[test]
    fn the_loss_is_the_distance_that_was_asked_for() {
        for factor in [1.0, 0.5, 3.0] {
            let [mut labels, mut divergence] = [0.0, 0.0];
            for (scores, label) in SCORES.into_iter().zip(LABELS) {
                let [p, q] = [1.0, factor].map(|factor| probabilities_of(scores, factor));
                labels -= q[label as usize].ln() / 2.0;
                let terms = p.iter().zip(q).map(|(p, q)| p * (p.ln() - q.ln()));
                divergence += terms.sum::<f64>() / 2.0;
            }
            assert_near(loss(Distance::Labels, factor, LABELS), labels);
            assert_near(loss(Distance::Divergence, factor, LABELS), divergence);
            let squared = (factor - 1.0).powi(2);
            assert_near(loss(Distance::Squared, factor, LABELS), squared);
            // Rows of one class are no classification.
            assert_near(loss(Distance::Labels, factor, [1, 1]), squared);
        }
    }

    #[test]
    fn scores_of_another_temperature_are_as_good_within_bounds() {
        for power in -3..=6 {
            assert_near(loss(Distance::Tempered, 2_f64.powi(power), LABELS), 0.0);
        }
        for power in [-4, 7] {
            assert!(loss(Distance::Tempered, 2_f64.powi(power), LABELS) > 1e-3);
        }
        // Of factors that are no powers of two, the nearest is the best, and the loss is the least over all.
        let at = |power: i32| loss(Distance::Divergence, 3.0 * 2_f64.powi(power), LABELS);
        let least = (-6..=3).map(at).fold(f64::INFINITY, f64::min);
        assert_near(loss(Distance::Tempered, 3.0, LABELS), least);
    }
}
