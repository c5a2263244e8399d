//! Readers of calls, by what they do.

pub mod create;
pub mod layers;
pub mod moves;
pub mod picks;
pub mod pointwise;
pub mod reduce;
