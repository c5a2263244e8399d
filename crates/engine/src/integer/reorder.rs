//! A change of the order of axes: planes of channels to pixels of channels, or back.

use super::buffer::{Buffer, with_buffer};
use crate::order::Order;

/// The transpose of every `rows × columns` matrix of a value.
pub(crate) struct Reorder {
    rows: usize,
    columns: usize,
}

impl Reorder {
    /// The change of a value of this shape to an order, or `None` when its elements lie as they should already.
    pub fn new(shape: &[usize], to: Order) -> Option<Self> {
        let (channels, plane) = channels_and_plane(shape);
        let (rows, columns) = match to {
            Order::Pixels => (channels, plane),
            Order::Planes => (plane, channels),
        };
        (rows > 1 && columns > 1).then_some(Self { rows, columns })
    }

    /// Moves all codes; both values are stored alike.
    pub fn run(&self, x: &Buffer, y: &mut Buffer) {
        with_buffer!(x, x => if let Some(y) = y.codes_mut() {
            let len = self.rows * self.columns;
            for (x, y) in x.chunks_exact(len).zip(y.chunks_exact_mut(len)) {
                for (column, y) in y.chunks_exact_mut(self.rows).enumerate() {
                    let from = x[column..].iter().step_by(self.columns);
                    y.iter_mut().zip(from).for_each(|(to, &code)| *to = code);
                }
            }
        });
    }
}

/// The channels of a value of this shape, and the elements of each.
pub(crate) fn channels_and_plane(shape: &[usize]) -> (usize, usize) {
    let channels = shape.get(1).copied().unwrap_or(1);
    (channels, shape.iter().skip(2).product())
}
