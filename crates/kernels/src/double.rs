//! Kernels in `f64`: what the factorisation of a large matrix needs.
//!
//! Guarantee: an element of `C −= A·B` is its old value less, block after block of the depth, one chain of products in the
//! order of k. It depends on its row of A, its column of B and its old value alone, and products are rounded before they
//! are added, so that every instruction set gives the same bits. A machine with units for sums beside those for products
//! loses nothing by that.

use crate::isa::versions;

/// Rows and columns of a register tile: with eight vectors of four lanes, sums are not waited for.
const MR: usize = 4;
const NR: usize = 8;

/// Rows of A, columns of B and depth of the blocks that are copied into buffers that stay in cache.
const M: usize = 64;
const N: usize = 256;
const K: usize = 256;

/// `C[m, n] −= A·B`. A is m×k with free strides, B is k×n row-major with row stride `ldb`, C row-major with `ldc`.
///
/// # Panics
/// When a slice is too short for its sizes and strides, or rows of C would overlap: an error of the caller.
pub fn subtract_product(
    m: usize,
    k: usize,
    n: usize,
    a: &[f64],
    a_row_stride: usize,
    a_col_stride: usize,
    b: &[f64],
    ldb: usize,
    c: &mut [f64],
    ldc: usize,
) {
    if m == 0 || n == 0 || k == 0 {
        return;
    }
    assert!(
        m == 1 || ldc >= n,
        "subtract_product: ldc = {ldc} is less than n = {n}"
    );
    let a_len = (m - 1) * a_row_stride + (k - 1) * a_col_stride + 1;
    for (name, len, needed) in [
        ("A", a.len(), a_len),
        ("B", b.len(), (k - 1) * ldb + n),
        ("C", c.len(), (m - 1) * ldc + n),
    ] {
        assert!(
            len >= needed,
            "subtract_product: {name} has {len} elements, its sizes and strides need {needed}"
        );
    }
    let (mut packed_a, mut packed_b) = (Vec::new(), Vec::new());
    for p in (0..k).step_by(K) {
        let depth = K.min(k - p);
        for j in (0..n).step_by(N) {
            let width = N.min(n - j);
            pack_columns(depth, width, &b[p * ldb + j..], ldb, &mut packed_b);
            for i in (0..m).step_by(M) {
                let height = M.min(m - i);
                let block = &a[i * a_row_stride + p * a_col_stride..];
                let strides = [a_row_stride, a_col_stride];
                pack_rows(height, depth, block, strides, &mut packed_a);
                let block = &mut c[i * ldc + j..];
                subtract_tiles(depth, [height, width], &packed_a, &packed_b, block, ldc);
            }
        }
    }
}

/// Copies a block of B: strips of [`NR`] columns one after the other, missing ones zero.
fn pack_columns(depth: usize, width: usize, b: &[f64], ldb: usize, packed: &mut Vec<[f64; NR]>) {
    packed.clear();
    packed.resize(depth * width.div_ceil(NR), [0.0; NR]);
    for p in 0..depth {
        let row = &b[p * ldb..][..width];
        for (columns, strip) in row.chunks(NR).zip(packed.chunks_exact_mut(depth)) {
            strip[p][..columns.len()].copy_from_slice(columns);
        }
    }
}

/// Copies a block of A: strips of [`MR`] rows one after the other, missing ones zero. Neighbours are read one after the
/// other: of rows far apart no cache holds many.
fn pack_rows(
    height: usize,
    depth: usize,
    a: &[f64],
    [row_stride, col_stride]: [usize; 2],
    packed: &mut Vec<[f64; MR]>,
) {
    packed.clear();
    packed.resize(depth * height.div_ceil(MR), [0.0; MR]);
    if row_stride == 1 {
        for p in 0..depth {
            let column = &a[p * col_stride..][..height];
            for (rows, strip) in column.chunks(MR).zip(packed.chunks_exact_mut(depth)) {
                strip[p][..rows.len()].copy_from_slice(rows);
            }
        }
    } else {
        for (i, strip) in (0..height).zip((0..).map(|i| i / MR * depth)) {
            let row = a[i * row_stride..].iter().step_by(col_stride.max(1));
            for (place, &value) in packed[strip..][..depth].iter_mut().zip(row) {
                place[i % MR] = value;
            }
        }
    }
}

