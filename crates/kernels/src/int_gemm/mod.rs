//! Exact integer matrix products, `C = bias + A·B`, with wrapping 32-bit sums.
//!
//! A is read in groups of 32 bits: four bytes, or two 16-bit words. Its rows are those of a matrix, padded by zeros to whole
//! groups, or made of runs of elements that lie anywhere ([`LeftRows`]), as the windows of a convolution do. B is packed by
//! groups, `packed[group][column][element]`, by [`pack_b`]. All levels give the same bits: every product is exact and sums wrap, so they are exact whenever the true sum fits `i32`
//! (`k ≤ 65 793` for u8·i8, `k ≤ 131 071` for i8·i8). [`gemm_i32`] sums wider operands in `i64`.

#[cfg(target_arch = "x86_64")]
mod avx2;
pub(crate) mod left;
mod portable;
#[cfg(test)]
mod tests;
#[cfg(target_arch = "x86_64")]
mod vnni;

use crate::isa::{isa, versions};
use left::RowPointers;
pub use left::{LeftRows, Places, Starts};

/// The kinds of elements of a group, a parameter of the tiles.
const U8_I8: u8 = 0;
const I8_I8: u8 = 1;
const I16_I16: u8 = 2;
/// Bytes as in [`U8_I8`], so few of whose sums are large that some of them fit words.
const NARROW: u8 = 3;

/// A product over 32-bit groups, as pointers.
#[derive(Clone, Copy)]
struct IntProduct {
    m: usize,
    n: usize,
    a: RowPointers,
    b: *const i32,
    c: *mut i32,
    ldc: usize,
    /// A bias per column, or null.
    bias: *const i32,
    /// Groups whose sums fit words, of a narrow kind.
    #[cfg_attr(
        not(target_arch = "x86_64"),
        expect(dead_code, reason = "only AVX2 sums words")
    )]
    chunk: usize,
}

/// True when the machine multiplies and sums bytes in one instruction; elsewhere words are faster.
pub fn has_byte_products() -> bool {
    crate::isa::has_vnni()
}

/// `k` bytes rounded up to whole groups: the row length of an 8-bit A.
pub const fn padded_k_i8(k: usize) -> usize {
    k.next_multiple_of(4)
}

/// `k` words rounded up to whole groups: the row length of a 16-bit A.
pub const fn padded_k_i16(k: usize) -> usize {
    k.next_multiple_of(2)
}

/// Packs a k×n matrix with free strides for [`gemm_int`] into `padded_k_i8(k) · n` bytes or `padded_k_i16(k) · n` words.
///
/// # Panics
/// When lengths do not fit: an error of the caller.
pub fn pack_b<T: LeftOperand + Default>(
    k: usize,
    n: usize,
    b: &[T],
    row_stride: usize,
    col_stride: usize,
    packed: &mut [T],
) {
    let need = k.next_multiple_of(T::GROUP) * n;
    assert_eq!(
        packed.len(),
        need,
        "int_gemm: packed B has {} elements, k = {k}, n = {n} need {need}",
        packed.len()
    );
    for (group, row) in packed.chunks_exact_mut((n * T::GROUP).max(1)).enumerate() {
        for (j, column) in row.chunks_exact_mut(T::GROUP).enumerate() {
            for (t, out) in column.iter_mut().enumerate() {
                let p = group * T::GROUP + t;
                *out = if p < k {
                    b[p * row_stride + j * col_stride]
                } else {
                    T::default()
                };
            }
        }
    }
}

/// A left operand, which decides on the right one.
pub trait LeftOperand: Copy {
    /// The elements of B.
    type Right: Copy;
    /// The kind of group, a parameter of the tiles.
    const KIND: u8;
    /// Elements of a group.
    const GROUP: usize;
}

impl LeftOperand for u8 {
    type Right = i8;
    const KIND: u8 = U8_I8;
    const GROUP: usize = 4;
}

impl LeftOperand for i8 {
    type Right = Self;
    const KIND: u8 = I8_I8;
    const GROUP: usize = 4;
}

impl LeftOperand for i16 {
    type Right = Self;
    const KIND: u8 = I16_I16;
    const GROUP: usize = 2;
}

/// `C[m, n] = bias + A·B`. A has rows of `k` elements rounded up to whole groups ([`padded_k_i8`], [`padded_k_i16`]), B
/// is packed, C is row-major with `ldc`.
///
/// # Panics
/// Like every product here, when lengths do not fit: an error of the caller.
pub fn gemm_int<A: LeftOperand>(
    m: usize,
    k: usize,
    n: usize,
    a: &[A],
    b_packed: &[A::Right],
    bias: Option<&[i32]>,
    c: &mut [i32],
    ldc: usize,
) {
    gemm_rows(&LeftRows::dense(m, k, a), n, b_packed, bias, c, ldc);
}

/// `C[m, n] = bias + A·B` for rows that lie anywhere. B has a part of its own, packed, for every run.
///
/// # Panics
/// When lengths do not fit: an error of the caller.
pub fn gemm_rows<A: LeftOperand>(
    rows: &LeftRows<A>,
    n: usize,
    b_packed: &[A::Right],
    bias: Option<&[i32]>,
    c: &mut [i32],
    ldc: usize,
) {
    multiply(A::KIND, 1, rows, n, b_packed, bias, c, ldc);
}

