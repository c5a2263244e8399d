//! Runs that differ in their seed alone, as mean and deviation.

use super::results::Results;
use super::{Row, SEED};
use std::fmt;

/// The mean of some numbers, and their deviation where there are several.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// The mean.
    pub mean: f64,
    /// The deviation of a sample: the sum of squares is divided by one less than the count.
    pub deviation: Option<f64>,
}

impl Spread {
    /// The spread of the numbers there are; nothing without any.
    fn of(values: &[f64]) -> Option<Self> {
        if values.is_empty() {
            return None;
        }
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let deviation = (values.len() > 1).then(|| (squares / (count - 1.0)).sqrt());
        Some(Self { mean, deviation })
    }
}

impl fmt::Display for Spread {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{:.4}", self.mean)?;
        self.deviation
            .map_or(Ok(()), |deviation| write!(f, " ± {deviation:.4}"))
    }
}

/// Runs of one combination of all settings but the seed.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// The values of all settings; those of the seed are of the first run.
    pub values: Vec<String>,
    /// The number of runs.
    pub runs: usize,
    pub train_loss: Option<Spread>,
    pub val_loss: Option<Spread>,
    pub test_loss: Option<Spread>,
    pub test_acc: Option<Spread>,
}

impl Summary {
    fn of(rows: &[&Row]) -> Self {
        let spread = |value: fn(&Row) -> Option<f64>| {
            let values: Vec<f64> = rows.iter().filter_map(|row| value(row)).collect();
            Spread::of(&values)
        };
        Self {
            values: rows[0].values.clone(),
            runs: rows.len(),
            train_loss: spread(|row| row.train_loss),
            val_loss: spread(|row| row.val_loss),
            test_loss: spread(|row| row.test.map(|test| test.0)),
            test_acc: spread(|row| row.test.map(|test| test.1)),
        }
    }
}

impl Results<'_> {
    /// A summary of every combination of the settings but the seed, in the order of the runs.
    pub fn summaries(&self) -> Vec<Summary> {
        let seed = self.axes.iter().position(|axis| axis.setting.key == SEED);
        let key = |row: &Row| {
            let others = row.values.iter().enumerate();
            let others = others.filter(|(i, _)| Some(*i) != seed);
            others
                .map(|(_, value)| value.clone())
                .collect::<Vec<String>>()
        };
        let mut groups: Vec<(Vec<String>, Vec<&Row>)> = Vec::new();
        for row in self.rows {
            let key = key(row);
            match groups.iter_mut().find(|group| group.0 == key) {
                Some(group) => group.1.push(row),
                None => groups.push((key, vec![row])),
            }
        }
        groups.iter().map(|group| Summary::of(&group.1)).collect()
    }

    /// Every run by itself.
    pub fn single_runs(&self) -> Vec<Summary> {
        self.rows.iter().map(|row| Summary::of(&[row])).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_deviation_is_that_of_a_sample() {
        let spread = Spread::of(&[1.0, 2.0, 3.0, 4.0]).unwrap();
        assert_eq!(spread.to_string(), "2.5000 ± 1.2910");
        assert_eq!(Spread::of(&[2.0]).unwrap().to_string(), "2.0000");
        assert_eq!(Spread::of(&[]), None);
    }
}
