//! Files of a run that were cut, damaged or replaced, and names that lead elsewhere.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod commands;
mod folder;

use commands::Workspace;
use std::fs;
use std::path::PathBuf;

/// A run of 40 steps with lines at every fifth, and its log.
fn trained(name: &str) -> (Workspace, PathBuf, String) {
    let workspace = Workspace::new(name);
    workspace.json(
        "train jsc-tiny jsc-sim --max-epochs 1 --max-steps 40 --log-every-n-steps 5 --project p",
    );
    let log = workspace.software().join("metrics.csv");
    let text = fs::read_to_string(&log).unwrap();
    (workspace, log, text)
}

const MORE: &str = "train --resume=mase_output/p --max-steps 60";

#[test]
fn a_line_that_was_cut_does_not_survive() {
    let (workspace, log, text) = trained("cut");
    let last = text.trim_end().rfind('\n').unwrap() + 1;
    for (k, cut) in [last + 1, last + 4, text.len() - 1].into_iter().enumerate() {
        fs::write(&log, &text[..cut]).unwrap();
        let steps = 60 + 20 * k;
        workspace.json(&format!("train --resume=mase_output/p --max-steps {steps}"));
        let after = fs::read_to_string(&log).unwrap();
        assert!(after.starts_with(&text[..last]), "cut at {cut}: {after}");
        let columns = |line: &str| line.split(',').count();
        let expected = columns(text.lines().next().unwrap());
        for line in after.lines() {
            assert_eq!(columns(line), expected, "cut at {cut}: {line}");
        }
        let cut_line = &text[last..cut];
        assert!(!after.lines().any(|line| line == cut_line), "{after}");
    }
}

#[test]
fn a_damaged_line_is_an_error_with_its_place() {
    let (workspace, log, text) = trained("damaged");
    let second = text.match_indices('\n').nth(1).unwrap().0 + 1;
    let replaced = |with: &[u8]| {
        let mut bytes = text.as_bytes().to_vec();
        bytes.splice(second..second + 3, with.iter().copied());
        bytes
    };
    for (with, expected) in [
        (&b"0,\xff"[..], "metrics.csv: line 3 is not UTF-8 at byte 3"),
        (b"0", "metrics.csv: line 3 is not a line of metrics"),
        (b"a,1", "metrics.csv: line 3 is not a line of metrics"),
        (b"0,x", "metrics.csv: line 3 is not a line of metrics"),
    ] {
        let damaged = replaced(with);
        fs::write(&log, &damaged).unwrap();
        let error = workspace.error(&format!("{MORE} --quiet"), 2);
        assert!(error.contains(expected), "{error}");
        assert_eq!(fs::read(&log).unwrap(), damaged, "nothing is lost");
    }
}

#[test]
fn temporary_files_of_a_killed_run_are_removed_and_others_stay() {
    let (workspace, _, _) = trained("temporary");
    let software = workspace.software();
    let left = [
        ".run.json.4711.tmp",
        "training_ckpts/.last.ckpt.4711.tmp",
        "tensorboard/.x.1.tmp",
    ];
    let own = ["notes.tmp", ".mine.tmp", "training_ckpts/own.4711.tmp"];
    for name in left.iter().chain(&own) {
        fs::write(software.join(name), "x").unwrap();
    }
    workspace.json(MORE);
    for (names, expected) in [(left, false), (own, true)] {
        for name in names {
            assert_eq!(software.join(name).exists(), expected, "{name}");
        }
    }
}

#[cfg(unix)]
#[test]
fn the_lock_is_neither_truncated_nor_followed() {
    let (workspace, _, _) = trained("lock-file");
    let lock = workspace.software().join(".lock");
    fs::write(&lock, "a word of mine").unwrap();
    workspace.json(MORE);
    assert_eq!(fs::read_to_string(&lock).unwrap(), "a word of mine");
    fs::remove_file(&lock).unwrap();
    workspace.write("precious.txt", "precious");
    for target in ["precious.txt", "not-there.txt"] {
        std::os::unix::fs::symlink(workspace.0.join(target), &lock).unwrap();
        let error = workspace.error(&format!("{MORE} --quiet"), 2);
        assert!(error.contains(".lock is not a file; remove it"), "{error}");
        fs::remove_file(&lock).unwrap();
    }
    let precious = fs::read_to_string(workspace.0.join("precious.txt")).unwrap();
    assert_eq!(precious, "precious");
    assert!(!workspace.0.join("not-there.txt").exists());
}

#[test]
fn a_project_stays_in_its_folder() {
    let workspace = Workspace::new("project");
    let absolute = workspace.0.join("away").display().to_string();
    for name in ["../x", "..", ".", "a/b", "a/", absolute.as_str()] {
        let line = format!("train jsc-tiny jsc-sim --max-steps 1 --quiet --project {name}");
        let error = workspace.error(&line, 2);
        assert!(
            error.contains("is not the name of one folder; name the folder above it"),
            "{name}: {error}"
        );
    }
    assert_eq!(fs::read_dir(&*workspace.0).unwrap().count(), 0);
    workspace.write(
        "a.toml",
        "model = \"jsc-tiny\"\ndataset = \"jsc-sim\"\nproject = \"../x\"\n",
    );
    let error = workspace.error("train --config a.toml --quiet", 2);
    assert!(error.contains("is not the name of one folder"), "{error}");
}
