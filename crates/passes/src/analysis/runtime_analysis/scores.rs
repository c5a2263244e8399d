//! Scores of a classifier from a confusion matrix.

use data::Split;
use ir::{DType, Verified};

/// The answers to rows so far.
pub(super) struct Scores {
    classes: usize,
    /// Rows by label and answer, label after label.
    confusion: Vec<u64>,
    loss: f64,
}

impl Scores {
    /// No answers yet; nothing when the network does not return a number for each class of the rows.
    pub fn of(verified: &Verified, rows: &Split) -> Option<Self> {
        let [output] = verified.output_values() else {
            return None;
        };
        let ty = verified.ty(*output);
        let sizes = ty.shape.sample()?;
        let [classes] = sizes[..] else { return None };
        let labels = rows.labels_of(rows.indices());
        let is_classifier =
            ty.dtype == DType::F32 && labels.iter().all(|&label| (label as usize) < classes);
        is_classifier.then(|| Self::new(classes))
    }

    fn new(classes: usize) -> Self {
        Self {
            classes,
            confusion: vec![0; classes * classes],
            loss: 0.0,
        }
    }

    /// Counts the outputs for rows with these labels. The answer is the first of the largest outputs.
    pub fn add(&mut self, outputs: &[f32], labels: &[u32]) {
        for (row, &label) in outputs.chunks_exact(self.classes).zip(labels) {
            let mut answer = 0;
            for (class, value) in row.iter().enumerate() {
                if *value > row[answer] {
                    answer = class;
                }
            }
            let max = f64::from(row[answer]);
            let sum: f64 = row
                .iter()
                .map(|&value| (f64::from(value) - max).exp())
                .sum();
            self.loss += sum.ln() + max - f64::from(row[label as usize]);
            self.confusion[label as usize * self.classes + answer] += 1;
        }
    }

    /// The share of right answers.
    pub fn accuracy(&self) -> f64 {
        (0..self.classes).map(|class| self.hits(class)).sum::<f64>() / self.count()
    }

    /// The share of right answers among the answers of a class.
    pub fn precision(&self) -> f64 {
        self.weighted(|class| self.hits(class) / self.answered(class).max(1.0))
    }

    /// The share of right answers among the rows of a class: weighted by those rows, the accuracy.
    pub fn recall(&self) -> f64 {
        self.weighted(|class| self.hits(class) / self.labeled(class))
    }

    /// The harmonic mean of precision and recall of a class.
    pub fn f1(&self) -> f64 {
        self.weighted(|class| 2.0 * self.hits(class) / (self.answered(class) + self.labeled(class)))
    }

    /// The mean cross-entropy.
    pub fn loss(&self) -> f64 {
        self.loss / self.count()
    }

    fn count(&self) -> f64 {
        self.confusion.iter().sum::<u64>() as f64
    }

    fn hits(&self, class: usize) -> f64 {
        self.confusion[class * self.classes + class] as f64
    }

    fn labeled(&self, class: usize) -> f64 {
        let row = &self.confusion[class * self.classes..][..self.classes];
        row.iter().sum::<u64>() as f64
    }

    fn answered(&self, class: usize) -> f64 {
        let column = self.confusion.iter().skip(class).step_by(self.classes);
        column.sum::<u64>() as f64
    }

    /// The mean over the classes that occur, weighted by their rows.
    fn weighted(&self, score: impl Fn(usize) -> f64) -> f64 {
        let present = (0..self.classes).filter(|&class| self.labeled(class) > 0.0);
        let sum: f64 = present
            .map(|class| score(class) * self.labeled(class))
            .sum();
        sum / self.count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_those_of_scikit_learn() {
        // precision_recall_fscore_support([0, 0, 0, 1, 1, 2], [0, 0, 1, 1, 2, 1], average="weighted"), with class 3 absent.
        let (labels, answers) = ([0, 0, 0, 1, 1, 2], [0, 0, 1, 1, 2, 1]);
        let mut scores = Scores::new(4);
        for (label, answer) in labels.into_iter().zip(answers) {
            let mut row = [0.0; 4];
            row[answer] = 1.0;
            scores.add(&row, &[label]);
        }
        let close =
            |found: f64, expected: f64| assert!((found - expected).abs() < 1e-12, "{found}");
        close(scores.accuracy(), 0.5);
        close(scores.precision(), 11.0 / 18.0);
        close(scores.recall(), 0.5);
        close(scores.f1(), 8.0 / 15.0);
        let (e, rest) = (1.0_f64.exp(), 3.0);
        let right = (e + rest).ln() - 1.0;
        close(scores.loss(), right + 0.5);
    }

    #[test]
    fn of_equal_outputs_the_first_is_the_answer() {
        let mut scores = Scores::new(2);
        scores.add(&[1.0, 1.0, 1.0, 1.0], &[0, 1]);
        assert_eq!(scores.confusion, [1, 0, 1, 0]);
    }
}
