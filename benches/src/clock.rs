//! Wall time and CPU time of this process.

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

/// Runs `work` and says what it took.
pub fn time(work: impl FnOnce()) -> Spent {
    let (cpu, wall) = (cpu_seconds(), Instant::now());
    work();
    Spent {
        wall: wall.elapsed().as_secs_f64(),
        cpu: cpu_seconds() - cpu,
    }
}

/// CPU seconds of all threads of this process.
fn cpu_seconds() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}
