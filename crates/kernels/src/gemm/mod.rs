//! Matrix product `C = init + A·B` in `f32`.
//!
//! Guarantee: an element of C is `init` plus one chain of products in the order of k, fused multiply-adds on the AVX
//! levels (which therefore agree bit for bit) and separately rounded ones on the portable level. It depends on its row of
//! A, its column of B and `init` alone: not on m, n, the strides, nor on which tile computed it. For k above
//! [`K_BLOCK`] the chain is cut: each further block of k starts from zero and its sum is added to C, which keeps the
//! rounding error of long sums small.

mod packed;
pub(crate) mod strips;
pub(crate) mod tile;
mod transpose;

use tile::{Product, Start, Strided};
pub use transpose::transpose;

/// Longest chain of products in one accumulator.
pub const K_BLOCK: usize = 256;

/// The initial value of C.
#[derive(Clone, Copy, Debug)]
pub enum Init<'a> {
    /// Zero: C is overwritten.
    Zero,
    /// Its old value.
    Accumulate,
    /// A row of n biases, the same for every row of C.
    Bias(&'a [f32]),
}

/// `C[m, n] = init + A·B`. A is m×k with free strides, B is k×n row-major with row stride `ldb`, C row-major with `ldc`.
///
/// # Panics
/// When a slice is too short for its sizes and strides, or rows of C would overlap: an error of the caller.
pub fn gemm(
    m: usize,
    k: usize,
    n: usize,
    a: &[f32],
    a_row_stride: usize,
    a_col_stride: usize,
    b: &[f32],
    ldb: usize,
    c: &mut [f32],
    ldc: usize,
    init: Init,
) {
    let strides = [a_row_stride, a_col_stride];
    product([m, k, n], a, strides, b, ldb, c, ldc, init, false);
}

/// `C[m, n] = max(init + A·B, 0)` of row-major matrices without gaps; NaN stays NaN.
///
/// # Panics
/// As [`gemm`].
pub fn gemm_relu(m: usize, k: usize, n: usize, a: &[f32], b: &[f32], c: &mut [f32], init: Init) {
    product([m, k, n], a, [k, 1], b, n, c, n, init, true);
}

/// Checks the lengths and runs the product.
fn product(
    [m, k, n]: [usize; 3],
    a: &[f32],
    [a_row_stride, a_col_stride]: [usize; 2],
    b: &[f32],
    ldb: usize,
    c: &mut [f32],
    ldc: usize,
    init: Init,
    relu: bool,
) {
    if m == 0 || n == 0 {
        return;
    }
    let a_len = if k == 0 {
        0
    } else {
        (m - 1) * a_row_stride + (k - 1) * a_col_stride + 1
    };
    let b_len = if k == 0 { 0 } else { (k - 1) * ldb + n };
    assert!(
        a.len() >= a_len,
        "gemm: A has {} elements, m = {m}, k = {k} and its strides need {a_len}",
        a.len()
    );
    assert!(
        b.len() >= b_len,
        "gemm: B has {} elements, k = {k}, n = {n}, ldb = {ldb} need {b_len}",
        b.len()
    );
    assert!(m == 1 || ldc >= n, "gemm: ldc = {ldc} is less than n = {n}");
    let c_len = (m - 1) * ldc + n;
    assert!(
        c.len() >= c_len,
        "gemm: C has {} elements, m = {m}, n = {n}, ldc = {ldc} need {c_len}",
        c.len()
    );
    let whole = Product {
        m,
        k,
        n,
        a: a.as_ptr(),
        a_row_stride,
        a_col_stride,
        b: Strided {
            first: b.as_ptr(),
            stride: ldb,
        },
        c: c.as_mut_ptr(),
        ldc,
        start: start_of(init, n),
        relu,
    };
    // SAFETY: the lengths were checked above; C is borrowed mutably, so it overlaps nothing.
    unsafe { run_blocks(whole) }
}

/// The start of the accumulators of `n` columns.
fn start_of(init: Init, n: usize) -> Start {
    match init {
        Init::Zero => Start::Zero,
        Init::Accumulate => Start::Old,
        Init::Bias(bias) => {
            assert!(
                bias.len() >= n,
                "gemm: bias has {} elements, n = {n}",
                bias.len()
            );
            Start::PerColumn(bias.as_ptr())
        }
    }
}

/// Runs a product in blocks of k, each added to those before.
unsafe fn run_blocks(whole: Product<Strided>) {
    let mut done = 0;
    loop {
        let block = (whole.k - done).min(K_BLOCK);
        // SAFETY: the caller's promise; the block lies inside the product.
        unsafe {
            let b = Strided {
                first: whole.b.row_at(done),
                ..whole.b
            };
            run(Product {
                k: block,
                a: whole.a.add(done * whole.a_col_stride),
                b,
                start: if done == 0 { whole.start } else { Start::Add },
                relu: whole.relu && done + block == whole.k,
                ..whole
            });
        }
        done += block;
        if done == whole.k {
            return;
        }
    }
}

