//! The common part of NSGA-II and NSGA-III: generations, parents, children.
//!
//! Generation g is the trials g·P to (g + 1)·P - 1 for a population of P. Its parents are chosen from the generation
//! before and the parents of that; its children are made one after the other, all before the first is evaluated.

use std::sync::Mutex;

use config::Reader;
use random::Random;

use super::fresh::Tried;
use super::random::RandomSearch;
use super::{SamplerContext, SamplerSpec};
use crate::{Coordinate, Distribution, History, Point, State, Trial, pareto};
use random::Draws;

/// Children that repeat an earlier point are made anew so many times.
const RETRIES: usize = 8;

/// Settings of the genetic samplers.
#[derive(Clone, Debug)]
pub struct Config {
    /// Trials in a generation.
    pub population_size: u64,
    /// Probability that a child has two parents instead of one.
    pub crossover_prob: f64,
    /// Probability that a value comes from the second parent.
    pub swapping_prob: f64,
    /// Probability that a value is changed; one divided by the number of parameters if not given.
    pub mutation_prob: Option<f64>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            population_size: 50,
            crossover_prob: 0.9,
            swapping_prob: 0.5,
            mutation_prob: None,
        }
    }
}

impl Config {
    /// Reads the settings.
    pub(super) fn read(reader: &mut Reader) -> Self {
        let defaults = Self::default();
        let size = reader.whole("population_size", 2..=i64::from(u32::MAX));
        let mut probability = |key| reader.number(key, 0.0..=1.0);
        Self {
            crossover_prob: probability("crossover_prob").unwrap_or(defaults.crossover_prob),
            swapping_prob: probability("swapping_prob").unwrap_or(defaults.swapping_prob),
            mutation_prob: probability("mutation_prob"),
            population_size: size.map_or(defaults.population_size, |size| size as u64),
        }
    }
}

/// Chooses who survives: indices of at most `count` of the candidates, which are complete trials.
pub(super) trait Selection: Send + Sync {
    fn survivors(&self, candidates: &Population, count: usize, draws: &mut Draws) -> Vec<usize>;
}

/// Trials to choose from, with what selection looks at.
pub(super) struct Population {
    /// Numbers of the trials.
    pub(super) numbers: Vec<u64>,
    /// Their losses.
    pub(super) losses: Vec<Vec<f64>>,
    /// By how much they exceed the constraints.
    pub(super) excess: Vec<f64>,
}

impl Population {
    fn new(history: &History, numbers: Vec<u64>) -> Self {
        let trials: Vec<&Trial> = numbers
            .iter()
            .map(|n| &history.trials()[*n as usize])
            .collect();
        Self {
            losses: trials.iter().map(|trial| history.losses(trial)).collect(),
            excess: trials.iter().map(|trial| trial.excess()).collect(),
            numbers,
        }
    }

    /// The front of each: Deb's rule, then dominance.
    fn ranks(&self) -> Vec<usize> {
        pareto::constrained_ranks(&self.losses, &self.excess)
    }

    /// Indices in fronts, the best first.
    pub(super) fn fronts(&self) -> Vec<Vec<usize>> {
        let ranks = self.ranks();
        let mut fronts = vec![Vec::new(); ranks.iter().max().map_or(0, |rank| rank + 1)];
        for (item, rank) in ranks.into_iter().enumerate() {
            fronts[rank].push(item);
        }
        fronts.retain(|front| !front.is_empty());
        fronts
    }
}

/// Those who may have children.
#[derive(Default)]
struct Parents {
    numbers: Vec<u64>,
    /// The front of each.
    fronts: Vec<usize>,
}

/// The common part of the genetic samplers.
pub(super) struct Genetic<S> {
    config: Config,
    selection: S,
    context: SamplerContext,
    stream: Random,
    first: RandomSearch,
    cache: Mutex<Generation>,
}

/// One generation: its parents, and as many children as were asked for.
#[derive(Default)]
struct Generation {
    number: u64,
    parents: Parents,
    children: Vec<Point>,
    tried: Tried,
}

impl<S: Selection> Genetic<S> {
    pub(super) fn new<M: SamplerSpec>(
        config: Config,
        selection: S,
        context: SamplerContext,
    ) -> Result<Self, crate::StudyError> {
        Ok(Self {
            stream: Random::new(context.seed, M::NAME),
            first: RandomSearch::new((), context.clone())?,
            config,
            selection,
            context,
            cache: Mutex::default(),
        })
    }

    pub(super) fn horizon(&self, number: u64) -> u64 {
        number - number % self.config.population_size
    }

    pub(super) fn sample(&self, history: &History, number: u64) -> Point {
        let size = self.config.population_size;
        if number < size {
            return self.first.point(number);
        }
        let mut cache = self
            .cache
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        self.advance(&mut cache, history, number / size);
        let place = (number % size) as usize;
        while cache.children.len() <= place {
            let child = self.child(&cache, history);
            cache.children.push(child);
        }
        cache.children[place].clone()
    }

