//! Samplers: the choice of the next point.
//!
//! A sampler is a pure function of its config, the seed, the number of the trial and the trials before the horizon of
//! that number. Whatever it keeps between calls is a cache of such results, and a sampler serves one study only.
//!
//! Adding one: a file with a config and an implementation of `SamplerSpec` and [`Sampler`], its `mod` line, and a line in
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

use config::{Reader, is_same_name};
use std::fmt::Debug;

use crate::{History, Point, Space, StudyError};

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

/// The study that a sampler is built for.
#[derive(Clone, Debug)]
pub struct SamplerContext {
    /// The searched space.
    pub space: Arc<Space>,
    /// Number of objectives.
    pub objectives: usize,
    /// Seed of all random numbers.
    pub seed: u64,
}

/// One line of the table of samplers.
#[derive(Clone, Copy)]
pub struct SamplerEntry {
    /// The name in configs.
    pub name: &'static str,
    /// One line.
    pub about: &'static str,
    /// Behavior, settings and limits.
    pub doc: &'static str,
    /// Reads the settings; problems are the reader's.
    pub read: fn(&mut Reader) -> Arc<dyn SamplerConfig>,
    /// The settings of a sampler that none are given for.
    pub defaults: fn() -> Arc<dyn SamplerConfig>,
}

/// Settings of a sampler, checked.
pub trait SamplerConfig: Debug + Send + Sync {
    /// Builds the sampler for a study; fails when it cannot search the space.
    fn build(&self, context: SamplerContext) -> Result<Box<dyn Sampler>, StudyError>;
}

impl SamplerEntry {
    const fn of<S: SamplerSpec>() -> Self {
        Self {
            name: S::NAME,
            about: S::ABOUT,
            doc: S::DOC,
            read: |reader| Arc::new(Configured::<S>(S::read(reader))),
            defaults: || Arc::new(Configured::<S>(S::Config::default())),
        }
    }
}

/// Short names of samplers.
const SHORT: &[(&str, &str)] = &[("brute", "brute_force"), ("cma", "cmaes")];

/// The line of the sampler called `name`; case, `-` and `_` make no difference.
pub fn find_sampler(name: &str) -> Result<&'static SamplerEntry, StudyError> {
    let short = SHORT.iter().find(|(short, _)| is_same_name(short, name));
    let wanted = short.map_or(name, |(_, whole)| whole);
    let entry = SAMPLERS
        .iter()
        .find(|entry| is_same_name(entry.name, wanted));
    entry.ok_or_else(|| StudyError::UnknownSampler {
        name: name.to_owned(),
        known: SAMPLERS.iter().map(|entry| entry.name).collect(),
    })
}

/// The sampler called `name` with its default settings.
pub fn build_sampler(name: &str, context: SamplerContext) -> Result<Box<dyn Sampler>, StudyError> {
    (find_sampler(name)?.defaults)().build(context)
}

/// A sampler as an entry of the table.
trait SamplerSpec: Sampler + Sized + 'static {
    const NAME: &'static str;
    const ABOUT: &'static str;
    const DOC: &'static str;
    type Config: Clone + Debug + Default + Send + Sync;

    /// Reads the settings, each within its range.
    fn read(reader: &mut Reader) -> Self::Config;

    fn new(config: Self::Config, context: SamplerContext) -> Result<Self, StudyError>;

    /// An error about the space.
    fn unsuitable(reason: impl Into<String>) -> StudyError {
        StudyError::Unsuitable {
            sampler: Self::NAME,
            reason: reason.into(),
        }
    }
}

/// Settings of a sampler that the type knows.
struct Configured<S: SamplerSpec>(S::Config);

impl<S: SamplerSpec> Debug for Configured<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "{} {:?}", S::NAME, self.0)
    }
}

impl<S: SamplerSpec> SamplerConfig for Configured<S>
where
    S::Config: Send + Sync,
{
    fn build(&self, context: SamplerContext) -> Result<Box<dyn Sampler>, StudyError> {
        Ok(Box::new(S::new(self.0.clone(), context)?))
    }
}
