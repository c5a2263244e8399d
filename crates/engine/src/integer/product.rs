//! A matrix product in the narrowest integers that are proven to suffice, with packed weights.

use super::buffer::{Buffer, Storage};
use super::range::CodeRange;
use super::rescale::Rescaling;
use super::weights::Weights;
use crate::ops::matmul::integer::accumulate;
use kernels::int_gemm::{gemm_int, pack_b, padded_k_i8, padded_k_i16};
use kernels::requantize::{LeftByte, fused_layer};

/// The packed weights of a group and what its sums start from. The name is the type of the left operand's rows.
pub(crate) enum Product {
    U8(Vec<i8>, Vec<i32>),
    I8(Vec<i8>, Vec<i32>),
    I16(Vec<i16>, Vec<i32>),
    /// Weights `[k][n]`.
    I64(Vec<i64>, Vec<i64>),
}

impl Product {
    /// Packs the weights of a group for left operands of this range.
    pub fn pack(weights: &Weights, group: usize, x: CodeRange) -> Self {
        let (k, n) = (weights.k, weights.n);
        let is_narrow = weights.worst_sum(x) <= i32::MAX.into();
        match Storage::of(x) {
            storage @ (Storage::U8 | Storage::I8) if is_narrow && weights.fit::<i8>() => {
                let mut packed = vec![0; padded_k_i8(k) * n];
                pack_b(k, n, &weights.group(group), 1, k, &mut packed);
                let start = weights.group_start(group);
                if storage == Storage::U8 {
                    Self::U8(packed, start)
                } else {
                    Self::I8(packed, start)
                }
            }
            Storage::U8 | Storage::I8 | Storage::I16 if is_narrow && weights.fit::<i16>() => {
                let mut packed = vec![0; padded_k_i16(k) * n];
                pack_b(k, n, &weights.group(group), 1, k, &mut packed);
                Self::I16(packed, weights.group_start(group))
            }
            _ => {
                let own: Vec<i64> = weights.group(group);
                let turned = (0..k * n).map(|at| own[at % n * k + at / n]).collect();
                Self::I64(turned, weights.group_start(group))
            }
        }
    }

    /// Elements of a row of the left operand, padding included.
    pub fn pitch(&self, k: usize) -> usize {
        match self {
            Self::U8(..) | Self::I8(..) => padded_k_i8(k),
            Self::I16(..) => padded_k_i16(k),
            Self::I64(..) => k,
        }
    }

    /// The name in reports.
    pub fn name(&self) -> &'static str {
        match self {
            Self::U8(..) => "u8·i8 product",
            Self::I8(..) => "i8·i8 product",
            Self::I16(..) => "i16·i16 product",
            Self::I64(..) => "i64 product",
        }
    }

    /// True when sums are 32 bits wide.
    pub fn is_narrow(&self) -> bool {
        !matches!(self, Self::I64(..))
    }

    /// The sums of rows of unsigned bytes.
    pub fn run_u8(&self, k: usize, n: usize, a: &[u8], sums: &mut [i32]) {
        if let Self::U8(b, start) = self {
            gemm_int::<u8>(sums.len() / n, k, n, a, b, Some(start), sums, n);
        }
    }

    /// The sums of rows of signed bytes.
    pub fn run_i8(&self, k: usize, n: usize, a: &[i8], sums: &mut [i32]) {
        if let Self::I8(b, start) = self {
            gemm_int::<i8>(sums.len() / n, k, n, a, b, Some(start), sums, n);
        }
    }

    /// The sums of rows of words.
    pub fn run_i16(&self, k: usize, n: usize, a: &[i16], sums: &mut [i32]) {
        if let Self::I16(b, start) = self {
            gemm_int::<i16>(sums.len() / n, k, n, a, b, Some(start), sums, n);
        }
    }

    /// The sums of rows of any codes.
    pub fn run_i64(&self, k: usize, n: usize, a: &[i64], sums: &mut [i64]) {
        if let Self::I64(b, start) = self {
            sums.chunks_mut(n)
                .for_each(|row| row.copy_from_slice(start));
            accumulate(k, n, a, b, sums);
        }
    }
}

/// Multiplies rows of bytes with packed weights, maps the sums and writes codes from `first` on, all in registers; `false`
/// where that is not possible and nothing was done.
pub(crate) fn run_fused<A: LeftByte>(
    [m, k, n]: [usize; 3],
    a: &[A],
    (b, start): (&[i8], &[i32]),
    rescaling: &Rescaling,
    first: usize,
    y: &mut Buffer,
) -> bool {
    let own = first..first + m * n;
    match y {
        Buffer::U8(y) => fused_layer([m, k, n], a, b, start, rescaling.maps(), &mut y[own]),
        Buffer::I8(y) => fused_layer([m, k, n], a, b, start, rescaling.maps(), &mut y[own]),
        Buffer::I16(_) | Buffer::I32(_) | Buffer::I64(_) => false,
    }
}
