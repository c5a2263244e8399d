//! The triangular factor that GPTQ works with, in double precision.

use kernels::double::{subtract_product, subtract_scaled};
use kernels::threads::Pool;
use std::ops::Range;

/// A square matrix in row-major order.
#[derive(Clone, Debug, PartialEq)]
pub struct Square {
    /// Rows, and columns.
    pub size: usize,
    /// Row after row.
    pub values: Vec<f64>,
}

/// Rows and columns that are mirrored at a time, so that both places stay in cache.
const MIRRORED: usize = 32;

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

    /// Copies what is right of the diagonal to the other side.
    pub fn mirror(&mut self) {
        let n = self.size;
        for top in (0..n).step_by(MIRRORED) {
            for left in (top..n).step_by(MIRRORED) {
                for i in top..n.min(top + MIRRORED) {
                    for j in left.max(i + 1)..n.min(left + MIRRORED) {
                        self.values[j * n + i] = self.values[i * n + j];
                    }
                }
            }
        }
    }
}

/// Rows that are factored at a time, and columns of them that a thread works on.
const BLOCK: usize = 128;
const STRIP: usize = 256;

/// A = Vᵀ·V with V upper triangular, in the place of A; nothing if A, symmetric, is not positive definite. What is below
/// the diagonal is of no meaning.
///
/// Block of rows after block of rows: all rows above are subtracted by one product, then the block is solved for.
pub fn factor_in_place(a: &mut Square, pool: &Pool) -> Option<()> {
    let n = a.size;
    for start in (0..n).step_by(BLOCK) {
        let rows = start..n.min(start + BLOCK);
        let mut diagonal = Strip::of(rows.clone(), rows.clone());
        diagonal.subtract_rows_above(a);
        diagonal.factor()?;
        let columns = (rows.end..n).step_by(STRIP);
        let mut strips: Vec<Strip> = columns
            .map(|left| Strip::of(rows.clone(), left..n.min(left + STRIP)))
            .collect();
        pool.for_each(&mut strips, |_, strip| {
            strip.subtract_rows_above(a);
            strip.solve(&diagonal);
        });
        for strip in [diagonal].iter().chain(&strips) {
            strip.store(a);
        }
    }
    Some(())
}

/// A copy of some rows and columns.
struct Strip {
    rows: Range<usize>,
    columns: Range<usize>,
    values: Vec<f64>,
}

impl Strip {
    fn of(rows: Range<usize>, columns: Range<usize>) -> Self {
        let values = Vec::new();
        Self {
            rows,
            columns,
            values,
        }
    }

    fn row(&self, i: usize) -> &[f64] {
        let width = self.columns.len();
        &self.values[i * width..][..width]
    }

    /// The rows of A less what the rows of V above them account for.
    fn subtract_rows_above(&mut self, a: &Square) {
        let (n, width) = (a.size, self.columns.len());
        for i in self.rows.clone() {
            self.values
                .extend_from_slice(&a.row(i)[self.columns.clone()]);
        }
        let (m, k) = (self.rows.len(), self.rows.start);
        let (left, right) = (&a.values[k..], &a.values[self.columns.start..]);
        subtract_product(m, k, width, left, 1, n, right, n, &mut self.values, width);
    }

    /// The factor of a block on the diagonal.
    fn factor(&mut self) -> Option<()> {
        let n = self.rows.len();
        for k in 0..n {
            let (done, rest) = self.values.split_at_mut((k + 1) * n);
            let pivot_row = &mut done[k * n..];
            let pivot = pivot_row[k];
            if pivot.is_nan() || pivot <= 0.0 {
                return None;
            }
            let scale = 1.0 / pivot.sqrt();
            pivot_row[k..].iter_mut().for_each(|x| *x *= scale);
            for (row, i) in rest.chunks_exact_mut(n).zip(k + 1..) {
                subtract_scaled(&mut row[i..], pivot_row[i], &pivot_row[i..]);
            }
        }
        Some(())
    }

