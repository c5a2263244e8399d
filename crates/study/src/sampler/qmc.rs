//! Quasi-random search: points that fill the space more evenly than random ones.

use config::Reader;
use random::Random;

use super::{Sampler, SamplerContext, SamplerSpec};
use crate::{History, Point, StudyError};
use random::Sobol;

/// A scrambled Sobol sequence.
pub struct Qmc {
    context: SamplerContext,
    sequence: Sobol,
}

impl SamplerSpec for Qmc {
    const NAME: &'static str = "qmc";
    const ABOUT: &'static str = "a scrambled Sobol sequence: even coverage of the space";
    const DOC: &'static str = "\
Point number n is element n of a Sobol sequence with one dimension for each parameter, scrambled after Owen with the
seed. The first 2^k points hit each of 2^k equal parts of every single axis exactly once, and pairs of axes nearly so.
Inactive parameters leave their dimension unused. Points of a discrete space may repeat. Looks at no result.";
    type Config = ();

    fn read(_reader: &mut Reader) {}

    fn new((): (), context: SamplerContext) -> Result<Self, StudyError> {
        let stream = Random::new(context.seed, Self::NAME);
        Ok(Self {
            sequence: Sobol::new(context.space.len(), stream),
            context,
        })
    }
}

impl Sampler for Qmc {
    fn horizon(&self, _number: u64) -> u64 {
        0
    }

    fn sample(&self, _history: &History, number: u64) -> Point {
        let index = number as u32;
        self.context
            .space
            .build(|axis, distribution| distribution.at(self.sequence.at(index, axis)))
    }
}
