//! Workers that run one closure at a time, together with the thread that hands it out.
//!
//! The steps of a plan are parts of tens of microseconds, and waking a thread takes as long. So a worker looks for the next
//! closure for a while before it sleeps, the caller works itself, and at the end it waits only for workers that have begun.

use std::any::Any;
use std::cell::{Cell, UnsafeCell};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, TryLockError};

/// Looks at the state before a thread sleeps: some 400 µs, as long as the others may take for the rest of a step.
const SPINS: u32 = 32768;

/// The state in one word: workers inside a closure, whether more may begin, and the number of the closure.
const OPEN: u64 = 1 << 16;
const WORKERS: u64 = OPEN - 1;
const NUMBER: u64 = OPEN << 1;

type Work<'a> = &'a (dyn Fn() + Sync);

thread_local! {
    /// See [`current_thread`].
    static THREAD: Cell<usize> = const { Cell::new(0) };
}

/// The number of the calling thread: zero outside of a pool, from one on for its workers.
pub fn current_thread() -> usize {
    THREAD.get()
}

/// The workers of a pool.
pub(super) struct Team {
    shared: Arc<Shared>,
    workers: usize,
}

struct Shared {
    state: AtomicU64,
    /// The closure; written by the owner while nobody is inside, read by workers inside.
    work: UnsafeCell<Option<Work<'static>>>,
    /// Held by the thread whose closure runs.
    owner: Mutex<()>,
    /// Workers asleep, or about to be; `wake` is theirs.
    sleepers: AtomicUsize,
    wake: Condvar,
    /// The owner waits for the last worker.
    done: Condvar,
    /// Guards both conditions. A child of `fork` has no workers, and one of them may have held this when it was made.
    asleep: Mutex<()>,
    /// The process that has the workers.
    process: u32,
    /// The panic of a worker, for the owner.
    panic: Mutex<Option<Box<dyn Any + Send>>>,
    stops: AtomicBool,
}

// SAFETY: `work` is written under `owner` while no worker is inside, and read by workers that have entered.
unsafe impl Sync for Shared {}
// SAFETY: as above; the closure itself is `Sync`.
unsafe impl Send for Shared {}

impl Team {
    /// A team of up to this number of workers; `None` where the system grants no thread.
    pub(super) fn new(workers: usize) -> Option<Self> {
        Self::of_process(workers, std::process::id())
    }

    fn of_process(workers: usize, process: u32) -> Option<Self> {
        let shared = Arc::new(Shared::idle(process));
        let start = |number: usize| {
            let shared = Arc::clone(&shared);
            let run = move || {
                THREAD.set(number);
                shared.serve();
            };
            std::thread::Builder::new().spawn(run)
        };
        let workers = (1..=workers).take_while(|&n| start(n).is_ok()).count();
        (workers > 0).then_some(Self { shared, workers })
    }

    pub(super) fn workers(&self) -> usize {
        self.workers
    }

    /// Runs a closure on the calling thread and on up to `helpers` workers, and returns when all have left it. While another
    /// closure runs, as inside of one, the calling thread is alone.
    pub(super) fn run(&self, helpers: usize, work: Work) {
        let owner = match self.shared.owner.try_lock() {
            Ok(owner) => owner,
            Err(TryLockError::Poisoned(owner)) => owner.into_inner(),
            Err(TryLockError::WouldBlock) => return work(),
        };
        // SAFETY: no worker is inside, and none enters after `Opened` is dropped, which is before `work` ends.
        unsafe {
            *self.shared.work.get() = Some(std::mem::transmute::<Work<'_>, Work<'static>>(work));
        }
        let opened = self.shared.open(helpers.min(self.workers));
        work();
        drop(opened);
        drop(owner);
        let panic = lock(&self.shared.panic).take();
        if let Some(panic) = panic {
            resume_unwind(panic);
        }
    }
}

impl Drop for Team {
    /// Ends the workers without waiting for them.
    fn drop(&mut self) {
        self.shared.stops.store(true, Ordering::SeqCst);
        if self.shared.has_workers() {
            let _guard = lock(&self.shared.asleep);
            self.shared.wake.notify_all();
        }
    }
}

/// A closure that workers may enter; nobody is inside when it has been dropped.
struct Opened<'a>(&'a Shared);

impl Drop for Opened<'_> {
    fn drop(&mut self) {
        let shared = self.0;
        shared.state.fetch_and(!OPEN, Ordering::SeqCst);
        let is_empty = || shared.state.load(Ordering::SeqCst) & WORKERS == 0;
        if spin_until(is_empty) {
            return;
        }
        let mut guard = lock(&shared.asleep);
        while !is_empty() {
            guard = wait(&shared.done, guard);
        }
    }
}

