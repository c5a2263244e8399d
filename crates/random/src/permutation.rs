//! A random order of 0, …, n - 1 in which the k-th number is computed without the others.

use crate::Random;

/// A pseudorandom permutation: a Feistel network (Luby and Rackoff, 1988) over the next even power of two, walked along
/// its cycle until it lands below `size` (Black and Rogaway, 2002). Needs four steps on average at the most.
#[derive(Clone, Copy, Debug)]
pub struct Permutation {
    rounds: [Random; 4],
    half_bits: u32,
    size: u64,
}

impl Permutation {
    /// The order of 0, …, `size` - 1 that `random` stands for; `size` is not zero and at most 2^62.
    pub fn new(random: Random, size: u64) -> Self {
        let bits = u64::BITS - (size - 1).leading_zeros();
        Self {
            rounds: std::array::from_fn(|round| random.at(round as u64)),
            half_bits: bits.div_ceil(2).max(1),
            size,
        }
    }

    /// The number of numbers.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// The number at place `k`, which is below the size.
    pub fn at(&self, k: u64) -> u64 {
        let mut number = self.once(k);
        while number >= self.size {
            number = self.once(number);
        }
        number
    }

    fn once(&self, number: u64) -> u64 {
        let mask = (1 << self.half_bits) - 1;
        let halves = (number >> self.half_bits, number & mask);
        let (left, right) = self.rounds.iter().fold(halves, |(left, right), round| {
            (right, left ^ (round.bits(right) & mask))
        });
        (left << self.half_bits) + right
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_comes_once() {
        for size in [1, 2, 3, 5, 16, 17, 1000] {
            let permutation = Permutation::new(Random::new(size, "permutation"), size);
            let mut numbers: Vec<u64> = (0..size).map(|k| permutation.at(k)).collect();
            assert!(
                size < 16 || !numbers.is_sorted(),
                "{size} numbers stay in order"
            );
            numbers.sort_unstable();
            assert!(numbers.into_iter().eq(0..size), "size {size}");
        }
    }
}
