//! Broken and malicious files: an error or a valid result, never a panic, never memory beyond the file's own size.

mod support;

use interop::Problem;
use interop::checkpoint::{Checkpoint, Kind, decode, encode};
use serde_json::{Map, Value as Json, json};
use std::path::Path;
use support::checkpoint;

const FIXTURES: [&str; 6] = [
    "state_dict.pt",
    "legacy.pt",
    "deflated.pt",
    "plain_protocol_0.pkl",
    "plain_protocol_5.pkl",
    "lightning_adam.ckpt",
];

fn fixture(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/checkpoints");
    std::fs::read(folder.join(name)).expect("a fixture")
}

fn files() -> Vec<Vec<u8>> {
    let ours = [Kind::Lightning, Kind::Safetensors, Kind::Mz]
        .map(|kind| encode(&checkpoint(kind, "adam")).expect("a checkpoint"));
    FIXTURES
        .iter()
        .map(|name| fixture(name))
        .chain(ours)
        .collect()
}

/// What any bytes must give: an error with one line, or tensors whose sizes agree and are bounded by the file.
fn judge(bytes: &[u8]) -> Result<Checkpoint, Problem> {
    let result = decode(bytes, None);
    match &result {
        Ok(checkpoint) => {
            let numel: usize = checkpoint
                .tensors
                .iter()
                .map(|tensor| tensor.values.len())
                .sum();
            assert!(
                numel <= bytes.len() + (1 << 20),
                "{numel} elements from {} bytes",
                bytes.len()
            );
            for tensor in &checkpoint.tensors {
                assert_eq!(
                    tensor.shape.iter().product::<usize>(),
                    tensor.values.len(),
                    "{}",
                    tensor.name
                );
            }
        }
        Err(problem) => assert!(!problem.to_string().is_empty()),
    }
    result
}

#[test]
fn every_truncation_is_an_error() {
    for file in files() {
        for length in 0..file.len() {
            // The stream of a plain pickle may end before the file does, but not before its STOP.
            assert!(
                judge(&file[..length]).is_err(),
                "{length} of {} bytes",
                file.len()
            );
        }
    }
}

#[test]
fn every_flipped_bit_gives_an_error_or_a_result() {
    for file in files() {
        let mut flipped = file.clone();
        for at in 0..file.len().min(2048) {
            for bit in 0..8 {
                flipped[at] ^= 1 << bit;
                drop(judge(&flipped));
                flipped[at] = file[at];
            }
        }
    }
}

/// What fuzzing has found stays found.
#[test]
fn earlier_findings_are_judged() {
    let folder = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../fuzz/findings/checkpoint"
    );
    for file in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        drop(judge(&std::fs::read(file.path()).expect("a finding")));
    }
}

#[test]
fn a_command_in_a_pickle_is_only_a_name() {
    let witness = Path::new(env!("CARGO_TARGET_TMPDIR")).join("executed");
    let command = format!("touch {}", witness.display());
    let mut calls = Vec::new();
    for module in [
        "os\nsystem",
        "posix\nsystem",
        "builtins\neval",
        "subprocess\nPopen",
    ] {
        calls.push(format!("c{module}\n(S'{command}'\ntR."));
        calls.push(format!("(S'{command}'\ni{module}\n."));
    }
    for call in calls {
        let error = judge(call.as_bytes()).expect_err("no tensors").to_string();
        assert!(
            error.contains("holds no tensors") && error.contains("save a state_dict()"),
            "{error}"
        );
    }
    let inside = format!("(S'evil'\ncos\nsystem\n(S'{command}'\ntRd.");
    assert!(
        judge(inside.as_bytes())
            .expect_err("no tensors")
            .to_string()
            .contains("1 other entries")
    );
    assert!(!witness.exists());
}

#[test]
fn nesting_has_an_end() {
    let marks = vec![b'('; 1 << 20];
    let error = judge(&marks).expect_err("no STOP").to_string();
    assert_eq!(error, "pickle, byte 10000: more than 10000 open marks");
    // A list in a list in a list …: no recursion, so no stack to overflow, whatever reads it.
    let depth = 1 << 20;
    let lists = [vec![b']'; depth], vec![b'a'; depth - 1], b".".to_vec()].concat();
    assert!(judge(&lists).is_err());
    let hyper = lightning(&lists[..lists.len() - 1]);
    assert_eq!(hyper_parameters(&hyper), (Map::new(), true));
}

#[test]
fn shared_lists_do_not_multiply() {
    // Each level is a pair of the one below: 2^60 leaves if they were copied.
    let levels = |n: usize| [b"]".to_vec(), b"2\x86".repeat(n)].concat();
    let in_dict = |value: Vec<u8>| [b"}X\x01\0\0\0a".to_vec(), value, b"s".to_vec()].concat();
    let few = lightning(&in_dict(levels(2)));
    let pair = json!([[], []]);
    assert_eq!(hyper_parameters(&few).0["a"], json!([pair, pair]));
    let laughs = lightning(&in_dict(levels(60)));
    assert_eq!(hyper_parameters(&laughs), (Map::new(), true));
    let cycle = lightning(&in_dict(b"]q\x01h\x01a".to_vec()));
    assert_eq!(hyper_parameters(&cycle), (Map::new(), true));
}

