//! Elementwise loops and whole-slice reductions, vectorised for the machine.
//!
//! Every function gives the same bits at every instruction-set level: elementwise work has no order, and the reductions
//! fix theirs in the source.
//!
//! A closure must be inlined into each version to be vectorised. Short ones are; write `#[inline(always)] |x| …` in the
//! argument (or pass an `#[inline(always)]` function) when the body is longer than a few operations: a closure that is
//! left out of line runs an element at a time, ten times slower.

use crate::isa::versions;

/// Lanes of the fixed summation orders; a multiple of every level's vector width.
const LANES: usize = 16;

versions! {
    /// `y[i] = f(x[i])`.
    pub fn map(x: &[f32], y: &mut [f32], f: impl Fn(f32) -> f32 + Copy) {
        debug_assert_eq!(x.len(), y.len(), "map: x has {} elements, y {}", x.len(), y.len());
        for (y, &x) in y.iter_mut().zip(x) {
            *y = f(x);
        }
    }

    /// `y[i] = f(a[i], b[i])`.
    pub fn zip(a: &[f32], b: &[f32], y: &mut [f32], f: impl Fn(f32, f32) -> f32 + Copy) {
        debug_assert!(a.len() == y.len() && b.len() == y.len(), "zip: lengths differ");
        for ((y, &a), &b) in y.iter_mut().zip(a).zip(b) {
            *y = f(a, b);
        }
    }

    /// `y[i] = f(a[i], b[i], c[i])`.
    pub fn zip3(a: &[f32], b: &[f32], c: &[f32], y: &mut [f32], f: impl Fn(f32, f32, f32) -> f32 + Copy) {
        debug_assert!(a.len() == y.len() && b.len() == y.len() && c.len() == y.len(), "zip3: lengths differ");
        for (((y, &a), &b), &c) in y.iter_mut().zip(a).zip(b).zip(c) {
            *y = f(a, b, c);
        }
    }

    /// `y[i] = f(x[i], y[i])`.
    pub fn zip_inplace(x: &[f32], y: &mut [f32], f: impl Fn(f32, f32) -> f32 + Copy) {
        debug_assert_eq!(x.len(), y.len(), "zip_inplace: x has {} elements, y {}", x.len(), y.len());
        for (y, &x) in y.iter_mut().zip(x) {
            *y = f(x, *y);
        }
    }

    /// `y[r, c] = f(x[r, c], row[c])` on rows of `row.len()` elements.
    pub fn zip_row(x: &[f32], row: &[f32], y: &mut [f32], f: impl Fn(f32, f32) -> f32 + Copy) {
        debug_assert_eq!(x.len(), y.len(), "zip_row: x has {} elements, y {}", x.len(), y.len());
        let cols = row.len().max(1);
        for (y, x) in y.chunks_exact_mut(cols).zip(x.chunks_exact(cols)) {
            for ((y, &x), &b) in y.iter_mut().zip(x).zip(row) {
                *y = f(x, b);
            }
        }
    }

    /// `y[r, c] = f(x[r, c], col[r])` on `col.len()` rows.
    pub fn zip_col(x: &[f32], col: &[f32], y: &mut [f32], f: impl Fn(f32, f32) -> f32 + Copy) {
        debug_assert_eq!(x.len(), y.len(), "zip_col: x has {} elements, y {}", x.len(), y.len());
        let cols = (x.len() / col.len().max(1)).max(1);
        for ((y, x), &b) in y.chunks_exact_mut(cols).zip(x.chunks_exact(cols)).zip(col) {
            for (y, &x) in y.iter_mut().zip(x) {
                *y = f(x, b);
            }
        }
    }

    /// `y += x`.
    pub fn add_assign(x: &[f32], y: &mut [f32]) {
        debug_assert_eq!(x.len(), y.len(), "add_assign: x has {} elements, y {}", x.len(), y.len());
        for (y, &x) in y.iter_mut().zip(x) {
            *y += x;
        }
    }

    /// `y *= s`.
    pub fn scale(y: &mut [f32], s: f32) {
        for y in y {
            *y *= s;
        }
    }

    /// `y += a · x`.
    pub fn axpy(a: f32, x: &[f32], y: &mut [f32]) {
        debug_assert_eq!(x.len(), y.len(), "axpy: x has {} elements, y {}", x.len(), y.len());
        for (y, &x) in y.iter_mut().zip(x) {
            *y += a * x;
        }
    }

    /// Sum in `f64`: sixteen interleaved partial sums, then those in order.
    pub fn sum(x: &[f32]) -> f64 {
        let mut lanes = [0.0f64; LANES];
        let chunks = x.chunks_exact(LANES);
        let tail = chunks.remainder();
        for chunk in chunks {
            for (lane, &x) in lanes.iter_mut().zip(chunk) {
                *lane += f64::from(x);
            }
        }
        for (lane, &x) in lanes.iter_mut().zip(tail) {
            *lane += f64::from(x);
        }
        lanes.iter().sum()
    }

    /// `out[c] = Σ_r x[r, c]` on rows of `cols` elements; rows are added pairwise in blocks, these in order.
    pub fn col_sums(cols: usize, x: &[f32], out: &mut [f32]) {
        assert_eq!(out.len(), cols, "col_sums: {} outputs for {cols} columns", out.len());
        out.fill(0.0);
        if cols == 0 {
            return;
        }
        assert_eq!(x.len() % cols, 0, "col_sums: {} elements in rows of {cols}", x.len());
        if cols < LANES {
            narrow_col_sums(cols, x, out);
            return;
        }
        let blocks = x.chunks_exact(8 * cols);
        let tail = blocks.remainder();
        for block in blocks {
            let (a, b) = block.split_at(4 * cols);
            let (a01, a23) = a.split_at(2 * cols);
            let (b01, b23) = b.split_at(2 * cols);
            let ((a0, a1), (a2, a3)) = (a01.split_at(cols), a23.split_at(cols));
            let ((b0, b1), (b2, b3)) = (b01.split_at(cols), b23.split_at(cols));
            for c in 0..cols {
                let a = (a0[c] + a1[c]) + (a2[c] + a3[c]);
                let b = (b0[c] + b1[c]) + (b2[c] + b3[c]);
                out[c] += a + b;
            }
        }
        for row in tail.chunks_exact(cols) {
            for (out, &x) in out.iter_mut().zip(row) {
                *out += x;
            }
        }
    }
}

