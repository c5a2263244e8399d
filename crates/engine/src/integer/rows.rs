//! The rows of a product's left operand as kernels read them.

use super::buffer::Code;
use super::program::Rows;
use super::weights::Weights;
use kernels::int_conv::Windows;
use kernels::int_gemm::{LeftRows, Starts};

/// The rows of the left operand in memory.
pub(crate) enum RowSource {
    /// The operand's own rows.
    Dense { count: usize },
    /// The windows of a convolution over pixels of channels; so is the result.
    Windows(Box<Windows>),
}

/// The right operand of a group: weights `[run][element][column]` and the initial value of every column.
pub(crate) struct Matrix {
    pub runs: usize,
    /// Elements of a run.
    pub run: usize,
    pub columns: usize,
    pub codes: Vec<i64>,
    pub start: Vec<i64>,
}

impl From<&Rows> for RowSource {
    fn from(rows: &Rows) -> Self {
        match rows {
            Rows::Dense { count } => Self::Dense { count: *count },
            Rows::Windows(shape) => Self::Windows(Box::new(Windows::new(*shape))),
        }
    }
}

impl RowSource {
    /// True when zeros stand where the operand has no element.
    pub fn has_padding(&self) -> bool {
        match self {
            Self::Dense { .. } => false,
            Self::Windows(windows) => windows.has_padding(),
        }
    }

    /// The weights of a group as these rows meet them.
    pub fn matrix(&self, weights: &Weights, group: usize) -> Matrix {
        let (k, n) = (weights.k, weights.n);
        let start = weights.group_start(group);
        match self {
            Self::Dense { .. } => {
                let own = &weights.codes[group * k * n..];
                Matrix {
                    runs: 1,
                    run: k,
                    columns: n,
                    codes: (0..k * n).map(|at| own[at % n * k + at / n]).collect(),
                    start,
                }
            }
            Self::Windows(windows) => {
                let ([runs, run], columns) = (windows.runs(), windows.columns());
                Matrix {
                    runs,
                    run,
                    columns,
                    codes: windows.weights(group, &weights.codes),
                    start: start.into_iter().cycle().take(columns).collect(),
                }
            }
        }
    }
}

/// Writes every row out, run after run.
pub(crate) fn spell_out<T: Code>(rows: &LeftRows<T>, all: &mut Vec<T>) {
    all.clear();
    let mut copy = |start: usize| {
        for run in rows.runs {
            all.extend_from_slice(&rows.elements[start + run..][..rows.run]);
        }
    };
    match rows.starts {
        Starts::Every(count, step) => (0..count).for_each(|row| copy(row * step)),
        Starts::At(places, first, count) => {
            places.some(first, count).iter().copied().for_each(copy);
        }
    }
}
