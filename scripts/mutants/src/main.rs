//! Breaks the sources of crates in small ways and counts the changes that their tests notice.
//!
//! `scripts/mutants.sh` makes a copy of the tree and calls this in it. Changes are those of `cargo mutants --list`, which would
//! build and test the crate anew for each; here all changes of a sample are in one build, behind switches, and a change meets the tests
//! that come by it, shortest first.

mod build;
mod change;
mod switch;
mod tests;

use std::path::Path;
use std::process::{Command, ExitCode};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

use build::Result;
use change::{Change, Selection};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [tree, count, seed, filter, limit, crates @ ..] = arguments.as_slice() else {
        eprintln!("mutants TREE COUNT SEED REGEX SECONDS CRATE...");
        return ExitCode::from(2);
    };
    let (Ok(count), Ok(seed), Ok(limit)) = (count.parse(), seed.parse(), limit.parse()) else {
        return ExitCode::from(2);
    };
    let selection = Selection {
        count,
        seed,
        filter,
    };
    let limit = Duration::from_secs(limit);
    println!(
        "{:<10} {:>6} {:>7} {:>7} {:>9} {:>7}",
        "crate", "tried", "caught", "missed", "left out", "share"
    );
    let mut is_weak = false;
    let mut missed = String::new();
    for package in crates {
        match judge(Path::new(tree), package, &selection, limit) {
            Ok(verdict) => {
                println!("{}", verdict.row(package));
                is_weak |= verdict.missed.len() * 100 > (verdict.missed.len() + verdict.caught) * 5;
                for line in verdict.missed {
                    missed += &format!("{line}\n");
                }
            }
            Err(error) => {
                eprintln!("{package}: {error}");
                return ExitCode::from(2);
            }
        }
    }
    if !missed.is_empty() {
        print!("\nmissed:\n{missed}");
    }
    ExitCode::from(u8::from(is_weak))
}

struct Verdict {
    caught: usize,
    missed: Vec<String>,
    left_out: usize,
}

impl Verdict {
    fn row(&self, package: &str) -> String {
        let (caught, missed) = (self.caught, self.missed.len());
        let tried = caught + missed;
        let share = (100 * caught).checked_div(tried);
        let share = share.map_or("-".into(), |share| format!("{share} %"));
        format!(
            "{package:<10} {tried:>6} {caught:>7} {missed:>7} {:>9} {share:>7}",
            self.left_out
        )
    }
}

fn judge(tree: &Path, package: &str, selection: &Selection, limit: Duration) -> Result<Verdict> {
    let changes = selection.of(list(tree, package, selection.filter)?);
    if changes.is_empty() {
        return Ok(Verdict {
            caught: 0,
            missed: Vec::new(),
            left_out: 0,
        });
    }
    let built = build::build(tree, package, &changes)?;
    let scratch = std::env::temp_dir().join(format!("mutants-{}", std::process::id()));
    std::fs::create_dir_all(&scratch)?;
    let lanes = thread::available_parallelism().map_or(1, usize::from);
    let tests = tests::survey(&built.binaries, &scratch, lanes, limit)?;
    let inside: Vec<&Change> = changes
        .iter()
        .filter(|change| built.inside.contains(&change.number))
        .collect();
    let (next, missed) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for lane in 0..lanes {
            let (next, missed, inside, tests, scratch) =
                (&next, &missed, &inside, &tests, &scratch);
            scope.spawn(move || {
                while let Some(change) = inside.get(next.fetch_add(1, Relaxed)) {
                    let mut near: Vec<_> = tests
                        .iter()
                        .filter(|test| test.reaches.contains(&change.number))
                        .collect();
                    near.sort_by_key(|test| test.takes);
                    let folder = scratch.join(format!("lane{lane}"));
                    if !near
                        .iter()
                        .any(|test| tests::notices(test, change.number, &folder))
                    {
                        let line =
                            format!("{} (of {} tests that come by it)", change.name, near.len());
                        missed
                            .lock()
                            .unwrap_or_else(|e| e.into_inner())
                            .push((change.number, line));
                    }
                }
            });
        }
    });
    let _ = std::fs::remove_dir_all(&scratch);
    let mut missed = missed.into_inner()?;
    missed.sort();
    let missed: Vec<String> = missed.into_iter().map(|(_, line)| line).collect();
    Ok(Verdict {
        caught: inside.len() - missed.len(),
        left_out: changes.len() - inside.len(),
        missed,
    })
}

fn list(tree: &Path, package: &str, filter: &str) -> Result<Vec<Change>> {
    let output = Command::new("cargo")
        .args([
            "mutants",
            "--all-features",
            "--list",
            "--json",
            "--package",
            package,
        ])
        .args(if filter.is_empty() {
            vec![]
        } else {
            vec!["--re", filter]
        })
        .current_dir(tree)
        .output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}
