//! The tree-structured Parzen estimator.

mod group;
mod kernel;
mod log_sum;
mod parzen;
mod split;

use std::sync::{Mutex, PoisonError};

use config::Reader;
use random::Random;

use self::group::Group;
use self::parzen::Parzen;
use super::fresh::Tried;
use super::random::RandomSearch;
use super::{Sampler, SamplerContext, SamplerSpec};
use crate::{Coordinate, History, Point, State, StudyError};
use random::Draws;

/// Variants that are looked at of a point that repeats a trial.
const VARIANTS: usize = 64;

/// Settings of the estimator.
#[derive(Clone, Debug)]
pub struct Config {
    /// Random trials before the first estimate.
    pub n_startup_trials: u64,
    /// Candidates that are drawn for each point; if not given, 48 where parameters are modeled jointly, else 24.
    pub n_ei_candidates: Option<usize>,
    /// Models parameters jointly; if not given, for a single objective only.
    pub multivariate: Option<bool>,
    /// Number of trials that share a horizon, that is, may run at once.
    pub window: u64,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            n_startup_trials: 10,
            n_ei_candidates: None,
            multivariate: None,
            window: 4,
        }
    }
}

/// Draws candidates like the good trials and takes the one that is least like the others.
pub struct Tpe {
    config: Config,
    context: SamplerContext,
    groups: Vec<Group>,
    n_candidates: usize,
    stream: Random,
    startup: RandomSearch,
    cache: Mutex<Window>,
}

impl SamplerSpec for Tpe {
    const NAME: &'static str = "tpe";
    const ABOUT: &'static str =
        "tree-structured Parzen estimator: draws like the good trials, unlike the bad";
    const DOC: &'static str = "\
TPE (Bergstra, Bardenet, Bengio and Kegl, 2011; multi-objective after Ozaki et al., 2022; details and defaults after
Watanabe, 2023, and Optuna). After `n_startup_trials` (default 10) random ones, finished trials are split into the best tenth,
at most 25 for a single objective, and the rest. Both become mixtures of kernels, l and g, one kernel a trial and a flat
one. Of `n_ei_candidates` (default 48, or 24 where parameters are modeled one by one) drawn from l, the one with the largest l/g is tried next.
With several objectives the best are whole fronts and, of the front that does not fit, those with the largest common
hypervolume. Trials that violate constraints come after all that do not, the least violation first.
`multivariate` models parameters jointly, all those together that are active under the same condition, but for several that
each decide over others; if not given it is true for one objective and false for several. Points that repeat a trial of a discrete space are avoided.
`window` (default 4) trials may run at once: each looks at the results before the window, and counts the earlier ones of
the window among the bad, so that they spread.";
    type Config = Config;

    fn read(reader: &mut Reader) -> Config {
        let defaults = Config::default();
        Config {
            n_startup_trials: reader
                .whole("n_startup_trials", 0..=i64::MAX)
                .map_or(defaults.n_startup_trials, |n| n as u64),
            n_ei_candidates: reader.count("n_ei_candidates"),
            multivariate: reader.flag("multivariate"),
            window: reader.count("window").map_or(defaults.window, |n| n as u64),
        }
    }

    fn new(config: Config, context: SamplerContext) -> Result<Self, StudyError> {
        let joint = config.multivariate.unwrap_or(context.objectives == 1);
        Ok(Self {
            groups: group::groups(&context.space, joint),
            n_candidates: config
                .n_ei_candidates
                .unwrap_or(if joint { 48 } else { 24 }),
            stream: Random::new(context.seed, Self::NAME),
            startup: RandomSearch::new((), context.clone())?,
            config,
            context,
            cache: Mutex::default(),
        })
    }
}

impl Sampler for Tpe {
    fn horizon(&self, number: u64) -> u64 {
        if number < self.config.n_startup_trials {
            return 0;
        }
        number - number % self.config.window
    }

    fn sample(&self, history: &History, number: u64) -> Point {
        let horizon = self.horizon(number);
        let usable = |trial: &&crate::Trial| trial.outcome.state != State::Failed;
        let known = history.before(horizon).iter().filter(usable).count() as u64;
        if number < self.config.n_startup_trials
            || known < self.config.n_startup_trials.min(horizon).max(1)
        {
            return self.startup.point(number);
        }
        let mut window = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        if window.horizon != horizon || window.models.is_empty() {
            self.open(&mut window, history, horizon);
        }
        while window.points.len() as u64 <= number - horizon {
            self.extend(&mut window);
        }
        window.points[(number - horizon) as usize].clone()
    }
}