/// The settings, and whether the file's own could not be shown.
fn hyper_parameters(file: &[u8]) -> (Map<String, Json>, bool) {
    let checkpoint = judge(file).expect("a good state dict beside bad settings");
    let left_out = checkpoint.metadata.get("hyper_parameters").is_some();
    (
        checkpoint.training.expect("Lightning's").hyper_parameters,
        left_out,
    )
}

/// A Lightning checkpoint with one tensor and these settings.
fn lightning(hyper_parameters: &[u8]) -> Vec<u8> {
    let mut root =
        b"}(X\x05\0\0\0epochK\x01X\x0b\0\0\0global_stepK\x01X\x0a\0\0\0state_dict}X\x01\0\0\0a"
            .to_vec();
    root.extend(expanded_tensor(1));
    root.extend(b"sX\x10\0\0\0hyper_parameters");
    root.extend(hyper_parameters);
    root.push(b'u');
    legacy(&root)
}

#[test]
fn a_memo_cannot_be_a_bomb() {
    let far = b"\x80\x02}r\xff\xff\xff\xff.";
    assert!(matches!(judge(far), Err(Problem::NoTensors(_))));
    let unset = judge(b"\x80\x02}h\x07.")
        .expect_err("memo 7 was never set")
        .to_string();
    assert_eq!(unset, "pickle, byte 3: memo 7 is empty");
}

#[test]
fn announced_lengths_are_checked_first() {
    for stream in [
        b"\x80\x04\x8d\xff\xff\xff\xff\xff\xff\xff\x7f".as_slice(),
        b"\x80\x04\x8e\xff\xff\xff\xff\xff\xff\xff\xff",
        b"\x80\x02X\xff\xff\xff\xff",
        b"\x80\x02\x8b\xff\xff\xff\xff",
    ] {
        let error = judge(stream).expect_err("nothing follows").to_string();
        assert!(
            error.starts_with("pickle, byte 2: ")
                && error.ends_with("bytes are announced, 0 are left"),
            "{error}"
        );
    }
}

#[test]
fn a_view_cannot_be_larger_than_its_file() {
    let header = |entry: &str| {
        let header = format!("{{\"a\":{entry}}}");
        [&(header.len() as u64).to_le_bytes(), header.as_bytes()].concat()
    };
    for entry in [
        r#"{"dtype":"F32","shape":[4294967296,4294967296,4294967296],"data_offsets":[0,0]}"#,
        r#"{"dtype":"F32","shape":[1000000000],"data_offsets":[0,4000000000]}"#,
        r#"{"dtype":"F32","shape":[1],"data_offsets":[4,0]}"#,
        r#"{"dtype":"F9","shape":[],"data_offsets":[0,0]}"#,
    ] {
        let error = judge(&header(entry)).expect_err(entry).to_string();
        assert!(error.starts_with("a: "), "{error}");
    }
    // PyTorch writes a tensor that was expanded as one element with strides of zero.
    let file =
        |n: i64| legacy(&[b"}X\x01\0\0\0a".to_vec(), expanded_tensor(n), b"s".to_vec()].concat());
    let error = judge(&file(1 << 40))
        .expect_err("2^40 elements")
        .to_string();
    assert_eq!(
        error,
        "a: storage 0: its views have far more elements than the file"
    );
    assert_eq!(
        judge(&file(1 << 19)).expect("a small tensor").tensors[0].shape,
        [1 << 19]
    );
}

/// `torch.ones(1).expand(n)`.
fn expanded_tensor(n: i64) -> Vec<u8> {
    let mut tensor = b"ctorch._utils\n_rebuild_tensor_v2\n(".to_vec();
    tensor.extend(b"(X\x07\0\0\0storagectorch\nFloatStorage\nX\x01\0\0\x000X\x03\0\0\0cpuK\x01NtQ");
    tensor.extend(b"K\x00\x8a\x08");
    tensor.extend(n.to_le_bytes());
    tensor.extend(b"\x85K\x00\x85\x89}tR");
    tensor
}

/// An object in the container before PyTorch 1.6, with one storage of one element.
fn legacy(object: &[u8]) -> Vec<u8> {
    let mut file =
        b"\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19.\x80\x02M\xe9\x03.\x80\x02}.\x80\x02".to_vec();
    file.extend(object);
    file.extend(b".\x80\x02]X\x01\0\0\x000a.");
    file.extend(1_u64.to_le_bytes());
    file.extend(1.0_f32.to_le_bytes());
    file
}
