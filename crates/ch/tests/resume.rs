//! Runs that are stopped, killed or cut, and what `ch train --resume` makes of them.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod commands;
mod folder;

use commands::Workspace;
use serde_json::Value as Json;
use std::fs;
use std::process::{Command, Stdio};

/// Waits until a run has come far enough to leave `file` in its folder.
fn wait_for(workspace: &Workspace, file: &str) {
    let is_there = || {
        workspace
            .0
            .join("mase_output/p/software")
            .join(file)
            .exists()
    };
    for _ in 0..4000 {
        if is_there() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    panic!("{file} never appeared");
}

#[test]
fn a_run_that_is_killed_and_resumed_ends_with_the_weights_of_one_that_was_not() {
    let options = "jsc-s jsc-sim --max-epochs 30 --learning-rate 1e-3 --seed 3 --project p";
    let whole = Workspace::new("whole").json(&format!("train {options}"));
    for file in [
        "training_ckpts",
        "run.json",
        "metrics.csv",
        "training_ckpts/last.ckpt",
    ] {
        let workspace = Workspace::new(&format!("killed-at-{}", file.replace('/', "-")));
        let mut child = workspace
            .command(&format!("train {options} --quiet"))
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        wait_for(&workspace, file);
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(
            workspace.json(&format!("train {options} --resume"))["weights_hash"],
            whole["weights_hash"],
            "killed when {file} was there"
        );
    }
}

/// Folders as a kill leaves them before anything is written, from the earliest moment on.
#[test]
fn a_run_that_was_killed_before_it_wrote_anything_begins_again() {
    let options = "jsc-tiny jsc-sim --max-epochs 1 --max-steps 30";
    let whole = Workspace::new("bare-whole").json(&format!("train {options} --project p"));
    for made in [
        "",
        "software",
        "hardware software",
        "hardware software/training_ckpts",
    ] {
        let workspace = Workspace::new(&format!("bare-{}", made.replace([' ', '/'], "-")));
        let run = workspace.0.join("mase_output/p");
        fs::create_dir_all(&run).unwrap();
        for folder in made.split_whitespace() {
            fs::create_dir_all(run.join(folder)).unwrap();
        }
        let error = workspace.error("train --resume=mase_output/p --quiet", 2);
        assert!(
            error.contains("so there is nothing to go on from; give its whole command again: ch train MODEL DATASET"),
            "{made}: {error}"
        );
        let line = format!("train {options} --resume=mase_output/p");
        assert_eq!(workspace.json(&line)["weights_hash"], whole["weights_hash"]);
        let recorded = workspace.json("train --resume=mase_output/p");
        assert_eq!(recorded["weights_hash"], whole["weights_hash"]);
    }
    let workspace = Workspace::new("bare-none");
    let error = workspace.error("train --resume=mase_output/none --quiet", 2);
    assert!(
        error.contains("there is no folder mase_output/none"),
        "{error}"
    );
    fs::write(workspace.0.join("letter.txt"), "dear").unwrap();
    let error = workspace.error("train jsc-tiny jsc-sim --resume=. --quiet", 2);
    assert!(error.contains("is not the folder of a run"), "{error}");
}

#[test]
fn stopping_with_a_signal_leaves_a_checkpoint_to_go_on_from() {
    let options = "jsc-s jsc-sim --max-epochs 30 --seed 3 --project p";
    let workspace = Workspace::new("signal");
    let child = workspace
        .command(&format!("train {options} --json --quiet"))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    wait_for(&workspace, "metrics.csv");
    Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let stopped: Json = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(stopped["ending"], "stopped");
    let resumed = workspace.json(&format!("train {options} --resume"));
    assert_eq!(resumed["ending"], "done");
    let whole = workspace.json("train jsc-s jsc-sim --max-epochs 30 --seed 3 --project q");
    assert_eq!(resumed["weights_hash"], whole["weights_hash"]);
}

#[test]
fn a_log_that_cannot_be_written_is_named_once() {
    let workspace = Workspace::new("unwritable");
    workspace.json("train jsc-tiny jsc-sim --max-epochs 1 --project p");
    let log = workspace.0.join("mase_output/p/software/metrics.csv");
    fs::remove_file(&log).unwrap();
    fs::create_dir(&log).unwrap();
    let line = "train --resume=mase_output/p --max-epochs 2 --quiet";
    let error = workspace.error(line, 2);
    assert!(error.contains("metrics.csv"), "{error}");
    assert_eq!(error.matches("os error").count(), 1, "{error}");
}

#[test]
fn two_runs_cannot_use_one_folder() {
    let workspace = Workspace::new("lock");
    workspace.json("train jsc-tiny jsc-sim --max-epochs 1 --project p");
    let lock = fs::File::create(workspace.0.join("mase_output/p/software/.lock")).unwrap();
    lock.lock().unwrap();
    let error = workspace.error("train jsc-tiny jsc-sim --project p --resume", 2);
    assert!(error.contains("another run is using"), "{error}");
    assert!(workspace.0.exists());
}

/// A limit on the size of files stands in for a full disk: writing fails in the same place.
#[test]
fn a_full_disk_is_an_error_with_the_file_and_the_last_checkpoint_stays() {
    let workspace = Workspace::new("full");
    workspace.json("train jsc-tiny jsc-sim --max-epochs 1 --project p");
    let checkpoints = workspace.0.join("mase_output/p/software/training_ckpts");
    let read = || ["best.ckpt", "last.ckpt"].map(|name| fs::read(checkpoints.join(name)).unwrap());
    let before = read();
    let line = "trap '' XFSZ; ulimit -f 8; exec \"$0\" train --resume=mase_output/p --max-epochs 2 --quiet";
    let output = Command::new("sh")
        .args(["-c", line, env!("CARGO_BIN_EXE_ch")])
        .current_dir(&*workspace.0)
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{error}");
    assert!(
        error.starts_with("error: ") && error.contains("mase_output/p/software"),
        "{error}"
    );
    assert!(read() == before, "a checkpoint was damaged");
}

/// Kills one run again and again, within its epoch too, by what another process would send.
#[test]
fn kills_at_many_moments_of_one_run_change_no_bit() {
    let options = "jsc-tiny jsc-sim --max-epochs 2 --batch-size 64 --learning-rate 1e-2 --seed 5 --project p --save-every-n-steps 20";
    let whole = Workspace::new("undisturbed").json(&format!("train {options}"));
    let workspace = Workspace::new("disturbed");
    let mut kills = 0;
    for round in 0..12 {
        let resume = if round == 0 { "" } else { "--resume" };
        let mut child = workspace
            .command(&format!("train {options} {resume} --quiet"))
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        wait_for(&workspace, "training_ckpts");
        std::thread::sleep(std::time::Duration::from_millis(20 + 61 * round % 170));
        child.kill().unwrap();
        kills += usize::from(!child.wait().unwrap().success());
    }
    let end = workspace.json(&format!("train {options} --resume"));
    assert_eq!(end["weights_hash"], whole["weights_hash"], "{kills} kills");
    assert!(kills >= 3, "only {kills} runs were killed");
    let [log, expected] = [&end, &whole].map(|facts| facts["steps"].clone());
    assert_eq!(log, expected);
}

#[test]
fn a_run_killed_before_it_wrote_anything_starts_from_the_beginning() {
    let workspace = Workspace::new("nothing-yet");
    let options = "jsc-tiny jsc-sim --max-epochs 1 --max-steps 30 --project p";
    let whole = workspace.json(&format!("train {options}"));
    let software = workspace.software();
    for gone in [
        &["training_ckpts/last.ckpt", "training_ckpts/best.ckpt"][..],
        &["training_ckpts/last.ckpt", "run.json", "metrics.csv"],
    ] {
        for file in gone {
            fs::remove_file(software.join(file)).unwrap();
        }
        let output = workspace.run(&format!("train {options} --resume --json"));
        let notes = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{notes}");
        assert!(
            notes.contains("has no checkpoint yet, so that the run starts from the beginning"),
            "{notes}"
        );
        let facts: Json = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(facts["weights_hash"], whole["weights_hash"]);
    }
}

#[test]
fn a_finished_run_is_left_as_it_is() {
    let workspace = Workspace::new("finished");
    let whole = workspace.json("train jsc-tiny jsc-sim --max-epochs 1 --project p");
    let software = workspace.software();
    let read = || {
        let logs = fs::read_dir(software.join("tensorboard/version_0")).unwrap();
        let files = ["run.json", "metrics.csv", "training_ckpts/last.ckpt"];
        (
            logs.count(),
            files.map(|file| fs::read(software.join(file)).unwrap()),
        )
    };
    let before = read();
    let again = workspace.run("train --resume=mase_output/p --quiet");
    let text = String::from_utf8(again.stdout).unwrap();
    assert!(again.status.success(), "{text}");
    assert!(
        text.starts_with("mase_output/p is finished: 1 epoch, 704 steps; it goes on with more"),
        "{text}"
    );
    assert!(text.contains("test it: ch test jsc-tiny jsc-sim"), "{text}");
    assert_eq!(workspace.json("train --resume=mase_output/p"), whole);
    assert!(read() == before, "a finished run was changed");
    let more = workspace.json("train --resume=mase_output/p --max-epochs 2");
    assert_eq!(more["epochs"], 2);
}

/// Changes that a resumed run must refuse, each with what the sentence must say.
const CHANGES: &[(&str, &str)] = &[
    ("--batch-size 64", "batch_size is 512 in "),
    ("--seed 4", "seed is 3 in "),
    ("--no-shuffle", "no_shuffle is false in "),
    (
        "--accumulate-grad-batches 2",
        "accumulate_grad_batches is 1 in ",
    ),
    (
        "--training-optimizer adamw",
        "training_optimizer is adam in ",
    ),
    ("--weight-decay 0.1", "weight_decay is 0.0 in "),
    ("--learning-rate 0.5", "learning_rate is 0.01 in "),
    ("--eta-min 0.001", "eta_min is 1e-6 in "),
    ("--t-max 7", "t_max is 1 in "),
    ("--val-split train", "val_split is held-out in "),
    ("--standardize none", "data_hash is "),
    ("--load other.ckpt", "load_name is not given "),
    (
        "--batch-size 64 --seed 4",
        "and 64 now, seed is 3 there and 4 now",
    ),
];

/// A table of two columns and a label.
fn table(rows: usize, shift: usize) -> String {
    let row = |i: usize| {
        let (a, b) = ((i * 7 + shift) % 13, (i * 5) % 11);
        format!("{a},{b},{}\n", if a > b { "more" } else { "less" })
    };
    (0..rows).fold("a,b,c\n".to_owned(), |text, i| text + &row(i))
}

const OWN: &str = "graph \"mine\" { x: f32[N, 2] = placeholder l = linear(x) { target = \"l\", in_features = 2, out_features = 2 } return l }";

#[test]
fn a_resumed_run_is_the_same_run_or_an_error_with_both_values() {
    let workspace = Workspace::new("same");
    workspace.write("net.mg", OWN);
    workspace.write("a.csv", &table(400, 0));
    let line = "train net.mg a.csv:c --max-epochs 1 --batch-size 512 --learning-rate 1e-2 --seed 3 --project p";
    let made = workspace.json(line);
    fs::copy(
        workspace.0.join(made["last"].as_str().unwrap()),
        workspace.0.join("other.ckpt"),
    )
    .unwrap();
    let software = workspace.software();
    let read = || {
        ["run.json", "metrics.csv", "training_ckpts/last.ckpt"]
            .map(|file| fs::read(software.join(file)).unwrap())
    };
    let before = read();
    let resume = "train --resume=mase_output/p --max-epochs 2 --quiet";
    for (options, expected) in CHANGES {
        let error = workspace.error(&format!("{resume} {options}"), 2);
        assert!(error.contains(expected), "{options}: {error}");
        assert!(error.contains("last.ckpt"), "{options}: {error}");
        assert!(read() == before, "{options} changed a file");
    }
    workspace.write("a.csv", &table(400, 1));
    let error = workspace.error(resume, 2);
    assert!(error.contains("data_hash is "), "{error}");
    assert!(read() == before, "the run was changed by other data");
    workspace.write("a.csv", &table(400, 0));
    workspace.write("net.mg", &OWN.replace("\"l\",", "\"l\", bias = false,"));
    let error = workspace.error(resume, 2);
    assert!(error.contains("graph_hash is "), "{error}");
    workspace.write("net.mg", OWN);
    let output = workspace.run("train --resume=mase_output/p --max-epochs 2 --cpu 2");
    let notes = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{notes}");
    assert!(
        notes.contains("max_epochs 2 instead of 1, num_workers 2 instead of 1"),
        "{notes}"
    );
}

#[test]
fn the_flow_of_a_file_refuses_to_resume_another_run() {
    let workspace = Workspace::new("flow");
    workspace.write("a.toml", "model = \"jsc-tiny\"\ndataset = \"jsc-sim\"\nmax_epochs = 1\nmax_steps = 20\nproject = \"p\"\n");
    workspace.json("run a.toml");
    let error = workspace.error("run a.toml --resume --batch-size 64 --quiet", 2);
    assert!(error.contains("batch_size is 128 in "), "{error}");
    workspace.json("run a.toml --resume");
}

/// A value of `run.json` by hand, and what is said of it.
const RECORDS: &[(&str, &str, &str)] = &[
    ("batch_size", "0", "batch_size: 0 is below 1"),
    (
        "batch_size",
        "1e30",
        "batch_size: '1e+30' is not a whole number",
    ),
    ("batch_size", "null", "batch_size has no value"),
    (
        "accumulate_grad_batches",
        "0",
        "accumulate_grad_batches: 0 is below 1",
    ),
    (
        "learning_rate",
        "\"x\"",
        "learning_rate: 'x' is not a number",
    ),
    (
        "learning_rate",
        "-1",
        "learning_rate: -1 is not a finite number",
    ),
    (
        "max_epochs",
        "[3]",
        "max_epochs: '[3]' is not a whole number",
    ),
    (
        "training_optimizer",
        "7",
        "training_optimizer: '7' is not one of adam",
    ),
    (
        "batchsize",
        "7",
        "unknown setting 'batchsize'; did you mean 'batch_size'",
    ),
    ("learning_rate", "0.5", "learning_rate is 0.00001 in "),
];

#[test]
fn the_record_of_a_run_is_checked_like_options() {
    let workspace = Workspace::new("record");
    workspace.json("train jsc-tiny jsc-sim --max-epochs 1 --max-steps 20 --project p");
    let file = workspace.software().join("run.json");
    let text = fs::read_to_string(&file).unwrap();
    let resume = "train --resume=mase_output/p --max-steps 30 --quiet";
    for (key, value, expected) in RECORDS {
        let mut facts: Json = serde_json::from_str(&text).unwrap();
        facts["config"][key] = serde_json::from_str(value).unwrap();
        fs::write(&file, facts.to_string()).unwrap();
        let error = workspace.error(resume, 2);
        assert!(error.contains(expected), "{key} = {value}: {error}");
        if !expected.ends_with(" in ") {
            assert!(error.contains("run.json: "), "{key} = {value}: {error}");
        }
    }
    for damaged in ["{}", "[]", "{\"config\": 4}"] {
        fs::write(&file, damaged).unwrap();
        let error = workspace.error(resume, 2);
        assert!(error.contains("run.json has no settings"), "{error}");
    }
    fs::write(&file, &text).unwrap();
    workspace.json("train --resume=mase_output/p --max-steps 30");
}
