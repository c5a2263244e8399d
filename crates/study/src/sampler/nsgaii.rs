//! NSGA-II.

use super::genetic::{Config, Genetic, Population, Selection};
use super::{Sampler, SamplerContext, SamplerSpec};
use crate::{History, Point, StudyError, pareto};
use config::Reader;
use random::Draws;

/// The elitist non-dominated sorting genetic algorithm.
pub struct Nsgaii {
    genetic: Genetic<ByCrowding>,
}

impl SamplerSpec for Nsgaii {
    const NAME: &'static str = "nsgaii";
    const ABOUT: &'static str = "a genetic algorithm for two or three objectives, or one";
    const DOC: &'static str = "\
NSGA-II (Deb, Pratap, Agarwal and Meyarivan, 2002). Generations of `population_size` trials (default 50); the first is
random. Parents are the best of all generations so far: by front, then by crowding distance, so that they spread over the
front. What satisfies the constraints comes before what does not. A child takes each value from one of two parents
(`crossover_prob` 0.9, `swapping_prob` 0.5), and each value is changed with `mutation_prob` (one over the number of
parameters): drawn anew, or, every other time, a number moves by about a tenth of its range. Children that repeat a point of
a discrete space are made again. A generation runs at once; it waits for the whole one before.";
    type Config = Config;

    fn read(reader: &mut Reader) -> Config {
        Config::read(reader)
    }

    fn new(config: Config, context: SamplerContext) -> Result<Self, StudyError> {
        Ok(Self {
            genetic: Genetic::new::<Self>(config, ByCrowding, context)?,
        })
    }
}

impl Sampler for Nsgaii {
    fn horizon(&self, number: u64) -> u64 {
        self.genetic.horizon(number)
    }

    fn sample(&self, history: &History, number: u64) -> Point {
        self.genetic.sample(history, number)
    }
}

/// Whole fronts while they fit, then those of the next with the most room around them.
struct ByCrowding;

impl Selection for ByCrowding {
    fn survivors(&self, candidates: &Population, count: usize, _draws: &mut Draws) -> Vec<usize> {
        let mut survivors = Vec::new();
        for mut front in candidates.fronts() {
            let room = count - survivors.len();
            if front.len() > room {
                front = with_most_room(candidates, &front, room);
            }
            survivors.extend(front);
        }
        survivors
    }
}

fn with_most_room(candidates: &Population, front: &[usize], count: usize) -> Vec<usize> {
    let losses: Vec<Vec<f64>> = front
        .iter()
        .map(|&item| candidates.losses[item].clone())
        .collect();
    let room = pareto::crowding(&losses);
    let mut order: Vec<usize> = (0..front.len()).collect();
    order.sort_by(|&a, &b| room[b].total_cmp(&room[a]));
    order[..count].iter().map(|&place| front[place]).collect()
}
