//! NSGA-III.

use super::genetic::{self, Genetic, Population, Selection};
use super::{Sampler, SamplerContext, SamplerSpec};
use crate::{History, Point, StudyError};
use config::Reader;
use random::Draws;

/// Settings of NSGA-III.
#[derive(Clone, Debug)]
pub struct Config {
    /// Settings that NSGA-II has too.
    pub genetic: genetic::Config,
    /// Number of parts into which each edge of the simplex of reference points is divided.
    pub dividing_parameter: usize,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            genetic: genetic::Config::default(),
            dividing_parameter: 3,
        }
    }
}

/// NSGA-II with reference directions instead of crowding distances.
pub struct Nsgaiii {
    genetic: Genetic<ByReference>,
}

impl SamplerSpec for Nsgaiii {
    const NAME: &'static str = "nsgaiii";
    const ABOUT: &'static str = "a genetic algorithm for three and more objectives";
    const DOC: &'static str = "\
NSGA-III (Deb and Jain, 2014). As nsgaii, but the front that does not fit as a whole is thinned out by reference
directions: objectives are scaled to the front, each trial belongs to the nearest of the directions that divide the
simplex into `dividing_parameter` (default 3) parts, and those of the emptiest directions survive. The other settings are
those of nsgaii.";
    type Config = Config;

    fn read(reader: &mut Reader) -> Config {
        let parts = reader.count("dividing_parameter");
        Config {
            genetic: genetic::Config::read(reader),
            dividing_parameter: parts.unwrap_or(Config::default().dividing_parameter),
        }
    }

    fn new(config: Config, context: SamplerContext) -> Result<Self, StudyError> {
        let selection = ByReference {
            directions: simplex(context.objectives, config.dividing_parameter),
        };
        Ok(Self {
            genetic: Genetic::new::<Self>(config.genetic, selection, context)?,
        })
    }
}

impl Sampler for Nsgaiii {
    fn horizon(&self, number: u64) -> u64 {
        self.genetic.horizon(number)
    }

    fn sample(&self, history: &History, number: u64) -> Point {
        self.genetic.sample(history, number)
    }
}

/// Whole fronts while they fit, then those of the next whose direction has the fewest.
struct ByReference {
    /// Directions of length 1.
    directions: Vec<Vec<f64>>,
}

impl Selection for ByReference {
    fn survivors(&self, candidates: &Population, count: usize, draws: &mut Draws) -> Vec<usize> {
        let mut survivors = Vec::new();
        for front in candidates.fronts() {
            if survivors.len() + front.len() > count {
                self.fill(&mut survivors, &front, candidates, count, draws);
                break;
            }
            survivors.extend(front);
        }
        survivors
    }
}

/// A member of the front that is being thinned out.
struct Member {
    item: usize,
    distance: f64,
}

impl ByReference {
    /// Adds members of `front` until there are `count` survivors.
    fn fill(
        &self,
        survivors: &mut Vec<usize>,
        front: &[usize],
        candidates: &Population,
        count: usize,
        draws: &mut Draws,
    ) {
        let considered: Vec<usize> = survivors.iter().chain(front).copied().collect();
        let scaled = normalized(
            considered
                .iter()
                .map(|&item| candidates.losses[item].clone())
                .collect(),
        );
        let mut crowd = vec![0_usize; self.directions.len()];
        let mut members: Vec<Vec<Member>> = self.directions.iter().map(|_| Vec::new()).collect();
        for (place, losses) in scaled.iter().enumerate() {
            let (direction, distance) = self.nearest(losses);
            if place < survivors.len() {
                crowd[direction] += 1;
            } else {
                let item = considered[place];
                members[direction].push(Member { item, distance });
            }
        }
        while survivors.len() < count {
            let direction = emptiest(&crowd, &members, draws);
            let place = pick(&members[direction], crowd[direction] == 0, draws);
            survivors.push(members[direction].swap_remove(place).item);
            crowd[direction] += 1;
        }
    }

