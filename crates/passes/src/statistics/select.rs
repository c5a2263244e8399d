//! Quantiles of many values without sorting them.
//!
//! A sample gives the two values between which a rank must lie; one pass counts what is below and keeps what is between;
//! the rank is found among the kept few. Where the sample was wrong, which the counts show, everything is kept. (After
//! Floyd and Rivest, "Expected time bounds for selection", 1975.)

use kernels::statistics::{BLOCK, Counts, keep_between};

/// Up to so many values are copied and searched directly.
const FEW: usize = 1 << 12;
/// Values of a sample, at most.
const SAMPLE: usize = 1 << 13;
/// Standard deviations that a rank may lie off its place in the sample.
const DEVIATIONS: f64 = 4.0;

/// Quantiles of values, or of their magnitudes, by linear interpolation. All values must be finite, and
/// there must be one.
pub(super) fn quantiles<const N: usize>(
    values: &[f32],
    magnitudes: bool,
    levels: [f64; N],
) -> [f64; N] {
    let count = values.len();
    let mut search = if count <= FEW {
        Search::Direct(copy(values, magnitudes))
    } else {
        let sample = sample(values, magnitudes);
        let mut brackets = levels.map(|level| Bracket::new(&sample, level));
        scan(values, magnitudes, &mut brackets);
        Search::Brackets(brackets.into())
    };
    let mut k = 0;
    levels.map(|level| {
        let place = level * (count - 1) as f64;
        let rank = place.floor() as usize;
        let next = (rank + 1).min(count - 1);
        let [low, high] = [rank, next].map(|rank| search.at(k, rank, values, magnitudes));
        k += 1;
        interpolate(low.into(), high.into(), place - place.floor())
    })
}

/// NumPy's formula, which is exact at both ends. Adding zero turns -0 into 0.
fn interpolate(low: f64, high: f64, weight: f64) -> f64 {
    let difference = high - low;
    if weight >= 0.5 {
        high - difference * (1.0 - weight) + 0.0
    } else {
        low + difference * weight + 0.0
    }
}

/// The values in which ranks are looked up.
enum Search {
    /// In all values.
    Direct(Vec<f32>),
    /// In what was kept for each level.
    Brackets(Vec<Bracket>),
}

impl Search {
    /// The value at a rank, for level `k`.
    fn at(&mut self, k: usize, rank: usize, all: &[f32], magnitudes: bool) -> f32 {
        if let Self::Brackets(brackets) = self {
            let bracket = &mut brackets[k];
            let found = bracket.at(rank);
            if let Some(value) = found.or_else(|| bracket.at_ends(rank, all, magnitudes)) {
                return value;
            }
            *self = Self::Direct(copy(all, magnitudes));
        }
        match self {
            Self::Direct(values) => nth(values, rank),
            Self::Brackets(_) => unreachable!("replaced above"),
        }
    }
}

/// Two bounds around a rank, and what lies between them.
struct Bracket {
    lower: f32,
    upper: f32,
    counts: Counts,
    kept: Vec<f32>,
}

impl Bracket {
    /// The bounds that a sorted sample suggests.
    fn new(sample: &[f32], level: f64) -> Self {
        let n = sample.len() as f64;
        let place = level * (n - 1.0);
        let margin = DEVIATIONS * (n * level * (1.0 - level)).sqrt() + 2.0;
        let (first, last) = ((place - margin).floor(), (place + margin).ceil());
        let inside = |place: f64| (0.0..n).contains(&place).then(|| sample[place as usize]);
        Self::between(
            inside(first).unwrap_or(f32::NEG_INFINITY),
            inside(last).unwrap_or(f32::INFINITY),
        )
    }

    fn between(lower: f32, upper: f32) -> Self {
        Self {
            lower,
            upper,
            counts: Counts::default(),
            kept: Vec::new(),
        }
    }

    fn add(&mut self, block: &[f32]) {
        let counts = keep_between(block, self.lower, self.upper, &mut self.kept);
        self.counts.up_to_lower += counts.up_to_lower;
        self.counts.below_upper += counts.below_upper;
    }

    /// The value at a rank, if it lies between the bounds, or if both are one and it is that.
    fn at(&mut self, rank: usize) -> Option<f32> {
        let Counts {
            up_to_lower,
            below_upper,
        } = self.counts;
        if self.lower < self.upper {
            let is_kept = (up_to_lower..below_upper).contains(&rank);
            is_kept.then(|| nth(&mut self.kept, rank - up_to_lower))
        } else {
            let is_bound = (below_upper..up_to_lower).contains(&rank);
            is_bound.then_some(self.lower)
        }
    }

    /// The value at a rank, if it is one of the bounds: many values may be equal to it.
    fn at_ends(&self, rank: usize, all: &[f32], magnitudes: bool) -> Option<f32> {
        let mut ends = [self.lower, self.upper].map(|end| Self::between(end, end));
        scan(all, magnitudes, &mut ends);
        ends.iter_mut().find_map(|end| end.at(rank))
    }
}

/// One pass over all values, block after block while they are in the first cache.
fn scan(values: &[f32], magnitudes: bool, brackets: &mut [Bracket]) {
    let mut scratch = Vec::with_capacity(BLOCK);
    for block in values.chunks(BLOCK) {
        let block = if magnitudes {
            scratch.clear();
            scratch.extend(block.iter().map(|x| x.abs()));
            scratch.as_slice()
        } else {
            block
        };
        for bracket in &mut *brackets {
            bracket.add(block);
        }
    }
}

