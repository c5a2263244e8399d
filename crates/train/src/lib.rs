//! The training loop: epochs over shuffled batches, validation, checkpoints, and going on where a run stopped.
//!
//! [`fit`] is the loop, in one file. It knows no terminal: whoever calls it listens to its [`Event`]s. Everything random
//! follows from the seed and counters, so that a run that was stopped or killed ends with the same bits as one that was
//! not.
#![forbid(unsafe_code)]

mod batches;
mod checkpoint;
mod error;
mod evaluate;
mod event;
mod fit;
mod hash;
mod metrics;
mod schedule;
pub mod tensorboard;

pub use checkpoint::{load_weights, weights_of};
pub use error::TrainError;
pub use evaluate::{evaluate, predict};
pub use event::{Event, Stage};
pub use fit::{Ending, FitConfig, Outcome, fit};
pub use hash::weights_hash;
pub use schedule::Cosine;
