//! Checkpoints that others made: PyTorch's containers, layouts and number types, and real files of Lightning.

use interop::checkpoint::{Checkpoint, Kind, NamedTensor, decode, read};
use interop::{InteropError, Problem};
use serde_json::{Value as Json, json};
use std::path::{Path, PathBuf};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures/checkpoints")
        .join(name)
}

fn load(name: &str) -> Checkpoint {
    read(&fixture(name), None).unwrap_or_else(|error| panic!("{error}"))
}

fn expected() -> Json {
    let text = std::fs::read_to_string(fixture("expected.json"))
        .expect("expected.json is beside the fixtures");
    serde_json::from_str(&text).expect("expected.json is JSON")
}

/// What PyTorch holds, in its order.
fn expected_tensors(state_dict: &Json) -> Vec<NamedTensor> {
    let object = state_dict.as_object().expect("a dict of tensors").iter();
    object
        .map(|(name, tensor)| expected_tensor(name.trim_start_matches("model."), tensor))
        .collect()
}

fn expected_tensor(name: &str, tensor: &Json) -> NamedTensor {
    let numbers = |key: &str| tensor[key].as_array().expect("a list").clone();
    let value = |text: &Json| {
        text.as_str()
            .and_then(|text| text.parse().ok())
            .expect("a number")
    };
    NamedTensor {
        name: name.to_owned(),
        shape: numbers("shape")
            .iter()
            .map(|size| size.as_u64().expect("a size") as usize)
            .collect(),
        values: numbers("values").iter().map(value).collect(),
    }
}

#[test]
fn every_container_and_protocol_holds_the_same_tensors() {
    let expected = expected_tensors(&expected()["state_dict"]);
    let files = [
        "state_dict.pt",
        "bare_dict_protocol_4.pt",
        "nested.pt",
        "legacy.pt",
        "deflated.pt",
        "plain_protocol_0.pkl",
        "plain_protocol_1.pkl",
        "plain_protocol_2.pkl",
        "plain_protocol_5.pkl",
    ];
    for file in files {
        let checkpoint = load(file);
        assert_eq!(checkpoint.kind, Kind::StateDict, "{file}");
        assert_eq!(checkpoint.tensors, expected, "{file}");
        assert_eq!(checkpoint.training, None, "{file}");
    }
}

#[test]
fn a_lightning_checkpoint_has_its_training() {
    let expected = expected();
    let cases = [("adam", 3, 1e-3, 0.01), ("sgd", 0, 0.1, 0.0)];
    for (name, steps, learning_rate, weight_decay) in cases {
        let checkpoint = load(&format!("lightning_{name}.ckpt"));
        assert_eq!(checkpoint.kind, Kind::Lightning);
        assert_eq!(
            checkpoint.tensors,
            expected_tensors(&expected[name]["state_dict"])
        );
        let training = checkpoint.training.expect("Lightning's");
        assert_eq!((training.epoch, training.global_step), (2, 3));
        assert_eq!(
            Json::Object(training.hyper_parameters),
            json!({"learning_rate": 1e-3, "task": "cls", "sizes": [1, 2], "big": 1_u64 << 63, "none": null})
        );
        let optimizer = training
            .optimizer
            .expect("its parameters are known by shape");
        assert_eq!(optimizer.name, name);
        assert_eq!(optimizer.steps, steps);
        assert_eq!(
            (optimizer.learning_rate, optimizer.weight_decay),
            (learning_rate, weight_decay)
        );
        let names = ["0.weight", "0.bias", "2.weight", "2.bias"];
        let moments = |key: &str| -> Vec<NamedTensor> {
            let entries = expected[name]["moments"].as_array().expect("a list").iter();
            let tensors = entries
                .zip(names)
                .filter(|(entry, _)| entry.get(key).is_some());
            tensors
                .map(|(entry, name)| expected_tensor(name, &entry[key]))
                .collect()
        };
        let (first, second) = match name {
            "adam" => (moments("exp_avg"), moments("exp_avg_sq")),
            _ => (moments("momentum_buffer"), Vec::new()),
        };
        assert_eq!((optimizer.first, optimizer.second), (first, second));
    }
}

#[test]
fn a_wrong_kind_is_told_what_the_file_is() {
    let error =
        read(&fixture("state_dict.pt"), Some(Kind::Lightning)).expect_err("it is a state dict");
    assert!(matches!(
        &error.problem,
        Problem::Kind {
            asked: Kind::Lightning,
            found: Kind::StateDict
        }
    ));
    let message = error.to_string();
    assert!(
        message.ends_with(
            "state_dict.pt: is a PyTorch state dict (pt), not a Lightning checkpoint (pl)"
        ),
        "{message}"
    );
    assert!(read(&fixture("lightning_adam.ckpt"), Some(Kind::Lightning)).is_ok());
}