/// The models of one horizon, and the points that followed from them so far.
#[derive(Default)]
struct Window {
    horizon: u64,
    models: Vec<Model>,
    points: Vec<Point>,
    tried: Tried,
}

/// The two mixtures of one group.
struct Model {
    good: Parzen,
    rest: Parzen,
}

impl Tpe {
    /// Builds the models of a horizon.
    fn open(&self, window: &mut Window, history: &History, horizon: u64) {
        let split = split::split(history, horizon);
        let points = |trials: &[usize]| -> Vec<&Point> {
            trials.iter().map(|&n| &history.trials()[n].point).collect()
        };
        let (good, rest) = (points(&split.good), points(&split.rest));
        let space = &self.context.space;
        let several = self.context.objectives > 1;
        window.models = self
            .groups
            .iter()
            .map(|group| Model {
                good: Parzen::new(space, group, &good, !several),
                rest: Parzen::new(space, group, &rest, true),
            })
            .collect();
        window.tried.advance(space, history, horizon);
        window.points.clear();
        window.horizon = horizon;
    }

    /// Finds the next point of a window.
    fn extend(&self, window: &mut Window) {
        let number = window.horizon + window.points.len() as u64;
        let point = if number < self.config.n_startup_trials {
            self.startup.point(number)
        } else {
            self.choose(window, &mut Draws::new(self.stream.at(number)))
        };
        for (group, model) in self.groups.iter().zip(&mut window.models) {
            if group.is_active(&point) {
                model.rest.push(&self.context.space, group, &point);
            }
        }
        window.points.push(point);
    }

    /// The best candidate; where it repeats a trial, the first variant that does not, and a random point if all do.
    fn choose(&self, window: &Window, draws: &mut Draws) -> Point {
        let count = self.n_candidates;
        let ranked: Vec<Candidates> = window
            .models
            .iter()
            .map(|m| m.candidates(draws, count))
            .collect();
        let best = self.assemble(&ranked, None);
        let is_new = |point: &Point| !window.tried.contains(&window.points, point);
        if is_new(&best) {
            return best;
        }
        let deepest = ranked.iter().map(Vec::len).max().unwrap_or(1);
        let places =
            (1..deepest).flat_map(|place| (0..ranked.len()).map(move |group| (group, place)));
        let variants = places
            .filter(|(group, place)| *place < ranked[*group].len())
            .take(VARIANTS);
        let variant = variants
            .map(|variant| self.assemble(&ranked, Some(variant)))
            .find(is_new);
        let space = &self.context.space;
        variant.unwrap_or_else(|| window.tried.fresh(space, &window.points, draws, best))
    }

    /// A point of the best candidates of all groups, but for one group the candidate at another place.
    fn assemble(&self, ranked: &[Candidates], variant: Option<(usize, usize)>) -> Point {
        let mut coordinates: Vec<Option<Coordinate>> = vec![None; self.context.space.len()];
        for (at, group) in self.groups.iter().enumerate() {
            if !self
                .context
                .space
                .is_active(group.parameters[0], &coordinates)
            {
                continue;
            }
            let place = variant.map_or(0, |(group, place)| if group == at { place } else { 0 });
            for (&parameter, &coordinate) in group.parameters.iter().zip(&ranked[at][place]) {
                coordinates[parameter] = Some(coordinate);
            }
        }
        self.context.space.possible(Point::new(coordinates))
    }
}

/// Different candidates of one group, the best first; never empty.
type Candidates = Vec<Vec<Coordinate>>;

impl Model {
    /// `count` draws from the good mixture without repetitions, those with the largest ratio to the rest first.
    fn candidates(&self, draws: &mut Draws, count: usize) -> Candidates {
        let mut drawn: Candidates = Vec::with_capacity(count);
        for _ in 0..count {
            let candidate = self.good.draw(draws);
            if !drawn.contains(&candidate) {
                drawn.push(candidate);
            }
        }
        let (good, rest) = (self.good.log_density(&drawn), self.rest.log_density(&drawn));
        let gain = |at: usize| good[at] - rest[at];
        let mut order: Vec<usize> = (0..drawn.len()).collect();
        order.sort_by(|&a, &b| gain(b).total_cmp(&gain(a)));
        order.into_iter().map(|at| drawn[at].clone()).collect()
    }
}
