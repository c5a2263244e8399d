//! The kernels of one parameter: one for each trial, then the flat prior, then any that are pushed.
//!
//! Numbers live on the unit axis of their distribution. A kernel is a normal distribution cut off at the ends of the
//! axis; its width is the distance to the farther neighbor, within limits (Bergstra et al., 2011, with the limits of
//! Optuna). A choice has a kernel that prefers it.
//!
//! The logarithm of a kernel's density is a constant, which is summed over all parameters once, and a part that depends
//! on the value. The latter is single precision in loops without branches: it is nearly all that TPE computes.

use std::ops::Range;
use std::sync::OnceLock;

use crate::{Coordinate, Distribution};
use random::Draws;
use random::normal;

/// An `Int` with more values than this is modeled as continuous: a cell is then about as narrow as a kernel.
const MAX_CELLS: u64 = 64;

/// Kernels of one parameter.
pub(super) enum Column {
    /// Of a categorical parameter.
    Choice(ChoiceColumn),
    /// Of a continuous one.
    Real(RealColumn),
    /// Of one with few values.
    Grid(GridColumn),
}

/// A value, prepared for asking all kernels of a column.
#[derive(Clone, Copy)]
pub(super) enum Probe {
    /// The index of a choice.
    Choice(u32),
    /// A place on the axis.
    Place(f32),
    /// The index of a cell.
    Cell(usize),
}

impl Column {
    /// A kernel for each value and the prior.
    pub(super) fn new(distribution: &Distribution, values: &[Coordinate]) -> Self {
        match distribution {
            Distribution::Categorical { choices } => {
                Self::Choice(ChoiceColumn::new(choices.len(), values))
            }
            Distribution::Int { .. } if distribution.count() <= Some(MAX_CELLS) => {
                Self::Grid(GridColumn::new(distribution, values))
            }
            _ => Self::Real(RealColumn::new(distribution, values)),
        }
    }

