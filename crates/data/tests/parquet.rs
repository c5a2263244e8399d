//! Parquet files are known by their ending, and refused with advice by builds without the feature; reading them is tested
//! where the reader is.

use data::{OpenOptions, open};
use std::fs;
use std::path::PathBuf;

#[test]
fn the_reader_of_parquet_or_the_way_out_is_named() {
    let expected = if cfg!(feature = "parquet") {
        "is not a Parquet file"
    } else {
        "Parquet files are read by programs built with `--features parquet`; this one was not, so save the table as CSV"
    };
    let root = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("parquet");
    let folder = root.join("jsc-openml");
    for name in [
        "hls4ml_lhc_jets_hlf.parquet",
        "hls4ml_lhc_jets_hlf.pq",
        "dataset_42468.pq",
    ] {
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).expect("the target folder is writable");
        let path = folder.join(name);
        fs::write(&path, b"hello").expect("the target folder is writable");
        let options = OpenOptions {
            data_dir: Some(root.clone()),
            offline: true,
            ..OpenOptions::default()
        };
        for opened in [
            open("jsc-openml", &options),
            open(&format!("{}:class", path.display()), &options),
        ] {
            let message = opened.map(|_| ()).expect_err("no table").to_string();
            let start = format!("{}: ", path.display());
            assert!(message.starts_with(&start), "{message}");
            assert!(message.contains(expected), "{message}");
        }
    }
}
