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
