//! Search over number formats and numbers of channels: spaces, goals, fast trials, workers, results.
//!
//! A [`SearchSpace`] turns the choices of a config file into a space of the crate `study`, an
//! [`Evaluator`](evaluate::Evaluator) scores formats on rows of a dataset, and a [`Search`] runs the trials of a study on
//! threads. [`results::Report`] shows what came of it.
//!
//! ```
//! use search::config::SearchConfig;
//! use search::{Search, Setup, results::Report};
//! use std::sync::atomic::AtomicBool;
//!
//! let table = config::Table::parse(
//!     "[search_space.setup]
//!      by = \"type\"
//!      [search_space.seed.linear.config]
//!      name = [\"integer\"]
//!      data_in_width = [4, 8]
//!      weight_width = [2, 4, 8]
//!      [strategy]
//!      name = \"brute_force\"
//!      [strategy.metrics]
//!      accuracy.direction = \"maximize\"
//!      average_bitwidth.direction = \"minimize\"",
//! )
//! .unwrap();
//! let config = SearchConfig::read(&table).unwrap();
//! let data = data::open("jsc-sim", &data::OpenOptions::default())?;
//! let mut graph = models::build("jsc-tiny", &models::ModelInfo::default())?;
//! graph.initialize(0);
//! let setup = Setup { graph, data: &data, seed: 0, threads: Some(1) };
//! let search = Search::prepare(config, setup)?;
//! let results = search.run(None, &AtomicBool::new(false), &mut |_| ())?;
//! assert_eq!(results.history.len(), 6);
//! let report = Report::new(&search, &results);
//! assert!(!report.best().is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

mod attributes;
mod channel_space;
pub mod config;
pub mod evaluate;
mod format_space;
mod goals;
mod identity;
mod objectives;
mod prepare;
pub mod results;
mod search;
mod space;
mod trial_training;
mod waits;
mod workers;

pub use channel_space::ChannelSpace;
pub use format_space::{Choice, Choices, FormatSpace, KeyChoices, SearchedNode};
pub use goals::{Budget, Goal, Goals, Side};
pub use objectives::{Measurement, OBJECTIVES, Objective, ObjectiveEntry, Scores, Source};
pub use prepare::{PrepareError, Setup};
pub use search::{Ending, Event, Results, RunError, Search, TrialError};
pub use space::{SearchSpace, SpaceError, SpaceRules};
pub use trial_training::TrialTraining;
