//! The place of the package's test data.

use std::fs;
use std::path::{Path, PathBuf};

/// The folder of the package's test data, where it is installed.
pub fn test_data() -> Option<PathBuf> {
    let packages = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.tools/onnx/lib");
    let versions = fs::read_dir(packages).ok()?.flatten();
    let data = versions.map(|entry| entry.path().join("site-packages/onnx/backend/test/data"));
    data.into_iter().find(|data| data.is_dir())
}