    /// Makes `cache` the generation `wanted`, from the one before where it can.
    fn advance(&self, cache: &mut Generation, history: &History, wanted: u64) {
        if wanted < cache.number {
            *cache = Generation::default();
        }
        while cache.number < wanted {
            cache.parents = self.parents(&cache.parents.numbers, history, cache.number);
            cache.children.clear();
            cache.number += 1;
        }
        let start = wanted * self.config.population_size;
        cache.tried.advance(&self.context.space, history, start);
    }

    /// The best of generation `last` and its parents.
    fn parents(&self, before: &[u64], history: &History, last: u64) -> Parents {
        let size = self.config.population_size;
        let new = last * size..(last + 1) * size;
        let is_complete = |n: &u64| history.trials()[*n as usize].outcome.state == State::Complete;
        let numbers = new
            .filter(is_complete)
            .chain(before.iter().copied())
            .collect();
        let candidates = Population::new(history, numbers);
        let mut draws = Draws::new(self.stream.at(last).at(0));
        let survivors = self
            .selection
            .survivors(&candidates, size as usize, &mut draws);
        let fronts = candidates.ranks();
        Parents {
            numbers: survivors
                .iter()
                .map(|&item| candidates.numbers[item])
                .collect(),
            fronts: survivors.iter().map(|&item| fronts[item]).collect(),
        }
    }

    fn child(&self, generation: &Generation, history: &History) -> Point {
        let place = generation.children.len() as u64;
        let mut draws = Draws::new(self.stream.at(generation.number).at(1 + place));
        let parents = &generation.parents;
        let mut child = self.make(parents, history, &mut draws);
        for _ in 0..RETRIES {
            if !generation.tried.contains(&generation.children, &child) {
                return child;
            }
            child = self.make(parents, history, &mut draws);
        }
        if generation.tried.contains(&generation.children, &child) {
            let space = &self.context.space;
            return generation
                .tried
                .fresh(space, &generation.children, &mut draws, child);
        }
        child
    }

    /// Crossover and mutation; a random point when nobody survived.
    fn make(&self, parents: &Parents, history: &History, draws: &mut Draws) -> Point {
        if parents.numbers.is_empty() {
            return self.context.space.draw(draws);
        }
        let point = |item: usize| &history.trials()[parents.numbers[item] as usize].point;
        if draws.uniform() >= self.config.crossover_prob {
            let parent = point(draws.below(parents.numbers.len()));
            return self.mix([parent, parent], draws);
        }
        let first = tournament(parents, None, draws);
        let second = tournament(parents, Some(first), draws);
        self.mix([point(first), point(second)], draws)
    }

    /// Uniform crossover (Syswerda, 1989). Where the chosen parent has no value because the parameter was inactive there,
    /// the other one's is taken, and a random one if that has none either.
    fn mix(&self, parents: [&Point; 2], draws: &mut Draws) -> Point {
        let space = &self.context.space;
        let mutation = 1.0 / space.len().max(1) as f64;
        let mutation = self.config.mutation_prob.unwrap_or(mutation);
        space.build(|index, distribution| -> Coordinate {
            let second = usize::from(draws.uniform() < self.config.swapping_prob);
            let inherited = parents[second]
                .get(index)
                .or(parents[1 - second].get(index));
            match inherited {
                Some(coordinate) if draws.uniform() >= mutation => coordinate,
                Some(coordinate) => mutated(distribution, coordinate, draws),
                None => distribution.at(draws.uniform()),
            }
        })
    }
}

/// Another value. Half of the time it is drawn anew; otherwise a number moves by about a tenth of its range, which finds
/// the fine structure that drawing anew misses.
fn mutated(distribution: &Distribution, coordinate: Coordinate, draws: &mut Draws) -> Coordinate {
    let is_number = !matches!(coordinate, Coordinate::Choice(_));
    if is_number && draws.uniform() < 0.5 {
        let place = distribution.place(coordinate) + 0.1 * draws.normal();
        return distribution.at(place.clamp(0.0, 1.0));
    }
    distribution.at(draws.uniform())
}

/// The one of two random parents whose front is better, neither of them `taken` if there is another.
fn tournament(parents: &Parents, taken: Option<usize>, draws: &mut Draws) -> usize {
    let count = parents.numbers.len();
    let others = taken.filter(|_| count > 1);
    let mut draw = || match others {
        Some(taken) => (taken + 1 + draws.below(count - 1)) % count,
        None => draws.below(count),
    };
    let (a, b) = (draw(), draw());
    if parents.fronts[a] < parents.fronts[b] {
        a
    } else {
        b
    }
}
