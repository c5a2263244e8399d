//! A pool of threads for independent pieces of work.

mod team;

pub use team::current_thread;

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use team::Team;

/// More threads than this are not started, whatever was asked for: no machine has the cores, and each costs a stack.
const MAX_THREADS: usize = 256;
/// Items that are shared out among the threads: one bit each says that it is taken.
const MAX_SHARED_OUT: usize = u64::BITS as usize;

/// Runs closures over the elements of a slice, on one thread or several, the calling one among them. What each element sees
/// never depends on how many threads there are. Work that is handed out inside of such a closure runs on its own thread.
#[derive(Clone)]
pub struct Pool {
    /// `None` runs everything on the calling thread.
    team: Option<Arc<Team>>,
}

impl Pool {
    /// A pool of `threads`, zero meaning one per core, and at most 256. Where the system grants no threads the pool is of
    /// one: [`Pool::threads`] tells.
    pub fn new(threads: usize) -> Self {
        let wanted = match threads {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            n => n.min(MAX_THREADS),
        };
        Self {
            team: Team::new(wanted - 1).map(Arc::new),
        }
    }

    /// The number of threads that run the work.
    pub fn threads(&self) -> usize {
        self.team.as_ref().map_or(1, |team| team.workers() + 1)
    }

    /// Calls `f(index, item)` for every item, in any order, and returns when all are done. Of a few items, a thread takes those that
    /// it took the last time, as long as it has no less to do than the others: it finds their memory in its cache.
    pub fn for_each<T: Send>(&self, items: &mut [T], f: impl Fn(usize, &mut T) + Sync) {
        let first = Pointer(items.as_mut_ptr());
        self.for_each_in_shares(items.len(), |i| {
            // SAFETY: an index below the length, which one thread has alone.
            f(i, unsafe { &mut *first.at(i) });
        });
    }

    /// Calls `f(first index, parts)` for parts of arrays of the same length, in any order. The parts hold `len` elements or
    /// fewer, so `f` must treat each element for itself.
    ///
    /// # Panics
    /// When the lengths differ: an error of the caller.
    pub fn for_each_part<const N: usize>(
        &self,
        arrays: [&mut [f32]; N],
        len: usize,
        f: impl Fn(usize, [&mut [f32]; N]) + Sync,
    ) {
        let whole = arrays.first().map_or(0, |array| array.len());
        assert!(
            arrays.iter().all(|array| array.len() == whole),
            "arrays of different lengths"
        );
        if self.team.is_none() || whole <= len {
            return f(0, arrays);
        }
        let len = len.max(1);
        let first = arrays.map(|array| Pointer(array.as_mut_ptr()));
        self.for_each_index(whole.div_ceil(len), |part| {
            let start = part * len;
            let len = len.min(whole - start);
            // SAFETY: the part lies inside of the arrays, and one thread has it alone.
            let parts = first
                .each_ref()
                .map(|first| unsafe { first.slice(start, len) });
            f(start, parts);
        });
    }

    /// Calls `f(index, part)` for parts of an array, in any order. The last parts are begun first: networks grow wider to their end,
    /// and what takes longest should not come last.
    ///
    /// # Panics
    /// When a span begins before the end of the one before it, or ends behind the array: an error of the caller.
    pub fn for_each_span(
        &self,
        array: &mut [f32],
        spans: &[Range<usize>],
        f: impl Fn(usize, &mut [f32]) + Sync,
    ) {
        let end = spans.iter().fold(0, |end, span| {
            assert!(
                end <= span.start && span.start <= span.end,
                "spans in disorder: {span:?}"
            );
            span.end
        });
        assert!(
            end <= array.len(),
            "a span ends at {end} of {}",
            array.len()
        );
        let first = Pointer(array.as_mut_ptr());
        self.for_each_index(spans.len(), |i| {
            let i = spans.len() - 1 - i;
            let span = &spans[i];
            // SAFETY: the spans are apart and inside of the array, and one thread has this one alone.
            f(i, unsafe { first.slice(span.start, span.len()) });
        });
    }

    /// Calls `f` once for every index. A thread begins with its own share of few indices, and goes on with what others have not begun.
    fn for_each_in_shares(&self, count: usize, f: impl Fn(usize) + Sync) {
        match &self.team {
            Some(team) if (2..=MAX_SHARED_OUT).contains(&count) => {
                let taken = AtomicU64::new(0);
                let take = |i: usize| taken.fetch_or(1 << i, Ordering::Relaxed) & (1 << i) == 0;
                let threads = self.threads();
                team.run(count - 1, &|| {
                    let own = current_thread().min(threads - 1) * count / threads;
                    (own..count).chain(0..own).filter(|&i| take(i)).for_each(&f);
                });
            }
            _ => self.for_each_index(count, f),
        }
    }

    /// Calls `f` once for every index, in their order as far as one thread is concerned.
    fn for_each_index(&self, count: usize, f: impl Fn(usize) + Sync) {
        match &self.team {
            Some(team) if count > 1 => {
                let next = AtomicUsize::new(0);
                let take = || Some(next.fetch_add(1, Ordering::Relaxed)).filter(|&i| i < count);
                team.run(count - 1, &|| {
                    while let Some(i) = take() {
                        f(i);
                    }
                });
            }
            _ => (0..count).for_each(f),
        }
    }
}