#[test]
fn words_for_kinds() {
    for (word, kind) in [
        ("auto", None),
        ("pl", Some(Kind::Lightning)),
        ("pt", Some(Kind::StateDict)),
        ("safetensors", Some(Kind::Safetensors)),
        ("mz", Some(Kind::Mz)),
    ] {
        assert_eq!(Kind::parse(word), Ok(kind), "{word}");
        // The word stands in the kind's own.
        let shown = kind.map(|kind| kind.to_string());
        assert!(shown.is_none_or(|shown| shown.ends_with(&format!("({word})"))));
    }
    let error = Kind::parse("h5").expect_err("no such kind");
    assert_eq!(
        error.to_string(),
        "unknown checkpoint type 'h5'; known are pl, pt, mz, safetensors and auto"
    );
}

#[test]
fn files_that_hold_no_state_dict_say_so() {
    let error = |name: &str| -> InteropError { read(&fixture(name), None).expect_err(name) };
    let module = error("module.pt").to_string();
    assert!(module.ends_with("module.pt: holds no tensors: it is torch.nn.modules.container.Sequential; save a state_dict() instead"), "{module}");
    let text = error("make.py").to_string();
    assert!(
        text.contains("is not a checkpoint") && text.contains("Makes"),
        "{text}"
    );
    let missing = error("missing.pt").to_string();
    assert!(missing.contains("missing.pt: No such file"), "{missing}");
    assert!(matches!(decode(b"", None), Err(Problem::Unknown { .. })));
}

#[test]
fn files_of_students_read() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/ckpts");
    let Ok(files) = std::fs::read_dir(&folder) else {
        eprintln!("skipped: {} is not there", folder.display());
        return;
    };
    let mut n_files = 0;
    for file in files {
        let path = file.expect("a directory entry").path();
        let checkpoint =
            read(&path, Some(Kind::Lightning)).unwrap_or_else(|error| panic!("{error}"));
        let name = path.to_string_lossy();
        let layers: &[usize] = if name.contains("jsc-tiny") {
            &[16, 5]
        } else if name.contains("02-12") {
            &[16, 48, 24, 8, 5]
        } else {
            &[16, 24, 8, 5]
        };
        assert_eq!(shapes(&checkpoint), network(layers), "{name}");
        let training = checkpoint.training.expect("Lightning's");
        assert!(training.global_step > 0, "{name}");
        let optimizer = training
            .optimizer
            .expect("Adam with the parameters' shapes");
        assert_eq!(
            (optimizer.name.as_str(), optimizer.first.len()),
            ("adam", optimizer.second.len()),
            "{name}"
        );
        assert!(
            checkpoint
                .tensors
                .iter()
                .flat_map(|tensor| &tensor.values)
                .all(|value| value.is_finite()),
            "{name}"
        );
        n_files += 1;
    }
    assert!(n_files > 0, "{} is empty", folder.display());
}

fn shapes(checkpoint: &Checkpoint) -> Vec<(String, Vec<usize>)> {
    let tensors = checkpoint.tensors.iter();
    tensors
        .map(|tensor| (tensor.name.clone(), tensor.shape.clone()))
        .collect()
}

/// A batch norm before every linear layer, with activations between them.
fn network(layers: &[usize]) -> Vec<(String, Vec<usize>)> {
    let mut shapes = Vec::new();
    let mut index = 0;
    let mut add = |index: usize, name: &str, shape: &[usize]| {
        shapes.push((format!("seq_blocks.{index}.{name}"), shape.to_vec()));
    };
    for pair in layers.windows(2) {
        for name in ["weight", "bias", "running_mean", "running_var"] {
            add(index, name, &pair[..1]);
        }
        add(index, "num_batches_tracked", &[]);
        add(index + 2, "weight", &[pair[1], pair[0]]);
        add(index + 2, "bias", &pair[1..]);
        index += 4;
    }
    shapes
}

/// `MaseGraph.export` of the original writes two files, and the weights are in the other one.
#[test]
fn the_originals_metadata_points_to_the_weights() {
    let bytes = std::fs::read(fixture("original.mz")).expect("the fixture");
    let problem = decode(&bytes, None).expect_err("no weights");
    let expected = "holds no weights: it is the original's metadata of a graph; load the .pt file of the same name, which has them";
    assert_eq!(problem.to_string(), expected);

    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("original_metadata");
    std::fs::create_dir_all(&folder).expect("a folder");
    let beside = folder.join("graph.pt");
    let _ = std::fs::remove_file(&beside);
    // Without a node there are no keys to know it by, but its name.
    for content in [bytes.as_slice(), b"\x80\x04}."] {
        let path = folder.join("graph.mz");
        std::fs::write(&path, content).expect("a file");
        let error = || read(&path, None).expect_err("no weights").to_string();
        let named = |end: &str| {
            let path = path.display();
            let beside = beside.display();
            format!(
                "{path}: holds no weights: it is the original's metadata of a graph; load {beside}, which has them{end}"
            )
        };
        assert_eq!(error(), named(" and is not there"));
        std::fs::write(&beside, "").expect("a file");
        assert_eq!(error(), named(""));
        std::fs::remove_file(&beside).expect("the file");
    }
}
