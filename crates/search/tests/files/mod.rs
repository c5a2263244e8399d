//! Journals of tests, and how their trials are compared.

use search::storage::StoredTrial;
use std::path::PathBuf;

/// A path of its own for a test.
pub fn path(name: &str) -> PathBuf {
    let folder =
        PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("storage_{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join(name);
    let _ = std::fs::remove_file(&path);
    path
}

/// Compares trials but for when they were begun, which a storage may say by its own clock.
pub fn assert_same(got: &[StoredTrial], wanted: &[StoredTrial]) {
    assert_eq!(got.len(), wanted.len());
    for (got, wanted) in got.iter().zip(wanted) {
        let got = StoredTrial {
            started: wanted.started,
            ..got.clone()
        };
        assert_eq!(&got, wanted);
    }
}
