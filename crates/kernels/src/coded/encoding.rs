//! Codes as the elements of a product: how floats become them, and how they lie in memory of floats.

use crate::int_gemm::{LeftOperand, LeftRows, gemm_rows, gemm_rows_narrow};
use crate::quantize::quantize_codes_moved;
use format::Integer;

/// The way from floats to codes, and from codes to sums.
pub(super) trait Encoding {
    type Element: LeftOperand<Right: Plain> + Plain;

    /// The element of code 0.
    fn zero(&self) -> Self::Element;

    fn encode(&self, format: Integer, x: &[f32], codes: &mut [Self::Element]);

    fn multiply(
        &self,
        rows: &LeftRows<Self::Element>,
        n: usize,
        weights: &[<Self::Element as LeftOperand>::Right],
        start: &[i32],
        sums: &mut [i32],
    );
}

/// Codes as they are, by the function that rounds to them.
pub(super) struct Direct<T>(pub fn(Integer, &[f32], &mut [T]));

impl<T: LeftOperand<Right: Plain> + Plain + Default> Encoding for Direct<T> {
    type Element = T;

    fn zero(&self) -> T {
        T::default()
    }

    fn encode(&self, format: Integer, x: &[f32], codes: &mut [T]) {
        (self.0)(format, x, codes);
    }

    fn multiply(
        &self,
        rows: &LeftRows<T>,
        n: usize,
        weights: &[T::Right],
        start: &[i32],
        sums: &mut [i32],
    ) {
        gemm_rows(rows, n, weights, Some(start), sums, n);
    }
}

/// Small codes, moved up so that none is negative.
pub(super) struct Narrow {
    pub offset: u8,
    pub largest: [u8; 2],
}

impl Encoding for Narrow {
    type Element = u8;

    fn zero(&self) -> u8 {
        self.offset
    }

    fn encode(&self, format: Integer, x: &[f32], codes: &mut [u8]) {
        quantize_codes_moved(format, self.offset, x, codes);
    }

    fn multiply(
        &self,
        rows: &LeftRows<u8>,
        n: usize,
        weights: &[i8],
        start: &[i32],
        sums: &mut [i32],
    ) {
        gemm_rows_narrow(rows, n, weights, self.largest, Some(start), sums, n);
    }
}

/// An integer that any bits are, no wider than a float.
///
/// # Safety
/// It must be so.
pub(super) unsafe trait Plain: Copy {}

// SAFETY: integers of 8 to 32 bits.
unsafe impl Plain for u8 {}
// SAFETY: as above.
unsafe impl Plain for i8 {}
// SAFETY: as above.
unsafe impl Plain for i16 {}
// SAFETY: as above.
unsafe impl Plain for i32 {}

pub(super) fn view<T: Plain>(words: &[f32]) -> &[T] {
    let len = size_of_val(words) / size_of::<T>();
    // SAFETY: the same bytes, any of which are a `T`; the alignment only falls.
    unsafe { std::slice::from_raw_parts(words.as_ptr().cast(), len) }
}

pub(super) fn view_mut<T: Plain>(words: &mut [f32]) -> &mut [T] {
    let len = size_of_val(words) / size_of::<T>();
    // SAFETY: as above, and any bits are a float too.
    unsafe { std::slice::from_raw_parts_mut(words.as_mut_ptr().cast(), len) }
}
