//! The kernels of one parameter: the last of them, before any that are pushed, is the flat prior.
//!
//! Numbers live on the unit axis of their distribution. A kernel is a normal distribution cut off at the ends of the
//! axis; its width is the distance to the farther neighbor, within limits (Bergstra et al., 2011, with the limits of
//! Optuna). A choice has a kernel that prefers it.

use crate::draws::Draws;
use crate::{Coordinate, Distribution, normal};

/// An `Int` with more values than this is modeled as continuous: a cell is then narrower than any kernel.
const MOST_CELLS: u64 = 128;

/// Kernels of one parameter.
pub(super) enum Column {
    /// Of a categorical parameter.
    Choice(ChoiceColumn),
    /// Of a continuous one.
    Real(RealColumn),
    /// Of one with few values.
    Grid(GridColumn),
}

impl Column {
    /// A kernel for each value and the prior.
    pub(super) fn new(distribution: &Distribution, values: &[Coordinate]) -> Self {
        match distribution {
            Distribution::Categorical { choices } => {
                Self::Choice(ChoiceColumn::new(choices.len(), values))
            }
            Distribution::Int { log, .. } if *log || distribution.count() <= Some(MOST_CELLS) => {
                Self::Grid(GridColumn::new(distribution, values))
            }
            _ => Self::Real(RealColumn::new(distribution, values)),
        }
    }

    /// One more kernel, of the least width.
    pub(super) fn push(&mut self, distribution: &Distribution, value: Coordinate) {
        match self {
            Self::Choice(column) => column.observed.push(index(value)),
            Self::Real(column) => column.add(Normal {
                mean: distribution.place(value),
                deviation: least_deviation(column.mean.len()),
            }),
            Self::Grid(column) => {
                let deviation = least_deviation(column.kernel_of.len());
                column.kernel_of.push(column.kernels.len() as u32);
                column.kernels.push(Normal {
                    mean: distribution.place(value),
                    deviation,
                });
            }
        }
    }

    /// A random value of one kernel.
    pub(super) fn draw(&self, kernel: usize, draws: &mut Draws) -> Coordinate {
        match self {
            Self::Choice(column) => column.draw(kernel, draws),
            Self::Real(column) => column.distribution.at(column.normal(kernel).draw(draws)),
            Self::Grid(column) => {
                let normal = &column.kernels[column.kernel_of[kernel] as usize];
                column.distribution.at(normal.draw(draws))
            }
        }
    }

    /// Adds to each kernel's sum the logarithm of its density at `value`.
    pub(super) fn add_log_density(&self, value: Coordinate, sums: &mut [f64]) {
        match self {
            Self::Choice(column) => column.add_log_density(index(value), sums),
            Self::Real(column) => column.add_log_density(column.distribution.place(value), sums),
            Self::Grid(column) => column.add_log_density(value, sums),
        }
    }
}

/// A kernel for choice c gives it 1 + ε and any other choice ε, divided by the sum; ε is one over the number of kernels.
pub(super) struct ChoiceColumn {
    n_choices: u32,
    /// The choice of each kernel; that of the prior is none.
    observed: Vec<u32>,
    hit: f64,
    miss: f64,
}

impl ChoiceColumn {
    fn new(n_choices: usize, values: &[Coordinate]) -> Self {
        let epsilon = 1.0 / (values.len() + 1) as f64;
        let total = 1.0 + epsilon * n_choices as f64;
        let n_choices = n_choices as u32;
        Self {
            n_choices,
            observed: values
                .iter()
                .map(|v| index(*v))
                .chain([n_choices])
                .collect(),
            hit: (1.0 + epsilon) / total,
            miss: epsilon / total,
        }
    }

    fn draw(&self, kernel: usize, draws: &mut Draws) -> Coordinate {
        let observed = self.observed[kernel];
        let is_prior = observed == self.n_choices;
        // The kernel is a flat one of all choices mixed with a sure one.
        let sure = self.hit - self.miss;
        if !is_prior && draws.uniform() < sure {
            return Coordinate::Choice(observed as usize);
        }
        Coordinate::Choice(draws.below(self.n_choices as usize))
    }

    fn add_log_density(&self, choice: u32, sums: &mut [f64]) {
        let (hit, miss) = (self.hit.ln(), self.miss.ln());
        let flat = -f64::from(self.n_choices).ln();
        for (sum, observed) in sums.iter_mut().zip(&self.observed) {
            let other = if *observed == self.n_choices {
                flat
            } else {
                miss
            };
            *sum += if *observed == choice { hit } else { other };
        }
    }
}

/// Kernels as arrays, so that the density is a loop without branches.
pub(super) struct RealColumn {
    distribution: Distribution,
    mean: Vec<f64>,
    /// One over the deviation.
    precision: Vec<f64>,
    /// The logarithm of the density at the mean.
    peak: Vec<f64>,
}

impl RealColumn {
    fn new(distribution: &Distribution, values: &[Coordinate]) -> Self {
        let kernels = normals(distribution, values);
        let mut column = Self {
            distribution: distribution.clone(),
            mean: Vec::with_capacity(kernels.len()),
            precision: Vec::with_capacity(kernels.len()),
            peak: Vec::with_capacity(kernels.len()),
        };
        for kernel in kernels {
            column.add(kernel);
        }
        column
    }

