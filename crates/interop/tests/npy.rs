//! Arrays from NumPy, arrays that are broken, arrays that lie.

use interop::npy::{self, Array, Problem};
use std::fs;
use std::path::PathBuf;

/// A file of version 1.0 with this header text.
fn file(header: &str, data: &[u8]) -> Vec<u8> {
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.bytes());
    bytes.extend(data);
    bytes
}

fn header(descr: &str, fortran_order: &str, shape: &str) -> String {
    format!("{{'descr': '{descr}', 'fortran_order': {fortran_order}, 'shape': {shape}, }}\n")
}

fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&folder).expect("the target folder is writable");
    folder
}

#[test]
fn every_rank_comes_back_as_written() {
    for shape in [
        vec![],
        vec![0],
        vec![1],
        vec![7],
        vec![2, 3],
        vec![2, 1, 3, 4],
        vec![1; 64],
    ] {
        let n: usize = shape.iter().product();
        let values: Vec<f32> = (0..n).map(|i| i as f32 * 0.1 - 0.3).collect();
        let bytes = npy::encode(&shape, &values);
        assert_eq!((bytes.len() - 4 * n) % 64, 0, "elements are aligned");
        assert_eq!(npy::decode(&bytes).unwrap(), Array { shape, values });
    }
}

/// The bytes that NumPy 2.2 saves for `np.array([[1.5, -2.0]], dtype=np.float32)`.
#[test]
fn bytes_are_those_of_numpy() {
    let mut expected =
        b"\x93NUMPY\x01\x00\x76\x00{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), }"
            .to_vec();
    expected.extend([b' '].repeat(127 - expected.len()));
    expected.push(b'\n');
    expected.extend(1.5_f32.to_le_bytes());
    expected.extend((-2.0_f32).to_le_bytes());
    assert_eq!(npy::encode(&[1, 2], &[1.5, -2.0]), expected);
    let one_axis = npy::encode(&[1], &[0.0]);
    assert!(one_axis.windows(13).any(|text| text == b"'shape': (1,)"));
}

#[test]
fn special_values_keep_their_bits() {
    let values = [
        f32::NAN,
        f32::INFINITY,
        f32::NEG_INFINITY,
        -0.0,
        f32::MIN_POSITIVE / 2.0,
    ];
    let read = npy::decode(&npy::encode(&[5], &values)).unwrap().values;
    assert!(
        read.iter()
            .zip(values)
            .all(|(a, b)| a.to_bits() == b.to_bits())
    );
}

#[test]
fn other_types_and_byte_orders_are_converted() {
    let cases: [(&str, Vec<u8>, [f32; 2]); 12] = [
        (
            ">f4",
            [1.5_f32.to_be_bytes(), (-2.0_f32).to_be_bytes()].concat(),
            [1.5, -2.0],
        ),
        (
            "<f8",
            [0.1_f64.to_le_bytes(), (-2.0_f64).to_le_bytes()].concat(),
            [0.1, -2.0],
        ),
        (
            ">f8",
            [0.1_f64.to_be_bytes(), f64::INFINITY.to_be_bytes()].concat(),
            [0.1, f32::INFINITY],
        ),
        ("|i1", vec![0xff, 0x7f], [-1.0, 127.0]),
        ("|u1", vec![0xff, 0x7f], [255.0, 127.0]),
        ("|b1", vec![0, 1], [0.0, 1.0]),
        ("<i2", vec![0xfe, 0xff, 1, 0], [-2.0, 1.0]),
        (">i2", vec![0xff, 0xfe, 0, 1], [-2.0, 1.0]),
        (
            "<u4",
            vec![0, 0, 0, 0x80, 1, 0, 0, 0],
            [2_147_483_648.0, 1.0],
        ),
        (
            ">i4",
            vec![0x80, 0, 0, 0, 0, 0, 0, 1],
            [-2_147_483_648.0, 1.0],
        ),
        (
            "<i8",
            [i64::MIN.to_le_bytes(), 5_i64.to_le_bytes()].concat(),
            [-9.223_372e18, 5.0],
        ),
        (
            ">u8",
            [(1_u64 << 63).to_be_bytes(), 5_u64.to_be_bytes()].concat(),
            [9.223_372e18, 5.0],
        ),
    ];
    for (descr, data, expected) in cases {
        let array = npy::decode(&file(&header(descr, "False", "(2,)"), &data));
        assert_eq!(array.unwrap().values, expected, "{descr}");
    }
}

