//! Elements picked by a table of places: padding, rolling, steps of slices, repeated pixels.

use super::Site;
use crate::step::{Memory, Step, Wires};
use ir::ops::pad::Sources;

/// The place in the table of an element that is not picked.
const FILLED: u32 = u32::MAX;

/// For each element of a row of the result the place of the element in a row of the input.
pub(crate) struct Moved {
    places: Vec<u32>,
    /// Elements of a row of the input.
    row: usize,
    /// The value of elements that are not picked.
    fill: f32,
}

impl Moved {
    /// Elements picked along each axis of the input. Where the first axis stays as it is, a row is an index of it.
    pub fn new(sources: &[Sources], fill: f64, site: &Site) -> Self {
        let shape = &site.inputs[0];
        let stays = |axis: &Sources| axis.iter().enumerate().all(|(at, from)| *from == Some(at));
        let keeps_rows = sources.first().zip(shape.first());
        let keeps_rows = keeps_rows.is_some_and(|(axis, &size)| axis.len() == size && stays(axis));
        let first = usize::from(keeps_rows);
        let places = places(&sources[first..], &shape[first..]);
        Self {
            places: places
                .map(|place| place.map_or(FILLED, |place| place as u32))
                .collect(),
            row: shape[first..].iter().product(),
            fill: fill as f32,
        }
    }
}

/// For each element of the result, in order, the element of an input of this shape.
fn places(sources: &[Sources], shape: &[usize]) -> impl Iterator<Item = Option<usize>> {
    let mut places = vec![Some(0)];
    for (axis, &size) in sources.iter().zip(shape) {
        let bases = places.iter();
        places = bases
            .flat_map(|&base| axis.iter().map(move |&from| Some(base? * size + from?)))
            .collect();
    }
    places.into_iter()
}

impl Step for Moved {
    fn forward(&self, wires: &Wires, memory: &mut Memory) {
        let [x, y] = memory.split([wires.x(0), wires.y()]);
        let rows = x.chunks_exact(self.row.max(1));
        for (x, y) in rows.zip(y.chunks_exact_mut(self.places.len().max(1))) {
            for (y, &place) in y.iter_mut().zip(&self.places) {
                *y = x.get(place as usize).copied().unwrap_or(self.fill);
            }
        }
    }

    fn backward(&self, wires: &Wires, memory: &mut Memory) {
        let Some(target) = wires.grad_target(0) else {
            return;
        };
        let [dy, dx] = memory.split([wires.dy(), target]);
        dx.fill(0.0);
        let rows = dx.chunks_exact_mut(self.row.max(1));
        for (dx, dy) in rows.zip(dy.chunks_exact(self.places.len().max(1))) {
            for (dy, &place) in dy.iter().zip(&self.places) {
                if let Some(dx) = dx.get_mut(place as usize) {
                    *dx += dy;
                }
            }
        }
        memory.commit_grad(wires, 0);
    }
}

/// Picked elements in exact integers.
pub(crate) mod integer {
    use super::places;
    use crate::integer::error::Refusal;
    use crate::integer::{Lowered, Site};
    use crate::ops::permute::integer::gather;
    use ir::ops::pad::Sources;

    pub(crate) fn lower(sources: &[Sources], site: &Site) -> Result<Lowered, Refusal> {
        let places: Option<Vec<usize>> = places(sources, &site.operands[0].shape).collect();
        let why = "added numbers have no exact integer form; pad with mode reflect or edge, or in the layer that reads it";
        let places = places.ok_or_else(|| Refusal::NoForm(why.to_owned()))?;
        Ok(gather(places, site))
    }
}
