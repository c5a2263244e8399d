//! TensorBoard's own reader understands our event files. Needs a Python with tensorboard, named by `$BENCH_PYTHON`.

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
    let output = Command::new(python)
        .args(["-c", READ])
        .arg(&folder)
        .output()
        .unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(
        text,
        "accuracy []\nloss [(1, 1.0), (2, 0.5), (3, 5.0)]\n",
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}
