//! The quality of a classifier beyond accuracy: per class, and which classes are taken for which.
//!
//! Curves and areas are those of one class against all others, by the softmax of the outputs.

/// A class is among the best this many outputs.
const TOP: usize = 5;
/// The share of a class that is accepted where the rejection of the others is measured.
const EFFICIENCY: f64 = 0.5;

/// The quality of a classifier on labelled rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Classification {
    /// The scores of each class, in the order of the outputs.
    pub classes: Vec<ClassScores>,
    /// Rows of each class (first index) that were taken for each class (second index).
    pub confusion: Vec<Vec<u64>>,
    /// The share of rows whose class is among the five largest outputs; only with more classes than that.
    pub top5: Option<f64>,
    /// Outputs that are positive on no row.
    pub never_positive: Vec<usize>,
}

/// The scores of one class against all others. What divides by nothing is not there.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassScores {
    /// Rows of the class.
    pub support: u64,
    /// The share of rows taken for the class that are of it.
    pub precision: Option<f64>,
    /// The share of its rows that are taken for it.
    pub recall: Option<f64>,
    /// The area under the curve [`ClassScores::roc`].
    pub auc: Option<f64>,
    /// Other rows for each one that is accepted, where half of the class is accepted; infinite where none is.
    pub rejection: Option<f64>,
    /// The share of other rows that are accepted, and the share of its own, from the strictest threshold on.
    pub roc: Vec<(f64, f64)>,
}

impl Classification {
    /// The quality of `outputs`, `n_classes` for each label.
    ///
    /// # Panics
    /// If there are not as many outputs, or a label is not below their number.
    pub fn of(outputs: &[f32], labels: &[u32], n_classes: usize) -> Self {
        assert_eq!(
            outputs.len(),
            labels.len() * n_classes,
            "a row of outputs for each label"
        );
        let mut confusion = vec![vec![0; n_classes]; n_classes];
        let mut in_top = 0_usize;
        for (row, &label) in outputs.chunks(n_classes.max(1)).zip(labels) {
            let label = label as usize;
            confusion[label][argmax(row)] += 1;
            in_top += usize::from(row.iter().filter(|&&other| other > row[label]).count() < TOP);
        }
        let probabilities = softmax(outputs, n_classes);
        let scores = |class: usize| {
            let roc = roc(&probabilities, labels, n_classes, class);
            class_scores(&confusion, class, roc)
        };
        Self {
            classes: (0..n_classes).map(scores).collect(),
            top5: (n_classes > TOP).then(|| in_top as f64 / labels.len().max(1) as f64),
            never_positive: never_positive(outputs, n_classes),
            confusion,
        }
    }
}

/// The place of the largest value; of the first where several are.
pub fn argmax(row: &[f32]) -> usize {
    let mut best = 0;
    for (place, value) in row.iter().enumerate() {
        if *value > row[best] {
            best = place;
        }
    }
    best
}

fn never_positive(outputs: &[f32], n_classes: usize) -> Vec<usize> {
    let is_dead = |class: &usize| {
        let mut column = outputs.iter().skip(*class).step_by(n_classes);
        !outputs.is_empty() && column.all(|output| *output <= 0.0)
    };
    (0..n_classes).filter(is_dead).collect()
}

fn softmax(outputs: &[f32], n_classes: usize) -> Vec<f64> {
    let mut probabilities = Vec::with_capacity(outputs.len());
    for row in outputs.chunks(n_classes.max(1)) {
        let max = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let powers = row.iter().map(|&output| f64::from(output - max).exp());
        let sum: f64 = powers.clone().sum();
        probabilities.extend(powers.map(|power| power / sum));
    }
    probabilities
}

