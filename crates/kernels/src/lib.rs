//! Dense kernels on slices, chosen for the machine at run time.
//!
//! The crate knows shapes and strides, not graphs. Elementwise work and reductions are plain loops that
//! `isa::versions!` compiles for each instruction set; matrix products and convolutions hold register tiles written
//! against `simd::Vector`. Sizes that do not fit are errors of the caller and panic at the entry of a kernel.
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
pub mod conv;
pub mod elementwise;
pub mod gemm;
pub mod int_gemm;
pub mod isa;
pub mod layer_norm;
pub mod math;
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
mod strided;
#[cfg(test)]
mod testing;
pub mod threads;
pub mod u8_linear;

pub use isa::{Isa, force, isa};
