//! The training loop: epochs over shuffled batches, validation, checkpoints, and going on where a run stopped.
//!
//! [`fit`] is the loop, and `run.rs` the files it writes. It knows no terminal: whoever calls it listens to its [`Event`]s. Everything random
//! follows from the seed and counters, so that a run that was stopped or killed ends with the same bits as one that was
//! not. [`train_steps`] is a training of some updates without all that, and [`evaluate`] scores any network.
//!
//! ```
//! use train::{StepTraining, accuracy, evaluate, train_steps};
//!
//! let data = data::open("jsc-sim", &data::OpenOptions::default())?;
//! let mut graph = models::build("jsc-tiny", &models::ModelInfo::default())?;
//! graph.initialize(0);
//! let training = StepTraining { steps: 300, batch_size: 256, ..StepTraining::default() };
//! let mut network = train_steps(graph, &data.train, training)?;
//! let score = evaluate(&mut network, &data.val)?;
//! assert!(accuracy(&score) > 0.4);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

mod augment;
mod batches;
mod checkpoint;
mod classification;
mod error;
mod evaluate;
mod event;
mod feed;
mod fit;
mod hash;
mod identity;
mod learner;
mod metrics;
mod norms;
mod run;
mod scales;
mod schedule;
mod steps;
pub mod tensorboard;

pub use augment::Augment;
pub use checkpoint::{load_weights, weights_of};
pub use classification::{ClassScores, Classification, argmax};
pub use error::TrainError;
pub use evaluate::{accuracy, evaluate, evaluate_outputs, predict};
pub use event::{Event, Stage};
pub use fit::{Ending, FitConfig, Outcome, finished, fit};
pub use hash::weights_hash;
pub use identity::Change;
pub use learner::Learner;
pub use metrics::{EpochScores, epoch_scores};
pub use norms::{folded_layers, rounded_layers};
pub use run::CHECKPOINTS;
pub use scales::ScalesPer;
pub use schedule::{Cosine, Curve, StepSchedule};
pub use steps::{RowOrder, StepTraining, train_steps};
