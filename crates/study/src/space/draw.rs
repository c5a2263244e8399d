//! Random points: every decision is uniform over what is possible after the earlier ones.

use super::tie::row;
use super::{Coordinate, Point, Row, Space, Tie};
use random::Draws;

impl Space {
    /// A random possible point. Every active parameter is uniform over the values that it can still have, or over its
    /// logarithm where it says so. Names with much to choose below them are not likelier than others: a space of formats
    /// is searched faster when all formats are looked at alike.
    pub(crate) fn draw(&self, draws: &mut Draws) -> Point {
        let mut coordinates = Vec::with_capacity(self.len());
        for (index, parameter) in self.parameters.iter().enumerate() {
            let drawn = self.is_active(index, &coordinates).then(|| {
                let unit = draws.uniform();
                match self.tied[index] {
                    None => parameter.distribution.at(unit),
                    Some((tie, column)) => self.ties[tie].at(column, &coordinates, unit),
                }
            });
            coordinates.push(drawn);
        }
        Point::new(coordinates)
    }
}

impl Tie {
    /// The value at place `unit` of those that a parameter can have after the earlier coordinates.
    fn at(&self, column: usize, earlier: &[Option<Coordinate>], unit: f64) -> Coordinate {
        let before = row(&self.parameters[..column], earlier);
        let rows = self.possible(earlier);
        let start = rows.partition_point(|row| row[..column] < before[..]);
        let count = rows[start..].partition_point(|row| row[..column] == before[..]);
        let mut values: Row = rows[start..start + count]
            .iter()
            .map(|row| row[column])
            .collect();
        values.dedup();
        let place = (unit * values.len() as f64) as usize;
        let value = values.get(place).copied().flatten();
        Coordinate::Choice(value.unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::conditional;
    use super::super::tie::tests::formats;
    use super::*;
    use std::collections::HashMap;

    /// The chance of a point: every decision is uniform over what some possible point has after the same decisions.
    fn chance(space: &Space, point: &Point) -> f64 {
        let all: Vec<Point> = (0..space.size().unwrap())
            .map(|index| space.nth(index).unwrap())
            .collect();
        let chances = (0..space.len()).map(|index| {
            let same = all
                .iter()
                .filter(|other| other.coordinates()[..index] == point.coordinates()[..index]);
            let mut values: Vec<Option<Coordinate>> = same.map(|other| other.get(index)).collect();
            values.dedup();
            1.0 / values.len() as f64
        });
        chances.product()
    }

    #[test]
    fn every_decision_is_uniform_over_what_is_possible() {
        for space in [formats(), conditional()] {
            let count = 20_000;
            let mut draws = Draws::new(random::Random::new(3, "draw"));
            let mut found: HashMap<Point, usize> = HashMap::new();
            for _ in 0..count {
                *found.entry(space.draw(&mut draws)).or_default() += 1;
            }
            let mut total = 0;
            for index in 0..space.size().unwrap() {
                let point = space.nth(index).unwrap();
                let expected = chance(&space, &point) * f64::from(count);
                let times = found.get(&point).copied().unwrap_or(0);
                assert!(
                    (times as f64 - expected).abs() < 5.0 * expected.sqrt(),
                    "{point:?}: {times}, {expected}"
                );
                total += times;
            }
            assert_eq!(total, count as usize, "nothing else is drawn");
        }
    }
}