#[test]
fn fortran_order_becomes_c_order() {
    let stored: Vec<u8> = [0_u8, 3, 1, 4, 2, 5].to_vec();
    let array = npy::decode(&file(&header("|u1", "True", "(2, 3)"), &stored)).unwrap();
    assert_eq!(array.values, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
    let cube: Vec<u8> = (0..24).collect();
    let array = npy::decode(&file(&header("|u1", "True", "(2, 3, 4)"), &cube)).unwrap();
    for (i, j, k) in (0..24).map(|n| (n / 12, n / 4 % 3, n % 4)) {
        assert_eq!(array.values[i * 12 + j * 4 + k], (i + 2 * j + 6 * k) as f32);
    }
}

#[test]
fn headers_of_versions_two_and_three_are_read() {
    for version in [2, 3] {
        let text = header("<f4", "False", "()");
        let mut bytes = b"\x93NUMPY".to_vec();
        bytes.extend([version, 0]);
        bytes.extend((text.len() as u32).to_le_bytes());
        bytes.extend(text.bytes().chain(2.5_f32.to_le_bytes()));
        assert_eq!(
            npy::decode(&bytes).unwrap(),
            Array {
                shape: vec![],
                values: vec![2.5]
            }
        );
    }
}

#[test]
fn every_truncation_is_an_error() {
    let bytes = npy::encode(&[2, 3], &[1.0; 6]);
    for length in 0..bytes.len() {
        assert!(npy::decode(&bytes[..length]).is_err(), "{length}");
    }
}

#[test]
fn every_changed_byte_of_the_header_is_survived() {
    let bytes = npy::encode(&[2, 3], &[1.0; 6]);
    for (at, byte) in (0..bytes.len() - 24).flat_map(|at| (0..=255).map(move |byte| (at, byte))) {
        let mut hostile = bytes.clone();
        hostile[at] = byte;
        // A panic would fail the test; an array must at least be consistent.
        if let Ok(array) = npy::decode(&hostile) {
            assert_eq!(array.shape.iter().product::<usize>(), array.values.len());
        }
    }
}

#[test]
fn lies_and_nonsense_are_named() {
    let long = format!("({})", "1,".repeat(65));
    let huge = "(18446744073709551615, 18446744073709551615)";
    #[rustfmt::skip]
    let cases = [
        (b"PK\x03\x04".to_vec(), "is not a .npy file: it does not start with \\x93NUMPY"),
        (b"\x93NUMPY\x09\x00aaaa".to_vec(), "has format version 9.0; 1.0, 2.0 and 3.0 are known"),
        (b"\x93NUMPY\x02\x00\xff\xff\xff\xff".to_vec(), "header at byte 12: has 4294967295 bytes, more than the 65536 that are read"),
        (file(&header("<f4", "False", "(3,)"), &[0; 8]), "has 8 bytes of elements; shape [3] needs 12"),
        (file(&header("<f4", "False", "(3,)"), &[0; 16]), "has 16 bytes of elements; shape [3] needs 12"),
        (file(&header("<f4", "False", huge), &[]), "has 0 bytes of elements; shape [18446744073709551615, 18446744073709551615] needs more than memory holds"),
        (file(&header("<f4", "False", "(99999999999999999999,)"), &[]), "header at byte 61: size 99999999999999999999 is too large"),
        (file(&header("<f4", "False", "(-1,)"), &[]), "header at byte 61: expected a size, found '-'"),
        (file(&header("<f4", "False", &long), &[0; 4]), "header at byte 189: the shape has more than 64 axes"),
        (file(&header("|O", "False", "(1,)"), &[0; 8]), "dtype '|O' is not read; save the array as float32"),
        (file(&header("<f2", "False", "(1,)"), &[0; 2]), "dtype '<f2' is not read; save the array as float32"),
        (file(&header("é4", "False", "(1,)"), &[0; 4]), "dtype 'é4' is not read; save the array as float32"),
        (file(&header("<f8", "False", "(1,)"), &1e300_f64.to_le_bytes()), "element 0 is 1e300, which float32 cannot hold"),
        (file(&header("<i4", "False", "(2,)"), &[1, 0, 0, 0, 1, 0, 0, 1]), "element 1 is 16777217, which float32 cannot hold"),
        (file("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': ()}", &[0; 4]), "header at byte 20: the elements are records; save a plain float32 array"),
        (file("{'descr': '<f4', 'shape': ()}", &[0; 4]), "header at byte 39: 'fortran_order' is missing"),
        (file("{'shape': (), 'shape': ()}", &[0; 4]), "header at byte 35: 'shape' is given twice"),
        (file("{'x': 1}", &[0; 4]), "header at byte 11: unknown key 'x'"),
        (file("{'descr': '<f4", &[0; 4]), "header at byte 20: the string has no end"),
        (file(&"(".repeat(60_000), &[]), "header at byte 10: expected '{', found '('"),
        (file("{'descr': '<f4', 'fortran_order': 1, 'shape': ()}", &[0; 4]), "header at byte 44: expected True or False, found '1'"),
        (file("{'descr': '<f4', 'fortran_order': True, 'shape': ()} + 1", &[0; 4]), "header at byte 63: expected the end, found '+'"),
    ];
    for (bytes, expected) in cases {
        assert_eq!(npy::decode(&bytes).unwrap_err().to_string(), expected);
    }
}

#[test]
fn errors_name_the_file() {
    let missing = folder("npy_errors").join("missing.npy");
    let message = npy::read(&missing).unwrap_err().to_string();
    assert!(
        message.starts_with(&format!("{}: ", missing.display())),
        "{message}"
    );
    let is_folder = npy::read(&folder("npy_errors")).unwrap_err();
    assert!(matches!(is_folder.problem, Problem::Io(_)), "{is_folder}");
}

#[test]
fn files_are_replaced_whole_and_nothing_is_left_behind() {
    let folder = folder("npy_files");
    let path = folder.join("array.npy");
    for values in [[1.0, 2.0], [3.0, 4.0]] {
        npy::write(&path, &[2], &values).unwrap();
        assert_eq!(npy::read(&path).unwrap().values, values);
    }
    assert!(npy::write(&folder.join("no/such/folder.npy"), &[0], &[]).is_err());
    assert!(
        npy::write(&folder, &[0], &[]).is_err(),
        "a folder is not replaced"
    );
    let left: Vec<_> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(left, ["array.npy"]);
    let beside = folder.parent().unwrap();
    let left = fs::read_dir(beside)
        .unwrap()
        .map(|entry| entry.unwrap().file_name());
    assert!(
        left.into_iter()
            .all(|name| !name.to_string_lossy().starts_with(".npy_files"))
    );
}

/// Every part of a file that ends before its elements, in all three versions.
#[test]
fn a_file_that_ends_within_its_header_is_told_so() {
    let text = header("<f4", "False", "(1,)");
    for version in 1..=3_u8 {
        let mut bytes = b"\x93NUMPY".to_vec();
        bytes.extend([version, 0]);
        let length = (text.len() as u32).to_le_bytes();
        bytes.extend(if version == 1 { &length[..2] } else { &length });
        bytes.extend(text.bytes());
        for end in 6..bytes.len() {
            let problem = npy::decode(&bytes[..end]).unwrap_err();
            assert!(matches!(problem, Problem::ShortHeader), "{end}: {problem}");
        }
        bytes.extend(2.5_f32.to_le_bytes());
        assert_eq!(npy::decode(&bytes).unwrap().values, [2.5]);
    }
    let problem = npy::decode(b"\x93NUMPY\x04\x00\x01\x00").unwrap_err();
    assert!(matches!(problem, Problem::Version(4, 0)), "{problem}");
    let problem = npy::decode(b"\x93NUMPY\x01\x01\x01\x00").unwrap_err();
    assert!(matches!(problem, Problem::Version(1, 1)), "{problem}");
}

/// Elements take as much memory as they are many, so that an array of eight million bytes is no suspect.
#[test]
fn an_array_of_some_megabytes_is_within_its_budget() {
    let n = 1_100_000;
    let bytes = file(&header("<i8", "False", &format!("({n},)")), &vec![0; 8 * n]);
    let numbers = npy::decode_numbers(&bytes).unwrap();
    assert_eq!(numbers.shape, [n]);
    let array = npy::decode(&bytes).unwrap();
    assert_eq!((array.values.len(), array.shape), (n, vec![n]));
}