versions! {
    /// Subtracts the product of two packed blocks.
    fn subtract_tiles(
        depth: usize,
        size: [usize; 2],
        a: &[[f64; MR]],
        b: &[[f64; NR]],
        c: &mut [f64],
        ldc: usize,
    ) {
        let [height, width] = size;
        for (b, j) in b.chunks_exact(depth).zip((0..width).step_by(NR)) {
            let columns = NR.min(width - j);
            for (a, i) in a.chunks_exact(depth).zip((0..height).step_by(MR)) {
                let sums = tile(a, b);
                for (sums, i) in sums.iter().zip(i..height) {
                    let c = &mut c[i * ldc + j..][..columns];
                    for (c, sum) in c.iter_mut().zip(sums) {
                        *c -= sum;
                    }
                }
            }
        }
    }

    /// `y −= factor·x`.
    pub fn subtract_scaled(y: &mut [f64], factor: f64, x: &[f64]) {
        for (y, x) in y.iter_mut().zip(x) {
            *y -= factor * x;
        }
    }

    /// `y += x` of single-precision values.
    pub fn add_single(y: &mut [f64], x: &[f32]) {
        for (y, &x) in y.iter_mut().zip(x) {
            *y += f64::from(x);
        }
    }
}

/// The product of a strip of rows and a strip of columns.
#[inline(always)]
fn tile(a: &[[f64; MR]], b: &[[f64; NR]]) -> [[f64; NR]; MR] {
    let mut sums = [[0.0; NR]; MR];
    for (a, b) in a.iter().zip(b) {
        for (sums, a) in sums.iter_mut().zip(a) {
            for (sum, b) in sums.iter_mut().zip(b) {
                *sum += a * b;
            }
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::testing::on_every_isa;
    use crate::testing::noise;

    fn doubles(count: usize, seed: u64) -> Vec<f64> {
        let (high, low) = (noise(count, seed), noise(count, seed + 100));
        let pairs = high.iter().zip(&low);
        pairs
            .map(|(&high, &low)| f64::from(high) + 1e-9 * f64::from(low))
            .collect()
    }

    /// Compares C, the gaps between its rows included, with plain loops at every level.
    fn check(m: usize, k: usize, n: usize, transposed: bool, pad: usize) {
        let [row, col] = if transposed {
            [1, m + pad]
        } else {
            [k + pad, 1]
        };
        let (ldb, ldc) = (n + pad, n + pad);
        let a = doubles(m * row.max(1) + k * col, 1);
        let b = doubles(k * ldb + n, 2);
        let old = doubles(m * ldc + pad, 3);
        let mut want = old.clone();
        for (i, j) in (0..m).flat_map(|i| (0..n).map(move |j| (i, j))) {
            for from in (0..k).step_by(K) {
                let chain = (from..k.min(from + K)).map(|p| a[i * row + p * col] * b[p * ldb + j]);
                want[i * ldc + j] -= chain.fold(0.0, |sum, product| sum + product);
            }
        }
        on_every_isa(|isa| {
            let mut c = old.clone();
            subtract_product(m, k, n, &a, row, col, &b, ldb, &mut c, ldc);
            assert_eq!(c, want, "{isa:?} {m}×{k}×{n} transposed {transposed}");
        });
    }

    #[test]
    fn every_edge_size_is_the_promised_chain() {
        for m in [0, 1, 3, 4, 5, 9] {
            for n in [0, 1, 7, 8, 9, 17] {
                for k in [0, 1, 2, 19] {
                    check(m, k, n, (m + n) % 2 == 0, n % 3);
                }
            }
        }
    }

    #[test]
    fn sizes_around_the_blocks_are_the_promised_chain() {
        check(M - 1, K + 1, N + 1, false, 1);
        check(M, K, N, true, 0);
        check(M + 1, 2 * K + 3, N - 1, true, 2);
        check(2 * M + 5, K - 1, 2 * N + 9, false, 0);
    }

    #[test]
    fn arrays_are_scaled_and_widened_element_by_element() {
        on_every_isa(|isa| {
            let mut y = vec![1.0; 19];
            let x: Vec<f64> = (0..19).map(f64::from).collect();
            subtract_scaled(&mut y, 0.5, &x);
            let want = |k: usize| 1.0 - 0.5 * k as f64;
            assert!((0..19).all(|k| y[k] == want(k)), "{isa:?} {y:?}");
            let singles: Vec<f32> = x.iter().map(|&x| x as f32).collect();
            add_single(&mut y, &singles);
            assert!((0..19).all(|k| y[k] == want(k) + k as f64), "{isa:?} {y:?}");
        });
    }

    #[test]
    #[should_panic(expected = "A has 3 elements, its sizes and strides need 4")]
    fn a_left_operand_without_its_last_element_is_named() {
        subtract_product(2, 2, 1, &[0.0; 3], 2, 1, &[0.0; 2], 1, &mut [0.0; 2], 1);
    }

    #[test]
    #[should_panic(expected = "C has 4 elements, its sizes and strides need 5")]
    fn a_result_without_its_last_element_is_named() {
        subtract_product(2, 1, 2, &[0.0; 2], 1, 1, &[0.0; 2], 2, &mut [0.0; 4], 3);
    }

    #[test]
    #[should_panic(expected = "B has 5 elements, its sizes and strides need 6")]
    fn short_operands_are_named() {
        subtract_product(1, 2, 3, &[0.0; 2], 2, 1, &[0.0; 5], 3, &mut [0.0; 3], 3);
    }
}