    /// The rows of V right of a block on the diagonal.
    fn solve(&mut self, diagonal: &Self) {
        let width = self.columns.len();
        for i in 0..self.rows.len() {
            let (done, rest) = self.values.split_at_mut(i * width);
            let row = &mut rest[..width];
            for (above, k) in done.chunks_exact(width).zip(0..) {
                subtract_scaled(row, diagonal.row(k)[i], above);
            }
            let scale = 1.0 / diagonal.row(i)[i];
            for x in row {
                *x *= scale;
            }
        }
    }

    fn store(&self, a: &mut Square) {
        for (i, row) in self.rows.clone().zip(0..) {
            let place = i * a.size + self.columns.start;
            a.values[place..][..self.columns.len()].copy_from_slice(self.row(row));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Xᵀ·X of random X, and a little more on the diagonal.
    fn positive_definite(n: usize) -> Square {
        let random = random::Random::new(3, "matrix");
        let x: Vec<f64> = (0..n * n).map(|k| random.normal(k as u64).into()).collect();
        let mut h = Square::zero(n);
        subtract_product(n, n, n, &x, 1, n, &x, n, &mut h.values, n);
        h.values.iter_mut().for_each(|value| *value = -*value);
        (0..n).for_each(|i| h.values[i * n + i] += 0.1);
        h
    }

    /// The factorisation column by column, each entry a sum over the rows above.
    fn plain(a: &Square) -> Square {
        let n = a.size;
        let mut v = Square::zero(n);
        for i in 0..n {
            for j in i..n {
                let above: f64 = (0..i).map(|k| v.row(k)[i] * v.row(k)[j]).sum();
                let left = a.row(i)[j] - above;
                v.values[i * n + j] = if i == j {
                    left.sqrt()
                } else {
                    left / v.row(i)[i]
                };
            }
        }
        v
    }

    #[test]
    fn sizes_around_the_blocks_agree_with_plain_loops_on_any_number_of_threads() {
        for n in [
            1,
            2,
            30,
            BLOCK - 1,
            BLOCK,
            BLOCK + 1,
            2 * BLOCK + 3,
            BLOCK + STRIP,
            BLOCK + STRIP + 1,
        ] {
            let h = positive_definite(n);
            let want = plain(&h);
            let factor = |threads| {
                let mut v = h.clone();
                factor_in_place(&mut v, &Pool::new(threads)).unwrap();
                v
            };
            let got = factor(1);
            let scale = h.diagonal().into_iter().fold(0.0, f64::max).sqrt();
            for (i, j) in (0..n).flat_map(|i| (i..n).map(move |j| (i, j))) {
                let (got, want) = (got.row(i)[j], want.row(i)[j]);
                assert!(
                    (got - want).abs() < 1e-9 * scale,
                    "{n}: {i}, {j}: {got}, {want}"
                );
            }
            assert_eq!(factor(3), got, "{n}");
        }
    }

    #[test]
    fn what_is_not_positive_definite_has_no_factor() {
        let pool = Pool::new(1);
        for n in [2, BLOCK + 2] {
            assert!(factor_in_place(&mut Square::zero(n), &pool).is_none());
            let mut h = positive_definite(n);
            let last = h.values.len() - 1;
            h.values[last] = -1e-3;
            assert!(factor_in_place(&mut h, &pool).is_none());
        }
    }

    #[test]
    fn a_mirrored_matrix_is_symmetric() {
        for n in [1, MIRRORED, MIRRORED + 1, 2 * MIRRORED + 5] {
            let mut h = Square::zero(n);
            h.values = (0..n * n).map(|k| k as f64).collect();
            let upper = h.clone();
            h.mirror();
            for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))) {
                assert_eq!(h.row(i)[j], upper.row(i.min(j))[i.max(j)], "{n}: {i}, {j}");
            }
        }
    }
}
