//! Checkpoints of others and folders of runs as a user loads and shows them, and networks that do not fit the classes.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod folder;
mod support;

use folder::Folder;
use interop::checkpoint::{self, Checkpoint, Kind, NamedTensor};
use std::fs;
use std::path::Path;
use support::{Printed, ch, words};

const BEST: &str = "mase_output/net/software/training_ckpts/best.ckpt";

/// A folder with a network that was trained for a moment.
fn trained(name: &str) -> Folder {
    let folder = Folder::new(&format!("checkpoints_{name}"));
    let line = "train jsc-tiny jsc-sim --max-steps 20 --learning-rate 1e-2 --project net --quiet";
    done(&folder, line);
    folder
}

/// The output of a command that must succeed.
fn done(folder: &Path, line: &str) -> Printed {
    let printed = ch(&words(line), folder);
    assert_eq!(printed.code, Some(0), "{line}: {}", printed.stderr);
    printed
}

/// The message of a command that must fail.
fn error(folder: &Path, line: &str) -> String {
    let printed = ch(&words(line), folder);
    assert_eq!(printed.code, Some(2), "{line}: {}", printed.stdout);
    printed.stderr
}

fn network(name: &str, outputs: usize, end: &str) -> String {
    format!(
        "graph \"{name}\" {{
          x: f32[N, 16] = placeholder
          last = linear(x) {{ target = \"last\", in_features = 16, out_features = {outputs} }}
          {end}
        }}"
    )
}

#[test]
fn the_folder_of_a_run_is_its_best_checkpoint() {
    let folder = trained("folder");
    let score = |load: &str| {
        let line = format!("test jsc-tiny jsc-sim --load {load} --json --quiet");
        done(&folder, &line).stdout
    };
    assert_eq!(score("mase_output/net"), score(BEST));
    let message = error(&folder, "test jsc-tiny jsc-sim --load mase_output --quiet");
    let expected = "error: mase_output has no best checkpoint, software/training_ckpts/best.ckpt; name a checkpoint or the folder of a run\n";
    assert_eq!(message, expected);
}

#[test]
fn a_checkpoint_shows_the_network_it_belongs_to() {
    let folder = trained("show");
    let known =
        "weights of jsc-tiny, trained on jsc-sim, epoch 1, 20 steps\n\ngraph \"jsc-tiny\" {";
    for name in ["mase_output/net", BEST] {
        let shown = done(&folder, &format!("show {name}")).stdout;
        assert!(shown.starts_with(&format!("{name}: {known}")), "{shown}");
        assert!(shown.contains("seq_blocks.2.weight"), "{shown}");
    }
    // A file that records nothing is known by its names and shapes.
    let info = models::ModelInfo {
        input: Some(vec![7]),
        classes: Some(3),
    };
    for model in ["jsc-s", "toy_convnet", "resnet18"] {
        let is_jet = model.starts_with("jsc");
        let info = if is_jet {
            info.clone()
        } else {
            models::ModelInfo::default()
        };
        let mut graph = models::build(model, &info).unwrap();
        graph.initialize(1);
        write(&folder.join("w.pt"), models::weights::tensors_of(&graph));
        let shown = done(&folder, "show w.pt").stdout;
        let text = graph.to_string();
        let first = format!("w.pt: weights of {model}");
        assert!(shown.starts_with(&first), "{model}: {shown}");
        assert!(shown.contains(&text), "{model}: {shown}");
    }
    fs::write(folder.join("own.mg"), network("own", 5, "return last")).unwrap();
    let line = "train own.mg jsc-sim --max-steps 2 --project own --quiet";
    done(&folder, line);
    let shown = done(&folder, "show mase_output/own").stdout;
    assert!(
        shown.contains("weights of own.mg, trained on jsc-sim"),
        "{shown}"
    );
    let strange = NamedTensor {
        name: "strange".to_owned(),
        shape: vec![2],
        values: vec![1.0, 2.0],
    };
    write(&folder.join("w.pt"), vec![strange]);
    let message = error(&folder, "show w.pt");
    assert!(
        message.contains("w.pt holds the weights of a network that is not in"),
        "{message}"
    );
    assert!(message.contains("\n  strange [2]"), "{message}");
}

fn write(path: &Path, tensors: Vec<NamedTensor>) {
    let file = Checkpoint {
        kind: Kind::StateDict,
        tensors,
        training: None,
        graph: None,
        metadata: serde_json::Value::Null,
    };
    checkpoint::write(path, &file).unwrap();
}

