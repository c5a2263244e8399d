//! Named arrays for networks that take integers or several inputs.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use data::{
    Dataset, NetworkInput, OpenOptions, Scaling, Standardize, Standardizer, Values, open,
    open_unlabeled,
};
use interop::npy::Numbers;
use ir::{DType, Elements, Graph, verify};
use std::cell::RefCell;
use std::path::PathBuf;

const ROWS: usize = 50;

/// A file in a folder of this test's own.
fn file(name: &str, content: &[u8]) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("arrays");
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join(name);
    std::fs::write(&path, content).unwrap();
    path
}

fn archive(name: &str, arrays: &[(&str, Numbers)]) -> PathBuf {
    let named = |(name, array): &(&str, Numbers)| ((*name).to_owned(), array.clone());
    let arrays: Vec<(String, Numbers)> = arrays.iter().map(named).collect();
    file(name, &interop::npz::encode(&arrays).unwrap())
}

/// Integers below 10, row after row.
fn ids(rows: usize, length: usize) -> Numbers {
    Numbers {
        shape: vec![rows, length],
        values: Values::I64((0..rows * length).map(|k| (k * 7 % 10) as i64).collect()),
    }
}

fn floats(rows: usize, length: usize) -> Numbers {
    Numbers {
        shape: vec![rows, length],
        values: Values::F32((0..rows * length).map(|k| k as f32 * 0.5).collect()),
    }
}

fn labels(rows: usize) -> Numbers {
    Numbers {
        shape: vec![rows],
        values: Values::I64((0..rows).map(|row| (row % 2) as i64).collect()),
    }
}

fn input(name: &str, dtype: DType, default: Option<i64>) -> NetworkInput {
    NetworkInput {
        name: name.to_owned(),
        dtype,
        default,
    }
}

fn tokens() -> Vec<NetworkInput> {
    vec![input("tokens", DType::I64, None)]
}

fn pair() -> Vec<NetworkInput> {
    vec![
        input("ids", DType::I64, None),
        input("mask", DType::F32, Some(1)),
    ]
}

fn opened(path: &std::path::Path, inputs: &[NetworkInput]) -> Result<Dataset, String> {
    let options = OpenOptions {
        inputs,
        ..OpenOptions::default()
    };
    let set = open(&format!("{}:label", path.display()), &options);
    set.map_err(|error| error.to_string())
}

#[test]
fn integers_stay_as_they_are_and_are_split_as_a_table_is() {
    let path = archive(
        "good.npz",
        &[("tokens", ids(ROWS, 4)), ("label", labels(ROWS))],
    );
    let set = opened(&path, &tokens()).unwrap();
    let table = opened(&path, &[]).unwrap();
    let Values::I64(expected) = ids(ROWS, 4).values else {
        unreachable!()
    };
    assert_eq!(
        set.train.elements().collect::<Vec<_>>(),
        [Elements::I64(&expected)]
    );
    assert_eq!(set.info.sample_shape, [4]);
    assert_eq!(set.info.classes, ["0", "1"]);
    for (own, other) in [
        (&set.train, &table.train),
        (&set.val, &table.val),
        (&set.test, &table.test),
    ] {
        assert_eq!(own.indices(), other.indices());
        assert_eq!(own.labels(), other.labels());
    }
    assert_eq!(set.train.width(), 4);
}

#[test]
fn a_lone_array_of_any_name_and_a_table_of_whole_numbers_feed_a_lone_input() {
    let numbers = ids(ROWS, 3);
    let path = archive(
        "lone.npz",
        &[("foo", numbers.clone()), ("label", labels(ROWS))],
    );
    let lone = opened(&path, &tokens()).unwrap();
    let Values::I64(values) = &numbers.values else {
        unreachable!()
    };
    let mut lines = vec!["a,b,c,label".to_owned()];
    for (row, cells) in values.chunks(3).enumerate() {
        let [a, b, c] = cells else { unreachable!() };
        lines.push(format!("{a},{b},{c},{}", row % 2));
    }
    let text = lines.join("\n");
    let table = opened(&file("lone.csv", text.as_bytes()), &tokens()).unwrap();
    for set in [&lone, &table] {
        assert_eq!(
            set.test.elements().collect::<Vec<_>>(),
            [Elements::I64(values)]
        );
    }
    let half = file(
        "half.csv",
        text.replacen("\n0,7,4", "\n0,7.5,4", 1).as_bytes(),
    );
    let message = opened(&half, &tokens()).unwrap_err();
    assert!(
        message.ends_with(
            "half.csv: row 1, column 'b': 7.5 is no whole number up to 2^24, but the network takes tokens (i64)"
        ),
        "{message}"
    );
}

