//! A mixture of kernels over the parameters of one group: one kernel for each trial, and a flat one.

use super::group::Group;
use super::kernel::{Column, Probe};
use super::log_sum::LogSum;
use crate::{Coordinate, Point, Space};
use random::Draws;

/// Trials from this many on count less the older they are.
const FULL_WEIGHT: usize = 25;

/// Kernels that are summed in one go: their sums for all candidates stay in the first-level cache.
const BLOCK: usize = 128;

/// A density over the coordinates of a group.
pub(super) struct Parzen {
    columns: Vec<Column>,
    /// For each kernel, the logarithm of its weight and the constant parts of its density.
    constants: Vec<f32>,
    /// Sums of the weights up to each kernel, for drawing.
    cumulative: Vec<f64>,
}

impl Parzen {
    /// The mixture for the points in which the group is active, oldest first; `aging` makes old ones count less.
    pub(super) fn new(space: &Space, group: &Group, points: &[&Point], aging: bool) -> Self {
        let points: Vec<&Point> = points
            .iter()
            .copied()
            .filter(|p| group.is_active(p))
            .collect();
        let columns = group.parameters.iter().map(|&parameter| {
            let values: Vec<Coordinate> = points.iter().filter_map(|p| p.get(parameter)).collect();
            Column::new(&space.parameters()[parameter].distribution, &values)
        });
        let mut parzen = Self {
            columns: columns.collect(),
            constants: Vec::with_capacity(points.len() + 1),
            cumulative: Vec::with_capacity(points.len() + 1),
        };
        let weights = if aging {
            aged(points.len())
        } else {
            vec![1.0; points.len()]
        };
        parzen.weigh(&weights);
        parzen.weigh(&[1.0]);
        parzen
    }

    /// Adds the kernel of one more point. The kernels that are there keep their widths.
    pub(super) fn push(&mut self, space: &Space, group: &Group, point: &Point) {
        for (column, &parameter) in self.columns.iter_mut().zip(&group.parameters) {
            let distribution = &space.parameters()[parameter].distribution;
            column.push(
                distribution,
                point.get(parameter).expect("the group is active"),
            );
        }
        self.weigh(&[1.0]);
    }

    /// A random point of the density.
    pub(super) fn draw(&self, draws: &mut Draws) -> Vec<Coordinate> {
        let wanted = draws.uniform() * self.total_weight();
        let kernel = self.cumulative.partition_point(|sum| *sum <= wanted);
        let kernel = kernel.min(self.cumulative.len() - 1);
        self.columns
            .iter()
            .map(|column| column.draw(kernel, draws))
            .collect()
    }

    /// The logarithm of the density at each point, but for a constant that is the same for all.
    pub(super) fn log_density(&self, points: &[Vec<Coordinate>]) -> Vec<f64> {
        let columns = self.columns.iter().enumerate();
        let probes: Vec<Vec<Probe>> = columns
            .map(|(at, column)| points.iter().map(|point| column.probe(point[at])).collect())
            .collect();
        let mut totals = vec![LogSum::default(); points.len()];
        let mut sums = [0.0; BLOCK];
        for start in (0..self.constants.len()).step_by(BLOCK) {
            let kernels = start..self.constants.len().min(start + BLOCK);
            let sums = &mut sums[..kernels.len()];
            for (at, total) in totals.iter_mut().enumerate() {
                sums.copy_from_slice(&self.constants[kernels.clone()]);
                for (column, probes) in self.columns.iter().zip(&probes) {
                    column.add_log_density(&probes[at], kernels.clone(), sums);
                }
                total.add(sums);
            }
        }
        totals.iter().map(LogSum::get).collect()
    }

    /// The weights of the next kernels; their columns are there.
    fn weigh(&mut self, weights: &[f64]) {
        let start = self.constants.len();
        for &weight in weights {
            self.constants.push(weight.ln() as f32);
            self.cumulative.push(self.total_weight() + weight);
        }
        for column in &self.columns {
            let end = self.constants.len();
            column.add_constants(start..end, &mut self.constants[start..]);
        }
    }

    fn total_weight(&self) -> f64 {
        self.cumulative.last().copied().unwrap_or(0.0)
    }
}

/// The weights of `n` trials, oldest first: the newest 25 count fully, the others from 1/n up.
fn aged(n: usize) -> Vec<f64> {
    let old = n.saturating_sub(FULL_WEIGHT);
    let first = 1.0 / n.max(1) as f64;
    let step = if old > 1 {
        (1.0 - first) / (old - 1) as f64
    } else {
        0.0
    };
    let ramp = (0..old).map(|k| first + step * k as f64);
    ramp.chain(std::iter::repeat_n(1.0, n - old)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::tests::categorical;
    use crate::{Distribution, Parameter};
    use random::Random;

    fn space() -> Space {
        let number = |name: &str, distribution| Parameter::new(name, distribution);
        Space::new(vec![
            categorical("c", &["x", "y", "z"], None),
            number(
                "i",
                Distribution::Int {
                    low: 1,
                    high: 6,
                    step: 1,
                    log: false,
                },
            ),
            number(
                "l",
                Distribution::Int {
                    low: 1,
                    high: 5,
                    step: 1,
                    log: true,
                },
            ),
        ])
        .unwrap()
    }

    /// A density over a discrete space adds up to the sum of the weights, and draws follow it.
    #[test]
    fn density_is_one_in_all_and_draws_follow_it() {
        let space = space();
        let group = Group {
            parameters: vec![0, 1, 2],
        };
        let points: Vec<Point> = [3, 40, 41, 77]
            .iter()
            .map(|&n| space.nth(n).unwrap())
            .collect();
        let mut parzen = Parzen::new(&space, &group, &points.iter().collect::<Vec<_>>(), true);
        parzen.push(&space, &group, &space.nth(80).unwrap());
        let all: Vec<Vec<Coordinate>> = (0..space.size().unwrap())
            .map(|n| {
                space
                    .nth(n)
                    .unwrap()
                    .coordinates()
                    .iter()
                    .map(|c| c.unwrap())
                    .collect()
            })
            .collect();
        let density: Vec<f64> = parzen.log_density(&all).into_iter().map(f64::exp).collect();
        let total: f64 = density.iter().sum();
        assert!((total - 6.0).abs() < 1e-5, "{total}");

        let n = 40_000;
        let mut counts = vec![0.0; all.len()];
        let mut draws = Draws::new(Random::new(1, "parzen"));
        for _ in 0..n {
            let drawn = parzen.draw(&mut draws);
            counts[all.iter().position(|point| *point == drawn).unwrap()] += 1.0;
        }
        for (count, density) in counts.iter().zip(&density) {
            let expected = density / total * f64::from(n);
            assert!(
                (count - expected).abs() < 5.0 * expected.sqrt() + 3.0,
                "{count} {expected}"
            );
        }
    }

    #[test]
    fn weights_fall_with_age() {
        assert_eq!(aged(3), [1.0; 3]);
        let weights = aged(45);
        assert!((weights[0] - 1.0 / 45.0).abs() < 1e-15);
        assert!((weights[19] - 1.0).abs() < 1e-15);
        assert!(weights.is_sorted());
        assert_eq!(weights.len(), 45);
    }
}
