//! Every point of a discrete space.

use random::Random;
use serde::{Deserialize, Serialize};

use super::{Method, Sampler, Setting};
use crate::{Distribution, History, Point, SearchError, Space};
use random::Permutation;

/// Settings of the brute-force search.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Whether the points come in a random order instead of the listed one.
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
    setting: Setting,
    size: u64,
    order: Option<Permutation>,
}

impl Method for BruteForce {
    const NAME: &'static str = "brute_force";
    const ABOUT: &'static str = "every point of a discrete space, once";
    const DOC: &'static str = "\
Tries all points. `shuffle` (default true) puts them into a random order, so that a search that is stopped early has
seen a fair sample; false keeps the order of the space, the last parameter changing fastest. A space with a continuous
parameter or with more than `limit` points (default 10000000) is refused. Looks at no result.";
    type Config = Config;

    fn new(config: Config, setting: Setting) -> Result<Self, SearchError> {
        let size = countable(&setting.space)?;
        if size > u128::from(config.limit.min(1 << 62)) {
            let limit = config.limit;
            return Err(Self::unsuitable(format!(
                "it has {size} points, more than the limit of {limit}"
            )));
        }
        let size = size as u64;
        let stream = Random::new(setting.seed, Self::NAME);
        Ok(Self {
            order: config.shuffle.then(|| Permutation::new(stream, size)),
            size,
            setting,
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
        let point = self.setting.space.nth(u128::from(index));
        point.expect("the index is below the size")
    }
}

fn countable(space: &Space) -> Result<u128, SearchError> {
    space.size().ok_or_else(|| {
        let is_continuous = |d: &Distribution| d.count().is_none();
        let parameter = space.find(|parameter| is_continuous(&parameter.distribution));
        let name = parameter.map_or("", |parameter| &parameter.name);
        BruteForce::unsuitable(format!("`{name}` is continuous"))
    })
}
