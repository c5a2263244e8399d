//! Wall time and CPU time of this process.

use anyhow::{Context, Result};
use std::time::Instant;

/// Seconds spent on a piece of work.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spent {
    /// Of the clock on the wall.
    pub wall: f64,
    /// Of all threads together.
    pub cpu: f64,
}

impl Spent {
    /// Longer than any measurement: the start of a search for the best.
    pub const FOREVER: Self = Self {
        wall: f64::MAX,
        cpu: f64::MAX,
    };

    /// The smaller of each.
    #[must_use]
    pub fn best(self, other: Self) -> Self {
        Self {
            wall: self.wall.min(other.wall),
            cpu: self.cpu.min(other.cpu),
        }
    }

    /// Divided by a number of repetitions.
    #[must_use]
    pub fn per(self, n: usize) -> Self {
        Self {
            wall: self.wall / n as f64,
            cpu: self.cpu / n as f64,
        }
    }
}

/// The time that `work` takes.
pub fn time(work: impl FnOnce()) -> Spent {
    let (cpu, wall) = (cpu_seconds(), Instant::now());
    work();
    Spent {
        wall: wall.elapsed().as_secs_f64(),
        cpu: cpu_seconds() - cpu,
    }
}

/// The time of one of `runs` repetitions of work that may fail.
pub fn time_each(runs: usize, mut work: impl FnMut() -> Result<()>) -> Result<Spent> {
    let mut outcome = Ok(());
    let spent = time(|| outcome = (0..runs).try_for_each(|_| work()));
    outcome.map(|()| spent.per(runs))
}

/// CPU seconds of all threads of this process.
fn cpu_seconds() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// CPU seconds of all programs that this process has started and that have ended, and of theirs.
pub fn children_seconds() -> Result<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").context("CPU time of children")?;
    // Behind the name, which may hold anything, are the state and then numbers: cutime and cstime are the 14th and 15th.
    let fields = stat.rsplit_once(')').map_or("", |parts| parts.1);
    let ticks = fields.split_whitespace().skip(13).take(2);
    let ticks: Option<Vec<f64>> = ticks.map(|field| field.parse().ok()).collect();
    let ticks = ticks.context("CPU time of children")?;
    Ok(ticks.iter().sum::<f64>() / rustix::param::clock_ticks_per_second() as f64)
}
