//! Black-box search: spaces, samplers, studies and their storage.
//!
//! A [`Space`] says what may be chosen, a [`Sampler`] proposes the point of trial number `n` from the [`History`] of
//! finished trials, and a [`Study`] hands the points out and takes the results in. What a point means and how it is
//! scored is the caller's affair, and so are threads.
//!
//! **The same points on any number of threads.** The point of trial `n` is a pure function of the sampler's config, the
//! seed, `n`, and the trials before [`Sampler::horizon`]`(n)`. The horizon follows from `n` alone, so it does not
//! matter in which order the trials between the horizon and `n` finish, or on how many threads they run.
//!
//! ```
//! use std::sync::Arc;
//! use study::{Direction, Distribution, Next, Outcome, Parameter, SamplerContext, Space, Study, build_sampler};
//!
//! let space = Arc::new(Space::new(vec![Parameter::new("width", Distribution::int(2, 16))])?);
//! let context = SamplerContext { space: Arc::clone(&space), objectives: 1, seed: 0 };
//! let sampler = build_sampler("tpe", context)?;
//! let mut study = Study::new(Arc::clone(&space), sampler, vec![Direction::Minimize], 40)?;
//! while let Next::Trial { number, point } = study.ask() {
//!     let width = space.named(&point)["width"].as_f64().unwrap();
//!     study.tell(number, Outcome::complete(vec![(width - 7.0).abs()]))?;
//! }
//! let best = study.history().best().unwrap();
//! assert_eq!(space.named(&best.point)["width"], 7);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

mod error;
mod history;
pub mod pareto;
pub mod sampler;
mod space;
pub mod storage;
mod study;
mod trial;

pub use error::StudyError;
pub use history::{Direction, History};
pub use sampler::{
    SAMPLERS, Sampler, SamplerConfig, SamplerContext, SamplerEntry, build_sampler, find_sampler,
};
pub use space::{
    Condition, Coordinate, Distribution, Parameter, Point, Row, Space, SpaceProblem, Tie,
};
pub use study::{Next, Study};
pub use trial::{Outcome, State, Trial};