/// The same for small bytes: those of A up to `max_a`, those of B of a magnitude up to `max_b`, as [`narrow_chunk`] has allowed.
/// AVX2 sums several products in words then.
///
/// # Panics
/// When lengths do not fit, or bytes are not as small as that: errors of the caller.
pub fn gemm_rows_narrow(
    rows: &LeftRows<u8>,
    n: usize,
    b_packed: &[i8],
    [max_a, max_b]: [u8; 2],
    bias: Option<&[i32]>,
    c: &mut [i32],
    ldc: usize,
) {
    let chunk = narrow_chunk([max_a, max_b]).expect("allowed before");
    debug_assert!(b_packed.iter().all(|b| b.unsigned_abs() <= max_b));
    multiply(NARROW, chunk, rows, n, b_packed, bias, c, ldc);
}

/// Groups of bytes up to these magnitudes whose sums fit words, if there are enough for that to be faster.
pub fn narrow_chunk([max_a, max_b]: [u8; 2]) -> Option<usize> {
    /// Fewer groups do not pay for the sums of their words.
    const FEWEST: usize = 8;
    let pair = 2 * usize::from(max_a) * usize::from(max_b);
    let chunk = i16::MAX as usize / pair.max(1);
    (chunk >= FEWEST).then_some(chunk)
}

#[expect(clippy::too_many_arguments, reason = "a product has them")]
fn multiply<A: Copy, B: Copy>(
    kind: u8,
    chunk: usize,
    rows: &LeftRows<A>,
    n: usize,
    b_packed: &[B],
    bias: Option<&[i32]>,
    c: &mut [i32],
    ldc: usize,
) {
    let m = rows.starts.len();
    if m == 0 || n == 0 {
        return;
    }
    let a = RowPointers::new(rows);
    let (has, needs) = (size_of_val(b_packed), a.n_runs * a.groups * n * left::GROUP);
    assert!(has >= needs, "int_gemm: B has {has} bytes, needs {needs}");
    assert!(
        m == 1 || ldc >= n,
        "int_gemm: ldc = {ldc} is less than n = {n}"
    );
    let c_len = (m - 1) * ldc + n;
    assert!(
        c.len() >= c_len,
        "int_gemm: C has {} elements, needs {c_len}",
        c.len()
    );
    let bias = bias.map_or(std::ptr::null(), |bias| {
        assert!(
            bias.len() >= n,
            "int_gemm: bias has {} elements, n = {n}",
            bias.len()
        );
        bias.as_ptr()
    });
    let product = IntProduct {
        m,
        n,
        a,
        b: b_packed.as_ptr().cast(),
        c: c.as_mut_ptr(),
        ldc,
        bias,
        chunk,
    };
    // SAFETY: the lengths were checked above.
    unsafe { run_kind(kind, product) }
}

/// Runs a product of a kind. Not generic, so that the tiles are compiled here and not in the crate of every caller.
unsafe fn run_kind(kind: u8, product: IntProduct) {
    // SAFETY: the caller's promise.
    unsafe {
        match kind {
            U8_I8 => run::<U8_I8>(product),
            I8_I8 => run::<I8_I8>(product),
            NARROW => run::<NARROW>(product),
            _ => run::<I16_I16>(product),
        }
    }
}

/// Picks the tile.
unsafe fn run<const KIND: u8>(product: IntProduct) {
    // SAFETY: the pointers are the caller's promise, the features were checked by `has_vnni` and `isa`.
    unsafe {
        match isa() {
            #[cfg(target_arch = "x86_64")]
            crate::Isa::Avx512 if crate::isa::has_vnni() => vnni::run::<KIND>(product),
            #[cfg(target_arch = "x86_64")]
            crate::Isa::Avx512 | crate::Isa::Avx2 => avx2::run::<KIND>(product),
            _ => portable::run::<KIND>(product),
        }
    }
}

versions! {
    /// `C[m, n] = A·B` in `i64` from 32-bit operands, all row-major and dense; sums wrap.
    pub fn gemm_i32(m: usize, k: usize, n: usize, a: &[i32], b: &[i32], c: &mut [i64]) {
        assert_eq!(a.len(), m * k, "int_gemm: A has {} elements, m = {m}, k = {k}", a.len());
        assert_eq!(b.len(), k * n, "int_gemm: B has {} elements, k = {k}, n = {n}", b.len());
        assert_eq!(c.len(), m * n, "int_gemm: C has {} elements, m = {m}, n = {n}", c.len());
        c.fill(0);
        if k == 0 || n == 0 {
            return;
        }
        for (a, c) in a.chunks_exact(k).zip(c.chunks_exact_mut(n)) {
            for (&a, b) in a.iter().zip(b.chunks_exact(n)) {
                for (c, &b) in c.iter_mut().zip(b) {
                    *c = c.wrapping_add(i64::from(a) * i64::from(b));
                }
            }
        }
    }
}