    /// One more kernel, of the least width.
    pub(super) fn push(&mut self, distribution: &Distribution, value: Coordinate) {
        match self {
            Self::Choice(column) => column.observed.push(index(value)),
            Self::Real(column) => column.add(narrow(distribution, value, column.mean.len())),
            Self::Grid(column) => {
                let kernel = narrow(distribution, value, column.kernel_of.len());
                column.push(kernel);
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

    /// Adds to the sums of some kernels the part of their log densities that does not depend on the value.
    pub(super) fn add_constants(&self, kernels: Range<usize>, sums: &mut [f32]) {
        match self {
            Self::Choice(column) => {
                let (miss, flat) = (column.miss.ln() as f32, -(column.n_choices as f32).ln());
                for (sum, observed) in sums.iter_mut().zip(&column.observed[kernels]) {
                    *sum += if *observed == column.n_choices {
                        flat
                    } else {
                        miss
                    };
                }
            }
            Self::Real(column) => {
                for (sum, peak) in sums.iter_mut().zip(&column.peak[kernels]) {
                    *sum += peak;
                }
            }
            Self::Grid(_) => {}
        }
    }

    /// A value, prepared.
    pub(super) fn probe(&self, value: Coordinate) -> Probe {
        match self {
            Self::Choice(_) => Probe::Choice(index(value)),
            Self::Real(column) => Probe::Place(column.distribution.place(value) as f32),
            Self::Grid(column) => Probe::Cell(column.cell(value)),
        }
    }

    /// Adds to the sums of some kernels the part of their log densities that depends on the value.
    pub(super) fn add_log_density(&self, probe: &Probe, kernels: Range<usize>, sums: &mut [f32]) {
        match (self, probe) {
            (Self::Choice(column), Probe::Choice(choice)) => {
                let bonus = (column.hit / column.miss).ln() as f32;
                for (sum, observed) in sums.iter_mut().zip(&column.observed[kernels]) {
                    *sum += if observed == choice { bonus } else { 0.0 };
                }
            }
            (Self::Real(column), Probe::Place(place)) => {
                let means = &column.mean[kernels.clone()];
                let kernels = means.iter().zip(&column.half_precision[kernels]);
                for (sum, (mean, half_precision)) in sums.iter_mut().zip(kernels) {
                    let z = (place - mean) * half_precision;
                    *sum -= z * z;
                }
            }
            (Self::Grid(column), Probe::Cell(cell)) => {
                let masses = column.masses(*cell);
                for (sum, kernel) in sums.iter_mut().zip(&column.kernel_of[kernels]) {
                    *sum += masses[*kernel as usize];
                }
            }
            _ => unreachable!("a probe is made by its column"),
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
        let observed = values.iter().map(|value| index(*value));
        Self {
            n_choices,
            observed: observed.chain([n_choices]).collect(),
            hit: (1.0 + epsilon) / total,
            miss: epsilon / total,
        }
    }

    fn draw(&self, kernel: usize, draws: &mut Draws) -> Coordinate {
        let observed = self.observed[kernel];
        // The kernel is a sure choice mixed with a flat one of all choices; the prior is flat.
        let sure = self.hit - self.miss;
        if observed != self.n_choices && draws.uniform() < sure {
            return Coordinate::Choice(observed as usize);
        }
        Coordinate::Choice(draws.below(self.n_choices as usize))
    }
}

/// Kernels as arrays.
pub(super) struct RealColumn {
    distribution: Distribution,
    mean: Vec<f32>,
    /// One over the deviation and √2.
    half_precision: Vec<f32>,
    /// The logarithm of the density at the mean.
    peak: Vec<f32>,
    /// True when the ends of the axis cut nothing off the last kernel.
    was_whole: bool,
}

impl RealColumn {
    fn new(distribution: &Distribution, values: &[Coordinate]) -> Self {
        let mut column = Self {
            distribution: distribution.clone(),
            mean: Vec::with_capacity(values.len() + 1),
            half_precision: Vec::with_capacity(values.len() + 1),
            peak: Vec::with_capacity(values.len() + 1),
            was_whole: false,
        };
        for kernel in normals(distribution, values) {
            column.add(kernel);
        }
        column
    }

    fn add(&mut self, kernel: Normal) {
        self.mean.push(kernel.mean as f32);
        let half_precision = std::f64::consts::FRAC_1_SQRT_2 / kernel.deviation;
        let half_precision = half_precision as f32;
        // Most kernels have the least width and are far from the ends: then the peak is that of the one before.
        let peak = match (self.half_precision.last(), self.peak.last()) {
            (Some(last), Some(peak))
                if *last == half_precision && self.was_whole && kernel.is_whole() =>
            {
                *peak
            }
            _ => kernel.log_peak() as f32,
        };
        self.was_whole = kernel.is_whole();
        self.half_precision.push(half_precision);
        self.peak.push(peak);
    }

    fn normal(&self, kernel: usize) -> Normal {
        let half_precision = f64::from(self.half_precision[kernel]);
        Normal {
            mean: f64::from(self.mean[kernel]),
            deviation: std::f64::consts::FRAC_1_SQRT_2 / half_precision,
        }
    }
}

/// Kernels whose density is the mass of a value's cell. Many trials share a value, so there are few different kernels.
pub(super) struct GridColumn {
    distribution: Distribution,
    kernels: Vec<Normal>,
    kernel_of: Vec<u32>,
    /// For each cell, the logarithm of what each of the different kernels gives it, once it is asked for.
    masses: Vec<OnceLock<Vec<f32>>>,
}

impl GridColumn {
    fn new(distribution: &Distribution, values: &[Coordinate]) -> Self {
        let all = normals(distribution, values);
        let mut kernels: Vec<Normal> = Vec::new();
        let mut kernel_of = vec![0; all.len()];
        // In the order of the means equal kernels are near each other: those of one value have at most three widths.
        for at in ascending(&all) {
            let known = kernels
                .iter()
                .rev()
                .take(3)
                .position(|kernel| *kernel == all[at]);
            if known.is_none() {
                kernels.push(all[at]);
            }
            kernel_of[at] = (kernels.len() - 1 - known.unwrap_or(0)) as u32;
        }
        Self {
            distribution: distribution.clone(),
            kernels,
            kernel_of,
            masses: (0..distribution.count().unwrap_or(0))
                .map(|_| OnceLock::new())
                .collect(),
        }
    }

    fn push(&mut self, kernel: Normal) {
        self.kernel_of.push(self.kernels.len() as u32);
        self.kernels.push(kernel);
        for (cell, masses) in self.masses.iter_mut().enumerate() {
            if let Some(masses) = masses.get_mut() {
                masses.push(log_mass(&self.distribution, cell, &kernel));
            }
        }
    }

    fn masses(&self, cell: usize) -> &[f32] {
        let mass = |kernel| log_mass(&self.distribution, cell, kernel);
        self.masses[cell].get_or_init(|| self.kernels.iter().map(mass).collect())
    }

    /// The index of a value's cell.
    fn cell(&self, value: Coordinate) -> usize {
        match (&self.distribution, value) {
            (Distribution::Int { low, step, .. }, Coordinate::Int(value)) => {
                ((value - low) / step) as usize
            }
            _ => unreachable!("the parameter is an integer"),
        }
    }
}

/// The logarithm of what a kernel gives a cell.
fn log_mass(distribution: &Distribution, cell: usize, kernel: &Normal) -> f32 {
    let (start, end) = distribution.cell(distribution.nth(cell as u64));
    kernel.log_mass(start, end) as f32
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

    /// The logarithm of the density at the mean.
    fn log_peak(&self) -> f64 {
        -normal::LN_SQRT_TAU - self.deviation.ln() - self.log_inside()
    }

    /// The logarithm of the probability that the axis holds.
    fn log_inside(&self) -> f64 {
        if self.is_whole() {
            return 0.0;
        }
        normal::log_mass(self.standard(0.0), self.standard(1.0))
    }

    /// True when the ends of the axis are six deviations away or more, where they cut off less than 1e-9.
    fn is_whole(&self) -> bool {
        self.mean.min(1.0 - self.mean) > 6.0 * self.deviation
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
}

/// A kernel for each value, and the prior: as wide as the axis, in its middle.
fn normals(distribution: &Distribution, values: &[Coordinate]) -> Vec<Normal> {
    let prior = Normal {
        mean: 0.5,
        deviation: 1.0,
    };
    let mut kernels = vec![prior; values.len() + 1];
    let means = values.iter().map(|value| distribution.place(*value));
    for (kernel, mean) in kernels.iter_mut().zip(means) {
        kernel.mean = mean;
    }
    let order = ascending(&kernels[..values.len()]);
    let min = min_deviation(kernels.len());
    for (place, &at) in order.iter().enumerate() {
        let deviation = farther_neighbor(&kernels, &order, place);
        kernels[at].deviation = deviation.clamp(min, 1.0);
    }
    kernels
}

/// Indices in the order of the means: sorted as integers, the mean to 2^-40 above the index, which is much faster than
/// sorting with a comparison.
fn ascending(kernels: &[Normal]) -> Vec<usize> {
    const INDEX_BITS: u32 = 23;
    const STEPS: f64 = 1_099_511_627_776.0;
    let key =
        |(at, kernel): (usize, &Normal)| ((kernel.mean * STEPS) as u64) << INDEX_BITS | at as u64;
    let mut keys: Vec<u64> = kernels.iter().enumerate().map(key).collect();
    keys.sort_unstable();
    let index = |key: u64| (key & ((1 << INDEX_BITS) - 1)) as usize;
    keys.into_iter().map(index).collect()
}

/// The distance to the farther of the two neighbors; the ends of the axis count only for a value that is alone.
fn farther_neighbor(kernels: &[Normal], order: &[usize], place: usize) -> f64 {
    let mean = kernels[order[place]].mean;
    let left = place
        .checked_sub(1)
        .map(|before| mean - kernels[order[before]].mean);
    let right = order
        .get(place + 1)
        .map(|&after| kernels[after].mean - mean);
    match (left, right) {
        (Some(left), Some(right)) => left.max(right),
        (Some(gap), None) | (None, Some(gap)) => gap,
        (None, None) => mean.max(1.0 - mean),
    }
}

/// A kernel of the least width, to be added to so many.
fn narrow(distribution: &Distribution, value: Coordinate, n_kernels: usize) -> Normal {
    Normal {
        mean: distribution.place(value),
        deviation: min_deviation(n_kernels + 1),
    }
}

/// The least width of one of so many kernels.
fn min_deviation(n_kernels: usize) -> f64 {
    1.0 / (1.0 + n_kernels as f64).min(100.0)
}

fn index(value: Coordinate) -> u32 {
    match value {
        Coordinate::Choice(index) => index as u32,
        Coordinate::Int(_) | Coordinate::Float(_) => unreachable!("the parameter is categorical"),
    }
}
