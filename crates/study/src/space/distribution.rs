//! The values of one parameter, and the unit axis on which samplers see them.

use serde_json::Value;

/// The values that a parameter may take; the three kinds that Optuna has.
#[derive(Clone, Debug, PartialEq)]
pub enum Distribution {
    /// One of some values without an order.
    Categorical {
        /// The values, all different.
        choices: Vec<Value>,
    },
    /// `low`, `low + step`, …, `high`.
    Int {
        /// The smallest value.
        low: i64,
        /// The largest value, a multiple of `step` above `low`.
        high: i64,
        /// The distance between neighbors, at least 1.
        step: i64,
        /// Samples small values more finely; then `low` is at least 1 and `step` is 1.
        log: bool,
    },
    /// A real number from `low` to `high`.
    Float {
        /// The smallest value.
        low: f64,
        /// The largest value.
        high: f64,
        /// Makes the logarithm uniform instead of the value; then `low` is above 0.
        log: bool,
    },
}

/// The value of one parameter: a choice by its index, or a number.
#[derive(Clone, Copy, Debug)]
pub enum Coordinate {
    /// Index of a choice.
    Choice(usize),
    /// Value of an `Int`.
    Int(i64),
    /// Value of a `Float`.
    Float(f64),
}

impl Coordinate {
    /// The bits that equality and hashing compare.
    fn key(self) -> (u8, u64) {
        match self {
            Self::Choice(index) => (0, index as u64),
            Self::Int(value) => (1, value as u64),
            Self::Float(value) => (2, value.to_bits()),
        }
    }
}

impl PartialEq for Coordinate {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Coordinate {}

impl std::hash::Hash for Coordinate {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.key().hash(state);
    }
}

impl Distribution {
    /// The number of values; none when they are not countable.
    pub fn count(&self) -> Option<u64> {
        match self {
            Self::Categorical { choices } => Some(choices.len() as u64),
            Self::Int {
                low, high, step, ..
            } => Some(((high - low) / step) as u64 + 1),
            Self::Float { low, high, .. } => (low == high).then_some(1),
        }
    }

    /// True when neighbors are more alike than others: numbers are, and choices that are whole numbers in rising order.
    pub fn is_ordered(&self) -> bool {
        match self {
            Self::Categorical { choices } => {
                let numbers: Option<Vec<i64>> = choices.iter().map(Value::as_i64).collect();
                numbers.is_some_and(|numbers| numbers.is_sorted_by(|a, b| a < b))
            }
            Self::Int { .. } | Self::Float { .. } => true,
        }
    }

    /// The value number `index` of those counted, in order.
    pub fn nth(&self, index: u64) -> Coordinate {
        match self {
            Self::Categorical { .. } => Coordinate::Choice(index as usize),
            Self::Int { low, step, .. } => Coordinate::Int(low + index as i64 * step),
            Self::Float { low, .. } => Coordinate::Float(*low),
        }
    }

    /// True when `coordinate` is a value of this distribution.
    pub fn contains(&self, coordinate: Coordinate) -> bool {
        match (self, coordinate) {
            (Self::Categorical { choices }, Coordinate::Choice(index)) => index < choices.len(),
            (
                Self::Int {
                    low, high, step, ..
                },
                Coordinate::Int(value),
            ) => (*low..=*high).contains(&value) && (value - low) % step == 0,
            (Self::Float { low, high, .. }, Coordinate::Float(value)) => {
                (*low..=*high).contains(&value)
            }
            _ => false,
        }
    }

    /// The value at place `unit` of the axis, which runs from 0 to 1; a uniform place gives what a random search draws.
    pub fn at(&self, unit: f64) -> Coordinate {
        match self {
            Self::Categorical { choices } => Coordinate::Choice(cell(unit, choices.len() as u64)),
            Self::Int {
                low,
                high,
                step,
                log: false,
            } => {
                let count = ((high - low) / step) as u64 + 1;
                Coordinate::Int(low + cell(unit, count) as i64 * step)
            }
            Self::Int { low, high, .. } => {
                let (start, end) = self.edges();
                let value = (start + unit * (end - start)).exp().round() as i64;
                Coordinate::Int(value.clamp(*low, *high))
            }
            Self::Float { low, high, log } => {
                let (start, end) = self.edges();
                let place = start + unit * (end - start);
                let value = if *log { place.exp() } else { place };
                Coordinate::Float(value.clamp(*low, *high))
            }
        }
    }