/// A pointer that threads share, each for elements of its own.
struct Pointer<T>(*mut T);

// SAFETY: each element is used by one thread at a time.
unsafe impl<T: Send> Sync for Pointer<T> {}

impl<T> Pointer<T> {
    /// The element at an index, which must lie inside of the array.
    unsafe fn at(&self, index: usize) -> *mut T {
        // SAFETY: the caller's promise.
        unsafe { self.0.add(index) }
    }

    /// A part of the array, which must lie inside of it and be nobody else's.
    unsafe fn slice<'a>(&self, start: usize, len: usize) -> &'a mut [T] {
        // SAFETY: the caller's promise.
        unsafe { std::slice::from_raw_parts_mut(self.0.add(start), len) }
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
    use super::{Pool, current_thread};
    use std::collections::HashSet;
    use std::sync::Barrier;

    #[test]
    fn any_number_may_be_asked_for() {
        assert!(Pool::new(usize::MAX).threads() <= 256);
    }

    #[test]
    fn threads_of_a_pool_are_numbered_from_one() {
        assert_eq!(current_thread(), 0);
        for threads in [1, 3] {
            let mut places = [usize::MAX; 20];
            Pool::new(threads).for_each(&mut places, |_, place| *place = current_thread());
            assert!(places.iter().all(|&place| place < threads), "{places:?}");
        }
    }

    /// Items that wait for each other end only where each has a thread.
    #[test]
    fn all_threads_work_at_once() {
        for threads in [2, 3] {
            let pool = Pool::new(threads);
            let all = Barrier::new(threads);
            for _ in 0..100 {
                let mut ids = vec![None; threads];
                pool.for_each(&mut ids, |_, id| {
                    all.wait();
                    *id = Some(std::thread::current().id());
                });
                let ids: HashSet<_> = ids.into_iter().collect();
                assert_eq!(ids.len(), threads);
            }
        }
        assert_eq!(format!("{:?}", Pool::new(2)), "Pool { threads: 2 }");
    }

    /// Items that wait for each other, so that each thread has one.
    #[test]
    fn a_thread_takes_what_it_took_before() {
        let pool = Pool::new(2);
        let both = Barrier::new(2);
        for _ in 0..100 {
            let mut threads = [usize::MAX; 2];
            pool.for_each(&mut threads, |_, thread| {
                both.wait();
                *thread = current_thread();
            });
            assert_eq!(threads, [0, 1]);
        }
    }

    #[test]
    fn one_item_is_the_callers() {
        let caller = std::thread::current().id();
        let mut id = [None];
        Pool::new(2).for_each(&mut id, |_, id| *id = Some(std::thread::current().id()));
        assert_eq!(id, [Some(caller)]);
    }

    /// Callers that share a pool, closures inside of closures, and pauses in which the workers fall asleep.
    #[test]
    fn work_is_done_once_whoever_hands_it_out() {
        let pool = Pool::new(3);
        std::thread::scope(|scope| {
            for caller in 0..3 {
                let pool = pool.clone();
                scope.spawn(move || {
                    for round in 0..2000 {
                        let mut items = [[0usize; 3]; 4];
                        pool.for_each(&mut items, |_, inner| {
                            pool.for_each(inner, |i, item| *item += i + 1);
                        });
                        assert_eq!(items, [[1, 2, 3]; 4]);
                        if round % 500 == caller {
                            std::thread::sleep(std::time::Duration::from_millis(2));
                        }
                    }
                });
            }
        });
    }

    #[test]
    fn a_panic_reaches_the_caller_and_the_pool_goes_on() {
        let pool = Pool::new(2);
        for bad in 0..4 {
            let panics = || {
                pool.for_each(&mut [0; 4], |i, _| assert!(i != bad, "item {i}"));
            };
            let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(panics));
            let message = *caught
                .expect_err("a panic")
                .downcast::<String>()
                .expect("text");
            assert_eq!(message, format!("item {bad}"));
            let mut items = [0; 9];
            pool.for_each(&mut items, |_, item| *item += 1);
            assert_eq!(items, [1; 9]);
        }
    }

    #[test]
    fn spans_are_filled_by_their_index() {
        for threads in [1, 3] {
            let mut array = [0.0; 10];
            let spans = [0..2, 2..2, 3..7, 8..10];
            Pool::new(threads)
                .for_each_span(&mut array, &spans, |i, part| part.fill(i as f32 + 1.0));
            assert_eq!(array, [1.0, 1.0, 0.0, 3.0, 3.0, 3.0, 3.0, 0.0, 4.0, 4.0]);
        }
    }

    #[test]
    #[should_panic(expected = "spans in disorder: 1..3")]
    fn spans_that_overlap_are_refused() {
        Pool::new(2).for_each_span(&mut [0.0; 4], &[0..2, 1..3], |_, _| {});
    }

    #[test]
    #[should_panic(expected = "a span ends at 5 of 4")]
    fn spans_outside_are_refused() {
        Pool::new(2).for_each_span(&mut [0.0; 4], &[0..2, 2..5], |_, _| {});
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