#[test]
fn wrapped_weights_with_more_beside_them_load_with_notes() {
    let folder = trained("extra");
    let mut tensors = checkpoint::read(&folder.join(BEST), None).unwrap().tensors;
    for tensor in &mut tensors {
        tensor.name.insert_str(0, "module.");
    }
    tensors.push(NamedTensor {
        name: "module.seq_blocks.2.weight_quant.scale".to_owned(),
        shape: vec![],
        values: vec![0.25],
    });
    write(&folder.join("w.pt"), tensors);
    let line = |load: &str| format!("test jsc-tiny jsc-sim --load {load} --json");
    let printed = done(&folder, &line("w.pt"));
    assert_eq!(printed.stdout, done(&folder, &line(BEST)).stdout);
    for note in [
        "note: w.pt: the prefix 'module.' of its names is left out\n",
        "note: w.pt: 1 tensor that jsc-tiny does not have left out: seq_blocks.2.weight_quant.scale\n",
    ] {
        assert_eq!(
            printed.stderr.matches(note).count(),
            1,
            "{}",
            printed.stderr
        );
    }
    let message = error(&folder, &line("w.pt --strict --quiet"));
    let expected = "error: cannot load w.pt: weights do not fit jsc-tiny: 1 unexpected\n  unexpected seq_blocks.2.weight_quant.scale\n";
    assert_eq!(message, expected);
}

#[test]
fn outputs_are_held_against_the_classes_before_the_first_step() {
    let folder = Folder::new("checkpoints_classes");
    for (name, outputs, end) in [
        ("three", 3, "return last"),
        ("eight", 8, "return last"),
        ("soft", 5, "end = softmax(last) { dim = -1 }\nreturn end"),
    ] {
        let path = folder.join(format!("{name}.mg"));
        fs::write(path, network(name, outputs, end)).unwrap();
    }
    let expected = "error: three.mg returns 3 values but jsc-sim has 5 classes (g q t w z): set out_features = 5 in the last layer\n";
    for command in ["train", "test", "predict --out y.npy"] {
        let line = format!("{command} three.mg jsc-sim --quiet");
        assert_eq!(error(&folder, &line), expected);
    }
    assert!(!folder.join("mase_output").exists(), "nothing is written");
    let soft = done(&folder, "predict soft.mg jsc-sim --out y.npy");
    assert!(!soft.stderr.contains("softmax"), "a prediction has no loss");
    for (name, note) in [
        (
            "eight",
            "note: eight.mg returns 8 values but jsc-sim has 5 classes (g q t w z): the last 3 belong to none\n",
        ),
        (
            "soft",
            "note: soft.mg ends in a softmax, end, and the loss, cross-entropy, applies another: leave end out of the network\n",
        ),
    ] {
        let line = format!("train {name}.mg jsc-sim --max-steps 1");
        let printed = done(&folder, &line);
        assert!(printed.stderr.contains(note), "{}", printed.stderr);
    }
}

/// A checkpoint that was trained on the same classes in another order scores as if the dataset had that order.
#[test]
fn classes_are_taken_in_the_order_of_the_checkpoint() {
    let folder = trained("order");
    let score = |load: &str| {
        let line = format!("test jsc-tiny jsc-sim --load {load} --json");
        done(&folder, &line)
    };
    let plain = score(BEST);
    assert!(!plain.stderr.contains("classes"), "{}", plain.stderr);
    let mut file = checkpoint::read(&folder.join(BEST), None).unwrap();
    let training = file.training.as_mut().unwrap();
    let recorded = &training.hyper_parameters["classes"];
    assert_eq!(*recorded, serde_json::json!(["g", "q", "t", "w", "z"]));
    training.hyper_parameters["classes"] = serde_json::json!(["g", "q", "w", "z", "t"]);
    for tensor in &mut file.tensors {
        if tensor.name.starts_with("seq_blocks.2.") {
            let width = tensor.values.len() / 5;
            let rows: Vec<&[f32]> = tensor.values.chunks(width).collect();
            tensor.values = [0, 1, 3, 4, 2].map(|row| rows[row]).concat();
        }
    }
    checkpoint::write(&folder.join("other.ckpt"), &file).unwrap();
    let other = score("other.ckpt");
    let note = "note: the checkpoint was trained with the classes g q w z t; those of jsc-sim, g q t w z, are taken in its order\n";
    assert!(other.stderr.contains(note), "{}", other.stderr);
    let facts =
        |printed: &Printed| -> serde_json::Value { serde_json::from_str(&printed.stdout).unwrap() };
    assert_eq!(facts(&plain)["correct"], facts(&other)["correct"]);
}

