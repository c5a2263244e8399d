//! Random draws of one trial, in order: a cursor over a counter-based stream.

use crate::Random;

use crate::normal;

/// The numbers of one stream, one after the other.
#[derive(Clone, Debug)]
pub struct Draws {
    random: Random,
    next: u64,
}

impl Draws {
    /// The stream from its beginning.
    pub fn new(random: Random) -> Self {
        Self { random, next: 0 }
    }

    /// Uniform in [0, 1), a multiple of 2^-53.
    pub fn uniform(&mut self) -> f64 {
        const UNIT: f64 = 1.0 / 9_007_199_254_740_992.0;
        let bits = self.random.bits(self.next);
        self.next += 1;
        (bits >> 11) as f64 * UNIT
    }

    /// One of 0, …, `n` - 1; `n` is not zero.
    pub fn below(&mut self, n: usize) -> usize {
        // The largest draw is 1 - 2^-53, and no double times that is rounded up to itself.
        (self.uniform() * n as f64) as usize
    }

    /// Standard normal, by inversion.
    pub fn normal(&mut self) -> f64 {
        const HALF_STEP: f64 = 0.5 / 9_007_199_254_740_992.0;
        normal::quantile(self.uniform() + HALF_STEP)
    }
}
