//! Journals of tests, and how their trials are compared.

use std::path::PathBuf;
use study::Trial;
use study::storage::Attributes;

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
pub fn assert_same(got: &[(Trial, Attributes)], wanted: &[(Trial, Attributes)]) {
    assert_eq!(got.len(), wanted.len());
    for ((got, beside), wanted) in got.iter().zip(wanted) {
        let got = Trial {
            started: wanted.0.started,
            ..got.clone()
        };
        assert_eq!(&(got, beside.clone()), wanted);
    }
}