    /// The place of a value on the axis: for an `Int` or a choice, the middle of its cell.
    pub fn place(&self, coordinate: Coordinate) -> f64 {
        match coordinate {
            Coordinate::Float(value) => self.to_unit(value),
            Coordinate::Int(value) => self.to_unit(value as f64),
            Coordinate::Choice(index) => {
                (index as f64 + 0.5) / self.count().map_or(1.0, |n| n as f64)
            }
        }
    }

    /// The part of the axis that rounds to the choice or the value of an `Int`; for a `Float`, a point.
    pub fn cell(&self, coordinate: Coordinate) -> (f64, f64) {
        match (self, coordinate) {
            (Self::Int { step, .. }, Coordinate::Int(value)) => {
                let half = 0.5 * *step as f64;
                (
                    self.to_unit(value as f64 - half),
                    self.to_unit(value as f64 + half),
                )
            }
            (Self::Categorical { choices }, Coordinate::Choice(index)) => {
                let width = 1.0 / choices.len() as f64;
                (index as f64 * width, (index + 1) as f64 * width)
            }
            _ => (self.place(coordinate), self.place(coordinate)),
        }
    }

    /// The two ends of the axis: half a step beyond the bounds of an `Int`, and logarithms where asked for.
    fn edges(&self) -> (f64, f64) {
        let (low, high, log) = match self {
            Self::Categorical { choices } => (0.0, choices.len() as f64, false),
            Self::Int {
                low,
                high,
                step,
                log,
            } => {
                let half = 0.5 * *step as f64;
                (*low as f64 - half, *high as f64 + half, *log)
            }
            Self::Float { low, high, log } => (*low, *high, *log),
        };
        if log {
            (low.ln(), high.ln())
        } else {
            (low, high)
        }
    }

    fn to_unit(&self, value: f64) -> f64 {
        let (start, end) = self.edges();
        if start == end {
            return 0.5;
        }
        let log = matches!(
            self,
            Self::Int { log: true, .. } | Self::Float { log: true, .. }
        );
        let place = if log { value.ln() } else { value };
        ((place - start) / (end - start)).clamp(0.0, 1.0)
    }
}

/// The one of `count` equal cells that holds `unit`.
fn cell(unit: f64, count: u64) -> usize {
    ((unit * count as f64) as usize).min(count as usize - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn any_distribution() -> impl Strategy<Value = Distribution> {
        prop_oneof![
            (1..9_usize).prop_map(|n| Distribution::Categorical {
                choices: (0..n).map(Value::from).collect()
            }),
            (-50..50_i64, 0..40_i64, 1..5_i64).prop_map(|(low, n, step)| Distribution::Int {
                low,
                high: low + n * step,
                step,
                log: false
            }),
            (1..50_i64, 0..1000_i64).prop_map(|(low, n)| Distribution::Int {
                low,
                high: low + n,
                step: 1,
                log: true
            }),
            (0.1..9.0_f64, 0.0..9.0_f64, any::<bool>()).prop_map(|(low, width, log)| {
                Distribution::Float {
                    low,
                    high: low + width,
                    log,
                }
            }),
        ]
    }

    proptest! {
        #[test]
        fn a_value_is_where_its_place_says(distribution in any_distribution(), unit in 0.0..1.0_f64) {
            let value = distribution.at(unit);
            prop_assert!(distribution.contains(value), "{value:?}");
            let place = distribution.place(value);
            if let Distribution::Float { low, high, .. } = &distribution {
                prop_assert!(low == high || (place - unit).abs() < 1e-9, "{place}");
            } else {
                prop_assert_eq!(distribution.at(place), value);
            }
            let (start, end) = distribution.cell(value);
            prop_assert!(start <= place && place <= end);
            if !matches!(distribution, Distribution::Float { .. }) {
                prop_assert!(start - 1e-9 <= unit && unit <= end + 1e-9, "{start} {unit} {end}");
            }
        }
    }
}
