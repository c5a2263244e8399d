//! The place of the largest element of every row.

use super::Site;
use crate::step::{Memory, Step, Wires};

/// The place of the largest of `classes` elements, the first of equal ones; NaN is larger than any number.
pub(crate) struct Argmax {
    classes: usize,
}

impl Argmax {
    pub fn new(site: &Site) -> Self {
        Self {
            classes: site.inputs[0].last().copied().unwrap_or(1),
        }
    }
}

impl Step for Argmax {
    fn forward(&self, wires: &Wires, memory: &mut Memory) {
        let [x, y] = memory.split([wires.x(0), wires.y()]);
        for (x, y) in x.chunks_exact(self.classes).zip(y) {
            *y = place_of_largest(x) as f32;
        }
    }

    /// A place does not change with the elements until it jumps.
    fn backward(&self, wires: &Wires, memory: &mut Memory) {
        if let Some(target) = wires.grad_target(0) {
            memory.arena[target].fill(0.0);
            memory.commit_grad(wires, 0);
        }
    }
}

fn place_of_largest(x: &[f32]) -> usize {
    let mut largest = 0;
    for (at, &value) in x.iter().enumerate().skip(1) {
        let is_larger = value > x[largest] || (value.is_nan() && !x[largest].is_nan());
        largest = if is_larger { at } else { largest };
    }
    largest
}

/// The place of the largest code.
pub(crate) mod integer {
    use crate::integer::{CodeRange, Lowered, Site, Source};

    pub(crate) fn lower(site: &Site) -> Lowered {
        let classes = site.operands[0].shape.last().copied().unwrap_or(1);
        let range = CodeRange {
            min: 0,
            max: classes as i128 - 1,
            frac: 0,
        };
        Lowered::step(Source::Argmax { classes }, range)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_equal_elements_wins() {
        for (x, place) in [
            (&[3.0, 1.0, 2.0][..], 0),
            (&[1.0, 3.0, 3.0], 1),
            (&[-0.0, 0.0], 0),
            (&[f32::NEG_INFINITY, f32::NEG_INFINITY], 0),
            (&[1.0, f32::NAN, f32::INFINITY, f32::NAN], 1),
            (&[7.0], 0),
        ] {
            assert_eq!(place_of_largest(x), place, "{x:?}");
        }
    }
}
