//! Parquet files are refused with advice by builds without the feature; reading them is tested where the reader is.
#![cfg(not(feature = "parquet"))]

use data::{OpenOptions, open};

#[test]
fn the_way_out_is_named() {
    let opened = open("jets.parquet:class", &OpenOptions::default());
    let message = opened.unwrap_err().to_string();
    assert!(message.starts_with("jets.parquet: "), "{message}");
    assert!(
        message.contains("--features parquet") && message.contains("CSV"),
        "{message}"
    );
}