/// A graph that is trained further after quantising is written with its classes, and its folder brings the model.
#[test]
fn a_graph_file_remembers_its_classes_and_stands_for_its_folder() {
    let folder = trained("graph_classes");
    let config = "[passes.quantize.linear.config]\nname = \"integer\"\nweight_width = 8\ndata_in_width = 8\n";
    fs::write(folder.join("q.toml"), config).unwrap();
    let line = format!("transform jsc-tiny --config q.toml --load {BEST} --project q --quiet");
    done(&folder, &line);
    let graph = "mase_output/q/software/transform/transformed_ckpt/graph.mz";
    done(
        &folder,
        &format!("train --load {graph} jsc-sim --max-steps 2 --project again --quiet"),
    );
    let best = "mase_output/again/software/training_ckpts/best.mz";
    for file in [graph, best] {
        let file = checkpoint::read(&folder.join(file), None).unwrap();
        let preparation = data::Preparation::of_checkpoint(&file).unwrap();
        assert_eq!(preparation.classes.unwrap(), ["g", "q", "t", "w", "z"]);
    }
    let by_folder = done(&folder, "test jsc-sim --load mase_output/again --json");
    let by_file = done(&folder, &format!("test jsc-sim --load {best} --json"));
    let correct = |printed: &Printed| -> serde_json::Value {
        let facts: serde_json::Value = serde_json::from_str(&printed.stdout).unwrap();
        facts["correct"].clone()
    };
    assert!(correct(&by_file).is_number(), "{}", by_file.stdout);
    assert_eq!(correct(&by_folder), correct(&by_file));
}

/// Norms that were folded before quantising train on, and the graph that training leaves has them folded again.
#[test]
fn folded_norms_train_on() {
    let folder = Folder::new("checkpoints_folded_norms");
    let config = "[passes.fuse_batch_norm]\n[passes.quantize.linear.config]\nname = \"integer\"\nweight_width = 6\n\
                  data_in_width = 8\nbias_width = 16\n[passes.calibrate]\n";
    fs::write(folder.join("q.toml"), config).unwrap();
    let line = "transform jsc-toy jsc-sim --config q.toml --project q --quiet";
    done(&folder, line);
    let graph = "mase_output/q/software/transform/transformed_ckpt/graph.mz";
    let tensors = |file: &str| checkpoint::read(&folder.join(file), None).unwrap().tensors;
    let norms = |file: &str| {
        let names = tensors(file).into_iter().map(|tensor| tensor.name);
        let is_norm = |name: &String| name.ends_with(".norm.running_var");
        names.filter(is_norm).count()
    };
    let mut ends = Vec::new();
    for (model, option, count) in [
        ("jsc-toy", "", 3),
        (graph, "", 3),
        ("jsc-toy", "--train-norms all", 3),
        ("jsc-toy", "--train-norms none", 0),
    ] {
        let project = format!("run{}", ends.len());
        let line = "jsc-sim --max-steps 20 --quiet --load";
        done(
            &folder,
            &format!("train {model} {line} {graph} --project {project} {option}"),
        );
        let file = |name: &str| format!("mase_output/{project}/software/training_ckpts/{name}");
        assert_eq!(norms(&file("last.ckpt")), count, "{model} {option}");
        assert_eq!(norms(&file("last.mz")), 0, "{model} {option}");
        ends.push(tensors(&file("last.mz")));
    }
    assert_eq!(ends[0], ends[1]);
    assert_eq!(ends[0], ends[2]);
    assert_ne!(ends[0], ends[3]);
}

#[test]
fn a_batch_larger_than_the_rows_is_all_of_them() {
    let folder = Folder::new("checkpoints_batch");
    let row = |row: usize| format!("{row};{}", ["a", "b"][row % 2]);
    let rows: Vec<String> = (0..40).map(row).collect();
    fs::write(
        folder.join("few.tsv"),
        format!("x;y\n{}\n", rows.join("\n")),
    )
    .unwrap();
    let text = network("few", 2, "return last").replace("16", "1");
    fs::write(folder.join("few.mg"), text).unwrap();
    let line = "train few.mg few.tsv:y --max-epochs 3";
    let printed = done(&folder, line);
    let note = "note: batch size 128 is larger than the 28 training rows of few.tsv:y: a batch is all of them\n";
    assert!(printed.stderr.contains(note), "{}", printed.stderr);
    assert!(
        printed.stdout.contains("trained 3 epochs, 3 steps"),
        "{}",
        printed.stdout
    );
}

#[test]
fn a_truncated_checkpoint_is_named_before_data_are_opened() {
    let folder = trained("truncated");
    let whole = fs::read(folder.join(BEST)).unwrap();
    fs::write(folder.join("cut.ckpt"), &whole[..whole.len() / 2]).unwrap();
    let printed = ch(&words("test jsc-tiny jsc-sim --load cut.ckpt"), &folder);
    assert_eq!(printed.code, Some(2));
    let sentence = "error: cut.ckpt: the zip archive is cut short or damaged";
    assert!(printed.stderr.contains(sentence), "{}", printed.stderr);
    assert!(!printed.stdout.contains("rows"), "{}", printed.stdout);
}
