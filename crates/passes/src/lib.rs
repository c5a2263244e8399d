//! Passes over a graph: analyses, transformations, and the files between programs.
//!
//! A [`Pass`] is one type with its config, in one file, with one line in [`PASSES`]. `[passes.NAME]` tables of a config
//! file become a [`Program`], which runs them in the order of the file, or of one of the [`PIPELINES`], on a
//! [`Graph`](ir::Graph); after every pass the
//! graph is verified, and a pass that fails leaves it as it was. A pass returns a [`PassReport`]; files it
//! leaves wait in the [`Context`] until all passes are done, so that output that is there is complete.
#![forbid(unsafe_code)]

pub mod analysis;
pub mod compare;
pub mod cost;
pub mod interface;
pub mod statistics;
pub mod transform;

mod catalog;
mod context;
mod error;
mod observe;
mod pass;
mod pass_report;
mod pipelines;
mod program;
mod rules;
mod selector;

pub use catalog::{PASSES, find};
pub use context::{Context, Decision, OutputFile, Replaced};
pub use error::PassError;
pub use observe::observe;
pub use pass::{Kind, Pass, PassEntry};
pub use pass_report::{PassReport, Section};
pub use pipelines::{PIPELINES, Pipeline, PipelineStep, default_config};
pub use program::{Program, RunError, StepReport};
pub use rules::{Rule, Rules};
pub use selector::{By, NodeSelector};
