//! What is written reads back, in every kind.

mod support;

use interop::Problem;
use interop::checkpoint::{Checkpoint, Kind, decode, encode, read, write};
use safetensors::SafeTensors;
use serde_json::Value as Json;
use std::path::PathBuf;
use support::{checkpoint, tensor};

const KINDS: [Kind; 4] = [
    Kind::Lightning,
    Kind::StateDict,
    Kind::Safetensors,
    Kind::Mz,
];

fn scratch(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).expect("a folder for the test");
    folder
}

#[test]
fn every_kind_reads_back() {
    let folder = scratch("every_kind_reads_back");
    for kind in KINDS {
        for optimizer in ["adam", "adamw", "sgd"] {
            let mut expected = checkpoint(kind, optimizer);
            let path = folder.join("file");
            write(&path, &expected).unwrap_or_else(|error| panic!("{error}"));
            if kind == Kind::StateDict {
                (expected.training, expected.metadata) = (None, Json::Null);
            }
            assert_eq!(read(&path, None).expect("our own file"), expected);
            assert_eq!(read(&path, Some(kind)).expect("our own file"), expected);
        }
    }
    let left: Vec<_> = std::fs::read_dir(&folder).expect("the folder").collect();
    assert_eq!(left.len(), 1, "no temporary file stays: {left:?}");
}

#[test]
fn equal_checkpoints_make_equal_files() {
    for kind in KINDS {
        let bytes = |checkpoint: &Checkpoint| encode(checkpoint).expect("a checkpoint to write");
        assert!(
            bytes(&checkpoint(kind, "adam")) == bytes(&checkpoint(kind, "adam")),
            "{kind}"
        );
    }
}

#[test]
fn every_bit_of_a_value_is_kept() {
    let special = [
        f32::NAN,
        f32::NEG_INFINITY,
        -0.0,
        f32::MIN_POSITIVE / 2.0,
        f32::MAX,
        1.0e-45,
        f32::from_bits(0x7fa0_0001),
    ];
    for kind in KINDS {
        let mut expected = checkpoint(kind, "adam");
        expected.tensors[0].shape = vec![special.len()];
        expected.tensors[0].values = special.to_vec();
        let got = decode(&encode(&expected).expect("a checkpoint"), None).expect("our own file");
        let bits = |checkpoint: &Checkpoint| -> Vec<u32> {
            checkpoint.tensors[0]
                .values
                .iter()
                .map(|value| value.to_bits())
                .collect()
        };
        assert_eq!(bits(&got), bits(&expected), "{kind}");
    }
}

#[test]
fn batch_norms_get_the_counter_that_pytorch_wants() {
    for kind in KINDS {
        let mut given = checkpoint(kind, "adam");
        given
            .tensors
            .retain(|tensor| !tensor.name.ends_with("num_batches_tracked"));
        let got = decode(&encode(&given).expect("a checkpoint"), None).expect("our own file");
        assert_eq!(got.tensors, checkpoint(kind, "adam").tensors, "{kind}");
    }
}

#[test]
fn safetensors_open_with_their_own_library() {
    let expected = checkpoint(Kind::Safetensors, "adam");
    let bytes = encode(&expected).expect("a checkpoint");
    let file = SafeTensors::deserialize(&bytes).expect("a valid file");
    for tensor in expected
        .tensors
        .iter()
        .filter(|tensor| !tensor.shape.is_empty())
    {
        let view = file.tensor(&tensor.name).expect("every tensor by its name");
        assert_eq!(view.shape(), tensor.shape);
        let values: Vec<u8> = tensor
            .values
            .iter()
            .flat_map(|value| value.to_le_bytes())
            .collect();
        assert_eq!(view.data(), values);
    }
    assert_eq!(
        file.tensor("bn.num_batches_tracked")
            .expect("the counter")
            .dtype(),
        safetensors::Dtype::I64
    );
}

#[test]
fn safetensors_of_others_read() {
    let data: Vec<u8> = [1.5_f64, -2.0]
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect();
    let view = safetensors::tensor::TensorView::new(safetensors::Dtype::F64, vec![1, 2], &data)
        .expect("a view");
    let facts = [("format".to_owned(), "pt".to_owned())].into();
    let bytes = safetensors::serialize([("a.b", view)], Some(facts)).expect("a file");
    let got = decode(&bytes, Some(Kind::Safetensors)).expect("a valid file");
    assert_eq!(
        (
            got.tensors[0].name.as_str(),
            got.tensors[0].shape.as_slice()
        ),
        ("a.b", [1, 2].as_slice())
    );
    assert_eq!(got.tensors[0].values, [1.5, -2.0]);
    assert_eq!(got.metadata, serde_json::json!({"format": "pt"}));
    assert_eq!(got.training, None);
}

#[test]
fn a_later_version_is_refused_with_both_numbers() {
    let bytes = encode(&checkpoint(Kind::Mz, "adam")).expect("a checkpoint");
    let entry = br#"{"version":1}"#;
    let mut archive = zip::ZipArchive::new(std::io::Cursor::new(&bytes)).expect("an archive");
    let mut later = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for index in 0..archive.len() {
        let mut file = archive.by_index(index).expect("an entry");
        let mut content = Vec::new();
        std::io::Read::read_to_end(&mut file, &mut content).expect("its content");
        if content == entry {
            content = br#"{"version":7}"#.to_vec();
        }
        let options = zip::write::SimpleFileOptions::default();
        let name = file.name().expect("a name").into_owned();
        later.start_file(name, options).expect("an entry");
        std::io::Write::write_all(&mut later, &content).expect("its content");
    }
    let later = later.finish().expect("an archive").into_inner();
    let error = decode(&later, None).expect_err("version 7 is unknown");
    assert_eq!(
        error.to_string(),
        "has .mz version 7; up to version 1 is read"
    );
}

#[test]
fn a_failed_write_leaves_the_old_file() {
    let folder = scratch("a_failed_write_leaves_the_old_file");
    let path = folder.join("best.ckpt");
    let good = checkpoint(Kind::Lightning, "adam");
    write(&path, &good).expect("the first write");
    let mut bad = good.clone();
    bad.tensors[0].values.pop();
    let error = write(&path, &bad).expect_err("a value is missing");
    assert!(
        error
            .to_string()
            .ends_with("best.ckpt: bn.weight: shape [3] does not have 2 values"),
        "{error}"
    );
    assert_eq!(read(&path, None).expect("the old file"), good);
    let error = write(&path.join("below"), &good).expect_err("a file is no folder");
    assert!(matches!(error.problem, Problem::Io(_)), "{error}");
}

#[test]
fn a_network_may_have_a_part_called_model() {
    let mut expected = checkpoint(Kind::Lightning, "adam");
    for name in ["model.fc.bias", "model.model.fc.bias", "model"] {
        expected.tensors.push(tensor(name, &[2]));
    }
    let got = decode(&encode(&expected).expect("a checkpoint"), None).expect("our own file");
    assert_eq!(got.tensors, expected.tensors);
}

#[test]
fn a_name_can_be_used_once() {
    let mut twice = checkpoint(Kind::Safetensors, "adam");
    twice.tensors.push(tensor("fc.bias", &[2]));
    for kind in KINDS {
        twice.kind = kind;
        let error = encode(&twice)
            .expect_err("fc.bias is there twice")
            .to_string();
        assert_eq!(error, "fc.bias: the name is taken", "{kind}");
    }
}
