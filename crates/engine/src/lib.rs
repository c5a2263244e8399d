//! Compiles a verified graph into a plan and runs it.
//!
//! `verify → State → compile → Plan::{forward, cross_entropy, backward} → Optimizer::step`, or all of it behind
//! [`Network`].
//!
//! * A [`Plan`] is made once for a number of rows and then allocates nothing. Each step has a place for every operand
//!   in one arena per shard; buffers that are never alive together share memory.
//! * **Shards.** A large batch is cut into shards whose number depends on the graph and the rows only. Threads take
//!   shards, and every reduction over shards runs in shard order: the same bits on any number of threads.
//! * **Formats.** Ports with a format are rounded where they are read; gradients pass straight through, except where
//!   rounding saturated.
//! * **Fusion** is decided in one place, `fuse.rs`, before anything is laid out.
#![forbid(unsafe_code)]

mod arena;
mod error;
mod fuse;
mod input;
pub mod integer;
mod learning;
mod lower;
mod memory;
mod network;
mod ops;
mod optimizer;
mod options;
mod order;
mod plan;
mod profile;
mod rounding;
mod segments;
mod shard;
mod sharding;
mod state;
mod step;
mod working_memory;

pub use error::EngineError;
pub use input::{Input, gather};
pub use integer::{IntegerError, IntegerPlan, NodeReport, Storage};
pub use kernels::threads::Pool;
pub use learning::Learning;
pub use network::{Network, NetworkError};
pub use optimizer::{Optimizer, OptimizerKind};
pub use options::{Gradients, Mode, PlanOptions, Port};
pub use plan::{Plan, Score, compile};
pub use profile::{Part, Profile, ProfileEvent, ProfileRow, Profiler, Subject};
pub use rounding::LearnScales;
pub use state::{State, check_operators};
