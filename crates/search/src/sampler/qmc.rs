//! Quasi-random search: points that fill the space more evenly than random ones.

use random::Random;
use serde::{Deserialize, Serialize};

use super::{Method, Sampler, Setting};
use crate::{History, Point, SearchError};
use random::Sobol;

/// No settings.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {}

/// A scrambled Sobol sequence.
pub struct Qmc {
    setting: Setting,
    sequence: Sobol,
}

impl Method for Qmc {
    const NAME: &'static str = "qmc";
    const ABOUT: &'static str = "a scrambled Sobol sequence: even coverage of the space";
    const DOC: &'static str = "\
Point number n is element n of a Sobol sequence with one dimension for each parameter, scrambled after Owen with the
seed. The first 2^k points hit each of 2^k equal parts of every single axis exactly once, and pairs of axes nearly so.
Inactive parameters leave their dimension unused. Points of a discrete space may repeat. Looks at no result.";
    type Config = Config;

    fn new(_config: Config, setting: Setting) -> Result<Self, SearchError> {
        let stream = Random::new(setting.seed, Self::NAME);
        Ok(Self {
            sequence: Sobol::new(setting.space.len(), stream),
            setting,
        })
    }
}

impl Sampler for Qmc {
    fn horizon(&self, _number: u64) -> u64 {
        0
    }

    fn sample(&self, _history: &History, number: u64) -> Point {
        let index = number as u32;
        self.setting
            .space
            .build(|axis, distribution| distribution.at(self.sequence.at(index, axis)))
    }
}
