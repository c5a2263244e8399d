//! `ch train`, `test` and `predict` as a user types them: files, results and exit codes.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod commands;
mod folder;

use commands::Workspace;
use serde_json::Value as Json;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

#[test]
fn training_leaves_checkpoints_logs_and_a_result_that_test_confirms() {
    let workspace = Workspace::new("train");
    let result = workspace.json(
        "train jsc-tiny jsc-sim --max-epochs 3 --batch-size 256 --learning-rate 1e-2 --project p",
    );
    assert_eq!(result["ending"], "done");
    assert_eq!(result["parameters"], 117);
    let software = workspace.0.join("mase_output/p/software");
    for file in [
        "training_ckpts/best.ckpt",
        "training_ckpts/last.ckpt",
        "metrics.csv",
        "run.json",
        "tensorboard/version_0",
    ] {
        assert!(software.join(file).exists(), "{file}");
    }
    let best = result["best"].as_str().unwrap();
    let test = workspace.json(&format!("test jsc-tiny jsc-sim --load {best}"));
    assert!(test["test_acc_epoch"].as_f64().unwrap() > 0.55, "{test}");
    assert_eq!(test["rows"], 20_000);
    let shown = workspace.run(&format!("test jsc-tiny jsc-sim --load {best} --quiet"));
    assert!(String::from_utf8_lossy(&shown.stdout).contains("test_acc_epoch"));
}

/// The text of a cell of a log, by the name of its column.
fn cell<'a>(header: &str, line: &'a str, column: &str) -> &'a str {
    let place = header.split(',').position(|name| name == column).unwrap();
    line.split(',').nth(place).unwrap()
}

#[test]
fn epochs_are_logged_and_drawn_with_training_beside_validation_also_when_resumed() {
    let workspace = Workspace::new("curves");
    let line = "train jsc-tiny jsc-sim --batch-size 512 --learning-rate 1e-2 --t-max 3 --project";
    let output = workspace.run(&format!("{line} p --max-epochs 3"));
    let printed = String::from_utf8(output.stdout).unwrap();
    let read = |project: &str, file: &str| {
        let software = workspace
            .0
            .join("mase_output")
            .join(project)
            .join("software");
        fs::read_to_string(software.join(file)).unwrap()
    };
    let log = read("p", "metrics.csv");
    let (header, lines) = log.split_once('\n').unwrap();
    assert!(header.ends_with(",train_loss,train_acc"), "{header}");
    let epochs = lines
        .lines()
        .filter(|line| !cell(header, line, "val_loss_epoch").is_empty());
    let shown = printed.lines().filter(|line| line.starts_with("epoch "));
    let mut count = 0;
    for (line, shown) in epochs.zip(shown) {
        for column in ["train_loss", "train_acc", "val_loss_epoch", "val_acc_epoch"] {
            let value: f64 = cell(header, line, column).parse().unwrap();
            assert!(
                shown.contains(&format!("{column} {value:.4}")),
                "{shown}: {line}"
            );
        }
        count += 1;
    }
    assert_eq!(count, 3);
    workspace.json(&format!("{line} q --max-epochs 2"));
    workspace.json("train --resume=mase_output/q --max-epochs 3");
    for file in ["curves.svg", "accuracy.svg"] {
        let drawn = read("p", file);
        for word in ["training", "validation", "best: epoch "] {
            assert!(drawn.contains(word), "{file}: {word}");
        }
        assert_eq!(drawn, read("q", file), "{file} of a resumed run");
    }
}

#[test]
fn the_same_seed_gives_the_same_weights_on_one_and_two_threads() {
    let workspace = Workspace::new("seed");
    let hash = |options: &str| {
        workspace.json(&format!("train jsc-toy jsc-sim --max-epochs 1 {options}"))["weights_hash"]
            .clone()
    };
    assert_eq!(hash("--cpu 1"), hash("--cpu=2"));
    assert_ne!(hash("--seed 1"), hash("--seed 2"));
}

