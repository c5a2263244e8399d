//! `jsc` from a small file made by h5py, against NumPy's preparation; and the cache beside it.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use data::{DataError, Dataset, OpenOptions, open};
use std::cell::RefCell;
use std::fs;
use std::path::{Path, PathBuf};

const NAME: &str = "processed-pythia82-lhc13-all-pt1-50k-r1_h022_e0175_t220_nonu_truth.z";

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures")
        .join(name)
}

/// An own data folder with a file as `jsc` in it.
fn folder(test: &str, content: &[u8]) -> PathBuf {
    let root = PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
        .join("jets")
        .join(test);
    let _ = fs::remove_dir_all(&root);
    fs::create_dir_all(root.join("jsc")).unwrap();
    fs::write(root.join("jsc").join(NAME), content).unwrap();
    root
}

/// The dataset, and what was said while it was opened.
fn open_jets(root: &Path) -> (Result<Dataset, DataError>, Vec<String>) {
    let said = RefCell::new(Vec::new());
    let notice = |sentence: &str| said.borrow_mut().push(sentence.to_owned());
    let options = OpenOptions {
        data_dir: Some(root.to_owned()),
        offline: true,
        notice: Some(&notice),
        ..OpenOptions::default()
    };
    let opened = open("jsc", &options);
    (opened, said.into_inner())
}

#[test]
fn preparation_agrees_with_numpy() {
    let expected = interop::npy::read(&fixture("jets_prepared.npy")).unwrap();
    for name in ["jets.h5", "jets_v110.h5", "jets_latest.h5"] {
        let root = folder(name, &fs::read(fixture(name)).unwrap());
        let set = open_jets(&root).0.unwrap();
        assert_eq!(set.info.classes, ["g", "q", "w", "z", "t"]);
        assert_eq!(set.train.labels().len(), expected.shape[0]);
        for (row, expected) in expected.values.chunks_exact(18).enumerate() {
            let got = &set.train.rows()[row * 16..][..16];
            for (got, expected) in got.iter().zip(expected) {
                // Sums in another order: the last bits may differ.
                assert!(
                    (got - expected).abs() <= 1e-6 * expected.abs().max(1.0),
                    "row {row}: {got}, not {expected}"
                );
            }
            assert_eq!(set.train.labels()[row] as f32, expected[16], "row {row}");
            let splits = [&set.train, &set.val, &set.test];
            let parts = splits.map(|split| split.indices().contains(&(row as u32)));
            let mut only = [false; 3];
            only[expected[17] as usize] = true;
            assert_eq!(parts, only, "row {row}");
        }
    }
}

/// The sentence holds the call that converts the file.
#[test]
fn a_file_of_a_newer_version_is_refused_with_the_way_to_convert_it() {
    let root = folder("newer", &fs::read(fixture("jets_latest_gzip.h5")).unwrap());
    let message = open_jets(&root).0.map(|_| ()).unwrap_err().to_string();
    let expected = "dataset 't_allpar_new': HDF5 format error: invalid data layout version: 5: it was written by \
                    HDF5 2.0 or newer with libver='latest'; write it again in Python as an older version, \
                    h5py.File('NEW', 'w', libver=('earliest', 'v110'))['t_allpar_new'] = \
                    h5py.File('OLD')['t_allpar_new'][()]";
    assert!(message.ends_with(expected), "{message}");
}

#[test]
fn the_second_opening_reads_the_cache() {
    let root = folder("cache", &fs::read(fixture("jets.h5")).unwrap());
    let (first, said) = open_jets(&root);
    assert_eq!(said, ["jsc: prepared 152 rows, dropped 5 that occur twice"]);
    let (second, said) = open_jets(&root);
    assert!(said.is_empty(), "{said:?}");
    let (first, second) = (first.unwrap(), second.unwrap());
    assert_eq!(first.info, second.info);
    assert_eq!(first.train.rows(), second.train.rows());
    assert_eq!(first.test.indices(), second.test.indices());
}

#[test]
fn a_bad_cache_is_made_anew() {
    let root = folder("bad_cache", &fs::read(fixture("jets.h5")).unwrap());
    let first = open_jets(&root).0.unwrap();
    let cache = root.join("jsc").join(format!("{NAME}.prepared"));
    let good = fs::read(&cache).unwrap();
    let flipped = |at: usize| {
        let mut bytes = good.clone();
        bytes[at] ^= 1;
        bytes
    };
    let cases = [
        ("magic", flipped(0), "another version"),
        ("version", flipped(8), "another version"),
        ("source", flipped(24), "was made from other data"),
        ("rows", flipped(40), "wrong length"),
        ("value", flipped(1000), "is damaged"),
        ("label", flipped(good.len() - 200), "is damaged"),
        ("part", flipped(good.len() - 1), "is damaged"),
        ("short", good[..good.len() - 1].to_vec(), "wrong length"),
        ("long", [&good[..], &[0]].concat(), "wrong length"),
        ("header", good[..50].to_vec(), "failed to fill"),
    ];
    for (name, bytes, expected) in cases {
        fs::write(&cache, bytes).unwrap();
        let (again, said) = open_jets(&root);
        assert!(
            said[0].contains(expected) && said[0].contains("anew"),
            "{name}: {said:?}"
        );
        assert_eq!(again.unwrap().info.hash, first.info.hash, "{name}");
        assert!(
            fs::read(&cache).unwrap() == good,
            "{name}: not written again"
        );
    }
}

#[test]
fn damaged_jet_files_are_named() {
    let good = fs::read(fixture("jets.h5")).unwrap();
    let error = |test: &str, content: &[u8]| {
        let root = folder(test, content);
        let message = open_jets(&root).0.unwrap_err().to_string();
        assert!(message.contains(NAME), "{message}");
        message
    };
    assert!(error("not_hdf5", b"hello").contains("is not an HDF5 file"));
    for length in [0, 7, 100, good.len() / 2, good.len() - 100] {
        error("truncated", &good[..length]);
    }
    let renamed = |from: &str, to: &str| {
        let text = good
            .windows(from.len())
            .position(|bytes| bytes == from.as_bytes())
            .unwrap();
        let mut bytes = good.clone();
        bytes[text..text + to.len()].copy_from_slice(to.as_bytes());
        bytes
    };
    let message = error("column", &renamed("j_c2_b2_mmdt", "j_c2_bb_mmdt"));
    assert!(
        message.contains("has no column 'j_c2_b2_mmdt'; it has j_index, j_pt, ")
            && message.contains("; did you mean 'j_c1_b2_mmdt'"),
        "{message}"
    );
    assert!(message.contains("'j_c2_bb_mmdt'"), "{message}");
}

#[test]
fn a_missing_file_is_one_sentence_with_a_way_out() {
    let root = folder("missing", b"");
    let options = OpenOptions {
        data_dir: Some(root.clone()),
        offline: true,
        ..OpenOptions::default()
    };
    // The folder of jsc must not serve jsc-openml.
    let message = open("jsc-openml", &options).unwrap_err().to_string();
    assert!(
        message
            .starts_with("dataset 'jsc-openml' needs hls4ml_lhc_jets_hlf.arff, which is not in "),
        "{message}"
    );
    assert!(message.contains(&root.display().to_string()), "{message}");
    assert!(message.contains("the network may not be used"), "{message}");
    assert!(
        message.ends_with("or use 'jsc-sim', jets that the program makes"),
        "{message}"
    );
}
