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

    /// Calls `f(first index, parts)` for parts of arrays of the same length, in any order. The parts hold `len` elements or
    /// a few times as many, so `f` must treat each element for itself.
    pub fn for_each_part<const N: usize>(
        &self,
        arrays: [&mut [f32]; N],
        len: usize,
        f: impl Fn(usize, [&mut [f32]; N]) + Sync,
    ) {
        match &self.pool {
            Some(pool) if arrays.first().is_some_and(|array| array.len() > len) => {
                pool.install(|| halve(0, arrays, len.max(1), &f));
            }
            _ => f(0, arrays),
        }
    }
}

/// The number of the calling thread: zero outside of a pool, from one on for the threads of one.
pub fn current_thread() -> usize {
    rayon::current_thread_index().map_or(0, |index| index + 1)
}

/// Halves arrays until a part is short enough.
fn halve<const N: usize>(
    first: usize,
    arrays: [&mut [f32]; N],
    len: usize,
    f: &(impl Fn(usize, [&mut [f32]; N]) + Sync),
) {
    let whole = arrays.first().map_or(0, |array| array.len());
    if whole <= len {
        f(first, arrays);
        return;
    }
    let middle = whole / 2;
    let mut left = [(); N].map(|()| <&mut [f32]>::default());
    let mut right = [(); N].map(|()| <&mut [f32]>::default());
    for (i, array) in arrays.into_iter().enumerate() {
        (left[i], right[i]) = array.split_at_mut(middle);
    }
    rayon::join(
        || halve(first, left, len, f),
        || halve(first + middle, right, len, f),
    );
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
    use super::{Pool, current_thread};

    #[test]
    fn any_number_may_be_asked_for() {
        assert!(Pool::new(usize::MAX).threads() <= 256);
    }

    #[test]
    fn threads_of_a_pool_are_numbered_from_one() {
        assert_eq!(current_thread(), 0);
        for (threads, numbers) in [(1, 0..=0), (3, 1..=3)] {
            let mut places = [usize::MAX; 20];
            Pool::new(threads).for_each(&mut places, |_, place| *place = current_thread());
            assert!(places.iter().all(|place| numbers.contains(place)));
        }
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
    fn parts_cover_arrays_once() {
        for threads in [1, 2, 3] {
            for n in [0, 1, 7, 1000] {
                let (mut x, mut y) = (vec![1.0; n], vec![2.0; n]);
                Pool::new(threads).for_each_part([&mut x, &mut y], 10, |first, [x, y]| {
                    for (i, (x, y)) in x.iter_mut().zip(y).enumerate() {
                        *x += (first + i) as f32;
                        *y += *x;
                    }
                });
                let wanted: Vec<f32> = (0..n).map(|i| 1.0 + i as f32).collect();
                assert_eq!(x, wanted, "{n} elements on {threads} threads");
                assert!(x.iter().zip(&y).all(|(x, y)| *y == 2.0 + x));
            }
        }
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
