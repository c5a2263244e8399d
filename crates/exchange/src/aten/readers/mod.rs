//! Readers of calls, by what they do.

pub mod create;
pub mod layers;
pub mod moves;
pub mod norms;
pub mod picks;
pub mod pictures;
pub mod pointwise;
pub mod recurrent;
pub mod reduce;
