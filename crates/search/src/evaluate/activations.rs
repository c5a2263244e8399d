//! What crossed the cuts of earlier trials, kept for trials that begin alike.

use std::collections::{HashMap, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// The values that cross one cut for one block of rows, value after value.
pub(super) type Crossing = Arc<Vec<Vec<f32>>>;

/// Beginnings that are remembered to have been met.
const MET: usize = 1 << 16;

/// Crossings by what made them, up to a number of bytes.
///
/// Most beginnings of most searches are met once, and to keep those would push out the others: a crossing is kept when its
/// beginning is met for the second time. The oldest go first, except that one in use since it was last looked at stays
/// for another round.
pub(super) struct Activations {
    /// By block of rows, then by the variants of all segments before the cut.
    kept: Vec<HashMap<Vec<u32>, Kept>>,
    order: VecDeque<(usize, Vec<u32>)>,
    bytes: usize,
    most_bytes: usize,
    /// Hashes of beginnings, each in a place of its own; a newer one replaces an older one there.
    met: Vec<u64>,
}

#[derive(Clone)]
struct Kept {
    crossing: Crossing,
    is_used: bool,
}

impl Activations {
    pub fn new(blocks: usize, most_bytes: usize) -> Self {
        Self {
            kept: vec![HashMap::new(); blocks],
            order: VecDeque::new(),
            bytes: 0,
            most_bytes,
            met: vec![0; MET],
        }
    }

    /// The longest beginning of `variants` that is kept for a block: its length and what crossed behind it.
    pub fn longest(&mut self, block: usize, variants: &[u32]) -> Option<(usize, Crossing)> {
        let kept = &mut self.kept[block];
        (1..=variants.len()).rev().find_map(|length| {
            let kept = kept.get_mut(&variants[..length])?;
            kept.is_used = true;
            Some((length, Arc::clone(&kept.crossing)))
        })
    }

    /// Keeps a crossing whose beginning was met before; says whether it did.
    pub fn keep(&mut self, block: usize, variants: &[u32], crossing: &Crossing) -> bool {
        let size = bytes(crossing);
        if !self.was_met(block, variants) || size > self.most_bytes {
            return false;
        }
        while self.bytes + size > self.most_bytes && self.forget_one() {}
        let kept = Kept {
            crossing: Arc::clone(crossing),
            is_used: false,
        };
        let old = self.kept[block].insert(variants.to_vec(), kept);
        if old.is_none() {
            self.order.push_back((block, variants.to_vec()));
            self.bytes += size;
        }
        true
    }

    fn was_met(&mut self, block: usize, variants: &[u32]) -> bool {
        let mut hasher = DefaultHasher::new();
        (block, variants).hash(&mut hasher);
        let hash = hasher.finish();
        let place = &mut self.met[hash as usize % MET];
        let was_met = *place == hash;
        *place = hash;
        was_met
    }

    fn forget_one(&mut self) -> bool {
        while let Some((block, oldest)) = self.order.pop_front() {
            match self.kept[block].get_mut(&oldest) {
                Some(kept) if kept.is_used => {
                    kept.is_used = false;
                    self.order.push_back((block, oldest));
                }
                _ => {
                    let gone = self.kept[block].remove(&oldest);
                    self.bytes -= gone.map_or(0, |gone| bytes(&gone.crossing));
                    return true;
                }
            }
        }
        false
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

    fn crossing(value: f32) -> Crossing {
        Arc::new(vec![vec![value; 10]])
    }

    #[test]
    fn the_longest_beginning_is_found() {
        let mut kept = Activations::new(2, 100);
        for (variants, value) in [(&[1][..], 1.0), (&[1, 2], 2.0)] {
            assert!(!kept.keep(0, variants, &crossing(value)), "met once");
            assert!(kept.keep(0, variants, &crossing(value)), "met again");
        }
        assert_eq!(kept.longest(0, &[1, 2, 3]), Some((2, crossing(2.0))));
        assert_eq!(kept.longest(0, &[1, 3, 3]), Some((1, crossing(1.0))));
        assert_eq!(kept.longest(1, &[1, 2, 3]), None);
    }

    #[test]
    fn the_oldest_that_nobody_used_goes_first() {
        let mut kept = Activations::new(1, 100);
        for name in [5, 6] {
            kept.keep(0, &[name], &crossing(0.0));
            kept.keep(0, &[name], &crossing(0.0));
        }
        assert!(kept.longest(0, &[5]).is_some());
        for _ in 0..2 {
            kept.keep(0, &[7], &crossing(0.0));
        }
        let there = |name| kept.kept[0].contains_key(&vec![name]);
        let there: Vec<bool> = [5, 6, 7].into_iter().map(there).collect();
        assert_eq!(there, [true, false, true], "40 bytes each, 100 in all");
        for name in 8..1000 {
            kept.keep(0, &[name], &crossing(0.0));
            kept.keep(0, &[name], &crossing(0.0));
        }
        assert_eq!(
            (kept.kept[0].len(), kept.order.len(), kept.bytes),
            (2, 2, 80)
        );
    }
}