#[test]
fn runs_of_a_day_are_never_mixed() {
    let workspace = Workspace::new("folders");
    for _ in 0..3 {
        workspace.json("train jsc-tiny jsc-sim --max-epochs 1");
    }
    let mut names: Vec<String> = fs::read_dir(workspace.0.join("mase_output"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names.len(), 3);
    assert!(
        names[0].starts_with("jsc-tiny_classification_jsc-sim_20"),
        "{names:?}"
    );
    assert!(
        names[1].ends_with("_2") && names[2].ends_with("_3"),
        "{names:?}"
    );
}

#[test]
fn settings_come_from_defaults_then_the_file_then_the_command_line() {
    let workspace = Workspace::new("precedence");
    workspace.write("a.toml", "model = \"jsc-tiny\"\ndataset = \"jsc-sim\"\nmax_epochs = 2\nbatch_size = 512\nseed = 42\nproject = \"NA\"\n");
    let result = workspace.json("train --config a.toml --batch-size 128");
    let config = &result["config"];
    assert_eq!(
        (
            &config["max_epochs"],
            &config["batch_size"],
            &config["seed"]
        ),
        (&Json::from(2), &Json::from(128), &Json::from(42))
    );
    let shown = workspace.run("train --config a.toml --seed 0 --max-epochs 1");
    let text = String::from_utf8(shown.stdout).unwrap();
    let row = text.lines().find(|line| line.starts_with("seed ")).unwrap();
    assert_eq!(
        row.split_whitespace().collect::<Vec<_>>(),
        ["seed", "0", "42", "0", "0"]
    );
}

#[test]
fn own_networks_train_from_their_text() {
    let workspace = Workspace::new("own");
    workspace.write(
        "my_net.mg",
        "graph \"mine\" { x: f32[N, 16] = placeholder l = linear(x) { target = \"l\", in_features = 16, out_features = 5 } return l }",
    );
    let result = workspace.json("train my_net.mg jsc-sim --max-epochs 1 --learning-rate 1e-2");
    assert_eq!(result["parameters"], 85);
    workspace.json(&format!(
        "test my_net.mg jsc-sim --load {}",
        result["best"].as_str().unwrap()
    ));
}

#[test]
fn predictions_are_written_as_an_array_and_repeat() {
    let workspace = Workspace::new("predict");
    let result = workspace.json("predict jsc-tiny jsc-sim --out y.npy --split val");
    assert_eq!(
        (&result["rows"], &result["width"]),
        (&Json::from(10_000), &Json::from(5))
    );
    let first = fs::read(workspace.0.join("y.npy")).unwrap();
    workspace.json("predict jsc-tiny jsc-sim --out y.npy --split val");
    assert_eq!(first, fs::read(workspace.0.join("y.npy")).unwrap());
    let error = workspace.error("predict jsc-tiny y.npy --out z.npy --quiet", 2);
    assert!(
        error.contains("rows have 5 values, but the network takes 16"),
        "{error}"
    );
    let error = workspace.error("predict jsc-tiny jsc-sim --out z.npy --integer --quiet", 2);
    assert!(error.contains("cannot run in integers"), "{error}");
}

#[test]
fn a_sweep_prints_one_table_and_writes_csv_markdown_and_a_chart() {
    let workspace = Workspace::new("sweep");
    let rows = workspace.json("train jsc-tiny jsc-sim --max-epochs 1 --sweep learning_rate=0.1,1e-3 --sweep batch-size=256,1024");
    assert_eq!(rows.as_array().unwrap().len(), 4);
    for file in ["sweep.csv", "sweep.md", "sweep.svg"] {
        assert!(workspace.software().join(file).exists(), "{file}");
    }
    let chart = fs::read_to_string(workspace.software().join("sweep.svg")).unwrap();
    assert!(chart.contains("Validation loss (solid) and training loss (dashed)"));
    assert!(
        chart.contains(">0.001<") || chart.contains(">1e-3<"),
        "{chart}"
    );
    let error = workspace.error("train jsc-tiny jsc-sim --sweep learning_rat=1 --quiet", 2);
    assert!(error.contains("did you mean 'learning_rate'"), "{error}");
}

/// A combination that leaves the numbers has no weights to test; the others are tested as ever.
#[test]
fn a_sweep_goes_on_past_a_run_that_diverges() {
    let workspace = Workspace::new("sweep_diverged");
    let output = workspace.run("train jsc-tiny jsc-sim --max-epochs 1 --max-steps 20 --training-optimizer sgd --sweep learning_rate=1e30,1e-3 --json --quiet");
    assert_eq!(output.status.code(), Some(1));
    let rows: Json = serde_json::from_slice(&output.stdout).unwrap();
    let facts = |row: &Json| {
        let is_measured = ["val_loss_epoch", "test_loss_epoch"].map(|key| row[key].is_number());
        (row["ending"].clone(), is_measured)
    };
    let facts: Vec<_> = rows.as_array().unwrap().iter().map(facts).collect();
    let expected = [("diverged", [false; 2]), ("done", [true; 2])];
    assert_eq!(
        facts,
        expected.map(|(ending, tests)| (ending.into(), tests))
    );
}

/// The mean of a column of all runs, and the deviation of a sample.
fn spread(rows: &[Json], key: &str) -> String {
    let values: Vec<f64> = rows.iter().map(|row| row[key].as_f64().unwrap()).collect();
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let deviation = (squares / (values.len() - 1) as f64).sqrt();
    format!("{mean:.4} ± {deviation:.4}")
}

#[test]
fn a_sweep_over_seeds_gives_mean_and_deviation() {
    let workspace = Workspace::new("seeds");
    let line = "train jsc-tiny jsc-sim --max-epochs 1 --max-steps 50 --sweep seed=0..3 --sweep learning_rate=0.1,1e-3";
    let rows = workspace.json(line);
    let rows = rows.as_array().unwrap();
    assert_eq!(rows.len(), 8);
    let text = String::from_utf8(workspace.run(&format!("{line} --quiet")).stdout).unwrap();
    for rate in ["0.1", "1e-3"] {
        let own: Vec<Json> = rows
            .iter()
            .filter(|row| row["learning_rate"] == rate)
            .cloned()
            .collect();
        assert_eq!(own.len(), 4);
        assert!(!text.contains("stopped: "), "{text}");
        assert!(text.contains("\nbest: learning_rate "), "{text}");
        assert!(text.contains(", over 4 seeds\n"), "{text}");
        for key in ["val_loss_epoch", "test_acc_epoch"] {
            assert!(text.contains(&spread(&own, key)), "{rate} {key}: {text}");
        }
    }
}

/// Words have points above each, between which there is nothing; a single seed is no setting of the best run.
#[test]
fn a_sweep_over_words_names_the_best_run() {
    let workspace = Workspace::new("sweep_words");
    let output = workspace.run("train jsc-tiny jsc-sim --max-epochs 1 --max-steps 20 --sweep training_optimizer=adam,sgd --sweep seed=3 --quiet");
    let text = String::from_utf8(output.stdout).unwrap();
    let best = text
        .lines()
        .find(|line| line.starts_with("best: "))
        .unwrap();
    assert!(
        best.starts_with("best: training_optimizer adam, seed 3: val_loss_epoch "),
        "{best}"
    );
    assert!(best.ends_with(", in run_1"), "{best}");
    let chart = fs::read_to_string(workspace.software().join("sweep.svg")).unwrap();
    assert!(chart.contains("Validation loss (dark) and training loss (light)"));
    assert!(
        chart.contains(">adam<") && chart.contains(">sgd<"),
        "{chart}"
    );
}

/// What is printed as an error is in words: `1 to 64`, not the syntax of a range.
#[test]
fn no_printed_error_has_a_range_in_program_syntax() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/cli");
    let mut errors = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        for line in text
            .lines()
            .filter(|line| line.contains("error: ") || line.contains(" is outside "))
        {
            assert!(!line.contains(".."), "{}: {line}", path.display());
            errors += 1;
        }
    }
    assert!(errors > 20, "only {errors} errors");
}

