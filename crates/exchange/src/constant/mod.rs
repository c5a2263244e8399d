//! Arithmetic on what is known before a network runs: shapes, positions, masks, stored tensors.
//!
//! Files compute shapes with the same operators as data. Whatever depends on no input is evaluated here, so that a graph holds
//! numbers where the file holds a dozen nodes. Sizes may be multiples of the batch, which is not known yet.

mod create;
mod elementwise;
mod matmul;
mod moves;
mod reduce;

pub use create::{MAX_ELEMENTS, band, check_growth, check_rank, element_count, filled, range};
pub use elementwise::{Binary, Unary, binary, cast, choose, unary};
pub use matmul::matmul;
use moves::spread;
pub use moves::{concat, expand, gather, index_grid, permute, slice, strides};
pub use reduce::{Reduction, cumulative_sum, reduce};

use ir::{DType, Dim};

/// The symbol of the batch.
pub const BATCH: &str = "N";

/// A tensor that is known.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    /// The axes; empty for a single number.
    pub shape: Vec<usize>,
    /// The elements in row-major order.
    pub values: Values,
}

/// The elements of a known tensor.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Floats.
    F32(Vec<f32>),
    /// Integers.
    I64(Vec<i64>),
    /// Truth values.
    Bool(Vec<bool>),
    /// Sizes of axes, at least one of them a multiple of the batch.
    Sizes(Vec<Size>),
}

/// An integer that may be a multiple of the batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// The integer, or the factor of the batch.
    pub factor: i64,
    /// True for a multiple of the batch.
    pub of_batch: bool,
}

impl Size {
    /// The size of an axis.
    pub fn of(dim: &Dim) -> Self {
        Self {
            factor: dim.factor as i64,
            of_batch: dim.symbol.is_some(),
        }
    }

    /// The axis of this size; `None` for a negative number.
    pub fn dim(self) -> Option<Dim> {
        let factor = usize::try_from(self.factor).ok()?;
        Some(Dim {
            factor,
            symbol: self.of_batch.then(|| BATCH.into()),
        })
    }
}

impl From<i64> for Size {
    fn from(factor: i64) -> Self {
        Self {
            factor,
            of_batch: false,
        }
    }
}

/// An evaluation that is not possible, with the reason.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Refusal(pub String);

impl Refusal {
    /// A refusal for this reason.
    pub fn new(reason: impl Into<String>) -> Self {
        Self(reason.into())
    }
}

/// Applies one expression to the elements of any type, and wraps the result in the same type.
macro_rules! map_values {
    ($values:expr, $name:ident => $result:expr) => {
        match $values {
            $crate::constant::Values::F32($name) => $crate::constant::Values::F32($result),
            $crate::constant::Values::I64($name) => $crate::constant::Values::I64($result),
            $crate::constant::Values::Bool($name) => $crate::constant::Values::Bool($result),
            $crate::constant::Values::Sizes($name) => $crate::constant::Values::Sizes($result),
        }
    };
}
pub(crate) use map_values;

impl Values {
    /// The number of elements.
    pub fn len(&self) -> usize {
        match self {
            Self::F32(values) => values.len(),
            Self::I64(values) => values.len(),
            Self::Bool(values) => values.len(),
            Self::Sizes(values) => values.len(),
        }
    }

    /// True when there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The memory that they take.
    pub fn bytes(&self) -> u64 {
        let of_each = match self {
            Self::F32(_) => size_of::<f32>(),
            Self::I64(_) => size_of::<i64>(),
            Self::Bool(_) => size_of::<bool>(),
            Self::Sizes(_) => size_of::<Size>(),
        };
        (self.len() as u64).saturating_mul(of_each as u64)
    }

    /// The element type.
    pub fn dtype(&self) -> DType {
        match self {
            Self::F32(_) => DType::F32,
            Self::I64(_) | Self::Sizes(_) => DType::I64,
            Self::Bool(_) => DType::Bool,
        }
    }

    /// Sizes as plain integers when none is a multiple of the batch.
    #[must_use]
    pub fn simplified(self) -> Self {
        match self {
            Self::Sizes(sizes) if sizes.iter().all(|size| !size.of_batch) => {
                Self::I64(sizes.iter().map(|size| size.factor).collect())
            }
            other => other,
        }
    }
}

impl Array {
    /// A tensor of this shape; the number of values must be that of the shape.
    pub fn new(shape: Vec<usize>, values: Values) -> Self {
        debug_assert_eq!(shape.iter().product::<usize>(), values.len());
        Self {
            shape,
            values: values.simplified(),
        }
    }

    /// A list of integers.
    pub fn ints(values: Vec<i64>) -> Self {
        Self {
            shape: vec![values.len()],
            values: Values::I64(values),
        }
    }

    /// A single number.
    pub fn scalar(value: f32) -> Self {
        Self {
            shape: Vec::new(),
            values: Values::F32(vec![value]),
        }
    }

    /// The same elements with other axes.
    pub fn reshaped(&self, shape: Vec<usize>) -> Result<Self, Refusal> {
        check_rank(shape.len())?;
        let count = shape
            .iter()
            .try_fold(1_usize, |n, &size| n.checked_mul(size));
        if count != Some(self.values.len()) {
            let from = &self.shape;
            return Err(Refusal::new(format!(
                "a constant of shape {from:?} has no shape {shape:?}"
            )));
        }
        Ok(Self {
            shape,
            values: self.values.clone(),
        })
    }

    /// The floats.
    pub fn floats(&self) -> Option<&[f32]> {
        match &self.values {
            Values::F32(values) => Some(values),
            _ => None,
        }
    }

    /// The integers, when none is a multiple of the batch.
    pub fn integers(&self) -> Option<&[i64]> {
        match &self.values {
            Values::I64(values) => Some(values),
            _ => None,
        }
    }

    /// The integers, some of which may be multiples of the batch.
    pub fn sizes(&self) -> Option<Vec<Size>> {
        match &self.values {
            Values::I64(values) => Some(values.iter().map(|&value| value.into()).collect()),
            Values::Sizes(sizes) => Some(sizes.clone()),
            _ => None,
        }
    }

    /// The only element as a float; integers and truth values are converted.
    pub fn number(&self) -> Option<f64> {
        match &self.values {
            Values::F32(values) if values.len() == 1 => Some(values[0].into()),
            Values::I64(values) if values.len() == 1 => Some(values[0] as f64),
            Values::Bool(values) if values.len() == 1 => Some(f64::from(u8::from(values[0]))),
            _ => None,
        }
    }
}

/// The shape that two known tensors broadcast to.
pub fn broadcast_shapes(a: &[usize], b: &[usize]) -> Result<Vec<usize>, Refusal> {
    let rank = a.len().max(b.len());
    let at =
        |shape: &[usize], i: usize| (i + shape.len()).checked_sub(rank).map_or(1, |k| shape[k]);
    (0..rank)
        .map(|i| match (at(a, i), at(b, i)) {
            (x, y) if x == y || y == 1 => Ok(x),
            (1, y) => Ok(y),
            _ => Err(Refusal::new(format!(
                "constants of shapes {a:?} and {b:?} do not broadcast"
            ))),
        })
        .collect()
}

#[cfg(test)]
mod tests;