#[test]
fn arrays_come_in_the_order_of_the_inputs_and_defaults_are_noted() {
    let mask = labels(ROWS);
    let mask = Numbers {
        shape: vec![ROWS, 1],
        ..mask
    };
    let inputs = [
        input("mask", DType::F32, None),
        input("ids", DType::I64, None),
    ];
    let arrays = [
        ("ids", ids(ROWS, 2)),
        ("mask", mask),
        ("label", labels(ROWS)),
    ];
    let set = opened(&archive("order.npz", &arrays), &inputs).unwrap();
    let arrays = set.train.arrays().unwrap();
    assert_eq!(arrays[0].name, "mask");
    assert_eq!(arrays[1].name, "ids");
    // Integers for an input of floats become floats.
    assert!(matches!(&arrays[0].values, Values::F32(values) if values[..2] == [0.0, 1.0]));

    let path = archive(
        "left_out.npz",
        &[("ids", ids(ROWS, 2)), ("label", labels(ROWS))],
    );
    let notes = RefCell::new(Vec::new());
    let options = OpenOptions {
        inputs: &pair(),
        notice: Some(&|note| notes.borrow_mut().push(note.to_owned())),
        ..OpenOptions::default()
    };
    let set = open(&format!("{}:label", path.display()), &options).unwrap();
    let filled = Values::F32(vec![1.0; ROWS * 2]);
    assert_eq!(set.train.arrays().unwrap()[1].values, filled);
    let notes = notes.into_inner();
    assert_eq!(notes.len(), 1);
    assert!(notes[0].ends_with("left_out.npz has no array 'mask': it is 1 throughout"));
}

#[test]
fn arrays_that_do_not_fit_are_refused_in_one_sentence() {
    let label = || ("label", labels(ROWS));
    let takes = "the network takes ids (i64), mask (f32, 1 if left out); the file has";
    let cases = [
        (
            "extra",
            vec![("ids", ids(ROWS, 2)), ("other", ids(ROWS, 2)), label()],
            format!("array 'other' feeds no input: {takes} ids (i64[50, 2]), other (i64[50, 2])"),
        ),
        (
            "misnamed",
            vec![("id", ids(ROWS, 2)), label()],
            format!("array 'id' feeds no input: {takes} id (i64[50, 2])"),
        ),
        (
            "missing",
            vec![("mask", ids(ROWS, 2)), label()],
            format!("there is no array 'ids': {takes} mask (i64[50, 2])"),
        ),
        (
            "floats",
            vec![("ids", floats(ROWS, 2)), label()],
            format!("array 'ids' has floats where integers are taken: {takes} ids (f32[50, 2])"),
        ),
        (
            "rows",
            vec![("ids", ids(ROWS, 2)), ("mask", ids(ROWS - 1, 2)), label()],
            "array 'mask' has 49 rows, but 'label' has 50; a row is the same sample in all of them"
                .to_owned(),
        ),
        (
            "few",
            vec![("ids", ids(5, 2)), ("label", labels(5))],
            "has 5 rows; at least 10 are needed to train, validate and test".to_owned(),
        ),
    ];
    for (name, arrays, expected) in cases {
        let path = archive(&format!("{name}.npz"), &arrays);
        let message = opened(&path, &pair()).unwrap_err();
        let message = message.split_once(".npz: ").unwrap().1;
        assert_eq!(message, expected, "{name}");
    }
    let table = file("two.csv", b"a,label\n1,0\n2,1\n");
    let message = opened(&table, &pair()).unwrap_err();
    assert!(
        message.contains("is one table, but the network takes ids (i64), mask"),
        "{message}"
    );
}

const NET: &str = r#"graph "net" {
  tokens: i64[N, 4] = placeholder
  words = embedding(tokens) { target = "words", num_embeddings = 10, embedding_dim = 2 }
  return words
}"#;

