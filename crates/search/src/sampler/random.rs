//! Random search.

use ir::Random;
use serde::{Deserialize, Serialize};

use super::{Method, Sampler, Setting};
use crate::draws::Draws;
use crate::permutation::Permutation;
use crate::{Distribution, History, Point, SearchError, Space};

/// No settings.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {}

/// Independent points; without repetition where every point is equally likely.
pub struct RandomSearch {
    setting: Setting,
    stream: Random,
    order: Option<Permutation>,
}

impl Method for RandomSearch {
    const NAME: &'static str = "random";
    const ABOUT: &'static str = "uniform over the space, without repetition where it is discrete";
    const DOC: &'static str = "\
Draws every active parameter uniformly (uniformly in the logarithm where the parameter says so). In a discrete space
without conditions and logarithms all points are equally likely; there the points come in a random order without
repetition. Looks at no result, so all trials may run at once.";
    type Config = Config;

    fn new(_config: Config, setting: Setting) -> Result<Self, SearchError> {
        let stream = Random::new(setting.seed, Self::NAME);
        let order = equally_likely(&setting.space).map(|size| Permutation::new(stream, size));
        Ok(Self {
            setting,
            stream,
            order,
        })
    }
}

impl Sampler for RandomSearch {
    fn horizon(&self, _number: u64) -> u64 {
        0
    }

    fn sample(&self, _history: &History, number: u64) -> Point {
        self.point(number)
    }
}

impl RandomSearch {
    /// The point of trial `number`.
    pub(super) fn point(&self, number: u64) -> Point {
        let space = &self.setting.space;
        let listed = self.order.filter(|order| number < order.size());
        let point = listed.and_then(|order| space.nth(u128::from(order.at(number))));
        point.unwrap_or_else(|| independent(space, &mut Draws::new(self.stream.at(number))))
    }
}

/// A point with every active parameter drawn on its own.
pub(super) fn independent(space: &Space, draws: &mut Draws) -> Point {
    space.build(|_, distribution| distribution.at(draws.uniform()))
}

/// The number of points, where each is as likely as any other and they can be numbered.
fn equally_likely(space: &Space) -> Option<u64> {
    let uneven = space.find(|parameter| {
        let log = matches!(parameter.distribution, Distribution::Int { log: true, .. });
        log || parameter.condition.is_some()
    });
    let size = space.size().filter(|size| *size <= 1 << 62)?;
    uneven.is_none().then_some(size as u64)
}
