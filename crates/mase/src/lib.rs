//! MASE as a library: everything that the program `ch` is made of, on one page.
//!
//! A network is a value, a [`Graph`]. Its nodes apply operators to earlier values, and its ports may carry number
//! [`Format`]s; that is all quantisation is. Whatever runs a graph has it verified first ([`verify`]), and everything that
//! rounds, counts or encodes numbers uses the one definition of a format.
//!
//! ```
//! use mase::{Graph, Network, PlanOptions, Input};
//!
//! let mut graph = Graph::parse(
//!     "graph \"tiny\" {
//!        x: f32[N, 2] = placeholder
//!        fc = linear(x: integer(8, 4)) { in_features = 2, out_features = 1, weight: integer(8, 6) }
//!        return fc
//!      }",
//! )?;
//! graph.initialize(0);
//! let mut network = Network::new(graph, 1)?;
//! let plan = network.run(PlanOptions::eval(3), &[Input::F32(&[0.5; 6])])?;
//! assert_eq!(plan.output(0).len(), 3);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # The way of a network
//!
//! | step | names |
//! |---|---|
//! | a network, from the zoo, from text, from a file | [`build_model`], [`MODELS`], [`Graph::parse`], [`read_graph_file`] |
//! | data, found, prepared and split | [`open_dataset`], [`DATASETS`], [`Dataset`], [`SplitName`] |
//! | training, by epochs or by some steps; scores | [`fit`], [`FitConfig`], [`train_steps`], [`evaluate`], [`accuracy`] |
//! | passes, by name with their config, or one of your own | [`Program`], [`Pass`], [`PASSES`], [`PassContext`] |
//! | running, in floats and in exact integers | [`Network`], [`Plan`], [`IntegerPlan`] |
//! | search over formats and channels | [`Search`], [`SearchConfig`], [`SearchSpace`], [`FormatSpace`], [`OBJECTIVES`] |
//! | search over anything | [`Study`], [`Space`], [`Parameter`], [`SAMPLERS`], [`storage`](study::storage) |
//! | tables and charts | [`Table`], [`Chart`] |
//!
//! The crates stand behind these names as modules, for all that is not on this page: [`mod@format`], [`ir`],
//! [`engine`], [`interop`], [`data`], [`models`], [`report`], [`passes`], [`train`], [`study`], [`search`], and below them
//! [`config`] and [`random`].
//!
//! # Examples
//!
//! In `examples/`, each a page long: `train` trains a network, `quantize` quantises one and compares scores, `own_pass` adds
//! a pass without touching the program, and `own_study` searches over a function of one's own.
#![forbid(unsafe_code)]

pub use {
    ::config, ::data, ::engine, ::format, ::interop, ::ir, ::models, ::passes, ::random, ::report,
    ::search, ::study, ::train,
};

pub use ::config::{Reader, Table as ConfigTable};
pub use ::format::Format;
pub use data::{
    DATASETS, Dataset, OpenOptions, Preparation, Split, SplitName, open as open_dataset,
};
pub use engine::{Input, IntegerPlan, Network, Plan, PlanOptions, Score};
pub use ir::{Graph, Node, NodeId, Op, Tensor, Verified, verify};
pub use models::{MODELS, ModelInfo, build as build_model};
pub use passes::interface::{graph_file, read_graph_file};
pub use passes::{Context as PassContext, PASSES, Pass, PassError, PassReport, Program};
pub use report::{Chart, Table};
pub use search::config::SearchConfig;
pub use search::{FormatSpace, OBJECTIVES, Search, SearchSpace};
pub use study::{
    Direction, Distribution, History, Outcome, Parameter, Point, SAMPLERS, Space, Study, Trial,
};
pub use train::{FitConfig, StepTraining, accuracy, evaluate, fit, train_steps};
