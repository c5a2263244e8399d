//! Passes over a graph: analyses, transformations, and the files between programs.
//!
//! A [`Pass`] is one type with its config, in one file, with one line in [`PASSES`]. `[passes.NAME]` tables of a config
//! file become a [`Program`], which runs them in the order of the file, or of one of the [`PIPELINES`], on a
//! [`Graph`](ir::Graph). After every pass the graph is verified, and a pass that fails leaves it as it was. A pass returns
//! a [`PassReport`]; files it writes wait in the [`Context`] until all passes are done, so that output that is there is
//! complete.
//!
//! ```
//! use passes::{Context, Program};
//!
//! let mut graph = models::build("jsc-tiny", &models::ModelInfo::default())?;
//! graph.initialize(0);
//! let config = config::Table::parse(
//!     "[quantize.linear.config]\nname = \"integer\"\ndata_in_width = 8\nweight_width = 8\n[count_bitops]\n",
//! ).unwrap();
//! let program = Program::read(&config).unwrap_or_else(|problems| panic!("{problems:?}"));
//! let mut context = Context::new(&graph, None);
//! let reports = program.run(&mut graph, &mut context, |_, _, _| {})?;
//! assert_eq!(reports[0].report.facts["changed"], 1);
//! assert!(reports[1].report.to_text().contains("BitOPs for a batch of 8"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

pub mod analysis;
pub mod compare;
pub mod cost;
pub mod interface;
pub mod page;
pub mod segments;
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