/// Runs one block of k.
unsafe fn run(p: Product<Strided>) {
    // SAFETY: the caller's promise.
    unsafe {
        if packed::pays(&p) {
            packed::run(p);
        } else {
            strips::run(p);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::Isa;
    use crate::isa::testing::on_every_isa;
    use crate::testing::noise;
    use proptest::prelude::*;

    /// A product in plain loops, element by element as the module promises.
    fn chain(
        isa: Isa,
        k: usize,
        a: impl Fn(usize) -> f32,
        b: impl Fn(usize) -> f32,
        init: f32,
    ) -> f32 {
        let step = |sum: f32, p: usize| match isa {
            Isa::Portable => a(p) * b(p) + sum,
            _ => a(p).mul_add(b(p), sum),
        };
        let first = (0..k.min(K_BLOCK)).fold(init, step);
        let starts = (K_BLOCK..k).step_by(K_BLOCK);
        starts.fold(first, |sum, from| {
            sum + (from..k.min(from + K_BLOCK)).fold(0.0, step)
        })
    }

    /// Checks C, the gaps between its rows included, at every level: all of it, or a sample when it is large.
    fn check(m: usize, k: usize, n: usize, transposed: bool, pad: usize, kind: usize) {
        let (row, col) = if transposed {
            (1, m + pad)
        } else {
            (k + pad, 1)
        };
        let (ldb, ldc) = (n + pad, n + pad);
        let a = noise((m * row).max(1) + k * col, 1);
        let b = noise(k * ldb + n, 2);
        let bias = noise(n, 3);
        let old = noise(m * ldc + pad, 4);
        on_every_isa(|isa| {
            let init = [Init::Zero, Init::Accumulate, Init::Bias(&bias)][kind % 3];
            let mut c = old.clone();
            gemm(m, k, n, &a, row, col, &b, ldb, &mut c, ldc, init);
            for (at, &got) in c.iter().enumerate() {
                let (i, j) = (at / ldc.max(1), at % ldc.max(1));
                if i >= m || j >= n {
                    assert_eq!(
                        got, old[at],
                        "{isa:?} {m}×{k}×{n}: wrote outside C at {i}, {j}"
                    );
                    continue;
                }
                if m * k * n > 1 << 22 && at % 61 != 0 {
                    continue;
                }
                let first = [0.0, old[at], bias[j]][kind % 3];
                let want = chain(isa, k, |p| a[i * row + p * col], |p| b[p * ldb + j], first);
                assert_eq!(
                    got, want,
                    "{isa:?} {m}×{k}×{n} transposed {transposed} kind {kind} at {i}, {j}"
                );
            }
        });
    }

    #[test]
    fn every_edge_size_is_the_promised_chain() {
        for m in [0, 1, 2, 5, 6, 11, 13, 25] {
            for n in [0, 1, 4, 5, 8, 9, 16, 17, 31, 33, 49, 64, 65, 100] {
                for k in [0, 1, 3, 16] {
                    check(m, k, n, (m + n) % 2 == 0, n % 3, m + n + k);
                }
            }
        }
    }

    #[test]
    fn large_products_are_the_promised_chain() {
        check(70, 300, 200, false, 0, 0);
        check(97, 1100, 67, true, 0, 2);
        // Large enough to be copied: B beyond the cache, then a transposed A.
        check(300, 257, 1030, false, 1, 2);
        check(65, 530, 1101, true, 3, 1);
        check(1030, 256, 130, true, 0, 0);
    }

    #[test]
    fn long_sums_are_cut() {
        check(3, 2 * K_BLOCK + 5, 7, false, 0, 1);
        check(65, K_BLOCK + 1, 70, false, 0, 2);
        let k = 1 << 18;
        let (a, b) = (vec![1.0; k], vec![0.1; k]);
        let mut c = [0.0];
        gemm(1, k, 1, &a, k, 1, &b, 1, &mut c, 1, Init::Zero);
        let want = f64::from(0.1f32) * k as f64;
        assert!(
            (f64::from(c[0]) / want - 1.0).abs() < 2e-5,
            "{} {want}",
            c[0]
        );
    }

    #[test]
    fn a_rectified_product_is_the_product_rectified() {
        on_every_isa(|isa| {
            for (m, k, n) in [
                (5, 3, 7),
                (33, 16, 64),
                (70, 2 * K_BLOCK + 9, 37),
                (257, 300, 1030),
            ] {
                let (a, b, bias) = (noise(m * k, 1), noise(k * n, 2), noise(n, 3));
                for kind in 0..3 {
                    let init = [Init::Zero, Init::Accumulate, Init::Bias(&bias)][kind];
                    let mut plain = noise(m * n, 4);
                    let mut rectified = plain.clone();
                    gemm(m, k, n, &a, k, 1, &b, n, &mut plain, n, init);
                    gemm_relu(m, k, n, &a, &b, &mut rectified, init);
                    let want: Vec<f32> = plain.iter().map(|x| x.max(0.0)).collect();
                    assert_eq!(rectified, want, "{isa:?} {m}×{k}×{n} kind {kind}");
                }
            }
        });
        let mut c = [0.0];
        gemm_relu(1, 1, 1, &[f32::NAN], &[1.0], &mut c, Init::Zero);
        assert!(c[0].is_nan());
    }

    #[test]
    #[should_panic(expected = "gemm: B has 5 elements, k = 2, n = 3, ldb = 3 need 6")]
    fn short_operands_are_named() {
        gemm(
            1,
            2,
            3,
            &[0.0; 2],
            2,
            1,
            &[0.0; 5],
            3,
            &mut [0.0; 3],
            3,
            Init::Zero,
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]
        #[test]
        fn any_shape_is_the_promised_chain(
            m in 0usize..80, k in 0usize..90, n in 0usize..150, transposed: bool, pad in 0usize..4, kind in 0usize..3,
        ) {
            check(m, k, n, transposed, pad, kind);
        }
    }
}