#[test]
fn a_network_refuses_other_shapes_and_integers_that_are_no_rows_of_its_embedding() {
    let graph = Graph::parse(NET).unwrap();
    let verified = verify(&graph).unwrap();
    let of = |name: &str, numbers: Numbers| {
        let path = archive(name, &[("tokens", numbers), ("label", labels(ROWS))]);
        let set = opened(&path, &NetworkInput::of(&verified)).unwrap();
        set.check_inputs(&verified)
            .map_err(|error| error.to_string())
    };
    assert_eq!(of("fits.npz", ids(ROWS, 4)), Ok(()));
    for (value, row, name) in [(10, 3, "high.npz"), (-1, 50, "low.npz")] {
        let mut numbers = ids(ROWS, 4);
        if let Values::I64(values) = &mut numbers.values {
            values[row * 4 - 1] = value;
        }
        let message = of(name, numbers).unwrap_err();
        let expected = format!(
            "{name}:label: array 'tokens', row {row}: {value} is out of range; the vocabulary of net has 10 entries, 0 to 9"
        );
        assert!(message.ends_with(&expected), "{message}");
    }
    let message = of("long.npz", ids(ROWS, 5)).unwrap_err();
    let expected = "array 'tokens' has i64[5] for each row, but net takes i64[4] for tokens";
    assert!(message.ends_with(expected), "{message}");

    let table = open("jsc-sim", &OpenOptions::default()).unwrap();
    let message = table.check_inputs(&verified).unwrap_err().to_string();
    assert_eq!(
        message,
        "jsc-sim: net takes tokens (i64), but the rows are 16 floats each; save an .npz file with arrays of these names"
    );
}

#[test]
fn a_network_without_a_batch_takes_one_row() {
    let graph = Graph::parse(&NET.replace("[N, 4]", "[3, 4]")).unwrap();
    let verified = verify(&graph).unwrap();
    let table = open("jsc-sim", &OpenOptions::default()).unwrap();
    let message = table.check_inputs(&verified).unwrap_err().to_string();
    assert_eq!(
        message,
        "jsc-sim: net takes i64[3, 4] for tokens, whose first axis is not the batch, but there are 90000 rows; --batch-axis 0 makes \
         it the batch of an .onnx network, and a graph has N there"
    );
    let one = Numbers {
        shape: vec![1, 3, 4],
        values: Values::I64(vec![2; 12]),
    };
    let path = file("one.npy", &interop::npy::encode_numbers(&one));
    let inputs = NetworkInput::of(&verified);
    let options = OpenOptions {
        inputs: &inputs,
        ..OpenOptions::default()
    };
    let set = open_unlabeled(&path, &options).unwrap();
    assert!(set.check_inputs(&verified).is_ok());
}

#[test]
fn arrays_without_labels_are_all_in_each_split() {
    let options = |inputs| OpenOptions {
        inputs,
        ..OpenOptions::default()
    };
    let numbers = ids(5, 3);
    let path = file("x.npy", &interop::npy::encode_numbers(&numbers));
    let inputs = tokens();
    let set = open_unlabeled(&path, &options(&inputs)).unwrap();
    assert_eq!([set.train.len(), set.val.len(), set.test.len()], [5; 3]);
    assert_eq!(set.train.arrays().unwrap()[0].values, numbers.values);
    assert!(set.info.classes.is_empty());

    let single = Numbers {
        shape: Vec::new(),
        values: Values::I64(vec![1]),
    };
    let path = file("single.npy", &interop::npy::encode_numbers(&single));
    let message = open_unlabeled(&path, &options(&inputs))
        .unwrap_err()
        .to_string();
    assert!(message.ends_with("single.npy: has no rows"), "{message}");
    let path = archive("labelled.npz", &[("tokens", ids(5, 3)), ("y", labels(5))]);
    let message = open_unlabeled(&path, &options(&inputs))
        .unwrap_err()
        .to_string();
    assert!(
        message.contains("array 'y' feeds no input (labels are named as in "),
        "{message}"
    );
}

#[test]
fn several_arrays_are_described_one_by_one_when_no_network_is_known() {
    let arrays = [
        ("ids", ids(ROWS, 2)),
        ("mask", floats(ROWS, 3)),
        ("label", labels(ROWS)),
    ];
    let set = opened(&archive("info.npz", &arrays), &[]).unwrap();
    let ranges = data::describe(&set).features;
    let names = [&ranges[0].name, &ranges[1].name];
    assert_eq!(names, ["ids", "mask"]);
    assert_eq!([ranges[0].min, ranges[0].max], [0.0, 9.0]);
    assert!(ranges[1].max > 70.0, "{}", ranges[1].max);
    let message = opened(
        &archive("float_net.npz", &arrays),
        &[input("x", DType::F32, None)],
    );
    assert!(
        message
            .unwrap_err()
            .ends_with("archive: 2 arrays could be the features; call one of them x")
    );
}

