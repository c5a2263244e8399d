//! Things that are costly to make, kept up to a number of bytes.

use std::collections::HashMap;
use std::hash::Hash;

/// Values by key; when they are too many, those that were not used for longest go.
pub(super) struct Recent<K, V> {
    kept: HashMap<K, Kept<V>>,
    bytes: usize,
    most_bytes: usize,
    /// Counts uses.
    clock: u64,
}

struct Kept<V> {
    value: V,
    bytes: usize,
    last_use: u64,
}

impl<K: Copy + Eq + Hash, V> Recent<K, V> {
    pub fn new(most_bytes: usize) -> Self {
        Self {
            kept: HashMap::new(),
            bytes: 0,
            most_bytes,
            clock: 0,
        }
    }

    pub fn contains(&self, key: &K) -> bool {
        self.kept.contains_key(key)
    }

    /// The value, for use.
    pub fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        self.clock += 1;
        let kept = self.kept.get_mut(key)?;
        kept.last_use = self.clock;
        Some(&mut kept.value)
    }

    /// Keeps a value, however large it is, and lets others go until there is room.
    pub fn insert(&mut self, key: K, value: V, bytes: usize) {
        while self.bytes + bytes > self.most_bytes && self.forget_oldest() {}
        self.clock += 1;
        let kept = Kept {
            value,
            bytes,
            last_use: self.clock,
        };
        self.bytes += bytes;
        if let Some(old) = self.kept.insert(key, kept) {
            self.bytes -= old.bytes;
        }
    }

    fn forget_oldest(&mut self) -> bool {
        let oldest = self.kept.iter().min_by_key(|(_, kept)| kept.last_use);
        let oldest = oldest.map(|(key, _)| *key);
        let gone = oldest.and_then(|key| self.kept.remove(&key));
        self.bytes -= gone.as_ref().map_or(0, |kept| kept.bytes);
        gone.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_used_for_longest_goes_first() {
        let mut recent = Recent::new(100);
        for key in 0..3 {
            recent.insert(key, key, 30);
        }
        assert_eq!(recent.get_mut(&0), Some(&mut 0));
        recent.insert(3, 3, 40);
        let there: Vec<bool> = (0..4).map(|key| recent.contains(&key)).collect();
        assert_eq!(there, [true, false, true, true]);
        recent.insert(4, 4, 1000);
        assert!(recent.contains(&4), "the newest is always kept");
        assert!((0..4).all(|key| !recent.contains(&key)));
        for key in 5..1000 {
            recent.insert(key, key, 30);
        }
        assert_eq!((recent.kept.len(), recent.bytes), (3, 90));
    }
}
