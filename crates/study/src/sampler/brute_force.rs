//! Every point of a discrete space.

use config::Reader;
use random::Random;

use super::{Sampler, SamplerContext, SamplerSpec};
use crate::{Distribution, History, Point, Space, StudyError};
use random::Permutation;

/// Settings of the brute-force search.
#[derive(Clone, Debug)]
pub struct Config {
    /// Puts the points into a random order instead of the listed one.
    pub shuffle: bool,
    /// The largest space that is searched.
    pub limit: u64,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            shuffle: true,
            limit: 10_000_000,
        }
    }
}

/// All points, each once.
pub struct BruteForce {
    context: SamplerContext,
    size: u64,
    order: Option<Permutation>,
}

impl SamplerSpec for BruteForce {
    const NAME: &'static str = "brute_force";
    const ABOUT: &'static str = "every point of a discrete space, once";
    const DOC: &'static str = "\
Tries all points. `shuffle` (default true) puts them into a random order, so that a search that is stopped early has
seen a fair sample; false keeps the order of the space, the last parameter changing fastest. A space with a continuous
parameter or with more than `limit` points (default 10000000) is refused. Looks at no result.";
    type Config = Config;

    fn read(reader: &mut Reader) -> Config {
        let defaults = Config::default();
        Config {
            shuffle: reader.flag("shuffle").unwrap_or(defaults.shuffle),
            limit: reader
                .whole("limit", 1..=i64::MAX)
                .map_or(defaults.limit, |limit| limit as u64),
        }
    }

    fn new(config: Config, context: SamplerContext) -> Result<Self, StudyError> {
        let size = countable(&context.space)?;
        if size > u128::from(config.limit.min(1 << 62)) {
            let limit = config.limit;
            return Err(Self::unsuitable(format!(
                "it has {size} points, more than the limit of {limit}"
            )));
        }
        let size = size as u64;
        let stream = Random::new(context.seed, Self::NAME);
        Ok(Self {
            order: config.shuffle.then(|| Permutation::new(stream, size)),
            size,
            context,
        })
    }
}

impl Sampler for BruteForce {
    fn horizon(&self, _number: u64) -> u64 {
        0
    }

    fn sample(&self, _history: &History, number: u64) -> Point {
        let place = number % self.size;
        let index = self.order.map_or(place, |order| order.at(place));
        let point = self.context.space.nth(u128::from(index));
        point.expect("the index is below the size")
    }
}

fn countable(space: &Space) -> Result<u128, StudyError> {
    space.size().ok_or_else(|| {
        let is_continuous = |d: &Distribution| d.count().is_none();
        let parameter = space.find(|parameter| is_continuous(&parameter.distribution));
        let name = parameter.map_or("", |parameter| &parameter.name);
        BruteForce::unsuitable(format!("`{name}` is continuous"))
    })
}