    /// The direction whose line is nearest, and how far it is.
    fn nearest(&self, losses: &[f64]) -> (usize, f64) {
        let square: f64 = losses.iter().map(|l| l * l).sum();
        let distances = self.directions.iter().map(|direction| {
            let along: f64 = direction.iter().zip(losses).map(|(d, l)| d * l).sum();
            (square - along * along).max(0.0).sqrt()
        });
        let by_distance = |a: &(usize, f64), b: &(usize, f64)| a.1.total_cmp(&b.1);
        let nearest = distances.enumerate().min_by(by_distance);
        nearest.expect("there is a direction")
    }
}

/// A random one of the directions with the fewest survivors, among those that have members left.
fn emptiest(crowd: &[usize], members: &[Vec<Member>], draws: &mut Draws) -> usize {
    let open = || (0..crowd.len()).filter(|&direction| !members[direction].is_empty());
    let fewest = open().map(|direction| crowd[direction]).min();
    let tied: Vec<usize> = open().filter(|&d| Some(crowd[d]) == fewest).collect();
    tied[draws.below(tied.len())]
}

/// The nearest member if the direction has no survivor yet, else a random one.
fn pick(members: &[Member], is_empty: bool, draws: &mut Draws) -> usize {
    if !is_empty {
        return draws.below(members.len());
    }
    let nearest =
        (0..members.len()).min_by(|&a, &b| members[a].distance.total_cmp(&members[b].distance));
    nearest.expect("the direction has members")
}

/// Das and Dennis' points (1998): all ways to divide `parts` among the objectives, as directions of length 1.
fn simplex(objectives: usize, parts: usize) -> Vec<Vec<f64>> {
    fn extend(prefix: &mut Vec<usize>, left: usize, objectives: usize, all: &mut Vec<Vec<f64>>) {
        if prefix.len() + 1 == objectives {
            let point = prefix.iter().chain([&left]).map(|&part| part as f64);
            let length = point.clone().map(|x| x * x).sum::<f64>().sqrt();
            all.push(point.map(|x| x / length).collect());
            return;
        }
        for part in 0..=left {
            prefix.push(part);
            extend(prefix, left - part, objectives, all);
            prefix.pop();
        }
    }
    let mut all = Vec::new();
    extend(&mut Vec::new(), parts, objectives, &mut all);
    all
}

/// Losses moved so that the ideal point is 0 and scaled so that the plane through the extreme points meets each axis at 1.
fn normalized(mut losses: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    let objectives = losses.first().map_or(0, Vec::len);
    for axis in 0..objectives {
        bound(&mut losses, axis);
    }
    let scales = intercepts(&losses, objectives);
    for item in &mut losses {
        for (loss, scale) in item.iter_mut().zip(&scales) {
            *loss *= scale;
        }
    }
    losses
}

/// Moves one objective so that its least value is 0; what is infinite comes three widths beyond the finite ones.
fn bound(losses: &mut [Vec<f64>], axis: usize) {
    let finite = losses
        .iter()
        .map(|item| item[axis])
        .filter(|loss| loss.is_finite());
    let (low, high) = finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), loss| {
        (low.min(loss), high.max(loss))
    });
    let (low, high) = if low > high { (0.0, 0.0) } else { (low, high) };
    let margin = 3.0 * (high - low);
    let clamped = |loss: f64| loss.clamp(low - margin, high + margin);
    let min = losses
        .iter()
        .map(|item| clamped(item[axis]))
        .fold(f64::INFINITY, f64::min);
    for item in losses {
        item[axis] = clamped(item[axis]) - min;
    }
}

