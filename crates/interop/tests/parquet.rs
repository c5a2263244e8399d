//! Parquet tables: written by the library, read by us, whole and cut.
#![cfg(feature = "parquet")]
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use interop::parquet::read;
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use std::path::PathBuf;
use std::sync::Arc;

fn file(name: &str, content: &[u8]) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, content).unwrap();
    path
}

fn table(fourth: f64) -> Vec<u8> {
    let schema = "message table { required double x; required binary y (utf8); }";
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let mut bytes = Vec::new();
    let properties = Arc::new(WriterProperties::builder().build());
    let mut writer = SerializedFileWriter::new(&mut bytes, schema, properties).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let mut numbers: Vec<f64> = (0..20).map(f64::from).collect();
    numbers[3] = fourth;
    let mut column = group.next_column().unwrap().unwrap();
    let typed = column.typed::<DoubleType>();
    typed.write_batch(&numbers, None, None).unwrap();
    column.close().unwrap();
    let kinds: Vec<ByteArray> = (0..20).map(|row| ["dog", "cat"][row % 2].into()).collect();
    let mut column = group.next_column().unwrap().unwrap();
    let typed = column.typed::<ByteArrayType>();
    typed.write_batch(&kinds, None, None).unwrap();
    column.close().unwrap();
    group.close().unwrap();
    writer.close().unwrap();
    bytes
}

#[test]
fn plain_columns_are_read() {
    let read = read(&file("good.parquet", &table(0.1)), "y").unwrap();
    assert_eq!(read.classes, ["cat", "dog"]);
    assert_eq!(read.labels[..3], [1, 0, 1]);
    assert_eq!(read.features, ["x"]);
    assert_eq!(read.values[..5], [0.0, 1.0, 2.0, 0.1, 4.0]);
}

#[test]
fn bad_files_are_named() {
    let message = |name: &str, content: &[u8], label: &str| {
        let message = read(&file(name, content), label).unwrap_err().to_string();
        assert!(message.contains(name), "{message}");
        message
    };
    let good = table(3.0);
    let nan = message("nan.parquet", &table(f64::NAN), "y");
    assert!(
        nan.ends_with("row 4, column 'x': 'NaN' is not a finite float32"),
        "{nan}"
    );
    assert!(message("column.parquet", &good, "z").contains("has no column 'z'"));
    assert!(message("text.parquet", b"hello", "y").contains("is not a Parquet file"));
    for end in (0..good.len()).step_by(7) {
        message("short.parquet", &good[..end], "y");
    }
}
