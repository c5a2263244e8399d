//! TensorBoard's own reader understands our event files. Needs a Python with tensorboard, named by `$BENCH_PYTHON`.

use std::path::Path;
use std::process::Command;
use train::tensorboard::EventFile;

const READ: &str = "
import sys
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
events = EventAccumulator(sys.argv[1])
events.Reload()
for tag in sorted(events.Tags()['scalars']):
    print(tag, [(s.step, s.value) for s in events.Scalars(tag)])
";

/// TensorBoard reads the files of a folder in the order of their names.
#[test]
fn names_are_in_the_order_of_steps_and_then_of_making() {
    let folder = std::env::temp_dir().join(format!("mase-names-{}", std::process::id()));
    let made: Vec<String> = [0, 9, 10, 10, 10, 2_000_000_000_000]
        .map(|step| {
            let before = names(&folder);
            EventFile::create(&folder, step).unwrap();
            let new = names(&folder).into_iter().find(|n| !before.contains(n));
            new.unwrap()
        })
        .to_vec();
    let sorted = names(&folder);
    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!(made, sorted);
    assert!(made.iter().all(|name| name.contains("tfevents")));
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    let mut names: Vec<String> = entries
        .map(|entry| {
            entry
                .expect("a folder")
                .file_name()
                .into_string()
                .expect("UTF-8")
        })
        .collect();
    names.sort();
    names
}

#[test]
fn tensorboard_reads_what_we_write() {
    let Some(python) = std::env::var_os("BENCH_PYTHON") else {
        eprintln!("skipped: set BENCH_PYTHON to a Python that has tensorboard");
        return;
    };
    let folder = std::env::temp_dir().join(format!("mase-tensorboard-{}", std::process::id()));
    let mut first = EventFile::create(&folder, 0).unwrap();
    for step in 1..=4 {
        first.scalar("loss", step, 1.0 / step as f32);
    }
    first.scalar("accuracy", 4, 0.75);
    first.flush().unwrap();
    // A run that goes on from step 2 replaces what an earlier one said about later steps.
    let mut second = EventFile::create(&folder, 2).unwrap();
    second.scalar("loss", 3, 5.0);
    second.flush().unwrap();
    // Killed before its next checkpoint, it goes on from there once more, and then from further on.
    let mut third = EventFile::create(&folder, 2).unwrap();
    third.scalar("loss", 3, 0.25);
    third.scalar("loss", 10, 0.125);
    third.flush().unwrap();
    let mut fourth = EventFile::create(&folder, 10).unwrap();
    fourth.scalar("loss", 11, 0.0625);
    fourth.flush().unwrap();
    let output = Command::new(python)
        .args(["-c", READ])
        .arg(&folder)
        .output()
        .unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(
        text,
        "accuracy []\nloss [(1, 1.0), (2, 0.5), (3, 0.25), (10, 0.125), (11, 0.0625)]\n",
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}
