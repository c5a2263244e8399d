//! Networks of other programs as graphs, and graphs as files for them.
//!
//! [`interop`] reads and writes the files and knows nothing of graphs; here their operators become those of [`ir`] and back.
#![forbid(unsafe_code)]

pub mod aten;
pub mod constant;
pub mod onnx;

mod draft;
mod error;

pub use error::{ExchangeError, ImportProblem};
