//! Datasets whose files are not there, with and without leave to fetch them.

mod folder;
mod support;

use folder::Folder;
use std::fs;
use support::{ch, ch_with, words};

/// Every command that opens a dataset.
const COMMANDS: &[&str] = &[
    "data get mnist",
    "data info mnist",
    "compare lenet5 lenet5 mnist",
    "train lenet5 mnist --project net",
    "test lenet5 mnist",
    "predict lenet5 mnist --out y.npy",
];

#[test]
fn nothing_is_fetched_offline_and_the_error_names_file_and_folder() {
    let folder = Folder::new("downloads_offline");
    let path = folder.to_str().unwrap();
    let settings: &[(&str, &[(&str, &str)])] =
        &[(" --offline", &[]), ("", &[("MASE_OFFLINE", "1")])];
    for command in COMMANDS {
        for (option, offline) in settings {
            let places = [("MASE_DATA", path), ("XDG_CACHE_HOME", path)];
            let variables = [&places, *offline].concat();
            let printed = ch_with(&words(&format!("{command}{option}")), &folder, &variables);
            let expected = format!(
                "error: dataset 'mnist' needs train-images-idx3-ubyte.gz, train-labels-idx1-ubyte.gz, \
                 t10k-images-idx3-ubyte.gz, t10k-labels-idx1-ubyte.gz, which is not in {path}, {path}/mase and the \
                 network may not be used (--offline or MASE_OFFLINE); put it into {path}/mnist \
                 (from http://yann.lecun.com/exdb/mnist/), or use 'toy_tiny', images that the program makes\n"
            );
            assert!(
                printed.stderr.ends_with(&expected),
                "{command}: {}",
                printed.stderr
            );
            assert!(
                !printed.stderr.contains("fetching"),
                "{command}: {}",
                printed.stderr
            );
            assert_eq!(printed.code, Some(2), "{command}");
        }
    }
    assert!(!fs::exists(folder.join("mnist")).unwrap());
}

#[test]
fn what_the_program_makes_is_there_offline() {
    let folder = Folder::new("downloads_built_in");
    for line in ["data get jsc-sim --offline", "data info toy_tiny --offline"] {
        let printed = ch(&words(line), &folder);
        assert_eq!(printed.code, Some(0), "{line}: {}", printed.stderr);
        assert!(!printed.stdout.is_empty(), "{line}");
    }
}
