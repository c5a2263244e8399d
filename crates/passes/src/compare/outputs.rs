//! The outputs of two graphs.

use super::Compare;
use super::distance::Distance;
use crate::PassReport;
use ir::NodeId;
use report::Table;

/// The outputs of the graphs for the same rows.
pub struct Outputs {
    /// The output of the first graph.
    pub a: NodeId,
    /// The output of the second graph.
    pub b: NodeId,
    /// Nothing when the two have other shapes.
    pub distance: Option<Distance>,
    rows: usize,
    agreeing: usize,
    shown: Table,
}

/// Rows that are shown.
const SHOWN: usize = 5;
/// Values of a row that are shown.
const SHOWN_VALUES: usize = 20;

impl Outputs {
    /// Nothing seen yet.
    pub fn new([a, b]: [NodeId; 2], distance: Option<Distance>) -> Self {
        Self {
            a,
            b,
            distance,
            rows: 0,
            agreeing: 0,
            shown: Table::new(&["Row", "A", "B"]),
        }
    }

    /// Adds what the graphs return for some rows.
    pub fn add(&mut self, a: &[f32], b: &[f32], rows: usize) {
        let first = self.rows;
        self.rows += rows;
        let width = a.len() / rows.max(1);
        let Some(distance) = self.distance.as_mut().filter(|_| width > 0) else {
            return;
        };
        distance.add(a, b);
        let pairs = || a.chunks_exact(width).zip(b.chunks_exact(width));
        self.agreeing += pairs().filter(|(a, b)| argmax(a) == argmax(b)).count();
        for ((a, b), row) in pairs().zip(first..SHOWN) {
            self.shown.push([row.to_string(), shown(a), shown(b)]);
        }
    }

    /// Adds what was seen to a report.
    pub fn append(self, report: PassReport, compare: &Compare) -> PassReport {
        let report = report.with_fact("rows", self.rows);
        let names = format!("A is {}, B is {}", compare.a.0, compare.b.0);
        let Some(distance) = self.distance else {
            let differ = "the graphs return arrays of different shapes";
            return report
                .with_text(format!("{names}\n{differ}"))
                .with_fact("exact", false);
        };
        let agreement = self.agreeing as f64 / self.rows.max(1) as f64;
        let unit = if distance.is_zero() { "" } else { " dB" };
        report
            .with_table("outputs", self.shown)
            .with_text(format!(
                "{names}\noutputs of {} rows: SQNR {}{unit}, largest difference {:.6}, same largest class in {} ({:.2}%)",
                self.rows,
                distance.sqnr_text(),
                distance.largest,
                self.agreeing,
                100.0 * agreement
            ))
            .with_fact("exact", distance.is_zero())
            .with_fact("sqnr_db", distance.sqnr())
            .with_fact("agreement", agreement)
            .with_fact("largest_difference", distance.largest)
    }
}

/// The first values in words, and the number of those that follow.
fn shown(values: &[f32]) -> String {
    let (first, rest) = values.split_at(values.len().min(SHOWN_VALUES));
    let mut texts: Vec<String> = first.iter().map(|v| format!("{v:.4}")).collect();
    if !rest.is_empty() {
        texts.push(format!("and {} more", rest.len()));
    }
    texts.join(" ")
}

/// The first of the largest, as a classifier answers.
fn argmax(values: &[f32]) -> usize {
    let better = |best: usize, index: usize| {
        if values[index] > values[best] {
            index
        } else {
            best
        }
    };
    (1..values.len()).fold(0, better)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_class_is_the_first_of_the_largest_values() {
        for (values, wanted) in [
            (&[3.0, 1.0, 2.0][..], 0),
            (&[1.0, 3.0, 2.0], 1),
            (&[-3.0, -1.0, -1.0], 1),
            (&[0.0, 0.0], 0),
            (&[5.0], 0),
        ] {
            assert_eq!(argmax(values), wanted, "{values:?}");
        }
    }

    #[test]
    fn rows_agree_in_their_largest_class_and_the_first_are_shown() {
        let mut outputs = Outputs::new([NodeId(0), NodeId(0)], Some(Distance::default()));
        let a = [[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]];
        let b = [[1.0, 0.0], [1.0, 0.0], [0.5, 0.0]];
        for _ in 0..3 {
            outputs.add(&a.concat(), &b.concat(), 3);
        }
        assert_eq!((outputs.rows, outputs.agreeing), (9, 6));
        let rows: Vec<String> = outputs
            .shown
            .rows
            .iter()
            .map(|row| row.join(" | "))
            .collect();
        let shown = [
            "0 | 1.0000 0.0000 | 1.0000 0.0000",
            "1 | 0.0000 1.0000 | 1.0000 0.0000",
            "2 | 1.0000 0.0000 | 0.5000 0.0000",
            "3 | 1.0000 0.0000 | 1.0000 0.0000",
            "4 | 0.0000 1.0000 | 1.0000 0.0000",
        ];
        assert_eq!(rows, shown);
        let distance = outputs.distance.unwrap_or_default();
        // Of each nine values a sum of squares of 9, of the differences 3·(1 + 1 + 0.25).
        assert_eq!(distance.sqnr_text(), "1.25");
        assert_eq!(distance.largest, 1.0);
    }

    #[test]
    fn more_values_than_are_shown_are_counted() {
        let of = |count: usize| shown(&vec![0.5; count]);
        assert_eq!(of(2), "0.5000 0.5000");
        assert_eq!(of(SHOWN_VALUES), ["0.5000"; 20].join(" "));
        assert!(of(SHOWN_VALUES + 3).ends_with("0.5000 and 3 more"));
    }
}