/// The curve of one class against all others: a point for every threshold that some row has; none without rows of both.
fn roc(probabilities: &[f64], labels: &[u32], n_classes: usize, class: usize) -> Vec<(f64, f64)> {
    let column = probabilities.iter().skip(class).step_by(n_classes);
    let is_own = labels.iter().map(|&label| label as usize == class);
    let mut ranked: Vec<(f64, bool)> = column.copied().zip(is_own).collect();
    ranked.sort_unstable_by(|a, b| b.0.total_cmp(&a.0));
    let own = ranked.iter().filter(|(_, is_own)| *is_own).count();
    let others = ranked.len() - own;
    if own == 0 || others == 0 {
        return Vec::new();
    }
    let mut curve = vec![(0.0, 0.0)];
    let (mut accepted_own, mut accepted_others) = (0, 0);
    for (position, &(probability, is_own)) in ranked.iter().enumerate() {
        accepted_own += usize::from(is_own);
        accepted_others += usize::from(!is_own);
        let next = ranked.get(position + 1);
        if next.is_none_or(|next| next.0 < probability) {
            let share = |accepted: usize, all: usize| accepted as f64 / all as f64;
            curve.push((share(accepted_others, others), share(accepted_own, own)));
        }
    }
    curve
}

fn class_scores(confusion: &[Vec<u64>], class: usize, roc: Vec<(f64, f64)>) -> ClassScores {
    let support: u64 = confusion[class].iter().sum();
    let taken: u64 = confusion.iter().map(|row| row[class]).sum();
    let share = |of: u64| (of > 0).then(|| confusion[class][class] as f64 / of as f64);
    let has_curve = !roc.is_empty();
    ClassScores {
        support,
        precision: share(taken),
        recall: share(support),
        auc: has_curve.then(|| area(&roc)),
        rejection: has_curve.then(|| 1.0 / accepted_at(&roc, EFFICIENCY)),
        roc,
    }
}

/// The area under a curve, by trapezoids.
fn area(curve: &[(f64, f64)]) -> f64 {
    let trapezoid = |pair: &[(f64, f64)]| (pair[1].0 - pair[0].0) * (pair[0].1 + pair[1].1) / 2.0;
    curve.windows(2).map(trapezoid).sum()
}