/// Fewer columns than lanes: sixteen rows at a time as one flat run, whose partial sums fold at the end.
#[inline(always)]
fn narrow_col_sums(cols: usize, x: &[f32], out: &mut [f32]) {
    let mut partial = [0.0f32; LANES * LANES];
    let partial = &mut partial[..LANES * cols];
    for rows in x.chunks(LANES * cols) {
        for (p, &x) in partial.iter_mut().zip(rows) {
            *p += x;
        }
    }
    let mut width = LANES / 2;
    while width > 0 {
        let (low, high) = partial.split_at_mut(width * cols);
        for (a, &b) in low.iter_mut().zip(&*high) {
            *a += b;
        }
        width /= 2;
    }
    out.copy_from_slice(&partial[..cols]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::testing::on_every_isa;
    use crate::testing::{SIZES, noise};

    #[test]
    fn elementwise_functions_follow_their_formulas() {
        on_every_isa(|isa| {
            for n in SIZES {
                let (a, b, c) = (noise(n, 1), noise(n, 2), noise(n, 3));
                let mut y = vec![0.0; n];
                let check = |name: &str, got: &[f32], want: &dyn Fn(usize) -> f32| {
                    for (i, &got) in got.iter().enumerate() {
                        assert_eq!(got, want(i), "{name} {isa:?} n = {n} i = {i}");
                    }
                };
                map(&a, &mut y, |x| x * 2.0 + 1.0);
                check("map", &y, &|i| a[i] * 2.0 + 1.0);
                zip(&a, &b, &mut y, |a, b| a - b);
                check("zip", &y, &|i| a[i] - b[i]);
                zip3(&a, &b, &c, &mut y, |a, b, c| a * b + c);
                check("zip3", &y, &|i| a[i] * b[i] + c[i]);
                y.copy_from_slice(&b);
                axpy(0.5, &a, &mut y);
                check("axpy", &y, &|i| 0.5 * a[i] + b[i]);
                y.copy_from_slice(&b);
                add_assign(&a, &mut y);
                scale(&mut y, 3.0);
                check("add_assign, scale", &y, &|i| (a[i] + b[i]) * 3.0);
                y.copy_from_slice(&b);
                zip_inplace(&a, &mut y, |a, y| a - y * y);
                check("zip_inplace", &y, &|i| a[i] - b[i] * b[i]);
            }
        });
    }

    #[test]
    fn row_and_column_operands_repeat() {
        on_every_isa(|_| {
            for (rows, cols) in [(0, 3), (1, 1), (3, 5), (7, 16), (5, 33)] {
                let (x, row, col) = (noise(rows * cols, 1), noise(cols, 2), noise(rows, 3));
                let mut y = vec![0.0; rows * cols];
                zip_row(&x, &row, &mut y, |x, b| x - b);
                assert!((0..rows * cols).all(|i| y[i] == x[i] - row[i % cols]));
                zip_col(&x, &col, &mut y, |x, b| x - b);
                assert!((0..rows * cols).all(|i| y[i] == x[i] - col[i / cols]));
            }
        });
    }

    #[test]
    fn sums_match_f64() {
        on_every_isa(|isa| {
            for n in SIZES.into_iter().chain([100_003]) {
                let x = noise(n, 7);
                let want: f64 = x.iter().map(|&x| f64::from(x)).sum();
                assert!(
                    (sum(&x) - want).abs() <= 1e-10 * n as f64,
                    "sum {isa:?} {n}"
                );
            }
        });
    }

    #[test]
    fn column_sums_match_f64() {
        on_every_isa(|isa| {
            for cols in [1, 2, 5, 15, 16, 17, 33, 64, 100] {
                for rows in [0, 1, 7, 8, 9, 16, 17, 31, 256, 1000] {
                    let x = noise(rows * cols, cols as u64);
                    let mut out = vec![9.0; cols];
                    col_sums(cols, &x, &mut out);
                    for (c, &got) in out.iter().enumerate() {
                        let want: f64 = (0..rows).map(|r| f64::from(x[r * cols + c])).sum();
                        let error = (f64::from(got) - want).abs();
                        assert!(
                            error <= 2e-7 * (rows + 1) as f64,
                            "{isa:?} {rows}×{cols} column {c}: {got} {want}"
                        );
                    }
                }
            }
        });
    }
}
