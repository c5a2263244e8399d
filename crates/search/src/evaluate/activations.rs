//! A prefix cache: values live at the cuts of earlier trials, for trials that begin alike.

use std::collections::{HashMap, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// The values that are live at one cut for one block of rows, value after value.
pub(super) type LiveValues = Arc<Vec<Vec<f32>>>;

/// Beginnings that are remembered to have been met.
const MET: usize = 1 << 16;

/// Live values by what made them, up to a number of bytes.
///
/// Most beginnings of most searches are met once, and to store those would evict the others: live values are admitted when
/// their beginning is met for the second time. Eviction is by second chance: the oldest go first, except that one in use
/// since it was last looked at stays for another round.
pub(super) struct Activations {
    /// By block of rows, then by the variants of all segments before the cut.
    entries: Vec<HashMap<Vec<u32>, Entry>>,
    order: VecDeque<(usize, Vec<u32>)>,
    bytes: usize,
    max_bytes: usize,
    /// Hashes of beginnings, each in a place of its own; a newer one replaces an older one there.
    met: Vec<u64>,
}

#[derive(Clone)]
struct Entry {
    values: LiveValues,
    is_used: bool,
}

impl Activations {
    pub fn new(blocks: usize, max_bytes: usize) -> Self {
        Self {
            entries: vec![HashMap::new(); blocks],
            order: VecDeque::new(),
            bytes: 0,
            max_bytes,
            met: vec![0; MET],
        }
    }

    /// The longest beginning of `variants` that is cached for a block: its length and the values live behind it.
    pub fn longest(&mut self, block: usize, variants: &[u32]) -> Option<(usize, LiveValues)> {
        let entries = &mut self.entries[block];
        (1..=variants.len()).rev().find_map(|length| {
            let entry = entries.get_mut(&variants[..length])?;
            entry.is_used = true;
            Some((length, Arc::clone(&entry.values)))
        })
    }

    /// Admits values whose beginning was met before; true if it did.
    pub fn admit(&mut self, block: usize, variants: &[u32], values: &LiveValues) -> bool {
        let size = bytes(values);
        if !self.was_met(block, variants) || size > self.max_bytes {
            return false;
        }
        while self.bytes + size > self.max_bytes && self.evict_one() {}
        let entry = Entry {
            values: Arc::clone(values),
            is_used: false,
        };
        let old = self.entries[block].insert(variants.to_vec(), entry);
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

    fn evict_one(&mut self) -> bool {
        while let Some((block, oldest)) = self.order.pop_front() {
            match self.entries[block].get_mut(&oldest) {
                Some(entry) if entry.is_used => {
                    entry.is_used = false;
                    self.order.push_back((block, oldest));
                }
                _ => {
                    let gone = self.entries[block].remove(&oldest);
                    self.bytes -= gone.map_or(0, |gone| bytes(&gone.values));
                    return true;
                }
            }
        }
        false
    }
}

fn bytes(values: &LiveValues) -> usize {
    let lengths = values.iter().map(Vec::len);
    lengths.map(|length| length * size_of::<f32>()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(value: f32) -> LiveValues {
        Arc::new(vec![vec![value; 10]])
    }

    #[test]
    fn the_longest_beginning_is_found() {
        let mut cache = Activations::new(2, 100);
        for (variants, value) in [(&[1][..], 1.0), (&[1, 2], 2.0)] {
            assert!(!cache.admit(0, variants, &values(value)), "met once");
            assert!(cache.admit(0, variants, &values(value)), "met again");
        }
        assert_eq!(cache.longest(0, &[1, 2, 3]), Some((2, values(2.0))));
        assert_eq!(cache.longest(0, &[1, 3, 3]), Some((1, values(1.0))));
        assert_eq!(cache.longest(1, &[1, 2, 3]), None);
    }

    #[test]
    fn the_oldest_that_nobody_used_goes_first() {
        let mut cache = Activations::new(1, 100);
        for name in [5, 6] {
            cache.admit(0, &[name], &values(0.0));
            cache.admit(0, &[name], &values(0.0));
        }
        assert!(cache.longest(0, &[5]).is_some());
        for _ in 0..2 {
            cache.admit(0, &[7], &values(0.0));
        }
        let there = |name| cache.entries[0].contains_key(&vec![name]);
        let there: Vec<bool> = [5, 6, 7].into_iter().map(there).collect();
        assert_eq!(there, [true, false, true], "40 bytes each, 100 in all");
        for name in 8..1000 {
            cache.admit(0, &[name], &values(0.0));
            cache.admit(0, &[name], &values(0.0));
        }
        assert_eq!(
            (cache.entries[0].len(), cache.order.len(), cache.bytes),
            (2, 2, 80)
        );
    }

    #[test]
    fn what_is_larger_than_the_cache_evicts_nothing() {
        let mut cache = Activations::new(1, 100);
        let large = Arc::new(vec![vec![0.0; 20], vec![0.0; 6]]);
        let exact = Arc::new(vec![vec![0.0; 20], vec![0.0; 5]]);
        for _ in 0..2 {
            cache.admit(0, &[1], &values(1.0));
        }
        for _ in 0..2 {
            assert!(!cache.admit(0, &[2], &large), "104 bytes of 100");
        }
        assert_eq!(cache.longest(0, &[1]), Some((1, values(1.0))));
        cache.admit(0, &[3], &exact);
        assert!(cache.admit(0, &[3], &exact), "100 bytes of 100");
        assert_eq!((cache.entries[0].len(), cache.bytes), (1, 100));
    }
}