#[test]
fn outputs_that_a_last_relu_kills_are_noted_after_training() {
    let workspace = Workspace::new("dead");
    workspace.write(
        "dead.mg",
        "graph \"dead\" { x: f32[N, 16] = placeholder l = linear(x) { target = \"l\", in_features = 16, out_features = 5 } r = relu(l) { target = \"r\" } return r }",
    );
    // A rate this large throws outputs below zero for good.
    let output = workspace
        .run("train dead.mg jsc-sim --max-epochs 1 --learning-rate 30 --training-optimizer sgd");
    let notes = String::from_utf8(output.stderr).unwrap();
    assert!(
        notes.contains(" 0 on every row: r ends the network in a ReLU that no row passes"),
        "{notes}"
    );
}

#[test]
fn hints_are_quoted_and_keep_the_folder_of_data() {
    let workspace = Workspace::new("hints");
    fs::create_dir(workspace.0.join("my-data")).unwrap();
    let mut command =
        workspace.command("train jsc-tiny jsc-sim --max-epochs 1 --quiet --data-dir my-data");
    let output = command.args(["--project-dir", "my runs"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let hint = text
        .lines()
        .find(|line| line.starts_with("test it: "))
        .unwrap();
    assert!(
        hint.contains("--load 'my runs/") && hint.ends_with(" --data-dir my-data"),
        "{hint}"
    );
    let mut child = workspace
        .command("train jsc-s jsc-sim --max-epochs 300 --quiet --project p")
        .args(["--project-dir", "my runs"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    while !workspace
        .0
        .join("my runs/p/software/training_ckpts/last.ckpt")
        .exists()
    {
        assert!(child.try_wait().unwrap().is_none(), "the run ended");
        std::thread::yield_now();
    }
    let kill = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(kill.unwrap().success());
    let text = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
    assert!(
        text.contains("go on with ch train --resume='my runs/p'\n"),
        "{text}"
    );
}

/// Wrong commands, each with what its one sentence must say.
const MISTAKES: &[(&str, &str)] = &[
    (
        "train jsc-tni jsc-sim",
        "unknown model 'jsc-tni'; did you mean 'jsc-tiny'",
    ),
    (
        "train jsc-tiny jsc-smi",
        "unknown dataset 'jsc-smi'; did you mean 'jsc-sim'",
    ),
    ("train jsc-tiny", "no dataset given"),
    (
        "train jsc-tiny jsc-sim --batchsize 4",
        "did you mean '--batch-size'",
    ),
    (
        "train jsc-tiny jsc-sim --batch-size 0",
        "--batch-size: 0 is below 1",
    ),
    (
        "train jsc-tiny jsc-sim --learning-rate nan",
        "not a finite number",
    ),
    (
        "train jsc-tiny jsc-sim --accelerator gpu",
        "there is no GPU back end",
    ),
    ("train --config bad.toml", "3 problems in bad.toml"),
    ("train --config none.toml", "there is no file none.toml"),
    ("train lenet5 jsc-sim --quiet", "lenet5"),
    (
        "test jsc-tiny jsc-sim --load broken.ckpt --quiet",
        "broken.ckpt: is not a checkpoint",
    ),
    (
        "test jsc-tiny jsc-sim --load none.ckpt --quiet",
        "none.ckpt",
    ),
    ("train jsc-tiny jsc-sim --resume", "nothing to resume"),
    (
        "train jsc-sim jsc-tiny",
        "'jsc-sim' is a dataset and 'jsc-tiny' a model; the model comes first",
    ),
    ("train jsc-tiny jsc-sim more", "unexpected argument 'more'"),
    ("train", "no model given"),
    (
        "train jsc-tiny jsc-sim --seed 99999999999999999999",
        "--seed: 99999999999999999999 is above",
    ),
    (
        "train jsc-tiny jsc-sim --sweep dataset=jsc,mnist",
        "a sweep cannot vary 'dataset'; it can vary model",
    ),
    (
        "train jsc-tiny jsc-sim --sweep seed=1 --sweep seed=2",
        "seed is swept twice",
    ),
    (
        "train jsc-tiny jsc-sim --sweep batch_size=64,0",
        "--batch-size: 0 is below 1",
    ),
    (
        "train jsc-tiny jsc-sim --sweep seed=1,2 --resume",
        "cannot be used with",
    ),
    (
        "train jsc-tiny nan.csv:c --quiet",
        "nan.csv: row 3, column 'a': 'nan' is not a finite float32",
    ),
    (
        "train jsc-tiny nan.csv:d --quiet",
        "nan.csv: has no column 'd'",
    ),
    (
        "train jsc-tiny cut.csv:c --quiet",
        "cut.csv: row 2 has 1 cell",
    ),
    ("train jsc-tiny one.csv:c --quiet", "one.csv: "),
    (
        "train jsc-tiny none.csv:c --quiet",
        "there is no file none.csv; did you mean 'one.csv'",
    ),
    (
        "predict jsc-tiny jsc-sim --out none/y.npy --quiet",
        "--out none/y.npy: there is no folder none",
    ),
    ("predict jsc-tiny jsc-sim", "--out <Y.csv>"),
    (
        "compare a.mz b.mz jsc-sim --num-samples 0",
        "it is not a whole number from 1 to 1000000",
    ),
    (
        "show jsc-tiny --batch-size 0",
        "it is not a whole number from 1 to 4294967295",
    ),
    (
        "search --config bad.toml --n-trials 0",
        "it is not a whole number of at least 1",
    ),
    (
        "train wide.mg jsc-sim --quiet",
        "integer: width 65 is outside 1 to 64",
    ),
    (
        "train jsc-tiny jsc-sim --project-dir bad.toml --quiet",
        "cannot make the folder bad.toml",
    ),
];

#[test]
fn mistakes_are_answered_in_a_sentence() {
    let workspace = Workspace::new("mistakes");
    workspace.write(
        "bad.toml",
        "model = \"jsc-tiny\"\nbatch_sise = 4\nlearning_rate = \"x\"\nseed = -1\n",
    );
    workspace.write("broken.ckpt", "no checkpoint");
    workspace.write("nan.csv", "a,c\n1,x\n2,y\nnan,x\n");
    workspace.write("cut.csv", "a,c\n1,x\n2");
    workspace.write("one.csv", &("a,c\n".to_owned() + &"1,x\n2,x\n".repeat(20)));
    workspace.write(
        "wide.mg",
        "graph \"w\" { x: f32[N, 16] = placeholder l = linear(x) { target = \"l\", in_features = 16, out_features = 5, weight: integer(65, 4) } return l }",
    );
    for (line, expected) in MISTAKES {
        let error = workspace.error(line, 2);
        assert!(!error.contains(".."), "{line}: {error}");
        assert!(
            error.starts_with("error: ") && error.contains(expected),
            "{line}: {error}"
        );
    }
    let diverged = workspace.run("train jsc-tiny jsc-sim --learning-rate 1e30 --training-optimizer sgd --quiet --max-epochs 3");
    assert_eq!(diverged.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&diverged.stdout).contains("diverged"));
}

#[test]
fn a_checkpoint_of_another_model_is_refused_with_every_difference() {
    let workspace = Workspace::new("other");
    let result = workspace.json("train jsc-tiny jsc-sim --max-epochs 1");
    let best = result["best"].as_str().unwrap();
    let error = workspace.error(&format!("test jsc-toy jsc-sim --load {best} --quiet"), 2);
    assert!(error.contains("16 missing, 2 of another shape"), "{error}");
    assert_eq!(error.matches("missing seq_blocks.").count(), 16, "{error}");
}

#[test]
fn levels_print_more_or_less_and_settings_without_effect_are_named() {
    let workspace = Workspace::new("levels");
    let run = |options: &str| {
        let output = workspace.run(&format!("train jsc-tiny jsc-sim --max-epochs 1 {options}"));
        assert!(output.status.success(), "{options}");
        [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap())
    };
    let [stdout, _] = run("--debug");
    assert!(stdout.contains("debug: wrote ") && stdout.contains("best.ckpt"));
    let [stdout, notes] = run("--trainer-precision 16-mixed");
    assert!(stdout.contains("epoch 1/1") && !stdout.contains("debug: "));
    assert!(notes.contains("note: trainer_precision 16-mixed has no effect"));
    let [stdout, notes] = run("--trainer-precision 16-mixed --log-level warning");
    assert!(!stdout.contains("epoch 1/1") && notes.contains("note: "));
    let [stdout, notes] = run("--trainer-precision 16-mixed --log-level error");
    assert!(stdout.starts_with("trained 1 epoch") && notes.is_empty());
    let tested = workspace.run("test jsc-tiny jsc-sim --max-epochs 3");
    let notes = String::from_utf8(tested.stderr).unwrap();
    assert!(
        notes.contains("--max-epochs has no effect on this action"),
        "{notes}"
    );
}

#[test]
fn a_run_records_what_made_it() {
    let workspace = Workspace::new("facts");
    let config = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../configs/jsc_tiny_train.toml");
    let result = workspace.json(&format!(
        "train --config {} --max-epochs 1",
        config.display()
    ));
    let text = fs::read_to_string(workspace.software().join("run.json")).unwrap();
    let facts: Json = serde_json::from_str(&text).unwrap();
    assert_eq!(facts, result);
    assert_eq!(facts["seed"], 42);
    assert_eq!(facts["config"]["learning_rate"], 0.01);
    for key in ["version", "machine", "started", "ended", "weights_hash"] {
        assert!(facts[key].is_string(), "{key}");
    }
    assert!(facts["dataset"]["hash"].is_string());
}

#[test]
fn a_quantised_network_learns_and_keeps_its_formats() {
    let workspace = Workspace::new("quantised");
    let config =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../configs/examples/jsc_toy_by_type.toml");
    let graph = workspace.json(&format!(
        "transform --config {} --project q",
        config.display()
    ))["graph"]
        .clone();
    let line = "train jsc-toy jsc-sim --max-epochs 1 --learning-rate 1e-2 --project t --load";
    workspace.json(&format!("{line} {}", graph.as_str().unwrap()));
    let trained = "mase_output/t/software/training_ckpts/best.mz";
    let shown = String::from_utf8(workspace.run(&format!("show {trained}")).stdout).unwrap();
    assert!(shown.contains("integer(8, 4)"), "{shown}");
    let by_load = workspace.json(&format!("test jsc-toy jsc-sim --load {trained}"));
    assert!(by_load["test_acc_epoch"].as_f64() > Some(0.4));
    assert_eq!(by_load, workspace.json(&format!("test {trained} jsc-sim")));
    let error = workspace.error(
        &format!("test jsc-tiny jsc-sim --quiet --load {trained}"),
        2,
    );
    assert!(
        error.contains("holds the graph of jsc-toy, not of jsc-tiny"),
        "{error}"
    );
}

const ADAPTED: &str = "graph \"adapted\" {
  x: f32[N, 16] = placeholder
  fc = linear(x) { target = \"fc\", in_features = 16, out_features = 5 }
  fc_lora_a = linear(x) { target = \"fc.lora_A\", in_features = 16, out_features = 2, bias = false }
  fc_lora_b = linear(fc_lora_a) { target = \"fc.lora_B\", in_features = 2, out_features = 5, bias = false }
  fc_lora_add = add(fc, fc_lora_b)
  return fc_lora_add
}";

/// The bits of the values of a checkpoint's tensor.
fn bits(checkpoint: &Path, name: &str) -> Vec<u32> {
    let tensors = interop::checkpoint::read(checkpoint, None).unwrap().tensors;
    let tensor = tensors.iter().find(|tensor| tensor.name == name).unwrap();
    tensor.values.iter().map(|v| v.to_bits()).collect()
}

#[test]
fn adapters_are_trained_alone_unless_the_base_is_wanted() {
    let workspace = Workspace::new("adapters");
    workspace.write("net.mg", ADAPTED);
    let train = |project: &str, options: &str| {
        let line = "train net.mg jsc-sim --max-epochs 1 --max-steps 20 --training-optimizer adamw --weight-decay 0.1";
        let output = workspace.run(&format!("{line} --project {project} {options}"));
        let notes = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{notes}");
        notes
    };
    let last = |project: &str, name: &str| {
        let folder = workspace.0.join("mase_output").join(project);
        bits(&folder.join("software/training_ckpts/last.ckpt"), name)
    };
    let notes = train("slow", "--learning-rate 1e-4");
    let note = "only the low-rank adapters are trained, 42 of 127 parameters";
    assert!(notes.contains(note), "{notes}");
    train("fast", "--learning-rate 1e-1");
    let notes = train("base", "--learning-rate 1e-1 --train-base");
    assert!(!notes.contains("adapters"), "{notes}");
    for name in ["fc.weight", "fc.bias"] {
        let slow = last("slow", name);
        assert_eq!(slow, last("fast", name), "{name}");
        assert_ne!(slow, last("base", name), "{name}");
    }
    assert_ne!(
        last("slow", "fc.lora_A.weight"),
        last("fast", "fc.lora_A.weight")
    );
    let resume = "train --resume=mase_output/slow --max-epochs 2 --max-steps 40";
    let error = workspace.error(&format!("{resume} --quiet --train-base"), 2);
    assert!(error.contains("train_base is false"), "{error}");
    assert!(workspace.run(resume).status.success());
    assert_eq!(last("slow", "fc.weight"), last("fast", "fc.weight"));
}
