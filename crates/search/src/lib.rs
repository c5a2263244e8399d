//! Search over number formats: spaces of formats, goals, fast trials, workers, results.
//!
//! A [`FormatSpace`] turns the choices of a config file into a space of the crate `study`, an
//! [`Evaluator`](evaluate::Evaluator) scores a point of it on rows of a dataset, and a [`Search`] runs the trials of a
//! study on threads. [`results::Report`] shows what came of it.
#![forbid(unsafe_code)]

mod attributes;
pub mod config;
pub mod evaluate;
mod format_space;
mod goals;
mod identity;
mod objectives;
mod prepare;
pub mod results;
mod search;
mod workers;

pub use format_space::{Choice, Choices, FormatSpace, FormatSpaceError, KeyChoices, SearchedNode};
pub use goals::{Budget, Goal, Goals, Side};
pub use objectives::{Measurement, OBJECTIVES, Objective, ObjectiveEntry, Scores, Source};
pub use prepare::{PrepareError, Setup};
pub use search::{Ending, Results, RunError, Search, TrialError};