impl Shared {
    /// The state before the first closure.
    fn idle(process: u32) -> Self {
        Self {
            state: AtomicU64::new(0),
            work: UnsafeCell::new(None),
            owner: Mutex::new(()),
            sleepers: AtomicUsize::new(0),
            wake: Condvar::new(),
            done: Condvar::new(),
            asleep: Mutex::new(()),
            process,
            panic: Mutex::new(None),
            stops: AtomicBool::new(false),
        }
    }

    /// Lets workers into the closure, and wakes as many as are asked for.
    fn open(&self, helpers: usize) -> Opened<'_> {
        let number = (self.state.load(Ordering::SeqCst) & !(NUMBER - 1)).wrapping_add(NUMBER);
        self.state.store(number | OPEN, Ordering::SeqCst);
        if self.sleepers.load(Ordering::SeqCst) > 0 && self.has_workers() {
            let _guard = lock(&self.asleep);
            (0..helpers).for_each(|_| self.wake.notify_one());
        }
        Opened(self)
    }

    /// False in a child of `fork`, where the caller works alone.
    fn has_workers(&self) -> bool {
        self.process == std::process::id()
    }

    /// Runs closure after closure until the pool ends.
    fn serve(&self) {
        let mut last = 0;
        loop {
            let is_due = || self.stops.load(Ordering::SeqCst) || self.is_open(last);
            if !spin_until(is_due) {
                self.sleepers.fetch_add(1, Ordering::SeqCst);
                let mut guard = lock(&self.asleep);
                while !is_due() {
                    guard = wait(&self.wake, guard);
                }
                drop(guard);
                self.sleepers.fetch_sub(1, Ordering::SeqCst);
            }
            if self.stops.load(Ordering::SeqCst) {
                return;
            }
            last = self.enter(last).unwrap_or(last);
        }
    }

    /// True when a closure other than `last` may be entered.
    fn is_open(&self, last: u64) -> bool {
        let state = self.state.load(Ordering::SeqCst);
        state & OPEN != 0 && state & !(NUMBER - 1) != last
    }

    /// Runs the closure, if it is still open; returns its number.
    fn enter(&self, last: u64) -> Option<u64> {
        let enter = |state: u64| {
            let is_new = state & !(NUMBER - 1) != last;
            (state & OPEN != 0 && is_new).then_some(state + 1)
        };
        let order = Ordering::SeqCst;
        let state = self.state.fetch_update(order, order, enter).ok()?;
        // SAFETY: this worker is inside, so the closure is there until it leaves.
        let work = unsafe { *self.work.get() };
        if let Some(work) = work
            && let Err(panic) = catch_unwind(AssertUnwindSafe(work))
        {
            *lock(&self.panic) = Some(panic);
        }
        let before = self.state.fetch_sub(1, order);
        if before & (OPEN | WORKERS) == 1 {
            let _guard = lock(&self.asleep);
            self.done.notify_one();
        }
        Some(state & !(NUMBER - 1))
    }
}

/// Waits a while for a condition; false when it has not come.
fn spin_until(condition: impl Fn() -> bool) -> bool {
    (0..SPINS).any(|_| {
        let is_met = condition();
        if !is_met {
            std::hint::spin_loop();
        }
        is_met
    })
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn wait<'a>(condition: &Condvar, guard: MutexGuard<'a, ()>) -> MutexGuard<'a, ()> {
    condition
        .wait(guard)
        .unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::{NUMBER, OPEN, Shared, Team, lock};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// A team as a child of `fork` finds it: of another process, its lock held by a worker that is not there.
    #[test]
    fn a_forked_process_works_alone() {
        let team = Team::of_process(1, std::process::id().wrapping_add(1)).expect("a thread");
        let shared = Arc::clone(&team.shared);
        while shared.sleepers.load(Ordering::SeqCst) == 0 {
            std::thread::yield_now();
        }
        let held = lock(&shared.asleep);
        let runs = AtomicUsize::new(0);
        team.run(1, &|| {
            runs.fetch_add(1, Ordering::Relaxed);
        });
        drop(team);
        assert_eq!(runs.into_inner(), 1);
        drop(held);
    }

    /// A worker comes late: the closure may have closed, or be the one that it has just left.
    #[test]
    fn only_a_closure_that_is_open_and_new_is_entered() {
        let shared = Shared::idle(std::process::id());
        for (state, last, entered) in [
            (0, 0, None),
            (NUMBER, 0, None),
            (NUMBER | 3, 0, None),
            (NUMBER | OPEN, NUMBER, None),
            (NUMBER | OPEN, 0, Some(NUMBER)),
            ((2 * NUMBER) | OPEN | 1, NUMBER, Some(2 * NUMBER)),
        ] {
            shared.state.store(state, Ordering::SeqCst);
            assert_eq!(
                shared.is_open(last),
                entered.is_some(),
                "{state:x} {last:x}"
            );
            assert_eq!(shared.enter(last), entered, "{state:x} {last:x}");
            // Whoever enters leaves.
            assert_eq!(shared.state.load(Ordering::SeqCst), state);
        }
    }
}
