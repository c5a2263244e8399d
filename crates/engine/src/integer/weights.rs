//! The weights of a product, and what its sums range over.

use super::error::Refusal;
use super::range::{CodeRange, Fit};

/// The codes of weights and the initial values of sums.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Weights {
    /// Groups of sums that share no operands.
    pub groups: usize,
    /// Terms of a sum.
    pub k: usize,
    /// Sums of a group.
    pub n: usize,
    /// Factors, `[groups][n][k]`.
    pub codes: Vec<i64>,
    /// The initial value of every sum, `[groups][n]`.
    pub start: Vec<i64>,
}

impl Weights {
    /// The range of the sums for operands in `x`; refused when a partial sum, in whatever order, might not fit.
    pub(crate) fn range(&self, x: CodeRange) -> Result<CodeRange, Refusal> {
        let mut all: Option<CodeRange> = None;
        for (weights, &start) in self.columns().zip(&self.start) {
            let mut sum = CodeRange::code(start.into(), x.frac);
            let mut worst = sum.magnitude();
            for &weight in weights {
                let ends = [i128::from(weight) * x.min, i128::from(weight) * x.max];
                sum.min += ends[0].min(ends[1]);
                sum.max += ends[0].max(ends[1]);
                worst += ends[0].abs().max(ends[1].abs());
                // Checked term by term: 128 bits hold one more product, not any number of them.
                CodeRange {
                    min: -worst,
                    max: worst,
                    frac: 0,
                }
                .fit()?;
            }
            all = Some(all.map_or(Ok(sum), |all| all.joined(sum).fit())?);
        }
        Ok(all.unwrap_or(x))
    }

    /// The largest magnitude of any partial sum.
    pub(crate) fn worst_sum(&self, x: CodeRange) -> i128 {
        let column = |(weights, start): (&[i64], &i64)| {
            let weights: i128 = weights.iter().map(|&w| i128::from(w).abs()).sum();
            weights * x.magnitude() + i128::from(*start).abs()
        };
        self.columns()
            .zip(&self.start)
            .map(column)
            .max()
            .unwrap_or(0)
    }

    fn columns(&self) -> impl Iterator<Item = &[i64]> {
        self.codes.chunks(self.k.max(1))
    }

    /// True when all fit a type.
    pub(crate) fn fit<T: TryFrom<i64>>(&self) -> bool {
        self.codes.iter().all(|&code| T::try_from(code).is_ok())
    }

    /// The initial values of the sums of a group.
    pub(crate) fn group_start(&self, group: usize) -> Vec<i64> {
        self.start[group * self.n..(group + 1) * self.n].to_vec()
    }
}
