//! What crossed the cuts of earlier trials, kept for trials that begin alike.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

/// The values that cross one cut for one block of rows, value after value.
pub(super) type Crossing = Arc<Vec<Vec<f32>>>;

/// Crossings by what made them, up to a number of bytes; the oldest go first.
pub(super) struct Activations {
    /// By block of rows, then by the variants of all segments before the cut.
    kept: Vec<HashMap<Vec<u32>, Crossing>>,
    order: VecDeque<(usize, Vec<u32>)>,
    bytes: usize,
    most_bytes: usize,
}

impl Activations {
    pub fn new(blocks: usize, most_bytes: usize) -> Self {
        Self {
            kept: vec![HashMap::new(); blocks],
            order: VecDeque::new(),
            bytes: 0,
            most_bytes,
        }
    }

    /// The longest beginning of `variants` that is kept for a block: its length and what crossed behind it.
    pub fn longest(&self, block: usize, variants: &[u32]) -> Option<(usize, Crossing)> {
        let kept = &self.kept[block];
        (1..=variants.len())
            .rev()
            .find_map(|length| Some((length, Arc::clone(kept.get(&variants[..length])?))))
    }

    pub fn keep(&mut self, block: usize, variants: &[u32], crossing: &Crossing) {
        let size = bytes(crossing);
        if size > self.most_bytes {
            return;
        }
        while self.bytes + size > self.most_bytes {
            let Some((block, oldest)) = self.order.pop_front() else {
                break;
            };
            self.bytes -= self.kept[block]
                .remove(&oldest)
                .map_or(0, |old| bytes(&old));
        }
        let is_new = self.kept[block]
            .insert(variants.to_vec(), Arc::clone(crossing))
            .is_none();
        if is_new {
            self.order.push_back((block, variants.to_vec()));
            self.bytes += size;
        }
    }
}

fn bytes(crossing: &Crossing) -> usize {
    crossing
        .iter()
        .map(|values| values.len() * size_of::<f32>())
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_beginning_is_found_and_the_oldest_goes_first() {
        let crossing = |value: f32| Arc::new(vec![vec![value; 10]]);
        let mut kept = Activations::new(2, 100);
        kept.keep(0, &[1], &crossing(1.0));
        kept.keep(0, &[1, 2], &crossing(2.0));
        assert_eq!(kept.longest(0, &[1, 2, 3]), Some((2, crossing(2.0))));
        assert_eq!(kept.longest(0, &[1, 3, 3]), Some((1, crossing(1.0))));
        assert_eq!(kept.longest(1, &[1, 2, 3]), None);
        kept.keep(0, &[7], &crossing(3.0));
        assert_eq!(kept.longest(0, &[1]), None, "40 bytes each, 100 in all");
        assert_eq!(kept.longest(0, &[1, 2]), Some((2, crossing(2.0))));
    }
}
