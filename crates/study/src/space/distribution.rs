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
    /// One of some choices.
    pub fn categorical<T: Into<Value>>(choices: impl IntoIterator<Item = T>) -> Self {
        Self::Categorical {
            choices: choices.into_iter().map(Into::into).collect(),
        }
    }

    /// A whole number of a range, both ends included.
    pub fn int(low: i64, high: i64) -> Self {
        Self::Int {
            low,
            high,
            step: 1,
            log: false,
        }
    }

    /// A real number of a range.
    pub fn float(low: f64, high: f64) -> Self {
        Self::Float {
            low,
            high,
            log: false,
        }
    }

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

    fn stepped(low: i64, high: i64, step: i64, log: bool) -> Distribution {
        Distribution::Int {
            low,
            high,
            step,
            log,
        }
    }

    fn logarithmic(low: f64, high: f64) -> Distribution {
        Distribution::Float {
            low,
            high,
            log: true,
        }
    }

    #[test]
    fn what_is_of_another_kind_or_between_two_values_is_not_contained() {
        let words = Distribution::categorical(["a", "b"]);
        let stepped = stepped(-3, 7, 5, false);
        let float = Distribution::float(-1.0, 2.0);
        let (choice, int, real) = (Coordinate::Choice, Coordinate::Int, Coordinate::Float);
        for (distribution, inside, outside) in [
            (
                &words,
                vec![choice(0), choice(1)],
                vec![choice(2), int(0), real(0.0)],
            ),
            (
                &stepped,
                vec![int(-3), int(2), int(7)],
                vec![int(-8), int(-2), int(3), int(12), choice(0), real(2.0)],
            ),
            (
                &float,
                vec![real(-1.0), real(0.3), real(2.0)],
                vec![real(-1.1), real(2.1), real(f64::NAN), choice(0), int(0)],
            ),
        ] {
            for coordinate in inside {
                assert!(distribution.contains(coordinate), "{coordinate:?}");
            }
            for coordinate in outside {
                assert!(!distribution.contains(coordinate), "{coordinate:?}");
            }
        }
    }

    #[test]
    fn values_are_counted_where_they_can_be() {
        assert_eq!(Distribution::categorical(["a", "b"]).count(), Some(2));
        assert_eq!(stepped(-3, 7, 5, false).count(), Some(3));
        assert_eq!(Distribution::int(4, 4).count(), Some(1));
        assert_eq!(Distribution::float(0.5, 0.5).count(), Some(1));
        assert_eq!(Distribution::float(0.5, 0.6).count(), None);
        assert_eq!(Distribution::float(0.5, 0.5).nth(0), Coordinate::Float(0.5));
    }

    #[test]
    fn order_is_that_of_rising_whole_numbers() {
        assert!(Distribution::categorical([2, 4, 8]).is_ordered());
        assert!(!Distribution::categorical([2, 8, 4]).is_ordered());
        assert!(!Distribution::categorical([2, 2, 4]).is_ordered());
        assert!(!Distribution::categorical(["2", "4"]).is_ordered());
        assert!(!Distribution::categorical([0.5, 1.5]).is_ordered());
        assert!(Distribution::int(0, 1).is_ordered());
        assert!(Distribution::float(0.0, 1.0).is_ordered());
    }

    /// Cells of a linear `Int` are equal, those of a logarithmic one run from half below a value to half above it, as
    /// Optuna has them.
    #[test]
    fn cells_are_those_of_a_uniform_draw() {
        let near = |a: (f64, f64), b: (f64, f64)| {
            assert!(
                (a.0 - b.0).abs() < 1e-12 && (a.1 - b.1).abs() < 1e-12,
                "{a:?}, {b:?}"
            );
        };
        let int = stepped(-3, 7, 5, false);
        near(int.cell(Coordinate::Int(-3)), (0.0, 1.0 / 3.0));
        near(int.cell(Coordinate::Int(2)), (1.0 / 3.0, 2.0 / 3.0));
        let words = Distribution::categorical(["a", "b", "c", "d"]);
        near(words.cell(Coordinate::Choice(2)), (0.5, 0.75));
        let log = stepped(2, 32, 1, true);
        let place = |x: f64| (x / 1.5).ln() / (32.5_f64 / 1.5).ln();
        near(log.cell(Coordinate::Int(5)), (place(4.5), place(5.5)));
        near(log.cell(Coordinate::Int(32)), (place(31.5), 1.0));
        let rate = logarithmic(1e-4, 1.0);
        near(rate.cell(Coordinate::Float(1e-3)), (0.25, 0.25));
        assert_eq!(
            Distribution::float(3.0, 3.0).place(Coordinate::Float(3.0)),
            0.5
        );
        let Coordinate::Float(middle) = rate.at(0.5) else {
            panic!("a float's values are floats");
        };
        assert!((middle - 1e-2).abs() < 1e-12);
    }

    #[test]
    fn places_beyond_the_axis_give_its_ends() {
        for (distribution, ends) in [
            (
                Distribution::categorical(["a", "b"]),
                [Coordinate::Choice(0), Coordinate::Choice(1)],
            ),
            (
                stepped(-3, 7, 5, false),
                [Coordinate::Int(-3), Coordinate::Int(7)],
            ),
            (
                stepped(1, 9, 1, true),
                [Coordinate::Int(1), Coordinate::Int(9)],
            ),
            (
                Distribution::float(-2.0, 3.0),
                [Coordinate::Float(-2.0), Coordinate::Float(3.0)],
            ),
        ] {
            assert_eq!([-0.5, 1.5].map(|unit| distribution.at(unit)), ends);
        }
        assert_eq!(
            Distribution::float(-2.0, 3.0).place(Coordinate::Float(9.0)),
            1.0
        );
        assert_eq!(Distribution::int(0, 3).place(Coordinate::Int(-9)), 0.0);
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
