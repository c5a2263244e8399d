//! Products of known matrices.

use super::{Array, MAX_ELEMENTS, Refusal, Values, broadcast_shapes, check_growth, spread};

/// The matrix product of two tensors of floats; axes in front broadcast, vectors are rows and columns.
pub fn matmul(a: &Array, b: &Array) -> Result<Array, Refusal> {
    let refuse = || {
        Refusal::new(format!(
            "constants of shapes {:?} and {:?} have no product",
            a.shape, b.shape
        ))
    };
    let (is_row, is_column) = (a.shape.len() == 1, b.shape.len() == 1);
    let left = if is_row {
        a.reshaped(vec![1, a.shape[0]])?
    } else {
        a.clone()
    };
    let right = if is_column {
        b.reshaped(vec![b.shape[0], 1])?
    } else {
        b.clone()
    };
    let (Some(m_at), Some(n_at)) = (
        left.shape.len().checked_sub(2),
        right.shape.len().checked_sub(2),
    ) else {
        return Err(refuse());
    };
    let (m, k, n) = (
        left.shape[m_at],
        left.shape[m_at + 1],
        right.shape[n_at + 1],
    );
    if right.shape[n_at] != k {
        return Err(refuse());
    }
    let batch = broadcast_shapes(&left.shape[..m_at], &right.shape[..n_at])?;
    let n_matrices: usize = batch.iter().product();
    if n_matrices.saturating_mul(m * n).saturating_mul(k) > 2 * MAX_ELEMENTS {
        return Err(Refusal::new("a product of constants is too large"));
    }
    check_growth(&[n_matrices, m, n], a.values.len() + b.values.len())?;
    let left = spread(&left, &[&batch[..], &[m, k]].concat())?;
    let right = spread(&right, &[&batch[..], &[k, n]].concat())?;
    let (left, right) = (
        left.floats().ok_or_else(refuse)?,
        right.floats().ok_or_else(refuse)?,
    );
    let mut product = vec![0.0_f32; n_matrices * m * n];
    for (row, out) in product.chunks_mut(n.max(1)).enumerate() {
        let matrix = &right[row / m * k * n..];
        for (x, line) in left[row * k..(row + 1) * k]
            .iter()
            .zip(matrix.chunks(n.max(1)))
        {
            for (sum, y) in out.iter_mut().zip(line) {
                *sum += x * y;
            }
        }
    }
    let mut shape = batch;
    shape.extend((!is_row).then_some(m));
    shape.extend((!is_column).then_some(n));
    Ok(Array::new(shape, Values::F32(product)))
}
