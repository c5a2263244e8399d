//! Tables that others wrote, whole and damaged: nothing panics, and what is read is whole, finite and labelled.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use interop::columns::{Table, TableProblem};
use interop::hdf5::Records;
use interop::{Budget, arff, csv, hdf5, idx, npy, npz, tar};
use std::fs;
use std::path::Path;

const RECORDS: Records = Records {
    dataset: "t_allpar_new",
    features: &["j_zlogz", "j_c1_b0_mmdt", "j_multiplicity"],
    one_hot: &["j_g", "j_q", "j_w", "j_z", "j_t"],
    classes: &["g", "q", "w", "z", "t"],
};

fn budget(bytes: &[u8]) -> Budget {
    Budget::of_size(bytes.len() as u64)
}

/// As the fuzz target has it: the first byte chooses the reader.
fn read(kind: u8, bytes: &[u8]) {
    match kind % 6 {
        0 => check(csv::parse(bytes, "y", &budget(bytes))),
        1 => check(arff::parse(bytes, "y", &budget(bytes))),
        2 => check(npz::parse(bytes, "y").map(|(table, _)| table)),
        3 => check(hdf5::parse(bytes.to_vec(), RECORDS)),
        4 => match idx::parse(bytes, &budget(bytes)) {
            Ok(array) => assert_eq!(array.shape.iter().product::<usize>(), array.values.len()),
            Err(problem) => drop(problem.to_string()),
        },
        _ => drop(tar::visit(bytes, 1 << 20, &budget(bytes), |_, _| Ok(()))),
    }
}

fn check(table: Result<Table, TableProblem>) {
    let table = match table {
        Ok(table) => table,
        Err(problem) => return drop(problem.to_string()),
    };
    assert_eq!(
        table.values.len(),
        table.labels.len() * table.features.len()
    );
    assert!(!table.labels.is_empty());
    assert!(table.values.iter().all(|value| value.is_finite()));
    assert!(
        table
            .labels
            .iter()
            .all(|&label| (label as usize) < table.classes.len())
    );
}

fn fixture(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../data/tests/fixtures");
    fs::read(folder.join(name)).unwrap()
}

fn samples() -> Vec<(u8, Vec<u8>)> {
    vec![
        (0, b"x,y\n1,a\n\"2\",\"b \"\"c\"\"\"\n".to_vec()),
        (
            1,
            b"@relation r\n@attribute x real\n@attribute y {a, b}\n@data\n1,a\n2,'b'\n".to_vec(),
        ),
        (2, fixture("table.npz")),
        (3, fixture("jets.h5")),
        (3, fixture("jets_v110.h5")),
        (4, b"\0\0\x08\x02\0\0\0\x02\0\0\0\x03abcdef".to_vec()),
        (2, fixture("text_labels.npz")),
    ]
}

#[test]
fn the_samples_are_read() {
    assert_eq!(
        csv::parse(&samples()[0].1[..], "y", &budget(&[]))
            .unwrap()
            .classes,
        ["a", "b \"c\""]
    );
    assert_eq!(
        arff::parse(&samples()[1].1[..], "y", &budget(&[]))
            .unwrap()
            .labels,
        [0, 1]
    );
    assert_eq!(npz::parse(&samples()[2].1, "y").unwrap().0.labels.len(), 20);
    for sample in &samples()[3..5] {
        assert_eq!(
            hdf5::parse(sample.1.clone(), RECORDS).unwrap().labels.len(),
            157
        );
    }
    assert_eq!(
        idx::parse(&samples()[5].1[..], &budget(&[])).unwrap().shape,
        [2, 3]
    );
}

#[test]
fn cut_and_changed_files_do_not_panic() {
    for (kind, bytes) in samples() {
        let step = (bytes.len() / 400).max(1);
        for at in (0..bytes.len()).step_by(step) {
            read(kind, &bytes[..at]);
            for flip in [0x01, 0x80, 0xff] {
                let mut changed = bytes.clone();
                changed[at] ^= flip;
                read(kind, &changed);
            }
        }
    }
}

/// Inputs that a fuzzer once found.
#[test]
fn findings_do_not_panic() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/findings/tables");
    let Ok(entries) = fs::read_dir(folder) else {
        println!("no findings to replay");
        return;
    };
    for path in entries.flatten().map(|entry| entry.path()) {
        if let Some((kind, bytes)) = fs::read(path).unwrap().split_first() {
            read(*kind, bytes);
        }
    }
}

#[test]
fn labels_of_an_archive_may_be_texts() {
    let (table, shape) = npz::parse(&fixture("text_labels.npz"), "y").unwrap();
    assert_eq!(table.classes, ["gluon", "quark", "w", "ü"]);
    assert_eq!(table.labels, [0, 1, 2, 3, 0, 1, 2, 3]);
    assert_eq!(shape, [2]);
}

/// The array called x, or the only one that has as many rows as there are labels.
#[test]
fn features_are_found_by_their_name_or_by_their_rows() {
    let numbers = |shape: &[usize], first: i64| npy::Numbers {
        shape: shape.to_vec(),
        values: npy::Values::I64(
            (0..shape.iter().product::<usize>() as i64)
                .map(|k| first + k)
                .collect(),
        ),
    };
    let features = |arrays: &[(&str, npy::Numbers)]| {
        let named = arrays
            .iter()
            .map(|(name, array)| ((*name).to_owned(), array.clone()));
        let arrays: Vec<_> = named.chain([("y".to_owned(), numbers(&[3], 0))]).collect();
        let bytes = npz::encode(&arrays).unwrap();
        let table = npz::parse(&bytes, "y").map(|(table, _)| (table.features, table.values));
        table.map_err(|problem| problem.to_string())
    };
    let names = |names: [&str; 2]| names.map(str::to_owned).to_vec();
    let alone = features(&[("foo", numbers(&[3, 2], 10))]).unwrap();
    assert_eq!(
        alone,
        (
            names(["foo0", "foo1"]),
            vec![10.0, 11.0, 12.0, 13.0, 14.0, 15.0]
        )
    );
    let (found, _) =
        features(&[("foo", numbers(&[3, 2], 10)), ("x", numbers(&[3, 2], 0))]).unwrap();
    assert_eq!(found, names(["x0", "x1"]));
    let (found, _) =
        features(&[("foo", numbers(&[3, 2], 10)), ("bar", numbers(&[2, 2], 0))]).unwrap();
    assert_eq!(found, names(["foo0", "foo1"]));
    let two = features(&[("foo", numbers(&[3, 2], 10)), ("bar", numbers(&[3, 1], 0))]);
    assert_eq!(
        two,
        Err("archive: 2 arrays could be the features; call one of them x".to_owned())
    );
    let flat = features(&[("foo", numbers(&[3], 10))]);
    assert_eq!(
        flat,
        Err("archive: 0 arrays could be the features; call one of them x".to_owned())
    );
    let short = features(&[("x", numbers(&[2, 2], 0))]);
    assert_eq!(
        short,
        Err("array 'x': has shape [2, 2]; 3 rows of features were expected".to_owned())
    );
}
