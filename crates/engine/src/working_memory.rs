//! Arenas: the memory of steps, of one shard or of one shard after another.

use crate::arena::ALIGNMENT;
use std::sync::{Arc, Mutex, PoisonError};

/// Memory whose buffers lie on cache lines.
pub(crate) struct Arena {
    memory: Vec<f32>,
    start: usize,
}

impl Arena {
    pub fn new(len: usize) -> Self {
        let memory = vec![0.0; len + ALIGNMENT];
        let start = memory
            .as_ptr()
            .align_offset(ALIGNMENT * size_of::<f32>())
            .min(ALIGNMENT);
        Self { memory, start }
    }

    pub fn all(&self) -> &[f32] {
        &self.memory[self.start..]
    }

    pub fn all_mut(&mut self) -> &mut [f32] {
        &mut self.memory[self.start..]
    }
}

/// Arenas that the shards of a plan borrow while they run: as many as ran at once. The next shard of a thread finds the memory
/// of the last one still in the cache.
#[derive(Clone, Default)]
pub(crate) struct SharedArenas(Arc<Mutex<Vec<Arena>>>);

impl SharedArenas {
    /// Lends an arena of at least this length.
    pub fn borrow(&self, len: usize, work: impl FnOnce(&mut [f32])) {
        let idle = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let lent = idle().pop().filter(|arena| arena.all().len() >= len);
        let mut arena = lent.unwrap_or_else(|| Arena::new(len));
        work(arena.all_mut());
        idle().push(arena);
    }
}
