//! An LRU cache bounded in bytes, for what is costly to make.

use std::collections::HashMap;
use std::hash::Hash;

/// A cache that evicts the least cachely used values when it holds too many bytes.
pub(super) struct LruCache<K, V> {
    entries: HashMap<K, Entry<V>>,
    bytes: usize,
    max_bytes: usize,
    /// Number of uses so far.
    clock: u64,
}

struct Entry<V> {
    value: V,
    bytes: usize,
    last_use: u64,
}

impl<K: Copy + Eq + Hash, V> LruCache<K, V> {
    pub fn new(max_bytes: usize) -> Self {
        Self {
            entries: HashMap::new(),
            bytes: 0,
            max_bytes,
            clock: 0,
        }
    }

    pub fn contains(&self, key: &K) -> bool {
        self.entries.contains_key(key)
    }

    /// The value, for use.
    pub fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        self.clock += 1;
        let entry = self.entries.get_mut(key)?;
        entry.last_use = self.clock;
        Some(&mut entry.value)
    }

    /// Inserts a value, however large it is, and evicts others until there is room.
    pub fn insert(&mut self, key: K, value: V, bytes: usize) {
        while self.bytes + bytes > self.max_bytes && self.evict_oldest() {}
        self.clock += 1;
        let entry = Entry {
            value,
            bytes,
            last_use: self.clock,
        };
        self.bytes += bytes;
        if let Some(old) = self.entries.insert(key, entry) {
            self.bytes -= old.bytes;
        }
    }

    fn evict_oldest(&mut self) -> bool {
        let oldest = self.entries.iter().min_by_key(|(_, entry)| entry.last_use);
        let oldest = oldest.map(|(key, _)| *key);
        let evicted = oldest.and_then(|key| self.entries.remove(&key));
        self.bytes -= evicted.as_ref().map_or(0, |entry| entry.bytes);
        evicted.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_used_for_longest_goes_first() {
        let mut cache = LruCache::new(100);
        for key in 0..3 {
            cache.insert(key, key, 30);
        }
        assert_eq!(cache.get_mut(&0), Some(&mut 0));
        cache.insert(3, 3, 40);
        let there: Vec<bool> = (0..4).map(|key| cache.contains(&key)).collect();
        assert_eq!(there, [true, false, true, true]);
        cache.insert(4, 4, 1000);
        assert!(cache.contains(&4), "the newest always stays");
        assert!((0..4).all(|key| !cache.contains(&key)));
        for key in 5..1000 {
            cache.insert(key, key, 30);
        }
        assert_eq!((cache.entries.len(), cache.bytes), (3, 90));
    }
}
