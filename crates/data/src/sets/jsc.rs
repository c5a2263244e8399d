//! `jsc`: the jets of the labs, from the HDF5 file at CERN.
//!
//! Rows that occur twice are dropped, a fifth is held for testing, every feature is standardised with the training
//! part's mean and deviation; the result is kept beside the file.
//! Differs from MASE: the original prepares the rows anew in every run, and draws the test rows with another generator.

use crate::cache::{self, Prepared, Shape};
use crate::catalog::{FileEntry, Origin};
use crate::dataset::{Dataset, Rows};
use crate::download::{Check, Kind};
use crate::error::DataError;
use crate::open::Request;
use crate::preparation::Standardizer;
use crate::prepare;
use interop::columns::Table;
use interop::hdf5::{self, Records};

/// The file.
pub(crate) const FILES: &[FileEntry] = &[FileEntry {
    names: &["processed-pythia82-lhc13-all-pt1-50k-r1_h022_e0175_t220_nonu_truth.z"],
    origin: Some(Origin {
        url: "https://cernbox.cern.ch/s/jvFd5MoWhGs1l5v/download",
        n_bytes: None,
        check: Check::Kind(Kind::Hdf5),
    }),
}];

#[rustfmt::skip]
const FEATURES: &[&str] = &[
    "j_zlogz", "j_c1_b0_mmdt", "j_c1_b1_mmdt", "j_c1_b2_mmdt", "j_c2_b1_mmdt", "j_c2_b2_mmdt", "j_d2_b1_mmdt",
    "j_d2_b2_mmdt", "j_d2_a1_b1_mmdt", "j_d2_a1_b2_mmdt", "j_m2_b1_mmdt", "j_m2_b2_mmdt", "j_n2_b1_mmdt",
    "j_n2_b2_mmdt", "j_mass_mmdt", "j_multiplicity",
];

/// Reads the file, or what was kept of it.
pub(crate) fn load(request: &Request) -> Result<Dataset, DataError> {
    let path = &request.paths[0];
    let classes = request.entry.classes;
    let one_hot: Vec<String> = classes.iter().map(|class| format!("j_{class}")).collect();
    let one_hot: Vec<&str> = one_hot.iter().map(String::as_str).collect();
    let records = Records {
        dataset: "t_allpar_new",
        features: FEATURES,
        one_hot: &one_hot,
        classes,
    };
    let shape = Shape {
        width: FEATURES.len(),
        n_classes: classes.len(),
    };
    let prepared = cache::prepared(path, shape, request.options, || {
        prepare_table(request, hdf5::read(path, records)?)
    })?;
    let features = FEATURES.iter().map(ToString::to_string).collect();
    Ok(assemble(request, features, prepared))
}

/// Drops duplicates, splits and standardises; shared with `jsc-openml`.
pub(crate) fn prepare_table(request: &Request, table: Table) -> Result<Prepared, DataError> {
    let mut rows = Rows {
        width: table.features.len(),
        values: table.values,
        labels: table.labels,
    };
    let n_dropped = prepare::drop_duplicates(&mut rows);
    let n_rows = rows.labels.len();
    if n_rows < prepare::MIN_ROWS {
        return Err(DataError::Content {
            path: request.paths[0].clone(),
            message: prepare::too_few(n_rows),
        });
    }
    let parts = prepare::split(n_rows);
    Standardizer::of(&rows, &parts).apply(&mut rows.values);
    request.options.report(&format!(
        "{}: prepared {n_rows} rows, dropped {n_dropped} that occur twice",
        request.entry.name
    ));
    Ok(Prepared { rows, parts })
}

/// The dataset of prepared rows; shared with `jsc-openml`.
pub(crate) fn assemble(request: &Request, features: Vec<String>, prepared: Prepared) -> Dataset {
    let info = request.info(features);
    prepare::assemble(
        info,
        prepared.rows,
        &prepared.parts,
        request.options.val_split,
    )
}