#[test]
fn the_hash_follows_values_names_and_labels() {
    let of = |name: &str, array: &str, numbers: Numbers, n_rows: usize| {
        let path = archive(name, &[(array, numbers), ("label", labels(n_rows))]);
        opened(&path, &tokens()).unwrap().info.hash
    };
    let first = of("hash.npz", "tokens", ids(ROWS, 4), ROWS);
    assert_eq!(first, of("same.npz", "tokens", ids(ROWS, 4), ROWS));
    let mut other = ids(ROWS, 4);
    if let Values::I64(values) = &mut other.values {
        values[17] += 1;
    }
    assert_ne!(first, of("other.npz", "tokens", other, ROWS));
    assert_ne!(first, of("name.npz", "words", ids(ROWS, 4), ROWS));
    assert_ne!(first, of("rows.npz", "tokens", ids(ROWS - 1, 4), ROWS - 1));
}

#[test]
fn classes_in_another_order_relabel_arrays_too() {
    let path = archive(
        "classes.npz",
        &[("tokens", ids(ROWS, 2)), ("label", labels(ROWS))],
    );
    let set = opened(&path, &tokens()).unwrap();
    let before = set.test.labels().to_vec();
    let set = set.with_class_order(&["1".to_owned(), "0".to_owned()]);
    let after: Vec<u32> = before.iter().map(|label| 1 - label).collect();
    assert_eq!(set.test.labels(), after);
    assert_eq!(set.train.labels(), after);
}

/// Floats are whole numbers without a gap up to 2^24.
#[test]
fn integers_become_floats_up_to_their_last_exact_one() {
    let largest = 1_i64 << 24;
    let inputs = [input("x", DType::F32, None), input("y", DType::F32, None)];
    for (value, fits) in [
        (largest, true),
        (-largest, true),
        (largest + 1, false),
        (-largest - 1, false),
        (i64::MIN, false),
    ] {
        let mut numbers = ids(ROWS, 2);
        if let Values::I64(values) = &mut numbers.values {
            values[3] = value;
        }
        let arrays = [
            ("x", floats(ROWS, 2)),
            ("y", numbers),
            ("label", labels(ROWS)),
        ];
        let set = opened(&archive("exact.npz", &arrays), &inputs);
        match set {
            Ok(set) => {
                let Values::F32(values) = &set.train.arrays().unwrap()[1].values else {
                    panic!("integers for an input of floats")
                };
                assert!(fits && values[3] as i64 == value, "{value}");
            }
            Err(message) => {
                assert!(!fits, "{message}");
                let expected = format!("array 'y' has {value}, which float32 cannot hold");
                assert!(message.contains(&expected), "{message}");
            }
        }
    }
}

/// Rows without labels are scaled as those were that the network learned from: (x − 1)/2 and (x + 3)/0.5.
#[test]
fn a_lone_array_of_floats_is_standardised_as_the_network_asks() {
    let path = file(
        "scaled.npy",
        &interop::npy::encode(&[2, 2], &[1.0, -3.0, 5.0, -2.0]),
    );
    let standardizer = Standardizer {
        mean: vec![1.0, -3.0],
        deviation: vec![2.0, 0.5],
    };
    let by = |standardizer: &Standardizer| OpenOptions {
        standardize: Standardize::By(standardizer.clone()),
        ..OpenOptions::default()
    };
    let set = open_unlabeled(&path, &by(&standardizer)).unwrap();
    assert_eq!(
        set.train.arrays().unwrap()[0].values,
        Values::F32(vec![0.0, 0.0, 2.0, 2.0])
    );
    assert_eq!(set.info.scaling, Scaling::Given(standardizer.clone()));
    let narrow = Standardizer {
        mean: vec![1.0],
        deviation: vec![2.0],
    };
    let message = open_unlabeled(&path, &by(&narrow)).unwrap_err().to_string();
    let expected = "scaled.npy: has 2 values a row, but the network was trained on 1";
    assert!(message.ends_with(expected), "{message}");
    let plain = open_unlabeled(&path, &OpenOptions::default()).unwrap();
    assert_eq!(plain.info.scaling, Scaling::None);
    // Integers name things.
    let path = file("named.npy", &interop::npy::encode_numbers(&ids(2, 2)));
    let set = open_unlabeled(&path, &by(&standardizer)).unwrap();
    assert_eq!(set.train.arrays().unwrap()[0].values, ids(2, 2).values);
}
