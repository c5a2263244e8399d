//! Large products: blocks of A and B are copied into buffers that stay in cache. Copying changes no result.

use super::K_BLOCK;
use super::strips;
use super::tile::{Product, Strided};
use super::transpose::transpose_unchecked;
use crate::isa::{Isa, isa};
use crate::strided::copy_rows_unchecked;
use std::cell::RefCell;

/// Rows of A and columns of B in one block.
const M: usize = 240;
const N: usize = 64;
/// Distance of the rows of a copied A: not a power of two, so that rows fall into different cache sets.
const A_STRIDE: usize = K_BLOCK + 16;

thread_local! {
    /// A block of A and one of B, allocated when a thread first multiplies large matrices.
    static BUFFERS: RefCell<(Vec<f32>, Vec<f32>)> = const { RefCell::new((Vec::new(), Vec::new())) };
}

/// True when the operands outgrow the cache and each copy is used often.
pub(super) fn pays(p: &Product<Strided>) -> bool {
    // Wider tiles read A less often, so they stand larger operands.
    let large = if isa() == Isa::Avx512 { 256 } else { 128 } * 1024;
    let wide_b = p.k * p.b.stride >= large && p.m >= N && p.n >= N;
    let tall_a = p.a_col_stride != 1 && p.a_col_stride * p.k >= large && p.n >= 2 * N;
    wide_b || tall_a
}

/// Runs a product with `k ≤ K_BLOCK` block by block.
///
/// # Safety
/// As for the register tiles: the pointers are valid for the sizes and strides, and C overlaps nothing.
pub(super) unsafe fn run(p: Product<Strided>) {
    BUFFERS.with_borrow_mut(|(a, b)| {
        a.resize(M * A_STRIDE, 0.0);
        b.resize(K_BLOCK * N, 0.0);
        for top in (0..p.m).step_by(M) {
            let m = M.min(p.m - top);
            // SAFETY: blocks lie inside the operands, and the buffers hold a block each.
            unsafe {
                let mut rows = p;
                rows.skip_rows(top);
                rows.m = m;
                if p.a_row_stride == 1 {
                    transpose_unchecked(p.k, m, rows.a, p.a_col_stride, a.as_mut_ptr(), A_STRIDE);
                    (rows.a, rows.a_row_stride, rows.a_col_stride) = (a.as_ptr(), A_STRIDE, 1);
                } else if p.a_col_stride == 1 {
                    copy_rows_unchecked(m, p.k, rows.a, p.a_row_stride, a.as_mut_ptr(), A_STRIDE);
                    (rows.a, rows.a_row_stride) = (a.as_ptr(), A_STRIDE);
                }
                for j in (0..p.n).step_by(N) {
                    let mut strip = rows.columns(j, N.min(p.n - j));
                    copy_rows_unchecked(
                        p.k,
                        strip.n,
                        strip.b.first,
                        strip.b.stride,
                        b.as_mut_ptr(),
                        N,
                    );
                    strip.b = Strided {
                        first: b.as_ptr(),
                        stride: N,
                    };
                    strips::run(strip);
                }
            }
        }
    });
}
