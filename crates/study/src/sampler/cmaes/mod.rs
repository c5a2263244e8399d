//! The covariance matrix adaptation evolution strategy.

mod eigen;
mod margin;
mod state;

use std::sync::{Mutex, PoisonError};

use config::Reader;
use random::Random;

use self::state::{Distribution as Normal, Rates};
use super::{SAMPLERS, Sampler, SamplerContext, SamplerEntry, SamplerSpec};
use crate::{Distribution, History, Point, Space, State, StudyError};
use random::Draws;

/// Settings of CMA-ES.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// Trials in a generation; 4 + 3 ln(number of parameters) if not given.
    pub population_size: Option<usize>,
}

/// A normal distribution that learns where to go and how far.
pub struct Cmaes {
    context: SamplerContext,
    rates: Rates,
    stream: Random,
    cache: Mutex<Learned>,
}

/// The distribution from which a generation is drawn.
struct Learned {
    generation: u64,
    normal: Normal,
}

impl SamplerSpec for Cmaes {
    const NAME: &'static str = "cmaes";
    const ABOUT: &'static str =
        "covariance matrix adaptation, for ordered parameters and one objective";
    const DOC: &'static str = "\
CMA-ES (Hansen, 2016) with margin (Hamano, Saito, Nomura and Shirakawa, 2022). Draws generations of `population_size` trials
(default 4 + 3 ln n for n parameters) from a normal distribution and moves and reshapes it towards the best of each. The
margin keeps integer parameters from getting stuck on one value. Choices that are whole numbers in rising order, as
weight_width = [2, 4, 8], are steps of equal length. Trials that violate constraints rank after those that do not. Needs one
objective and parameters that are ordered and always active: choices of words and conditional ones are refused. A generation runs at once. Points of a discrete space may repeat, since the distribution learns from repetitions too.";
    type Config = Config;

    fn read(reader: &mut Reader) -> Config {
        let size = reader.whole("population_size", 2..=i64::from(u32::MAX));
        Config {
            population_size: size.map(|size| size as usize),
        }
    }

    fn new(config: Config, context: SamplerContext) -> Result<Self, StudyError> {
        if context.objectives != 1 {
            let n = context.objectives;
            let reason = format!("it has {n} objectives, not 1; sum_scaled_metrics makes them one");
            return Err(Self::unsuitable(reason));
        }
        if let Some(reason) = obstacle(&context.space) {
            let others = others(&context).join(", ");
            return Err(Self::unsuitable(format!("{reason}; {others} can")));
        }
        let n = context.space.len();
        Ok(Self {
            rates: Rates::new(n, config.population_size),
            stream: Random::new(context.seed, Self::NAME),
            cache: Mutex::new(Learned {
                generation: 0,
                normal: Normal::new(n),
            }),
            context,
        })
    }
}

impl Sampler for Cmaes {
    fn horizon(&self, number: u64) -> u64 {
        number - number % self.rates.population as u64
    }

    fn sample(&self, history: &History, number: u64) -> Point {
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        let wanted = number / self.rates.population as u64;
        if wanted < cache.generation {
            cache.generation = 0;
            cache.normal = Normal::new(self.context.space.len());
        }
        while cache.generation < wanted {
            self.learn(&mut cache, history);
        }
        self.point(&self.place(&cache.normal, number))
    }
}

impl Cmaes {
    /// The place of trial `number`: drawn until all continuous parameters are within bounds, at last cut off.
    fn place(&self, normal: &Normal, number: u64) -> Vec<f64> {
        let mut draws = Draws::new(self.stream.at(number));
        let is_inside = |place: &[f64]| {
            let mut axes = place.iter().zip(self.context.space.parameters());
            axes.all(|(x, parameter)| {
                is_discrete(&parameter.distribution) || (0.0..=1.0).contains(x)
            })
        };
        let mut place = normal.draw(&mut draws);
        for _ in 0..10 * place.len() {
            if is_inside(&place) {
                return place;
            }
            place = normal.draw(&mut draws);
        }
        for (x, parameter) in place.iter_mut().zip(self.context.space.parameters()) {
            if !is_discrete(&parameter.distribution) {
                *x = x.clamp(0.0, 1.0);
            }
        }
        place
    }

    fn point(&self, place: &[f64]) -> Point {
        self.context
            .space
            .build(|axis, distribution| distribution.at(place[axis]))
    }

    /// Learns from the generation of the cache.
    fn learn(&self, cache: &mut Learned, history: &History) {
        let size = self.rates.population as u64;
        let start = cache.generation * size;
        cache.generation += 1;
        let trials = &history.trials()[start as usize..(start + size) as usize];
        if trials.iter().all(|trial| trial.outcome.values.is_empty()) {
            return;
        }
        let rank = |at: usize| {
            let trial = &trials[at];
            let usable = trial.outcome.state != State::Failed && !trial.outcome.values.is_empty();
            let loss = usable.then(|| history.directions()[0].loss(trial.outcome.values[0]));
            (trial.excess(), loss.unwrap_or(f64::INFINITY))
        };
        let mut order: Vec<usize> = (0..trials.len()).collect();
        order.sort_by(|&a, &b| {
            let (a, b) = (rank(a), rank(b));
            a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1))
        });
        let places: Vec<Vec<f64>> = order
            .into_iter()
            .map(|at| self.told(&trials[at].point))
            .collect();
        cache.normal.update(&self.rates, &places);
        self.keep_margin(&mut cache.normal);
    }

    /// The place of a point: for a choice or an integer the middle of its cell, not what was drawn. Where the draw was within the
    /// cell says nothing about the result, and learning from it made short searches twice as bad.
    fn told(&self, point: &Point) -> Vec<f64> {
        let parameters = self.context.space.parameters().iter();
        let places = parameters
            .zip(point.coordinates())
            .map(|(parameter, coordinate)| {
                coordinate.map_or(0.5, |coordinate| parameter.distribution.place(coordinate))
            });
        places.collect()
    }

    fn keep_margin(&self, normal: &mut Normal) {
        let alpha = 1.0 / (self.context.space.len() * self.rates.population) as f64;
        for (axis, parameter) in self.context.space.parameters().iter().enumerate() {
            let distribution = &parameter.distribution;
            let Some(count) = distribution.count().filter(|_| is_discrete(distribution)) else {
                continue;
            };
            let value = distribution.at(normal.mean[axis]);
            let (start, end) = distribution.cell(value);
            let below = (value != distribution.nth(0)).then_some(start);
            let above = (value != distribution.nth(count - 1)).then_some(end);
            margin::correct(normal, axis, below, above, alpha);
        }
    }
}

fn is_discrete(distribution: &Distribution) -> bool {
    !matches!(distribution, Distribution::Float { .. })
}

/// The reason why the space cannot be searched.
fn obstacle(space: &Space) -> Option<String> {
    if space.is_empty() {
        return Some("it has no parameters".into());
    }
    if let Some(parameter) = space.find(|parameter| !parameter.distribution.is_ordered()) {
        return Some(format!(
            "the choices of `{}` are not whole numbers in rising order",
            parameter.name
        ));
    }
    let conditional = space.find(|parameter| parameter.condition.is_some())?;
    Some(format!("`{}` is not always active", conditional.name))
}

/// The samplers that can search what this one cannot.
fn others(context: &SamplerContext) -> Vec<&'static str> {
    let can = |entry: &&SamplerEntry| {
        entry.name != Cmaes::NAME && (entry.defaults)().build(context.clone()).is_ok()
    };
    let entries = SAMPLERS.iter().filter(can);
    entries.map(|entry| entry.name).collect()
}
