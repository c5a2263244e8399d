//! A pool of threads for independent pieces of work.

use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

/// More threads than this are not started, whatever was asked for: no machine has the cores, and each costs a stack.
const MAX_THREADS: usize = 256;

/// Runs closures over the elements of a slice, on one thread or several. What each element sees never depends on how
/// many threads there are.
pub struct Pool {
    /// `None` runs everything on the calling thread.
    pool: Option<ThreadPool>,
}

impl Pool {
    /// A pool of `threads`, zero meaning one per core, and at most 256. Where the system grants no threads the pool is of
    /// one: [`Pool::threads`] tells.
    pub fn new(threads: usize) -> Self {
        let wanted = match threads {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            n => n.min(MAX_THREADS),
        };
        let build = || ThreadPoolBuilder::new().num_threads(wanted).build().ok();
        Self {
            pool: if wanted == 1 { None } else { build() },
        }
    }

    /// The number of threads that run the work.
    pub fn threads(&self) -> usize {
        self.pool
            .as_ref()
            .map_or(1, ThreadPool::current_num_threads)
    }

    /// Calls `f(index, item)` for every item, in any order, and returns when all are done.
    pub fn for_each<T: Send>(&self, items: &mut [T], f: impl Fn(usize, &mut T) + Sync) {
        match &self.pool {
            Some(pool) if items.len() > 1 => {
                pool.install(|| {
                    items
                        .par_iter_mut()
                        .with_max_len(1)
                        .enumerate()
                        .for_each(|(i, item)| f(i, item));
                });
            }
            _ => items
                .iter_mut()
                .enumerate()
                .for_each(|(i, item)| f(i, item)),
        }
    }
}

impl std::fmt::Debug for Pool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pool")
            .field("threads", &self.threads())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::Pool;

    #[test]
    fn any_number_may_be_asked_for() {
        assert!(Pool::new(usize::MAX).threads() <= 256);
    }

    /// One item is not worth waking a thread for.
    #[test]
    fn several_items_are_the_work_of_the_pool() {
        let caller = std::thread::current().id();
        for (threads, n, is_here) in [(1, 3, true), (2, 1, true), (2, 2, false), (2, 9, false)] {
            let mut places = vec![None; n];
            let pool = Pool::new(threads);
            pool.for_each(&mut places, |_, place| {
                *place = Some(std::thread::current().id());
            });
            let all = |place: &Option<_>| (*place == Some(caller)) == is_here;
            assert!(places.iter().all(all), "{n} items on {pool:?}");
        }
        assert_eq!(format!("{:?}", Pool::new(2)), "Pool { threads: 2 }");
    }

    #[test]
    fn every_item_is_visited_once_with_its_index() {
        for threads in [0, 1, 2, 5] {
            let pool = Pool::new(threads);
            assert!(threads == 0 || pool.threads() == threads);
            for n in [0, 1, 2, 100] {
                let mut items = vec![0usize; n];
                pool.for_each(&mut items, |i, item| *item += i + 1);
                assert!(items.iter().enumerate().all(|(i, &item)| item == i + 1));
            }
        }
    }
}
