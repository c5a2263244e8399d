//! The tests of the Python package, run by pytest over the library that this build made. Need a Python with NumPy, pytest and
//! hypothesis, named by `$BENCH_PYTHON`, and one with PyTorch, in `.tools/torch`; those of PyTorch are skipped in the first where
//! it has none.
#![forbid(unsafe_code)]
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::env;
use std::ffi::OsStr;
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

/// The packages with the library of this build, in a folder of their own.
fn packages(name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let site = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&site);
    copy_folder(&root.join("python"), &site);
    copy_folder(&root.join("../../python"), &site);
    fs::copy(library(), site.join("mase/_core.abi3.so")).unwrap();
    site
}

/// Runs pytest on some files of the tests, or on all.
fn pytest(python: &OsStr, site: &Path, files: &[&str]) {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let mut pytest = Command::new(python);
    pytest.args(["-m", "pytest", "-q", "-p", "no:cacheprovider"]);
    match files {
        [] => pytest.arg(&tests),
        files => pytest.args(files.iter().map(|file| tests.join(file))),
    };
    pytest.env("PYTHONPATH", site);
    pytest.env("PYTHONDONTWRITEBYTECODE", "1");
    assert!(pytest.status().unwrap().success(), "pytest failed");
}

/// True when a Python has some packages.
fn has(python: &OsStr, packages: &str) -> bool {
    let mut probe = Command::new(python);
    probe.args(["-c", &format!("import {packages}")]);
    probe.output().expect("the Python runs").status.success()
}

#[test]
fn pytest_passes() {
    let Some(python) = env::var_os("BENCH_PYTHON") else {
        eprintln!("skipped: set BENCH_PYTHON to a Python with numpy, pytest and hypothesis");
        return;
    };
    if !has(&python, "numpy, pytest, hypothesis") {
        eprintln!("skipped: the Python of BENCH_PYTHON lacks numpy, pytest or hypothesis");
        return;
    }
    pytest(&python, &packages("site"), &[]);
}

#[test]
fn pytest_passes_with_pytorch() {
    let python = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.tools/torch/bin/python");
    if !python.exists() {
        eprintln!("skipped: .tools/torch has no Python; scripts/test-tools.sh gets it");
        return;
    }
    if !has(python.as_os_str(), "numpy, pytest, torch") {
        eprintln!("skipped: the Python of .tools/torch lacks numpy, pytest or PyTorch");
        return;
    }
    let site = packages("site_pytorch");
    let files = [
        "test_torch.py",
        "test_chop.py",
        "test_layers.py",
        "test_places.py",
        "test_bert.py",
        "test_networks.py",
        "test_docs.py",
    ];
    pytest(python.as_os_str(), &site, &files);
}
