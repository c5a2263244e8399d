//! Combinations of choices that cannot be made, and the way from one to the nearest that can.

use std::sync::Arc;

use super::{Coordinate, Point, Space};

/// Categorical parameters of which only some combinations are possible.
///
/// No parameter is in two ties, and on a parameter of a tie hang only parameters of the same tie.
#[derive(Clone, Debug)]
pub struct Tie {
    /// A parameter before all of them, always active, on whose choice it depends what is possible; none if nothing does.
    pub decider: Option<usize>,
    /// The parameters in order.
    pub parameters: Vec<usize>,
    /// For every choice of the decider the possible combinations in rising order; one list when there is no decider.
    pub rows: Arc<Vec<Vec<Row>>>,
}

/// One choice for each parameter of a tie; nothing where it is inactive.
pub type Row = Vec<Option<usize>>;

impl Tie {
    /// The possible rows, given the coordinates of the earlier parameters.
    pub(super) fn possible(&self, earlier: &[Option<Coordinate>]) -> &[Row] {
        let choice = self.decider.map_or(0, |decider| match earlier[decider] {
            Some(Coordinate::Choice(choice)) => choice,
            _ => 0,
        });
        &self.rows[choice]
    }

    fn is_kept(&self, coordinates: &[Option<Coordinate>]) -> bool {
        let row = row(&self.parameters, coordinates);
        self.possible(coordinates).binary_search(&row).is_ok()
    }

    /// Writes a row into the coordinates.
    pub(super) fn write(&self, row: &Row, coordinates: &mut [Option<Coordinate>]) {
        for (&index, choice) in self.parameters.iter().zip(row) {
            coordinates[index] = choice.map(Coordinate::Choice);
        }
    }
}

impl Space {
    /// True when all that the point chooses can be chosen together.
    pub fn is_possible(&self, point: &Point) -> bool {
        let mut ties = self.ties.iter();
        ties.all(|tie| tie.is_kept(point.coordinates()))
    }

    /// As [`Space::is_possible`], for the ties of some parameters; of the others, only those that decide are looked at.
    pub fn is_possible_for(
        &self,
        parameters: &[usize],
        coordinates: &[Option<Coordinate>],
    ) -> bool {
        let is_among = |tie: &&Tie| parameters.contains(&tie.parameters[0]);
        let mut ties = self.ties.iter().filter(is_among);
        ties.all(|tie| tie.is_kept(coordinates))
    }

    /// The point itself if it is possible, else the nearest that is: the one with the fewest words changed and the fewest
    /// steps along the lists of numbers, the first of several.
    pub fn possible(&self, point: Point) -> Point {
        if self.is_possible(&point) {
            return point;
        }
        let mut coordinates = point.coordinates().to_vec();
        for tie in self
            .ties
            .iter()
            .filter(|tie| !tie.is_kept(point.coordinates()))
        {
            let own = row(&tie.parameters, &coordinates);
            let steps: Vec<f64> = tie.parameters.iter().map(|&p| self.step(p)).collect();
            let distance = |row: &&Row| distance(&steps, &own, row);
            let possible = tie.possible(&coordinates).iter();
            let nearest = possible.min_by(|a, b| distance(a).total_cmp(&distance(b)));
            if let Some(row) = nearest {
                tie.write(row, &mut coordinates);
            }
        }
        Point::new(coordinates)
    }

    /// The distance of two neighboring choices of a parameter.
    fn step(&self, index: usize) -> f64 {
        let distribution = &self.parameters[index].distribution;
        match distribution.count() {
            Some(count) if distribution.is_ordered() => 1.0 / count as f64,
            _ => 1.0,
        }
    }
}

/// The distance of two rows: 1 for a word, less for a step from one number to another.
fn distance(steps: &[f64], from: &Row, to: &Row) -> f64 {
    let pairs = steps.iter().zip(from.iter().zip(to));
    pairs
        .map(|(step, choices)| match choices {
            (Some(from), Some(to)) => (from.abs_diff(*to) as f64 * step).min(1.0),
            (None, None) => 0.0,
            _ => 1.0,
        })
        .sum()
}

/// The choices of some parameters.
pub(super) fn row(parameters: &[usize], coordinates: &[Option<Coordinate>]) -> Row {
    let choice = |coordinate: Option<Coordinate>| match coordinate {
        Some(Coordinate::Choice(choice)) => Some(choice),
        _ => None,
    };
    let own = parameters.iter();
    own.map(|&index| choice(coordinates[index])).collect()
}
