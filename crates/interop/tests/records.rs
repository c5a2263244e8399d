//! Records in HDF5: every kind of field, files of many windows, and files that are not what they say.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use hdf5_pure::{
    CompoundTypeBuilder, Datatype, DatatypeByteOrder, FileBuilder, make_f32_type, make_f64_type,
    make_i8_type, make_i16_type, make_i64_type, make_u8_type, make_u16_type, make_u64_type,
};
use interop::columns::Table;
use interop::hdf5::{Records, parse};

const RECORDS: Records = Records {
    dataset: "rows",
    features: &["x"],
    one_hot: &["a", "b"],
    classes: &["A", "B"],
};

/// The type of a record: a feature at the start, two bytes with the label behind it, and what else fits.
fn record(size: u32, feature: &Datatype) -> Datatype {
    let end = u64::from(feature.type_size());
    CompoundTypeBuilder::with_size(size)
        .field("x", 0, feature.clone())
        .u8_field("a", end)
        .u8_field("b", end + 1)
        .build()
        .unwrap()
}

fn swapped(mut datatype: Datatype) -> Datatype {
    match &mut datatype {
        Datatype::FixedPoint { byte_order, .. } | Datatype::FloatingPoint { byte_order, .. } => {
            *byte_order = DatatypeByteOrder::BigEndian;
        }
        other => panic!("{other:?} has no order"),
    }
    datatype
}

/// A file of records with this feature.
fn file(feature: &Datatype, bytes: Vec<u8>, chunk_rows: Option<u64>) -> Vec<u8> {
    let size = feature.type_size() + 2;
    file_of(&record(size, feature), bytes, chunk_rows)
}

fn file_of(datatype: &Datatype, bytes: Vec<u8>, chunk_rows: Option<u64>) -> Vec<u8> {
    let n_rows = bytes.len() as u64 / u64::from(datatype.type_size());
    let mut builder = FileBuilder::new();
    let dataset = builder.create_dataset("rows");
    dataset.with_compound_data(datatype.clone(), bytes, n_rows);
    if let Some(rows) = chunk_rows {
        dataset.with_chunks(&[rows]).with_deflate(1);
    }
    builder.finish().unwrap()
}

fn refusal(bytes: Vec<u8>) -> String {
    parse(bytes, RECORDS).unwrap_err().to_string()
}

#[test]
fn every_kind_of_field_keeps_its_values() {
    let cases: &[(Datatype, &[u8], f32)] = &[
        (make_f32_type(), &1.5_f32.to_le_bytes(), 1.5),
        (swapped(make_f32_type()), &1.5_f32.to_be_bytes(), 1.5),
        (make_f64_type(), &(-0.25_f64).to_le_bytes(), -0.25),
        (swapped(make_f64_type()), &(-0.25_f64).to_be_bytes(), -0.25),
        (make_u8_type(), &[200], 200.0),
        (make_i8_type(), &[200], -56.0),
        (make_u16_type(), &40_000_u16.to_le_bytes(), 40_000.0),
        (make_i16_type(), &(-2_i16).to_le_bytes(), -2.0),
        (swapped(make_i16_type()), &(-2_i16).to_be_bytes(), -2.0),
        (make_i64_type(), &i64::MIN.to_le_bytes(), -9.223_372e18),
        (make_u64_type(), &u64::MAX.to_le_bytes(), 1.844_674_4e19),
    ];
    for (feature, value, expected) in cases {
        let bytes = [value, &[0, 1][..]].concat();
        let table = parse(file(feature, bytes, None), RECORDS).unwrap();
        assert_eq!(table.values, [*expected], "{feature:?}");
        assert_eq!(table.labels, [1]);
    }
}

/// Records of half a window and a bit: one in each window, or two where chunks hold two.
#[test]
fn windows_join_to_the_whole_table() {
    let size = (1 << 22) + 8;
    let datatype = record(size, &make_u8_type());
    let mut bytes = vec![0; 5 * size as usize];
    for (row, record) in bytes.chunks_exact_mut(size as usize).enumerate() {
        record[0] = row as u8 + 10;
        record[1 + row % 2] = 1;
    }
    for chunk_rows in [None, Some(1), Some(2), Some(5)] {
        let table = parse(file_of(&datatype, bytes.clone(), chunk_rows), RECORDS).unwrap();
        let expected = Table {
            features: vec!["x".to_owned()],
            values: vec![10.0, 11.0, 12.0, 13.0, 14.0],
            classes: vec!["A".to_owned(), "B".to_owned()],
            labels: vec![0, 1, 0, 1, 0],
        };
        assert_eq!(table, expected, "chunks of {chunk_rows:?}");
    }
}

#[test]
fn a_label_is_exactly_one_of_the_fields() {
    let labels = |a: u8, b: u8| file(&make_u8_type(), vec![7, 1, 0, 7, a, b], None);
    assert_eq!(parse(labels(1, 0), RECORDS).unwrap().labels, [0, 0]);
    let cases = [
        ((1, 1), "row 2, column 'b': 1 is no one-hot label"),
        ((0, 2), "row 2, column 'b': 2 is no one-hot label"),
        ((3, 1), "row 2, column 'a': 3 is no one-hot label"),
        ((0, 0), "row 2: belongs to no class"),
    ];
    for ((a, b), expected) in cases {
        let message = refusal(labels(a, b));
        assert!(message.starts_with(expected), "{message}");
    }
}

#[test]
fn what_is_no_table_of_numbers_is_named() {
    let message = refusal(file(
        &make_f64_type(),
        [&1e300_f64.to_le_bytes()[..], &[0, 1]].concat(),
        None,
    ));
    assert!(
        message.starts_with("row 1, column 'x': 1000000")
            && message.ends_with("not a finite float32"),
        "{message}"
    );
    let pair = CompoundTypeBuilder::with_size(2).u8_field("y", 0).build();
    let message = refusal(file(&pair.unwrap(), vec![0, 0, 0, 1], None));
    assert_eq!(
        message,
        "column 'x': is neither a float nor an integer of a record"
    );

    let mut builder = FileBuilder::new();
    builder.create_dataset("rows").with_u8_data(&[1, 2]);
    assert_eq!(
        refusal(builder.finish().unwrap()),
        "dataset 'rows': the rows are not records with named fields"
    );
    let mut builder = FileBuilder::new();
    let records = record(3, &make_u8_type());
    let dataset = builder.create_dataset("rows");
    dataset
        .with_compound_data(records, vec![7, 1, 0, 7, 1, 0], 2)
        .with_shape(&[2, 1]);
    assert_eq!(
        refusal(builder.finish().unwrap()),
        "dataset 'rows': has shape [2, 1]; one axis of records was expected"
    );
}