    fn add(&mut self, kernel: Normal) {
        self.mean.push(kernel.mean);
        self.precision.push(1.0 / kernel.deviation);
        self.peak
            .push(-normal::LN_SQRT_TAU - kernel.deviation.ln() - kernel.log_inside());
    }

    fn normal(&self, kernel: usize) -> Normal {
        Normal {
            mean: self.mean[kernel],
            deviation: 1.0 / self.precision[kernel],
        }
    }

    fn add_log_density(&self, place: f64, sums: &mut [f64]) {
        let kernels = self.mean.iter().zip(&self.precision).zip(&self.peak);
        for (sum, ((mean, precision), peak)) in sums.iter_mut().zip(kernels) {
            let z = (place - mean) * precision;
            *sum += peak - 0.5 * z * z;
        }
    }
}

/// Kernels whose density is the mass of a value's cell. Many trials share a value, so there are few different kernels.
pub(super) struct GridColumn {
    distribution: Distribution,
    kernels: Vec<Normal>,
    kernel_of: Vec<u32>,
}

impl GridColumn {
    fn new(distribution: &Distribution, values: &[Coordinate]) -> Self {
        let all = normals(distribution, values);
        let mut order: Vec<usize> = (0..all.len()).collect();
        order.sort_by(|&a, &b| all[a].order(&all[b]));
        let mut kernels: Vec<Normal> = Vec::new();
        let mut kernel_of = vec![0; all.len()];
        for at in order {
            if kernels.last() != Some(&all[at]) {
                kernels.push(all[at]);
            }
            kernel_of[at] = kernels.len() as u32 - 1;
        }
        Self {
            distribution: distribution.clone(),
            kernels,
            kernel_of,
        }
    }

    fn add_log_density(&self, value: Coordinate, sums: &mut [f64]) {
        let (start, end) = self.distribution.cell(value);
        let masses: Vec<f64> = self
            .kernels
            .iter()
            .map(|kernel| kernel.log_mass(start, end))
            .collect();
        for (sum, kernel) in sums.iter_mut().zip(&self.kernel_of) {
            *sum += masses[*kernel as usize];
        }
    }
}

/// A normal distribution cut off at 0 and 1.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Normal {
    mean: f64,
    deviation: f64,
}

impl Normal {
    fn standard(&self, place: f64) -> f64 {
        (place - self.mean) / self.deviation
    }

    /// The logarithm of the probability that the axis holds.
    fn log_inside(&self) -> f64 {
        normal::log_mass(self.standard(0.0), self.standard(1.0))
    }

    fn log_mass(&self, start: f64, end: f64) -> f64 {
        normal::log_mass(self.standard(start), self.standard(end)) - self.log_inside()
    }

    fn draw(&self, draws: &mut Draws) -> f64 {
        let low = normal::cumulative(self.standard(0.0));
        let high = normal::cumulative(self.standard(1.0));
        let z = normal::quantile(low + draws.uniform() * (high - low));
        (self.mean + z * self.deviation).clamp(0.0, 1.0)
    }

    fn order(&self, other: &Self) -> std::cmp::Ordering {
        let by_mean = self.mean.total_cmp(&other.mean);
        by_mean.then(self.deviation.total_cmp(&other.deviation))
    }
}

/// A kernel for each value, and the prior: as wide as the axis, in its middle.
fn normals(distribution: &Distribution, values: &[Coordinate]) -> Vec<Normal> {
    let means: Vec<f64> = values
        .iter()
        .map(|value| distribution.place(*value))
        .collect();
    let mut order: Vec<usize> = (0..means.len()).collect();
    order.sort_by(|&a, &b| means[a].total_cmp(&means[b]));
    let prior = Normal {
        mean: 0.5,
        deviation: 1.0,
    };
    let mut kernels = vec![prior; means.len() + 1];
    let least = least_deviation(means.len() + 1);
    for (place, &at) in order.iter().enumerate() {
        let deviation = farther_neighbor(&means, &order, place).clamp(least, 1.0);
        kernels[at] = Normal {
            mean: means[at],
            deviation,
        };
    }
    kernels
}

/// The distance to the farther of the two neighbors; the ends of the axis count only for a value that is alone.
fn farther_neighbor(means: &[f64], order: &[usize], place: usize) -> f64 {
    let mean = means[order[place]];
    let left = place
        .checked_sub(1)
        .map(|before| mean - means[order[before]]);
    let right = order.get(place + 1).map(|&after| means[after] - mean);
    match (left, right) {
        (Some(left), Some(right)) => left.max(right),
        (Some(gap), None) | (None, Some(gap)) => gap,
        (None, None) => mean.max(1.0 - mean),
    }
}

/// The least width of one of so many kernels.
fn least_deviation(n_kernels: usize) -> f64 {
    1.0 / (1.0 + n_kernels as f64).min(100.0)
}

fn index(value: Coordinate) -> u32 {
    match value {
        Coordinate::Choice(index) => index as u32,
        Coordinate::Int(_) | Coordinate::Float(_) => unreachable!("the parameter is categorical"),
    }
}