/// One over where the plane through the extreme points meets each axis; where there is no such plane, one over the
/// largest value.
fn intercepts(losses: &[Vec<f64>], objectives: usize) -> Vec<f64> {
    let extremes: Vec<Vec<f64>> = (0..objectives)
        .map(|axis| extreme(losses, axis).clone())
        .collect();
    if let Some(inverse) = solve_for_ones(extremes)
        && inverse.iter().all(|x| x.is_finite() && *x > 0.0)
    {
        return inverse;
    }
    let largest = |axis: usize| losses.iter().map(|item| item[axis]).fold(0.0, f64::max);
    (0..objectives)
        .map(|axis| match largest(axis) {
            0.0 => 1.0,
            width => 1.0 / width,
        })
        .collect()
}

/// The item that is least in all other objectives: the achievement scalarizing function of the paper.
fn extreme(losses: &[Vec<f64>], axis: usize) -> &Vec<f64> {
    let reach = |item: &Vec<f64>| {
        let weighted = item
            .iter()
            .enumerate()
            .map(|(at, l)| if at == axis { *l } else { l * 1e6 });
        weighted.fold(0.0, f64::max)
    };
    let min = losses.iter().min_by(|a, b| reach(a).total_cmp(&reach(b)));
    min.expect("a front has members")
}

/// `x` with `rows · x = 1`, by elimination with pivots; nothing if the rows are dependent.
fn solve_for_ones(mut rows: Vec<Vec<f64>>) -> Option<Vec<f64>> {
    let n = rows.len();
    let scale = rows.iter().flatten().fold(0.0, |a: f64, b| a.max(b.abs()));
    for row in &mut rows {
        row.push(1.0);
    }
    for column in 0..n {
        let size = |row: &usize| rows[*row][column].abs();
        let pivot = (column..n).max_by(|a, b| size(a).total_cmp(&size(b)))?;
        if rows[pivot][column].abs() <= 1e-12 * scale {
            return None;
        }
        rows.swap(column, pivot);
        let lead = rows[column].clone();
        for (index, row) in rows.iter_mut().enumerate() {
            let factor = if index == column {
                0.0
            } else {
                row[column] / lead[column]
            };
            row.iter_mut()
                .zip(&lead)
                .for_each(|(x, l)| *x -= factor * l);
        }
    }
    Some((0..n).map(|at| rows[at][n] / rows[at][at]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directions_divide_the_simplex() {
        assert_eq!(simplex(1, 3).len(), 1);
        assert_eq!(simplex(2, 3).len(), 4);
        assert_eq!(simplex(3, 3).len(), 10);
        for direction in simplex(3, 4) {
            let length: f64 = direction.iter().map(|x| x * x).sum();
            assert!((length - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn a_linear_front_is_scaled_to_the_unit_plane() {
        let front = vec![
            vec![5.0, 100.0],
            vec![7.0, 110.0],
            vec![9.0, 105.0],
            vec![6.0, 115.0],
            vec![13.0, 100.0],
            vec![5.0, 120.0],
        ];
        for item in normalized(front).iter().skip(4) {
            assert!((item.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{item:?}");
        }
    }

    #[test]
    fn the_extreme_of_an_axis_is_least_in_the_others_then_in_its_own() {
        let front = [
            [5.0, 0.0, 0.0],
            [3.0, 0.0, 0.0],
            [1.0, 1.0, 0.0],
            [0.5, 0.0, 4.0],
        ];
        let front = front.map(|item| item.to_vec());
        for (axis, expected) in [1, 2, 3].into_iter().enumerate() {
            assert_eq!(extreme(&front, axis), &front[expected], "axis {axis}");
        }
    }

    #[test]
    fn survivors_spread_over_the_directions() {
        let losses: Vec<Vec<f64>> = (0..10)
            .map(|k| vec![f64::from(k), 9.0 - f64::from(k)])
            .collect();
        let population = Population {
            numbers: (0..10).collect(),
            excess: vec![0.0; 10],
            losses,
        };
        let selection = ByReference {
            directions: simplex(2, 3),
        };
        let mut draws = Draws::new(random::Random::new(0, "test"));
        let mut survivors = selection.survivors(&population, 4, &mut draws);
        survivors.sort_unstable();
        assert_eq!(survivors, [0, 3, 6, 9]);
    }
}
