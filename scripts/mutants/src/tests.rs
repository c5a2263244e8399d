//! The tests of a crate, one by one: how long each takes, and which changes it comes by.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use crate::build::{Binary, Result};

pub struct Test<'a> {
    binary: &'a Binary,
    pub name: String,
    pub takes: Duration,
    pub reaches: BTreeSet<usize>,
}

/// Every test, run alone and without a change. One that fails so, or takes longer than the limit, is left out.
pub fn survey<'a>(
    binaries: &'a [Binary],
    scratch: &Path,
    lanes: usize,
    limit: Duration,
) -> Result<Vec<Test<'a>>> {
    let mut tests = Vec::new();
    for binary in binaries {
        let output = Command::new(&binary.path)
            .args(["--list", "--format", "terse"])
            .current_dir(&binary.folder)
            .output()?;
        let names = String::from_utf8_lossy(&output.stdout).into_owned();
        for name in names.lines().filter_map(|line| line.strip_suffix(": test")) {
            tests.push(Test {
                binary,
                name: name.into(),
                takes: Duration::ZERO,
                reaches: BTreeSet::new(),
            });
        }
    }
    let (next, failed) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let found = Mutex::new(BTreeMap::new());
    thread::scope(|scope| {
        for lane in 0..lanes {
            let (tests, next, failed, found) = (&tests, &next, &failed, &found);
            scope.spawn(move || {
                while let Some((index, test)) = {
                    let index = next.fetch_add(1, Relaxed);
                    tests.get(index).map(|test| (index, test))
                } {
                    let folder = scratch.join(format!("lane{lane}"));
                    let reached = scratch.join(format!("reached{index}"));
                    let _ = fs::remove_file(&reached);
                    let begin = Instant::now();
                    let passes = run(
                        test,
                        &folder,
                        ("MUTANT_REACHED", &reached.display().to_string()),
                        limit,
                    );
                    let takes = begin.elapsed();
                    if passes {
                        let numbers = fs::read_to_string(&reached).unwrap_or_default();
                        let numbers: BTreeSet<usize> = numbers
                            .lines()
                            .filter_map(|line| line.parse().ok())
                            .collect();
                        found
                            .lock()
                            .unwrap_or_else(|e| e.into_inner())
                            .insert(index, (takes, numbers));
                    } else {
                        failed
                            .lock()
                            .unwrap_or_else(|e| e.into_inner())
                            .push(test.name.clone());
                    }
                }
            });
        }
    });
    let failed = failed.into_inner()?;
    if !failed.is_empty() {
        eprintln!(
            "left out, because they fail or take long without any change: {}",
            failed.join(", ")
        );
    }
    for (index, (takes, reaches)) in found.into_inner()? {
        tests[index].takes = takes;
        tests[index].reaches = reaches;
    }
    tests.retain(|test| !test.takes.is_zero());
    Ok(tests)
}

/// Whether a test notices a change; one that takes much longer, or much memory, has.
pub fn notices(test: &Test, number: usize, folder: &Path) -> bool {
    let limit = (test.takes * 5).max(Duration::from_secs(30));
    !run(test, folder, ("MUTANT", &number.to_string()), limit)
}

fn run(test: &Test, folder: &Path, variable: (&str, &str), limit: Duration) -> bool {
    let _ = fs::remove_dir_all(folder);
    let temporary: PathBuf = folder.join("tmp");
    if fs::create_dir_all(&temporary).is_err() {
        return false;
    }
    Command::new("timeout")
        .args([
            "--kill-after=2",
            &limit.as_secs().to_string(),
            "prlimit",
            "--data=8000000000",
            "--core=0",
        ])
        .arg(&test.binary.path)
        .args(["--exact", &test.name])
        .current_dir(&test.binary.folder)
        .env("CARGO_MANIFEST_DIR", &test.binary.folder)
        .env("TMPDIR", &temporary)
        .env(variable.0, variable.1)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}
