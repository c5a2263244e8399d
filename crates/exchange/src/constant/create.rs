//! Tensors made of a rule: one value, a range, a band of a matrix.

use super::{Array, Refusal, Values};
use interop::Budget;

/// Elements of a tensor that is made while a file is read, at most.
pub const MAX_ELEMENTS: usize = 1 << 28;

/// Elements that an evaluation makes of any few, at most: the mask of 4096 positions.
const MAX_MADE: usize = 1 << 24;
/// Elements that an evaluation makes of many, at most, in multiples of their number.
const MAX_GROWTH: usize = 4;

/// Refuses an evaluation that would make far more elements than the `given` ones and than networks need.
pub fn check_growth(shape: &[usize], given: usize) -> Result<(), Refusal> {
    let max = MAX_MADE.max(given.saturating_mul(MAX_GROWTH));
    let count = shape
        .iter()
        .try_fold(1_usize, |n, &size| n.checked_mul(size));
    if count.is_some_and(|count| count <= max) {
        return Ok(());
    }
    let message = format!("a constant of shape {shape:?} has more than {max} elements");
    Err(Refusal(message))
}

/// Axes of a value, at most. A small file can make a list of millions of sizes.
const MAX_RANK: usize = 64;

/// Refuses more axes than any network has.
pub fn check_rank(rank: usize) -> Result<(), Refusal> {
    if rank <= MAX_RANK {
        return Ok(());
    }
    Err(Refusal(format!("a shape of {rank} axes is not read")))
}

/// The elements of this shape, if they are few enough to make.
///
/// # Errors
/// When there are more than [`MAX_ELEMENTS`].
pub fn element_count(shape: &[usize]) -> Result<usize, Refusal> {
    check_rank(shape.len())?;
    let count = shape
        .iter()
        .try_fold(1_usize, |n, &size| n.checked_mul(size));
    let count = count.filter(|&count| count <= MAX_ELEMENTS);
    count.ok_or_else(|| {
        Refusal::new(format!(
            "a constant of shape {shape:?} has more than 2^28 elements"
        ))
    })
}

/// A tensor whose every element is the one of `value`. Networks that are published without their weights make them so, up to the
/// memory that reading a small file may take.
pub fn filled(shape: &[usize], value: &Array) -> Result<Array, Refusal> {
    let n = element_count(shape)?;
    let max = Budget::of_size(0).max();
    if n > MAX_MADE && value.values.bytes().saturating_mul(n as u64) > max {
        return Err(Refusal(format!(
            "a constant of shape {shape:?} needs more than the {} MB that reading may take; if it is a file that you trust, --max-memory allows more",
            max / 1_000_000
        )));
    }
    let values = match &value.values {
        Values::F32(values) if values.len() == 1 => Values::F32(vec![values[0]; n]),
        Values::I64(values) if values.len() == 1 => Values::I64(vec![values[0]; n]),
        Values::Bool(values) if values.len() == 1 => Values::Bool(vec![values[0]; n]),
        _ => return Err(Refusal::new("a constant is filled with one number")),
    };
    Ok(Array::new(shape.to_vec(), values))
}

/// From `start` up to `limit`, which is not reached, by `delta`.
pub fn range(start: &Array, limit: &Array, delta: &Array) -> Result<Array, Refusal> {
    let refuse =
        || Refusal::new("a range is of three numbers of one type and steps towards its limit");
    let steps = |from: f64, to: f64, by: f64| {
        let n = ((to - from) / by).ceil().max(0.0);
        (by != 0.0 && n <= MAX_MADE as f64)
            .then_some(n as usize)
            .ok_or_else(refuse)
    };
    let values = match (&start.values, &limit.values, &delta.values) {
        (Values::I64(a), Values::I64(b), Values::I64(d)) => {
            let (&[a], &[b], &[d]) = (a.as_slice(), b.as_slice(), d.as_slice()) else {
                return Err(refuse());
            };
            let n = steps(a as f64, b as f64, d as f64)? as i64;
            let value = |k: i64| a.checked_add(k.checked_mul(d)?);
            let values: Option<Vec<i64>> = (0..n).map(value).collect();
            Values::I64(values.ok_or_else(refuse)?)
        }
        (Values::F32(a), Values::F32(b), Values::F32(d)) => {
            let (&[a], &[b], &[d]) = (a.as_slice(), b.as_slice(), d.as_slice()) else {
                return Err(refuse());
            };
            let n = steps(a.into(), b.into(), d.into())?;
            Values::F32((0..n).map(|k| a + k as f32 * d).collect())
        }
        _ => return Err(refuse()),
    };
    Ok(Array::new(vec![values.len()], values))
}

/// The upper or lower triangle of the last two axes, counted from the diagonal `k`; the rest is zero.
pub fn band(array: &Array, upper: bool, k: i64) -> Result<Array, Refusal> {
    let [.., rows, columns] = array.shape.as_slice() else {
        return Err(Refusal::new("a triangle needs two axes"));
    };
    let (rows, columns) = (*rows as i64, *columns as i64);
    let keeps = |at: usize| {
        let at = at as i64;
        let distance = at % columns - at / columns % rows;
        if upper { distance >= k } else { distance <= k }
    };
    let values = match &array.values {
        Values::F32(values) => Values::F32(masked(values, 0.0, keeps)),
        Values::I64(values) => Values::I64(masked(values, 0, keeps)),
        Values::Bool(values) => Values::Bool(masked(values, false, keeps)),
        Values::Sizes(_) => return Err(Refusal::new("sizes have no triangle")),
    };
    Ok(Array::new(array.shape.clone(), values))
}

fn masked<T: Copy>(values: &[T], zero: T, keeps: impl Fn(usize) -> bool) -> Vec<T> {
    let values = values.iter().enumerate();
    values
        .map(|(at, &value)| if keeps(at) { value } else { zero })
        .collect()
}
