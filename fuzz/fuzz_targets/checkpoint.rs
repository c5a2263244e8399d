//! Any bytes as a checkpoint: reading never panics, and what reads can be written in every kind and read back.
#![no_main]

use interop::checkpoint::{Checkpoint, Kind, decode, encode};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let read = match decode(data, None) {
        Err(problem) => return drop(problem.to_string()),
        Ok(read) => read,
    };
    for kind in [Kind::Lightning, Kind::StateDict, Kind::Safetensors, Kind::Mz] {
        let checkpoint = Checkpoint { kind, ..read.clone() };
        if checkpoint.tensors.is_empty() && kind == Kind::StateDict {
            continue;
        }
        let Ok(bytes) = encode(&checkpoint) else { continue };
        let again = decode(&bytes, Some(kind)).expect("what is written reads");
        let n_values = |checkpoint: &Checkpoint| checkpoint.tensors.iter().map(|t| t.values.len()).sum::<usize>();
        assert!(n_values(&again) >= n_values(&checkpoint), "values are lost");
    }
});
