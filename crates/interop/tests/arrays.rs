//! Arrays whose integers stay integers, alone and in archives.

use interop::npy::{self, Numbers, Values};
use interop::npz;

/// The file of an array, whose elements are given as bytes.
fn npy(descr: &str, is_fortran: bool, shape: &str, data: &[u8]) -> Vec<u8> {
    let order = if is_fortran { "True" } else { "False" };
    let header =
        format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': ({shape}), }}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(data);
    bytes
}

fn integers(shape: &[usize], values: &[i64]) -> Numbers {
    Numbers {
        shape: shape.to_vec(),
        values: Values::I64(values.to_vec()),
    }
}

fn floats(shape: &[usize], values: &[f32]) -> Numbers {
    Numbers {
        shape: shape.to_vec(),
        values: Values::F32(values.to_vec()),
    }
}

#[test]
fn every_integer_type_keeps_its_values() {
    // Neither is a number of float32.
    let (low, high) = (-(1_i64 << 24) - 1, (1_i64 << 53) + 1);
    let wide = [low.to_le_bytes(), high.to_le_bytes()].concat();
    let swapped = [low.to_be_bytes(), high.to_be_bytes()].concat();
    let cases: &[(&str, &[u8], [i64; 2])] = &[
        ("|i1", &[0xff, 0x7f], [-1, 127]),
        ("|u1", &[0xff, 0x7f], [255, 127]),
        ("<i2", &[0x00, 0x80, 0x01, 0x00], [-32768, 1]),
        (">u2", &[0x80, 0x00, 0x00, 0x01], [32768, 1]),
        ("<i4", &[0xff, 0xff, 0xff, 0xff, 7, 0, 0, 0], [-1, 7]),
        ("<i8", &wide, [low, high]),
        (">i8", &swapped, [low, high]),
        ("|b1", &[0, 1], [0, 1]),
    ];
    for (descr, data, expected) in cases {
        let array = npy::decode_numbers(&npy(descr, false, "2,", data)).unwrap();
        assert_eq!(array, integers(&[2], expected), "{descr}");
    }
    let array = npy::decode_numbers(&npy("<f4", false, "1,", &1.5_f32.to_le_bytes())).unwrap();
    assert_eq!(array, floats(&[1], &[1.5]));
}

#[test]
fn an_integer_beyond_int64_is_refused_by_its_value() {
    let error = npy::decode_numbers(&npy("<u8", false, "1,", &u64::MAX.to_le_bytes()));
    assert_eq!(
        error.unwrap_err().to_string(),
        "element 0 is 18446744073709551615, which int64 cannot hold"
    );
}

#[test]
fn integers_of_either_order_come_out_by_rows() {
    let array = npy::decode_numbers(&npy("|u1", true, "2, 3", &[1, 4, 2, 5, 3, 6])).unwrap();
    assert_eq!(array, integers(&[2, 3], &[1, 2, 3, 4, 5, 6]));
}

#[test]
fn an_archive_gives_back_the_arrays_it_was_made_from() {
    let mut arrays = vec![
        ("mask".to_owned(), floats(&[2, 1], &[0.5, -1.0])),
        ("ids".to_owned(), integers(&[2, 2], &[3, -4, 1 << 40, 0])),
    ];
    let bytes = npz::encode(&arrays).unwrap();
    arrays.sort_by(|a, b| a.0.cmp(&b.0));
    let read = npz::parse_arrays(&bytes, None).unwrap();
    assert_eq!(read.arrays, arrays);
    assert!(read.labels.is_empty() && read.classes.is_empty());
}

#[test]
fn labels_are_no_array_and_keep_their_order() {
    let arrays = [
        ("ids".to_owned(), integers(&[3], &[9, 8, 7])),
        ("label".to_owned(), integers(&[3], &[10, 2, 10])),
    ];
    let read = npz::parse_arrays(&npz::encode(&arrays).unwrap(), Some("label")).unwrap();
    assert_eq!(read.arrays, arrays[..1]);
    assert_eq!(read.classes, ["2", "10"]);
    assert_eq!(read.labels, [1, 0, 1]);
}

#[test]
fn what_cannot_be_fed_is_refused_with_its_place() {
    let nan = [(
        "mask".to_owned(),
        floats(&[2, 2], &[0.0, 0.0, 0.0, f32::NAN]),
    )];
    let error = npz::parse_arrays(&npz::encode(&nan).unwrap(), None).unwrap_err();
    assert_eq!(
        error.to_string(),
        "row 2, column 'mask1': NaN is not a finite float32"
    );
    let error = npz::parse_arrays(&npz::encode(&nan).unwrap(), Some("label")).unwrap_err();
    assert_eq!(error.to_string(), "has no column 'label'; it has mask");
    let twice = [nan[0].clone(), nan[0].clone()];
    assert!(npz::encode(&twice).is_err());
}
