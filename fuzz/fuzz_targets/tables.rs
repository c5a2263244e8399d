//! Any bytes as any kind of table: reading never panics, and what is read is whole, finite and labelled.
#![no_main]

use interop::hdf5::Records;
use interop::columns::{Table, TableProblem};
use interop::{Budget, arff, csv, hdf5, idx, npz, tar};
use libfuzzer_sys::fuzz_target;

const RECORDS: Records = Records {
    dataset: "t_allpar_new",
    features: &["j_zlogz", "j_c1_b0_mmdt", "j_multiplicity"],
    one_hot: &["j_g", "j_q", "j_w", "j_z", "j_t"],
    classes: &["g", "q", "w", "z", "t"],
};

fn budget(bytes: &[u8]) -> Budget {
    Budget::of_size(bytes.len() as u64)
}

// The first byte chooses the reader.
fuzz_target!(|data: &[u8]| {
    let Some((kind, bytes)) = data.split_first() else { return };
    match kind % 6 {
        0 => check(csv::parse(bytes, "y", &budget(bytes))),
        1 => check(arff::parse(bytes, "y", &budget(bytes))),
        2 => check(npz::parse(bytes, "y").map(|(table, _)| table)),
        3 => check(hdf5::parse(bytes.to_vec(), RECORDS)),
        4 => match idx::parse(bytes, &budget(bytes)) {
            Ok(array) => assert_eq!(array.shape.iter().product::<usize>(), array.values.len()),
            Err(problem) => drop(problem.to_string()),
        },
        _ => drop(tar::visit(bytes, 1 << 20, &budget(bytes), |_, _| Ok(())).map_err(|problem| problem.to_string())),
    }
});

fn check(table: Result<Table, TableProblem>) {
    let table = match table {
        Ok(table) => table,
        Err(problem) => return drop(problem.to_string()),
    };
    assert_eq!(table.values.len(), table.labels.len() * table.features.len());
    assert!(!table.labels.is_empty());
    assert!(table.values.iter().all(|value| value.is_finite()));
    assert!(table.labels.iter().all(|&label| (label as usize) < table.classes.len()));
}