/// Sorting a sample of this size takes no longer than looking at what it leaves between two bounds.
fn sample_size(count: usize) -> usize {
    SAMPLE.min((count as f64).powf(2.0 / 3.0) as usize)
}

/// A sorted sample. Steps of the golden ratio spread it evenly and in no rhythm with the width of a row.
fn sample(values: &[f32], magnitudes: bool) -> Vec<f32> {
    let count = values.len();
    let wanted = sample_size(count);
    let golden = |k: usize| (k as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let place = |k: usize| ((u128::from(golden(k)) * count as u128) >> 64) as usize;
    let places = (1..=wanted).map(|k| values[place(k)]);
    let mut sample = copy(&places.collect::<Vec<_>>(), magnitudes);
    sample.sort_unstable_by(f32::total_cmp);
    sample
}

fn copy(values: &[f32], magnitudes: bool) -> Vec<f32> {
    let of = |x: &f32| if magnitudes { x.abs() } else { *x };
    values.iter().map(of).collect()
}

fn nth(values: &mut [f32], rank: usize) -> f32 {
    *values.select_nth_unstable_by(rank, f32::total_cmp).1
}

#[cfg(test)]
mod tests {
    use super::*;
    use random::Random;

    fn by_sorting(values: &[f32], magnitudes: bool, level: f64) -> f64 {
        let mut sorted = copy(values, magnitudes);
        sorted.sort_unstable_by(f32::total_cmp);
        let place = level * (sorted.len() - 1) as f64;
        let at = |place: f64| f64::from(sorted[place as usize]);
        interpolate(at(place.floor()), at(place.ceil()), place.fract())
    }

    fn check(values: &[f32], what: &str) {
        for magnitudes in [false, true] {
            for level in [0.0, 0.001, 0.025, 0.3, 0.5, 0.97, 1.0] {
                let found = quantiles(values, magnitudes, [1.0 - level, level]);
                let wanted = [1.0 - level, level].map(|l| by_sorting(values, magnitudes, l));
                assert_eq!(
                    found, wanted,
                    "{what}, level {level}, magnitudes {magnitudes}"
                );
            }
        }
    }

    fn normal(n: u64) -> Vec<f32> {
        (0..n).map(|k| Random::new(1, "select").normal(k)).collect()
    }

    #[test]
    fn quantiles_are_those_of_the_sorted_values() {
        for n in [1, 2, 3, 10, FEW as u64, FEW as u64 + 1, 200_000] {
            check(&normal(n), &format!("{n} normal values"));
        }
    }

    #[test]
    fn ties_are_found() {
        let relu: Vec<f32> = normal(50_000).iter().map(|x| x.max(0.0)).collect();
        check(&relu, "rectified");
        let coarse: Vec<f32> = normal(50_000)
            .iter()
            .map(|x| (x * 4.0).round() / 4.0)
            .collect();
        check(&coarse, "rounded to quarters");
        check(&vec![2.5; 50_000], "constant");
    }

    #[test]
    fn a_misleading_sample_is_noticed() {
        let count = 50_000;
        let mut values = vec![1.0; count];
        let golden = |k: u64| k.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        for k in 1..=sample_size(count) as u64 {
            let place = (u128::from(golden(k)) * count as u128) >> 64;
            values[place as usize] = -1.0 - k as f32;
        }
        check(&values, "a sample of outliers");
    }

    #[test]
    fn a_sample_is_sorted_and_spread_over_all_values() {
        let count = 50_000;
        let values: Vec<f32> = (0..count).map(|k| 10.0 - k as f32).collect();
        let sorted = sample(&values, false);
        assert_eq!(sorted.len(), 1357, "the power 2/3 of the count");
        assert!(sorted.is_sorted());
        // Of n values spread evenly, each of ten parts has a tenth.
        for part in 0..10 {
            let ends = [part, part + 1].map(|k| 10.0 - count as f32 + (k * count / 10) as f32);
            let inside = sorted
                .iter()
                .filter(|x| (ends[0]..ends[1]).contains(x))
                .count();
            assert!((130..=142).contains(&inside), "part {part}: {inside}");
        }
        assert!(sample(&values, true).iter().all(|x| *x >= 0.0));
        assert_eq!(sample(&vec![1.0; 2_000_000], false).len(), SAMPLE);
    }

    #[test]
    fn the_bounds_of_a_rank_leave_few_values_between_them() {
        let values = normal(50_000);
        let sample = sample(&values, false);
        for (level, most) in [
            (0.0, 2_000),
            (0.001, 2_000),
            (0.3, 12_000),
            (0.5, 12_000),
            (1.0, 2_000),
        ] {
            let mut bracket = [Bracket::new(&sample, level)];
            scan(&values, false, &mut bracket);
            let rank = (level * 49_999.0) as usize;
            let found = bracket[0].at(rank);
            assert_eq!(
                found.map(f64::from),
                Some(by_sorting(&values, false, rank as f64 / 49_999.0))
            );
            assert!(
                bracket[0].kept.len() < most,
                "{level}: {}",
                bracket[0].kept.len()
            );
        }
    }
}
