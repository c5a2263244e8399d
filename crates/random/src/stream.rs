//! Counter-based random numbers: the k-th number of a stream is a pure function of (seed, stream, k), so results do
//! not depend on how work is divided among threads or on what was drawn before.

/// One stream of random numbers.
///
/// The generator is `SplitMix64` (Steele, Lea and Flood, 2014) with the counter as its state: number `k` is the mix of
/// `key + k·γ`, where the key is itself the mix of seed and stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Random {
    key: u64,
}

const GOLDEN_GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

const fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

impl Random {
    /// The stream called `stream` of the generator seeded with `seed`.
    pub fn new(seed: u64, stream: &str) -> Self {
        let named = stream
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
                (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
            });
        Self {
            key: mix(mix(seed.wrapping_add(GOLDEN_GAMMA)) ^ named),
        }
    }

    /// The sub-stream number `index`, for example one per training step.
    #[must_use]
    pub fn at(self, index: u64) -> Self {
        Self {
            key: mix(self.key ^ mix(index.wrapping_add(GOLDEN_GAMMA))),
        }
    }

    /// The number at position `k`, all 64 bits random.
    #[inline]
    pub fn bits(self, k: u64) -> u64 {
        mix(self
            .key
            .wrapping_add(k.wrapping_add(1).wrapping_mul(GOLDEN_GAMMA)))
    }

    /// Uniform in [0, 1), a multiple of 2^-24.
    #[inline]
    pub fn uniform(self, k: u64) -> f32 {
        (self.bits(k) >> 40) as f32 * (1.0 / 16_777_216.0)
    }

    /// Standard normal, by Box and Muller's transform of one 64-bit number.
    pub fn normal(self, k: u64) -> f32 {
        let bits = self.bits(k);
        let u = ((bits >> 32) as f64 + 0.5) / 4_294_967_296.0;
        let v = f64::from(bits as u32) / 4_294_967_296.0;
        ((-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()) as f32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_differ_and_repeat() {
        let a = Random::new(0, "weight");
        assert_eq!(a.bits(7), Random::new(0, "weight").bits(7));
        assert_ne!(a.bits(7), Random::new(1, "weight").bits(7));
        assert_ne!(a.bits(7), Random::new(0, "bias").bits(7));
        assert_ne!(a.bits(7), a.at(0).bits(7));
    }

    /// The first outputs of the published generator with this state.
    #[test]
    fn numbers_are_those_of_split_mix() {
        let published = [
            6457827717110365317,
            3203168211198807973,
            9817491932198370423,
            4593380528125082431,
            16408922859458223821,
        ];
        let random = Random { key: 1234567 };
        assert_eq!([0, 1, 2, 3, 4].map(|k| random.bits(k)), published);
    }

    /// All 64 bits zero: the middle of the first of 2^32 steps, sqrt(-2 ln 2^-33).
    #[test]
    fn the_largest_normal_number_is_finite() {
        let random = Random {
            key: GOLDEN_GAMMA.wrapping_neg(),
        };
        assert_eq!((random.bits(0), random.uniform(0)), (0, 0.0));
        assert!((random.normal(0) - 6.763_705_6).abs() < 1e-6);
    }

    #[test]
    fn moments_are_those_of_the_distribution() {
        let r = Random::new(3, "moments");
        let n = 100_000_u64;
        let uniform: f64 = (0..n).map(|k| f64::from(r.uniform(k))).sum::<f64>() / n as f64;
        let normals: Vec<f64> = (0..n).map(|k| f64::from(r.normal(k))).collect();
        let mean = normals.iter().sum::<f64>() / n as f64;
        let variance = normals.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n as f64;
        assert!((uniform - 0.5).abs() < 0.005, "{uniform}");
        assert!(mean.abs() < 0.02, "{mean}");
        assert!((variance - 1.0).abs() < 0.03, "{variance}");
    }
}
