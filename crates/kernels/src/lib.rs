//! Dense kernels on slices, chosen for the machine at run time.
//!
//! The crate knows shapes and strides, not graphs. Elementwise work and reductions are plain loops that
//! `isa::versions!` compiles for each instruction set; matrix products and convolutions hold register tiles written
//! against `simd::Vector`. Sizes that do not fit are errors of the caller and panic at the entry of a kernel.
//!
//! ```
//! use kernels::gemm::{Init, gemm};
//!
//! // C[2, 2] = bias + A[2, 3] · B[3, 2], all row-major
//! let a = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
//! let b = [1.0, 0.0, 0.0, 1.0, 1.0, 1.0];
//! let mut c = [0.0; 4];
//! gemm(2, 3, 2, &a, 3, 1, &b, 2, &mut c, 2, Init::Bias(&[10.0, 20.0]));
//! assert_eq!(c, [14.0, 25.0, 20.0, 31.0]);
//!
//! // on every instruction set of the machine; these sums are exact, so that all give the same bits
//! for isa in kernels::Isa::ALL {
//!     kernels::force(Some(isa));
//!     let mut again = [0.0; 4];
//!     gemm(2, 3, 2, &a, 3, 1, &b, 2, &mut again, 2, Init::Bias(&[10.0, 20.0]));
//!     assert_eq!(again, c);
//! }
//! ```
#![expect(
    unsafe_code,
    reason = "register tiles work on pointers whose bounds were checked once, at the entry"
)]
#![expect(
    clippy::inline_always,
    reason = "bodies must be inlined into the version compiled for each instruction set"
)]
#![allow(
    clippy::wildcard_imports,
    reason = "intrinsics carry their prefix; the lint is silent in test builds, so no expect"
)]

pub mod attention;
pub mod batch_norm;
pub mod bounds;
pub mod coded;
pub mod conv;
pub mod double;
pub mod elementwise;
pub mod gemm;
pub mod int_conv;
pub mod int_gemm;
pub mod isa;
pub mod layer_norm;
pub mod math;
pub mod nhwc;
pub mod optimizer;
pub mod permute;
pub mod pool;
pub mod quantize;
pub mod requantize;
mod row_reduce;
mod shape;
mod simd;
pub mod softmax;
pub mod statistics;
pub mod strided;
#[cfg(test)]
mod testing;
pub mod threads;

pub use isa::{Isa, force, isa};
