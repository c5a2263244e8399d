//! The triangular factor that GPTQ works with, in double precision.

/// A square matrix in row-major order.
#[derive(Clone, Debug, PartialEq)]
pub struct Square {
    /// Rows, and columns.
    pub size: usize,
    /// Row after row.
    pub values: Vec<f64>,
}

impl Square {
    /// All zeros.
    pub fn zero(size: usize) -> Self {
        let values = vec![0.0; size * size];
        Self { size, values }
    }

    /// A row.
    pub fn row(&self, i: usize) -> &[f64] {
        &self.values[i * self.size..][..self.size]
    }

    /// True when every entry is finite.
    pub fn is_finite(&self) -> bool {
        self.values.iter().all(|value| value.is_finite())
    }

    /// The entries from the upper left to the lower right.
    pub fn diagonal(&self) -> Vec<f64> {
        (0..self.size).map(|i| self.row(i)[i]).collect()
    }

    /// Rows and columns in another order.
    pub fn permuted(&self, order: &[usize]) -> Self {
        let row = |&i: &usize| order.iter().map(move |&j| self.row(i)[j]);
        let values = order.iter().flat_map(row).collect();
        Self {
            size: self.size,
            values,
        }
    }
}

/// The upper triangular U with Uᵀ·U = H⁻¹, for a symmetric H; nothing if H is not positive definite.
///
/// With the order of the axes turned round, H = Vᵀ·V by Cholesky; then U is V⁻ᵀ with both axes turned round. That is one
/// factorisation and one triangular inverse instead of two factorisations and an inverse.
pub fn inverse_factor(h: &Square) -> Option<Square> {
    let n = h.size;
    let backwards: Vec<usize> = (0..n).rev().collect();
    let mut v = h.permuted(&backwards);
    factor_in_place(&mut v)?;
    let inverse = upper_inverse(&v);
    let mut u = Square::zero(n);
    for i in 0..n {
        for j in i..n {
            u.values[i * n + j] = inverse.row(n - 1 - j)[n - 1 - i];
        }
    }
    Some(u)
}

/// A = Vᵀ·V with V upper triangular; what is below the diagonal is left as it is.
fn factor_in_place(a: &mut Square) -> Option<()> {
    let n = a.size;
    for k in 0..n {
        let (done, rest) = a.values.split_at_mut((k + 1) * n);
        let pivot_row = &mut done[k * n..];
        let pivot = pivot_row[k];
        if pivot.is_nan() || pivot <= 0.0 {
            return None;
        }
        let scale = 1.0 / pivot.sqrt();
        pivot_row[k..].iter_mut().for_each(|x| *x *= scale);
        for (row, i) in rest.chunks_exact_mut(n).zip(k + 1..) {
            subtract(&mut row[i..], pivot_row[i], &pivot_row[i..]);
        }
    }
    Some(())
}

/// The inverse of an upper triangular matrix.
fn upper_inverse(v: &Square) -> Square {
    let n = v.size;
    let mut inverse = Square::zero(n);
    for i in (0..n).rev() {
        let (above, below) = inverse.values.split_at_mut((i + 1) * n);
        let row = &mut above[i * n..];
        row[i] = 1.0;
        for k in i + 1..n {
            subtract(&mut row[k..], v.row(i)[k], &below[(k - i - 1) * n..][k..n]);
        }
        let scale = 1.0 / v.row(i)[i];
        row[i..].iter_mut().for_each(|x| *x *= scale);
    }
    inverse
}

/// `y −= factor·x`.
pub fn subtract(y: &mut [f64], factor: f64, x: &[f64]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y -= factor * x;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_factor_of_the_inverse_times_the_matrix_is_one() {
        let random = random::Random::new(3, "matrix");
        for n in [1, 2, 7, 30] {
            let x: Vec<f64> = (0..n * n).map(|k| random.normal(k as u64).into()).collect();
            let mut h = Square::zero(n);
            for i in 0..n {
                for j in 0..n {
                    let dot: f64 = (0..n).map(|k| x[k * n + i] * x[k * n + j]).sum();
                    h.values[i * n + j] = dot + if i == j { 0.1 } else { 0.0 };
                }
            }
            let u = inverse_factor(&h).unwrap();
            for i in 0..n {
                for j in 0..n {
                    // (Uᵀ·U)·H
                    let inverse = |k: usize| (0..n).map(|l| u.row(l)[i] * u.row(l)[k]).sum::<f64>();
                    let got: f64 = (0..n).map(|k| inverse(k) * h.row(k)[j]).sum();
                    let want = f64::from(u8::from(i == j));
                    assert!((got - want).abs() < 1e-8, "{n}: {i}, {j}: {got}");
                    assert!(j >= i || u.row(i)[j] == 0.0);
                }
            }
        }
    }

    #[test]
    fn what_is_not_positive_definite_has_no_factor() {
        let mut h = Square::zero(2);
        assert!(inverse_factor(&h).is_none());
        h.values = vec![1.0, 2.0, 2.0, 1.0];
        assert!(inverse_factor(&h).is_none());
    }
}