/// The share of others that are accepted where this share of the class is, on the straight line between two points.
fn accepted_at(curve: &[(f64, f64)], share: f64) -> f64 {
    let above = curve.partition_point(|point| point.1 < share);
    let ((x0, y0), (x1, y1)) = (curve[above - 1], curve[above]);
    x0 + (x1 - x0) * (share - y0) / (y1 - y0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use random::Random;

    #[test]
    fn four_rows_by_hand() {
        #[rustfmt::skip]
        let outputs = [
            2.0, 1.0, 0.0,
            0.0, 1.0, 0.0,
            0.5, 0.0, -1.0,
            0.0, 3.0, -1.0,
        ];
        let found = Classification::of(&outputs, &[0, 1, 1, 0], 3);
        assert_eq!(found.confusion, [[1, 1, 0], [1, 1, 0], [0, 0, 0]]);
        assert_eq!(found.never_positive, [2]);
        assert_eq!(found.top5, None);
        let [first, _, last] = &found.classes[..] else {
            panic!("three classes")
        };
        assert_eq!((first.precision, first.recall), (Some(0.5), Some(0.5)));
        // One of its rows is before both others, one behind both.
        assert_eq!(first.auc, Some(0.5));
        assert_eq!(first.rejection, Some(f64::INFINITY));
        assert_eq!((last.precision, last.recall, last.auc), (None, None, None));
    }

    /// Outputs that follow the label with noise, rounded so that many are equal.
    fn noisy(seed: u64, rows: usize, n_classes: usize) -> (Vec<f32>, Vec<u32>) {
        let random = Random::new(seed, "classification");
        let labels: Vec<u32> = (0..rows)
            .map(|row| ((row + row / 7) % n_classes) as u32)
            .collect();
        let outputs = (0..rows * n_classes).map(|k| {
            let is_own = labels[k / n_classes] as usize == k % n_classes;
            let output = random.normal(k as u64) + f32::from(u8::from(is_own));
            (output * 4.0).round() / 4.0
        });
        (outputs.collect(), labels)
    }

    /// The area is the chance that a row of the class is ranked before another one, equal ranks counting a half; all else is
    /// counted row by row.
    #[test]
    fn scores_are_those_of_their_definitions() {
        for (seed, n_classes) in [(1, 2), (2, 5), (3, 7)] {
            let (outputs, labels) = noisy(seed, 120, n_classes);
            let found = Classification::of(&outputs, &labels, n_classes);
            let rows: Vec<&[f32]> = outputs.chunks(n_classes).collect();
            let softmax = |row: &[f32], class: usize| {
                let sum: f64 = row.iter().map(|x| f64::from(*x).exp()).sum();
                f64::from(row[class]).exp() / sum
            };
            let count = |is_counted: &dyn Fn(usize) -> bool| {
                (0..rows.len()).filter(|&row| is_counted(row)).count() as f64
            };
            for (class, scores) in found.classes.iter().enumerate() {
                let is_own = |row: usize| labels[row] as usize == class;
                let is_taken = |row: usize| argmax(rows[row]) == class;
                let hits = count(&|row| is_own(row) && is_taken(row));
                assert_eq!(scores.support as f64, count(&is_own));
                assert_eq!(scores.recall, Some(hits / count(&is_own)));
                assert_eq!(scores.precision, Some(hits / count(&is_taken)));
                let pairs = (0..rows.len()).flat_map(|a| (0..rows.len()).map(move |b| (a, b)));
                let pairs = pairs.filter(|&(a, b)| is_own(a) && !is_own(b));
                let won: Vec<f64> = pairs
                    .map(|(a, b)| softmax(rows[a], class) - softmax(rows[b], class))
                    .map(|lead| {
                        if lead.abs() < 1e-12 {
                            0.5
                        } else {
                            f64::from(u8::from(lead > 0.0))
                        }
                    })
                    .collect();
                let area = won.iter().sum::<f64>() / won.len() as f64;
                assert!(
                    (scores.auc.unwrap() - area).abs() < 1e-9,
                    "{class} of {n_classes}"
                );
                assert!(scores.roc.is_sorted() && scores.roc.last() == Some(&(1.0, 1.0)));
            }
            let is_near = |row: usize| {
                let own = rows[row][labels[row] as usize];
                rows[row].iter().filter(|other| **other > own).count() < 5
            };
            let top5 = (n_classes > 5).then(|| count(&is_near) / 120.0);
            assert_eq!(found.top5, top5);
            assert_eq!(found.never_positive, [0_usize; 0]);
        }
    }

    /// Half of a class is accepted on the line between the points of the curve around it.
    #[test]
    fn the_rejection_lies_between_two_thresholds() {
        for (curve, accepted) in [
            (&[(0.0, 0.0), (1.0, 1.0)][..], 0.5),
            (&[(0.0, 0.0), (0.1, 0.4), (0.3, 0.8), (1.0, 1.0)], 0.15),
            (&[(0.0, 0.0), (0.25, 0.5), (0.5, 0.75), (1.0, 1.0)], 0.25),
            (&[(0.0, 0.0), (0.0, 0.75), (1.0, 1.0)], 0.0),
        ] {
            let found = accepted_at(curve, EFFICIENCY);
            assert!((found - accepted).abs() < 1e-12, "{curve:?}: {found}");
        }
    }

    #[test]
    fn without_rows_there_is_nothing_to_divide_by() {
        let none = Classification::of(&[], &[], 7);
        assert_eq!((none.top5, none.never_positive), (Some(0.0), Vec::new()));
        assert!(none.classes.iter().all(|class| class.precision.is_none()
            && class.recall.is_none()
            && class.auc.is_none()
            && class.roc.is_empty()));
    }
}
