//! The tests of the Python package, run by pytest over the library that this build made. Needs a Python with NumPy, pytest and
//! hypothesis, named by `$BENCH_PYTHON`; tests of PyTorch are skipped where it has none.
#![forbid(unsafe_code)]
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The library beside this test, in the folder that cargo builds into.
fn library() -> PathBuf {
    let folder = env::current_exe().unwrap().parent().unwrap().to_owned();
    let (prefix, suffix) = (env::consts::DLL_PREFIX, env::consts::DLL_SUFFIX);
    folder.join(format!("{prefix}_core{suffix}"))
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().flatten() {
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() && entry.file_name() != "__pycache__" {
            copy_folder(&path, &target);
        } else if path.is_file() {
            fs::copy(&path, &target).unwrap();
        }
    }
}

#[test]
fn pytest_passes() {
    let Some(python) = env::var_os("BENCH_PYTHON") else {
        eprintln!("skipped: set BENCH_PYTHON to a Python with numpy, pytest and hypothesis");
        return;
    };
    let mut probe = Command::new(&python);
    probe.args(["-c", "import numpy, pytest, hypothesis"]);
    if !probe.output().expect("BENCH_PYTHON runs").status.success() {
        eprintln!("skipped: the Python of BENCH_PYTHON lacks numpy, pytest or hypothesis");
        return;
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let site = Path::new(env!("CARGO_TARGET_TMPDIR")).join("site");
    let _ = fs::remove_dir_all(&site);
    copy_folder(&root.join("python"), &site);
    copy_folder(&root.join("../../python"), &site);
    fs::copy(library(), site.join("mase/_core.abi3.so")).unwrap();
    let mut pytest = Command::new(&python);
    pytest.args(["-m", "pytest", "-q", "-p", "no:cacheprovider"]);
    pytest.arg(root.join("tests"));
    pytest.env("PYTHONPATH", &site);
    pytest.env("PYTHONDONTWRITEBYTECODE", "1");
    assert!(pytest.status().unwrap().success(), "pytest failed");
}
