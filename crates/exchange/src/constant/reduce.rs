//! Reductions along axes.

use super::{Array, Refusal, Values, permute};

/// The combination of several elements into one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduction {
    /// The sum.
    Sum,
    /// The mean.
    Mean,
    /// The largest.
    Max,
    /// The smallest.
    Min,
    /// The product.
    Prod,
}

/// The elements of the given axes combined into one.
pub fn reduce(
    kind: Reduction,
    array: &Array,
    axes: &[usize],
    keep: bool,
) -> Result<Array, Refusal> {
    let rank = array.shape.len();
    let kept: Vec<usize> = (0..rank).filter(|axis| !axes.contains(axis)).collect();
    let order: Vec<usize> = kept.iter().chain(axes).copied().collect();
    let ordered = permute(array, &order)?;
    let len: usize = axes.iter().map(|&axis| array.shape[axis]).product();
    let shape = (0..rank).filter_map(|axis| {
        if axes.contains(&axis) {
            keep.then_some(1)
        } else {
            Some(array.shape[axis])
        }
    });
    let refuse = || Refusal::new(format!("{kind:?} of these constants is not evaluated"));
    if len == 0 {
        return Err(refuse());
    }
    let values = match &ordered.values {
        Values::F32(values) => {
            Values::F32(values.chunks(len).map(|row| floats(kind, row)).collect())
        }
        Values::I64(values) => {
            let rows: Option<Vec<i64>> =
                values.chunks(len).map(|row| integers(kind, row)).collect();
            Values::I64(rows.ok_or_else(refuse)?)
        }
        Values::Sizes(sizes) if kind == Reduction::Prod && sizes.len() == len => {
            let mut product = super::Size::from(1);
            for size in sizes {
                if size.of_batch && product.of_batch {
                    return Err(refuse());
                }
                product.of_batch |= size.of_batch;
                product.factor = product.factor.checked_mul(size.factor).ok_or_else(refuse)?;
            }
            Values::Sizes(vec![product])
        }
        Values::Bool(_) | Values::Sizes(_) => return Err(refuse()),
    };
    Ok(Array::new(shape.collect(), values))
}

fn floats(kind: Reduction, row: &[f32]) -> f32 {
    match kind {
        Reduction::Sum => row.iter().sum(),
        Reduction::Mean => row.iter().sum::<f32>() / row.len() as f32,
        Reduction::Max => row.iter().copied().fold(f32::NEG_INFINITY, f32::max),
        Reduction::Min => row.iter().copied().fold(f32::INFINITY, f32::min),
        Reduction::Prod => row.iter().product(),
    }
}

fn integers(kind: Reduction, row: &[i64]) -> Option<i64> {
    let sum = || row.iter().try_fold(0_i64, |sum, &x| sum.checked_add(x));
    match kind {
        Reduction::Sum => sum(),
        Reduction::Mean => Some(sum()? / row.len() as i64),
        Reduction::Max => row.iter().copied().max(),
        Reduction::Min => row.iter().copied().min(),
        Reduction::Prod => row
            .iter()
            .try_fold(1_i64, |product, &x| product.checked_mul(x)),
    }
}

/// The sums of all elements up to each along an axis.
pub fn cumulative_sum(
    array: &Array,
    axis: usize,
    exclusive: bool,
    reverse: bool,
) -> Result<Array, Refusal> {
    let (size, inner) = (
        array.shape[axis],
        array.shape[axis + 1..].iter().product::<usize>(),
    );
    let values = match &array.values {
        Values::F32(values) => Values::F32(sums(values, (size, inner), exclusive, reverse)),
        Values::I64(values) => {
            let total = values
                .iter()
                .try_fold(0_i64, |sum, x| sum.checked_add(x.checked_abs()?));
            total.ok_or_else(|| Refusal::new("a sum of constants overflows"))?;
            Values::I64(sums(values, (size, inner), exclusive, reverse))
        }
        Values::Bool(_) | Values::Sizes(_) => return Err(Refusal::new("a sum is of numbers")),
    };
    Ok(Array::new(array.shape.clone(), values))
}

fn sums<T: Copy + Default + std::ops::Add<Output = T>>(
    values: &[T],
    (size, inner): (usize, usize),
    exclusive: bool,
    reverse: bool,
) -> Vec<T> {
    let mut result = vec![T::default(); values.len()];
    for first in
        (0..values.len() / size.max(1)).map(|line| line / inner * inner * size + line % inner)
    {
        let mut sum = T::default();
        for k in 0..size {
            let at = first + inner * if reverse { size - 1 - k } else { k };
            let next = sum + values[at];
            result[at] = if exclusive { sum } else { next };
            sum = next;
        }
    }
    result
}
