//! One point of a space.

use super::Coordinate;

/// A value for each active parameter of a space, in the space's order.
///
/// Points are equal when the same parameters are active and have the same values, to the last bit.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Point {
    coordinates: Vec<Option<Coordinate>>,
}

impl Point {
    /// The point with these coordinates; nothing where a parameter is inactive.
    pub fn new(coordinates: Vec<Option<Coordinate>>) -> Self {
        Self { coordinates }
    }

    /// The value of the parameter at `index`; nothing when it is inactive.
    pub fn get(&self, index: usize) -> Option<Coordinate> {
        self.coordinates.get(index).copied().flatten()
    }

    /// All coordinates in the order of the parameters.
    pub fn coordinates(&self) -> &[Option<Coordinate>] {
        &self.coordinates
    }
}
