//! Samplers: which point to try next.
//!
//! A sampler is a pure function of its config, the seed, the number of the trial and the trials before the horizon of
//! that number. Whatever it keeps between calls is a cache of such results, and a sampler serves one study only.
//!
//! Adding one: a file with a config and an implementation of `Method` and [`Sampler`], its `mod` line, and a line in
//! [`SAMPLERS`].

mod brute_force;
mod cmaes;
mod fresh;
mod genetic;
mod nsgaii;
mod nsgaiii;
mod qmc;
mod random;
mod sensitivity;
mod tpe;

use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{History, Point, SearchError, Space};

/// All samplers, simple ones first.
pub static SAMPLERS: &[SamplerEntry] = &[
    // without looking back
    SamplerEntry::of::<random::RandomSearch>(),
    SamplerEntry::of::<qmc::Qmc>(),
    SamplerEntry::of::<brute_force::BruteForce>(),
    // by a model of what was good
    SamplerEntry::of::<tpe::Tpe>(),
    SamplerEntry::of::<cmaes::Cmaes>(),
    // by what nodes contribute
    SamplerEntry::of::<sensitivity::Sensitivity>(),
    // by generations
    SamplerEntry::of::<nsgaii::Nsgaii>(),
    SamplerEntry::of::<nsgaiii::Nsgaiii>(),
];

/// Proposes points.
pub trait Sampler: Send + Sync {
    /// The point of trial `number` reads trials below this number only. Depends on `number` alone and is not above it.
    fn horizon(&self, number: u64) -> u64;

    /// The point of trial `number`; the history reaches to its horizon at least.
    fn sample(&self, history: &History, number: u64) -> Point;
}

/// What a sampler is made for.
#[derive(Clone, Debug)]
pub struct Setting {
    /// What is searched.
    pub space: Arc<Space>,
    /// How many objectives there are.
    pub objectives: usize,
    /// What all random numbers follow from.
    pub seed: u64,
}

/// What the table says of one sampler.
#[derive(Clone, Copy)]
pub struct SamplerEntry {
    /// The name in configs.
    pub name: &'static str,
    /// One line.
    pub about: &'static str,
    /// What it does, its config, its limits.
    pub doc: &'static str,
    /// The config when nothing is given.
    pub defaults: fn() -> Value,
    build: Build,
}

type Build = fn(&Value, Setting) -> Result<Box<dyn Sampler>, SearchError>;

impl SamplerEntry {
    /// Makes the sampler from its config: an object with some of the keys of [`SamplerEntry::defaults`].
    pub fn build(&self, config: &Value, setting: Setting) -> Result<Box<dyn Sampler>, SearchError> {
        (self.build)(config, setting)
    }

    const fn of<M: Method>() -> Self {
        Self {
            name: M::NAME,
            about: M::ABOUT,
            doc: M::DOC,
            defaults: defaults::<M>,
            build: build::<M>,
        }
    }
}

/// The line of the sampler called `name`.
pub fn find_sampler(name: &str) -> Result<&'static SamplerEntry, SearchError> {
    let entry = SAMPLERS.iter().find(|entry| entry.name == name);
    entry.ok_or_else(|| SearchError::UnknownSampler {
        name: name.to_owned(),
        known: SAMPLERS.iter().map(|entry| entry.name).collect(),
    })
}

/// The sampler called `name`, made from its config.
pub fn build_sampler(
    name: &str,
    config: &Value,
    setting: Setting,
) -> Result<Box<dyn Sampler>, SearchError> {
    find_sampler(name)?.build(config, setting)
}

/// A sampler with its place in the table.
trait Method: Sampler + Sized + 'static {
    const NAME: &'static str;
    const ABOUT: &'static str;
    const DOC: &'static str;
    type Config: DeserializeOwned + Serialize + Default;

    fn new(config: Self::Config, setting: Setting) -> Result<Self, SearchError>;

    /// An error about the config.
    fn refuse(reason: impl Into<String>) -> SearchError {
        SearchError::Config {
            sampler: Self::NAME,
            reason: reason.into(),
        }
    }

    /// An error about the space.
    fn unsuitable(reason: impl Into<String>) -> SearchError {
        SearchError::Unsuitable {
            sampler: Self::NAME,
            reason: reason.into(),
        }
    }
}

fn defaults<M: Method>() -> Value {
    serde_json::to_value(M::Config::default()).expect("configs are plain numbers and names")
}

fn build<M: Method>(config: &Value, setting: Setting) -> Result<Box<dyn Sampler>, SearchError> {
    let config = serde_json::from_value(config.clone()).map_err(|e| M::refuse(e.to_string()))?;
    Ok(Box::new(M::new(config, setting)?))
}

/// Checks that a probability is one.
fn is_probability(value: f64) -> bool {
    (0.0..=1.0).contains(&value)
}
