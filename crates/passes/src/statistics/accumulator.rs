//! The running state of one group of values: their ends and their exact sums.

use super::exact::{SquareSum, Sum, variance};
use kernels::statistics::{BLOCK, Extremes, Term, exact_sum, extremes};

/// The sums that the statistics of a group ask for; the ends are always found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "wishes that do not depend on each other"
)]
pub(super) struct Needs {
    /// Of the values.
    pub total: bool,
    /// Of their magnitudes.
    pub magnitude: bool,
    /// Of their squares.
    pub square: bool,
    /// The values themselves.
    pub values: bool,
}

impl Needs {
    /// Nothing.
    const NOTHING: Self = Self {
        total: false,
        magnitude: false,
        square: false,
        values: false,
    };
    /// The sum of magnitudes.
    pub const MAGNITUDES: Self = Self {
        magnitude: true,
        ..Self::NOTHING
    };
    /// All values.
    pub const VALUES: Self = Self {
        values: true,
        ..Self::NOTHING
    };

    /// The needs of mean and variance, of values or of magnitudes.
    pub fn moments(magnitudes: bool) -> Self {
        Self {
            total: !magnitudes,
            magnitude: magnitudes,
            square: true,
            values: false,
        }
    }

    pub fn and(self, other: Self) -> Self {
        Self {
            total: self.total | other.total,
            magnitude: self.magnitude | other.magnitude,
            square: self.square | other.square,
            values: self.values | other.values,
        }
    }
}

/// The ends and sums of one group.
#[derive(Clone, Debug)]
pub(super) struct Accumulator {
    pub extremes: Extremes,
    total: Sum,
    magnitude: Sum,
    square: SquareSum,
}

impl Accumulator {
    pub const EMPTY: Self = Self {
        extremes: Extremes::NONE,
        total: Sum::ZERO,
        magnitude: Sum::ZERO,
        square: SquareSum::ZERO,
    };

    /// Adds values; false, with the rest left out, if one is not finite.
    pub fn add(&mut self, values: &[f32], needs: Needs) -> bool {
        values
            .chunks(BLOCK)
            .all(|block| self.add_block(block, needs))
    }

    fn add_block(&mut self, block: &[f32], needs: Needs) -> bool {
        let ends = extremes(block);
        let largest = ends.max_magnitude;
        if !largest.is_finite() {
            return false;
        }
        self.extremes = self.extremes.with(ends);
        if needs.square {
            exact_sum(block, largest, Term::Square, |part| self.square.add(part));
        }
        // After a rectifier magnitudes are values, and one sum serves both.
        let is_same = ends.min >= 0.0;
        if needs.total || (needs.magnitude && is_same) {
            exact_sum(block, largest, Term::Value, |part| {
                self.total.add(part);
                if is_same {
                    self.magnitude.add(part);
                }
            });
        }
        if needs.magnitude && !is_same {
            exact_sum(block, largest, Term::Magnitude, |part| {
                self.magnitude.add(part);
            });
        }
        true
    }

    pub fn merge(&mut self, other: &Self) {
        self.extremes = self.extremes.with(other.extremes);
        self.total.merge(&other.total);
        self.magnitude.merge(&other.magnitude);
        self.square.merge(&other.square);
    }

    /// The mean of `count` values, or of their magnitudes.
    pub fn mean(&self, magnitudes: bool, count: u64) -> f64 {
        self.sum(magnitudes).to_f64() / count as f64
    }

    /// The variance of `count` values, or of their magnitudes; NaN of fewer than two.
    pub fn variance(&self, magnitudes: bool, count: u64) -> f64 {
        variance(self.sum(magnitudes), &self.square, count)
    }

    fn sum(&self, magnitudes: bool) -> &Sum {
        if magnitudes {
            &self.magnitude
        } else {
            &self.total
        }
    }
}
