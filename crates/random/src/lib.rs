//! Random numbers that are functions of a counter, and what samplers make of them.
//!
//! The k-th number of a [`Random`] stream follows from (seed, stream, k) alone, so a result depends neither on how work is
//! divided among threads nor on what was drawn before.
//!
//! ```
//! use random::{Draws, Permutation, Random, Sobol};
//!
//! let stream = Random::new(0, "rows");
//! assert_eq!(stream.bits(7), Random::new(0, "rows").bits(7));
//!
//! let mut draws = Draws::new(stream.at(3)); // the sub-stream of step 3, number after number
//! assert!((0.0..1.0).contains(&draws.uniform()));
//!
//! let order = Permutation::new(stream, 10); // a shuffle in which any place can be asked for
//! let mut rows: Vec<u64> = (0..10).map(|k| order.at(k)).collect();
//! rows.sort_unstable();
//! assert!(rows.into_iter().eq(0..10));
//!
//! let sobol = Sobol::new(2, stream); // evenly spread points of the unit square
//! assert!(sobol.at(0, 1) < 1.0);
//! ```
#![forbid(unsafe_code)]

mod draws;
pub mod normal;
mod permutation;
mod sobol;
mod stream;

pub use draws::Draws;
pub use permutation::Permutation;
pub use sobol::Sobol;
pub use stream::Random;
